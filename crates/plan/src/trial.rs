//! Simulations that confirm the closed form.

use units::Nanos;
use volume::catalogue::BuiltinVolume;

use crate::candidate::{Candidate, JitterEffect, Requirement, UnmetNeed, WithAndWithout};
use crate::laws::Laws;
use crate::need::{Demand, Need};
use crate::rank::{Ranking, rank};
use crate::search;

/// A simulation: a volume under one demand of a need.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanTrial {
    /// The volume, as it is asked for.
    pub volume: String,
    /// Machines it is attached to, each with the same load.
    pub machines: u32,
    /// Operations a second that have to pass, of each machine.
    pub rate: f64,
    /// Bytes of each.
    pub block: u32,
    /// The share of reads.
    pub read_share: f64,
    /// Whether each begins where the last one ended.
    pub sequential: bool,
    /// As many in flight on each machine as never leave the volume idle.
    pub in_flight: f64,
    /// Whether latency matters: then operations come by chance, at the rate. Else they follow one another.
    pub timed: Option<f64>,
    /// How many times as long as usual it takes to settle.
    pub longer: f64,
}

/// Result of a simulation, averaged over machines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialOutcome {
    /// Operations a second.
    pub iops: f64,
    /// Mean time from the instant at which an operation was due to its end, in seconds.
    pub mean_secs: f64,
    /// The time that the asked share of operations did not exceed.
    pub percentile_secs: f64,
}

/// A simulation of some thousand operations is exact to this.
const RATE_SLACK: f64 = 0.985;
const MEAN_SLACK: f64 = 1.01;
const PERCENTILE_SLACK: f64 = 1.02;
/// Factors by which more is bought, step by step, where a simulation falls short.
const MARGINS: [f64; 6] = [1.05, 1.15, 1.3, 1.6, 2.5, 4.0];

/// Candidates for a need, each that seems to meet it checked by a simulation, and their ranking. One that falls short is
/// made larger, a few times.
pub fn plan(
    need: &Need,
    laws: &mut Laws,
    simulate: &mut dyn FnMut(&PlanTrial) -> Option<TrialOutcome>,
) -> (Vec<Candidate>, Ranking) {
    let volumes = search::named(need).unwrap_or_default();
    let mut candidates = Vec::new();
    for (listed, keys) in &volumes {
        let Some(mut found) = search::candidate(need, listed, keys, 1.0, laws) else { continue };
        if found.failures.is_empty() {
            found = tried(need, (listed, keys), found, laws, simulate);
        }
        candidates.push(found);
    }
    let ranking = rank(&candidates);
    (candidates, ranking)
}

/// The best for a need, checked as [`plan`] checks it; of those that cost more nothing is simulated.
pub fn best(
    need: &Need,
    laws: &mut Laws,
    simulate: &mut dyn FnMut(&PlanTrial) -> Option<TrialOutcome>,
) -> Option<Candidate> {
    let volumes = search::named(need).unwrap_or_default();
    let (mut checked, mut candidates) = (vec![false; volumes.len()], Vec::new());
    let mut whose = Vec::new();
    for (listed, keys) in &volumes {
        if let Some(found) = search::candidate(need, listed, keys, 1.0, laws) {
            candidates.push(found);
            whose.push((listed, keys.as_str()));
        }
    }
    // Whatever falls short is made larger and stands where its new price puts it.
    while let Some(first) = rank(&candidates).best {
        if checked[first] {
            return Some(candidates.swap_remove(first));
        }
        checked[first] = true;
        candidates[first] = tried(need, whose[first], candidates[first].clone(), laws, simulate);
    }
    None
}

fn tried(
    need: &Need,
    (listed, keys): (&BuiltinVolume, &str),
    mut found: Candidate,
    laws: &mut Laws,
    simulate: &mut dyn FnMut(&PlanTrial) -> Option<TrialOutcome>,
) -> Candidate {
    let Some(mut short) = shortfalls(need, &found, simulate) else { return found };
    for margin in MARGINS {
        if short.is_empty() {
            break;
        }
        let Some(larger) = search::candidate(need, listed, keys, margin, laws) else { break };
        if !larger.failures.is_empty() {
            break;
        }
        let Some(still) = shortfalls(need, &larger, simulate) else { break };
        (found, short) = (larger, still);
    }
    found.survived = Some(short.is_empty());
    found.failures = short;
    found
}

/// Whether a candidate does under simulation what a need asks; `None` where it cannot be simulated.
pub fn confirm(
    need: &Need,
    candidate: &Candidate,
    simulate: &mut dyn FnMut(&PlanTrial) -> Option<TrialOutcome>,
) -> Option<bool> {
    shortfalls(need, candidate, simulate).map(|short| short.is_empty())
}

