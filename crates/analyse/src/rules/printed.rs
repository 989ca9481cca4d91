//! Rules for printed sums that differ from the sum of their parts.
//!
//! fio counts the parts at different moments: bytes at completion but operations at submission, submission latencies
//! before service latencies. So sums differ by rounding and by what was in flight at the start and the end. None of the
//! published outputs in `crates/record/tests/corpus` differs by more.

use record::{DataKind, Quote, Quoted};

use crate::facts::Facts;
use crate::{Code, EvidenceSource, Finding, Quantity, Severity};

/// Difference in units of the last digit that rounding does not explain.
const OFF: f64 = 0.9;

/// Truncation error of two latencies in whole microseconds.
const CUT_NS: f64 = 2_000.0;

/// Checks that bytes equal operations × block size, where all jobs of the result have that size.
pub(super) fn bytes(facts: Facts<'_>) -> Option<Finding> {
    if !facts.declared().mixed.is_empty() {
        return None;
    }
    DataKind::ALL.into_iter().find_map(|kind| {
        let result = facts.result().kind(kind);
        let sizes = facts.declared().sizes(kind);
        let whole = result.short_ios == 0 && result.drop_ios == 0 && facts.result().errors == 0;
        let printed = quote(facts, Quoted::Bytes, kind).filter(|_| whole && sizes.min > 0 && sizes.min == sizes.max)?;
        // In an excerpt without counts, operations are computed from the rate.
        quote(facts, Quoted::Operations, kind)?;
        let made = result.ios as f64 * f64::from(sizes.min);
        // The decimals of fio 2's sums can be wrong; its rate and runtime show that.
        let moved = |rate: &Quote, runtime: &Quote| (rate.value * runtime.value / 1e9, rate.step * runtime.value / 1e9);
        let by_rate = quote(facts, Quoted::BytesPerSecond, kind).zip(quote(facts, Quoted::RuntimeNs, kind));
        let is_moved = by_rate.map(|(rate, runtime)| moved(rate, runtime));
        if (printed.value - made).abs() < 10.0 * printed.step
            && is_moved.is_some_and(|(moved, step)| (moved - made).abs() <= step)
        {
            return None;
        }
        let in_flight = most_in_flight(facts) * f64::from(sizes.min);
        ((printed.value - made).abs() >= OFF * printed.step + in_flight).then(|| {
            let finding = disagree(printed, made).with(Quantity::SumTold, printed.value, EvidenceSource::Printed);
            finding.with(Quantity::SumMade, made, EvidenceSource::Counters)
        })
    })
}

/// Checks that total latency equals submission plus completion latency.
pub(super) fn latency(facts: Facts<'_>) -> Option<Finding> {
    DataKind::ALL.into_iter().find_map(|kind| {
        let printed = quote(facts, Quoted::LatencyMeanNs, kind)?;
        let parts = [Quoted::SubmissionMeanNs, Quoted::ServiceMeanNs].map(|what| quote(facts, what, kind));
        let [Some(submission), Some(service)] = parts else { return None };
        let made = submission.value + service.value;
        // Each of the three was rounded; fio 2 also truncates each latency to whole microseconds.
        let slack = OFF * (printed.step + submission.step + service.step) + CUT_NS;
        // A slow operation may count in one mean but not in the other.
        let result = facts.result().kind(kind);
        let slowest_ns = result.latency.max_ns.max(result.submission.max_ns) as f64;
        let slack = slack + most_in_flight(facts) * slowest_ns / result.ios.max(1) as f64;
        ((printed.value - made).abs() >= slack).then(|| {
            let finding = disagree(printed, made).with(Quantity::TimeTold, printed.value, EvidenceSource::Printed);
            finding.with(Quantity::TimeMade, made, EvidenceSource::Printed)
        })
    })
}

/// Returns the operations that one figure may count and another not: those in flight at the start and at the end.
fn most_in_flight(facts: Facts<'_>) -> f64 {
    facts.possible().unwrap_or(1.0).max(f64::from(facts.job.workers))
}

fn quote(facts: Facts<'_>, what: Quoted, kind: DataKind) -> Option<&Quote> {
    facts.job.quotes.iter().find(|quote| quote.what == what && quote.kind == Some(kind) && quote.of.is_none())
}

fn disagree(printed: &Quote, made: f64) -> Finding {
    /// Smaller relative differences affect no conclusion.
    const MATTERS: f64 = 0.005;
    let severity = if (printed.value / made - 1.0).abs() < MATTERS { Severity::Info } else { Severity::Warning };
    Finding::new(Code::FiguresDisagree, severity).about(&format!("line {}", printed.line))
}
