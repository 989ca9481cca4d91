//! Printed sums that do not equal the sum of their parts.
//!
//! fio counts the parts at different moments: bytes at completion and operations at submission, submission latencies before
//! service latencies. So they differ by what was in flight at the start and the end, and by rounding. None of the published
//! outputs in `crates/record/tests/corpus` differs by more.

use record::{DataKind, Quote, Quoted};

use crate::facts::Facts;
use crate::{Code, EvidenceSource, Finding, Quantity, Severity};

/// A sum that is off by this much of its last digit was not rounded to it.
const OFF: f64 = 0.9;

/// Truncation error of two latencies in whole microseconds.
const CUT_NS: f64 = 2_000.0;

/// Bytes that are not operations × block size.
pub(super) fn bytes(facts: Facts<'_>) -> Option<Finding> {
    DataKind::ALL.into_iter().find_map(|kind| {
        let result = facts.result().kind(kind);
        let sizes = facts.declared().sizes(kind);
        let whole = result.short_ios == 0 && result.drop_ios == 0 && facts.result().errors == 0;
        let told = quote(facts, Quoted::Bytes, kind).filter(|_| whole && sizes.min > 0 && sizes.min == sizes.max)?;
        // Of an excerpt without counts, operations were taken from the rate.
        quote(facts, Quoted::Operations, kind)?;
        let made = result.ios as f64 * f64::from(sizes.min);
        let in_flight = most_in_flight(facts) * f64::from(sizes.min);
        ((told.value - made).abs() >= OFF * told.step + in_flight).then(|| {
            disagree(told, made).with(Quantity::SumTold, told.value, EvidenceSource::Printed).with(
                Quantity::SumMade,
                made,
                EvidenceSource::Counters,
            )
        })
    })
}

/// A total latency that is not that of submission and that of completion.
pub(super) fn latency(facts: Facts<'_>) -> Option<Finding> {
    DataKind::ALL.into_iter().find_map(|kind| {
        let told = quote(facts, Quoted::LatencyMeanNs, kind)?;
        let parts = [Quoted::SubmissionMeanNs, Quoted::ServiceMeanNs].map(|what| quote(facts, what, kind));
        let [Some(submission), Some(service)] = parts else { return None };
        let made = submission.value + service.value;
        // Each of the three was rounded; version 2 cuts each latency to whole microseconds besides.
        let slack = OFF * (told.step + submission.step + service.step) + CUT_NS;
        // One of the slowest may count in one mean and not in another.
        let result = facts.result().kind(kind);
        let slowest_ns = result.latency.max_ns.max(result.submission.max_ns) as f64;
        let slack = slack + most_in_flight(facts) * slowest_ns / result.ios.max(1) as f64;
        ((told.value - made).abs() >= slack).then(|| {
            disagree(told, made).with(Quantity::TimeTold, told.value, EvidenceSource::Printed).with(
                Quantity::TimeMade,
                made,
                EvidenceSource::Printed,
            )
        })
    })
}

/// Operations that one figure may count and another not: those in flight at the start and at the end.
fn most_in_flight(facts: Facts<'_>) -> f64 {
    facts.declared().in_flight_possible.max(u64::from(facts.job.workers)) as f64
}

fn quote(facts: Facts<'_>, what: Quoted, kind: DataKind) -> Option<&Quote> {
    facts.job.quotes.iter().find(|quote| quote.what == what && quote.kind == Some(kind) && quote.of.is_none())
}

fn disagree(told: &Quote, made: f64) -> Finding {
    /// What is off by less tells of the text, and changes no conclusion.
    const MATTERS: f64 = 0.005;
    let severity = if (told.value / made - 1.0).abs() < MATTERS { Severity::Info } else { Severity::Warning };
    Finding::new(Code::FiguresDisagree, severity).about(&format!("line {}", told.line))
}
