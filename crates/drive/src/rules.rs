//! Rules that few jobs have: floors of rates, limits of latency, a latency that decides the depth, flows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use units::{Nanos, PerKind, Rate};

use crate::locks::FileLocks;

/// Rules of a worker beyond its depth and its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerRules {
    /// Rates below which the worker fails.
    pub floor: Option<RateFloor>,
    /// Latency above which the worker fails, for each kind of operation.
    pub latency_max: PerKind<Option<Nanos>>,
    /// Latency that decides the queue depth.
    pub latency_target: Option<LatencyTarget>,
    /// Whether an operation waits for those in flight that it overlaps.
    pub serializes: bool,
    /// Locks that operations hold.
    pub locks: Option<FileLocks>,
    /// The worker's place in a flow.
    pub flow: Option<FlowMember>,
}

/// Lowest rates of a worker (`rate_min`, `rate_iops_min`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RateFloor {
    /// Bytes per second for each kind of operation.
    pub bytes: PerKind<Option<Rate>>,
    /// Operations per second for each kind.
    pub operations: PerKind<Option<Rate>>,
    /// Time over which rates are measured.
    pub cycle: Nanos,
}

/// A latency that decides the queue depth (`latency_target`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyTarget {
    pub latency: Nanos,
    /// Length of each step of the search.
    pub window: Nanos,
    /// Fraction of the operations that must have at most this latency.
    pub fraction: f64,
    /// Whether the worker continues at the depth that was found, adjusting it, instead of ending.
    pub continues: bool,
}

/// The depth to which a latency target has led.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundDepth {
    /// Highest depth that met the target; the lowest one tried if none did.
    pub depth: u32,
    /// Whether it met the target.
    pub is_met: bool,
    /// The target's percentile of the latencies there; `None` if the run ended before.
    pub latency: Option<Nanos>,
    /// That of the next higher depth, which missed the target; `None` if the job's depth did not permit it.
    pub above: Option<Nanos>,
}

/// Workers that issue in proportion to their weights (`flow`).
#[derive(Debug, Default)]
pub struct Flow {
    /// Operations issued by present members.
    issued: AtomicU64,
    /// Sum of the weights of present members.
    weight: AtomicU64,
}

/// Bytes that one or several workers transfer before their results count (`ramp_size`).
#[derive(Clone, Debug)]
pub struct RampBytes {
    /// Bytes transferred so far, shared by the workers of a group.
    pub moved: Arc<AtomicU64>,
    /// Bytes to transfer.
    pub needed: u64,
}

/// Equal if they are of the same workers.
impl PartialEq for RampBytes {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.moved, &other.moved) && self.needed == other.needed
    }
}

impl RampBytes {
    /// Reports whether the ramp is over.
    pub(crate) fn is_over(&self) -> bool {
        self.moved.load(Ordering::Relaxed) >= self.needed
    }

    /// Counts transferred bytes. Returns whether the ramp is over.
    pub(crate) fn add(&self, bytes: u64) -> bool {
        self.moved.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) >= self.needed
    }
}

/// A worker's place in a flow.
#[derive(Clone, Debug)]
pub struct FlowMember {
    /// The flow, shared by its members.
    pub flow: Arc<Flow>,
    /// Weight, at least 1.
    pub weight: u64,
    /// Pause of a member that is ahead.
    pub pause: Nanos,
}

/// Equal if they are places of the same flow.
impl PartialEq for FlowMember {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.flow, &other.flow) && (self.weight, self.pause) == (other.weight, other.pause)
    }
}

impl FlowMember {
    /// Enters the flow. As in fio, the others wait until the member has caught up with them.
    pub(crate) fn enter(&self) {
        self.flow.weight.fetch_add(self.weight, Ordering::Relaxed);
    }

    /// Leaves the flow, in which it has issued `own` operations.
    pub(crate) fn leave(&self, own: u64) {
        self.flow.issued.fetch_sub(own, Ordering::Relaxed);
        self.flow.weight.fetch_sub(self.weight, Ordering::Relaxed);
    }

    /// Counts an operation.
    pub(crate) fn issue(&self) {
        self.flow.issued.fetch_add(1, Ordering::Relaxed);
    }

    /// Reports whether a member that has issued `own` operations is ahead of the others, by more than a thousandth of
    /// its share: the more operations have been issued, the more follow each other without a pause.
    pub(crate) fn is_ahead(&self, own: u64) -> bool {
        let (issued, weight) = (self.flow.issued.load(Ordering::Relaxed), self.flow.weight.load(Ordering::Relaxed));
        u128::from(own) * u128::from(weight) * 1000 > u128::from(issued) * u128::from(self.weight) * 1001
    }
}
