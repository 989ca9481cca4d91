//! Published procedures: what was measured step by step, beside what was published and what a model gives.

mod procedure;
mod text;

use analyse::{Severity, Verdict};
use record::{Figure, FigureQuantity, Run};
use serde::{Deserialize, Serialize};

use crate::words;
pub use procedure::{ProcedureStep, SuiteProcedure, SuiteTargets, suites_json, suites_markdown, suites_text};
pub(crate) use text::{NEAR, facts, findings, footnotes, shown, table};
pub use text::{figure_name, markdown, text};

/// A procedure that was carried out, or the part of it that was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SuiteDocument {
    /// Its name.
    pub suite: String,
    /// What it is.
    pub title: String,
    /// The document that it and its figures are from.
    pub source: String,
    /// When that was published.
    pub date: String,
    /// The command line, a word each.
    pub command_line: Vec<String>,
    /// What everything random was derived from.
    pub seed: u64,
    /// The file or device it was measured on.
    pub target: Option<String>,
    /// The volume it was simulated on.
    pub on: Option<String>,
    /// How much shorter and smaller it was made; 1 for not at all.
    pub scale: f64,
    /// Bytes of the file or device that were used.
    pub target_bytes: Option<u64>,
    /// Bytes of the volume that were used.
    pub volume_bytes: Option<u64>,
    /// Whether the volume was simulated without the burst credits that it begins with.
    pub drained: bool,
    /// What has to be so for figures to compare.
    pub preconditions: Vec<String>,
    /// Rounds, where steps are repeated until they are steady.
    pub rounds: Option<SuiteRounds>,
    /// The steps that are done, in their order.
    pub steps: Vec<SuiteStep>,
    /// How many steps there are in all, without repetitions.
    pub of_steps: usize,
    /// Whether all of it is done.
    pub finished: bool,
}

/// Rounds of a suite, and whether they became steady.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteRounds {
    /// How many were done.
    pub done: usize,
    /// The most that are done.
    pub most: usize,
    /// Whether the last five were steady.
    pub steady: bool,
}

/// One step that is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SuiteStep {
    /// Its name.
    pub name: String,
    /// What it measures.
    pub title: String,
    /// What it brought on the file or device.
    pub measured: Option<SuiteOutcome>,
    /// What it brought on the model.
    pub modelled: Option<SuiteOutcome>,
    /// Its figures.
    pub rows: Vec<SuiteRow>,
}

/// Result of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteOutcome {
    /// Figures, in the order in which the step asks for them, and what was found.
    Done {
        /// Values in units of one, bytes and nanoseconds; `None` where nothing of the kind was done.
        values: Vec<Option<f64>>,
        /// What was found, the more important first.
        findings: Vec<StoredFinding>,
    },
    /// Nothing, for this reason.
    Failed(String),
}

impl SuiteOutcome {
    /// What a run brought.
    #[must_use]
    pub fn of(run: &Run, verdicts: &[Verdict], figures: &[Figure]) -> Self {
        let told = |verdict: &Verdict| {
            let job = run.jobs.get(verdict.job);
            let one = |finding: &analyse::Finding| {
                job.map(|job| StoredFinding {
                    severity: finding.severity.into(),
                    code: finding.code.name().to_owned(),
                    text: words::finding(finding, job),
                })
            };
            verdict.findings().filter_map(one).collect::<Vec<_>>()
        };
        Self::Done {
            values: figures.iter().map(|figure| figure.of(run)).collect(),
            findings: verdicts.iter().flat_map(told).collect(),
        }
    }

    /// One of its figures.
    #[must_use]
    pub fn value(&self, index: usize) -> Option<f64> {
        match self {
            Self::Done { values, .. } => values.get(index).copied().flatten(),
            Self::Failed(_) => None,
        }
    }

    /// What was found.
    #[must_use]
    pub fn findings(&self) -> &[StoredFinding] {
        match self {
            Self::Done { findings, .. } => findings,
            Self::Failed(_) => &[],
        }
    }

    /// Whether its figures do not mean what they seem to.
    #[must_use]
    pub fn is_distrusted(&self) -> bool {
        self.findings().iter().any(|told| told.severity == StoredSeverity::Distrust)
    }
}

/// A finding in words, so that it can be kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredFinding {
    /// How much it matters.
    pub severity: StoredSeverity,
    /// Its name.
    pub code: String,
    /// What is so, and what to do.
    pub text: String,
}

/// [`Severity`], so that it can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoredSeverity {
    /// Good to know.
    Info,
    /// Another setting would tell or give more.
    Advice,
    /// The step was not what was asked for.
    Warning,
    /// The numbers do not mean what they seem to.
    Distrust,
}

impl From<Severity> for StoredSeverity {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Info => Self::Info,
            Severity::Advice => Self::Advice,
            Severity::Warning => Self::Warning,
            Severity::Distrust => Self::Distrust,
        }
    }
}

/// One figure of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteRow {
    /// Which.
    pub figure: Figure,
    /// What was published of it.
    pub published: Option<Published>,
    /// What was measured, in units of one, bytes and nanoseconds.
    pub measured: Option<f64>,
    /// What the model gave.
    pub modelled: Option<f64>,
}

impl SuiteRow {
    /// How far what was measured is from what was published, or else from the model, as a share of it; what the model
    /// gave where nothing was measured.
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

/// A figure that was published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// Its value, or the lower end of it, in units of one, bytes and nanoseconds.
    pub value: f64,
    /// The upper end, where a range was published.
    pub to: Option<f64>,
    /// It is an upper bound.
    pub below: bool,
    /// The unit in which it was printed.
    pub unit: MeasureUnit,
    /// Under which conditions it holds.
    pub conditions: String,
    /// Why the model is further from it than 5 %, where it is.
    pub apart: Option<String>,
}

