//! Contradictions between figures of any source and any volume.

use crate::observation::KnownFigure;
use crate::{Code, EvidenceSource, Finding, Observation, Quantity, Remedy, Severity};

/// Figures that differ by less than this are taken for equal: runtimes do not begin and end for all at once.
const SLACK: f64 = 0.005;

/// What is in flight differs from the depth by up to this fraction beyond the rounding of the figures: jobs start and end
/// one after the other. More contradicts it.
const APART: f64 = 0.03;

/// Less of the depth than this was in flight in a run whose own output tells both: the depth is not what was kept.
const KEPT: f64 = 0.8;

/// Between the completion of an operation and the submission of the next one its place in the queue is empty for up to so
/// long. Latencies do not include it; fio's text output shows up to 3 us with `libaio`.
const TURNAROUND_NS: f64 = 3_000.0;

/// This many in flight for each worker are those of an engine that waits for each operation.
const ONE_AT_A_TIME: f64 = 1.3;

/// Requests that take less than this are answered as fast as they can be made: the queue is no matter.
const AT_ONCE_NS: f64 = 20_000.0;

/// Factors by which units are mixed up: MB and MiB, kB and KiB, GB and GiB.
const UNIT_FACTORS: [f64; 3] = [1.048_576, 1.024, 1.073_741_824];

pub(super) fn little(seen: &Observation) -> Option<Finding> {
    let (implied, depth, iops) = (seen.implied_in_flight()?, seen.depth?, seen.iops?);
    if is_of_device(iops) {
        return None;
    }
    let claimed = depth.source == EvidenceSource::Claim;
    let told = claimed || iops.source == EvidenceSource::Printed;
    // In a run the generator's own time keeps places in the queue empty, which rules of runs look at; a claim has none.
    let turnaround = iops.high * TURNAROUND_NS / 1e9;
    let kept = match claimed {
        true => implied.high + turnaround >= depth.low * (1.0 - APART),
        false => implied.high >= depth.low * KEPT,
    };
    let (code, severity) = if implied.low > depth.high * (1.0 + APART) {
        (Code::LittleContradicted, Severity::Distrust)
    } else if told && seen.closed && !kept {
        (Code::LittleContradicted, Severity::Warning)
    } else if told && kept {
        (Code::LittleHolds, Severity::Info)
    } else {
        return None;
    };
    let apart = Some(apart(&implied, &depth)).filter(|apart| *apart != 0.0);
    Some(with_little(seen, Finding::new(code, severity)).with_known(Quantity::Apart, apart, EvidenceSource::LittlesLaw))
}

/// By which fraction of the depth what is in flight lies beyond it, above 0, or short of it, below; 0 where their rounding
/// explains the difference.
fn apart(implied: &KnownFigure, depth: &KnownFigure) -> f64 {
    match (implied.low > depth.high, implied.high < depth.low) {
        (true, _) => implied.low / depth.high.max(1e-12) - 1.0,
        (_, true) => implied.high / depth.low.max(1e-12) - 1.0,
        _ => 0.0,
    }
}

/// Whether a device counted it: requests of anybody, merged and split, of which a job or a claim knows nothing.
fn is_of_device(known: KnownFigure) -> bool {
    known.source == EvidenceSource::Iostat
}

/// Little's law for the counters of a device.
pub(super) fn little_of_device(seen: &Observation) -> Option<Finding> {
    /// Averages of several reports are not those of their products.
    const REPORTS: f64 = 1.15;
    let (implied, counted) = (seen.implied_in_flight()?, seen.in_flight?);
    let apart = implied.low > counted.high * REPORTS || implied.high * REPORTS < counted.low;
    // What is below one has too few digits.
    (apart && counted.value().max(implied.value()) >= 1.0).then(|| {
        with_little(seen, Finding::new(Code::LittleContradicted, Severity::Warning)).with(
            Quantity::InFlightAchieved,
            counted.value(),
            counted.source,
        )
    })
}

/// The first report of `iostat` is of all the time since the host was started.
pub(super) fn since_boot(seen: &Observation) -> Option<Finding> {
    let iops = seen.iops.filter(|_| seen.since_boot)?;
    Some(Finding::new(Code::SinceBoot, Severity::Warning).with(Quantity::Iops, iops.value(), iops.source))
}

/// The figures of Little's law and the depth they are held against.
pub(super) fn with_little(seen: &Observation, finding: Finding) -> Finding {
    let of = |known: Option<KnownFigure>| known.map(|known| (known.value(), known.source));
    let mut finding = finding;
    if let Some(implied) = seen.implied_in_flight() {
        finding = finding.with(Quantity::InFlightImplied, implied.value(), EvidenceSource::LittlesLaw);
        if implied.high > implied.low * 1.02 {
            finding = finding.with(Quantity::InFlightImpliedLow, implied.low, EvidenceSource::LittlesLaw).with(
                Quantity::InFlightImpliedHigh,
                implied.high,
                EvidenceSource::LittlesLaw,
            );
        }
    }
    finding
        .with_told(Quantity::InFlightPossible, of(seen.depth))
        .with_told(Quantity::Iops, of(seen.iops))
        .with_told(Quantity::LatencyMean, of(seen.latency_ns))
}

