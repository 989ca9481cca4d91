//! Modelled volumes: limits, credits, queues, latency, mechanics.
//!
//! A [`Spec`] says all there is to say about one volume: what it may do ([`Limit`]), what stands on the way to it
//! ([`Station`]), how long it takes ([`LatencySpec`]) or how its mechanics move ([`HardDisk`]). A [`System`] is made
//! of the volumes of a run and of the machines they hang on; it is told the time and asked what is done by then.
//! It has two kinds of hosts: virtual time jumps to the next event, real time waits for it.
//!
//! [`pagecache`] is what a machine's memory does for jobs that are not `direct=1`. [`catalogue`] makes specs out of the volumes that providers sell.
//!
//! What is *not* here: a clock, bytes, jobs, and any knowledge of who asks.

mod agenda;
mod ahead;
mod burst_credits;
pub mod catalogue;
mod citation;
pub mod closed;
pub mod disk;
mod events;
mod hard_disk;
mod law;
mod limiter;
pub mod pagecache;
mod request;
pub mod spec;
mod spells;
mod station;
mod system;
mod tally;
mod written;

pub use ahead::Early;
pub use burst_credits::BurstCredits;
pub use citation::{cited, cited_jitter, cited_merging, joined_by_text};
pub use hard_disk::HardDisk;
pub use law::Law;
pub use request::{PerRequestKind, Request, RequestKind, Share};
pub use spec::{
    Behaviour, Buffering, Burst, CountedUnit, Jitter, JitterBasis, LatencySpec, Limit, LimitSource, Merging, Scope,
    Spec, Station, Tolerance, names_machine,
};
pub use system::{Attachment, Home, ServiceStage, StageKind, System};
