//! Judges runs by an assertion.

use record::{Figure, FigureOf, FigureValue, JobResult, NoFigure, Run};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Assertion, AssertionSubject, Bound, GateCount, Relation};
use crate::compare::{Change, Comparison, FigureComparison, More};
use crate::{Finding, Severity, Verdict};

/// Relative difference up to which figures count as equal: they are quotients.
const EQUAL: f64 = 1e-9;

/// Runs to judge: one run or repeats of it, with an optional baseline.
#[derive(Clone, Copy, Debug, Default)]
pub struct GateInputs<'a> {
    /// Runs with their findings. A figure is the mean over the runs, a count of findings the maximum.
    pub runs: &'a [(&'a Run, &'a [Verdict])],
    /// Runs of the baseline, if any. Their findings do not matter.
    pub baseline: &'a [&'a Run],
    /// Comparison with the baseline; without it noise is unknown.
    pub comparison: Option<&'a Comparison>,
}

/// The result of an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JudgedAssertion {
    /// Whether it holds.
    pub outcome: GateOutcome,
    /// Measured value in the unit of the bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
    /// Bound, computed from the baseline's figure if the assertion is relative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<f64>,
    /// Distance from the bound in percent of it, positive if the assertion holds. `None` for equality and a bound of
    /// zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin_percent: Option<f64>,
    /// Change from the baseline with its interval, if the assertion is relative and the interval known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// Measurement that would decide a result within noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<More>,
}

/// Outcome of an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// The assertion holds.
    Passed,
    /// The assertion does not hold.
    Failed,
    /// The figures miss the bound, but the confidence interval of the change reaches it.
    WithinNoise,
    /// The assertion cannot be judged, which does not pass.
    Unknown(UnknownReason),
}

/// Reason why an assertion cannot be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnknownReason {
    /// The run has no job of that name.
    NoSuchJob,
    /// The run lacks the figure.
    NotMeasured,
    /// There is no baseline.
    NoBaseline,
    /// The baseline lacks the job or the figure.
    NotInBaseline,
    /// The results have no rate together, because they are unknown to have run at the same time.
    NotTogether,
    /// The percentile lies in the last class of the histogram, which has no upper bound.
    Saturated,
}

impl Assertion {
    /// Judges runs and the findings about their jobs.
    #[must_use]
    pub fn judge(&self, inputs: &GateInputs<'_>) -> JudgedAssertion {
        let (measured, bound) = (self.measured(inputs.runs), self.bound_by(inputs.baseline));
        let compared = self.compared(inputs.comparison);
        let change = compared.and_then(|figure| figure.change);
        let outcome = match (measured, bound) {
            (Err(reason), _) | (_, Err(reason)) => GateOutcome::Unknown(reason),
            (Ok(FigureValue { value, at_least: true }), Ok(bound)) => self.relation.judge_at_least(value, bound),
            (Ok(measured), Ok(bound)) if self.relation.holds(measured.value, bound) => GateOutcome::Passed,
            _ if change.is_some_and(|change| self.is_reached_by(&change)) => GateOutcome::WithinNoise,
            _ => GateOutcome::Failed,
        };
        let (measured, bound) = (measured.ok().map(|measured| measured.value), bound.ok());
        let margin_percent = measured.zip(bound).and_then(|(measured, bound)| self.relation.margin(measured, bound));
        let in_noise = compared.filter(|_| outcome == GateOutcome::WithinNoise);
        let more = in_noise.zip(margin_percent).and_then(|(figure, margin)| figure.measurement_needed(margin));
        JudgedAssertion { outcome, measured, bound, margin_percent, change, more }
    }

