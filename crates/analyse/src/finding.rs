//! What can be found.

use serde::Serialize;

/// One thing that was found about a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What.
    pub code: Code,
    /// How much it matters.
    pub severity: Severity,
    /// The part of a modelled volume it is about; `None` where it is about the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The figures it rests on.
    pub evidence: Vec<Evidence>,
    /// What to change; `None` where nothing is wrong or nothing would help.
    pub remedy: Option<Remedy>,
}

impl Finding {
    pub(crate) fn new(code: Code, severity: Severity) -> Self {
        Self { code, severity, subject: None, evidence: Vec::new(), remedy: None }
    }

    pub(crate) fn with(mut self, quantity: Quantity, value: f64, source: Source) -> Self {
        self.evidence.push(Evidence { quantity, value, unit: quantity.unit(), source });
        self
    }

    pub(crate) fn about(mut self, subject: &str) -> Self {
        self.subject = Some(subject.to_owned());
        self
    }

    pub(crate) fn with_known(self, quantity: Quantity, value: Option<f64>, source: Source) -> Self {
        match value {
            Some(value) => self.with(quantity, value, source),
            None => self,
        }
    }

    pub(crate) fn remedy(mut self, remedy: impl Into<Option<Remedy>>) -> Self {
        self.remedy = remedy.into();
        self
    }

    /// The value of one figure it rests on.
    #[must_use]
    pub fn value(&self, quantity: Quantity) -> Option<f64> {
        self.evidence.iter().find(|evidence| evidence.quantity == quantity).map(|evidence| evidence.value)
    }
}

/// What was found. The order is that of importance among findings of one severity, greatest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// No operation completed.
    NothingMeasured,
    /// Operations failed.
    ErrorsSeen,
    /// Reads came from the page cache and not from the device.
    PageCacheMeasured,
    /// Writes went to memory, and nothing made them durable.
    BufferedWritesUnsynced,
    /// Reads fell into parts of a file that were never written.
    HolesRead,
    /// The generator was so late that responses tell more of it than of the device.
    LatenessSignificant,
    /// A depth was asked for that the engine cannot keep in flight.
    EngineNotAsynchronous,
    /// The rate asked for was not reached.
    RateNotReached,
    /// The rate asked for needs more operations in flight than there could be.
    QueueTooShallow,
    /// The processor that generates the load was busy all the time.
    GeneratorCpuBound,
    /// Fewer operations were in flight than could have been.
    QueueNotFilled,
    /// One operation at a time: the time of one was the limit.
    LatencyBound,
    /// The queue was full and every operation took the same time at a steady pace: the sign of a limiter, or of a
    /// very even device.
    DeviceFlat,
    /// The queue was full; one run cannot tell whether a greater depth gives more.
    QueueFull,
    /// A modelled limit or queue held operations back.
    ModelHeldBack,
    /// No modelled limit was reached: latency and depth set the pace.
    ModelNotReached,
    /// The rate asked for was kept.
    RateKept,
    /// Throughput at the end was not what it was at the beginning.
    BurstOrDrift,
    /// Too short to be representative.
    ShortRun,
    /// It was stopped before its end.
    Interrupted,
    /// There is no device behind the engine: the generator itself was measured.
    NoDevice,
    /// Latencies were not kept, so what limited the run cannot be told.
    LimitUnknown,
}

/// How much a finding matters, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Another setting would tell or give more.
    Advice,
    /// The run was not what was asked for.
    Warning,
    /// The numbers do not mean what they seem to: exit code 4.
    Distrust,
}

/// A figure that a finding rests on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// What the figure is.
    pub quantity: Quantity,
    /// Its value.
    pub value: f64,
    /// The unit of the value.
    pub unit: Unit,
    /// Where it was read.
    pub source: Source,
}

