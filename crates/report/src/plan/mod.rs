//! Purchase plans as text, Markdown, CSV, JSON, an HTML page and a chart.

mod answer;
mod chart;
pub(crate) mod current;
pub(crate) mod emit;
mod figures;
mod html;
pub(crate) mod needs;
mod tables;
mod text;
pub(crate) mod trace;

pub(crate) use chart::svg;
pub(crate) use html::page;
pub(crate) use tables::{csv, json};
pub(crate) use text::text;
