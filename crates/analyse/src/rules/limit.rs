//! What limited a run.

use crate::facts::Facts;
use crate::rules::{deeper, model, pace};
use crate::{Code, EvidenceSource, Finding, Quantity, Remedy, Severity};

/// A queue counts as full from this share of the depth on; the rest is the time between a completion and the next
/// submission.
const FULL: f64 = 0.8;

/// Service times that vary less than this (deviation over mean) are those of a limiter; devices vary more.
const LIMITER_SERVICE_VARIATION: f64 = 0.10;

/// Throughput of intervals that varies less than this is flat.
const FLAT_INTERVAL_VARIATION: f64 = 0.05;

pub(crate) fn engine_not_asynchronous(facts: Facts<'_>) -> Option<Finding> {
    let declared = facts.declared();
    if declared.mixed.len() > 1 {
        return None;
    }
    let misled = declared.iodepth > declared.iodepth_effective;
    let finding = || {
        Finding::new(Code::EngineNotAsynchronous, Severity::Warning)
            .with(Quantity::InFlightAsked, declared.in_flight_asked as f64, EvidenceSource::Job)
            .with(Quantity::InFlightPossible, declared.in_flight_possible as f64, EvidenceSource::Job)
            .remedy(Remedy::QueueingEngine { iodepth: declared.iodepth.into() })
    };
    if misled { Some(finding()) } else { waits_at_submission(facts) }
}

/// An engine that is to queue, and whose worker spent its time in handing operations over: each waited for the device
/// then, as with `libaio` through the page cache. `iodepth` counts those that are done and not yet seen to be.
fn waits_at_submission(facts: Facts<'_>) -> Option<Finding> {
    /// All of the time, but for the loop itself.
    const ALL: f64 = 0.8;
    let (declared, result) = (facts.declared(), facts.result());
    let submitting: f64 = result.kinds().map(|(_, kind)| kind.submission.sum_ns()).sum();
    // Operations that are handed over together wait together, and each counts all of it.
    let calls = if facts.run.tool.name == "fio" { 0 } else { result.submit.total };
    let together = if calls == 0 { 1.0 } else { (result.ios() as f64 / calls as f64).max(1.0) };
    let share = if result.runtime_ns == 0 { 0.0 } else { submitting / together / result.runtime_ns as f64 };
    let share = share.min(1.0);
    // A processor that was busy all that time did not wait.
    let waits = share >= ALL && result.cpu_share() < share - 0.2;
    (declared.queues && declared.iodepth_effective > 1 && facts.has_device() && waits).then(|| {
        let iodepth = declared.iodepth.into();
        let remedy = match declared.known_direct() {
            Some(true) => Remedy::QueueingEngine { iodepth },
            Some(false) => Remedy::Direct,
            None => Remedy::DirectUnlessGiven,
        };
        Finding::new(Code::EngineNotAsynchronous, Severity::Warning)
            .with(Quantity::InFlightAsked, declared.in_flight_asked as f64, EvidenceSource::Job)
            .with(Quantity::SubmissionShare, share, EvidenceSource::Counters)
            .remedy(remedy)
    })
}

/// Returns what limited the run; there is always an answer, if only that it is undecidable.
pub(crate) fn limit(facts: Facts<'_>) -> Finding {
    let result = facts.result();
    if result.ios() == 0 {
        return Finding::new(Code::NothingMeasured, Severity::Distrust).with(
            Quantity::Runtime,
            result.wall_ns(),
            EvidenceSource::Counters,
        );
    }
    if let Some(finding) = pace::rate(facts) {
        return finding;
    }
    let Some(in_flight) = result.in_flight() else {
        // An engine without a device answers in no time at all, which is no reason to know nothing of it.
        return if facts.has_device() {
            Finding::new(Code::LimitUnknown, Severity::Info)
        } else {
            little(facts, no_device(facts))
        };
    };
    if facts.declared().in_flight_possible == 0 {
        return little(facts, Finding::new(Code::LimitUnknown, Severity::Info));
    }
    let filled = in_flight >= FULL * facts.declared().in_flight_possible as f64;
    let finding = if let Some(model) = &facts.run.model {
        let finding = model::limit(facts, model, in_flight);
        // No depth helps a job that idles.
        let idles = facts.declared().thinktime_ns > 0 && !filled;
        if idles && finding.code == Code::ModelNotReached { not_filled(facts) } else { finding }
    } else if !facts.has_device() {
        no_device(facts)
    } else if facts.declared().mixed.len() > 1 {
        mixed(facts)
    } else if facts.cpu_bound() {
        cpu_bound(facts)
    } else if !filled {
        return submitting(facts).unwrap_or_else(|| little(facts, not_filled(facts)));
    } else {
        full(facts)
    };
    little(facts, finding)
}

