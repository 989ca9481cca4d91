//! Rules for what limited a run.

use crate::facts::Facts;
use crate::rules::{deeper, model, pace};
use crate::{Code, EvidenceSource, Finding, Quantity, Remedy, Severity};
use record::{DataKind, DiskUse, JobResult, Throttle};

/// Fraction of the depth from which a queue counts as full; the rest is the time between completion and next
/// submission.
const FULL: f64 = 0.8;

/// Factor over the depth from which the figures are not of one load.
const BEYOND: f64 = 1.1;

/// Coefficient of variation below which service times are those of a limiter; devices vary more.
const LIMITER_SERVICE_VARIATION: f64 = 0.10;

/// Coefficient of variation below which the throughput of intervals is flat.
const FLAT_INTERVAL_VARIATION: f64 = 0.05;

pub(crate) fn engine_not_asynchronous(facts: Facts<'_>) -> Option<Finding> {
    let declared = facts.declared();
    if declared.mixed.len() > 1 {
        return None;
    }
    if declared.iodepth <= declared.iodepth_effective {
        return waits_at_submission(facts);
    }
    let finding = Finding::new(Code::EngineNotAsynchronous, Severity::Warning)
        .with(Quantity::InFlightAsked, facts.asked(), facts.depth_source())
        .with(Quantity::InFlightPossible, facts.possible(), facts.depth_source())
        .remedy(Remedy::QueueingEngine { iodepth: declared.iodepth.into() });
    Some(finding)
}

/// Checks for a queueing engine whose worker spent its time on submission. Each operation then waited for the device,
/// as with `libaio` through the page cache. The engine's depth counts completed operations until they are reaped.
fn waits_at_submission(facts: Facts<'_>) -> Option<Finding> {
    /// Fraction of the time that counts as all of it; the rest is the loop itself.
    const ALL: f64 = 0.8;
    /// Operations that a worker has at the device from which it does not wait for each of them.
    const QUEUED: f64 = 2.0;
    /// Fraction of its time that a worker cannot spend on calls that follow each other; the rest is rounding.
    const OVERLAPPING: f64 = 1.05;
    let (declared, result) = (facts.declared(), facts.result());
    let submitting: f64 = result.kinds().map(|(_, kind)| kind.submission.sum_ns()).sum();
    let fraction = if result.runtime_ns == 0 { 0.0 } else { submitting / batch(facts) / result.runtime_ns as f64 };
    // Times that add up to more than all overlap: operations waited until the others of their batch were ready.
    if fraction > OVERLAPPING {
        return None;
    }
    let fraction = fraction.min(1.0);
    // A CPU that was busy all that time did not wait.
    let waits = fraction >= ALL && result.cpu_share() < fraction - 0.2;
    (declared.queues && declared.iodepth_effective > 1 && facts.has_device() && waits).then(|| {
        let at_device = at_device(facts).filter(|at_device| at_device.in_flight >= QUEUED * at_device.workers);
        if let Some(AtDevice { name, in_flight, asked, disks, .. }) = at_device {
            // The queue of none of several disks below one device is known to be full.
            let (code, severity) = match disks {
                1 => (Code::DeviceBound, Severity::Info),
                _ => (Code::EngineNotAsynchronous, Severity::Warning),
            };
            return Finding::new(code, severity)
                .about(&name)
                .with(Quantity::InFlightAsked, asked, facts.depth_source())
                .with(Quantity::InFlightAchieved, in_flight, EvidenceSource::DiskCounters)
                .with(Quantity::SubmissionShare, fraction, EvidenceSource::Counters);
        }
        let iodepth = declared.iodepth.into();
        let remedy = match declared.known_direct() {
            None if operations_reach_a_device(facts) => Some(Remedy::QueueingEngine { iodepth }),
            // Another engine would wait too, if this one can queue whatever the target.
            Some(true) if declared.engine.starts_with("io_uring") => None,
            Some(true) => Some(Remedy::QueueingEngine { iodepth }),
            Some(false) => Some(Remedy::Direct),
            None => Some(Remedy::DirectUnlessGiven),
        };
        Finding::new(Code::EngineNotAsynchronous, Severity::Warning)
            .with(Quantity::InFlightAsked, facts.asked(), facts.depth_source())
            .with(Quantity::SubmissionShare, fraction, EvidenceSource::Counters)
            .remedy(remedy)
    })
}

