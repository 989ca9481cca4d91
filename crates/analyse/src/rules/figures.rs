//! Contradictions between figures, whatever their source and volume.

use crate::observation::KnownFigure;
use crate::{Code, EvidenceSource, Finding, Observation, Quantity, Remedy, Severity};
use units::requests_in_flight;

/// Relative difference up to which figures count as equal: kinds and jobs do not start and end at the same moment.
const SLACK: f64 = 0.005;

/// Fraction by which the operations in flight may differ from the depth beyond the rounding of the figures, because
/// jobs start and end one after another.
const APART: f64 = 0.03;

/// Smallest difference that is not printed as 0.0 %.
const PRINTED_APART: f64 = 0.0005;

/// Fraction of the depth that must be in flight if a run's own output states both, or the queue was not kept full.
const KEPT: f64 = 0.8;

/// Time in nanoseconds for which a slot of the queue may stay empty between completion and next submission. Latencies
/// do not include it; fio's text output shows up to 3 us with `libaio`.
const TURNAROUND_NS: f64 = 3_000.0;

/// Operations in flight per worker up to which an engine waits for each operation.
const ONE_AT_A_TIME: f64 = 1.3;

/// Latency in nanoseconds below which requests complete as fast as they are submitted, whatever the queue.
const IMMEDIATE_NS: f64 = 20_000.0;

/// Factors between units that are easily confused: MB and MiB, kB and KiB, GB and GiB.
const UNIT_FACTORS: [f64; 3] = [1.048_576, 1.024, 1.073_741_824];

pub(super) fn little(seen: &Observation) -> Option<Finding> {
    let (implied, depth, iops) = (seen.implied_in_flight()?, seen.depth?, seen.iops?);
    let is_made = |known: KnownFigure| known.source == EvidenceSource::LittlesLaw;
    // A depth that is estimated from these figures agrees with them.
    let is_estimated = depth.source == EvidenceSource::Estimate;
    if is_estimated || is_of_device(iops) || is_made(iops) || seen.latency_ns.is_some_and(is_made) {
        return None;
    }
    let claimed = depth.source == EvidenceSource::Claim;
    let stated = claimed || iops.source == EvidenceSource::Printed;
    // In a run, the generator's own time leaves slots of the queue empty, which rules for runs examine. A claim has
    // none.
    let turnaround = iops.high * TURNAROUND_NS / 1e9;
    let kept = match claimed {
        true => implied.high + turnaround >= depth.low * (1.0 - APART),
        false => implied.high >= depth.low * KEPT,
    };
    let (code, severity) = if implied.low > depth.high * (1.0 + APART) {
        (Code::LittleContradicted, Severity::Distrust)
    } else if claimed && seen.closed && !kept {
        (Code::LittleContradicted, Severity::Warning)
    } else if stated && kept {
        (Code::LittleHolds, Severity::Info)
    } else {
        return None;
    };
    let apart = Some(depth_gap(&implied, &depth)).filter(|apart| apart.abs() >= PRINTED_APART);
    Some(with_little(seen, Finding::new(code, severity)).with(Quantity::Apart, apart, EvidenceSource::LittlesLaw))
}

/// Little's law for a percentile without a mean: a known fraction of the operations takes at least so long.
pub(super) fn little_of_percentile(seen: &Observation) -> Option<Finding> {
    let ((share, slow), depth, iops) = (seen.slowest?, seen.depth?, seen.iops?);
    let least = iops.times(&slow.scaled(share / 1e9));
    (seen.latency_ns.is_none() && least.low > depth.high * (1.0 + APART)).then(|| {
        Finding::new(Code::LittleContradicted, Severity::Distrust)
            .with_figure(Quantity::InFlightImplied, least)
            .with_figure(Quantity::InFlightPossible, depth)
            .with_figure(Quantity::Iops, iops)
            .with(Quantity::SlowShare, share, slow.source)
            .with_figure(Quantity::SlowMode, slow)
    })
}

/// Returns the fraction of the depth by which the operations in flight exceed it, or fall short of it if negative; 0 if
/// rounding explains the difference.
fn depth_gap(implied: &KnownFigure, depth: &KnownFigure) -> f64 {
    match (implied.low > depth.high, implied.high < depth.low) {
        (true, _) => implied.low / depth.high.max(1e-12) - 1.0,
        (_, true) => implied.high / depth.low.max(1e-12) - 1.0,
        _ => 0.0,
    }
}

/// Reports whether a device counted the figure: merged and split requests of all programs, unknown to a job or claim.
fn is_of_device(known: KnownFigure) -> bool {
    known.source.is_device()
}

