//! Assertions about a run, written as `read.iops>=150k`, `write.lat.p99<=2ms`, `findings.warnings==0` or
//! `job(log).write.bw>=0.98*baseline`.
//!
//! [`Assertion::parse`] parses one and [`Assertion::judge`] judges runs by it. An assertion that cannot be judged does
//! not pass. One relative to a baseline fails only if noise does not explain the difference.

mod judge;
mod parse;

use std::fmt;

use record::Figure;
use schemars::JsonSchema;
use serde::Serialize;

pub use judge::{GateInputs, GateOutcome, JudgedAssertion, UnknownReason};

use crate::Code;

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Assertion {
    /// Name of the job; `None` for all jobs together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Judged quantity.
    pub subject: AssertionSubject,
    /// Required relation to the bound.
    pub relation: Relation,
    pub bound: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AssertionSubject {
    /// A figure: per second, in bytes per second or in nanoseconds.
    Figure(Figure),
    Findings(GateCount),
}

/// Which findings are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateCount {
    /// Findings of severity warning or higher.
    Warnings,
    /// Findings of severity distrust.
    Distrusts,
    /// Findings with one code.
    Code(Code),
}

/// Relation of a value to a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// All relations by their operators, longer operators before their prefixes.
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// A value: per second, in bytes per second, in nanoseconds, or a number of findings.
    Value(f64),
    /// A multiple of the baseline's value.
    OfBaseline(f64),
}

impl Assertion {
    /// Reports whether the assertion is relative to a baseline.
    #[must_use]
    pub fn needs_baseline(&self) -> bool {
        matches!(self.bound, Bound::OfBaseline(_))
    }
}

/// Formats the assertion so that it can be parsed again, in full precision and base units.
impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(job) = &self.job {
            let quote = if job.contains(')') || job.trim() != job { "\"" } else { "" };
            write!(f, "job({quote}{job}{quote}).")?;
        }
        write!(f, "{}{}", self.subject, self.relation)?;
        match (self.bound, self.subject) {
            (Bound::OfBaseline(factor), _) => write!(f, "{factor}*baseline"),
            (Bound::Value(value), AssertionSubject::Figure(figure)) => {
                write!(f, "{value}{}", figure.quantity.base_unit())
            }
            (Bound::Value(value), AssertionSubject::Findings(_)) => write!(f, "{value}"),
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