/// Reports whether a device completed as many requests as the jobs issued operations one after another, which the page
/// cache would merge.
fn operations_reach_a_device(facts: Facts<'_>) -> bool {
    const ALIKE: f64 = 0.02;
    if !facts.run.jobs.iter().all(|job| matches!(job.declared.rw.as_str(), "read" | "write" | "rw")) {
        return false;
    }
    let issued: u64 = facts.run.jobs.iter().map(|job| job.result.ios()).sum();
    let mut disks = facts.run.disks.iter().map(|disk| disk.read_ios + disk.write_ios);
    disks.any(|done| (done as f64 - issued as f64).abs() <= ALIKE * issued as f64)
}

/// Returns the mean number of operations that are submitted together: they wait together, and each counts the whole wait.
fn batch(facts: Facts<'_>) -> f64 {
    /// Least number in each class of fio's `submit`, which has percentages of calls.
    const LEAST: [f64; 7] = [0.0, 1.0, 5.0, 9.0, 17.0, 33.0, 65.0];
    let (result, calls) = (facts.result(), facts.result().submit.total);
    if facts.run.tool.name != "fio" {
        return if calls == 0 { 1.0 } else { (result.ios() as f64 / calls as f64).max(1.0) };
    }
    let percent = result.submit.percent();
    let all: f64 = percent.iter().skip(1).sum();
    let mean = percent.iter().zip(LEAST).map(|(percent, least)| percent * least).sum::<f64>() / all.max(1.0);
    mean.max(1.0)
}

/// What the counters of devices tell of a run.
struct AtDevice {
    /// Name of the device, or the number of devices.
    name: String,
    disks: usize,
    in_flight: f64,
    /// Operations that all jobs of the run ask for together, whose requests the counters count.
    asked: Option<f64>,
    workers: f64,
}

/// Returns the mean number of operations that the devices had in flight, by their counters; `None` where they are of jobs
/// that ran one after another.
fn at_device(facts: Facts<'_>) -> Option<AtDevice> {
    /// Fraction of the operations of the busiest disk from which another one has a part of the load.
    const PART: f64 = 0.1;
    let run = facts.run;
    let elapsed_ns = run.jobs.iter().map(|job| job.result.elapsed_ns()).max().filter(|ns| *ns > 0)?;
    let ticks_ms = |disk: &DiskUse| disk.read_ticks_ms + disk.write_ticks_ms;
    let busiest = run.disks.iter().max_by_key(|disk| ticks_ms(disk))?;
    let is_part = |disk: &&DiskUse| ticks_ms(disk) as f64 > PART * ticks_ms(busiest) as f64;
    let lies_on_others = |disk: &DiskUse| ["dm-", "md"].iter().any(|name| disk.name.starts_with(name));
    let disks: Vec<&DiskUse> = run.disks.iter().filter(|disk| !lies_on_others(disk)).filter(is_part).collect();
    let disks = if disks.is_empty() { vec![busiest] } else { disks };
    let together = run.jobs.iter().all(|job| job.group == facts.job.group);
    let sum_ms: u64 = disks.iter().map(|disk| ticks_ms(disk)).sum();
    let asked: Option<u64> = run.jobs.iter().map(|job| job.declared.in_flight_asked).sum();
    together.then(|| AtDevice {
        name: if disks.len() == 1 { disks[0].name.clone() } else { format!("{} disks", disks.len()) },
        disks: disks.len(),
        in_flight: sum_ms as f64 * 1e6 / elapsed_ns as f64,
        asked: asked.map(|asked| asked as f64),
        workers: run.jobs.iter().map(|job| f64::from(job.workers)).sum(),
    })
}

