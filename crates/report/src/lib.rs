//! Bytes for people and programs.
//!
//! Everything here takes a [`record::Run`], what [`analyse`] found in it, or both, and returns text. [`text()`] is for
//! people at a terminal and ends with the verdict; [`json()`] is Fathom's own document; [`fio`] holds the formats that
//! programs which parse fio's output accept; [`csv()`], [`markdown()`] and [`open_metrics()`] are tables. [`compare`] and
//! [`gate`] tell how runs stand to each other and to what is expected of them. Findings are
//! data until they come here: their sentences are in one file, `words.rs`.
//!
//! What is *not* here: statistics (`record` and `analyse` have them; this crate scales units), files, terminals, the
//! environment, and the rendering of diagnostics about job files.

pub mod catalog;
pub mod chart;
mod civil;
pub mod compare;
mod doctor;
pub mod escape;
mod events;
mod explain;
pub mod fio;
pub mod gate;
mod grid;
pub mod html;
mod logs;
mod openmetrics;
mod own;
mod paint;
pub mod plan;
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
mod volume_terms;
mod words;

pub use doctor::{Diagnosis, doctor_checks, doctor_json, doctor_markdown, doctor_text};
pub use events::{Event, JobEnd};
pub use explain::{Explained, explain_json, explain_markdown, explain_text};
pub use grid::{GridPoint, grid_csv, grid_json, grid_markdown, grid_text};
pub use logs::{LogOptions, log};
pub use openmetrics::{Metric, MetricKind, OpenMetrics, label, of_runs};
pub use own::json;
pub use paint::Tone;
pub use repeats::{Repeats, repeats_csv, repeats_json, repeats_markdown, repeats_text};
pub use sheet::{Sheet, Style};
pub use stuck::stuck_lines;
pub use tables::{csv, csv_of, markdown, markdown_of, open_metrics, open_metrics_of};
pub use text::text;
pub use words::findings_markdown;
