//! A job of one run, or the same job of several runs.

use analyse::Verdict;
use record::{DataKind, DirectionResult, JobResult, Run};

use super::figure::SeriesStyle;
use crate::chart::isolated;

/// A job's result in one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member<'a> {
    /// Name of the run.
    pub(super) name: &'a str,
    pub(super) run: &'a Run,
    pub(super) job: &'a JobResult,
    pub(super) verdict: Option<&'a Verdict>,
    /// Index of the run on the page.
    pub(super) number: usize,
}

/// A job with its results, the subject of a section.
#[derive(Clone, Debug)]
pub(super) struct SectionPart<'a> {
    /// Results, at least one.
    pub(super) members: Vec<Member<'a>>,
    pub(super) budget: PageBudget,
}

/// Maximum detail of each chart, so that a page with many jobs stays small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageBudget {
    /// Points of a line.
    pub(super) points: u64,
    /// Rows of a table.
    pub(super) rows: u64,
    /// Columns of a heat map.
    pub(super) columns: u64,
}

impl PageBudget {
    /// Divides the detail of a page among the results.
    pub(super) fn of(results: usize) -> Self {
        let each = |all: u64, least: u64, most: u64| (all / results.max(1) as u64).clamp(least, most);
        Self { points: each(1_600, 36, 240), rows: each(420, 12, 60), columns: each(700, 16, 120) }
    }
}

impl Member<'_> {
    /// Returns the kinds of operations with a result.
    pub(super) fn kinds(&self) -> impl Iterator<Item = (DataKind, &DirectionResult)> {
        self.job.result.used_kinds()
    }
}

impl<'a> SectionPart<'a> {
    pub(super) fn name(&self) -> &'a str {
        self.members.first().map_or("", |member| &member.job.name)
    }

    /// Returns the name with its text direction isolated, for use outside elements.
    pub(super) fn called(&self) -> String {
        isolated(self.name())
    }

    /// Reports whether the part has results of several runs.
    pub(super) fn is_overlay(&self) -> bool {
        self.members.len() > 1
    }

    /// Reports whether a run completed several kinds of operations.
    fn is_mixed(&self) -> bool {
        self.members.iter().any(|member| member.kinds().count() > 1)
    }

    /// Returns every kind of operation of every run.
    pub(super) fn flows(&self) -> impl Iterator<Item = (&Member<'a>, DataKind, &DirectionResult)> {
        self.members.iter().flat_map(|member| member.kinds().map(move |(kind, result)| (member, kind, result)))
    }

    /// Returns the style of a kind of operation in a run. Colours distinguish runs, or the kinds of a single run.
    pub(super) fn style(&self, member: &Member<'_>, kind: DataKind) -> SeriesStyle {
        if self.is_overlay() {
            SeriesStyle { colour: member.number, dash: if self.is_mixed() { kind as usize } else { 0 } }
        } else {
            SeriesStyle { colour: kind as usize, dash: 0 }
        }
    }

    /// Returns the name of a kind of operation in a legend.
    pub(super) fn label(&self, member: &Member<'_>, kind: DataKind) -> String {
        match (self.is_overlay(), self.is_mixed()) {
            (true, true) => format!("{}, {}", isolated(member.name), kind.name()),
            (true, false) => isolated(member.name),
            (false, _) => kind.name().to_owned(),
        }
    }

    /// Returns the name of a figure in a legend, with the run's name if there are several.
    pub(super) fn whose(&self, member: &Member<'_>, what: &str) -> String {
        if self.is_overlay() { format!("{}, {what}", isolated(member.name)) } else { what.to_owned() }
    }

    /// Returns the job's name, with the run's name if there are several.
    pub(super) fn whose_job(&self, member: &Member<'_>) -> String {
        self.whose(member, &isolated(&member.job.name))
    }

    /// Returns the duration of the longest series in nanoseconds.
    pub(super) fn lasted_ns(&self) -> u64 {
        let each = self.members.iter().map(|member| &member.job.result.series);
        each.map(|series| series.width_ns.saturating_mul(series.intervals.len() as u64)).max().unwrap_or(0)
    }
}
