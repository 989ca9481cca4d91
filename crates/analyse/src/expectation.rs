//! The limits and the performance curve of a modelled volume for a load.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapKind {
    /// The volume's IOPS limit.
    VolumeIops,
    /// The volume's throughput limit.
    VolumeBytes,
    /// A limit of the machine.
    Machine,
    /// The fraction of the machine's network bandwidth that writes may use.
    Egress,
    /// A queue of the host or of the storage system: CPUs, controllers.
    Station,
}

/// One cap on a load.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedCap {
    /// Name in the catalogue.
    pub name: String,
    pub kind: CapKind,
    /// Operations per second of this load.
    pub iops: f64,
    /// Whether reads and writes of this load draw on one budget.
    pub shared: bool,
    /// Operations that credits admit beyond that rate, from the start; infinite if a burst of unknown length is published,
    /// and `None` without credits.
    pub credits: Option<f64>,
    /// Fraction by which the provider was measured to exceed `iops`; 0 if unknown.
    pub tolerance: f64,
}

/// Measurements within this fraction of a cap have reached it, whatever the provider's tolerance.
pub(crate) const REACHED: f64 = 0.03;

impl ExpectedCap {
    /// Returns the highest rate in operations per second that still counts as this cap.
    #[must_use]
    pub fn admits(&self) -> f64 {
        self.iops * (1.0 + self.tolerance.max(REACHED))
    }

    /// Reports whether `iops` exceed the cap while its credits last.
    pub(crate) fn is_burst(&self, iops: f64) -> bool {
        self.credits.is_some() && iops > self.admits()
    }
}

/// A point of the curve of IOPS over depth.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct ExpectedPoint {
    /// Operations in flight.
    pub in_flight: f64,
    /// Operations per second.
    pub iops: f64,
    /// Mean latency in nanoseconds.
    pub latency_ns: f64,
}

/// A volume of the same kind with a higher limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LargerVolume {
    /// What has to be larger.
    pub figure: LargerFigure,
    /// Operations per second of this load then.
    pub iops: f64,
}

/// A figure of a volume that determines its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LargerFigure {
    /// The size: the smallest one that no longer limits, with what has to be provisioned there, if the volume has less.
    Size { bytes: u64, iops: Option<u64>, bytes_per_second: Option<u64> },
    /// The IOPS that can be provisioned at its size.
    ProvisionedIops(u64),
    /// The throughput that can be provisioned at its size, in bytes per second.
    ProvisionedThroughput(u64),
}

/// Limits and performance curve of a volume for the load of an observation.
pub struct Expectation<'a> {
    /// Volume as given by the user.
    pub volume: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Sustained caps of the load, lowest first.
    pub caps: Vec<ExpectedCap>,
    /// Operations per second while credits last; without credits the lowest cap.
    pub burst_iops: f64,
    /// Mean latency without queueing, in nanoseconds; `None` if it depends on the depth, as on a mechanical drive.
    pub alone_ns: Option<f64>,
    /// Smallest block size in bytes that reaches the throughput limit before the IOPS limit, if smaller ones do not.
    pub break_even_bytes: Option<f64>,
    /// A volume with a higher limit, if its size or what was provisioned is the limit.
    pub larger: Option<LargerVolume>,
    /// Whether the latency of the model rests on no measured or published figure.
    pub latency_is_assumed: bool,
    /// Whether it was measured on such volumes, or given with the volume: a published one is rounded.
    pub latency_is_measured: bool,
    /// Whether limits of the named machine are unknown.
    pub machine_is_unknown: bool,
    /// Operations per second for each idle CPU, if the provider has such a rule.
    pub iops_per_cpu: Option<f64>,
    /// Assumptions and unknown limits behind these figures, in words.
    pub notes: Vec<String>,
    /// Simulates the volume at a number of operations in flight: near the knee, the closed form is a bound that no
    /// queue reaches. The caller simulates, because this crate knows no volumes.
    pub at: &'a dyn Fn(f64) -> Option<ExpectedPoint>,
}

impl Expectation<'_> {
    /// Returns the lowest cap.
    #[must_use]
    pub fn binding(&self) -> Option<&ExpectedCap> {
        self.caps.first()
    }

    /// Returns the cap whose credits end first at a rate, and the seconds until then; `None` if none do, or if that is not
    /// known.
    #[must_use]
    pub fn credits_last(&self, iops: f64) -> Option<(&ExpectedCap, f64)> {
        let lasts = |cap: &'_ ExpectedCap| {
            let secs = cap.credits? / (iops - cap.iops);
            (iops > cap.iops && secs.is_finite()).then_some(secs)
        };
        let all = self.caps.iter().filter_map(|cap| Some((cap, lasts(cap)?)));
        all.min_by(|(_, a), (_, b)| a.total_cmp(b))
    }

    /// Returns the cap whose credits bound the mean rate over a time that begins with them, and the highest such rate;
    /// `None` without credits.
    #[must_use]
    pub fn mean_with_credits(&self, seconds: f64) -> Option<(&ExpectedCap, f64)> {
        let of_buckets = self.caps.iter().filter_map(|cap| Some((cap, cap.iops + cap.credits? / seconds)));
        let (cap, mean) = of_buckets.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        Some((cap, mean.min(self.burst_iops))).filter(|(_, mean)| mean.is_finite())
    }

    /// Returns the number of operations in flight that reaches a rate; more of them only queue.
    #[must_use]
    pub fn depth_for(&self, iops: f64) -> Option<f64> {
        Some((iops * self.alone_ns? / 1e9).max(self.least_depth()))
    }

    /// Returns the operations in flight that providers ask for on volumes of slow media, whose latency they do not publish;
    /// 0 for others.
    #[must_use]
    pub fn least_depth(&self) -> f64 {
        /// Latency without queueing of such volumes, in nanoseconds.
        const SLOW_NS: f64 = 5e6;
        const SLOW_DEPTH: f64 = 4.0;
        let is_guess = self.latency_is_assumed && self.alone_ns.is_some_and(|alone_ns| alone_ns >= SLOW_NS);
        if is_guess { SLOW_DEPTH } else { 0.0 }
    }

    /// Returns the number of operations in flight that reaches the lowest cap.
    #[must_use]
    pub fn knee(&self) -> Option<f64> {
        self.depth_for(self.binding()?.iops)
    }
}
