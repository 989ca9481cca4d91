//! What a procedure is.

use std::ops::Range;
use std::sync::Arc;

use job::Place;
use record::Figure;
use report::suite::{ProcedureStep, Published, SuiteProcedure};

/// A text and what it is called.
#[derive(Clone, Debug)]
pub(super) struct SuiteText {
    pub(super) name: Arc<str>,
    pub(super) text: Arc<str>,
}

impl SuiteText {
    pub(super) fn new(name: &str, text: &str) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// The place of some bytes: of what is longer than a line, its part of the first.
    pub(super) fn place(&self, at: &Range<usize>) -> Place {
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
pub(super) struct Suite {
    pub(super) name: String,
    pub(super) title: String,
    /// The document that it and its figures are from.
    pub(super) source: String,
    pub(super) date: String,
    /// The volume that the figures are of.
    pub(super) model: Option<String>,
    /// How much is used, as fio writes sizes.
    pub(super) size: String,
    pub(super) size_at: Range<usize>,
    /// Devices and volumes are used as a whole, and only of files as much as `size`.
    pub(super) whole: bool,
    /// The figures are those of volumes without burst credit.
    pub(super) drained: bool,
    pub(super) preconditions: Vec<String>,
    pub(super) rounds: Option<RoundsSpec>,
    pub(super) steps: Vec<StepSpec>,
    /// Where it is written.
    pub(super) text: SuiteText,
}

impl Suite {
    /// Returns it as `report` prints it.
    pub(super) fn procedure(&self) -> SuiteProcedure<'_> {
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
pub(super) struct RoundsSpec {
    /// The steps whose first figure is looked at.
    pub(super) follow: Vec<String>,
    pub(super) most: usize,
}

/// A step.
#[derive(Clone, Debug)]
pub(super) struct StepSpec {
    pub(super) name: String,
    /// Where its name is written.
    pub(super) at: Range<usize>,
    /// What it measures.
    pub(super) title: String,
    /// What its result means.
    pub(super) means: String,
    pub(super) figures: Vec<MeasuredStep>,
    /// It comes before the rounds.
    pub(super) once: bool,
    /// Its jobs, which run at the same time.
    pub(super) jobs: Vec<Vec<StepOption>>,
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
    pub(super) fn writes(&self) -> bool {
        self.jobs.iter().any(|job| {
            let rw = job.iter().rev().find(|setting| setting.key == "rw");
            rw.is_some_and(|rw| !matches!(rw.value.as_str(), "read" | "randread"))
        })
    }
}

/// A figure of a step, and what was published of it.
#[derive(Clone, Debug)]
pub(super) struct MeasuredStep {
    pub(super) figure: Figure,
    pub(super) published: Option<Published>,
}

/// A job option and its value, with `{target}`, `{size}` and `{cpus}` still to be filled in.
#[derive(Clone, Debug)]
pub(super) struct StepOption {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) at: Range<usize>,
}

impl StepOption {
    fn pair(&self) -> (&str, &str) {
        (&self.key, &self.value)
    }
}
