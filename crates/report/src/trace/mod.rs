//! Characteristics of a trace as text, Markdown, JSON and an HTML page.

mod figures;
mod headline;
mod job;
mod json;
mod markdown;
mod meanings;
mod sentences;
mod tables;
mod text;
mod warnings;

pub(crate) use figures::figures;
pub(crate) use headline::{rates, summary};
pub use job::job_comment;
pub(crate) use json::json;
pub(crate) use markdown::markdown;
pub(crate) use meanings::trace_findings_markdown;
pub(crate) use sentences::{advice, severity, statement};
pub(crate) use tables::TraceTable;
pub(crate) use text::{copied, facts, text};
pub(crate) use warnings::warnings;

/// Returns the tables that have rows: those of the load, and those of its job.
pub(crate) fn tables(study: &trace::TraceStudy) -> Vec<TraceTable> {
    let of_job = job::job_tables(study).into_iter().filter(|table| !table.rows.is_empty());
    tables::load_tables(study).into_iter().chain(of_job).collect()
}

/// Formats a number of requests.
fn requests(number: u64) -> String {
    if number == 1 { "1 request".to_owned() } else { format!("{} requests", units::grouped(number)) }
}