/// Returns what limited the run. There is always an answer, even if only that the limit is unknown.
pub(crate) fn limit(facts: Facts<'_>) -> Finding {
    let result = facts.result();
    if result.ios() == 0 {
        if facts.job.has_result() {
            let (sync, finding) = (&result.sync, Finding::new(Code::LimitUnknown, Severity::Info));
            return match sync.percentile_ns(99.0) {
                _ if sync.mean_ns > 0.0 => finding.with(Quantity::SyncMean, sync.mean_ns, EvidenceSource::Printed),
                Some(ns) => finding.with(Quantity::SyncP99, ns as f64, EvidenceSource::Printed),
                None => finding,
            };
        }
        let finding = Finding::new(Code::NothingMeasured, Severity::Distrust);
        return finding.with(Quantity::Runtime, result.elapsed_ns() as f64, EvidenceSource::Counters);
    }
    // fio counts operations as issued that failed.
    if facts.job.error != 0 && !facts.job.untimed && result.bytes() == 0 && result.in_flight_known().is_none() {
        return Finding::new(Code::NothingMeasured, Severity::Distrust);
    }
    let rate = pace::rate(facts);
    if rate.as_ref().is_none_or(|rate| rate.code != Code::RateKept)
        && let Some(finding) = throttle(facts)
    {
        return little(facts, finding);
    }
    if let Some(finding) = rate {
        return limit_of_replay(facts, &finding).unwrap_or(finding);
    }
    if let Some(kind) = result.timed_alone() {
        let served = result.kind(kind).served();
        return Finding::new(Code::LimitUnknown, Severity::Info)
            .about(kind.name())
            .with(Quantity::InFlightAchieved, result.in_flight_known(), EvidenceSource::LittlesLaw)
            .with(Quantity::ServiceMean, served.mean_ns, EvidenceSource::Counters);
    }
    let Some(in_flight) = result.in_flight() else {
        // An engine without a device completes in no time at all, which is a known limit.
        return if facts.has_device() {
            Finding::new(Code::LimitUnknown, Severity::Info)
        } else {
            little(facts, no_device(facts))
        };
    };
    let Some(possible) = facts.possible() else {
        return little(facts, Finding::new(Code::LimitUnknown, Severity::Info));
    };
    if facts.run.model.is_none() && in_flight > BEYOND * possible {
        let finding = Finding::new(Code::LimitUnknown, Severity::Info);
        return finding.with(Quantity::InFlightPossible, possible, facts.depth_source());
    }
    if let Some(search) = facts.job.depth_search.filter(|search| facts.run.model.is_none() && search.target_ns > 0) {
        return little(facts, target(&search));
    }
    let filled = result.occupied().is_some_and(|occupied| occupied >= FULL * possible);
    let finding = if let Some(model) = &facts.run.model {
        let finding = model::limit(facts, model, in_flight);
        // More depth does not help a job that idles, as the processes of a trace do.
        let idles = (facts.declared().thinktime_ns > 0 || facts.job.replay.is_some()) && !filled;
        if idles && finding.code == Code::ModelNotReached { not_filled(facts) } else { finding }
    } else if !facts.has_device() {
        no_device(facts)
    } else if facts.declared().mixed.len() > 1 {
        mixed(facts)
    } else if facts.cpu_bound() {
        cpu_bound(facts)
    } else if let Some(finding) = submitting(facts) {
        return finding;
    } else if !filled {
        return little(facts, not_filled(facts));
    } else {
        full(facts)
    };
    little(facts, finding)
}

