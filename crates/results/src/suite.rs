//! Suites: published procedures, and their results step by step.

use analyse::{Finding, Severity};
use record::{Figure, FigureQuantity, JobResult, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stored::StoredResult;

/// A published procedure before it runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SuiteProcedure<'a> {
    /// Name of the suite.
    pub name: &'a str,
    /// One-line description.
    pub title: &'a str,
    /// Document that publishes the procedure.
    pub source: &'a str,
    /// Date of that document.
    pub date: &'a str,
    /// Volume of the published figures.
    pub model: Option<&'a str>,
    /// Bytes used of the target, in fio's notation.
    pub size: &'a str,
    /// Whether a device or volume is used as a whole.
    pub whole: bool,
    /// Whether models start without burst credits.
    pub drained: bool,
    /// Conditions that must hold before the suite begins.
    pub preconditions: &'a [String],
    /// How steps are repeated.
    pub rounds: Option<ProcedureRounds<'a>>,
    /// The steps, in order.
    pub steps: Vec<ProcedureStep<'a>>,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct ProcedureRounds<'a> {
    /// Steps that are repeated until they are steady.
    pub follow: &'a [String],
    /// Maximum number of rounds.
    pub most: usize,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProcedureStep<'a> {
    /// Name of the step.
    pub name: &'a str,
    /// What the step measures.
    pub title: &'a str,
    /// What the result means.
    pub means: &'a str,
    /// Whether the step writes to its target.
    pub writes: bool,
    /// Whether the step runs once, before the rounds.
    pub once: bool,
    /// Figures of the step, with published values.
    pub figures: Vec<ProcedureFigure<'a>>,
    /// Options and values of each job.
    pub jobs: Vec<Vec<(&'a str, &'a str)>>,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct ProcedureFigure<'a> {
    pub figure: Figure,
    pub published: Option<&'a Published>,
}

#[derive(Clone, Copy, Debug)]
pub struct SuiteTargets<'a> {
    /// File or device to measure, and the bytes used of it.
    pub target: Option<(&'a str, Option<u64>)>,
    /// Volume to simulate, and the bytes used of it.
    pub volume: Option<(&'a str, Option<u64>)>,
    /// Factor applied to times and sizes; 1 means unchanged.
    pub scale: f64,
}

/// The results of a suite, complete or so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteResult {
    pub suite: String,
    /// One-line description.
    pub title: String,
    /// Document that publishes the procedure and its figures.
    pub source: String,
    /// Date of that document.
    pub date: String,
    /// Command line, one argument per element.
    pub command_line: Vec<String>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Measured file or device.
    pub target: Option<String>,
    /// Simulated volume.
    pub on: Option<String>,
    /// Factor applied to times and sizes; 1 means unchanged.
    pub scale: f64,
    /// Bytes used of the file or device.
    pub target_bytes: Option<u64>,
    /// Bytes used of the volume.
    pub volume_bytes: Option<u64>,
    /// Whether the simulated volume began without burst credits.
    pub drained: bool,
    /// Conditions under which figures can be compared.
    pub preconditions: Vec<String>,
    /// Rounds, if steps are repeated until they are steady.
    pub rounds: Option<SuiteRounds>,
    /// Completed steps, in order.
    pub steps: Vec<SuiteStep>,
    /// Number of all steps, without repetitions.
    pub of_steps: usize,
    /// Whether all steps are complete.
    pub finished: bool,
}

/// Rounds of a suite, and whether they became steady.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteRounds {
    /// Number of completed rounds.
    pub done: usize,
    /// Maximum number of rounds.
    pub most: usize,
    /// Whether the last five rounds were steady.
    pub steady: bool,
}

/// A completed step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteStep {
    /// Name of the step.
    pub name: String,
    /// What the step measures.
    pub title: String,
    /// Result on the file or device.
    pub measured: Option<SuiteOutcome>,
    /// Result on the model.
    pub modelled: Option<SuiteOutcome>,
    /// One row per figure.
    pub rows: Vec<SuiteRow>,
}

/// Result of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SuiteOutcome {
    /// The step ran.
    Done {
        /// Figures in the step's order, in units of one, bytes and nanoseconds; `None` if no such operation completed.
        values: Vec<Option<f64>>,
        /// Findings, the most important first.
        findings: Vec<StoredFinding>,
    },
    /// The step failed, for this reason.
    Failed(String),
}

impl SuiteOutcome {
    /// Returns the figures and findings of a run, with the sentences that `words` returns.
    #[must_use]
    pub fn of(run: &Run, figures: &[Figure], words: fn(&Finding, &JobResult) -> String) -> Self {
        let mut findings = Vec::new();
        for verdict in analyse::analyse(run) {
            let Some(job) = run.jobs.get(verdict.job) else { continue };
            findings.extend(verdict.findings().map(|finding| StoredFinding {
                severity: finding.severity,
                code: finding.code.name().to_owned(),
                text: words(finding, job),
            }));
        }
        Self::Done {
            values: figures.iter().map(|figure| figure.of(run).ok().map(|value| value.value)).collect(),
            findings,
        }
    }

