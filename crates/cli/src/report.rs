//! `fathom report`: writes saved runs as a page, tables or text.

use std::path::Path;

use analyse::Verdict;
use report::html::PageSubject;
use report::{ReportedRun, ResultDocument, ResultFormat, formats_of, suite, sweep};

use crate::args::ReportOptions;
use crate::exit::Exit;
use crate::input_file;
use crate::outputs::{Output, deliver_and_print, printed};
use crate::run_argument::{ResolvedRun, is_file, resolve_all};
use crate::save::{SUITE, SWEEP};

/// Reads all runs, then writes the report.
pub(crate) fn command(options: &ReportOptions) -> Result<Exit, Exit> {
    let (read, problems): (Vec<_>, Vec<_>) = options.runs.iter().map(|which| read(which)).partition(Result::is_ok);
    let problems: Vec<String> = problems.into_iter().filter_map(Result::err).collect();
    if !problems.is_empty() {
        return Err(Exit::usage(problems.join("\n")));
    }
    let read: Vec<ReportInput> = read.into_iter().flatten().flatten().collect();
    let subjects: Vec<PageSubject<'_>> = read.iter().map(ReportInput::subject).collect();
    let mut files = Output::open(&options.output, formats_of(&subjects)).map_err(Exit::usage)?;
    let document = ResultDocument::Report(&subjects);
    let text = if files.is_empty() { printed(document, ResultFormat::Text) } else { String::new() };
    Ok(deliver_and_print(&mut files, &text, document))
}

/// A RUN of the command line.
enum ReportInput {
    Run { resolved: Box<ResolvedRun>, verdicts: Vec<Verdict>, written: Option<String> },
    Sweep(Box<sweep::SweepDocument>),
    Suite(Box<suite::SuiteDocument>),
}

impl ReportInput {
    fn subject(&self) -> PageSubject<'_> {
        match self {
            Self::Run { resolved, verdicts, written } => PageSubject::Run(ReportedRun {
                name: &resolved.name,
                run: &resolved.run,
                verdicts,
                written: written.as_deref(),
            }),
            Self::Sweep(document) => PageSubject::Sweep(document),
            Self::Suite(document) => PageSubject::Suite(document),
        }
    }
}

/// Reads a sweep or suite document, a run, or all repeats of a series.
fn read(which: &str) -> Result<Vec<ReportInput>, String> {
    match document(which)? {
        Some(document) => Ok(vec![document]),
        None => resolve_all(which)?.into_iter().map(classify).collect(),
    }
}

/// Returns the sweep or suite that a saved run holds, or the run itself.
fn classify(resolved: ResolvedRun) -> Result<ReportInput, String> {
    if let Some(loaded) = &resolved.loaded
        && let Some(name) = [SWEEP, SUITE].into_iter().find(|name| loaded.entry.files.contains_key(*name))
    {
        let bytes = loaded.file(name).map_err(|error| error.to_string())?;
        let place = loaded.folder().join(name).display().to_string();
        return parse(&place, &bytes)?.ok_or_else(|| format!("{place}: it holds neither a sweep nor a suite"));
    }
    let written = resolved.loaded.as_ref().and_then(|loaded| loaded.job().ok().flatten());
    let verdicts = analyse::analyse(&resolved.run);
    Ok(ReportInput::Run { resolved: Box::new(resolved), verdicts, written })
}

/// Reads the sweep or suite document in a file; `None` if the file holds something else.
fn document(which: &str) -> Result<Option<ReportInput>, String> {
    if !is_file(which) || which == "-" {
        return Ok(None);
    }
    match input_file::bytes(Path::new(which)) {
        Ok(bytes) => parse(which, &bytes),
        // `resolve_all` reports the error.
        Err(_) => Ok(None),
    }
}

fn parse(name: &str, bytes: &[u8]) -> Result<Option<ReportInput>, String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(None) };
    let start: String = text.chars().filter(|letter| !letter.is_whitespace()).take(16).collect();
    let document = match start.as_str() {
        "{\"fathom_sweep\":" => sweep::read(text).map(|document| ReportInput::Sweep(Box::new(document))),
        "{\"fathom_suite\":" => suite::read(text).map(|document| ReportInput::Suite(Box::new(document))),
        _ => return Ok(None),
    };
    document.map(Some).map_err(|error| format!("{name}: {error}"))
}
