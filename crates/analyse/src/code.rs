//! Codes of findings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares the codes, so that `ALL` lists each of them.
macro_rules! codes {
    ($($(#[$doc:meta])+ $name:ident,)+) => {
        /// Codes of findings, ordered by decreasing importance within a severity.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Code {
            $($(#[$doc])+ $name,)+
        }

        impl Code {
            /// All codes, in order.
            pub const ALL: [Self; [$(stringify!($name)),+].len()] = [$(Self::$name),+];
        }
    };
}

codes! {
    /// No operation completed.
    NothingMeasured,
    /// Operations failed.
    ErrorsSeen,
    /// The job verifies, but some written blocks were not checked.
    NotVerified,
    /// The checked blocks were written by more than one run.
    SeveralRuns,
    /// Reads were served by the page cache instead of the device.
    PageCacheMeasured,
    /// Writes went to memory and were not made durable.
    BufferedWritesUnsynced,
    /// Reads hit parts of a file that were never written.
    HolesRead,
    /// By Little's law, more operations were in flight than possible, or far fewer than claimed.
    LittleContradicted,
    /// The device was busy for longer than its requests can have kept it.
    UtilContradicted,
    /// Figures that follow from each other do not match.
    FiguresDisagree,
    /// Decimal and binary units were mixed.
    UnitsMixed,
    /// The figures are averages since boot and describe no particular load.
    SinceBoot,
    /// Reads completed faster than the volume can answer: unwritten blocks, or a cache.
    UnwrittenBlocks,
    /// The measurement exceeds every limit of the volume.
    AboveExpectation,
    /// Burst credits were still being spent: the figures describe the burst.
    BurstRunning,
    /// Enough operations were in flight, but the volume gave less than expected.
    BelowExpectation,
    /// Syncs took longer than the database that waits for them allows.
    SyncsTooSlow,
    /// Throughput did not reach steady state.
    NotSteady,
    /// The generator was so late that response times describe it more than the device.
    LatenessSignificant,
    /// The engine cannot keep the requested queue depth in flight.
    EngineNotAsynchronous,
    /// The ranks share a limit, and fewer of them reach it.
    SharedLimit,
    /// Nearly all ranks missed the requested rate; whether they share a limit is open.
    RanksMissedRate,
    /// The requested rate was not reached.
    RateNotReached,
    /// The requested rate needs more operations in flight than were possible.
    QueueTooShallow,
    /// The ranks of a host used nearly all of its CPUs.
    HostCpuBound,
    /// The ranks of a host saturated its network link.
    HostLinkBound,
    /// A rank was far slower than others with the same work.
    RankStraggler,
    /// Ranks that ran the same work got unequal shares.
    RankSharesUnequal,
    /// The CPU that generates the load was busy all the time.
    GeneratorCpuBound,
    /// The size of the volume determines its limit.
    SizeTooSmall,
    /// More IOPS or throughput can be provisioned at the volume's size.
    ProvisionedTooLow,
    /// The machine's limit was reached before the volume's.
    MachineCap,
    /// The limit on the machine's network writes was reached.
    EgressCap,
    /// Far more operations were in flight than needed: most of the latency is queueing.
    BeyondKnee,
    /// The host has fewer CPUs than the provider's rule requires.
    CpusShort,
    /// A few operations took far longer than the rest, as under throttling.
    Throttled,
    /// Fewer operations were in flight than possible.
    QueueNotFilled,
    /// The job adapted its depth to a latency.
    LatencyTarget,
    /// One operation at a time: its latency was the limit.
    LatencyBound,
    /// A throttle of a cgroup was reached.
    CgroupThrottle,
    /// A greater depth gave more: the depth was the limit.
    DepthBound,
    /// A greater depth gave no more: the device was the limit.
    DeviceBound,
    /// A greater depth gave slightly more: the knee lies between the two depths.
    NearKnee,
    /// The same depth gave a different result the second time, so a greater depth decides nothing.
    NotRepeated,
    /// The queue was full and all operations took equally long at a steady pace: a limiter, or a very even device.
    DeviceFlat,
    /// The queue was full; one run cannot tell whether a greater depth gives more.
    QueueFull,
    /// A modelled limit or queue delayed operations.
    ModelHeldBack,
    /// No modelled limit was reached: latency and depth set the pace.
    ModelNotReached,
    /// The volume's IOPS limit was reached.
    VolumeIopsCap,
    /// The volume's throughput limit was reached.
    VolumeThroughputCap,
    /// A queue of the host or of the storage system was saturated.
    StationCap,
    /// Large blocks reached the throughput limit before the IOPS limit.
    BytesBeforeIops,
    /// Reads and writes drew on one budget.
    SharedBudget,
    /// The number of operations in flight that a rate needs.
    DepthNeeded,
    /// The requested rate was sustained.
    RateKept,
    /// Burst credits ran out during the run.
    BurstUsedUp,
    /// The warm-up differed from the rest and was included in the figures.
    WarmupCounted,
    /// Throughput at the end differed from throughput at the beginning.
    BurstOrDrift,
    /// The run was too short to be representative.
    ShortRun,
    /// The run was stopped before its end.
    Interrupted,
    /// The engine has no device: the generator itself was measured.
    NoDevice,
    /// The engine transfers no data: calls on metadata were measured.
    MetadataOnly,
    /// Latencies were not recorded, so the limit is unknown.
    LimitUnknown,
    /// The device received smaller requests than the job issued.
    RequestsSplit,
    /// The block size is unusual.
    OddBlockSize,
    /// The region is small enough to fit a cache, and was read repeatedly.
    SmallRegion,
    /// The device behaves like a mechanical drive with a single actuator.
    MechanicalDisk,
    /// A busy device that works on many requests at once is not a saturated one.
    UtilMisread,
    /// Only the mean is known, which hides slow operations.
    MeanWithoutSpread,
    /// The figures agree by Little's law.
    LittleHolds,
}

impl Code {
    /// Returns the code's name in documents and scripts.
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
