//! A run held against an expectation.

use record::{Figure, JobResult, Run};
use serde::Serialize;

use super::{Bound, Counted, Expectation, Relation, Subject};
use crate::{Finding, Severity, Verdict};

/// Figures that are this close are equal: they are quotients.
const EQUAL: f64 = 1e-9;

/// What became of an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// Whether it holds.
    pub outcome: Outcome,
    /// What the run has, in the unit of the bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
    /// What it was held against, by the baseline's figure where that is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<f64>,
    /// How far the run is from the bound, in per cent of it: above zero on the right side. `None` of equality, and of
    /// a bound of nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_percent: Option<f64>,
}

/// Whether an expectation holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It holds.
    Passed,
    /// It does not.
    Failed,
    /// It cannot be told, which is no pass.
    Unknown(Unknown),
}

/// Why an expectation cannot be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unknown {
    /// The run has no job of that name.
    NoSuchJob,
    /// The run does not have the figure.
    NotMeasured,
    /// There is no baseline.
    NoBaseline,
    /// The baseline does not have the job or the figure.
    NotInBaseline,
}

impl Expectation {
    /// Holds a run with what was found about its jobs against it. Findings of the baseline play no part.
    #[must_use]
    pub fn judge(&self, run: &Run, verdicts: &[Verdict], baseline: Option<&Run>) -> Judged {
        let measured = self.measured(run, verdicts);
        let bound = self.bound_by(baseline);
        let outcome = match (measured, bound) {
            (Err(reason), _) | (_, Err(reason)) => Outcome::Unknown(reason),
            (Ok(measured), Ok(bound)) if self.relation.holds(measured, bound) => Outcome::Passed,
            _ => Outcome::Failed,
        };
        let (measured, bound) = (measured.ok(), bound.ok());
        let margin_percent = measured.zip(bound).and_then(|(measured, bound)| self.relation.margin(measured, bound));
        Judged { outcome, measured, bound, margin_percent }
    }

    fn measured(&self, run: &Run, verdicts: &[Verdict]) -> Result<f64, Unknown> {
        let places = self.places(run);
        if places.is_empty() && self.job.is_some() {
            return Err(Unknown::NoSuchJob);
        }
        match self.subject {
            Subject::Figure(figure) => self.figure(figure, run).ok_or(Unknown::NotMeasured),
            Subject::Findings(counted) => {
                let about = verdicts.iter().filter(|verdict| places.contains(&verdict.job));
                Ok(about.flat_map(Verdict::findings).filter(|finding| counted.has(finding)).count() as f64)
            }
        }
    }

    /// The jobs it is about, by their places.
    fn places(&self, run: &Run) -> Vec<usize> {
        let named = |job: &JobResult| self.job.as_ref().is_none_or(|name| job.name == *name);
        run.jobs.iter().enumerate().filter(|(_, job)| named(job)).map(|(place, _)| place).collect()
    }

    fn figure(&self, figure: Figure, run: &Run) -> Option<f64> {
        let jobs: Vec<&JobResult> = self.places(run).into_iter().map(|place| &run.jobs[place]).collect();
        figure.of_jobs(&jobs)
    }

    fn bound_by(&self, baseline: Option<&Run>) -> Result<f64, Unknown> {
        match (self.bound, self.subject) {
            (Bound::Value(value), _) => Ok(value),
            (Bound::OfBaseline(factor), Subject::Figure(figure)) => {
                let baseline = baseline.ok_or(Unknown::NoBaseline)?;
                Ok(factor * self.figure(figure, baseline).ok_or(Unknown::NotInBaseline)?)
            }
            (Bound::OfBaseline(_), Subject::Findings(_)) => Err(Unknown::NotInBaseline),
        }
    }
}

impl Counted {
    fn has(self, finding: &Finding) -> bool {
        match self {
            Self::Warnings => finding.severity >= Severity::Warning,
            Self::Distrusts => finding.severity == Severity::Distrust,
            Self::Code(code) => finding.code == code,
        }
    }
}

impl Relation {
    fn holds(self, measured: f64, bound: f64) -> bool {
        let equal = (measured - bound).abs() <= EQUAL * bound.abs();
        match self {
            Self::AtLeast => measured >= bound,
            Self::AtMost => measured <= bound,
            Self::More => measured > bound,
            Self::Less => measured < bound,
            Self::Equal => equal,
            Self::Unequal => !equal,
        }
    }

    fn margin(self, measured: f64, bound: f64) -> Option<f64> {
        let above = (bound != 0.0).then(|| 100.0 * (measured / bound - 1.0))?;
        match self {
            Self::AtLeast | Self::More => Some(above),
            Self::AtMost | Self::Less => Some(-above),
            Self::Equal | Self::Unequal => None,
        }
    }
}
