//! Sums that were printed with their parts: tools compute both from the same counters, so they agree to the last digit.

use record::{Kind, Quote, Quoted};

use crate::facts::Facts;
use crate::{Code, Finding, Quantity, Severity, Source};

/// A sum that is off by this much of its last digit was not rounded to it.
const OFF: f64 = 0.9;

/// Bytes that are not operations × block size.
pub(super) fn bytes(facts: Facts<'_>) -> Option<Finding> {
    Kind::ALL.into_iter().find_map(|kind| {
        let result = facts.result().kind(kind);
        let sizes = facts.declared().sizes(kind);
        let whole = result.short_ios == 0 && result.drop_ios == 0 && facts.result().errors == 0;
        let told = quote(facts, Quoted::Bytes, kind).filter(|_| whole && sizes.min > 0 && sizes.min == sizes.max)?;
        let made = result.ios as f64 * f64::from(sizes.min);
        ((told.value - made).abs() >= OFF * told.step).then(|| {
            disagree(told, made).with(Quantity::SumTold, told.value, Source::Printed).with(
                Quantity::SumMade,
                made,
                Source::Counters,
            )
        })
    })
}

/// A total latency that is not that of submission and that of completion.
pub(super) fn latency(facts: Facts<'_>) -> Option<Finding> {
    Kind::ALL.into_iter().find_map(|kind| {
        let told = quote(facts, Quoted::LatencyMeanNs, kind)?;
        let parts = [Quoted::SubmissionMeanNs, Quoted::ServiceMeanNs].map(|what| quote(facts, what, kind));
        let [Some(submission), Some(service)] = parts else { return None };
        let made = submission.value + service.value;
        // Each of the three was rounded.
        let slack = OFF * (told.step + submission.step + service.step);
        ((told.value - made).abs() >= slack).then(|| {
            disagree(told, made).with(Quantity::TimeTold, told.value, Source::Printed).with(
                Quantity::TimeMade,
                made,
                Source::Printed,
            )
        })
    })
}

fn quote(facts: Facts<'_>, what: Quoted, kind: Kind) -> Option<&Quote> {
    facts.job.quotes.iter().find(|quote| quote.what == what && quote.kind == Some(kind) && quote.of.is_none())
}

fn disagree(told: &Quote, made: f64) -> Finding {
    /// What is off by less tells of the text, and changes no conclusion.
    const MATTERS: f64 = 0.005;
    let severity = if (told.value / made - 1.0).abs() < MATTERS { Severity::Info } else { Severity::Warning };
    Finding::new(Code::FiguresDisagree, severity).about(&format!("line {}", told.line))
}
