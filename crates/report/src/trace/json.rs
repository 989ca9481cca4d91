//! Characteristics of a trace as JSON.

use results::trace::{DescribedFinding, TraceBounds, TraceDevice, TraceDocument, TraceSource};
use trace::{TraceEnd, TraceFinding, TraceStudy, TraceWindow};

use super::{advice, figures, rates, severity, statement, summary, warnings};
use crate::words::severity_name;

/// Returns everything that is known of the trace.
pub(crate) fn json(report: &TraceStudy) -> String {
    let (condition, info, window) = (&report.condition, &report.condition.info, report.window);
    let bounds = TraceBounds { from_ns: window.from_ns, end_ns: Some(window.end_ns).filter(|end| *end < u64::MAX) };
    results::stored::pretty(&TraceDocument {
        fathom_trace: TraceDocument::SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        name: &report.name,
        answer: super::answer::answer(report),
        summary: summary(report),
        rates: rates(report),
        source: TraceSource {
            program: &info.source,
            format: condition.format,
            resolution_ns: condition.format.resolution_ns(),
            started_unix_ms: info.started_unix_ms,
            end: match condition.end {
                TraceEnd::Complete => "complete",
                TraceEnd::Unfinished => "unfinished",
                TraceEnd::Truncated { .. } => "truncated",
            },
            requests_read: condition.requests,
            requests_lost: info.lost,
            requests_missing: condition.missing,
            errors: condition.error_count,
            is_anonymous: info.is_anonymous,
        },
        window: (window != TraceWindow::ALL).then_some(bounds),
        is_incomplete: condition.is_incomplete(),
        warnings: warnings(report).into_iter().map(|warning| warning.text).collect(),
        findings: report.findings.iter().map(finding).collect(),
        copies: &report.copies,
        job: report.job.as_deref().map(super::job::document),
        process_names: &info.processes,
        device_names: info.devices.iter().map(|(name, bytes)| TraceDevice { name, bytes: *bytes }).collect(),
        profile: &report.profile,
    })
}

fn finding(finding: &TraceFinding) -> DescribedFinding {
    let number = |value: f64| if value.fract() == 0.0 && value >= 0.0 { (value as u64).into() } else { value.into() };
    DescribedFinding {
        code: finding.code(),
        severity: severity_name(severity(finding)),
        statement: statement(finding),
        advice: advice(finding),
        figures: figures(finding).iter().map(|figure| (figure.name.to_owned(), number(figure.value))).collect(),
    }
}
