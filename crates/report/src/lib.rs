//! Output of every command: text, tables, pages, charts, and formats for programs.
//!
//! Functions take data and return text. [`text()`] prints a [`record::Run`] and the findings of [`analyse`], ending
//! with the verdict; [`json()`] is Fathom's own format; [`fio`] has fio's formats; [`csv()`], [`markdown()`] and
//! [`open_metrics()`] are tables. [`compare`] and [`gate`] print comparisons and checked assertions; [`suite`] and
//! [`sweep`] published procedures and the knee; [`mod@plan`] purchase plans; [`catalog`] modelled volumes; [`runs`]
//! saved runs; [`serve`] the statistics of a server. The sentences of findings, which are data elsewhere, are in the
//! module `words`.
//!
//! What is *not* here: statistics (`record` and `analyse` have them; this crate scales units), the store and the server
//! (their data comes in as plain values), files, terminals, the environment, and diagnostics about job files.

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
mod events;
mod explain;
pub mod fio;
pub mod gate;
pub mod grid;
pub mod html;
mod openmetrics;
mod own;
mod page;
pub mod plan;
pub mod preview;
pub mod progress;
mod repeats;
pub mod runs;
pub mod serve;
mod sharded;
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
pub use doctor::{Diagnosis, doctor_checks};
pub(crate) use doctor::{doctor_json, doctor_page, doctor_text};
pub use document::{ResultDocument, ResultFormat, formats_of};
pub use events::{Event, JobEnd};
pub use explain::Explained;
pub use explain::findings_markdown;
pub(crate) use explain::{explain_json, explain_page, explain_text};
pub use openmetrics::{Metric, MetricKind, OpenMetrics, label, of_runs};
pub use own::json;
pub use repeats::RepeatsDocument;
pub(crate) use repeats::{repeats_csv, repeats_json, repeats_markdown, repeats_text};
pub use sharded::Sharded;
pub use sheet::Tone;
pub use sheet::{Sheet, SheetStyle};
pub use stuck::stuck_lines;
pub use tables::ReportedRun;
pub use tables::{csv, markdown, open_metrics};
pub(crate) use tables::{csv_of, markdown_of, open_metrics_of};
pub use text::text;
pub use trace::job_comment;