/// What a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Operations in flight, as asked for.
    InFlightAsked,
    /// Operations that the engine could have in flight.
    InFlightPossible,
    /// Operations that were in flight on average.
    InFlightAchieved,
    /// Operations that would have to be in flight for the rate asked for.
    InFlightNeeded,
    /// Operations per second.
    Iops,
    /// Mean service time.
    ServiceMean,
    /// The median of service times.
    ServiceP50,
    /// Deviation over mean of service times.
    ServiceVariation,
    /// Deviation over mean of the throughput of intervals.
    IntervalVariation,
    /// Mean response time.
    ResponseMean,
    /// Mean lateness of the generator.
    LatenessMean,
    /// The rate asked for.
    RateAsked,
    /// The rate reached.
    RateReached,
    /// The same in bytes.
    ByteRateAsked,
    /// The same in bytes.
    ByteRateReached,
    /// The share of a processor that each worker kept busy.
    CpuShare,
    /// Workers that ran at the same time.
    Workers,
    /// Processors of the host.
    Cpus,
    /// Idle time between operations.
    Thinktime,
    /// The share of the files that was in the page cache when the run began.
    CachedShare,
    /// Bytes that the job transferred.
    JobBytes,
    /// Bytes that the devices transferred.
    DeviceBytes,
    /// Bytes of the files.
    FileBytes,
    /// Bytes of the files that were ever written.
    WrittenBytes,
    /// The share of operations that a part of a model held back longest.
    DecidedShare,
    /// How long it held each of all operations on average.
    HeldMean,
    /// How much of its capacity was used.
    Utilisation,
    /// How long was measured.
    Runtime,
    /// How many operations completed.
    Operations,
    /// How many operations failed.
    Errors,
    /// The number of the first error.
    FirstError,
    /// Operations per second in the first third.
    EarlyIops,
    /// Operations per second in the last third.
    LateIops,
    /// What was left in a bucket of credits for operations.
    CreditsLeft,
    /// How many of them were spent in a second beyond those that were earned.
    CreditsSpent,
    /// The same for credits in bytes.
    ByteCreditsLeft,
    /// The same for credits in bytes.
    ByteCreditsSpent,
    /// How long they last at this pace.
    CreditsLast,
    /// When there were none left, from the start.
    CreditsGone,
}

impl Quantity {
    /// The unit of its values.
    #[must_use]
    pub const fn unit(self) -> Unit {
        match self {
            Self::InFlightAsked
            | Self::InFlightPossible
            | Self::InFlightAchieved
            | Self::InFlightNeeded
            | Self::Workers
            | Self::Cpus
            | Self::Operations
            | Self::CreditsLeft
            | Self::Errors => Unit::Count,
            Self::Iops
            | Self::RateAsked
            | Self::RateReached
            | Self::EarlyIops
            | Self::LateIops
            | Self::CreditsSpent => Unit::PerSecond,
            Self::ByteRateAsked | Self::ByteRateReached | Self::ByteCreditsSpent => Unit::BytesPerSecond,
            Self::ServiceMean
            | Self::ServiceP50
            | Self::ResponseMean
            | Self::LatenessMean
            | Self::Thinktime
            | Self::HeldMean
            | Self::CreditsLast
            | Self::CreditsGone
            | Self::Runtime => Unit::Nanoseconds,
            Self::ServiceVariation
            | Self::IntervalVariation
            | Self::CpuShare
            | Self::CachedShare
            | Self::DecidedShare
            | Self::Utilisation => Unit::Share,
            Self::JobBytes | Self::DeviceBytes | Self::FileBytes | Self::WrittenBytes | Self::ByteCreditsLeft => {
                Unit::Bytes
            }
            Self::FirstError => Unit::ErrorNumber,
        }
    }
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A number of things.
    Count,
    /// Operations per second.
    PerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// A share of one.
    Share,
    /// Bytes.
    Bytes,
    /// An error number of Linux.
    ErrorNumber,
}

/// Where a figure was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The job's options.
    Job,
    /// Counters and sums of the run.
    Counters,
    /// Histograms of latency.
    Histogram,
    /// The series of intervals.
    Intervals,
    /// Processor time of the workers.
    ProcessorTime,
    /// The page cache, by `mincore`.
    PageCache,
    /// The devices' own counters.
    DiskCounters,
    /// The file system's account of the files.
    Files,
    /// Little's law, from counters and mean times.
    LittlesLaw,
    /// The host.
    Host,
    /// The model of a volume.
    Model,
}

/// What to change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "action")]
pub enum Remedy {
    /// Use an engine that queues, with this depth for each worker.
    QueueingEngine {
        /// `iodepth`.
        iodepth: u64,
    },
    /// Raise the depth of each worker to this.
    RaiseDepth {
        /// `iodepth`.
        iodepth: u64,
    },
    /// Run again at this depth for each worker: the comparison tells whether the device or the depth was the limit.
    CompareDepth {
        /// `iodepth`.
        iodepth: u64,
    },
    /// Spread the load over this many workers.
    AddWorkers {
        /// `numjobs`.
        numjobs: u64,
    },
    /// Bypass the page cache.
    Direct,
    /// Count an `fsync` at the end, or bypass the page cache.
    SyncAtEnd,
    /// Write the file first.
    WriteFirst,
    /// Run for this many seconds.
    RunLonger {
        /// `runtime`.
        runtime_s: u64,
    },
}
