//! What limited a run on modelled volumes.

use record::{ModelCredits, ModelRecord, ModelStage};

use crate::facts::Facts;
use crate::rules::deeper;
use crate::{Code, EvidenceSource, Finding, Quantity, Remedy, Severity};

/// A stage that held this share of its operations back is what limited them; so are several that did together.
const DECIDED: f64 = 0.5;

/// A limit of which so much was used is what limited, however few operations met it: so it is right at the knee.
const USED_UP: f64 = 0.97;

/// The stage that set the pace, or how far from the nearest limit the run stayed.
pub(super) fn limit(facts: Facts<'_>, model: &ModelRecord, in_flight: f64) -> Finding {
    // What held others back on volumes of their own says nothing of this job.
    let stages = model.stages_of(facts.job);
    let requests: u64 = stages.clone().map(|stage| stage.requests).max().unwrap_or(0);
    let held = stages.clone().max_by(|a, b| weight(a).total_cmp(&weight(b)));
    // Before and after credits run out two limits hold operations back in turn.
    let together: u64 = stages.clone().map(|stage| stage.decided).sum();
    let limited = together as f64 / requests.max(1) as f64 >= DECIDED;
    let held = held.filter(|stage| limited || share(stage) >= DECIDED);
    let used_up = stages.filter(|stage| is_used_up(stage)).max_by(|a, b| a.utilisation.total_cmp(&b.utilisation));
    match held.or(used_up) {
        Some(stage) => held_back(facts, model, stage, requests),
        None => not_reached(facts, model, in_flight),
    }
}

/// Whether a stage let through what it can; a bucket lets more through while it is not empty.
fn is_used_up(stage: &ModelStage) -> bool {
    let empty = |credits: &ModelCredits| credits.left <= 0.01 * credits.most;
    stage.utilisation >= USED_UP && stage.credits.as_ref().is_none_or(empty)
}

/// Time spent waiting for a stage.
fn weight(stage: &ModelStage) -> f64 {
    stage.delay_ns as f64
}

/// The share of its operations that a stage held back.
fn share(stage: &ModelStage) -> f64 {
    stage.delayed as f64 / stage.requests.max(1) as f64
}

fn held_back(facts: Facts<'_>, model: &ModelRecord, stage: &ModelStage, requests: u64) -> Finding {
    let held = stage.delay_ns as f64 / requests.max(1) as f64;
    // Without the wait, this many in flight would keep the limit busy just as well.
    let service = facts.result().service_mean_ns().unwrap_or(held);
    let enough = (facts.result().in_flight().unwrap_or(0.0) * (1.0 - held / service.max(1.0))).ceil();
    let finding = Finding::new(Code::ModelHeldBack, Severity::Info)
        .about(&stage.name)
        .with(Quantity::DecidedShare, share(stage), EvidenceSource::Model)
        .with(Quantity::HeldMean, held, EvidenceSource::Model)
        .with(Quantity::Utilisation, stage.utilisation, EvidenceSource::Model)
        .with(Quantity::InFlightNeeded, enough.max(1.0), EvidenceSource::LittlesLaw);
    match (gone(stage), draining(model.stages_of(facts.job))) {
        (Some(gone_ns), _) => finding.with(Quantity::CreditsGone, gone_ns, EvidenceSource::Model),
        (None, Some(credits)) if stage.credits.is_none() => lasting(finding, credits),
        _ => finding,
    }
}

/// When a stage's bucket ran empty within the run, in nanoseconds.
fn gone(stage: &ModelStage) -> Option<f64> {
    stage.credits?.empty_at_ns.filter(|at| *at > 0).map(|at| at as f64)
}

/// The stage whose credits ran out while it went on to hold operations back, and when: why the pace changed.
pub(super) fn spent<'a>(stages: impl Iterator<Item = &'a ModelStage>) -> Option<(&'a ModelStage, f64)> {
    let spent = stages.filter_map(|stage| Some((stage, gone(stage)?)));
    spent.max_by(|(a, _), (b, _)| weight(a).total_cmp(&weight(b)))
}

/// The bucket that is empty first, if the run spends more than it earns.
fn draining<'a>(stages: impl Iterator<Item = &'a ModelStage>) -> Option<ModelCredits> {
    let used = stages.filter(|stage| stage.utilisation > 1.0).filter_map(|stage| stage.credits);
    let draining = used.filter(|credits| credits.spent_per_sec > 0.0 && credits.empty_at_ns.is_none());
    draining.min_by(|a, b| secs_left(a).total_cmp(&secs_left(b)))
}

fn secs_left(credits: &ModelCredits) -> f64 {
    credits.left.max(0.0) / credits.spent_per_sec
}

fn lasting(finding: Finding, credits: ModelCredits) -> Finding {
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

/// Latency and depth set the pace: so many more in flight, and the nearest limit is reached.
fn not_reached(facts: Facts<'_>, model: &ModelRecord, in_flight: f64) -> Finding {
    let nearest = model.stages_of(facts.job).max_by(|a, b| a.utilisation.total_cmp(&b.utilisation));
    let finding = Finding::new(Code::ModelNotReached, Severity::Advice);
    let Some(stage) = nearest.filter(|stage| stage.utilisation > 0.0) else { return finding };
    let needed = in_flight / stage.utilisation;
    let remedy = (stage.utilisation < 1.0)
        .then(|| deeper(facts, facts.per_worker(needed)))
        .filter(|_| !facts.declared().is_paced() && facts.declared().thinktime_ns == 0);
    finding
        .about(&stage.name)
        .with(Quantity::Utilisation, stage.utilisation, EvidenceSource::Model)
        .with(Quantity::InFlightNeeded, needed.ceil(), EvidenceSource::LittlesLaw)
        .remedy(remedy as Option<Remedy>)
}
