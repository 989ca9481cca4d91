//! Rules for runs with a requested rate.

use record::{DataKind, ReplayRecord};

use crate::facts::Facts;
use crate::rules::{deeper, model};
use crate::{Code, EvidenceSource, Finding, Quantity, Remedy, Severity};

/// Fraction of a rate from which it counts as reached.
const REACHED: f64 = 0.99;

/// A requested and an achieved rate.
#[derive(Clone, Copy)]
struct ReachedRate {
    asked: f64,
    reached: f64,
    in_bytes: bool,
    /// Its operations; `None` for all of a run.
    kind: Option<DataKind>,
    /// Mean number of its operations in flight.
    in_flight: Option<f64>,
    /// Fraction of the rate by which arrivals at random may stay below it.
    chance: f64,
}

impl ReachedRate {
    fn is_missed(&self) -> bool {
        self.reached < REACHED.min(1.0 - self.chance) * self.asked
    }

    /// Returns the operations in flight that the rate needs, by Little's law.
    fn needed(&self) -> Option<f64> {
        Some(self.in_flight? * self.asked / self.reached).filter(|needed| needed.is_finite())
    }

    fn evidence(&self, finding: Finding) -> Finding {
        let (asked, reached) = if self.in_bytes {
            (Quantity::ByteRateAsked, Quantity::ByteRateReached)
        } else {
            (Quantity::RateAsked, Quantity::RateReached)
        };
        finding.with(asked, self.asked, EvidenceSource::Job).with(reached, self.reached, EvidenceSource::Counters)
    }

    /// Adds its part in the rate of several kinds.
    fn part(&self, finding: Finding) -> Finding {
        let (asked, reached) = match self.kind {
            Some(DataKind::Read) => (Quantity::ReadRateAsked, Quantity::ReadRateReached),
            Some(DataKind::Write) => (Quantity::WriteRateAsked, Quantity::WriteRateReached),
            _ => return finding,
        };
        finding.with(asked, self.asked, EvidenceSource::Job).with(reached, self.reached, EvidenceSource::Counters)
    }
}

/// Judges the requested rates: reached, out of reach of the queue, or missed for another reason. Rates of several kinds
/// are judged one by one and stated together. `None` without a rate.
pub(super) fn rate(facts: Facts<'_>) -> Option<Finding> {
    let parts = match &facts.job.replay {
        Some(replay) => vec![of_replay(facts, replay)?],
        None => paces(facts).collect(),
    };
    let stated = together(facts, &parts)?;
    let missed = parts.iter().any(ReachedRate::is_missed);
    // Kinds without a rate keep what they have.
    let paced = parts.iter().map(|part| part.in_flight).sum::<Option<f64>>();
    let others = facts.result().in_flight().zip(paced).map_or(0.0, |(all, paced)| (all - paced).max(0.0));
    let needed = parts.iter().map(ReachedRate::needed).sum::<Option<f64>>().map(|needed| needed + others);
    let possible = facts.possible();
    // A model knows its limits, which no depth raises.
    let limit = facts.run.model.as_ref().filter(|_| missed).zip(facts.result().in_flight());
    let limit = limit.map(|(model, in_flight)| model::limit(facts, model, in_flight));
    let limit = limit.filter(|limit| limit.code == Code::ModelHeldBack);
    let finding =
        match (needed, &limit) {
            (_, Some(limit)) => {
                Finding { subject: limit.subject.clone(), ..Finding::new(Code::RateNotReached, Severity::Warning) }
                    .with(Quantity::CreditsGone, limit.value(Quantity::CreditsGone), EvidenceSource::Model)
            }
            // A replay on a slow target has any number of requests in flight.
            (Some(needed), None)
                if missed && possible.is_some_and(|possible| needed > possible) && facts.job.replay.is_none() =>
            {
                Finding::new(Code::QueueTooShallow, Severity::Warning)
                    .with(Quantity::InFlightNeeded, needed, EvidenceSource::LittlesLaw)
                    .with(Quantity::InFlightPossible, possible, facts.depth_source())
                    // Twice the mean, because arrivals bunch up and slow operations occupy slots.
                    .remedy(deeper(facts, facts.per_worker(2.0 * needed)))
            }
            _ if missed => Finding::new(Code::RateNotReached, Severity::Warning)
                .with(Quantity::CpuShare, facts.cpu_share(), EvidenceSource::ProcessorTime)
                .remedy(spread(facts)),
            _ => Finding::new(Code::RateKept, Severity::Info)
                .with(Quantity::InFlightAchieved, stated.in_flight, EvidenceSource::LittlesLaw)
                .with(Quantity::ResponseMean, response_mean_ns(facts), EvidenceSource::Counters),
        };
    let mut finding = stated.evidence(finding);
    if parts.len() > 1 || stated.kind.is_some() && facts.result().kinds().filter(|(_, kind)| kind.ios > 0).count() > 1 {
        finding = parts.iter().filter(|_| !stated.in_bytes).fold(finding, |finding, part| part.part(finding));
    }
    let service = match stated.kind {
        Some(kind) => Some(facts.result().kind(kind).service.mean_ns).filter(|mean_ns| *mean_ns > 0.0),
        None => facts.result().service_mean_ns(),
    };
    Some(finding.with(Quantity::ServiceMean, service, EvidenceSource::Counters))
}

