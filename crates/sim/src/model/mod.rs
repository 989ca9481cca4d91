//! Runs jobs on modelled volumes, in virtual or in real time.

mod assumptions;
mod checks;
mod grouped;
mod hosted;
mod placement;
mod results;
mod runner;
mod volumes;

pub use assumptions::merging_notes;
pub use runner::{ModelRunner, SharedRecorder};
pub use volumes::{ReadFile, Use, used, with_key};