/// Little's law for the counters of a device.
pub(super) fn little_of_device(seen: &Observation) -> Option<Finding> {
    /// Tolerance for several reports, whose averages do not multiply exactly.
    const REPORTS: f64 = 1.15;
    let (implied, counted) = (seen.implied_in_flight()?, seen.in_flight?);
    let apart = implied.low > counted.high * REPORTS || implied.high * REPORTS < counted.low;
    // Values below one have too few digits.
    (apart && counted.value().max(implied.value()) >= 1.0).then(|| {
        let finding = Finding::new(Code::LittleContradicted, Severity::Warning);
        with_little(seen, finding).with_figure(Quantity::InFlightAchieved, counted)
    })
}

/// Checks for the first report of `iostat`, which averages over the time since boot.
pub(super) fn since_boot(seen: &Observation) -> Option<Finding> {
    let iops = seen.iops.filter(|_| seen.since_boot)?;
    Some(Finding::new(Code::SinceBoot, Severity::Warning).with_figure(Quantity::Iops, iops))
}

/// Checks the time of syncs against what the database that waits for them asks for.
pub(super) fn syncs(seen: &Observation) -> Option<Finding> {
    let allowed_ns = seen.sync_p99_allowed_ns()?;
    // All that etcd writes it syncs.
    let of_writes = || seen.p99_ns.filter(|_| seen.database.is_some() && seen.read_share == Some(0.0));
    let p99 = seen.sync_p99_ns.or_else(of_writes).filter(|p99| p99.value() >= allowed_ns)?;
    let finding = Finding::new(Code::SyncsTooSlow, Severity::Warning).with_figure(Quantity::SyncP99, p99);
    let finding = finding.with(Quantity::SyncP99Allowed, allowed_ns, EvidenceSource::Documentation);
    Some(finding.with_figure(Quantity::SyncMean, seen.sync_mean_ns).remedy(Remedy::FasterSyncs))
}

/// Adds the figures of Little's law and the depth to compare with.
pub(super) fn with_little(seen: &Observation, mut finding: Finding) -> Finding {
    const SOURCE: EvidenceSource = EvidenceSource::LittlesLaw;
    if let Some(implied) = seen.implied_in_flight() {
        finding = finding.with(Quantity::InFlightImplied, implied.value(), SOURCE);
        if implied.high > implied.low * 1.02 {
            finding = finding.with(Quantity::InFlightImpliedLow, implied.low, SOURCE);
            finding = finding.with(Quantity::InFlightImpliedHigh, implied.high, SOURCE);
        }
    }
    finding
        .with_figure(Quantity::InFlightPossible, seen.depth)
        .with_figure(Quantity::Iops, seen.iops)
        .with_figure(Quantity::LatencyMean, seen.latency_ns)
}

/// Determines the depth that a rate needs at a latency, if no depth is known.
pub(super) fn depth_needed(seen: &Observation) -> Option<Finding> {
    // Counters are of an application, and so are those of a database: neither has a job to set a depth for.
    let is_of_application = seen.is_counted() || seen.queues == Some(false);
    let is_of_job = seen.depth.is_none() && seen.in_flight.is_none() && !is_of_application;
    // One operation at a time needs no depth.
    let needed = seen.implied_in_flight().filter(|needed| is_of_job && needed.value() > 1.0)?;
    let finding = Finding::new(Code::DepthNeeded, Severity::Info).with_figure(Quantity::InFlightNeeded, needed);
    let in_flight = requests_in_flight(needed.value());
    let reads = seen.read_share.is_none_or(|share| share >= 0.5);
    Some(with_little(seen, finding).remedy(match seen.database {
        Some(_) => Remedy::MoreInFlight { in_flight, reads, database: seen.database },
        None => Remedy::QueueingEngine { iodepth: in_flight },
    }))
}

