//! Rules for what limited a run on modelled volumes.

use record::{BurstCredits, ModelRecord, ServiceStage};

use crate::facts::Facts;
use crate::rules::deeper;
use crate::{Code, EvidenceSource, Finding, Quantity, Severity};
use units::requests_in_flight;

/// Relative error of means of simulated times.
const MEAN_ERROR: f64 = 0.005;

/// Fraction of its operations from which a stage that delayed them was the limit, or several stages together.
const DECIDED: f64 = 0.5;

/// Utilization from which a limit counts as reached, however few operations it delayed, as right at the knee.
const USED_UP: f64 = 0.97;

/// Utilization from which a limit held throughout the run.
const WHOLE: f64 = 0.9;

/// Syncs in flight by which a simulated mean of few may be off.
const ACCURATE: f64 = 0.02;

/// Factor over the operations of a job from which others used the limit too.
const SHARED: f64 = 1.05;

/// Returns the stage that limited the run, or how far the run stayed below the nearest limit.
pub(super) fn limit(facts: Facts<'_>, model: &ModelRecord, in_flight: f64) -> Finding {
    // Stages of other jobs' volumes do not count.
    let stages = model.stages_of(facts.job);
    let requests: u64 =
        stages.clone().map(|stage| sum(&alike(facts, model, stage), |of| of.requests)).max().unwrap_or(0);
    let held = stages.clone().max_by(|a, b| weight(a).total_cmp(&weight(b)));
    // Before and after credits run out, two limits delay operations in turn.
    let together: u64 = stages.clone().map(|stage| stage.decided).sum();
    let limited = together as f64 / requests.max(1) as f64 >= DECIDED;
    let held = held.filter(|stage| limited || delayed_fraction(stage) >= DECIDED);
    let used_up = stages.filter(|stage| is_used_up(stage)).max_by(|a, b| a.utilisation.total_cmp(&b.utilisation));
    match held.or(used_up) {
        Some(stage) => delayed_by(facts, model, stage, requests),
        None => not_reached(facts, model, in_flight),
    }
}

/// Reports whether a stage reached its limit. A bucket of credits admits more until it is empty.
fn is_used_up(stage: &ServiceStage) -> bool {
    let empty = |credits: &BurstCredits| credits.left <= 0.01 * credits.most;
    stage.utilisation >= USED_UP && stage.credits.as_ref().is_none_or(empty)
}

/// Returns the total delay by a stage.
fn weight(stage: &ServiceStage) -> f64 {
    stage.delay_ns as f64
}

/// Returns the fraction of its operations that a stage delayed.
fn delayed_fraction(stage: &ServiceStage) -> f64 {
    stage.delayed as f64 / stage.requests.max(1) as f64
}

/// Returns the same limit of all volumes in RAID 0, which are one volume of the record; otherwise the stage alone.
fn alike<'a>(facts: Facts<'_>, model: &'a ModelRecord, stage: &ServiceStage) -> Vec<&'a ServiceStage> {
    let stages = model.stages_of(facts.job);
    let place = |of: &ServiceStage| (of.name.clone(), of.volumes.clone(), of.workers.clone(), of.hosts);
    stages.filter(|other| place(other) == place(stage)).collect()
}

fn sum(stages: &[&ServiceStage], of: impl Fn(&ServiceStage) -> u64) -> u64 {
    stages.iter().map(|stage| of(stage)).sum()
}

fn delayed_by(facts: Facts<'_>, model: &ModelRecord, stage: &ServiceStage, requests: u64) -> Finding {
    let alike = alike(facts, model, stage);
    let held = sum(&alike, |of| of.delay_ns) as f64 / requests.max(1) as f64;
    // Without the wait, this many operations in flight would keep the limit just as busy.
    let service = facts.result().service_mean_ns().unwrap_or(held);
    let in_flight = facts.result().in_flight().unwrap_or(0.0);
    // Syncs occupy places of the queue too.
    let syncs = facts.result().occupied().map_or(0.0, |occupied| occupied - in_flight);
    let enough = in_flight * (1.0 - held / service.max(1.0)) + if syncs > ACCURATE { syncs - ACCURATE } else { 0.0 };
    // The delay is a mean of random times: 8.005 are 8.
    let enough = (enough * (1.0 - MEAN_ERROR)).ceil();
    // The rate of the job is that of the limit if the limit held all the time, and no other job had a part of it.
    let is_shared = stage.requests as f64 > SHARED * facts.result().ios() as f64;
    let is_rate = stage.utilisation >= WHOLE && !is_shared && spent(model.stages_of(facts.job)).is_none();
    // Random offsets load the volumes of a stripe unevenly at such a depth.
    let is_even = alike.len() == 1;
    let delayed = sum(&alike, |of| of.delayed) as f64 / sum(&alike, |of| of.requests).max(1) as f64;
    let finding = Finding::new(Code::ModelHeldBack, Severity::Info)
        .about(&stage.label())
        .with(Quantity::DecidedShare, delayed, EvidenceSource::Model)
        .with(Quantity::HeldMean, held, EvidenceSource::Model)
        .with(Quantity::Utilisation, stage.utilisation, EvidenceSource::Model)
        .with(Quantity::InFlightNeeded, (is_rate && is_even).then_some(enough.max(1.0)), EvidenceSource::LittlesLaw);
    match (ran_out_ns(stage), draining(model.stages_of(facts.job))) {
        (Some(at_ns), _) => finding.with(Quantity::CreditsGone, at_ns, EvidenceSource::Model),
        (None, Some(credits)) if stage.credits.is_none() => with_credits(finding, credits),
        _ => finding,
    }
}

