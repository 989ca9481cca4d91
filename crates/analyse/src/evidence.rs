//! The figures that support a finding.

use serde::{Deserialize, Serialize};

/// A figure that a finding rests on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What the figure is.
    pub quantity: Quantity,
    /// Its value.
    pub value: f64,
    /// The unit of the value.
    pub unit: EvidenceUnit,
    /// Where it was read.
    pub source: EvidenceSource,
}

/// The quantity of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// Mean time of a sync.
    SyncMean,
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
    /// Jobs in one result that ask for different things.
    UnlikeJobs,
    /// Processors of the host.
    Cpus,
    /// The depth of each worker while it was probed.
    ProbeDepth,
    /// Operations per second then.
    ProbeIops,
    /// The mean time of an operation then.
    ProbeServiceMean,
    /// Operations per second then over those before.
    ProbeGain,
    /// Operations per second at the depth of the run, measured again after that.
    AgainIops,
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
    /// Blocks that a verifying job wrote.
    BlocksWritten,
    /// Blocks that were read back and compared.
    BlocksChecked,
    /// Runs that wrote the blocks that were checked.
    RunsFound,
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
    /// By which fraction that differs from the depth beyond the rounding of the figures; below 0 where it is less.
    Apart,
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
    /// The fraction of the host's processor time that was in use.
    HostCpuShare,
    /// Operations per second that a cap lets through.
    CapIops,
    /// The same in bytes.
    CapBytesPerSecond,
    /// How far above that the measurement is, as a fraction.
    AboveNominal,
    /// How far above that the provider was measured to sustain, as a fraction.
    Tolerance,
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
    /// The share of its time that a worker spent in handing operations over.
    SubmissionShare,
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
    pub const fn unit(self) -> EvidenceUnit {
        match self {
            Self::InFlightAsked
            | Self::InFlightPossible
            | Self::InFlightAchieved
            | Self::InFlightNeeded
            | Self::Workers
            | Self::UnlikeJobs
            | Self::ProbeDepth
            | Self::Cpus
            | Self::Operations
            | Self::CreditsLeft
            | Self::InFlightImplied
            | Self::InFlightImpliedLow
            | Self::InFlightImpliedHigh
            | Self::KneeInFlight
            | Self::CpusNeeded
            | Self::BlocksWritten
            | Self::BlocksChecked
            | Self::RunsFound
            | Self::Errors => EvidenceUnit::Count,
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
            | Self::ProbeIops
            | Self::AgainIops
            | Self::CreditsSpent => EvidenceUnit::PerSecond,
            Self::ByteRateAsked
            | Self::ByteRateReached
            | Self::ByteCreditsSpent
            | Self::BytesPerSecondTold
            | Self::CapBytesPerSecond
            | Self::BytesPerSecondMade => EvidenceUnit::BytesPerSecond,
            Self::ServiceMean
            | Self::SyncMean
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
            | Self::ProbeServiceMean
            | Self::Runtime => EvidenceUnit::Nanoseconds,
            Self::ServiceVariation
            | Self::IntervalVariation
            | Self::CpuShare
            | Self::CachedShare
            | Self::DecidedShare
            | Self::BusyShare
            | Self::HostCpuShare
            | Self::ReadShare
            | Self::SlowShare
            | Self::SubmissionShare
            | Self::IopsSpread
            | Self::IopsSlope
            | Self::AboveNominal
            | Self::Apart
            | Self::Tolerance
            | Self::Utilisation => EvidenceUnit::Share,
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
            | Self::ByteCreditsLeft => EvidenceUnit::Bytes,
            Self::UnitFactor | Self::ProbeGain | Self::KneeFactor | Self::ChangeFactor => EvidenceUnit::Factor,
            Self::FirstError => EvidenceUnit::ErrorNumber,
        }
    }
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceUnit {
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

/// The source of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceSource {
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
    /// A claim.
    Claim,
}
