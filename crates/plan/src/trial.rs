//! Simulations that confirm the closed form. The caller passes them in as a function, so that this crate knows neither
//! jobs nor `sim`.

use units::Nanos;
use volume::catalogue::BuiltinVolume;

use crate::candidate::{Candidate, JitterComparison, JitterEffect, MonthlyCost, Requirement, UnmetNeed};
use crate::laws::{LatencyCache, quantile_secs};
use crate::machine::MachineNeed;
use crate::need::{Demand, Need};
use crate::rank::{Nearest, Ranking, rank};
use crate::search::{self, Members, WORTH_STRIPING};

/// A simulation of a volume under one demand.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanTrial {
    /// Volume name with keys.
    pub volume: String,
    /// Machines attached to it, each with the same load.
    pub machines: u32,
    /// Required operations per second of each machine.
    pub rate: f64,
    /// Bytes per operation.
    pub block: u32,
    /// Fraction of reads.
    pub read_share: f64,
    /// Whether operations are sequential.
    pub sequential: bool,
    /// Operations in flight per machine, enough to keep the volume busy.
    pub in_flight: f64,
    /// Operations per second that these bring at least in a closed loop, by the closed form: the rate or a multiple of it.
    pub closed_rate: f64,
    /// Requested percentile if latency matters: arrivals are then random at the rate. `None` for a closed loop.
    pub timed: Option<f64>,
    /// Factor on the usual settling time.
    pub longer: f64,
}

/// Result of a simulation, averaged over machines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialOutcome {
    /// Operations per second.
    pub iops: f64,
    /// Mean latency from an operation's due time to its completion, in seconds.
    pub mean_secs: f64,
    /// Latency at the requested percentile, in seconds.
    pub percentile_secs: f64,
}

/// Simulates a trial; returns `None` if that is impossible.
pub(crate) type Simulate<'a> = dyn FnMut(&PlanTrial) -> Option<TrialOutcome> + 'a;

/// Accuracy of a simulation of some thousand operations.
const RATE_SLACK: f64 = 0.985;
const MEAN_SLACK: f64 = 1.01;
const PERCENTILE_SLACK: f64 = 1.02;
/// How far the closed form may overestimate what a closed loop brings.
const CLOSED_CAUTION: f64 = 4.0;
/// Factors by which a candidate is enlarged step by step while simulations fall short.
const MARGINS: [f64; 6] = [1.05, 1.15, 1.3, 1.6, 2.5, 4.0];

/// How many times as many operations are in flight on a stripe, whose volumes random requests do not load equally.
const STRIPE_QUEUE: f64 = 4.0;

/// Longest trial of latencies, as a factor: queues near their limit stay correlated for long.
const LONGEST: f64 = 16.0;

/// Returns the candidates for a need and their ranking. Each candidate that meets the need by the closed form is
/// confirmed by a simulation, and enlarged a few times if it falls short. Simulations also decide whether random
/// arrivals wait too long, where the closed form has nothing else against a candidate.
pub fn plan(need: &Need, laws: &mut LatencyCache, simulate: &mut Simulate<'_>) -> (Vec<Candidate>, Ranking) {
    let volumes = search::named(need).unwrap_or_default();
    let mut candidates = Vec::new();
    for origin in &volumes {
        let one = decided(need, origin, Members::One, laws, simulate);
        let stripe = one.as_ref().and_then(|one| better_stripe(need, origin, one, laws, simulate));
        candidates.extend(one.into_iter().chain(stripe));
    }
    let mut ranking = rank(&candidates, need);
    if ranking.meeting.is_empty() && ranking.may_meet.is_empty() {
        ranking.impossible = impossible(need, &volumes, &candidates, laws, simulate);
    }
    (candidates, ranking)
}

/// Returns the candidate of one volume type, after a simulation where one decides.
fn decided(
    need: &Need,
    origin: &(BuiltinVolume, String),
    members: Members,
    laws: &mut LatencyCache,
    simulate: &mut Simulate<'_>,
) -> Option<Candidate> {
    let found = search::candidate(need, origin, members, 1.0, laws)?;
    if found.failures.is_empty() || may_wait_less(need, &found) {
        return Some(confirmed(need, origin, found, laws, simulate));
    }
    Some(found)
}

