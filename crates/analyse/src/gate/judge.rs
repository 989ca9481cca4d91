//! Judges a run by an assertion.

use record::{Figure, JobResult, Run};
use serde::Serialize;

use super::{Assertion, AssertionSubject, Bound, GateCount, Relation};
use crate::compare::{Change, Comparison, FigureComparison, More};
use crate::{Finding, Severity, Verdict};

/// Figures that are this close are equal: they are quotients.
const EQUAL: f64 = 1e-9;

/// A run or repeats of one, beside what they are held against.
#[derive(Clone, Copy, Debug, Default)]
pub struct GateInputs<'a> {
    /// The runs with what was found in each. A figure is the mean of theirs, a number of findings the greatest.
    pub runs: &'a [(&'a Run, &'a [Verdict])],
    /// The baseline: none, a run or repeats of one. Its findings play no part.
    pub baseline: &'a [&'a Run],
    /// How the runs compare with the baseline; without it noise is unknown.
    pub comparison: Option<&'a Comparison>,
}

/// The result of an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JudgedAssertion {
    /// Whether it holds.
    pub outcome: GateOutcome,
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
    /// The change from the baseline with its interval, where that is meant and known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// What would tell where chance leaves it open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<More>,
}

/// Whether an expectation holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// It holds.
    Passed,
    /// It does not.
    Failed,
    /// It does not by the figures, but chance alone may have brought them: the interval of the change reaches it.
    WithinNoise,
    /// It cannot be told, which is no pass.
    Unknown(UnknownReason),
}

/// Reason why an assertion cannot be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownReason {
    /// The run has no job of that name.
    NoSuchJob,
    /// The run does not have the figure.
    NotMeasured,
    /// There is no baseline.
    NoBaseline,
    /// The baseline does not have the job or the figure.
    NotInBaseline,
}

impl Assertion {
    /// Holds runs with what was found about their jobs against it.
    #[must_use]
    pub fn judge(&self, inputs: &GateInputs<'_>) -> JudgedAssertion {
        let (measured, bound) = (self.measured(inputs.runs), self.bound_by(inputs.baseline));
        let compared = self.compared(inputs.comparison);
        let change = compared.and_then(|figure| figure.change);
        let outcome = match (measured, bound) {
            (Err(reason), _) | (_, Err(reason)) => GateOutcome::Unknown(reason),
            (Ok(measured), Ok(bound)) if self.relation.holds(measured, bound) => GateOutcome::Passed,
            _ if change.is_some_and(|change| self.is_reached_by(&change)) => GateOutcome::WithinNoise,
            _ => GateOutcome::Failed,
        };
        let (measured, bound) = (measured.ok(), bound.ok());
        let margin_percent = measured.zip(bound).and_then(|(measured, bound)| self.relation.margin(measured, bound));
        let open = compared.filter(|_| outcome == GateOutcome::WithinNoise);
        let more = open.zip(margin_percent).and_then(|(figure, margin)| figure.what_tells(margin));
        JudgedAssertion { outcome, measured, bound, margin_percent, change, more }
    }

    fn measured(&self, runs: &[(&Run, &[Verdict])]) -> Result<f64, UnknownReason> {
        let mut places = runs.iter().map(|(run, _)| self.places(run));
        if self.job.is_some() && places.all(|places| places.is_empty()) {
            return Err(UnknownReason::NoSuchJob);
        }
        match self.subject {
            AssertionSubject::Figure(figure) => {
                self.mean(figure, runs.iter().map(|(run, _)| *run)).ok_or(UnknownReason::NotMeasured)
            }
            AssertionSubject::Findings(counted) => {
                let number = |(run, verdicts): &(&Run, &[Verdict])| {
                    let places = self.places(run);
                    let about = verdicts.iter().filter(|verdict| places.contains(&verdict.job));
                    about.flat_map(Verdict::findings).filter(|finding| counted.has(finding)).count()
                };
                Ok(runs.iter().map(number).max().unwrap_or(0) as f64)
            }
        }
    }

    /// The jobs it is about, by their places.
    fn places(&self, run: &Run) -> Vec<usize> {
        let named = |job: &JobResult| self.job.as_ref().is_none_or(|name| job.name == *name);
        run.jobs.iter().enumerate().filter(|(_, job)| named(job)).map(|(place, _)| place).collect()
    }

    /// Over the runs that have it.
    fn mean<'a>(&self, figure: Figure, runs: impl Iterator<Item = &'a Run>) -> Option<f64> {
        let of_run = |run: &Run| {
            let jobs: Vec<&JobResult> = self.places(run).into_iter().map(|place| &run.jobs[place]).collect();
            figure.of_jobs(&jobs)
        };
        let values: Vec<f64> = runs.filter_map(of_run).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    fn bound_by(&self, baseline: &[&Run]) -> Result<f64, UnknownReason> {
        match (self.bound, self.subject) {
            (Bound::Value(value), _) => Ok(value),
            (Bound::OfBaseline(_), _) if baseline.is_empty() => Err(UnknownReason::NoBaseline),
            (Bound::OfBaseline(factor), AssertionSubject::Figure(figure)) => {
                Ok(factor * self.mean(figure, baseline.iter().copied()).ok_or(UnknownReason::NotInBaseline)?)
            }
            (Bound::OfBaseline(_), AssertionSubject::Findings(_)) => Err(UnknownReason::NotInBaseline),
        }
    }

    /// The figure in a comparison. The noise of several jobs together is unknown.
    fn compared<'a>(&self, comparison: Option<&'a Comparison>) -> Option<&'a FigureComparison> {
        let (Bound::OfBaseline(_), AssertionSubject::Figure(figure)) = (self.bound, self.subject) else { return None };
        let jobs = &comparison?.jobs;
        let mut named = jobs.iter().filter(|job| self.job.as_ref().is_none_or(|name| job.job == *name));
        let (job, None) = (named.next()?, named.next()) else { return None };
        // Of one kind in use, all is that kind.
        let is_meant = |other: &Figure| *other == figure || other.quantity == figure.quantity && figure.kind.is_none();
        let mut rows = job.figures.iter().filter(|row| is_meant(&row.figure));
        rows.next_back().filter(|row| row.figure == figure || rows.next().is_none())
    }

    /// Whether a value within the interval of a change would do.
    fn is_reached_by(&self, change: &Change) -> bool {
        let Bound::OfBaseline(factor) = self.bound else { return false };
        let (low, high) = (1.0 + change.low_percent / 100.0, 1.0 + change.high_percent / 100.0);
        match self.relation {
            Relation::AtLeast | Relation::More => high >= factor,
            Relation::AtMost | Relation::Less => low <= factor,
            Relation::Equal => low <= factor && factor <= high,
            Relation::Unequal => false,
        }
    }
}

impl GateCount {
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