/// A queue that is full once the time counts in which operations are handed over: with one at a time, the next waits for
/// that too.
fn submitting(facts: Facts<'_>) -> Option<Finding> {
    let (result, possible) = (facts.result(), facts.declared().in_flight_possible as f64);
    let count: u64 = result.kinds().map(|(_, kind)| kind.latency.count).sum();
    let sum_ns: f64 = result.kinds().map(|(_, kind)| kind.latency.sum_ns()).sum();
    let in_flight = sum_ns / result.wall_ns().max(1.0);
    (possible <= 1.0 && count > 0 && in_flight >= FULL * possible).then(|| {
        full(facts)
            .with(Quantity::InFlightAsked, facts.declared().in_flight_asked as f64, EvidenceSource::Job)
            .with(Quantity::InFlightPossible, possible, EvidenceSource::Job)
            .with(Quantity::InFlightAchieved, in_flight, EvidenceSource::LittlesLaw)
            .with(Quantity::Iops, result.iops(), EvidenceSource::Counters)
            .with(Quantity::ServiceMean, sum_ns / count as f64, EvidenceSource::Counters)
    })
}

/// The three figures of Little's law, which every answer rests on, after those of its own.
fn little(facts: Facts<'_>, finding: Finding) -> Finding {
    let (declared, result) = (facts.declared(), facts.result());
    finding
        .with(Quantity::InFlightAsked, declared.in_flight_asked as f64, EvidenceSource::Job)
        .with(Quantity::InFlightPossible, declared.in_flight_possible as f64, EvidenceSource::Job)
        .with_known(Quantity::InFlightAchieved, result.in_flight(), EvidenceSource::LittlesLaw)
        .with(Quantity::Iops, result.iops(), EvidenceSource::Counters)
        .with_known(Quantity::ServiceMean, result.service_mean_ns(), EvidenceSource::Counters)
}

fn no_device(facts: Facts<'_>) -> Finding {
    Finding::new(Code::NoDevice, Severity::Info).with(
        Quantity::CpuShare,
        facts.result().cpu_share(),
        EvidenceSource::ProcessorTime,
    )
}

/// Jobs that are unlike share no depth and no block size, so that no single limit is theirs.
fn mixed(facts: Facts<'_>) -> Finding {
    Finding::new(Code::LimitUnknown, Severity::Advice)
        .with(Quantity::UnlikeJobs, facts.declared().mixed.len() as f64, EvidenceSource::Job)
        .remedy(Remedy::SeparateResults)
}

fn cpu_bound(facts: Facts<'_>) -> Finding {
    let cpus = facts.run.host.cpus;
    Finding::new(Code::GeneratorCpuBound, Severity::Warning)
        .with(Quantity::CpuShare, facts.result().cpu_share(), EvidenceSource::ProcessorTime)
        .with(Quantity::Workers, f64::from(facts.job.workers), EvidenceSource::Job)
        .with_known(Quantity::Cpus, (cpus > 0).then(|| f64::from(cpus)), EvidenceSource::Host)
        .remedy(facts.more_workers().map(|numjobs| Remedy::AddWorkers { numjobs }))
}

fn not_filled(facts: Facts<'_>) -> Finding {
    let thinktime_ns = facts.declared().thinktime_ns;
    let idle = (thinktime_ns > 0).then_some(thinktime_ns as f64);
    let remedy = if idle.is_some() { None } else { facts.more_workers() };
    Finding::new(Code::QueueNotFilled, Severity::Advice)
        .with_known(Quantity::Thinktime, idle, EvidenceSource::Job)
        .with(Quantity::CpuShare, facts.result().cpu_share(), EvidenceSource::ProcessorTime)
        .remedy(remedy.map(|numjobs| Remedy::AddWorkers { numjobs }))
}