/// Returns several volumes in RAID 0 where they are cheaper than one, or where one does not meet the need.
fn better_stripe(
    need: &Need,
    origin: &(BuiltinVolume, String),
    one: &Candidate,
    laws: &mut LatencyCache,
    simulate: &mut Simulate<'_>,
) -> Option<Candidate> {
    let is_worth =
        |(stripe, one): (&MonthlyCost, &MonthlyCost)| stripe.usd_per_month < WORTH_STRIPING * one.usd_per_month;
    let is_better =
        |stripe: &Candidate| !one.meets() || stripe.known_price().zip(one.known_price()).is_some_and(is_worth);
    let found = search::candidate(need, origin, Members::Stripe, 1.0, laws)?;
    let may_meet = found.failures.is_empty() || may_wait_less(need, &found);
    if !may_meet || !is_better(&found) {
        return None;
    }
    let confirmed = confirmed(need, origin, found, laws, simulate);
    (confirmed.meets() && is_better(&confirmed)).then_some(confirmed)
}

/// Returns the requirements that no volume meets, in any size and with any setting, without the others. A candidate is only
/// one setting of its type: those that fail a requirement for the sake of others do not count.
fn impossible(
    need: &Need,
    volumes: &[(BuiltinVolume, String)],
    candidates: &[Candidate],
    laws: &mut LatencyCache,
    simulate: &mut Simulate<'_>,
) -> Vec<Nearest> {
    use Requirement::{Budget, Capacity, Iops, Machine, Mean, Percentile, Sharing, Throughput};
    let requirements = [Iops, Throughput, Capacity, Mean, Percentile, Sharing, Requirement::Size, Machine, Budget];
    let of = |candidate: &Candidate, requirement: Requirement| {
        candidate.failures.iter().find(|failure| failure.requirement == requirement).cloned()
    };
    // Candidates with an unusable machine or load have no figures for other requirements.
    let has_figure = |candidate: &Candidate, requirement: Requirement| {
        let unknown = |failure: &UnmetNeed| matches!(failure.requirement, Machine | Requirement::Unknown);
        requirement == Machine || of(candidate, requirement).is_some() || !candidate.failures.iter().any(unknown)
    };
    let mut nearest = |requirement: Requirement| {
        let fails = |candidate: &Candidate| {
            let fails_otherwise = requirement == Machine && !candidate.failures.is_empty();
            fails_otherwise || !has_figure(candidate, requirement) || of(candidate, requirement).is_some()
        };
        if !candidates.iter().all(fails) {
            return None;
        }
        let alone = need.only(requirement);
        let mut failing: Vec<Nearest> = Vec::new();
        let ways = volumes.iter().flat_map(|origin| [(origin, Members::One), (origin, Members::Stripe)]);
        for (origin, members) in ways {
            let Some(found) = decided(&alone, origin, members, laws, simulate) else { continue };
            if !has_figure(&found, requirement) {
                continue;
            }
            // Where a queue has no end, it is the rate that is not met.
            let failure = of(&found, requirement).filter(|failure| !failure.is_without_end())?;
            failing.push(Nearest { failure, volume: found.spec.name });
        }
        failing.into_iter().min_by(|a, b| a.failure.short_by().total_cmp(&b.failure.short_by()))
    };
    requirements.into_iter().filter_map(&mut nearest).collect()
}

