//! The job language: text in, jobs or diagnostics out.

mod model;

pub use model::*;
