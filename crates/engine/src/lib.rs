//! Targets on real devices and the files under them.
//!
//! An engine is a way to hand operations to the kernel: [`with_target`] makes the one that a [`Setup`] asks for
//! and shows it to a [`Visitor`], which is compiled once for each, so that the loop over it costs nothing extra.
//! All engines pass one conformance suite (`target::conformance`). [`files`] opens, lays out and invalidates;
//! [`gate`] decides what may be written to and holds it; [`exports`] asks NBD servers; [`block`] makes devices of served
//! bytes. What can be learned of devices without touching them is in the crate `probe`.
//!
//! This is the only crate with `unsafe`: system calls, mapped memory and rings shared with the kernel cannot be
//! had without it, and no other crate needs them.
//!
//! What is *not* here: counting, rating or statistics, jobs and their options, and any decision about what to
//! issue.

#![allow(unsafe_code)]
#![deny(unsafe_op_in_unsafe_fn)]

mod aio;
mod at_once;
pub mod block;
mod blocking;
mod buffers;
pub mod cleanup;
mod clock;
pub mod disk;
mod error;
pub mod exports;
mod fault;
pub mod files;
pub mod gate;
mod in_call;
mod inline;
mod look;
mod loop_info;
mod mmap;
mod null;
mod open;
mod queue;
mod settle;
mod setup;
mod slots;
mod space;
pub mod thread;
mod uring;
mod usage;

pub use clock::MonotonicClock;
pub use error::{Error, ErrorKind, describe, remedy};
pub use in_call::{BlockedCall, CallKind, InCall};
pub use open::{Visitor, with_target};
pub use setup::{EngineKind, MemoryKind, Setup};
pub use usage::{cpu_use_of_thread, last_processor};
