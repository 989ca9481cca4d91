//! Characteristics of a trace as JSON.

use serde::Serialize;
use serde_json::{Map, Value};
use trace::{TraceCopy, TraceEnd, TraceFinding, TraceFormat, TraceProfile, TraceStudy, TraceWindow};

use super::job::JobForm;
use super::{advice, figures, rates, severity, statement, summary, warnings};
use crate::words::severity_name;
use results::answer::Answer;

/// Version of the document's layout.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct TraceEnvelope<'a> {
    /// Layout version; its key identifies the document.
    fathom_trace: u32,
    version: &'static str,
    answer: Answer,
    name: &'a str,
    summary: String,
    rates: String,
    source: SourceForm<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<WindowBounds>,
    /// Whether requests are missing.
    is_incomplete: bool,
    warnings: Vec<String>,
    findings: Vec<FindingForm>,
    #[serde(skip_serializing_if = "<[TraceCopy]>::is_empty")]
    copies: &'a [TraceCopy],
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<JobForm<'a>>,
    process_names: &'a [String],
    device_names: Vec<DeviceNameForm<'a>>,
    #[serde(flatten)]
    profile: &'a TraceProfile,
}

#[derive(Serialize)]
struct SourceForm<'a> {
    program: &'a str,
    format: TraceFormat,
    resolution_ns: u64,
    started_unix_ms: Option<u64>,
    end: &'static str,
    requests_read: u64,
    requests_lost: Option<u64>,
    requests_missing: u64,
    errors: u64,
    is_anonymous: bool,
}

#[derive(Serialize)]
struct WindowBounds {
    from_ns: u64,
    end_ns: Option<u64>,
}

#[derive(Serialize)]
struct FindingForm {
    code: &'static str,
    severity: &'static str,
    statement: String,
    advice: &'static str,
    figures: Map<String, Value>,
}

#[derive(Serialize)]
struct DeviceNameForm<'a> {
    name: &'a str,
    bytes: Option<u64>,
}

/// Returns everything that is known of the trace.
pub(crate) fn json(report: &TraceStudy) -> String {
    let (condition, info, window) = (&report.condition, &report.condition.info, report.window);
    let bounds = WindowBounds { from_ns: window.from_ns, end_ns: Some(window.end_ns).filter(|end| *end < u64::MAX) };
    results::stored::pretty(&TraceEnvelope {
        fathom_trace: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        name: &report.name,
        answer: super::answer::answer(report),
        summary: summary(report),
        rates: rates(report),
        source: SourceForm {
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
        job: report.job.as_deref().map(JobForm::new),
        process_names: &info.processes,
        device_names: info.devices.iter().map(|(name, bytes)| DeviceNameForm { name, bytes: *bytes }).collect(),
        profile: &report.profile,
    })
}

fn finding(finding: &TraceFinding) -> FindingForm {
    let number = |value: f64| if value.fract() == 0.0 && value >= 0.0 { (value as u64).into() } else { value.into() };
    FindingForm {
        code: finding.code(),
        severity: severity_name(severity(finding)),
        statement: statement(finding),
        advice: advice(finding),
        figures: figures(finding).iter().map(|figure| (figure.name.to_owned(), number(figure.value))).collect(),
    }
}