/// Gain by twice the depth from which the depth was the limit.
const DEPTH_GAIN: f64 = 1.5;

/// Up to this gain by twice the depth, the device was the limit.
const DEVICE_GAIN: f64 = 1.1;

/// A run that differs by more from one at the same depth right after it was disturbed, or that one was.
const REPEATED_WITHIN: f64 = 0.2;

/// Decides by a deeper probe whether the depth or the device was the limit, if a probe at the run's depth repeats it.
fn probed(facts: Facts<'_>, probe: record::ProbeRecord) -> Finding {
    let depth = f64::from(probe.iodepth) / f64::from(facts.declared().iodepth.max(1));
    let over_run = |iops: f64| iops / facts.result().iops().max(f64::MIN_POSITIVE);
    let gain = over_run(probe.iops);
    // For another factor than two, as much of the way there.
    let of = |gain_of_twice: f64| gain_of_twice.powf(depth.log2());
    let repeats = |again: f64| (1.0 - REPEATED_WITHIN..=1.0 / (1.0 - REPEATED_WITHIN)).contains(&over_run(again));
    let (code, severity, remedy) = if !probe.again_iops.is_none_or(repeats) {
        (Code::NotRepeated, Severity::Warning, None)
    } else if gain >= of(DEPTH_GAIN) {
        (Code::DepthBound, Severity::Advice, Some(Remedy::RaiseDepth { iodepth: probe.iodepth.into() }))
    } else if gain <= of(DEVICE_GAIN) {
        (Code::DeviceBound, Severity::Info, None)
    } else {
        (Code::NearKnee, Severity::Info, None)
    };
    Finding::new(code, severity)
        .with(Quantity::ProbeDepth, probe.iodepth.into(), EvidenceSource::Job)
        .with(Quantity::ProbeIops, probe.iops, EvidenceSource::Counters)
        .with(Quantity::ProbeServiceMean, probe.service_mean_ns, EvidenceSource::Counters)
        .with(Quantity::ProbeGain, gain, EvidenceSource::Counters)
        .with_known(Quantity::AgainIops, probe.again_iops, EvidenceSource::Counters)
        .remedy(remedy)
}

/// As many in flight as could be. With one at a time, the time of one is the limit. With more, the time of an
/// operation may be the device's own or its queue's, and one depth cannot tell which; only a limiter betrays itself,
/// by giving every operation the same time.
fn full(facts: Facts<'_>) -> Finding {
    let (service, intervals) = (facts.service_variation(), facts.result().series.variation());
    let steady = service.is_some_and(|variation| variation <= LIMITER_SERVICE_VARIATION);
    let flat = intervals.is_some_and(|variation| variation <= FLAT_INTERVAL_VARIATION);
    let twice = Remedy::CompareDepth { iodepth: 2 * u64::from(facts.declared().iodepth_effective) };
    let finding = if facts.declared().in_flight_possible <= 1 {
        // An engine that cannot queue what was asked for has its own finding with the same remedy.
        let misled = facts.declared().iodepth > 1;
        // The sync after each operation is part of its turn.
        let syncs = &facts.result().sync;
        let sync = (syncs.sum_ns() > 0.1 * facts.result().runtime_ns as f64).then_some(syncs.mean_ns);
        let deep = (!misled && sync.is_none()).then(|| deeper(facts, 32));
        Finding::new(Code::LatencyBound, Severity::Advice)
            .with_known(Quantity::SyncMean, sync, EvidenceSource::Counters)
            .remedy(deep)
    } else if let Some(probe) = facts.job.probe {
        return probed(facts, probe);
    } else if steady && flat {
        Finding::new(Code::DeviceFlat, Severity::Info).remedy(twice)
    } else {
        Finding::new(Code::QueueFull, Severity::Info).remedy(twice)
    };
    finding.with_known(Quantity::ServiceVariation, service, EvidenceSource::Counters).with_known(
        Quantity::IntervalVariation,
        intervals,
        EvidenceSource::Intervals,
    )
}
