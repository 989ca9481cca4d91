//! Findings about runs with a rate.

use record::DataKind;

use crate::facts::Facts;
use crate::rules::deeper;
use crate::{Code, EvidenceSource, Finding, Quantity, Remedy, Severity};

/// A rate counts as reached from this share of it on.
const REACHED: f64 = 0.99;

/// A rate, as asked for and as reached.
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

/// The result of a rate: kept, out of reach of the queue, or not reached for another reason. `None` without a rate.
pub(super) fn rate(facts: Facts<'_>) -> Option<Finding> {
    let worst = paces(facts).min_by(|a, b| (a.reached / a.asked).total_cmp(&(b.reached / b.asked)))?;
    let missed = worst.reached < REACHED * worst.asked;
    let (needed, possible) = (needed(facts, &worst), facts.declared().in_flight_possible as f64);
    let finding = match needed {
        Some(needed) if missed && needed > possible => Finding::new(Code::QueueTooShallow, Severity::Warning)
            .with(Quantity::InFlightNeeded, needed, EvidenceSource::LittlesLaw)
            .with(Quantity::InFlightPossible, possible, EvidenceSource::Job)
            // Twice what the mean needs: arrivals come in bunches, and the slowest operations hold their places.
            .remedy(deeper(facts, facts.per_worker(2.0 * needed))),
        _ if missed => Finding::new(Code::RateNotReached, Severity::Warning)
            .with(Quantity::CpuShare, facts.result().cpu_share(), EvidenceSource::ProcessorTime)
            .remedy(spread(facts)),
        _ => Finding::new(Code::RateKept, Severity::Info)
            .with_known(Quantity::InFlightAchieved, facts.result().in_flight(), EvidenceSource::LittlesLaw)
            .with_known(Quantity::ResponseMean, response_mean_ns(facts), EvidenceSource::Counters),
    };
    let service = facts.result().service_mean_ns();
    Some(worst.evidence(finding).with_known(Quantity::ServiceMean, service, EvidenceSource::Counters))
}

/// More workers help a generator whose processor is busy, and no other.
fn spread(facts: Facts<'_>) -> Option<Remedy> {
    facts.more_workers().filter(|_| facts.cpu_bound()).map(|numjobs| Remedy::AddWorkers { numjobs })
}

fn paces(facts: Facts<'_>) -> impl Iterator<Item = ReachedRate> {
    let (declared, result) = (facts.declared(), facts.result());
    let active = DataKind::ALL.into_iter().filter(move |&kind| result.kind(kind).ios > 0);
    active.filter_map(move |kind| {
        let done = result.kind(kind);
        let asked = |rate: u64| rate as f64;
        let ops = declared.rate_iops.of(kind).map(|rate| ReachedRate {
            asked: asked(rate),
            reached: done.iops(),
            in_bytes: false,
        });
        let bytes = || {
            let rate = declared.rate_bytes.of(kind)?;
            Some(ReachedRate { asked: asked(rate), reached: done.bytes_per_second(), in_bytes: true })
        };
        ops.or_else(bytes).filter(|pace| pace.asked > 0.0)
    })
}

/// Operations in flight that all rates together need, by Little's law.
fn needed(facts: Facts<'_>, worst: &ReachedRate) -> Option<f64> {
    let in_flight = facts.result().in_flight()?;
    (worst.reached > 0.0).then(|| in_flight * worst.asked / worst.reached)
}

fn response_mean_ns(facts: Facts<'_>) -> Option<f64> {
    let responses = || facts.result().kinds().map(|(_, result)| &result.response);
    let count: u64 = responses().map(|response| response.count).sum();
    (count > 0).then(|| responses().map(record::LatencyStats::sum_ns).sum::<f64>() / count as f64)
}

/// Lateness of the generator is part of every response. From a tenth on it should be known, from a half on it is
/// what was measured.
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
