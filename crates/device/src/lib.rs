//! Runs plans on real devices and files.
//!
//! A [`DeviceRunner`] expands jobs into workers, checks what they may write to, lays out their files, runs each worker
//! on its own thread, stage after stage, and assembles the record. Threads own their data and are never joined: a
//! thread that hangs in a target must not hold up the results of others ([`stuck`]).
//!
//! What is *not* here: system calls (`engine`), the drive loop (`drive`), statistics (`meter`), output for users
//! (`report`), the environment and signals of the process (`cli`).

mod assertions;
mod attributes;
pub mod capacity;
mod control_groups;
mod debug;
pub mod device_state;
pub mod doctor_facts;
pub mod doctor_targets;
mod environment;
mod environment_record;
mod exports;
mod failure;
mod file_locks;
pub mod growth;
mod host_stats;
mod idleness;
pub mod input;
pub mod input_file;
mod iolog;
mod journals;
pub mod layout;
mod network;
mod opendir;
pub mod opening;
pub mod outputs;
mod pattern_files;
mod runner;
pub mod safety;
mod shared_run;
mod stages;
mod stall;
pub mod state_file;
pub mod stuck;
pub mod trace_copy;
pub mod trace_files;
mod traces;
pub mod verify_files;
mod worker;
mod zones;

pub use assertions::{AssertionText, parse_assertions};
pub use debug::print_options;
pub use environment::HostEnvironment;
pub use environment_record::environment_record;
pub use failure::failure;
pub use host_stats::{host, local_time, unix_ms};
pub use idleness::{HostIdleness, calibrated_idleness};
pub use network::link_of_targets;
pub use runner::DeviceRunner;
pub use traces::{HostTraces, merge_only};

/// Asks users to report a panic, below its message.
pub const BUG_REPORT: &str = "this is a bug in fathom: please report it with the message above";

/// Returns the parent directory of `/sys` and `/proc`.
fn root() -> &'static std::path::Path {
    std::path::Path::new("/")
}
