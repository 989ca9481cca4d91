//! The figures that support a finding.

use record::Declared;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A figure that a finding rests on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// What the figure is.
    pub quantity: Quantity,
    pub value: f64,
    pub unit: EvidenceUnit,
    /// Where it was read.
    pub source: EvidenceSource,
}

/// Declares the quantities with their units.
macro_rules! quantities {
    ($($(#[$doc:meta])+ $name:ident: $unit:ident,)+) => {
        /// The quantity of a figure.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Quantity {
            $($(#[$doc])+ $name,)+
        }

        impl Quantity {
            /// Returns the unit of its values.
            #[must_use]
            pub const fn unit(self) -> EvidenceUnit {
                match self { $(Self::$name => EvidenceUnit::$unit,)+ }
            }
        }
    };
}

quantities! {
    /// Operations in flight, as requested.
    InFlightAsked: Count,
    /// Operations that the engine could have in flight.
    InFlightPossible: Count,
    /// Mean number of operations in flight.
    InFlightAchieved: Count,
    /// Operations in flight that the requested rate would need.
    InFlightNeeded: Count,
    /// Operations per second.
    Iops: PerSecond,
    /// Mean service time.
    ServiceMean: Nanoseconds,
    /// Mean time of a sync.
    SyncMean: Nanoseconds,
    /// Mean number of syncs in flight, which also occupy the queue.
    SyncsInFlight: Count,
    /// The 99th percentile of sync times.
    SyncP99: Nanoseconds,
    /// The 99th percentile of sync times that the database requires.
    SyncP99Allowed: Nanoseconds,
    /// Median service time.
    ServiceP50: Nanoseconds,
    /// Coefficient of variation of service times.
    ServiceVariation: Share,
    /// Coefficient of variation of the throughput of intervals.
    IntervalVariation: Share,
    /// Mean response time.
    ResponseMean: Nanoseconds,
    /// Mean lateness of the generator.
    LatenessMean: Nanoseconds,
    /// Requested rate.
    RateAsked: PerSecond,
    /// Achieved rate.
    RateReached: PerSecond,
    /// Requested rate of reads.
    ReadRateAsked: PerSecond,
    /// Achieved rate of reads.
    ReadRateReached: PerSecond,
    /// Requested rate of writes.
    WriteRateAsked: PerSecond,
    /// Achieved rate of writes.
    WriteRateReached: PerSecond,
    /// Requested rate in bytes.
    ByteRateAsked: BytesPerSecond,
    /// Achieved rate in bytes.
    ByteRateReached: BytesPerSecond,
    /// Fraction of a CPU that each worker used.
    CpuShare: Share,
    /// Workers that ran at the same time.
    Workers: Count,
    /// Mean number of workers that were active.
    ActiveWorkers: Count,
    /// Jobs with different settings in one result.
    UnlikeJobs: Count,
    /// CPUs of the host.
    Cpus: Count,
    /// Depth of each worker during the probe.
    ProbeDepth: Count,
    /// Operations per second during the probe.
    ProbeIops: PerSecond,
    /// Mean service time during the probe.
    ProbeServiceMean: Nanoseconds,
    /// Operations per second during the probe over those of the run.
    ProbeGain: Factor,
    /// Operations per second at the run's depth, measured again after the probe.
    AgainIops: PerSecond,
    /// Idle time between operations.
    Thinktime: Nanoseconds,
    /// Operations between idle times.
    ThinktimeBlocks: Count,
    /// Latency to which the job adapts its depth.
    LatencyTarget: Nanoseconds,
    /// Fraction of operations that must meet it.
    TargetShare: Share,
    /// Depth at which they meet it.
    DepthFound: Count,
    /// Fraction of the files that was in the page cache when the run began.
    CachedShare: Share,
    /// Bytes that the job transferred.
    JobBytes: Bytes,
    /// Bytes that the devices transferred.
    DeviceBytes: Bytes,
    /// Bytes of the files.
    FileBytes: Bytes,
    /// Bytes of the files that were ever written.
    WrittenBytes: Bytes,
    /// Fraction of operations that a part of a model delayed longest.
    DecidedShare: Share,
    /// Mean delay by that part over all operations.
    HeldMean: Nanoseconds,
    /// Fraction of its capacity that was used.
    Utilisation: Share,
    /// Measured time.
    Runtime: Nanoseconds,
    /// Completed operations.
    Operations: Count,
    /// Failed operations.
    Errors: Count,
    /// Blocks that a verifying job wrote.
    BlocksWritten: Count,
    /// Blocks that were read back and compared.
    BlocksChecked: Count,
    /// Runs that wrote the checked blocks.
    RunsFound: Count,
    /// Error number of the first error.
    FirstError: ErrorNumber,
    /// Operations per second in the first third.
    EarlyIops: PerSecond,
    /// Operations per second in the last third.
    LateIops: PerSecond,
    /// Remaining credits of a bucket for operations.
    CreditsLeft: Count,
    /// Credits spent per second beyond those earned.
    CreditsSpent: PerSecond,
    /// Remaining credits in bytes.
    ByteCreditsLeft: Bytes,
    /// Credits in bytes spent per second beyond those earned.
    ByteCreditsSpent: BytesPerSecond,
    /// Time until the credits run out at this pace.
    CreditsLast: Nanoseconds,
    /// Time from the start at which the credits ran out.
    CreditsGone: Nanoseconds,
    /// Operations in flight that the figures imply.
    InFlightImplied: Count,
    /// Minimum that they imply, given their rounding.
    InFlightImpliedLow: Count,
    /// Maximum that they imply.
    InFlightImpliedHigh: Count,
    /// Fraction by which that differs from the depth beyond the rounding of the figures; below 0 where it is less.
    Apart: Share,
    /// Mean time of an operation from its start.
    LatencyMean: Nanoseconds,
    /// Throughput as reported.
    BytesPerSecondTold: BytesPerSecond,
    /// Throughput computed from operations per second and block size.
    BytesPerSecondMade: BytesPerSecond,
    /// Ratio of a decimal to a binary unit.
    UnitFactor: Factor,
    /// A figure as printed.
    SumTold: Bytes,
    /// The value that follows for it from other figures.
    SumMade: Bytes,
    /// A time as printed.
    TimeTold: Nanoseconds,
    /// The value that follows for it from other times.
    TimeMade: Nanoseconds,
    /// Bytes of an operation.
    BlockBytes: Bytes,
    /// Bytes of a request, as the device received it.
    RequestBytes: Bytes,
    /// Time of each operation if they ran one after another.
    TimeOfOne: Nanoseconds,
    /// Fraction of time in which the device had at least one request.
    BusyShare: Share,
    /// Fraction of the host's CPU time that was in use.
    HostCpuShare: Share,
    /// Operations per second that a cap sustains.
    CapIops: PerSecond,
    /// Bytes per second that a cap sustains.
    CapBytesPerSecond: BytesPerSecond,
    /// Fraction by which the measurement exceeds the cap.
    AboveNominal: Share,
    /// Fraction by which the provider was measured to exceed the cap.
    Tolerance: Share,
    /// Operations per second that the next cap sustains.
    NextCapIops: PerSecond,
    /// Operations in flight that reach the limit.
    KneeInFlight: Count,
    /// Operations in flight over those at the knee.
    KneeFactor: Factor,
    /// Bytes of the volume.
    VolumeBytes: Bytes,
    /// Bytes of a volume whose size does not limit.
    LargerBytes: Bytes,
    /// Operations per second of that larger volume.
    LargerIops: PerSecond,
    /// Block size that reaches both limits at once.
    BreakEvenBytes: Bytes,
    /// Fraction of reads.
    ReadShare: Share,
    /// Operations per second while credits last.
    BurstIops: PerSecond,
    /// Time that credits last from a full bucket.
    BurstLasts: Nanoseconds,
    /// Operations per second that the model predicts.
    ExpectedIops: PerSecond,
    /// Mean latency that the model predicts.
    ExpectedLatency: Nanoseconds,
    /// CPUs that should be free.
    CpusNeeded: Count,
    /// Operations per second for each CPU, by the provider's rule.
    IopsPerCpu: PerSecond,
    /// Time that most operations took.
    FastMode: Nanoseconds,
    /// Time that the slow operations took.
    SlowMode: Nanoseconds,
    /// Fraction of slow operations.
    SlowShare: Share,
    /// Fraction of its time that a worker spent on submission.
    SubmissionShare: Share,
    /// Time from the start at which the pace changed.
    ChangedAt: Nanoseconds,
    /// Operations per second after the change over those before.
    ChangeFactor: Factor,
    /// Length of the warm-up.
    WarmupTime: Nanoseconds,
    /// Operations per second without the warm-up.
    SteadyIops: PerSecond,
    /// Range over a window, relative to its mean.
    IopsSpread: Share,
    /// Change of the trend over a window, relative to its mean.
    IopsSlope: Share,
    /// Ranks that are compared.
    Ranks: Count,
    /// Ranks that are far slower than the others.
    SlowRanks: Count,
    /// Operations per second of the slowest rank.
    RankIops: PerSecond,
    /// Median of the operations per second of the ranks.
    MedianRankIops: PerSecond,
    /// Fraction of a CPU that each worker of the slowest rank used.
    RankCpuShare: Share,
    /// Median of that fraction over the ranks.
    MedianRankCpuShare: Share,
    /// The 99th percentile of the latency of the slowest rank.
    RankP99: Nanoseconds,
    /// Median of the 99th percentiles of the ranks.
    MedianRankP99: Nanoseconds,
    /// Time by which the slowest rank started later than the median.
    RankLate: Nanoseconds,
    /// Failed operations of the slowest rank.
    RankErrors: Count,
    /// Run time of the slowest rank.
    RankLasted: Nanoseconds,
    /// Median of the run times of the ranks.
    MedianRankLasted: Nanoseconds,
    /// Operations per second of the slowest rank, or of each rank on the slowest host.
    SlowestRankIops: PerSecond,
    /// Operations per second of the fastest rank, or of each rank on the fastest host.
    FastestRankIops: PerSecond,
    /// Coefficient of variation of the operations per second of the ranks.
    RankVariation: Share,
    /// The same among the ranks of one host.
    WithinHostVariation: Share,
    /// Hosts.
    Hosts: Count,
    /// Hosts that are shown to share a limit; 1 if each may have its own.
    HostsSharing: Count,
    /// Hosts that reached a limit of their own.
    HostsAtLimit: Count,
    /// Bytes per second of all ranks of a host, in the direction with more.
    HostBytesPerSecond: BytesPerSecond,
    /// Bytes per second that the fastest network link of a host carries.
    LinkBytesPerSecond: BytesPerSecond,
    /// Fraction of the speed of its link that a host used.
    LinkShare: Share,
    /// Ranks that would give the same.
    RanksEnough: Count,
    /// Operations per second of all ranks before some ended.
    AllIops: PerSecond,
    /// Operations per second of the remaining ranks before the others ended.
    RemainingIopsBefore: PerSecond,
    /// Operations per second of the remaining ranks after that.
    RemainingIops: PerSecond,
    /// Variance of the sum over the sum of the variances of the ranks.
    VarianceRatio: Factor,
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceUnit {
    /// A dimensionless count.
    Count,
    /// Operations per second.
    PerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// A fraction.
    Share,
    Bytes,
    /// A ratio.
    Factor,
    /// A Linux error number.
    ErrorNumber,
}

/// The source of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceSource {
    /// The job's options.
    Job,
    /// Counters and sums of the run.
    Counters,
    /// Histograms of latency.
    Histogram,
    /// The interval series.
    Intervals,
    /// CPU time of the workers.
    ProcessorTime,
    /// Page cache residency from `mincore`.
    PageCache,
    /// The devices' counters.
    DiskCounters,
    /// Metadata of the files.
    Files,
    /// Little's law, from counters and mean times.
    LittlesLaw,
    /// Facts about the host.
    Host,
    /// The model of a volume.
    Model,
    /// A printed figure of limited precision.
    Printed,
    /// Output of `iostat`.
    Iostat,
    /// Output of `sar`.
    Sar,
    /// Figures of a claim.
    Claim,
    /// An estimate from other figures of the output, which does not state it.
    Estimate,
    /// Documentation of the program that the figures are of.
    Documentation,
}

impl EvidenceSource {
    /// Returns where the depth of a job is from.
    pub(crate) const fn of_depth(declared: &Declared) -> Self {
        if declared.estimated.is_none() { Self::Job } else { Self::Estimate }
    }

    /// Reports whether a device counted the figure: merged and split requests of all programs.
    pub(crate) const fn is_device(self) -> bool {
        matches!(self, Self::Iostat | Self::Sar | Self::DiskCounters)
    }
}
