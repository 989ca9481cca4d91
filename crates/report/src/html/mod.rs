//! The HTML page: verdict, findings, figures, charts, tables, and how to repeat the run.
//!
//! A page is a file of its own. It asks nothing of the network (a policy in its head has browsers refuse to), runs no
//! script, and is read on a phone, on a wide screen, on paper, in light and in dark, and by those who hear it. A section is
//! made by a module here, a chart by one in `charts`; letters and colours are in two style sheets; names that others chose
//! pass through `markup`, which lets none of them become an element.

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
mod run;
mod suite;
mod sweep;
mod table;

use analyse::Verdict;
pub use document::{HtmlDocument, PageBlock, PagePart, document};
use record::Run;

use crate::shown::Shown;
use crate::{GridPoint, compare, suite as suites, sweep as sweeps};

/// One thing that a page is about.
#[derive(Clone, Copy, Debug)]
pub enum PageSubject<'a> {
    /// A run or a simulation. All of a page are laid over each other.
    Run(Shown<'a>),
    /// A search for the knee.
    Sweep(&'a sweeps::SweepDocument),
    /// A published procedure.
    Suite(&'a suites::SuiteDocument),
}

impl<'a> PageSubject<'a> {
    /// The run that it is; `None` of anything else.
    #[must_use]
    pub const fn run(&self) -> Option<Shown<'a>> {
        match self {
            Self::Run(shown) => Some(*shown),
            Self::Sweep(_) | Self::Suite(_) => None,
        }
    }
}

/// The page of all subjects.
#[must_use]
pub fn page(subjects: &[PageSubject<'_>]) -> String {
    page::of(subjects, None)
}

/// The page of a comparison: its answer, each change with its interval, and the charts of the runs beside each other.
#[must_use]
pub fn comparison_page(document: &compare::ComparisonDocument, runs: &[PageSubject<'_>]) -> String {
    page::of(runs, Some(document))
}

/// The page of many runs that differ in a few settings, by which they are called.
#[must_use]
pub fn grid_page(points: &[GridPoint]) -> String {
    let name =
        |point: &GridPoint| point.settings.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>();
    let names: Vec<String> = points.iter().map(|point| name(point).join(" ")).collect();
    let subjects: Vec<PageSubject<'_>> = names
        .iter()
        .zip(points)
        .map(|(name, point)| {
            PageSubject::Run(Shown { name, run: &point.run, verdicts: &point.verdicts, written: None })
        })
        .collect();
    page(&subjects)
}

/// The page of one run.
#[must_use]
pub fn run_page(run: &Run, verdicts: &[Verdict]) -> String {
    page(&[PageSubject::Run(Shown { name: "this run", run, verdicts, written: None })])
}
