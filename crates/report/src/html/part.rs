//! One job of a run, or the same job of several runs.

use analyse::Verdict;
use record::{DataKind, DirectionResult, JobResult, Run};

use super::figure::Look;
use crate::chart::isolated;

/// A job's result in one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member<'a> {
    /// What the run is called.
    pub(super) name: &'a str,
    /// The run.
    pub(super) run: &'a Run,
    /// The result.
    pub(super) job: &'a JobResult,
    /// What was found in it.
    pub(super) verdict: Option<&'a Verdict>,
    /// The number of the run on the page.
    pub(super) number: usize,
}

/// Subject of a section.
#[derive(Clone, Debug)]
pub(super) struct SectionPart<'a> {
    /// The results, at least one.
    pub(super) members: Vec<Member<'a>>,
    /// How much is drawn of each.
    pub(super) budget: PageBudget,
}

/// Detail of each chart, so that a page of many jobs stays small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageBudget {
    /// Points of a line.
    pub(super) points: u64,
    /// Rows of a table.
    pub(super) rows: u64,
    /// Columns of a map.
    pub(super) columns: u64,
}

impl PageBudget {
    /// For each of so many results.
    pub(super) fn of(results: usize) -> Self {
        let each = |all: u64, least: u64, most: u64| (all / results.max(1) as u64).clamp(least, most);
        Self { points: each(1_600, 36, 240), rows: each(420, 12, 60), columns: each(700, 16, 120) }
    }
}

impl Member<'_> {
    /// The kinds of operations that it has done.
    pub(super) fn kinds(&self) -> impl Iterator<Item = (DataKind, &DirectionResult)> {
        self.job.result.kinds().filter(|(_, result)| result.ios > 0)
    }
}

impl<'a> SectionPart<'a> {
    /// The job's name.
    pub(super) fn name(&self) -> &'a str {
        self.members.first().map_or("", |member| &member.job.name)
    }

    /// The same for where no element can keep it apart from what is around it.
    pub(super) fn called(&self) -> String {
        isolated(self.name())
    }

    /// Whether several runs stand beside each other.
    pub(super) fn is_overlay(&self) -> bool {
        self.members.len() > 1
    }

    /// Whether anybody did several kinds of operations.
    fn is_mixed(&self) -> bool {
        self.members.iter().any(|member| member.kinds().count() > 1)
    }

    /// Every kind of operation of every run.
    pub(super) fn flows(&self) -> impl Iterator<Item = (&Member<'a>, DataKind, &DirectionResult)> {
        self.members.iter().flat_map(|member| member.kinds().map(move |(kind, result)| (member, kind, result)))
    }

    /// How a kind of operation of a run looks: colours tell runs apart where there are several, otherwise kinds.
    pub(super) fn look(&self, member: &Member<'_>, kind: DataKind) -> Look {
        if self.is_overlay() {
            Look { colour: member.number, dash: if self.is_mixed() { kind as usize } else { 0 } }
        } else {
            Look { colour: kind as usize, dash: 0 }
        }
    }

    /// What it is called beside others.
    pub(super) fn label(&self, member: &Member<'_>, kind: DataKind) -> String {
        match (self.is_overlay(), self.is_mixed()) {
            (true, true) => format!("{}, {}", isolated(member.name), kind.name()),
            (true, false) => isolated(member.name),
            (false, _) => kind.name().to_owned(),
        }
    }

    /// What a figure of a whole run is called beside those of others.
    pub(super) fn whose(&self, member: &Member<'_>, what: &str) -> String {
        if self.is_overlay() { format!("{}, {what}", isolated(member.name)) } else { what.to_owned() }
    }

    /// The job's name, and the run's beside others.
    pub(super) fn whose_job(&self, member: &Member<'_>) -> String {
        self.whose(member, &isolated(&member.job.name))
    }

    /// How long the longest series is, in nanoseconds.
    pub(super) fn lasted_ns(&self) -> u64 {
        let each = self.members.iter().map(|member| &member.job.result.series);
        each.map(|series| series.width_ns.saturating_mul(series.intervals.len() as u64)).max().unwrap_or(0)
    }
}
