//! Saved runs, each in its own folder.
//!
//! A [`RunStore`] is a folder of folders, one per run. Each has `run.json`, the record; `events.jsonl.zst`, the events
//! of the run; `job.fio`, the job file; `resolved.json`, the resolved jobs; `environment.json`, the host; and
//! `manifest.json`, which lists the files with a checksum of each and of itself. Adding a run is atomic: [`RunWriter`]
//! writes to a temporary folder and renames it.
//!
//! Runs are independent of each other. Folders that are damaged, foreign or of a later version are reported in
//! [`Listing::skipped`] and left alone: only [`RunStore::remove`] and [`RunStore::retain`] delete, and only what this
//! program wrote.
//!
//! The store is not part of `record` because it accesses files and locks, which `clippy.toml` forbids there. What is
//! *not* here: choosing the store's path and reading the clock (both are the caller's), printing, and assessing
//! results.

mod background;
mod disk;
mod error;
mod filter;
mod folder;
mod id;
mod listing;
mod loaded;
mod lock;
mod manifest;
mod ranks;
mod removal;
mod store;
mod writer;

pub use background::{PendingSave, RunToSave, SaveOutcome, SavePolicy, StoredEntry};
pub use disk::replace_file;
pub use error::Error;
pub use filter::Filter;
pub use id::{fleet_name, series_name};
pub use listing::Listing;
pub use loaded::StoredRun;
pub use manifest::FORMAT;
pub use ranks::{merge_ranks, rank_files, read_ranks, write_rank};
pub use removal::{Retention, age_ms, size_bytes};
pub use store::RunStore;
pub use writer::RunWriter;