/// Returns the throttle of a device that the job, or all jobs of its group together, reached.
pub(super) fn throttle(facts: Facts<'_>) -> Option<Finding> {
    /// Rates that are those of a throttle, as a fraction of its own: it counts split requests, and admits those of the
    /// first slice at once. Beyond, a cache served them.
    const REACHED: std::ops::RangeInclusive<f64> = 0.9..=1.1;
    let rate = |job: &JobResult, key: &str| {
        let kind = job.result.kind(if key.starts_with('r') { DataKind::Read } else { DataKind::Write });
        if key.ends_with("iops") { kind.iops() } else { kind.bytes_per_second() }
    };
    let reached = |throttle: &'_ Throttle| {
        let sharing = facts.run.in_group(facts.job.group).filter(|job| job.evidence.throttles.contains(throttle));
        let rates = [rate(facts.job, &throttle.key), sharing.map(|job| rate(job, &throttle.key)).sum()];
        rates.map(|rate| rate / throttle.value as f64).into_iter().find(|used| REACHED.contains(used))
    };
    let throttles = facts.job.evidence.throttles.iter();
    let reached = throttles.filter_map(|throttle| Some((throttle, reached(throttle)?)));
    let (throttle, used) = reached.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let cap = if throttle.key.ends_with("iops") { Quantity::CapIops } else { Quantity::CapBytesPerSecond };
    let finding = Finding::new(Code::CgroupThrottle, Severity::Advice)
        .about(&format!("{} of {} in {}", throttle.key, throttle.device, throttle.file))
        .with(cap, throttle.value as f64, EvidenceSource::Host)
        .with(Quantity::Utilisation, used, EvidenceSource::Counters);
    Some(finding)
}

/// Returns the limit of the model that kept a replay from its rate, which says more than the rate.
fn limit_of_replay(facts: Facts<'_>, rate: &Finding) -> Option<Finding> {
    let model = facts.run.model.as_ref().filter(|_| facts.job.replay.is_some() && rate.code != Code::RateKept)?;
    let mut finding = model::limit(facts, model, facts.result().in_flight()?);
    // A load that varies has no depth of its own.
    finding.evidence.retain(|evidence| evidence.quantity != Quantity::InFlightNeeded);
    (finding.code != Code::ModelNotReached).then(|| little(facts, finding))
}

/// Syncs in flight that are worth a mention, as a fraction of the other operations.
const SYNCS_COUNT: f64 = 0.1;

/// Checks for a queue that is full if submission time counts. At depth one the next operation waits for that too.
fn submitting(facts: Facts<'_>) -> Option<Finding> {
    let (result, possible) = (facts.result(), facts.possible()?);
    let count: u64 = result.kinds().map(|(_, kind)| kind.latency.count).sum();
    let sum_ns: f64 = result.kinds().map(|(_, kind)| kind.latency.sum_ns()).sum();
    let in_flight = sum_ns / result.elapsed_ns().max(1) as f64;
    (possible <= 1.0 && count > 0 && in_flight >= FULL * possible).then(|| {
        let finding = full(facts);
        let mean_ns =
            |of: fn(&record::DirectionResult) -> f64| -> f64 { result.kinds().map(|(_, kind)| of(kind)).sum() };
        // Where the engine blocks at submission, more depth changes nothing.
        let blocks = mean_ns(|kind| kind.submission.sum_ns()) > mean_ns(|kind| kind.service.sum_ns());
        let remedy = facts.more_workers().map(|numjobs| Remedy::AddWorkers { numjobs });
        let finding = if blocks { finding.remedy(remedy) } else { finding };
        finding
            .with(Quantity::InFlightAsked, facts.asked(), facts.depth_source())
            .with(Quantity::InFlightPossible, possible, facts.depth_source())
            .with(Quantity::InFlightAchieved, in_flight, EvidenceSource::LittlesLaw)
            .with(Quantity::Iops, result.iops(), EvidenceSource::Counters)
            .with(Quantity::ServiceMean, sum_ns / count as f64, EvidenceSource::Counters)
    })
}

