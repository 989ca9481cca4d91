//! What is expected of a run, as one line: `read.iops>=150k`, `write.lat.p99<=2ms`, `findings.warnings==0`,
//! `job(log).write.bw>=0.98*baseline`.
//!
//! [`Assertion::parse`] reads it and [`Assertion::judge`] holds a run against it. What cannot be told is no pass. Where
//! a figure is held against a baseline, it fails only where chance does not explain it.

mod judge;
mod parse;

use std::fmt;
use std::ops::Range;

use record::Figure;
use serde::Serialize;

pub use judge::{GateInputs, GateOutcome, JudgedAssertion, UnknownReason};

use crate::Code;

/// One expectation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assertion {
    /// The job it is about; `None` for all of them together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// What is looked at.
    pub subject: AssertionSubject,
    /// How it should stand to the bound.
    pub relation: Relation,
    /// The bound.
    pub bound: Bound,
}

/// The subject of an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AssertionSubject {
    /// A figure: per second, in bytes per second or in nanoseconds.
    Figure(Figure),
    /// How many findings there are.
    Findings(GateCount),
}

/// Which findings are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateCount {
    /// Those that say that the run was not what was asked for, or worse.
    Warnings,
    /// Those that say that the numbers do not mean what they seem to.
    Distrusts,
    /// Those of one name.
    Code(Code),
}

/// Relation of a value to a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// `>=`
    AtLeast,
    /// `<=`
    AtMost,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `>`
    More,
    /// `<`
    Less,
}

impl Relation {
    /// All of them as they are written, longer signs before those that they begin with.
    const ALL: [(&str, Self); 6] = [
        (">=", Self::AtLeast),
        ("<=", Self::AtMost),
        ("==", Self::Equal),
        ("!=", Self::Unequal),
        (">", Self::More),
        ("<", Self::Less),
    ];
}

/// The bound of an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// A value: per second, in bytes per second, in nanoseconds or a number of findings.
    Value(f64),
    /// So many times what the baseline has.
    OfBaseline(f64),
}

/// A syntax error of an assertion, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertionError {
    /// The bytes that are meant; at the end of the text an empty range.
    pub at: Range<usize>,
    /// What is wrong.
    pub what: String,
    /// What to write instead.
    pub remedy: String,
}

impl Assertion {
    /// Reads one.
    ///
    /// # Errors
    ///
    /// The first fault with its place and remedy.
    pub fn parse(text: &str) -> Result<Self, AssertionError> {
        parse::parse(text)
    }

    /// Whether it takes a baseline to judge by it.
    #[must_use]
    pub fn needs_baseline(&self) -> bool {
        matches!(self.bound, Bound::OfBaseline(_))
    }
}

/// As it can be read again, in full digits and base units.
impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(job) = &self.job {
            let quote = if job.contains(')') || job.trim() != job { "\"" } else { "" };
            write!(f, "job({quote}{job}{quote}).")?;
        }
        write!(f, "{}{}", self.subject, self.relation)?;
        match self.bound {
            Bound::Value(value) => write!(f, "{value}{}", self.subject.base_unit()),
            Bound::OfBaseline(factor) => write!(f, "{factor}*baseline"),
        }
    }
}

impl AssertionSubject {
    const fn base_unit(self) -> &'static str {
        match self {
            Self::Figure(figure) => figure.quantity.base_unit(),
            Self::Findings(_) => "",
        }
    }
}

impl fmt::Display for AssertionSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Figure(figure) => figure.fmt(f),
            Self::Findings(GateCount::Warnings) => f.write_str("findings.warnings"),
            Self::Findings(GateCount::Distrusts) => f.write_str("findings.distrusts"),
            Self::Findings(GateCount::Code(code)) => write!(f, "findings.{}", code.name()),
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = Self::ALL.iter().find(|(_, relation)| relation == self).map_or("", |(sign, _)| sign);
        f.write_str(sign)
    }
}
