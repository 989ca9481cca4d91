//! Modelled volumes as a target: the same loop, the same jobs and the same meters as on real devices.
//!
//! A [`World`] holds the [`volume::System`] of a run and the clock it lives by. With the [`Virtual`] clock it jumps
//! from event to event, all workers of all jobs in one thread, and the same inputs and seed give the same results to
//! the last bit. With a clock that passes by itself the same models answer at their own pace.
//!
//! Clients that are not direct go through the page caches of their machines.
//!
//! What is *not* here: models (`volume`), what to issue (`workload`), counting (`meter`), bytes: reads bring none, and
//! nothing that was written can be verified.

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
