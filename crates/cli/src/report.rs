//! `fathom report`: writes saved runs as a page, tables or text.

use std::path::Path;

use analyse::Verdict;
use report::html::PageSubject;
use report::{ReportedRun, ResultDocument, ResultFormat, formats_of};
use results::grid::{GridPoint, GridResult};
use results::shards::Sharded;
use results::stored::StoredResult;
use results::suite::SuiteResult;
use results::sweep::SweepResult;

use crate::args::ReportOptions;
use crate::diagnostics;
use crate::exit::Exit;
use crate::outputs::{Output, deliver_and_print, printed};
use crate::run_argument::{ResolvedRun, is_file, resolve_all};
use crate::save::{GRID, SUITE, SWEEP};
use device::input_file;
use units::{Problem, ProblemCode};

/// Reads all runs, merges shards, then writes the report.
pub(crate) fn command(options: &ReportOptions) -> Result<Exit, Exit> {
    let (mut inputs, mut problems) = (Vec::new(), Vec::new());
    for which in &options.runs {
        match read(which) {
            Ok(read) => inputs.extend(read.into_iter().map(|input| (which.clone(), input))),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(Exit::invalid(problems));
    }
    let read = merged(inputs).map_err(Exit::invalid)?;
    let subjects: Vec<PageSubject<'_>> = read.iter().flat_map(ReportInput::subjects).collect();
    let (document, formats) = match read.as_slice() {
        [ReportInput::Grid { document, .. }] => (ResultDocument::Grid(document), ResultFormat::OF_GRID),
        _ => (ResultDocument::Report(&subjects), formats_of(&subjects)),
    };
    let mut files = Output::open(&options.output, formats).map_err(Exit::invalid)?;
    let text = if files.is_empty() { printed(document, ResultFormat::Text, options.details) } else { String::new() };
    Ok(deliver_and_print(&mut files, &text, document))
}

/// A RUN of the command line.
enum ReportInput {
    Run { resolved: Box<ResolvedRun>, verdicts: Vec<Verdict>, written: Option<String> },
    Grid { document: GridResult, names: Vec<String> },
    Sweep(Box<SweepResult>),
    Suite(Box<SuiteResult>),
}

impl ReportInput {
    fn of_grid(document: GridResult) -> Self {
        Self::Grid { names: document.points.iter().map(GridPoint::label).collect(), document }
    }

    fn subjects(&self) -> Vec<PageSubject<'_>> {
        match self {
            Self::Run { resolved, verdicts, written } => vec![PageSubject::Run(ReportedRun {
                name: &resolved.name,
                run: &resolved.run,
                verdicts,
                written: written.as_deref(),
            })],
            Self::Grid { document, names } => PageSubject::of_grid(document, names).collect(),
            Self::Sweep(document) => vec![PageSubject::Sweep(document)],
            Self::Suite(document) => vec![PageSubject::Suite(document)],
        }
    }
}

/// Merges the shards among named inputs, and warns of those that are missing. A whole takes the place of its first shard.
fn merged(inputs: Vec<(String, ReportInput)>) -> Result<Vec<ReportInput>, Problem> {
    let (mut grids, mut sweeps, mut others) = (Vec::new(), Vec::new(), Vec::new());
    let (mut grid_place, mut sweep_place) = (0, 0);
    for (name, input) in inputs {
        match input {
            ReportInput::Grid { document, .. } if document.shard.is_some() => {
                grid_place = if grids.is_empty() { others.len() } else { grid_place };
                grids.push((name, document));
            }
            ReportInput::Sweep(document) if document.shard.is_some() => {
                sweep_place = if sweeps.is_empty() { others.len() } else { sweep_place };
                sweeps.push((name, *document));
            }
            other => others.push(other),
        }
    }
    let mut wholes: Vec<(usize, ReportInput)> = Vec::new();
    wholes.extend(whole(grids)?.map(|grid| (grid_place, ReportInput::of_grid(grid))));
    wholes.extend(whole(sweeps)?.map(|sweep| (sweep_place, ReportInput::Sweep(Box::new(sweep)))));
    // The later first, so that the places of the others stay.
    wholes.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
    wholes.into_iter().for_each(|(place, whole)| others.insert(place, whole));
    Ok(others)
}

/// Merges shards, if there are any.
fn whole<D: Sharded>(shards: Vec<(String, D)>) -> Result<Option<D>, Problem> {
    if shards.is_empty() {
        return Ok(None);
    }
    let mut whole = D::merge(shards)?;
    if let Some(missing) = whole.parts().missing {
        diagnostics::warning(&Problem::warning(ProblemCode::Shard, missing.to_string()));
    }
    Ok(Some(whole))
}

/// Reads a grid, sweep or suite document, a run, or all repeats of a series.
fn read(which: &str) -> Result<Vec<ReportInput>, Problem> {
    match document(which)? {
        Some(document) => Ok(vec![document]),
        None => resolve_all(which)?.into_iter().map(classify).collect(),
    }
}

/// Returns the grid, sweep or suite that a saved run holds, or the run itself.
fn classify(resolved: ResolvedRun) -> Result<ReportInput, Problem> {
    if let Some(loaded) = &resolved.loaded
        && let Some(name) = [SWEEP, SUITE, GRID].into_iter().find(|name| loaded.entry.files.contains_key(*name))
    {
        let bytes = loaded.file(name)?;
        let place = loaded.folder().join(name).display().to_string();
        // The grids of earlier versions cannot be read; the record of their points can.
        match parse(&place, &bytes)? {
            None if name != GRID => {
                let what = format!("{place}: contains neither a sweep nor a suite");
                return Err(Problem::error(ProblemCode::UnreadableInput, what));
            }
            None => {}
            Some(document) => return Ok(document),
        }
    }
    let written = resolved.loaded.as_ref().and_then(|loaded| loaded.job().ok().flatten());
    let verdicts = analyse::analyse(&resolved.run);
    Ok(ReportInput::Run { resolved: Box::new(resolved), verdicts, written })
}

/// Reads the grid, sweep or suite document in a file; `None` if the file holds something else.
fn document(which: &str) -> Result<Option<ReportInput>, Problem> {
    if !is_file(which) || which == "-" {
        return Ok(None);
    }
    match input_file::bytes(Path::new(which)) {
        Ok(bytes) => parse(which, &bytes),
        // `resolve_all` reports the error.
        Err(_) => Ok(None),
    }
}

fn parse(name: &str, bytes: &[u8]) -> Result<Option<ReportInput>, Problem> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(None) };
    let start: String = text.chars().filter(|letter| !letter.is_whitespace()).take(20).collect();
    let key = start.strip_prefix("{\"").and_then(|rest| rest.split_once("\":"));
    let document = match key.map(|(key, _)| key) {
        Some("fathom_grid") => GridResult::read(text).map(ReportInput::of_grid),
        Some("fathom_sweep") => SweepResult::read(text).map(|document| ReportInput::Sweep(Box::new(document))),
        Some("fathom_suite") => SuiteResult::read(text).map(|document| ReportInput::Suite(Box::new(document))),
        _ => return Ok(None),
    };
    document.map(Some).map_err(|problem| problem.of(name))
}
