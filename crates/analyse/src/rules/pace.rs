//! Rules for runs with a requested rate.

use record::{DataKind, ReplayRecord};

use crate::facts::Facts;
use crate::rules::deeper;
use crate::{Code, EvidenceSource, Finding, Quantity, Remedy, Severity};

/// Fraction of a rate from which it counts as reached.
const REACHED: f64 = 0.99;

/// A requested and an achieved rate.
struct ReachedRate {
    asked: f64,
    reached: f64,
    in_bytes: bool,
}

impl ReachedRate {
    fn evidence(&self, finding: Finding) -> Finding {
        let (asked, reached) = if self.in_bytes {
            (Quantity::ByteRateAsked, Quantity::ByteRateReached)
        } else {
            (Quantity::RateAsked, Quantity::RateReached)
        };
        finding.with(asked, self.asked, EvidenceSource::Job).with(reached, self.reached, EvidenceSource::Counters)
    }
}

/// Judges a requested rate: reached, out of reach of the queue, or missed for another reason. `None` without a rate.
pub(super) fn rate(facts: Facts<'_>) -> Option<Finding> {
    let worst = match &facts.job.replay {
        Some(replay) => of_replay(facts, replay)?,
        None => paces(facts).min_by(|a, b| (a.reached / a.asked).total_cmp(&(b.reached / b.asked)))?,
    };
    let missed = worst.reached < REACHED * worst.asked;
    // Operations in flight that all rates together need, by Little's law.
    let needed = facts.result().in_flight().filter(|_| worst.reached > 0.0);
    let needed = needed.map(|in_flight| in_flight * worst.asked / worst.reached);
    let possible = facts.possible();
    let finding = match needed {
        // A replay on a slow target has any number of requests in flight.
        Some(needed) if missed && possible.is_some_and(|possible| needed > possible) && facts.job.replay.is_none() => {
            Finding::new(Code::QueueTooShallow, Severity::Warning)
                .with(Quantity::InFlightNeeded, needed, EvidenceSource::LittlesLaw)
                .with(Quantity::InFlightPossible, possible, EvidenceSource::Job)
                // Twice the mean, because arrivals bunch up and slow operations occupy slots.
                .remedy(deeper(facts, facts.per_worker(2.0 * needed)))
        }
        _ if missed => Finding::new(Code::RateNotReached, Severity::Warning)
            .with(Quantity::CpuShare, facts.result().cpu_share(), EvidenceSource::ProcessorTime)
            .remedy(spread(facts)),
        _ => Finding::new(Code::RateKept, Severity::Info)
            .with(Quantity::InFlightAchieved, facts.result().in_flight(), EvidenceSource::LittlesLaw)
            .with(Quantity::ResponseMean, response_mean_ns(facts), EvidenceSource::Counters),
    };
    let service = facts.result().service_mean_ns();
    Some(worst.evidence(finding).with(Quantity::ServiceMean, service, EvidenceSource::Counters))
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
    (asked > 0.0 && asked.is_finite()).then_some(ReachedRate { asked, reached, in_bytes: false })
}

fn paces(facts: Facts<'_>) -> impl Iterator<Item = ReachedRate> {
    let (declared, result) = (facts.declared(), facts.result());
    let active = DataKind::ALL.into_iter().filter(move |&kind| result.kind(kind).ios > 0);
    active.filter_map(move |kind| {
        let done = result.kind(kind);
        let rate = |asked: Option<u64>, reached, in_bytes| {
            asked.map(|asked| ReachedRate { asked: asked as f64, reached, in_bytes })
        };
        rate(declared.rate_iops.of(kind), done.iops(), false)
            .or_else(|| rate(declared.rate_bytes.of(kind), done.bytes_per_second(), true))
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