impl Published {
    /// How far a value is from it, as a share of it; nothing within a range or below a bound.
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

/// Units in which figures are published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MeasureUnit {
    /// Operations a second.
    #[serde(rename = "IOPS")]
    Iops,
    /// 10⁶ bytes a second.
    #[serde(rename = "MB/s")]
    Megabytes,
    /// 2²⁰ bytes a second.
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
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Iops, Self::Megabytes, Self::Mebibytes, Self::Microseconds, Self::Milliseconds];

    /// As it is written.
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

    /// How many units of one, bytes or nanoseconds it is.
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

    /// Whether figures of this quantity have it.
    #[must_use]
    pub fn fits(self, quantity: FigureQuantity) -> bool {
        match self {
            Self::Iops => quantity == FigureQuantity::Iops,
            Self::Megabytes | Self::Mebibytes => quantity == FigureQuantity::BytesPerSecond,
            Self::Microseconds | Self::Milliseconds => quantity.is_latency(),
        }
    }
}

#[derive(Serialize)]
struct SuiteEnvelope<'a> {
    /// Tells readers what this is.
    fathom_suite: u32,
    version: &'static str,
    #[serde(flatten)]
    document: &'a SuiteDocument,
}

/// The version of the document's layout.
const SCHEMA: u32 = 1;

/// One JSON document.
#[must_use]
pub fn json(document: &SuiteDocument) -> String {
    let envelope = SuiteEnvelope { fathom_suite: SCHEMA, version: env!("CARGO_PKG_VERSION"), document };
    let mut text = serde_json::to_string_pretty(&envelope).unwrap_or_default();
    text.push('\n');
    text
}

#[derive(Deserialize)]
struct VersionedSuite {
    fathom_suite: u32,
}

/// Reads what [`json`] wrote.
///
/// # Errors
///
/// Text of another kind, or of a later version.
pub fn read(text: &str) -> Result<SuiteDocument, String> {
    let VersionedSuite { fathom_suite } = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if fathom_suite > SCHEMA {
        return Err(crate::own::too_new(fathom_suite, SCHEMA));
    }
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(value: f64, to: Option<f64>, below: bool) -> Published {
        Published { value, to, below, unit: MeasureUnit::Iops, conditions: String::new(), apart: None }
    }

    /// Procedures of many steps ended with a paragraph for each, most of them the same but for their figures.
    #[test]
    fn steps_with_the_same_finding_are_named_together() {
        let step = |name: &str, severity, text: &str| {
            let findings = vec![StoredFinding { severity, code: String::new(), text: text.to_owned() }];
            let measured = Some(SuiteOutcome::Done { values: Vec::new(), findings });
            SuiteStep { name: name.to_owned(), measured, ..SuiteStep::default() }
        };
        let document = SuiteDocument {
            target: Some("data".to_owned()),
            steps: vec![
                step("a", StoredSeverity::Info, "The limit is IOPS: it held 9.0% back."),
                step("b", StoredSeverity::Advice, "The limit is IOPS: it held 9.0% back."),
                step("c", StoredSeverity::Info, "The limit is IOPS: it held 8.0% back."),
                step("d", StoredSeverity::Info, "16.7k IOPS with the queue full: 4 in flight."),
                step("e", StoredSeverity::Info, "1.2k IOPS with the queue full: 4 in flight."),
                step("w", StoredSeverity::Advice, "Latency sets the pace: 4 in flight. Set iodepth=32."),
                step("x", StoredSeverity::Advice, "Latency sets the pace: 64 in flight. Set iodepth=113."),
                step("y", StoredSeverity::Advice, "Latency sets the pace: 5 in flight. Set iodepth=32."),
                step("f", StoredSeverity::Distrust, "Nothing was verified: the runtime was over."),
                step("g", StoredSeverity::Distrust, "Nothing was verified: it failed."),
                step("h", StoredSeverity::Info, "The rate was kept."),
                step("i", StoredSeverity::Info, "The rate was kept."),
            ],
            ..SuiteDocument::default()
        };
        let found = text::findings(&document);
        let said: Vec<(&str, &str)> = found.iter().map(|(steps, _, text)| (steps.as_str(), text.as_str())).collect();
        assert_eq!(
            said,
            [
                ("a, c", "The limit is IOPS: it held 9.0% back. (These are the figures of a.)"),
                ("b", "The limit is IOPS: it held 9.0% back."),
                ("d, e", "16.7k IOPS with the queue full: 4 in flight. (These are the figures of d.)"),
                ("w, y", "Latency sets the pace: 4 in flight. Set iodepth=32. (These are the figures of w.)"),
                ("x", "Latency sets the pace: 64 in flight. Set iodepth=113."),
                ("f", "Nothing was verified: the runtime was over."),
                ("g", "Nothing was verified: it failed."),
                ("h, i", "The rate was kept."),
            ]
        );
    }

    #[test]
    fn differences_are_those_from_the_nearest_value_that_was_published() {
        assert_eq!(published(100.0, None, false).difference(95.0), -0.050_000_000_000_000_044);
        assert_eq!(published(100.0, Some(120.0), false).difference(110.0), 0.0);
        assert_eq!(published(100.0, Some(120.0), false).difference(132.0), 0.100_000_000_000_000_09);
        assert_eq!(
            (published(10.0, None, true).difference(3.0), published(10.0, None, true).difference(20.0)),
            (0.0, 1.0)
        );
    }
}