/// Returns the rate to state: the sum over all kinds, or the one that was missed most if they have different units.
fn together(facts: Facts<'_>, parts: &[ReachedRate]) -> Option<ReachedRate> {
    let worst = *parts.iter().min_by(|a, b| (a.reached / a.asked).total_cmp(&(b.reached / b.asked)))?;
    let is_one = parts.len() == 1 || parts.iter().any(|part| part.in_bytes != worst.in_bytes);
    if is_one {
        return Some(worst);
    }
    let sum = |of: fn(&ReachedRate) -> f64| parts.iter().map(of).sum();
    Some(ReachedRate {
        asked: sum(|part| part.asked),
        reached: sum(|part| part.reached),
        kind: None,
        in_flight: facts.result().in_flight(),
        ..worst
    })
}

/// Recommends more workers if the generator's CPU is busy; otherwise they do not help.
fn spread(facts: Facts<'_>) -> Option<Remedy> {
    facts.more_workers().filter(|_| facts.cpu_bound()).map(|numjobs| Remedy::AddWorkers { numjobs })
}

/// Returns the rate of a replay at the instants of its trace: all its operations, in the time in which they were due.
/// What a runtime or a number of operations left out was not due. `None` for operations that are due at one instant.
fn of_replay(facts: Facts<'_>, replay: &ReplayRecord) -> Option<ReachedRate> {
    let (result, due_ns) = (facts.result(), replay.due_last_ns? as f64);
    let elapsed_ns = result.elapsed_ns() as f64;
    if due_ns <= 0.0 || replay.first_ns == replay.last_ns {
        return None;
    }
    // The last operations take their own time.
    let services = result.kinds().map(|(_, kind)| &kind.service).filter(|service| service.count > 0);
    let own_ns = 2.0 * services.map(|service| service.min_ns).min().unwrap_or(0) as f64;
    let (reached, asked) = (result.iops(), result.iops() * elapsed_ns / (due_ns + own_ns).min(elapsed_ns));
    let in_flight = result.in_flight();
    (asked > 0.0 && asked.is_finite()).then_some(ReachedRate {
        asked,
        reached,
        in_bytes: false,
        kind: None,
        in_flight,
        chance: 0.0,
    })
}

fn paces(facts: Facts<'_>) -> impl Iterator<Item = ReachedRate> {
    let (declared, result) = (facts.declared(), facts.result());
    let active = DataKind::ALL.into_iter().filter(move |&kind| result.kind(kind).ios > 0);
    active.filter_map(move |kind| {
        let done = result.kind(kind);
        let in_flight = Some(done.served().sum_ns() / done.runtime_ns as f64).filter(|in_flight| *in_flight > 0.0);
        // Three standard deviations of the number of arrivals.
        let chance = if declared.poisson { 3.0 / (done.ios as f64).sqrt() } else { 0.0 };
        let rate = |asked: Option<u64>, reached, in_bytes| {
            let asked = asked? as f64;
            Some(ReachedRate { asked, reached, in_bytes, kind: Some(kind), in_flight, chance })
        };
        rate(*declared.rate_iops.get(kind), done.iops(), false)
            .or_else(|| rate(*declared.rate_bytes.get(kind), done.bytes_per_second(), true))
            .filter(|pace| pace.asked > 0.0)
    })
}

fn response_mean_ns(facts: Facts<'_>) -> Option<f64> {
    let responses = || facts.result().kinds().map(|(_, result)| &result.response);
    let count: u64 = responses().map(|response| response.count).sum();
    (count > 0).then(|| responses().map(record::LatencyStats::sum_ns).sum::<f64>() / count as f64)
}

/// Checks the generator's lateness, which is part of every response. From a tenth of it users should know, from a half
/// it dominates the measurement.
pub(super) fn lateness(facts: Facts<'_>) -> Option<Finding> {
    let (late, response) = (facts.result().lateness.mean_ns, response_mean_ns(facts)?);
    if late < 10_000.0 || late < 0.1 * response {
        return None;
    }
    let severity = if late >= 0.5 * response { Severity::Distrust } else { Severity::Warning };
    let finding = Finding::new(Code::LatenessSignificant, severity)
        .with(Quantity::LatenessMean, late, EvidenceSource::Counters)
        .with(Quantity::ResponseMean, response, EvidenceSource::Counters)
        .remedy(spread(facts));
    Some(finding)
}
