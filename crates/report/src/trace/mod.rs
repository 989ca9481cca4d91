//! Characteristics of a trace as text, Markdown, JSON and an HTML page.

pub(crate) mod answer;
mod job;
mod json;
mod meanings;
mod sentences;
mod tables;
mod text;
mod warnings;

pub use job::job_comment;
pub(crate) use json::json;
pub(crate) use meanings::trace_findings_markdown;
pub(crate) use sentences::figures;
pub(crate) use sentences::{advice, severity, statement};
pub(crate) use sentences::{rates, summary, window_words};
pub(crate) use tables::TraceTable;
pub(crate) use text::markdown;
pub(crate) use text::{copied, facts, text};
pub(crate) use warnings::warnings;

/// Returns the tables that have rows: those of the load, and those of its job.
pub(crate) fn tables(study: &trace::TraceStudy) -> Vec<TraceTable> {
    let of_job = job::job_tables(study).into_iter().filter(|table| !table.rows.is_empty());
    tables::load_tables(study).into_iter().chain(of_job).collect()
}

/// Formats a number of requests.
fn requests(number: u64) -> String {
    units::counted(number, "request")
}
