//! Modelled volumes: limits, credits, queues, latency, mechanics.
//!
//! A [`Spec`] describes one volume: its limits ([`Limit`]), the stations on the path to it ([`Station`]), and its
//! latency ([`LatencySpec`]) or mechanics ([`HardDisk`]). A [`System`] simulates the volumes of a run and their
//! machines: it accepts requests with times and returns their completions. It runs in virtual time, which jumps to the
//! next event, or in real time.
//!
//! [`pagecache`] models a machine's memory for jobs without `direct=1`. [`catalogue`] builds specs of the volumes that
//! providers sell.
//!
//! Out of scope: clocks, stored data, jobs, and the identity of callers.

pub mod catalogue;
mod citation;
pub mod closed;
pub mod disk;
mod event_heap;
mod hard_disk;
mod law;
mod lead;
mod limiter;
pub mod pagecache;
mod request;
pub mod spec;
mod spells;
mod stage;
mod station;
mod system;
pub mod toml_value;
mod written;

pub use citation::{cited, cited_jitter, cited_merging, joined_by_text};
pub use hard_disk::HardDisk;
pub use law::Law;
pub use request::{PerRequestKind, Request, RequestKind, Share};
pub use spec::{
    Behaviour, Buffering, Burst, CountedUnit, IoUnit, Jitter, JitterBasis, LatencySpec, Limit, LimitSource, Merging,
    Scope, Spec, Station, Striping, Tolerance, names_machine,
};
pub use stage::{BurstCredits, Early, MergedCounts, ServiceStage, StageHosts, StageKind};
pub use system::{Attachment, Home, System};