/// Adds the figures of Little's law, which support every answer.
fn little(facts: Facts<'_>, finding: Finding) -> Finding {
    let result = facts.result();
    finding
        .with(Quantity::InFlightAsked, facts.asked(), facts.depth_source())
        .with(Quantity::InFlightPossible, facts.possible(), facts.depth_source())
        .with(Quantity::InFlightAchieved, result.in_flight(), EvidenceSource::LittlesLaw)
        .with(Quantity::Iops, result.iops(), EvidenceSource::Counters)
        .with(Quantity::ServiceMean, result.service_mean_ns(), EvidenceSource::Counters)
}

fn no_device(facts: Facts<'_>) -> Finding {
    let cpu_share = facts.cpu_share();
    let code = if facts.declared().metadata { Code::MetadataOnly } else { Code::NoDevice };
    Finding::new(code, Severity::Info).with(Quantity::CpuShare, cpu_share, EvidenceSource::ProcessorTime)
}

/// A job that adapts its depth to a latency has the highest one that keeps to it.
fn target(search: &record::DepthSearchRecord) -> Finding {
    Finding::new(Code::LatencyTarget, Severity::Info)
        .with(Quantity::LatencyTarget, search.target_ns as f64, EvidenceSource::Job)
        .with(Quantity::TargetShare, search.percentile / 100.0, EvidenceSource::Job)
        .with(Quantity::DepthFound, f64::from(search.depth), EvidenceSource::Counters)
}

/// Jobs with different settings have no common depth or block size, and so no common limit.
fn mixed(facts: Facts<'_>) -> Finding {
    Finding::new(Code::LimitUnknown, Severity::Advice)
        .with(Quantity::UnlikeJobs, facts.declared().mixed.len() as f64, EvidenceSource::Job)
        .remedy(Remedy::SeparateResults)
}

fn cpu_bound(facts: Facts<'_>) -> Finding {
    let cpus = facts.cpus();
    Finding::new(Code::GeneratorCpuBound, Severity::Warning)
        .with(Quantity::CpuShare, facts.result().cpu_share(), EvidenceSource::ProcessorTime)
        .with(Quantity::Workers, f64::from(facts.job.workers), EvidenceSource::Job)
        .with(Quantity::Cpus, (cpus > 0).then(|| f64::from(cpus)), EvidenceSource::Host)
        .remedy(facts.more_workers().map(|numjobs| Remedy::AddWorkers { numjobs }))
}

fn not_filled(facts: Facts<'_>) -> Finding {
    /// Fraction of the workers that were active on average, below which their end explains an empty queue.
    const ALL_ACTIVE: f64 = 0.9;
    let (active, workers) = (facts.result().active_workers(), f64::from(facts.job.workers));
    if facts.result().runtime_ns > 0 && active < ALL_ACTIVE * workers {
        return Finding::new(Code::QueueNotFilled, Severity::Advice)
            .with(Quantity::ActiveWorkers, active, EvidenceSource::Counters)
            .with(Quantity::Workers, workers, EvidenceSource::Job)
            .remedy(Some(Remedy::EndTogether));
    }
    let thinktime_ns = facts.declared().thinktime_ns;
    let idle = (thinktime_ns > 0).then_some(thinktime_ns as f64);
    let blocks = facts.declared().thinktime_blocks.map(|blocks| blocks as f64);
    // Syncs keep operations waiting, which is the job's way of work and not a fault of the generator.
    let (result, achieved) = (facts.result(), facts.result().in_flight());
    let syncs = result.occupied().zip(achieved).map(|(occupied, achieved)| occupied - achieved);
    let syncs = syncs.filter(|syncs| *syncs > SYNCS_COUNT * achieved.unwrap_or(0.0));
    // Syncs whose times the output does not tell wait in the places that no operation has.
    let declared = facts.declared();
    let is_periodic = declared.syncs && !declared.only_final_syncs;
    let is_unprinted = is_periodic && declared.header_only && result.sync.count == 0 && result.sync.mean_ns == 0.0;
    let unprinted = facts.possible().zip(achieved).filter(|_| is_unprinted);
    let syncs = syncs.or_else(|| unprinted.map(|(possible, achieved)| possible - achieved));
    let waits = idle.is_some() || syncs.is_some() || facts.job.replay.is_some();
    let doubt = if waits { None } else { may_be_saturated(facts) };
    let is_busy = doubt.as_ref().is_some_and(|doubt| doubt.value(Quantity::BusyShare).is_some());
    let remedy = if waits || doubt.is_some() && !is_busy { None } else { facts.more_workers() };
    doubt
        .unwrap_or_else(|| Finding::new(Code::QueueNotFilled, Severity::Advice))
        .with(Quantity::Thinktime, idle, EvidenceSource::Job)
        .with(Quantity::ThinktimeBlocks, idle.and(blocks), EvidenceSource::Job)
        .with(Quantity::SyncsInFlight, syncs, EvidenceSource::LittlesLaw)
        .with(Quantity::SyncMean, syncs.map(|_| result.sync.mean_ns).filter(|ns| *ns > 0.0), EvidenceSource::Counters)
        .with(Quantity::CpuShare, facts.cpu_share(), EvidenceSource::ProcessorTime)
        .remedy(remedy.map(|numjobs| Remedy::AddWorkers { numjobs }))
}

