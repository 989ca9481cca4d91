//! Many runs that answer one question: the knee of a curve, a published procedure, which of depth and device was the limit.
//!
//! Everything here decides what the next run is and reads the records of those before. Where runs happen is the
//! [`Runner`](runner::Runner)'s business: the same sweep searches a device and a model.
//!
//! What this crate does *not* do: it runs nothing itself, reads no file and prints nothing; [`ProcedureHost`] is all that it
//! knows of its surroundings. The search for a knee is `analyse::knee::search`, texts and pages are `report`'s.

pub mod depth_probe;
pub mod expected;
pub mod explanation;
pub mod grid;
mod host;
pub mod jobs;
pub mod purchase;
pub mod suite;
pub mod sweep;

pub use host::{ProcedureHost, ProcedureObserver};