    fn measured(&self, runs: &[(&Run, &[Verdict])]) -> Result<FigureValue, UnknownReason> {
        let mut indices = runs.iter().map(|(run, _)| self.job_indices(run));
        if self.job.is_some() && indices.all(|indices| indices.is_empty()) {
            return Err(UnknownReason::NoSuchJob);
        }
        match self.subject {
            AssertionSubject::Figure(figure) => {
                self.mean(figure, runs.iter().map(|(run, _)| *run)).map_err(|none| match none {
                    NoFigure::Absent => UnknownReason::NotMeasured,
                    NoFigure::NotTogether => UnknownReason::NotTogether,
                })
            }
            AssertionSubject::Findings(counted) => {
                let number = |(run, verdicts): &(&Run, &[Verdict])| {
                    let indices = self.job_indices(run);
                    let about = verdicts.iter().filter(|verdict| indices.contains(&verdict.job));
                    about.flat_map(Verdict::findings).filter(|finding| counted.has(finding)).count()
                };
                Ok(FigureValue { value: runs.iter().map(number).max().unwrap_or(0) as f64, at_least: false })
            }
        }
    }

    /// Returns the indices of the jobs that the assertion concerns.
    fn job_indices(&self, run: &Run) -> Vec<usize> {
        let named = |job: &JobResult| self.job.as_ref().is_none_or(|name| job.name == *name);
        run.jobs.iter().enumerate().filter(|(_, job)| named(job)).map(|(index, _)| index).collect()
    }

    /// Returns the mean of a figure over runs, each of which must have it.
    fn mean<'a>(&self, figure: Figure, runs: impl Iterator<Item = &'a Run>) -> Result<FigureValue, NoFigure> {
        let values: Vec<FigureValue> =
            runs.map(|run| figure.of_jobs(run, &self.job_indices(run))).collect::<Result<_, _>>()?;
        if values.is_empty() {
            return Err(NoFigure::Absent);
        }
        let value = values.iter().map(|one| one.value).sum::<f64>() / values.len() as f64;
        Ok(FigureValue { value, at_least: values.iter().any(|one| one.at_least) })
    }

    fn bound_by(&self, baseline: &[&Run]) -> Result<f64, UnknownReason> {
        match (self.bound, self.subject) {
            (Bound::Value(value), _) => Ok(value),
            (Bound::OfBaseline(_), _) if baseline.is_empty() => Err(UnknownReason::NoBaseline),
            (Bound::OfBaseline(factor), AssertionSubject::Figure(figure)) => {
                let baseline = self.mean(figure, baseline.iter().copied()).map_err(|_| UnknownReason::NotInBaseline)?;
                if baseline.at_least { Err(UnknownReason::Saturated) } else { Ok(factor * baseline.value) }
            }
            (Bound::OfBaseline(_), AssertionSubject::Findings(_)) => Err(UnknownReason::NotInBaseline),
        }
    }

    /// Returns the figure's row of a comparison. The noise of several jobs together is unknown.
    fn compared<'a>(&self, comparison: Option<&'a Comparison>) -> Option<&'a FigureComparison> {
        let (Bound::OfBaseline(_), AssertionSubject::Figure(figure)) = (self.bound, self.subject) else { return None };
        let jobs = &comparison?.jobs;
        let mut named = jobs.iter().filter(|job| self.job.as_ref().is_none_or(|name| job.job == *name));
        let (job, None) = (named.next()?, named.next()) else { return None };
        // If only one kind is in use, its row also stands for all kinds.
        let is_meant = |other: &Figure| {
            *other == figure
                || other.quantity == figure.quantity && figure.of == FigureOf::All && other.of.kind().is_some()
        };
        let mut rows = job.figures.iter().filter(|row| is_meant(&row.figure));
        rows.next_back().filter(|row| row.figure == figure || rows.next().is_none())
    }

    /// Reports whether some value within the interval of a change satisfies the assertion.
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
    /// Judges a value that may be any more than `value`, so that no upper bound can be met.
    fn judge_at_least(self, value: f64, bound: f64) -> GateOutcome {
        match self {
            Self::AtLeast if value >= bound => GateOutcome::Passed,
            Self::More | Self::Unequal if value > bound => GateOutcome::Passed,
            Self::AtMost | Self::Less | Self::Equal if value > bound => GateOutcome::Failed,
            _ => GateOutcome::Unknown(UnknownReason::Saturated),
        }
    }

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