    /// Returns the figure at `index`.
    #[must_use]
    pub fn value(&self, index: usize) -> Option<f64> {
        match self {
            Self::Done { values, .. } => values.get(index).copied().flatten(),
            Self::Failed(_) => None,
        }
    }

    #[must_use]
    pub fn findings(&self) -> &[StoredFinding] {
        match self {
            Self::Done { findings, .. } => findings,
            Self::Failed(_) => &[],
        }
    }

    /// Reports whether a finding says that the figures cannot be trusted.
    #[must_use]
    pub fn is_distrusted(&self) -> bool {
        self.findings().iter().any(|finding| finding.severity == Severity::Distrust)
    }
}

/// A finding as text, so that it can be saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredFinding {
    pub severity: Severity,
    /// Name of the finding's code.
    pub code: String,
    /// Statement and remedy.
    pub text: String,
}

/// One figure of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteRow {
    pub figure: Figure,
    pub published: Option<Published>,
    /// Measured value, in units of one, bytes and nanoseconds.
    pub measured: Option<f64>,
    /// Modelled value, in the same units.
    pub modelled: Option<f64>,
}

impl SuiteRow {
    /// Returns the relative difference of the measured value from the published one, or else from the modelled one. If
    /// nothing was measured, the modelled value is compared with the published one.
    #[must_use]
    pub fn difference(&self) -> Option<f64> {
        let found = self.measured.or(self.modelled)?;
        match (&self.published, self.measured.and(self.modelled)) {
            (Some(published), _) => Some(published.difference(found)),
            (None, Some(modelled)) if modelled > 0.0 => Some(found / modelled - 1.0),
            (None, _) => None,
        }
    }
}

/// A published figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// Value, or the lower end of a range, in units of one, bytes and nanoseconds.
    pub value: f64,
    /// Upper end, if a range was published.
    pub to: Option<f64>,
    /// Whether the value is an upper bound.
    pub below: bool,
    /// Unit of the publication.
    pub unit: MeasureUnit,
    /// Conditions under which the value holds.
    pub conditions: String,
    /// Why the model differs by more than 5 %, if it does.
    pub apart: Option<String>,
}

impl Published {
    /// Returns the relative difference of a value from this figure: zero within a range or below a bound.
    #[must_use]
    pub fn difference(&self, found: f64) -> f64 {
        let (low, high) = match (self.below, self.to) {
            (true, _) => (0.0, self.value),
            (false, to) => (self.value, to.unwrap_or(self.value)),
        };
        match found {
            found if found < low => found / low - 1.0,
            found if found > high => found / high - 1.0,
            _ => 0.0,
        }
    }
}

/// A unit in which figures are published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum MeasureUnit {
    /// Operations per second.
    #[serde(rename = "IOPS")]
    Iops,
    /// 10⁶ bytes per second.
    #[serde(rename = "MB/s")]
    Megabytes,
    /// 2²⁰ bytes per second.
    #[serde(rename = "MiB/s")]
    Mebibytes,
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
}

impl MeasureUnit {
    /// All units.
    pub const ALL: [Self; 5] = [Self::Iops, Self::Megabytes, Self::Mebibytes, Self::Microseconds, Self::Milliseconds];

    /// Returns the unit's symbol.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::Megabytes => "MB/s",
            Self::Mebibytes => "MiB/s",
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
        }
    }

    /// Returns the number of operations per second, bytes per second or nanoseconds in the unit.
    #[must_use]
    pub const fn factor(self) -> f64 {
        match self {
            Self::Iops => 1.0,
            Self::Megabytes => 1e6,
            Self::Mebibytes => 1_048_576.0,
            Self::Microseconds => 1e3,
            Self::Milliseconds => 1e6,
        }
    }

    /// Reports whether the unit fits a quantity.
    #[must_use]
    pub fn fits(self, quantity: FigureQuantity) -> bool {
        match self {
            Self::Iops => quantity == FigureQuantity::Iops,
            Self::Megabytes | Self::Mebibytes => quantity == FigureQuantity::BytesPerSecond,
            Self::Microseconds | Self::Milliseconds => quantity.is_latency(),
        }
    }
}

impl StoredResult for SuiteResult {
    const KEY: &'static str = "fathom_suite";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(value: f64, to: Option<f64>, below: bool) -> Published {
        Published { value, to, below, unit: MeasureUnit::Iops, conditions: String::new(), apart: None }
    }

    #[test]
    fn differences_are_relative_to_the_nearest_published_value() {
        assert_eq!(published(100.0, None, false).difference(95.0), -0.050_000_000_000_000_044);
        assert_eq!(published(100.0, Some(120.0), false).difference(110.0), 0.0);
        assert_eq!(published(100.0, Some(120.0), false).difference(132.0), 0.100_000_000_000_000_09);
        assert_eq!(
            (published(10.0, None, true).difference(3.0), published(10.0, None, true).difference(20.0)),
            (0.0, 1.0)
        );
    }
}
