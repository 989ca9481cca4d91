//! Targets on real devices and files.
//!
//! An engine is a method of passing operations to the kernel. [`with_target`] creates the engine that a [`Setup`] names
//! and passes it to a [`Visitor`], which is compiled once per engine, so that the drive loop makes no dynamic calls.
//! All engines pass one conformance suite (`target::conformance`). [`files`] opens files, lays them out and drops their
//! page cache; [`gate`] decides what may be written and holds it; [`exports`] connects to NBD servers; [`block`]
//! creates block devices backed by a server. The crate `probe` inspects devices without touching them.
//!
//! This is the only crate with `unsafe`: system calls, mapped memory and rings shared with the kernel require it.
//!
//! This crate does *not* count or rate operations, does not know jobs and their options, and does not choose operations.

#![allow(unsafe_code)]
#![deny(unsafe_op_in_unsafe_fn)]

mod aio;
mod allocation;
pub mod attributes;
pub mod block;
mod blocking;
mod buffers;
pub mod cleanup;
mod clock;
mod defragment;
pub mod disk;
mod engines;
mod error;
pub mod exports;
mod fault;
mod file_facts;
pub mod files;
pub mod gate;
mod idleness;
mod in_call;
mod inline;
mod loop_info;
mod mmap;
mod named_target;
mod names;
mod namespace;
mod network;
mod network_setup;
mod null;
mod nvme;
mod nvme_setup;
mod object_permit;
mod object_store;
mod objects;
mod offload;
mod open;
mod processor;
mod program;
mod program_setup;
mod queue;
mod ring;
pub mod scsi;
mod scsi_setup;
mod settle;
mod setup;
mod slots;
mod space;
mod splice;
mod sync_target;
pub mod thread;
mod uring;
mod usage;
pub mod zones;

pub use clock::{MonotonicClock, clock_ns};
pub use engines::Visitor;
pub use error::{Error, ErrorKind, describe, remedy};
pub use idleness::{IdleProfiler, Idleness, WorkUnit};
pub use in_call::{BlockedCall, CallKind, InCall};
pub use named_target::{NamedTarget, PathCall};
pub use namespace::{Namespace, identify_namespace, zones_of_namespace};
pub use network_setup::{NetworkRole, NetworkSetup, Transport};
pub use nvme::parse_placement_scheme;
pub use nvme_setup::{
    NvmeSetup, PlacementDirective, PlacementOrder, PlacementRange, PlacementSetup, ProtectionChecks, WriteCommand,
};
pub use object_permit::ObjectPermit;
pub use object_store::{FailedRequest, ObjectStoreSetup, RequestJournal, StoreTls, StoredObjects};
pub use open::with_target;
pub use program_setup::ProgramSetup;
pub use setup::{BurstSetup, EngineKind, MemoryKind, Setup, TransferFlags};
pub use usage::{cpu_use_of_worker, last_processor};
