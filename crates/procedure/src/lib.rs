//! Procedures of many runs that answer one question: the knee of a curve, a published benchmark, or whether depth or
//! device was the limit.
//!
//! Procedures decide on the next run and evaluate the previous ones. A [`Runner`](runner::Runner) executes them: the
//! same sweep searches a device or a model.
//!
//! Out of scope: running jobs, reading files and printing; [`ProcedureHost`] is the only interface to the program. The
//! search for a knee is `analyse::knee::search`, and `report` produces texts and pages.

pub mod current;
pub mod depth_probe;
pub mod expected;
pub mod explanation;
pub mod fleet_file;
pub mod grid;
mod host;
pub mod jobs;
pub mod needs;
pub mod plan_words;
pub mod purchase;
pub mod simulation;
pub mod suite;
pub mod sweep;
pub mod synthesis;
pub mod trace_explanation;
pub mod trace_purchase;

pub use host::{Parallel, ProcedureHost, ProcedureObserver};
