//! Plans for several needs as text, Markdown, CSV, JSON and an HTML page: one total, a line for each need.

mod answer;
mod html;
mod tables;
mod text;

pub(crate) use answer::answer;
pub(crate) use html::page;
pub(crate) use tables::{csv, json};
pub(crate) use text::text;
