//! What can be found.

use serde::Serialize;

use crate::Point;

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
    /// What would be measured then, where a model can tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterfactual: Option<Point>,
}

impl Finding {
    pub(crate) fn new(code: Code, severity: Severity) -> Self {
        Self { code, severity, subject: None, evidence: Vec::new(), remedy: None, counterfactual: None }
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

    /// A figure, if it is known, with who told it.
    pub(crate) fn with_told(self, quantity: Quantity, told: Option<(f64, Source)>) -> Self {
        match told {
            Some((value, source)) => self.with(quantity, value, source),
            None => self,
        }
    }

    pub(crate) fn counterfactual(mut self, point: Option<Point>) -> Self {
        self.counterfactual = point;
        self
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
    /// More was in flight than could be, or far less than is said, by Little's law.
    LittleContradicted,
    /// Figures that follow from each other do not.
    FiguresDisagree,
    /// Decimal and binary units were taken for each other.
    UnitsMixed,
    /// Averages since the host was started, and so of no load in particular.
    SinceBoot,
    /// Reads came back before the volume could answer: blocks that nobody wrote, or a cache.
    UnwrittenBlocks,
    /// More than the volume can give at all.
    AboveExpectation,
    /// Credits were still being spent: the figures are of the burst.
    BurstRunning,
    /// Enough was in flight, and the volume gave less than it should.
    BelowExpectation,
    /// Throughput did not settle.
    NotSteady,
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
    /// The size of the volume is what its limit follows from.
    SizeTooSmall,
    /// The limit of the machine was reached before that of the volume.
    MachineCap,
    /// The limit of what a machine may write over its network was reached.
    EgressCap,
    /// Far more was in flight than it takes: the latency is that of waiting.
    BeyondKnee,
    /// Fewer processors than the provider's rule asks for.
    CpusShort,
    /// A few operations took very much longer than all others, as a throttle makes them.
    Throttled,
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
    /// The volume's limit on operations was reached.
    VolumeIopsCap,
    /// The volume's limit on bytes was reached.
    VolumeThroughputCap,
    /// A queue of the host or of the storage system was full.
    StationCap,
    /// The limit on bytes was reached before that on operations, for the blocks are large.
    BytesBeforeIops,
    /// Reads and writes drew on one budget.
    SharedBudget,
    /// How many have to be in flight for a rate.
    DepthNeeded,
    /// The rate asked for was kept.
    RateKept,
    /// Burst credits ran out during the run.
    BurstUsedUp,
    /// The beginning was not like the rest, and was counted.
    WarmupCounted,
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
    /// The device saw smaller requests than were asked for.
    RequestsSplit,
    /// The block size is not one that others use.
    OddBlockSize,
    /// A region so small that a cache may hold it, read over and over.
    SmallRegion,
    /// It behaves as a drive with one arm does.
    MechanicalDisk,
    /// A busy device is not a full one where it works on many at once.
    UtilMisread,
    /// A mean says nothing of the slow ones.
    MeanWithoutSpread,
    /// The figures agree with each other by Little's law.
    LittleHolds,
}

impl Code {
    /// All of them, in order.
    pub const ALL: [Self; 52] = [
        Self::NothingMeasured,
        Self::ErrorsSeen,
        Self::PageCacheMeasured,
        Self::BufferedWritesUnsynced,
        Self::HolesRead,
        Self::LittleContradicted,
        Self::FiguresDisagree,
        Self::UnitsMixed,
        Self::SinceBoot,
        Self::UnwrittenBlocks,
        Self::AboveExpectation,
        Self::BurstRunning,
        Self::BelowExpectation,
        Self::NotSteady,
        Self::LatenessSignificant,
        Self::EngineNotAsynchronous,
        Self::RateNotReached,
        Self::QueueTooShallow,
        Self::GeneratorCpuBound,
        Self::SizeTooSmall,
        Self::MachineCap,
        Self::EgressCap,
        Self::BeyondKnee,
        Self::CpusShort,
        Self::Throttled,
        Self::QueueNotFilled,
        Self::LatencyBound,
        Self::DeviceFlat,
        Self::QueueFull,
        Self::ModelHeldBack,
        Self::ModelNotReached,
        Self::VolumeIopsCap,
        Self::VolumeThroughputCap,
        Self::StationCap,
        Self::BytesBeforeIops,
        Self::SharedBudget,
        Self::DepthNeeded,
        Self::RateKept,
        Self::BurstUsedUp,
        Self::WarmupCounted,
        Self::BurstOrDrift,
        Self::ShortRun,
        Self::Interrupted,
        Self::NoDevice,
        Self::LimitUnknown,
        Self::RequestsSplit,
        Self::OddBlockSize,
        Self::SmallRegion,
        Self::MechanicalDisk,
        Self::UtilMisread,
        Self::MeanWithoutSpread,
        Self::LittleHolds,
    ];

    /// The name by which documents and scripts know it.
    #[must_use]
    pub fn name(self) -> String {
        let mut name = String::new();
        for letter in format!("{self:?}").chars() {
            if letter.is_ascii_uppercase() && !name.is_empty() {
                name.push('_');
            }
            name.push(letter.to_ascii_lowercase());
        }
        name
    }
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
    /// Operations in flight that the figures imply.
    InFlightImplied,
    /// The least that they may imply, as exactly as they are known.
    InFlightImpliedLow,
    /// The most that they may imply.
    InFlightImpliedHigh,
    /// Mean time of an operation from its start.
    LatencyMean,
    /// Throughput, as it was told.
    BytesPerSecondTold,
    /// Throughput that operations per second and block size make.
    BytesPerSecondMade,
    /// Between decimal and binary units.
    UnitFactor,
    /// A figure, as it was printed.
    SumTold,
    /// What the other figures make of it.
    SumMade,
    /// A time, as it was printed.
    TimeTold,
    /// What the other times make of it.
    TimeMade,
    /// Bytes of an operation.
    BlockBytes,
    /// Bytes of a request, as the device saw it.
    RequestBytes,
    /// Time for each operation when they are done one after the other.
    TimeOfOne,
    /// The share of time in which the device had at least one request.
    BusyShare,
    /// Operations per second that a cap lets through.
    CapIops,
    /// Operations per second that the next cap lets through.
    NextCapIops,
    /// Operations in flight that reach the limit.
    KneeInFlight,
    /// How many times as many were in flight.
    KneeFactor,
    /// Bytes of the volume.
    VolumeBytes,
    /// Bytes of a volume whose size does not limit.
    LargerBytes,
    /// Operations per second of that one.
    LargerIops,
    /// The block size that reaches both limits together.
    BreakEvenBytes,
    /// The share of reads.
    ReadShare,
    /// Operations per second while credits last.
    BurstIops,
    /// How long they last from a full bucket.
    BurstLasts,
    /// Operations per second that the model gives.
    ExpectedIops,
    /// Mean latency that the model gives.
    ExpectedLatency,
    /// Processors that should be free.
    CpusNeeded,
    /// Operations per second for each processor, by the provider's rule.
    IopsPerCpu,
    /// The time that most operations took.
    FastMode,
    /// The time that the slow ones took.
    SlowMode,
    /// The share of slow ones.
    SlowShare,
    /// When the pace changed, from the start.
    ChangedAt,
    /// Operations per second after the change over those before.
    ChangeFactor,
    /// How long the beginning lasted.
    WarmupTime,
    /// Operations per second without it.
    SteadyIops,
    /// Greatest less least of a window, over its mean.
    IopsSpread,
    /// Change of the trend over a window, over its mean.
    IopsSlope,
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
            | Self::InFlightImplied
            | Self::InFlightImpliedLow
            | Self::InFlightImpliedHigh
            | Self::KneeInFlight
            | Self::CpusNeeded
            | Self::Errors => Unit::Count,
            Self::Iops
            | Self::RateAsked
            | Self::RateReached
            | Self::EarlyIops
            | Self::LateIops
            | Self::CapIops
            | Self::NextCapIops
            | Self::LargerIops
            | Self::BurstIops
            | Self::ExpectedIops
            | Self::IopsPerCpu
            | Self::SteadyIops
            | Self::CreditsSpent => Unit::PerSecond,
            Self::ByteRateAsked
            | Self::ByteRateReached
            | Self::ByteCreditsSpent
            | Self::BytesPerSecondTold
            | Self::BytesPerSecondMade => Unit::BytesPerSecond,
            Self::ServiceMean
            | Self::ServiceP50
            | Self::ResponseMean
            | Self::LatenessMean
            | Self::Thinktime
            | Self::HeldMean
            | Self::CreditsLast
            | Self::CreditsGone
            | Self::LatencyMean
            | Self::TimeTold
            | Self::TimeMade
            | Self::TimeOfOne
            | Self::BurstLasts
            | Self::ExpectedLatency
            | Self::FastMode
            | Self::SlowMode
            | Self::ChangedAt
            | Self::WarmupTime
            | Self::Runtime => Unit::Nanoseconds,
            Self::ServiceVariation
            | Self::IntervalVariation
            | Self::CpuShare
            | Self::CachedShare
            | Self::DecidedShare
            | Self::BusyShare
            | Self::ReadShare
            | Self::SlowShare
            | Self::IopsSpread
            | Self::IopsSlope
            | Self::Utilisation => Unit::Share,
            Self::JobBytes
            | Self::SumTold
            | Self::SumMade
            | Self::BlockBytes
            | Self::RequestBytes
            | Self::VolumeBytes
            | Self::LargerBytes
            | Self::BreakEvenBytes
            | Self::DeviceBytes
            | Self::FileBytes
            | Self::WrittenBytes
            | Self::ByteCreditsLeft => Unit::Bytes,
            Self::UnitFactor | Self::KneeFactor | Self::ChangeFactor => Unit::Factor,
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
    /// How many times.
    Factor,
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
    /// A figure as it was printed for people, with so many digits.
    Printed,
    /// `iostat`.
    Iostat,
    /// What somebody claims.
    Claim,
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
    /// Leave out the first seconds.
    Ramp {
        /// `ramp_time`.
        ramp_s: u64,
    },
    /// Lower the depth of each worker to this.
    LowerDepth {
        /// `iodepth`.
        iodepth: u64,
        /// In flight over all workers then.
        total: u64,
    },
    /// Use blocks of this many bytes.
    BlockSize {
        /// `bs`.
        bytes: u64,
    },
    /// Have the kernel send requests of this many bytes.
    LargerRequests {
        /// `max_sectors_kb`, in bytes.
        bytes: u64,
    },
    /// Take a volume of this many bytes.
    GrowVolume {
        /// Its size.
        bytes: u64,
    },
    /// Look at percentiles.
    Percentiles,
    /// Look at the settings of the host.
    Doctor,
}
