//! Types of suites.

use std::ops::Range;
use std::sync::Arc;

use record::Figure;
use results::suite::{ProcedureFigure, ProcedureRounds, ProcedureStep, Published, SuiteProcedure};
use units::Place;

#[derive(Clone, Debug, Default)]
pub(crate) struct SuiteText {
    pub(crate) name: Arc<str>,
    pub(crate) text: Arc<str>,
}

impl SuiteText {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// Returns the place of a byte range; of several lines, the part in the first.
    pub(crate) fn place(&self, at: &Range<usize>) -> Place {
        let text = &*self.text;
        let start = (0..=at.start.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let stop = (start..at.end.clamp(start, end)).rev().find(|&at| text.is_char_boundary(at));
        let length = stop.map_or(0, |stop| text[start..stop].chars().count() + 1);
        Place {
            source: Arc::clone(&self.name),
            line: text[..begin].matches('\n').count() + 1,
            column: text[begin..start].chars().count() + 1,
            length,
            text: text[begin..end].trim_end_matches('\r').into(),
        }
    }
}

/// A benchmark procedure.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    pub(crate) name: String,
    pub(crate) title: String,
    /// Document that describes the procedure and its figures.
    pub(crate) source: String,
    pub(crate) date: String,
    /// Volume that was measured.
    pub(crate) model: Option<String>,
    /// Amount of data to use, in fio's notation.
    pub(crate) size: String,
    pub(crate) size_at: Range<usize>,
    /// Whether devices and volumes are used as a whole; `size` then applies to files only.
    pub(crate) whole: bool,
    /// Whether the figures are without burst credits.
    pub(crate) drained: bool,
    pub(crate) preconditions: Vec<String>,
    pub(crate) rounds: Option<RoundsSpec>,
    pub(crate) steps: Vec<StepSpec>,
    pub(crate) text: SuiteText,
}

impl Suite {
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the source text.
    #[must_use]
    pub fn toml(&self) -> &str {
        &self.text.text
    }

    /// Returns the procedure for `report`.
    #[must_use]
    pub fn procedure(&self) -> SuiteProcedure<'_> {
        SuiteProcedure {
            name: &self.name,
            title: &self.title,
            source: &self.source,
            date: &self.date,
            model: self.model.as_deref(),
            size: &self.size,
            whole: self.whole,
            drained: self.drained,
            preconditions: &self.preconditions,
            rounds: self.rounds.as_ref().map(|rounds| ProcedureRounds { follow: &rounds.follow, most: rounds.most }),
            steps: self.steps.iter().map(StepSpec::procedure).collect(),
        }
    }
}

/// Repetition of steps until their results are steady.
#[derive(Clone, Debug)]
pub(crate) struct RoundsSpec {
    /// Steps whose first figure must be steady.
    pub(crate) follow: Vec<String>,
    pub(crate) most: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct StepSpec {
    pub(crate) name: String,
    /// Place of the name in the file.
    pub(crate) at: Range<usize>,
    pub(crate) title: String,
    /// Interpretation of the result.
    pub(crate) means: String,
    pub(crate) figures: Vec<MeasuredStep>,
    /// Whether it runs once before the rounds.
    pub(crate) once: bool,
    pub(crate) jobs: Vec<Vec<StepOption>>,
}

impl StepSpec {
    fn procedure(&self) -> ProcedureStep<'_> {
        ProcedureStep {
            name: &self.name,
            title: &self.title,
            means: &self.means,
            writes: self.writes(),
            once: self.once,
            figures: self
                .figures
                .iter()
                .map(|one| ProcedureFigure { figure: one.figure, published: one.published.as_ref() })
                .collect(),
            jobs: self.jobs.iter().map(|job| job.iter().map(|one| (&*one.key, &*one.value)).collect()).collect(),
        }
    }

    /// Reports whether the step changes data on its target.
    pub(crate) fn writes(&self) -> bool {
        self.jobs.iter().any(|job| {
            let rw = job.iter().rev().find(|setting| setting.key == "rw");
            rw.is_some_and(|rw| !matches!(rw.value.as_str(), "read" | "randread"))
        })
    }
}

/// A figure of a step, with its published value.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredStep {
    pub(crate) figure: Figure,
    pub(crate) published: Option<Published>,
}

/// A job option with its value, in which `{target}`, `{size}` and `{cpus}` are placeholders.
#[derive(Clone, Debug)]
pub(crate) struct StepOption {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) at: Range<usize>,
}
