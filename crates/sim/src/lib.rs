//! Modelled volumes as a target: the same loop, jobs and meters as on real devices.
//!
//! A [`World`] holds the [`volume::System`] of a run and its clock. With the [`Virtual`] clock it jumps from event to
//! event, with all workers of all jobs in one thread, and equal inputs and seeds give bit-identical results. With a
//! real-time clock, operations take their modelled time.
//!
//! Buffered clients go through the page caches of their machines.
//!
//! Out of scope: the models (`volume`), workloads (`workload`) and counters (`meter`). There are no data: reads return
//! none, and written blocks cannot be verified.

mod client;
mod clock;
mod hosts;
mod ledger;
pub mod model;
mod world;

pub use client::{Buffered, ClientPlace, ModelClient};
pub use clock::{Clock, Virtual};
pub use ledger::{Ledger, next_note};
pub use world::World;
