//! What was found and what is wanted, in words.

use analyse::doctor::{Check, Figure, Finding, Purpose, Value, Want};
use units::{Bytes, count, grouped};

/// What was found, all figures in a row: `1 hardware queue, 2 CPUs`.
pub(super) fn found(finding: &Finding) -> String {
    let mut text = String::new();
    for figure in &finding.found {
        // `12 free of 16`
        let gap = if text.is_empty() {
            ""
        } else if figure.name.ends_with(" of") {
            " "
        } else {
            ", "
        };
        text.push_str(gap);
        text.push_str(&one(figure, finding.check));
    }
    text
}

fn one(figure: &Figure, check: Check) -> String {
    let (name, value) = (&figure.name, value(&figure.value, check));
    match (&figure.value, name.as_str()) {
        (_, "") => value,
        (Value::Switch(true), name) => name.to_owned(),
        (Value::Switch(false), name) => format!("no {name}"),
        (Value::PerSecond(_) | Value::BytesPerSecond(_), name) => format!("{name} {value}"),
        (_, "weight" | "missing" | "limit" | "background" | "granularity") => format!("{name} {value}"),
        (_, name) if name.ends_with(" of") => format!("{name} {value}"),
        (_, name) => format!("{value} {name}"),
    }
}

/// `1.8`, and `2` for what is whole.
fn tenths(value: f64) -> String {
    format!("{value:.1}").trim_end_matches(".0").to_owned()
}

/// A value with its unit.
fn value(value: &Value, check: Check) -> String {
    match value {
        Value::Word(word) => super::clean(word),
        Value::Count(n) => grouped(*n),
        Value::Number(n) => tenths(*n),
        Value::Bytes(bytes) => Bytes::new(*bytes).to_string(),
        Value::Switch(on) => switch(*on, check).to_owned(),
        Value::Share(share) => format!("{:.0}%", (share * 100.0).floor()),
        Value::PerSecond(rate) => format!("{}/s", count(*rate as f64)),
        Value::BytesPerSecond(rate) => format!("{}/s", Bytes::new(*rate)),
    }
}

fn switch(on: bool, check: Check) -> &'static str {
    match (check, on) {
        (Check::Alignment, true) => "aligned",
        (Check::Rotational, true) => "yes",
        (Check::Rotational, false) => "no",
        (_, true) => "on",
        (_, false) => "off",
    }
}

/// What would be good: for one purpose, or for both where they differ.
pub(super) fn wanted(finding: &Finding, purpose: Option<Purpose>) -> Option<String> {
    let of = |purpose| want(&finding.side(purpose).wanted, finding.check);
    if let Some(purpose) = purpose {
        return of(purpose);
    }
    match (of(Purpose::Iops), of(Purpose::Throughput)) {
        (Some(iops), Some(throughput)) if iops == throughput => Some(iops),
        (Some(iops), Some(throughput)) => Some(format!("{iops} (for IOPS); {throughput} (for throughput)")),
        (Some(iops), None) => Some(format!("{iops} (for IOPS)")),
        (None, Some(throughput)) => Some(format!("{throughput} (for throughput)")),
        (None, None) => None,
    }
}

fn want(want: &Want, check: Check) -> Option<String> {
    let value = |of: &Value| match (of, check) {
        // Of discards anything at all.
        (Value::Bytes(1), Check::DiscardSupport) => "any".to_owned(),
        (of, _) => value(of, check),
    };
    Some(match want {
        Want::Any => return None,
        Want::Is(of) => value(of),
        Want::OneOf(words) => listed(words),
        Want::AtLeast(of) if value(of) == "any" => "any".to_owned(),
        Want::AtLeast(of) => format!("at least {}", value(of)),
        Want::AtMost(of) => format!("at most {}", value(of)),
        Want::MultipleOf(of) => match check {
            Check::Alignment if matches!(of, Value::Count(_)) => format!("a multiple of {} sectors", value(of)),
            _ => format!("a multiple of {}", value(of)),
        },
    })
}

/// `a, b or c`
fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
