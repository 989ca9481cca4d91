//! Checks a volume against a need by the closed form.
//!
//! With a bound on latency, arrivals are random, and the wait before each limit is computed, with a margin. Without
//! one, a closed loop may use a limit fully.

use units::Nanos;
use volume::closed::{Bucket, Cap, CapPart, CapWait, Load, Prediction, caps};
use volume::{Behaviour, Burst, Limit, Scope, Spec};

use crate::candidate::{JitterComparison, JitterEffect, MergingEffect, Requirement, UnmetNeed};
use crate::laws::{LatencyCache, quantile_secs};
use crate::need::{Demand, Need};

/// Closed-form results for one demand on one volume.
#[derive(Default)]
pub(crate) struct ClosedFormResult {
    /// Caps as one machine sees them, the lowest first.
    pub(crate) caps: Vec<Cap>,
    pub(crate) mean_secs: Option<f64>,
    /// Mean latency in a loop that is just deep enough for the rate, which on a disk drive queues.
    pub(crate) loop_secs: Option<f64>,
    pub(crate) alone_secs: Option<f64>,
    pub(crate) percentile_secs: Option<f64>,
    pub(crate) percentile_alone_secs: Option<f64>,
    pub(crate) failures: Vec<UnmetNeed>,
}

/// Safety factor on computed waits: the formulas are accurate to a tenth, and waits near a limit vary by more than that
/// from minute to minute.
const SAFETY_FACTOR: f64 = 1.5;
/// Tolerance on rates: providers round to whole operations.
const RATE_TOLERANCE: f64 = 1.0 - 1e-6;

/// Evaluates one demand. Machines that share a volume share its limits equally.
pub(crate) fn judge(spec: &Spec, need: &Need, demand: &Demand, laws: &mut LatencyCache) -> ClosedFormResult {
    let load = &demand.load;
    let mut caps = shared_caps(spec, load, need.readers());
    if let Behaviour::Drive(drive) = &spec.behaviour {
        match drive_cap(drive, load) {
            Some(cap) => caps.push(cap),
            None => return unknown(caps),
        }
        caps.sort_by(|a, b| a.iops.total_cmp(&b.iops));
    }
    let mut failures = Vec::new();
    let rate = demand.rate;
    failures.extend(caps.first().and_then(|cap| rate_shortfall(demand, cap)));
    let alone_secs = laws.alone_secs(spec, load);
    let waits = || caps.iter().map(|cap| wait(cap, spec, rate, need.readers()));
    // At a saturated limit, waits depend on the queue length, hence on the operations in flight.
    let mean_secs = alone_secs.map(|alone| alone + SAFETY_FACTOR * waits().map(|wait| wait.mean_secs).sum::<f64>());
    let share = need.percentile.map_or(0.99, |(share, _)| share);
    let percentile_alone_secs = quantile_secs(spec, load, share);
    let percentile_secs = percentile_alone_secs
        .map(|alone| alone + SAFETY_FACTOR * waits().map(|wait| wait.quantile_secs(share)).sum::<f64>());
    if demand.timed {
        let slow = |alone: Option<f64>, bound: f64| {
            if alone.is_some_and(|alone| alone > bound) {
                "latency without queueing".to_owned()
            } else {
                caps.first().map_or_else(String::new, |cap| format!("queueing before {}", cap.name))
            }
        };
        let percentile = need.percentile.map(|(_, bound)| bound);
        let bounds = [
            (Requirement::Mean, need.mean, mean_secs, alone_secs),
            (Requirement::Percentile, percentile, percentile_secs, percentile_alone_secs),
        ];
        for (requirement, bound, found, alone) in bounds {
            let Some(bound) = bound.map(|bound| need.planned_secs(bound)) else { continue };
            match found {
                None => failures.push(UnmetNeed::absolute(
                    Requirement::Unknown,
                    "latency percentiles of a hard disk have no closed form".to_owned(),
                )),
                Some(found) if found > bound => {
                    let reached = if found.is_finite() { found } else { alone.unwrap_or(found) };
                    failures.push(UnmetNeed { requirement, limit: slow(alone, bound), wanted: bound, reached });
                }
                Some(_) => {}
            }
        }
    }
    let loop_secs = loop_secs(spec, load, rate).or(alone_secs);
    ClosedFormResult { caps, mean_secs, loop_secs, alone_secs, percentile_secs, percentile_alone_secs, failures }
}