/// Returns the best candidate for a need, confirmed as in [`plan`]; more expensive ones are not simulated.
pub fn best(need: &Need, laws: &mut LatencyCache, simulate: &mut Simulate<'_>) -> Option<Candidate> {
    let volumes = search::named(need).unwrap_or_default();
    let (mut checked, mut candidates, mut origins) = (Vec::new(), Vec::new(), Vec::new());
    for origin in &volumes {
        for members in [Members::One, Members::Stripe] {
            let Some(mut found) = search::candidate(need, origin, members, 1.0, laws) else { continue };
            let is_open = may_wait_less(need, &found);
            if is_open {
                found = confirmed(need, origin, found, laws, simulate);
            }
            checked.push(is_open);
            candidates.push(found);
            origins.push(origin);
        }
    }
    // A candidate that falls short is enlarged and ranked again by its new price.
    loop {
        let ranking = rank(&candidates, need);
        // An assumed latency decides only where no other is known.
        let priced = |index: &usize| candidates[*index].known_price().is_some();
        let first = ranking.best.or_else(|| ranking.may_meet.into_iter().find(priced))?;

        if checked[first] {
            return Some(candidates.swap_remove(first));
        }
        checked[first] = true;
        candidates[first] = confirmed(need, origins[first], candidates[first].clone(), laws, simulate);
    }
}

/// Returns a candidate of the same type, with a machine, that sustains a little more than the bottleneck of `limited`: what it
/// costs to lift it. `None` without a machine or a limit.
pub fn lifted(
    need: &Need,
    limited: &Candidate,
    laws: &mut LatencyCache,
    simulate: &mut Simulate<'_>,
) -> Option<Candidate> {
    /// Factor above the present limit.
    const MORE: f64 = 1.05;
    let machine = limited.machine.as_ref().filter(|_| limited.rate > 0.0 && limited.headroom.is_finite())?;
    let kind = &machine.kind;
    let open = MachineNeed {
        name: None,
        vcpus: need.machine.vcpus.or(Some(kind.vcpus)),
        arch: need.machine.arch.clone().or_else(|| kind.arch.clone()),
        ..need.machine.clone()
    };
    // Keys that the need sets for this volume stay.
    let named = need.volumes.iter().find(|volume| volume.split(',').next() == Some(&limited.listed));
    let keeps_machine = need.machine.name.is_some() && !limited.is_limited_by_machine();
    let lifted = Need {
        machine: if keeps_machine { need.machine.clone() } else { open },
        volumes: vec![named.cloned().unwrap_or_else(|| limited.listed.clone())],
        budget: None,
        headroom: 0.0,
        stripe_max: if limited.members() > 1 { need.stripe_max } else { 1 },
        ..need.times((1.0 + limited.headroom) * MORE)
    };
    best(&lifted, laws, simulate).filter(Candidate::meets)
}

/// Reports whether only the computed waits of random arrivals stand against a candidate, and a simulation settles them.
pub(crate) fn may_wait_less(need: &Need, candidate: &Candidate) -> bool {
    let only_latency = |failure: &UnmetNeed| matches!(failure.requirement, Requirement::Mean | Requirement::Percentile);
    let Some(demand) = need.demands().into_iter().find(|demand| demand.timed) else { return false };
    let keeps = |bound: Nanos, alone: Option<f64>| alone.is_some_and(|alone| alone <= need.planned_secs(bound));
    let quantile = |share: f64| quantile_secs(&candidate.spec, &demand.load, share);
    !candidate.failures.is_empty()
        && candidate.failures.iter().all(only_latency)
        && candidate.mean_secs.is_some()
        && is_settled(candidate)
        && need.mean.is_none_or(|bound| keeps(bound, candidate.alone_secs))
        && need.percentile.is_none_or(|(share, bound)| keeps(bound, quantile(share)))
}

pub(crate) fn confirmed(
    need: &Need,
    origin: &(BuiltinVolume, String),
    mut found: Candidate,
    laws: &mut LatencyCache,
    simulate: &mut Simulate<'_>,
) -> Candidate {
    let members = if found.spec.striping.is_some() { Members::Stripe } else { Members::One };
    let Some(mut short) = shortfalls(need, &mut found, simulate) else { return found };
    for margin in MARGINS {
        if short.is_empty() {
            break;
        }
        let Some(mut larger) = search::candidate(need, origin, members, margin, laws) else { break };
        if !larger.failures.is_empty() {
            break;
        }
        let Some(still) = shortfalls(need, &mut larger, simulate) else { break };
        (found, short) = (larger, still);
    }
    found.survived = Some(short.is_empty());
    found.failures = short;
    found
}

