//! The names of all findings.

use serde::{Deserialize, Serialize};

/// Codes of findings, ordered by importance among findings of one severity, greatest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// No operation completed.
    NothingMeasured,
    /// Operations failed.
    ErrorsSeen,
    /// Blocks were written and not verified, although the job verifies.
    NotVerified,
    /// Blocks that were checked are of more than one run.
    SeveralRuns,
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
    /// Reads came back before the volume could answer: blocks that were never written, or a cache.
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
    /// At a greater depth it gave more: the depth was the limit.
    DepthBound,
    /// At a greater depth it gave no more: the device was the limit.
    DeviceBound,
    /// At a greater depth it gave a little more: the knee lies between.
    NearKnee,
    /// The same depth gave another result once more: of that and of a greater depth nothing can be told.
    NotRepeated,
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
    pub const ALL: [Self; 58] = [
        Self::NothingMeasured,
        Self::ErrorsSeen,
        Self::NotVerified,
        Self::SeveralRuns,
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
        Self::DepthBound,
        Self::DeviceBound,
        Self::NearKnee,
        Self::NotRepeated,
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
