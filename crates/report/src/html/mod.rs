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
use record::Run;
use results::compare::ComparisonResult;
use results::grid::{GridPoint, GridResult};
use results::suite::SuiteResult;
use results::sweep::SweepResult;
pub(crate) use trace::trace_page;

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
    page::of(subjects, None, None)
}

/// Returns the page of a comparison: its answer, each change with its interval, and the overlaid charts of the runs.
pub(crate) fn comparison_page(document: &ComparisonResult, runs: &[PageSubject<'_>]) -> String {
    page::of(runs, Some(document), None)
}

/// Returns the page of a grid; runs are named by their settings.
pub(crate) fn grid_page(document: &GridResult) -> String {
    let names: Vec<String> = document.points.iter().map(GridPoint::label).collect();
    let subjects: Vec<PageSubject<'_>> = PageSubject::of_grid(document, &names).collect();
    page::of(&subjects, None, document.missing.as_ref())
}

pub(crate) fn run_page(run: &Run, verdicts: &[Verdict]) -> String {
    page(&[PageSubject::Run(ReportedRun { name: "this run", run, verdicts, written: None })])
}