/// The depth that a rate needs at a latency, where no depth is known.
pub(super) fn depth_needed(seen: &Observation) -> Option<Finding> {
    let needed = seen.implied_in_flight().filter(|_| seen.depth.is_none() && seen.in_flight.is_none())?;
    let finding = Finding::new(Code::DepthNeeded, Severity::Info).with(
        Quantity::InFlightNeeded,
        needed.value(),
        EvidenceSource::LittlesLaw,
    );
    Some(with_little(seen, finding).remedy(Remedy::QueueingEngine { iodepth: whole(needed.value()) }))
}

/// Throughput that is not operations × block size, by the factor between decimal and binary units or by another.
pub(super) fn product(seen: &Observation) -> Option<Finding> {
    let (bytes, made) = (seen.bytes_per_second?, seen.iops?.times(&seen.block_bytes?));
    if is_of_device(bytes) {
        return None;
    }
    let ratio = bytes.over(&made);
    // Bytes and operations are not counted at the same moment: they differ by what is in flight.
    let operations = seen.iops?.value() * seen.seconds.unwrap_or(f64::INFINITY);
    let slack = SLACK + seen.depth.map_or(0.0, |depth| depth.value()) / operations.max(1.0);
    let includes = |factor: f64| ratio.low <= factor * (1.0 + slack) && ratio.high >= factor * (1.0 - slack);
    if includes(1.0) {
        return None;
    }
    let mixed = UNIT_FACTORS.into_iter().flat_map(|factor| [factor, 1.0 / factor]).find(|&factor| includes(factor));
    let finding = match mixed {
        Some(factor) => Finding::new(Code::UnitsMixed, Severity::Warning).with(
            Quantity::UnitFactor,
            factor.max(1.0 / factor),
            EvidenceSource::Counters,
        ),
        None => Finding::new(Code::FiguresDisagree, Severity::Warning),
    };
    let finding = finding.with(Quantity::BytesPerSecondTold, bytes.value(), bytes.source).with(
        Quantity::BytesPerSecondMade,
        made.value(),
        EvidenceSource::Counters,
    );
    Some(finding)
}

/// Operations per second say little where a block is not one that others use.
pub(super) fn odd_block(seen: &Observation) -> Option<Finding> {
    const PAGE: u64 = 4096;
    let block = seen.block_bytes?;
    let bytes = block.value().round() as u64;
    let whole_pages = bytes.is_multiple_of(PAGE) && bytes > 0;
    if whole_pages && bytes.is_power_of_two() {
        return None;
    }
    let severity = if whole_pages { Severity::Info } else { Severity::Advice };
    let finding = Finding::new(Code::OddBlockSize, severity)
        .with(Quantity::BlockBytes, bytes as f64, block.source)
        .remedy((!whole_pages).then_some(Remedy::BlockSize { bytes: PAGE }));
    Some(finding)
}

/// The device saw smaller requests than were asked for.
pub(super) fn split(seen: &Observation) -> Option<Finding> {
    let (block, request) = (seen.block_bytes?, seen.request_bytes?);
    if request.high > 0.75 * block.low {
        return None;
    }
    let finding = Finding::new(Code::RequestsSplit, Severity::Advice)
        .with(Quantity::BlockBytes, block.value(), block.source)
        .with(Quantity::RequestBytes, request.value(), request.source)
        .remedy(Remedy::LargerRequests { bytes: block.value() as u64 });
    Some(finding)
}

/// A mean says nothing of the slow ones.
pub(super) fn mean_alone(seen: &Observation) -> Option<Finding> {
    let latency = seen.latency_ns.filter(|latency| !seen.spread && seen.device && !is_of_device(*latency))?;
    let finding = Finding::new(Code::MeanWithoutSpread, Severity::Info)
        .with(Quantity::LatencyMean, latency.value(), latency.source)
        .remedy(Remedy::Percentiles);
    Some(finding)
}

