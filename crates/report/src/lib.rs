//! Output of every command: text, tables, pages, charts, and formats for programs.
//!
//! Functions take data, mostly of `results`, and return text. [`text()`] prints a [`record::Run`] and the findings of
//! [`analyse`], ending with the verdict; [`fio`] has fio's formats; [`csv()`], [`markdown()`] and [`open_metrics()`] are
//! tables. [`compare`] and [`gate`] print comparisons and checked assertions; [`suite`] and [`sweep`] published procedures
//! and the knee; [`mod@plan`] purchase plans; [`catalog`] modelled volumes; [`runs`] saved runs; [`serve`] the statistics
//! of a server. JSON is the serialization of the result itself, with sentences beside it where a document has them. The
//! sentences of findings, which are data elsewhere, are in the module `words`.
//!
//! What is *not* here: the results (`results`), statistics (`record` and `analyse` have them; this crate scales units), the
//! store and the server (their data comes in as plain values), files, terminals, the environment, and diagnostics about job
//! files. Only `cli` depends on this crate.

mod answer;
pub mod capture;
pub mod catalog;
mod chart;
mod civil;
pub mod compare;
mod diagnostics;
mod doctor;
mod document;
pub mod escape;
mod explain;
pub mod fio;
pub mod gate;
pub mod grid;
pub mod html;
mod page;
pub mod plan;
pub mod preview;
pub mod progress;
mod repeats;
pub mod runs;
pub mod serve;
mod sheet;
mod stuck;
pub mod suite;
pub mod sweep;
mod tables;
mod text;
mod trace;
mod volume_terms;
mod words;

pub use diagnostics::diagnostics_text;
pub use doctor::doctor_checks;
pub(crate) use doctor::{doctor_json, doctor_page, doctor_text};
pub use document::{ResultDocument, ResultFormat, formats_of};
pub use explain::findings_markdown;
pub(crate) use explain::{explain_json, explain_page, explain_text};
pub(crate) use repeats::{repeats_csv, repeats_markdown, repeats_text};
pub use sheet::Tone;
pub use sheet::{Sheet, SheetStyle};
pub use stuck::stuck_lines;
pub use tables::ReportedRun;
pub use tables::{csv, markdown, open_metrics};
pub(crate) use tables::{csv_of, markdown_of, open_metrics_of};
pub use text::text;
pub use trace::job_comment;

/// Returns the sentence of a finding about a job, with the remedy.
#[must_use]
pub fn finding_text(finding: &analyse::Finding, job: &record::JobResult) -> String {
    words::finding(finding, job)
}