/// Checks that throughput equals operations × block size; a mismatch may be the factor between decimal and binary
/// units.
pub(super) fn product(seen: &Observation) -> Option<Finding> {
    let (bytes, made) = (seen.bytes_per_second?, seen.iops?.times(&seen.block_bytes?));
    if is_of_device(bytes) {
        return None;
    }
    let ratio = bytes.over(&made);
    // Bytes and operations are counted at different moments and differ by what is in flight.
    let operations = seen.iops?.value() * seen.seconds.unwrap_or(f64::INFINITY);
    // Summaries of fio's results, such as kubestr's, state both up to 0.7 % apart.
    let slack = 2.0 * SLACK + seen.depth.map_or(0.0, |depth| depth.value()) / operations.max(1.0);
    let includes = |factor: f64| ratio.low <= factor * (1.0 + slack) && ratio.high >= factor * (1.0 - slack);
    if includes(1.0) {
        return None;
    }
    let mixed = UNIT_FACTORS.into_iter().flat_map(|factor| [factor, 1.0 / factor]).find(|&factor| includes(factor));
    let finding = match mixed {
        Some(factor) => {
            let (finding, factor) = (Finding::new(Code::UnitsMixed, Severity::Warning), factor.max(1.0 / factor));
            finding.with(Quantity::UnitFactor, factor, EvidenceSource::Counters)
        }
        None => Finding::new(Code::FiguresDisagree, Severity::Warning),
    };
    let finding = finding.with_figure(Quantity::BytesPerSecondTold, bytes);
    Some(finding.with(Quantity::BytesPerSecondMade, made.value(), EvidenceSource::Counters))
}

/// Checks for an unusual block size, which makes IOPS hard to compare.
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

/// Checks whether the device received smaller requests than the job issued.
pub(super) fn split(seen: &Observation) -> Option<Finding> {
    let (block, request) = (seen.block_bytes?, seen.request_bytes?);
    if request.high > 0.75 * block.low {
        return None;
    }
    let finding = Finding::new(Code::RequestsSplit, Severity::Advice)
        .with_figure(Quantity::BlockBytes, block)
        .with_figure(Quantity::RequestBytes, request)
        .remedy(Remedy::LargerRequests { bytes: block.value() as u64 });
    Some(finding)
}

/// Checks for a mean without a distribution, which hides slow operations.
pub(super) fn mean_alone(seen: &Observation) -> Option<Finding> {
    let latency = seen.latency_ns.filter(|latency| !seen.spread && seen.device && !is_of_device(*latency))?;
    let finding = Finding::new(Code::MeanWithoutSpread, Severity::Info)
        .with_figure(Quantity::LatencyMean, latency)
        .remedy(Remedy::Percentiles);
    Some(finding)
}

/// Checks for small random operations that each take a seek and half a rotation, whatever the queue depth.
pub(super) fn mechanical(seen: &Observation) -> Option<Finding> {
    /// Time per operation: 3 ms on a drive of 15,000 rpm that sorts its queue, 18 ms on one of 5,400 rpm.
    const ONE_NS: std::ops::RangeInclusive<f64> = 3e6..=2e7;
    const BLOCK_MAX: f64 = 65_536.0;
    /// Least spread of the times of most operations: a rotation alone varies more.
    const SPREAD: f64 = 0.25;
    let (iops, latency) = (seen.iops?, seen.latency_ns?);
    let small = seen.block_bytes.is_none_or(|block| block.value() <= BLOCK_MAX);
    // Seeks differ, but not as much as stalls of flash or requests of which a cache serves a part.
    let uneven = seen.variation.is_none_or(|variation| (0.2..=1.5).contains(&variation))
        && seen.middle_spread.is_none_or(|spread| spread >= SPREAD)
        && !seen.flash;
    let alone = 1e9 / iops.value().max(1e-9);
    let saturated = seen.in_flight().is_some_and(|in_flight| in_flight.value() >= 0.8);
    let like_a_drive = seen.random == Some(true) && small && uneven && saturated && ONE_NS.contains(&alone);
    (like_a_drive && latency.value() >= 0.8 * alone).then(|| {
        Finding::new(Code::MechanicalDisk, Severity::Info)
            .with_figure(Quantity::Iops, iops)
            .with(Quantity::TimeOfOne, alone, EvidenceSource::LittlesLaw)
            .with_figure(Quantity::LatencyMean, latency)
            .with(Quantity::ServiceVariation, seen.variation, EvidenceSource::Counters)
    })
}

/// Checks for a utilization near 100 % that does not mean saturation, because the device serves requests in parallel.
pub(super) fn busy(seen: &Observation) -> Option<Finding> {
    /// More than a mechanical drive with a single actuator can do.
    const PARALLEL_IOPS: f64 = 1_000.0;
    const MANY: f64 = 32.0;
    let (busy, iops, in_flight) = (seen.busy?, seen.iops?, seen.in_flight()?);
    let is_plain = busy.high >= 0.9 && iops.low >= PARALLEL_IOPS && in_flight.high < MANY;
    (is_plain && busy_beyond(seen).is_none()).then(|| {
        Finding::new(Code::UtilMisread, Severity::Info)
            .with_figure(Quantity::BusyShare, busy)
            .with_figure(Quantity::InFlightAchieved, in_flight)
            .with_figure(Quantity::Iops, iops)
    })
}