/// Returns whether a candidate meets a need under simulation; `None` if it cannot be simulated.
pub fn confirm(need: &Need, candidate: &Candidate, simulate: &mut Simulate<'_>) -> Option<bool> {
    shortfalls(need, &mut candidate.clone(), simulate).map(|short| short.is_empty())
}

/// Simulates the demands of a need, and gives the candidate its simulated latencies.
fn shortfalls(need: &Need, candidate: &mut Candidate, simulate: &mut Simulate<'_>) -> Option<Vec<UnmetNeed>> {
    let demands = need.demands();
    let short: Option<Vec<Vec<UnmetNeed>>> =
        demands.iter().map(|demand| shortfall(need, demand, candidate, simulate)).collect();
    Some(short?.concat())
}

fn shortfall(
    need: &Need,
    demand: &Demand,
    candidate: &mut Candidate,
    simulate: &mut Simulate<'_>,
) -> Option<Vec<UnmetNeed>> {
    let trial = trial(need, demand, demand.sustained, candidate);
    let first = candidate.limit.as_ref().map_or("latency", |cap| cap.name.as_str()).to_owned();
    let reached = simulate(&trial)?.iops;
    if reached < trial.rate * RATE_SLACK {
        let (requirement, unit) = match demand.in_bytes {
            true => (Requirement::Throughput, demand.load.mean_bytes()),
            false => (Requirement::Iops, 1.0),
        };
        let (limit, wanted) = (format!("{first} (simulated)"), trial.rate * unit);
        return Some(vec![UnmetNeed { requirement, limit, wanted, reached: reached * unit }]);
    }
    if !demand.timed || !need.bounds_latency() {
        if demand.timed && candidate.members() > 1 {
            take_depth(need, demand, candidate, simulate);
        }
        return Some(Vec::new());
    }
    let timed = simulate(&timed_trial(need, demand, candidate))?;
    take_latencies(candidate, &timed);
    let bounds = [
        (Requirement::Mean, need.mean, timed.mean_secs, MEAN_SLACK),
        (Requirement::Percentile, need.percentile.map(|(_, bound)| bound), timed.percentile_secs, PERCENTILE_SLACK),
    ];
    let over = |(requirement, bound, reached, slack): (Requirement, Option<Nanos>, f64, f64)| {
        let wanted = need.planned_secs(bound?);
        let limit = format!("queueing before {first} (simulated)");
        (reached > wanted * slack).then_some(UnmetNeed { requirement, limit, wanted, reached })
    };
    Some(bounds.into_iter().filter_map(over).collect())
}

/// Gives a stripe the operations in flight that bring the rate, with their latency. Random requests do not load its volumes
/// equally, so that it takes more of them than Little's law demands without queueing.
fn take_depth(need: &Need, demand: &Demand, candidate: &mut Candidate, simulate: &mut Simulate<'_>) {
    const STEP: f64 = 1.2;
    let Some(mut in_flight) = candidate.in_flight.map(f64::ceil) else { return };
    let most = STRIPE_QUEUE * 2.0 * in_flight;
    while in_flight <= most {
        let trial = PlanTrial { in_flight, ..trial(need, demand, demand.rate, candidate) };
        let Some(reached) = simulate(&trial) else { return };
        if reached.iops >= demand.rate * RATE_SLACK {
            (candidate.in_flight, candidate.mean_secs) = (Some(in_flight), Some(in_flight / demand.rate));
            candidate.percentile_secs = Some(reached.percentile_secs);
            return;
        }
        in_flight = (in_flight * STEP).ceil();
    }
}

