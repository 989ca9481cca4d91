//! Loads the runs of baseline and candidate.

use std::path::{Path, PathBuf};

use analyse::compare::mismatches_of_repeats;
use analyse::{Verdict, analyse};
use record::Run;
use report::ReportedRun;
use report::compare::{named, refusal_of_repeats};
use report::html::PageSubject;
use results::compare::NamedRun;
use units::{Problem, ProblemCode};

use crate::exit::Exit;
use crate::run_argument::{ResolvedRun, resolve_all};

/// Runs of one side: a run, or repeats of it.
pub(crate) struct RunSet(Vec<ResolvedRun>);

impl RunSet {
    /// Loads runs, separated by commas, and all repeats of series. Returns all problems.
    pub(crate) fn resolve(words: &[String]) -> Result<Self, Vec<Problem>> {
        let (mut runs, mut problems) = (Vec::new(), Vec::new());
        for name in words.iter().flat_map(|word| split(word)) {
            match resolve_all(name) {
                Ok(found) => runs.extend(found),
                Err(problem) => problems.push(problem),
            }
        }
        let empty = runs.iter().filter(|resolved| resolved.run.jobs.iter().all(|job| !job.has_result()));
        problems.extend(empty.map(|resolved| {
            let what = format!("{}: no measurement: no job completed an operation", resolved.name);
            Problem::error(ProblemCode::NoResults, what).help("give another run")
        }));
        if problems.is_empty() { Ok(Self(runs)) } else { Err(problems) }
    }

    /// Refuses runs of different workloads or devices, whose mean says nothing.
    pub(crate) fn check_repeats(&self) -> Result<(), Exit> {
        let first = self.0.first().map_or("", |resolved| resolved.name.as_str());
        let reasons = refusal_of_repeats(first, &mismatches_of_repeats(&self.runs()));
        if reasons.is_empty() {
            return Ok(());
        }
        let error = Problem::error(ProblemCode::NotComparable, "the runs are not repeats of one run");
        let error = reasons.into_iter().fold(error, Problem::note);
        Err(Exit::invalid([error.help("give repeats of one run, or add --force to average them anyway")]))
    }

    pub(crate) fn runs(&self) -> Vec<&Run> {
        self.0.iter().map(|resolved| &resolved.run).collect()
    }

    pub(crate) fn named(&self) -> Vec<NamedRun> {
        self.0.iter().map(|resolved| named(&resolved.name, &resolved.run)).collect()
    }

    /// Returns the first run, of which the others are repeats.
    pub(crate) fn first(&self) -> Option<&ResolvedRun> {
        self.0.first()
    }

    /// Returns the runs for a page, by the name of their side; repeats are numbered.
    pub(crate) fn subjects<'a>(&'a self, side: &str) -> Vec<RunSubject<'a>> {
        let name = |number: usize| if self.0.len() > 1 { format!("{side} {number}") } else { side.to_owned() };
        let subject = |(number, one): (usize, &'a ResolvedRun)| RunSubject {
            name: name(number),
            run: &one.run,
            verdicts: analyse(&one.run),
        };
        (1..).zip(&self.0).map(subject).collect()
    }

    /// Returns an error for each run given twice, on one side or on several: it would be compared with itself.
    pub(crate) fn duplicates(sides: &[&Self]) -> Vec<Problem> {
        let names: Vec<&str> = sides.iter().flat_map(|side| &side.0).map(|resolved| resolved.name.as_str()).collect();
        let error = |name: &&str| {
            Problem::error(ProblemCode::Arguments, format!("{name}: given twice, and a run always equals itself"))
                .help("give another run")
        };
        let duplicates = names.iter().enumerate().filter(|(index, name)| names[..*index].contains(name));
        duplicates.map(|(_, name)| error(name)).collect()
    }
}

/// A run with its verdicts, for a page.
#[derive(Clone)]
pub(crate) struct RunSubject<'a> {
    name: String,
    run: &'a Run,
    verdicts: Vec<Verdict>,
}

impl RunSubject<'_> {
    pub(crate) fn page(&self) -> PageSubject<'_> {
        PageSubject::Run(ReportedRun { name: &self.name, run: self.run, verdicts: &self.verdicts, written: None })
    }
}

/// Splits `a,b,c`, unless a file has that name.
fn split(word: &str) -> Vec<&str> {
    if Path::new(word).exists() { vec![word] } else { word.split(',').filter(|name| !name.is_empty()).collect() }
}

/// Returns an error for each output that would overwrite a compared run.
pub(crate) fn overwritten(words: &[String], outputs: &[PathBuf]) -> Vec<Problem> {
    let same = |path: &Path, name: &str| {
        path.canonicalize().is_ok_and(|path| Path::new(name).canonicalize().is_ok_and(|name| name == path))
    };
    let inputs: Vec<&str> = words.iter().flat_map(|word| split(word)).collect();
    let overwriting = outputs.iter().filter(|path| inputs.iter().any(|name| same(path, name)));
    overwriting
        .map(|path| {
            let what = format!("--output {}: one of the compared runs", path.display());
            Problem::error(ProblemCode::Output, what).help("give another file")
        })
        .collect()
}
