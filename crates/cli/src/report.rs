//! `fathom report`: saved runs as a page, tables or text.

use std::path::Path;

use analyse::Verdict;
use report::html::PageSubject;
use report::{ResultDocument, ResultFormat, Shown, formats_of, suite, sweep};

use crate::args::ReportOptions;
use crate::exit::Exit;
use crate::input_file;
use crate::outputs::{Output, deliver_and_print, printed};
use crate::run_argument::{ResolvedRun, is_file, resolve_all};
use crate::save::{SUITE, SWEEP};

/// Reads all of them, then writes.
pub(crate) fn command(options: &ReportOptions) -> Result<Exit, Exit> {
    let (read, problems): (Vec<_>, Vec<_>) = options.runs.iter().map(|which| read(which)).partition(Result::is_ok);
    let problems: Vec<String> = problems.into_iter().filter_map(Result::err).collect();
    if !problems.is_empty() {
        return Err(Exit::usage(&problems.join("\n")));
    }
    let read: Vec<RunSource> = read.into_iter().flatten().flatten().collect();
    let subjects: Vec<PageSubject<'_>> = read.iter().map(RunSource::subject).collect();
    let opened = Output::open(&options.output, formats_of(&subjects));
    let mut files = opened.map_err(|problem| Exit::usage(&problem))?;
    let document = ResultDocument::Report(&subjects);
    let text = if files.is_empty() { printed(document, ResultFormat::Text) } else { String::new() };
    Ok(deliver_and_print(&mut files, &text, document))
}

/// The source of a RUN.
enum RunSource {
    Run { resolved: Box<ResolvedRun>, verdicts: Vec<Verdict>, written: Option<String> },
    Sweep(Box<sweep::SweepDocument>),
    Suite(Box<suite::SuiteDocument>),
}

impl RunSource {
    fn subject(&self) -> PageSubject<'_> {
        match self {
            Self::Run { resolved, verdicts, written } => PageSubject::Run(Shown {
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

/// Resolves a word to runs, all repeats of a series; the reason of a failure is on one line.
fn read(which: &str) -> Result<Vec<RunSource>, String> {
    match document(which)? {
        Some(known) => Ok(vec![known]),
        None => resolve_all(which)?.into_iter().map(known).collect(),
    }
}

/// Classifies a saved run: run, sweep or suite.
fn known(resolved: ResolvedRun) -> Result<RunSource, String> {
    if let Some(kept) = &resolved.kept
        && let Some(name) = [SWEEP, SUITE].into_iter().find(|name| kept.entry.files.contains_key(*name))
    {
        let bytes = kept.file(name).map_err(|error| error.to_string())?;
        let place = kept.folder().join(name).display().to_string();
        return parse(&place, &bytes)?.ok_or_else(|| format!("{place}: it holds neither a sweep nor a suite"));
    }
    let written = resolved.kept.as_ref().and_then(|kept| kept.job().ok().flatten());
    let verdicts = analyse::analyse(&resolved.run);
    Ok(RunSource::Run { resolved: Box::new(resolved), verdicts, written })
}

/// The document of a sweep or a suite that a file holds; `None` where it is something else.
fn document(which: &str) -> Result<Option<RunSource>, String> {
    if !is_file(which) || which == "-" {
        return Ok(None);
    }
    match input_file::bytes(Path::new(which)) {
        Ok(bytes) => parse(which, &bytes),
        // `resolve` says why.
        Err(_) => Ok(None),
    }
}

fn parse(name: &str, bytes: &[u8]) -> Result<Option<RunSource>, String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(None) };
    let start: String = text.chars().filter(|letter| !letter.is_whitespace()).take(16).collect();
    let known = match start.as_str() {
        "{\"fathom_sweep\":" => sweep::read(text).map(|document| RunSource::Sweep(Box::new(document))),
        "{\"fathom_suite\":" => suite::read(text).map(|document| RunSource::Suite(Box::new(document))),
        _ => return Ok(None),
    };
    known.map(Some).map_err(|error| format!("{name}: {error}"))
}
