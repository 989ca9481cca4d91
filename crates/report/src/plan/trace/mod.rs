//! Purchase plans for a load that is known as a trace: text, Markdown, CSV, JSON, an HTML page and a chart.

mod answer;
mod chart;
mod figures;
mod html;
mod tables;
mod text;

pub(crate) use chart::svg;
pub(crate) use html::page;
pub(crate) use tables::{csv, document, json};
pub(crate) use text::text;
