//! Targets on real devices and files.
//!
//! An engine is a method of passing operations to the kernel. [`with_target`] creates the engine that a [`Opening`] names
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
mod more;
mod named_target;
mod names;
mod namespace;
mod nbd_target;
mod null;
mod nvme;
mod opening;
mod queue;
mod ring;
mod settle;
mod slots;
mod space;
mod splice;
mod sync_target;
pub mod thread;
mod uring;
mod usage;
pub mod zones;

pub use clock::{MonotonicClock, clock_ns};
pub use engines::{Visitor, with_target};
pub use error::{Error, ErrorKind, io_problem, remedy};
pub use idleness::{IdleProfiler, Idleness, WorkUnit};
pub use in_call::{BlockedCall, InCall};
pub use more::sg as scsi;
pub use named_target::NamedTarget;
pub use namespace::{Namespace, identify_namespace, zones_of_namespace};
pub use nvme::parse_placement_scheme;
pub use opening::{
    FailedRequest, NetworkPeer, NvmeUse, ObjectPermit, ObjectsOfWorker, Opening, PlacementRange, ProgramUse,
    RequestJournal, ScsiDisk, StoredObjects, TargetFailure,
};
pub use usage::{cpu_use_of_worker, last_processor};