/// Requirements that a candidate does not meet under simulation.
fn shortfalls(
    need: &Need,
    candidate: &Candidate,
    simulate: &mut dyn FnMut(&PlanTrial) -> Option<TrialOutcome>,
) -> Option<Vec<UnmetNeed>> {
    let demands = need.demands();
    let short: Option<Vec<Vec<UnmetNeed>>> =
        demands.iter().map(|demand| shortfall(need, demand, candidate, simulate)).collect();
    Some(short?.concat())
}

/// The same of one demand.
fn shortfall(
    need: &Need,
    demand: &Demand,
    candidate: &Candidate,
    simulate: &mut dyn FnMut(&PlanTrial) -> Option<TrialOutcome>,
) -> Option<Vec<UnmetNeed>> {
    let mut trial = trial(need, demand, demand.sustained, candidate);
    let first = candidate.limit.as_ref().map_or("latency", |cap| cap.name.as_str());
    let reached = simulate(&trial)?.iops;
    if reached < trial.rate * RATE_SLACK {
        let (requirement, unit) = match demand.in_bytes {
            true => (Requirement::Throughput, demand.load.mean_bytes()),
            false => (Requirement::Iops, 1.0),
        };
        let (limit, wanted) = (format!("{first}, as simulated"), trial.rate * unit);
        return Some(vec![UnmetNeed { requirement, limit, wanted, reached: reached * unit }]);
    }
    if !demand.timed || need.mean.is_none() && need.percentile.is_none() {
        return Some(Vec::new());
    }
    trial = self::trial(need, demand, demand.rate, candidate);
    trial.timed = Some(need.percentile.map_or(0.99, |(share, _)| share));
    let timed = simulate(&trial)?;
    let bounds = [
        (Requirement::Mean, need.mean, timed.mean_secs, MEAN_SLACK),
        (Requirement::Percentile, need.percentile.map(|(_, bound)| bound), timed.percentile_secs, PERCENTILE_SLACK),
    ];
    let over = |(requirement, bound, reached, slack): (Requirement, Option<units::Nanos>, f64, f64)| {
        let wanted = need.planned_secs(bound?);
        let limit = format!("queueing before {first}, as simulated");
        (reached > wanted * slack).then_some(UnmetNeed { requirement, limit, wanted, reached })
    };
    Some(bounds.into_iter().filter_map(over).collect())
}

/// Simulates what rests on the jitter of a candidate's limits, where the formulas say that bounded latencies do: without
/// it, the waits are those of a queue that forgives nothing.
pub fn simulate_jitter(
    need: &Need,
    candidate: &mut Candidate,
    simulate: &mut dyn FnMut(&PlanTrial) -> Option<TrialOutcome>,
) {
    /// Queues near their limit are alike for long: as many usual times settle them to some hundredths.
    const LONGEST: f64 = 16.0;
    let Some(effect) = &candidate.jitter else { return };
    let Some(demand) = need.demands().into_iter().find(|demand| demand.timed) else { return };
    let mut trial = trial(need, &demand, demand.rate, candidate);
    trial.timed = Some(need.percentile.map_or(0.99, |(share, _)| share));
    trial.longer = (1.0 / (20.0 * candidate.headroom.max(1e-3).powi(2))).clamp(1.0, LONGEST);
    let Some(with) = simulate(&trial) else { return };
    let kept = trial.volume.split(',').filter(|pair| !pair.starts_with("jitter="));
    trial.volume = kept.chain(["jitter=0ms"]).collect::<Vec<_>>().join(",");
    let Some(without) = simulate(&trial) else { return };
    let both = |bound: Nanos, secs: fn(&TrialOutcome) -> f64| {
        WithAndWithout::that_matter(secs(&with), secs(&without), bound.secs_f64())
    };
    let mean_secs = need.mean.and_then(|bound| both(bound, |outcome| outcome.mean_secs));
    let percentile_secs = need.percentile.and_then(|(_, bound)| both(bound, |outcome| outcome.percentile_secs));
    let differs = mean_secs.is_some() || percentile_secs.is_some();
    candidate.jitter =
        differs.then(|| JitterEffect { mean_secs, percentile_secs, is_simulated: true, ..effect.clone() });
}

/// The simulation of one demand.
fn trial(need: &Need, demand: &Demand, rate: f64, candidate: &Candidate) -> PlanTrial {
    let is_drive = matches!(candidate.spec.behaviour, volume::Behaviour::Drive(_));
    PlanTrial {
        volume: candidate.spec.name.clone(),
        machines: need.readers() as u32,
        rate,
        block: demand.load.bytes.read,
        read_share: need.read_share,
        sequential: demand.load.sequential,
        in_flight: (2.0 * rate * candidate.alone_secs.unwrap_or(0.001)).max(if is_drive { 32.0 } else { 4.0 }),
        timed: None,
        longer: 1.0,
    }
}