/// Reports a cap that sustains less than the demand.
pub(crate) fn rate_shortfall(demand: &Demand, cap: &Cap) -> Option<UnmetNeed> {
    let (requirement, unit) = match demand.in_bytes {
        true => (Requirement::Throughput, demand.load.mean_bytes()),
        false => (Requirement::Iops, 1.0),
    };
    let (wanted, reached) = (demand.sustained * unit, cap.iops * unit);
    let is_short = cap.iops < demand.sustained * RATE_TOLERANCE;
    is_short.then(|| UnmetNeed { requirement, limit: cap.name.clone(), wanted, reached })
}

/// Returns what bounded latencies would be without jitter; `None` if the difference does not matter.
pub(crate) fn jitter_effect(
    spec: &Spec,
    need: &Need,
    demand: &Demand,
    judged: &ClosedFormResult,
) -> Option<JitterEffect> {
    let share = need.percentile.map_or(0.99, |(share, _)| share);
    let (mut mean_more, mut percentile_more) = (0.0, 0.0);
    let mut most: Option<(f64, &Cap)> = None;
    for cap in &judged.caps {
        let Some(plain) = cap.without_jitter() else { continue };
        let [with, without] = [cap, &plain].map(|cap| wait(cap, spec, demand.rate, need.readers()));
        let mean = SAFETY_FACTOR * (without.mean_secs - with.mean_secs);
        let percentile = SAFETY_FACTOR * (without.quantile_secs(share) - with.quantile_secs(share));
        // At a saturated limit both waits are infinite.
        if !mean.is_finite() || !percentile.is_finite() {
            return None;
        }
        (mean_more, percentile_more) = (mean_more + mean, percentile_more + percentile);
        if most.is_none_or(|(known, _)| percentile > known) {
            most = Some((percentile, cap));
        }
    }
    let (_, cap) = most?;
    let CapPart::Limit(index) = cap.part else { return None };
    let Burst::Jitter(jitter) = &spec.limits.get(index)?.burst else { return None };
    let both = |secs: Option<f64>, more: f64, bound: Nanos| {
        secs.and_then(|secs| JitterComparison::that_matter(secs, secs + more, bound.secs_f64()))
    };
    let mean_secs = need.mean.and_then(|bound| both(judged.mean_secs, mean_more, bound));
    let percentile_secs = need.percentile.and_then(|(_, bound)| both(judged.percentile_secs, percentile_more, bound));
    let differs = demand.timed && (mean_secs.is_some() || percentile_secs.is_some());
    differs.then(|| JitterEffect {
        limit: cap.name.clone(),
        jitter: jitter.clone(),
        mean_secs,
        percentile_secs,
        is_simulated: false,
    })
}

/// Returns the limit that a sequential demand meets only because the provider merges its operations.
pub(crate) fn merging_effect(spec: &Spec, demand: &Demand) -> Option<MergingEffect> {
    let each = Load { sequential: false, ..demand.load.clone() };
    let merges = |limit: &Limit| {
        let Some((_, least)) = limit.merges() else { return false };
        demand.load.sequential && demand.load.mean_bytes() >= f64::from(least)
    };
    caps(spec, &each).into_iter().filter(|cap| cap.iops < demand.sustained * RATE_TOLERANCE).find_map(|cap| {
        let CapPart::Limit(index) = cap.part else { return None };
        let limit = spec.limits.get(index).filter(|limit| merges(limit))?;
        Some(MergingEffect { limit: limit.name.clone(), merging: limit.merging.clone()?, iops: cap.iops })
    })
}

