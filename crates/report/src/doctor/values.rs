//! Found and wanted values of checks as text.

use analyse::doctor::{Check, DoctorFigure, DoctorFinding, DoctorValue, Purpose, Want};
use units::{Bytes, count, grouped};

use crate::words::joined;

/// Formats the found figures of a check: `1 hardware queue, 2 CPUs`.
pub(super) fn found(finding: &DoctorFinding) -> String {
    let mut text = String::new();
    for figure in &finding.found {
        // The names of some figures join them to the next: `12 free of 16`.
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

fn one(figure: &DoctorFigure, check: Check) -> String {
    let (name, value) = (&figure.name, value(&figure.value, check));
    match (&figure.value, name.as_str()) {
        (_, "") => value,
        (DoctorValue::Switch(true), "it says") => "as reported".to_owned(),
        (DoctorValue::Switch(true), name) => name.to_owned(),
        (DoctorValue::Switch(false), name) => format!("no {name}"),
        (DoctorValue::PerSecond(_) | DoctorValue::BytesPerSecond(_), name) => format!("{name} {value}"),
        (_, "weight" | "missing" | "limit" | "background" | "granularity") => format!("{name} {value}"),
        (_, name) if name.ends_with(" of") => format!("{name} {value}"),
        (_, name) => format!("{value} {name}"),
    }
}

/// Formats a number with one decimal, or none if it is zero: `1.8`, `2`.
fn tenths(value: f64) -> String {
    format!("{value:.1}").trim_end_matches(".0").to_owned()
}

/// Formats a value with its unit.
fn value(value: &DoctorValue, check: Check) -> String {
    match value {
        DoctorValue::Word(word) => super::clean(word),
        DoctorValue::Count(n) => grouped(*n),
        DoctorValue::Number(n) => tenths(*n),
        DoctorValue::Bytes(bytes) => Bytes::new(*bytes).to_string(),
        DoctorValue::Switch(on) => switch(*on, check).to_owned(),
        DoctorValue::Share(share) => format!("{:.0}%", (share * 100.0).floor()),
        DoctorValue::PerSecond(rate) => format!("{}/s", count(*rate as f64)),
        DoctorValue::BytesPerSecond(rate) => format!("{}/s", Bytes::new(*rate)),
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

/// Formats the wanted value: for one purpose, or for both if they differ.
pub(super) fn wanted(finding: &DoctorFinding, purpose: Option<Purpose>) -> Option<String> {
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
    let value = |of: &DoctorValue| match (of, check) {
        // A discard limit of one byte means that any discard support suffices.
        (DoctorValue::Bytes(1), Check::DiscardSupport) => "any".to_owned(),
        (of, _) => value(of, check),
    };
    Some(match want {
        Want::Any => return None,
        Want::Is(of) => value(of),
        Want::OneOf(words) => joined(words, "or"),
        Want::AtLeast(of) if value(of) == "any" => "any".to_owned(),
        Want::AtLeast(of) => format!("at least {}", value(of)),
        Want::AtMost(of) => format!("at most {}", value(of)),
        Want::MultipleOf(of) => match check {
            Check::Alignment if matches!(of, DoctorValue::Count(_)) => format!("a multiple of {} sectors", value(of)),
            _ => format!("a multiple of {}", value(of)),
        },
    })
}