/// Gives a candidate the mean and the percentile of one simulation where the formulas, which find the size, differ.
fn take_latencies(candidate: &mut Candidate, timed: &TrialOutcome) {
    if !is_settled(candidate) {
        return;
    }
    let agrees = |formula: Option<f64>, secs: f64, slack: f64| {
        formula.is_some_and(|formula| formula <= secs * slack && secs <= formula * slack)
    };
    if agrees(candidate.mean_secs, timed.mean_secs, MEAN_SLACK)
        && agrees(candidate.percentile_secs, timed.percentile_secs, PERCENTILE_SLACK)
    {
        return;
    }
    // A simulated mean below that without queueing is chance.
    let mean_secs = timed.mean_secs.max(candidate.alone_secs.filter(|_| !candidate.is_drive()).unwrap_or(0.0));
    (candidate.mean_secs, candidate.in_flight) = (Some(mean_secs), Some(mean_secs * candidate.rate));
    candidate.percentile_secs = Some(timed.percentile_secs);
}

/// Simulates the effect of jitter on a candidate's bounded latencies, if the formulas predict one.
pub fn simulate_jitter(need: &Need, candidate: &mut Candidate, simulate: &mut Simulate<'_>) {
    let Some(effect) = candidate.jitter.clone().filter(|_| is_settled(candidate)) else { return };
    let Some(demand) = need.demands().into_iter().find(|demand| demand.timed) else { return };
    let mut trial = timed_trial(need, &demand, candidate);
    let Some(with) = simulate(&trial) else { return };
    let kept = trial.volume.split(',').filter(|pair| !pair.starts_with("jitter="));
    trial.volume = kept.chain(["jitter=0ms"]).collect::<Vec<_>>().join(",");
    let Some(without) = simulate(&trial) else { return };
    take_latencies(candidate, &with);
    let both = |bound: Nanos, secs: fn(&TrialOutcome) -> f64| {
        JitterComparison::that_matter(secs(&with), secs(&without), bound.secs_f64())
    };
    let mean_secs = need.mean.and_then(|bound| both(bound, |outcome| outcome.mean_secs));
    let percentile_secs = need.percentile.and_then(|(_, bound)| both(bound, |outcome| outcome.percentile_secs));
    let differs = mean_secs.is_some() || percentile_secs.is_some();
    candidate.jitter = differs.then_some(JitterEffect { mean_secs, percentile_secs, is_simulated: true, ..effect });
}

/// Returns the trial of the latencies that a need bounds.
fn timed_trial(need: &Need, demand: &Demand, candidate: &Candidate) -> PlanTrial {
    PlanTrial {
        timed: Some(need.percentile.map_or(0.99, |(share, _)| share)),
        longer: times_to_settle(candidate).clamp(1.0, LONGEST),
        ..trial(need, demand, demand.rate, candidate)
    }
}

/// Reports whether the longest trial lasts for many busy periods of a candidate's limit. Nearer to the limit, a trial that
/// begins with an empty queue is too short, and the formulas stay.
fn is_settled(candidate: &Candidate) -> bool {
    times_to_settle(candidate) <= 20.0 * LONGEST
}

/// Returns how many usual times settle the waits at a candidate's limit to a few per cent.
fn times_to_settle(candidate: &Candidate) -> f64 {
    1.0 / (20.0 * candidate.headroom.max(1e-3).powi(2))
}

fn trial(need: &Need, demand: &Demand, rate: f64, candidate: &Candidate) -> PlanTrial {
    let alone_secs = candidate.alone_secs.unwrap_or(0.001);
    let queue = if candidate.members() > 1 { STRIPE_QUEUE } else { 1.0 };
    let in_flight = (2.0 * queue * rate * alone_secs).max(if candidate.is_drive() { 32.0 } else { 4.0 });
    let attainable = (in_flight / alone_secs).min(rate * (1.0 + candidate.headroom));
    PlanTrial {
        volume: candidate.spec.name.clone(),
        machines: need.readers() as u32,
        rate,
        block: demand.load.bytes.read,
        read_share: need.read_share,
        sequential: demand.load.sequential,
        in_flight,
        closed_rate: rate.max(attainable / CLOSED_CAUTION),
        timed: None,
        longer: 1.0,
    }
}