fn unknown(caps: Vec<Cap>) -> ClosedFormResult {
    let failure = UnmetNeed::absolute(
        Requirement::Unknown,
        "mixed reads and writes on a hard disk have no closed form".to_owned(),
    );
    ClosedFormResult { caps, failures: vec![failure], ..ClosedFormResult::default() }
}

/// Returns the caps that one of several machines sees: those of the volume are divided among them.
fn shared_caps(spec: &Spec, load: &Load, readers: f64) -> Vec<Cap> {
    let mut caps = caps(spec, load);
    for cap in &mut caps {
        let sharers = sharers(spec, cap, readers);
        cap.iops /= sharers;
        cap.bucket = cap.bucket.map(|held| Bucket { most: held.most / sharers, at_start: held.at_start / sharers });
    }
    caps.sort_by(|a, b| a.iops.total_cmp(&b.iops));
    caps
}

/// Returns the number of machines that share a cap: all for caps of the volume, one for caps of a machine.
fn sharers(spec: &Spec, cap: &Cap, readers: f64) -> f64 {
    let scope = match cap.part {
        CapPart::Limit(index) => spec.limits.get(index).map(|limit| &limit.scope),
        CapPart::Station(index) => spec.stations.get(index).map(|station| &station.scope),
    };
    if scope == Some(&Scope::Volume) { readers } else { 1.0 }
}

/// Returns the wait at a cap in one queue with the requests of all machines that share it.
fn wait(cap: &Cap, spec: &Spec, rate: f64, readers: f64) -> CapWait {
    let sharers = sharers(spec, cap, readers);
    Cap { iops: cap.iops * sharers, ..cap.clone() }.wait(rate * sharers)
}

/// Returns the latency of a disk drive with as many random operations in flight as a rate takes; `None` for volumes whose
/// latency does not depend on them.
fn loop_secs(spec: &Spec, load: &Load, rate: f64) -> Option<f64> {
    let Behaviour::Drive(drive) = &spec.behaviour else { return None };
    let at = |depth: u32| drive.random_iops(&Load { in_flight: f64::from(depth), ..load.clone() });
    let depth = (1..=drive.sched_window).find(|depth| at(*depth).is_none_or(|iops| iops >= rate))?;
    Some(f64::from(depth) / at(depth)?)
}

/// Returns the cap of a drive's mechanics: with a full queue for random operations, on inner tracks for sequential
/// ones.
fn drive_cap(drive: &volume::HardDisk, load: &Load) -> Option<Cap> {
    let pure = load.share.read == 1.0 || load.share.write == 1.0;
    let (name, iops) = if load.sequential {
        ("inner tracks", pure.then(|| drive.inner_bytes_per_sec as f64 / load.mean_bytes())?)
    } else {
        ("head seeks", drive.random_iops(load)?)
    };
    let name = name.to_owned();
    let part = CapPart::Station(usize::MAX);
    Some(Cap {
        name,
        part,
        iops,
        bucket: None,
        burst_secs: None,
        spread: 1.0,
        forgives_secs: 0.0,
        servers: 1,
        members: 1,
    })
}

/// Returns the IOPS while credits last, and for how long, if above the sustained rate.
pub(crate) fn burst(caps: &[Cap]) -> Option<(f64, f64)> {
    let lasting = caps.first()?.iops;
    let iops = caps.iter().filter(|cap| cap.bucket.is_none()).map(|cap| cap.iops).fold(f64::INFINITY, f64::min);
    if !iops.is_finite() || iops <= lasting * 1.000_001 {
        return None;
    }
    let (latency, alone, caps) = (Nanos::ZERO, Nanos::ZERO, caps.to_vec());
    let prediction = Prediction { iops: lasting, latency, burst_iops: iops, alone, limit: Some(0), caps };
    Some((iops, prediction.burst_secs()?))
}