/// Returns when a stage's credits ran out during the run, in nanoseconds.
fn ran_out_ns(stage: &ServiceStage) -> Option<f64> {
    stage.credits?.empty_at_ns.filter(|at| *at > 0).map(|at| at as f64)
}

/// Returns the most limiting stage whose credits ran out, and when: the reason for the change of throughput.
pub(super) fn spent<'a>(stages: impl Iterator<Item = &'a ServiceStage>) -> Option<(&'a ServiceStage, f64)> {
    let spent = stages.filter_map(|stage| Some((stage, ran_out_ns(stage)?)));
    spent.max_by(|(a, _), (b, _)| weight(a).total_cmp(&weight(b)))
}

/// Returns the credits that run out first, if the run spends more than it earns.
fn draining<'a>(stages: impl Iterator<Item = &'a ServiceStage>) -> Option<BurstCredits> {
    let used = stages.filter(|stage| stage.utilisation > 1.0).filter_map(|stage| stage.credits);
    let draining = used.filter(|credits| credits.spent_per_sec > 0.0 && credits.empty_at_ns.is_none());
    draining.min_by(|a, b| secs_left(a).total_cmp(&secs_left(b)))
}

fn secs_left(credits: &BurstCredits) -> f64 {
    credits.left.max(0.0) / credits.spent_per_sec
}

fn with_credits(finding: Finding, credits: BurstCredits) -> Finding {
    let (left, spent) = if credits.bytes {
        (Quantity::ByteCreditsLeft, Quantity::ByteCreditsSpent)
    } else {
        (Quantity::CreditsLeft, Quantity::CreditsSpent)
    };
    finding
        .with(left, credits.left.max(0.0), EvidenceSource::Model)
        .with(spent, credits.spent_per_sec, EvidenceSource::Model)
        .with(Quantity::CreditsLast, secs_left(&credits) * 1e9, EvidenceSource::Model)
}

/// Returns how many more operations in flight would reach the nearest limit, because latency and depth set the pace. Syncs
/// occupy places of the queue too.
fn not_reached(facts: Facts<'_>, model: &ModelRecord, in_flight: f64) -> Finding {
    /// Syncs in flight that are worth a mention, as a fraction of the other operations.
    const MANY_SYNCS: f64 = 0.1;
    let nearest = model.stages_of(facts.job).max_by(|a, b| a.utilisation.total_cmp(&b.utilisation));
    let occupied = facts.result().occupied().unwrap_or(in_flight);
    let syncs = Some(occupied - in_flight).filter(|syncs| *syncs > MANY_SYNCS * in_flight);
    let sync_mean_ns = syncs.map(|_| facts.result().sync.mean_ns);
    let finding = Finding::new(Code::ModelNotReached, Severity::Advice)
        .with(Quantity::SyncsInFlight, syncs, EvidenceSource::LittlesLaw)
        .with(Quantity::SyncMean, sync_mean_ns, EvidenceSource::Counters);
    let Some(stage) = nearest.filter(|stage| stage.utilisation > 0.0) else { return finding };
    let needed = occupied / stage.utilisation - syncs.map_or(0.0, |_| ACCURATE);
    let remedy = (stage.utilisation < 1.0)
        .then(|| deeper(facts, facts.per_worker(needed)))
        .filter(|_| !facts.declared().is_paced() && facts.declared().thinktime_ns == 0);
    finding
        .about(&stage.label())
        .with(Quantity::Utilisation, stage.utilisation, EvidenceSource::Model)
        .with(Quantity::InFlightNeeded, requests_in_flight(needed) as f64, EvidenceSource::LittlesLaw)
        .remedy(remedy)
}