/// Returns why the device may have been saturated although the queue was not kept full, as the begin of the finding that says
/// so.
fn may_be_saturated(facts: Facts<'_>) -> Option<Finding> {
    /// Fraction of the time for which a device had requests, from which it may have been at its limit.
    const BUSY: f64 = 0.9;
    /// Times below those of devices, in nanoseconds.
    const CACHE_NS: f64 = 10_000.0;
    /// Operations, as a multiple of those that the queue holds, up to which it is not full for most of them.
    const FEW: f64 = 2.0;
    let (result, declared, run) = (facts.result(), facts.declared(), facts.run);
    let finding = || Finding::new(Code::QueueNotFilled, Severity::Advice);
    let is_few = facts.possible().is_some_and(|possible| (result.ios() as f64) < FEW * possible);
    if is_few {
        return Some(finding().with(Quantity::Operations, result.ios() as f64, EvidenceSource::Counters));
    }
    if let Some(waited) = waits_at_submission(facts) {
        let fraction = waited.value(Quantity::SubmissionShare);
        return Some(finding().with(Quantity::SubmissionShare, fraction, EvidenceSource::Counters));
    }
    let is_fast = result.service_mean_ns().is_some_and(|mean| mean < CACHE_NS);
    let is_cached = declared.known_direct() == Some(false) || declared.known_direct().is_none() && is_fast;
    if is_cached && declared.device && run.model.is_none() {
        return Some(finding().about("page cache"));
    }
    let busiest = run.disks.iter().map(|disk| disk.util_percent / 100.0).fold(0.0, f64::max);
    let is_busy = run.tool.name == "fio" && busiest >= BUSY;
    is_busy.then(|| finding().with(Quantity::BusyShare, busiest.min(1.0), EvidenceSource::DiskCounters))
}

/// Gain by twice the depth from which the depth was the limit.
const DEPTH_GAIN: f64 = 1.5;

/// Gain by twice the depth up to which the device was the limit.
const DEVICE_GAIN: f64 = 1.1;

/// Maximum relative difference between two measurements at the same depth; beyond it one of them was disturbed.
const REPEATED_WITHIN: f64 = 0.2;