/// Small random operations of which each takes the time of a seek and half a turn, however many wait.
pub(super) fn mechanical(seen: &Observation) -> Option<Finding> {
    /// A drive of 15,000 rpm does one in 3 ms with a queue to choose from; one of 5,400 rpm does one in 18 ms.
    const ONE_NS: std::ops::RangeInclusive<f64> = 3e6..=2e7;
    const BLOCK_MAX: f64 = 65_536.0;
    let (iops, latency) = (seen.iops?, seen.latency_ns?);
    let small = seen.block_bytes.is_none_or(|block| block.value() <= BLOCK_MAX);
    let uneven = seen.variation.is_none_or(|variation| variation >= 0.2);
    let alone = 1e9 / iops.value().max(1e-9);
    let saturated = seen.in_flight().is_some_and(|in_flight| in_flight.value() >= 0.8);
    let like_a_drive = seen.random == Some(true) && small && uneven && saturated && ONE_NS.contains(&alone);
    (like_a_drive && latency.value() >= 0.8 * alone).then(|| {
        Finding::new(Code::MechanicalDisk, Severity::Info)
            .with(Quantity::Iops, iops.value(), iops.source)
            .with(Quantity::TimeOfOne, alone, EvidenceSource::LittlesLaw)
            .with(Quantity::LatencyMean, latency.value(), latency.source)
            .with_told(
                Quantity::ServiceVariation,
                seen.variation.map(|variation| (variation, EvidenceSource::Counters)),
            )
    })
}

/// A device that works on many at once is busy as soon as it has one.
pub(super) fn busy(seen: &Observation) -> Option<Finding> {
    /// No drive with one arm does as many.
    const PARALLEL_IOPS: f64 = 1_000.0;
    const MANY: f64 = 32.0;
    let (busy, iops, in_flight) = (seen.busy?, seen.iops?, seen.in_flight()?);
    (busy.high >= 0.9 && iops.low >= PARALLEL_IOPS && in_flight.high < MANY).then(|| {
        Finding::new(Code::UtilMisread, Severity::Info)
            .with(Quantity::BusyShare, busy.value(), busy.source)
            .with(Quantity::InFlightAchieved, in_flight.value(), in_flight.source)
            .with(Quantity::Iops, iops.value(), iops.source)
    })
}

/// Far fewer were in flight than the depth says, as few as there are workers.
pub(super) fn one_at_a_time(seen: &Observation) -> Option<Finding> {
    let (depth, in_flight) = (seen.depth?, seen.in_flight.or_else(|| seen.implied_in_flight())?);
    let workers = seen.workers.unwrap_or(1) as f64;
    let slow = seen.latency_ns.is_none_or(|latency| latency.value() > AT_ONCE_NS);
    let deep = depth.low >= 4.0 * workers;
    let few = in_flight.high <= ONE_AT_A_TIME * workers;
    if !(seen.closed && slow && deep && few && seen.device) {
        return None;
    }
    let remedy = match seen.direct {
        Some(false) => Remedy::Direct,
        _ => Remedy::QueueingEngine { iodepth: whole(depth.value() / workers) },
    };
    let finding = Finding::new(Code::EngineNotAsynchronous, Severity::Warning)
        .with(Quantity::InFlightAsked, depth.value(), depth.source)
        .with(Quantity::InFlightAchieved, in_flight.value(), in_flight.source)
        .remedy(remedy);
    Some(finding)
}

/// The device counted far fewer in flight than the depth says, but more than one for each worker.
pub(super) fn not_kept(seen: &Observation) -> Option<Finding> {
    let (depth, in_flight) = (seen.depth?, seen.in_flight?);
    let workers = seen.workers.unwrap_or(1) as f64;
    let (some, short) = (in_flight.low > ONE_AT_A_TIME * workers, in_flight.high < KEPT / 2.0 * depth.low);
    (seen.closed && some && short).then(|| {
        let finding = Finding::new(Code::QueueNotFilled, Severity::Advice)
            .with(Quantity::InFlightPossible, depth.value(), depth.source)
            .with(Quantity::InFlightAchieved, in_flight.value(), in_flight.source);
        let of = |known: Option<KnownFigure>| known.map(|known| (known.value(), known.source));
        finding.with_told(Quantity::Iops, of(seen.iops)).with_told(Quantity::ServiceMean, of(seen.latency_ns))
    })
}

/// A region so small that a cache on the way may hold it, read over and over.
pub(super) fn small_region(seen: &Observation) -> Option<Finding> {
    /// What controllers of arrays and hosts of clouds have for a cache.
    const SMALL: f64 = 32.0 * (1u64 << 30) as f64;
    const TIMES_READ: f64 = 10.0;
    let region = seen.region_bytes? as f64 * seen.workers.unwrap_or(1) as f64;
    let moved = seen.bytes_per_second?.value() * seen.seconds?;
    let reads = seen.read_share.is_some_and(|share| share > 0.5);
    let small = region > 0.0 && region < SMALL && moved > TIMES_READ * region;
    (seen.device && seen.direct == Some(true) && reads && small).then(|| {
        Finding::new(Code::SmallRegion, Severity::Info).with(Quantity::FileBytes, region, EvidenceSource::Job).with(
            Quantity::JobBytes,
            moved,
            EvidenceSource::Counters,
        )
    })
}

/// The smallest whole number that is enough; a thousandth over is not.
pub(super) fn whole(needed: f64) -> u64 {
    (needed - 1e-3).ceil().max(1.0) as u64
}
