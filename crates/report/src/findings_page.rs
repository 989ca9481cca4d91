//! The page of all findings, `docs/findings.md`.

/// Returns the page of all findings in Markdown: of runs, then of traces.
#[must_use]
pub fn findings_markdown() -> String {
    crate::words::run_findings_markdown() + &crate::trace::trace_findings_markdown()
}