/// Decides by a deeper probe whether the depth or the device was the limit, unless a probe at the run's depth differs.
fn probed(facts: Facts<'_>, probe: record::ProbeRecord) -> Finding {
    let depth = f64::from(probe.iodepth) / f64::from(facts.declared().iodepth.max(1));
    let over_run = |iops: f64| iops / facts.result().iops().max(f64::MIN_POSITIVE);
    let gain = over_run(probe.iops);
    // Scales the thresholds to factors other than two.
    let of = |gain_of_twice: f64| gain_of_twice.powf(depth.log2());
    let confirms = |again: f64| (1.0 - REPEATED_WITHIN..=1.0 / (1.0 - REPEATED_WITHIN)).contains(&over_run(again));
    let (code, severity, remedy) = if !probe.again_iops.is_none_or(confirms) {
        (Code::NotRepeated, Severity::Warning, None)
    } else if gain >= of(DEPTH_GAIN) {
        (Code::DepthBound, Severity::Advice, Some(Remedy::RaiseDepth { iodepth: probe.iodepth.into() }))
    } else if gain <= of(DEVICE_GAIN) {
        (Code::DeviceBound, Severity::Info, None)
    } else {
        (Code::NearKnee, Severity::Info, None)
    };
    Finding::new(code, severity)
        .with(Quantity::ProbeDepth, f64::from(probe.iodepth), EvidenceSource::Job)
        .with(Quantity::ProbeIops, probe.iops, EvidenceSource::Counters)
        .with(Quantity::ProbeServiceMean, probe.service_mean_ns, EvidenceSource::Counters)
        .with(Quantity::ProbeGain, gain, EvidenceSource::Counters)
        .with(Quantity::AgainIops, probe.again_iops, EvidenceSource::Counters)
        .remedy(remedy)
}

/// Returns the limit of a run with a full queue. At depth one it is the latency of an operation. At greater depths
/// latency may be the device's or the queue's, which one depth cannot tell. Only a limiter is recognizable, by equal
/// latencies.
fn full(facts: Facts<'_>) -> Finding {
    let (service, intervals) = (facts.service_variation(), facts.series().variation());
    let steady = service.is_some_and(|variation| variation <= LIMITER_SERVICE_VARIATION);
    let flat = intervals.is_some_and(|variation| variation <= FLAT_INTERVAL_VARIATION);
    let twice = match facts.declared().queues {
        true => Remedy::CompareDepth { iodepth: 2 * u64::from(facts.declared().iodepth_effective) },
        false => Remedy::CompareWorkers { numjobs: 2 * u64::from(facts.job.workers) },
    };
    let finding = if facts.possible() == Some(1.0) {
        // An engine that cannot queue has its own finding with the same remedy.
        let cannot_queue = facts.declared().iodepth > 1;
        // The sync after each operation is part of its cycle.
        let syncs = &facts.result().sync;
        let sync = (syncs.sum_ns() > 0.1 * facts.result().runtime_ns as f64).then_some(syncs.mean_ns);
        let deep = (!cannot_queue && sync.is_none()).then(|| deeper(facts, 32));
        Finding::new(Code::LatencyBound, Severity::Advice)
            .with(Quantity::SyncMean, sync, EvidenceSource::Counters)
            .remedy(deep)
    } else if let Some(probe) = facts.job.probe {
        return probed(facts, probe);
    } else if steady && flat {
        Finding::new(Code::DeviceFlat, Severity::Info).remedy(twice)
    } else {
        Finding::new(Code::QueueFull, Severity::Info).remedy(twice)
    };
    let (syncs, elapsed_ns) = (&facts.result().sync, facts.result().elapsed_ns().max(1) as f64);
    let waiting = Some(syncs.sum_ns() / elapsed_ns)
        .filter(|syncs| *syncs > SYNCS_COUNT * facts.result().in_flight().unwrap_or(0.0));
    let waiting = waiting.filter(|_| matches!(finding.code, Code::QueueFull | Code::DeviceFlat));
    let finding = finding.with(Quantity::SyncsInFlight, waiting, EvidenceSource::LittlesLaw).with(
        Quantity::SyncMean,
        waiting.map(|_| syncs.mean_ns),
        EvidenceSource::Counters,
    );
    let finding = finding.with(Quantity::ServiceVariation, service, EvidenceSource::Counters);
    finding.with(Quantity::IntervalVariation, intervals, EvidenceSource::Intervals)
}
