//! The HTML page: verdict, findings, figures, charts, tables, and how to repeat the run.
//!
//! A page is one file. It loads nothing (a policy in its head makes browsers refuse to) and runs no script, because it
//! is read where scripts do not run: in mail, CI artefacts and on paper. Tooltips are `<title>`, tables open with
//! `<details>`. It suits phones, wide screens, paper, light and dark themes, and screen readers. Each module here
//! writes a section, each module in `charts` draws a chart. Fonts and colours are in two style sheets. `markup` escapes
//! all names from outside.

mod answer;
mod charts;
mod common;
mod comparison;
mod differences;
mod document;
mod facts;
mod figure;
mod findings;
mod grid;
mod headline;
mod markup;
mod overview;
mod page;
mod part;
mod ranks;
mod run;
mod suite;
mod sweep;
mod table;
mod trace;

use analyse::Verdict;
pub(crate) use document::document;
use markup::Markup;
use page::JointResult;
use record::Run;
use results::answer::Answer;
use results::compare::{ComparisonResult, ComparisonsResult, NamedRun};
use results::grid::{GridPoint, GridResult};
use results::suite::SuiteResult;
use results::sweep::SweepResult;
pub(crate) use trace::trace_page;

use crate::chart::COLOURS;
use crate::grid::GridShape;
use crate::tables::ReportedRun;

/// A result that a page shows.
#[derive(Clone, Copy, Debug)]
pub enum PageSubject<'a> {
    /// A run or a simulation. The charts of all runs of a page are overlaid.
    Run(ReportedRun<'a>),
    /// A search for the knee.
    Sweep(&'a SweepResult),
    /// Results of a suite.
    Suite(&'a SuiteResult),
}

impl<'a> PageSubject<'a> {
    /// Returns the points of a grid under some names.
    pub fn of_grid(document: &'a GridResult, names: &'a [String]) -> impl Iterator<Item = Self> {
        names.iter().zip(&document.points).map(|(name, GridPoint { run, verdicts, .. })| {
            Self::Run(ReportedRun { name, run, verdicts, written: None })
        })
    }

    /// Returns the run, if the subject is one.
    #[must_use]
    pub const fn run(&self) -> Option<ReportedRun<'a>> {
        match self {
            Self::Run(shown) => Some(*shown),
            Self::Sweep(_) | Self::Suite(_) => None,
        }
    }
}

#[must_use]
pub fn page(subjects: &[PageSubject<'_>]) -> String {
    let runs: Vec<ReportedRun<'_>> = subjects.iter().filter_map(PageSubject::run).collect();
    let labels = (runs.len() == subjects.len() && runs.len() > 1)
        .then(|| crate::compare::labels(&runs.iter().map(|shown| shown.run).collect::<Vec<_>>()))
        .flatten();
    let Some(labels) = labels else { return page::of(subjects, None, "") };
    // Runs are told apart by what differs, and found by their names.
    let about = labels.iter().zip(&runs).map(|(label, shown)| format!("{label}: {}", shown.name));
    let about = about.collect::<Vec<_>>().join(" · ");
    let named = labels.iter().zip(&runs).map(|(name, shown)| PageSubject::Run(ReportedRun { name, ..*shown }));
    page::of(&named.collect::<Vec<_>>(), None, &about)
}

/// Returns the page of a comparison: its answer, each change with its interval, and the overlaid charts of the runs.
pub(crate) fn comparison_page(document: &ComparisonResult, runs: &[PageSubject<'_>]) -> String {
    page_of_changes(&document.answer, &|out| comparison::section(out, document), (runs, &[document]))
}

/// Returns the page of three or more runs, each compared with the first.
pub(crate) fn comparisons_page(document: &ComparisonsResult, runs: &[PageSubject<'_>]) -> String {
    let all: Vec<&ComparisonResult> = document.comparisons.iter().collect();
    page_of_changes(&document.answer, &|out| comparison::several(out, document), (runs, &all))
}

fn page_of_changes(
    answer: &Answer,
    write: &dyn Fn(&mut Markup),
    (runs, all): (&[PageSubject<'_>], &[&ComparisonResult]),
) -> String {
    let sides = all.iter().take(1).map(|one| &one.baseline).chain(all.iter().map(|one| &one.candidate)).flatten();
    let name = |run: &NamedRun| match &run.label {
        Some(label) => format!("{label}: {}", run.name),
        None => run.name.clone(),
    };
    let about = sides.map(name).collect::<Vec<_>>().join(" · ");
    let answer = Some(answer.clone());
    let joint = JointResult { answer, name: "Changes", write, has_charts: true, missing: None };
    page::of(runs, Some(&joint), &about)
}

/// Returns the page of a grid: its answer, its curves, and every point; runs are named by their settings.
pub(crate) fn grid_page(document: &GridResult) -> String {
    let names: Vec<String> = document.points.iter().map(GridPoint::label).collect();
    let subjects: Vec<PageSubject<'_>> = PageSubject::of_grid(document, &names).collect();
    let shape = GridShape::of(&document.points);
    let joint = JointResult {
        answer: crate::grid::answer(document),
        name: "Points",
        write: &|out| grid::section(out, document, &shape),
        // A point of a curve is one of many; what differs in name alone is worth its whole course.
        has_charts: !shape.is_curve() && document.points.len() <= COLOURS,
        missing: document.missing.as_ref(),
    };
    page::of(&subjects, Some(&joint), &crate::grid::about(document))
}

pub(crate) fn run_page(run: &Run, verdicts: &[Verdict]) -> String {
    page(&[PageSubject::Run(ReportedRun { name: "this run", run, verdicts, written: None })])
}
