//! Types of suites.

use std::ops::Range;
use std::sync::Arc;

use job::Place;
use record::Figure;
use report::suite::{ProcedureStep, Published, SuiteProcedure};

/// A text and what it is called.
#[derive(Clone, Debug)]
pub(crate) struct SuiteText {
    pub(crate) name: Arc<str>,
    pub(crate) text: Arc<str>,
}

impl SuiteText {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// The place of some bytes: of what is longer than a line, its part of the first.
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

/// A procedure.
#[derive(Clone, Debug)]
pub struct Suite {
    pub(crate) name: String,
    pub(crate) title: String,
    /// The document that it and its figures are from.
    pub(crate) source: String,
    pub(crate) date: String,
    /// The volume that the figures are of.
    pub(crate) model: Option<String>,
    /// How much is used, as fio writes sizes.
    pub(crate) size: String,
    pub(crate) size_at: Range<usize>,
    /// Devices and volumes are used as a whole, and only of files as much as `size`.
    pub(crate) whole: bool,
    /// The figures are those of volumes without burst credit.
    pub(crate) drained: bool,
    pub(crate) preconditions: Vec<String>,
    pub(crate) rounds: Option<RoundsSpec>,
    pub(crate) steps: Vec<StepSpec>,
    /// Where it is written.
    pub(crate) text: SuiteText,
}

impl Suite {
    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its text.
    #[must_use]
    pub fn toml(&self) -> &str {
        &self.text.text
    }

    /// Returns it as `report` prints it.
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
            rounds: self.rounds.as_ref().map(|rounds| (rounds.follow.as_slice(), rounds.most)),
            steps: self.steps.iter().map(StepSpec::procedure).collect(),
        }
    }
}

/// Steps are repeated until what they give is steady.
#[derive(Clone, Debug)]
pub(crate) struct RoundsSpec {
    /// The steps whose first figure is looked at.
    pub(crate) follow: Vec<String>,
    pub(crate) most: usize,
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) struct StepSpec {
    pub(crate) name: String,
    /// Where its name is written.
    pub(crate) at: Range<usize>,
    /// What it measures.
    pub(crate) title: String,
    /// What its result means.
    pub(crate) means: String,
    pub(crate) figures: Vec<MeasuredStep>,
    /// It comes before the rounds.
    pub(crate) once: bool,
    /// Its jobs, which run at the same time.
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
            figures: self.figures.iter().map(|one| (one.figure, one.published.as_ref())).collect(),
            jobs: self.jobs.iter().map(|job| job.iter().map(StepOption::pair).collect()).collect(),
        }
    }

    /// Whether it changes what its target holds.
    pub(crate) fn writes(&self) -> bool {
        self.jobs.iter().any(|job| {
            let rw = job.iter().rev().find(|setting| setting.key == "rw");
            rw.is_some_and(|rw| !matches!(rw.value.as_str(), "read" | "randread"))
        })
    }
}

/// A figure of a step, and what was published of it.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredStep {
    pub(crate) figure: Figure,
    pub(crate) published: Option<Published>,
}

/// A job option and its value, with `{target}`, `{size}` and `{cpus}` still to be filled in.
#[derive(Clone, Debug)]
pub(crate) struct StepOption {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) at: Range<usize>,
}

impl StepOption {
    fn pair(&self) -> (&str, &str) {
        (&self.key, &self.value)
    }
}