/// Checks for a utilization above what the requests can give: the time with at least one request in flight is at most their
/// mean number.
pub(super) fn busy_beyond(seen: &Observation) -> Option<Finding> {
    /// Requests that began before an interval, or end after it, and averages of several reports.
    const SLACK: f64 = 1.25;
    const LEAST: f64 = 0.1;
    let (busy, implied) = (seen.busy?, seen.implied_in_flight()?);
    let is_made = |known: KnownFigure| known.source == EvidenceSource::LittlesLaw;
    let stated = !seen.iops.is_some_and(is_made) && !seen.latency_ns.is_some_and(is_made);
    // Requests that end later, or never, have no latency yet.
    let is_counted = seen.in_flight.is_some_and(|counted| counted.low > SLACK * implied.high);
    (stated && !is_counted && busy.low > SLACK * implied.high && busy.low - implied.high > LEAST).then(|| {
        Finding::new(Code::UtilContradicted, Severity::Warning)
            .with_figure(Quantity::BusyShare, busy)
            .with_figure(Quantity::InFlightImplied, implied)
            .with_figure(Quantity::Iops, seen.iops)
            .with_figure(Quantity::LatencyMean, seen.latency_ns)
    })
}

/// Checks whether far fewer operations were in flight than the depth allows, only about one for each worker.
pub(super) fn one_at_a_time(seen: &Observation) -> Option<Finding> {
    let (depth, in_flight) = (seen.depth?, seen.in_flight.or_else(|| seen.implied_in_flight())?);
    let workers = seen.workers.unwrap_or(1) as f64;
    let slow = seen.latency_ns.is_none_or(|latency| latency.value() > IMMEDIATE_NS);
    let deep = depth.low >= 4.0 * workers;
    // Workers that have less in flight wait for something else, such as their rate.
    let few = in_flight.high >= 0.5 * workers && in_flight.high <= ONE_AT_A_TIME * workers;
    if !(seen.closed && slow && deep && few && seen.device) {
        return None;
    }
    let remedy = match seen.direct {
        Some(false) => Remedy::Direct,
        _ => Remedy::QueueingEngine { iodepth: requests_in_flight(depth.value() / workers) },
    };
    let finding = Finding::new(Code::EngineNotAsynchronous, Severity::Warning)
        .with_figure(Quantity::InFlightAsked, depth)
        .with_figure(Quantity::InFlightAchieved, in_flight)
        .remedy(remedy);
    Some(finding)
}

/// Checks whether the device counted far fewer operations in flight than the depth allows, but more than one for each
/// worker.
pub(super) fn not_kept(seen: &Observation) -> Option<Finding> {
    let (depth, in_flight) = (seen.depth?, seen.in_flight?);
    let workers = seen.workers.unwrap_or(1) as f64;
    let (some, short) = (in_flight.low > ONE_AT_A_TIME * workers, in_flight.high < KEPT / 2.0 * depth.low);
    (seen.closed && some && short).then(|| {
        Finding::new(Code::QueueNotFilled, Severity::Advice)
            .with_figure(Quantity::InFlightPossible, depth)
            .with_figure(Quantity::InFlightAchieved, in_flight)
            .with_figure(Quantity::Iops, seen.iops)
            .with_figure(Quantity::ServiceMean, seen.latency_ns)
    })
}

/// Checks for repeated reads of a region that may fit a cache in the path.
pub(super) fn small_region(seen: &Observation) -> Option<Finding> {
    /// Typical cache size of array controllers and cloud hosts.
    const SMALL: f64 = 32.0 * (1u64 << 30) as f64;
    const TIMES_READ: f64 = 10.0;
    let region = seen.region_bytes? as f64 * seen.workers.unwrap_or(1) as f64;
    // Reads and writes of one size, as far as is known.
    let moved = seen.bytes_per_second?.value() * seen.seconds? * seen.read_share?;
    let reads = seen.read_share.is_some_and(|share| share > 0.5);
    let small = region > 0.0 && region < SMALL && moved > TIMES_READ * region;
    (seen.device && seen.direct == Some(true) && reads && small).then(|| {
        let finding =
            Finding::new(Code::SmallRegion, Severity::Info).with(Quantity::FileBytes, region, EvidenceSource::Job);
        finding.with(Quantity::JobBytes, moved, EvidenceSource::Counters)
    })
}
