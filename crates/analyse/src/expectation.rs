//! What a modelled volume can sustain for a load.

/// The kind of a cap on a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapKind {
    /// A limit of the volume on operations.
    VolumeIops,
    /// A limit of the volume on bytes.
    VolumeBytes,
    /// A limit of the machine.
    Machine,
    /// The share of the machine's network that its writes may use.
    Egress,
    /// A queue of the host or of the storage system: processors, controllers.
    Station,
}

/// One cap on a load.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedCap {
    /// As the catalogue names it.
    pub name: String,
    /// What it is.
    pub kind: CapKind,
    /// Operations of this load a second.
    pub iops: f64,
    /// Whether it counts reads and writes of this load on one budget.
    pub shared: bool,
    /// How long a full bucket of credits lets more through, in seconds; `None` where it has none.
    pub burst_secs: Option<f64>,
    /// How far above `iops` the provider was measured to sustain, as a fraction; 0 where nothing is known.
    pub tolerance: f64,
}

/// Measurements within this fraction of a cap have reached it, whatever the provider tolerates.
pub(crate) const REACHED: f64 = 0.03;

impl ExpectedCap {
    /// The most operations per second that still count as this cap.
    #[must_use]
    pub fn admits(&self) -> f64 {
        self.iops * (1.0 + self.tolerance.max(REACHED))
    }

    /// Whether `iops` exceed it for as long as its credits last.
    pub(crate) fn is_burst(&self, iops: f64) -> bool {
        self.burst_secs.is_some() && iops > self.admits()
    }
}

/// A point of the curve of IOPS against depth.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ExpectedPoint {
    /// Operations in flight.
    pub in_flight: f64,
    /// Operations a second.
    pub iops: f64,
    /// The mean time of one, in nanoseconds.
    pub latency_ns: f64,
}

/// A larger volume of the same kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Larger {
    /// The smallest size at which size limits no longer, in bytes.
    pub bytes: u64,
    /// Operations of this load a second then.
    pub iops: f64,
}

/// The limits and the curve of a volume for the load of an observation.
pub struct Expectation<'a> {
    /// The volume, as it was asked for.
    pub volume: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// What caps the load in the long run, the lowest first.
    pub caps: Vec<ExpectedCap>,
    /// Operations a second while credits last; the lowest cap where there are none.
    pub burst_iops: f64,
    /// How long credits last at that pace, in seconds, from a full bucket.
    pub burst_secs: Option<f64>,
    /// Mean time of an operation without queueing, in nanoseconds; `None` where depth changes it, as on a drive.
    pub alone_ns: Option<f64>,
    /// The block size in bytes at which the limit on bytes is reached together with that on operations.
    pub break_even_bytes: Option<f64>,
    /// What a larger volume would give, where the size is what limits.
    pub larger: Option<Larger>,
    /// Operations a second for each free processor, where the provider has such a rule.
    pub iops_per_cpu: Option<f64>,
    /// What these figures rest on besides, in words: limits that are not known, assumptions.
    pub notes: Vec<String>,
    /// What the volume gives with so many in flight.
    pub at: &'a dyn Fn(f64) -> Option<ExpectedPoint>,
}

impl Expectation<'_> {
    /// The lowest cap.
    #[must_use]
    pub fn binding(&self) -> Option<&ExpectedCap> {
        self.caps.first()
    }

    /// As many in flight reach the lowest cap, and more only wait.
    #[must_use]
    pub fn knee(&self) -> Option<f64> {
        Some(self.binding()?.iops * self.alone_ns? / 1e9)
    }
}
