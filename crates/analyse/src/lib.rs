//! From numbers to findings.
//!
//! [`analyse`] reads a [`record::Run`] and says for each job what limited it, whether its numbers may be trusted, and
//! what to change: as data, each [`Finding`] with the figures it rests on and where they were read. The yardstick is
//! Little's law: operations in flight = operations per second × mean time of one.
//!
//! One run at one depth cannot tell a device at its limit from one that would give more at a greater depth. Where
//! that is so, the finding says it and names the experiment that would tell; it does not guess.
//!
//! [`doctor`] does the same for the settings of a host: figures of `/sys` and `/proc` in, findings out.
//!
//! [`compare`] holds a run, or repeats of it, against a baseline, and [`gate`] against what is expected of it.
//!
//! What is *not* here: a sentence (`report` words findings), a file, or which run is whose baseline.

mod code;
pub mod compare;
mod database;
pub mod doctor;
mod evidence;
mod expectation;
mod explain;
mod facts;
mod finding;
pub mod gate;
pub mod knee;
mod observation;
mod repeats;
mod rules;
mod student;
mod verdict;

pub use code::Code;
pub use database::Database;
pub use evidence::{Evidence, EvidenceSource, EvidenceUnit, Quantity};
pub use expectation::{CapKind, Expectation, ExpectedCap, ExpectedPoint, Larger};
pub use explain::{Explanation, explain_job, explain_observation, explain_together};
pub use finding::{Finding, Remedy, Severity};
pub use observation::{KnownFigure, Observation};
pub use repeats::{JobSpread, Spread, repeats};
pub use verdict::{Verdict, analyse, distrusted};
