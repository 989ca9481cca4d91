//! Analysis of results: from numbers to findings.
//!
//! [`analyse`] reads a [`record::Run`] and determines for each job what limited it, whether its numbers are trustworthy
//! and what to change. The results are data: each [`Finding`] holds the figures that support it and their sources. The
//! criterion is Little's law: operations in flight = operations per second × mean time of an operation.
//!
//! A single run at one depth cannot distinguish a saturated device from one that would give more at a greater depth. In
//! that case the finding says so and names the experiment that would decide; it does not guess.
//!
//! [`doctor`] checks the settings of a host, from figures of `/sys` and `/proc`. [`compare`] compares a run, or repeats
//! of it, with a baseline, and [`gate`] judges it by assertions.
//!
//! Out of scope: prose (`report` words findings), access to files, and the choice of baselines.

mod answer;
mod code;
pub mod compare;
pub mod doctor;
mod evidence;
mod expectation;
mod explain;
mod facts;
mod finding;
pub mod gate;
mod hosts;
pub mod knee;
mod observation;
mod repeats;
mod rules;
mod student;
mod verdict;

pub use answer::{Answer, Limit, answer};
pub use code::Code;
pub use evidence::{Evidence, EvidenceSource, EvidenceUnit, Quantity};
pub use expectation::{CapKind, Expectation, ExpectedCap, ExpectedPoint, LargerFigure, LargerVolume};
pub use explain::{
    Explanation, PriceDifference, VolumeChange, explain_figures, explain_job, explain_observation, explain_together,
};
pub use finding::{Finding, Remedy, Severity};
pub use observation::ActiveIntervals;
pub use observation::Database;
pub use observation::{IntervalDemand, KnownFigure, Observation, averaged, has_others};
pub use repeats::{JobSpread, Spread, repeats};
pub use verdict::{Verdict, analyse, distrusted};
