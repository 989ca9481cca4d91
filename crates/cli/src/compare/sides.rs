//! The runs of both sides.

use std::path::{Path, PathBuf};

use analyse::{Verdict, analyse};
use record::Run;
use report::Shown;
use report::compare::NamedRun;
use report::html::PageSubject;

use crate::run_argument::{ResolvedRun, resolve_all};

/// One side: a run, or repeats of one.
pub(crate) struct RunSet(Vec<ResolvedRun>);

impl RunSet {
    /// All runs that some words name, a series by all of its repeats.
    ///
    /// # Errors
    ///
    /// What cannot be had, a line each.
    pub(crate) fn resolve(words: &[String]) -> Result<Self, Vec<String>> {
        let names: Vec<&str> = words.iter().flat_map(|word| split(word)).collect();
        let (mut runs, mut problems) = (Vec::new(), Vec::new());
        for name in names {
            match resolve_all(name) {
                Ok(found) => runs.extend(found),
                Err(problem) => problems.push(problem),
            }
        }
        let empty = runs.iter().filter(|resolved| resolved.run.jobs.iter().all(|job| job.result.ios() == 0));
        problems.extend(empty.map(|resolved| {
            format!(
                "{}: it contains no measurement: no job completed an operation\nhelp: give another run",
                resolved.name
            )
        }));
        if problems.is_empty() { Ok(Self(runs)) } else { Err(problems) }
    }

    pub(crate) fn runs(&self) -> Vec<&Run> {
        self.0.iter().map(|resolved| &resolved.run).collect()
    }

    pub(crate) fn named(&self) -> Vec<NamedRun> {
        self.0.iter().map(|resolved| NamedRun::of(&resolved.name, &resolved.run)).collect()
    }

    /// Each run as a page shows it, called by its side.
    pub(crate) fn shown(&self, side: &str) -> Vec<RunShown<'_>> {
        let shown = |resolved: &'_ ResolvedRun| format!("{side} {}", resolved.name);
        self.0.iter().map(|one| RunShown { name: shown(one), run: &one.run, verdicts: analyse(&one.run) }).collect()
    }

    /// Runs that are given more than once, here or in `other` as well: they would be compared with themselves.
    pub(crate) fn twice(&self, other: &Self) -> Vec<String> {
        let names: Vec<&str> = self.0.iter().chain(&other.0).map(|resolved| resolved.name.as_str()).collect();
        let again = names.iter().enumerate().filter(|(index, name)| names[..*index].contains(name));
        again
            .map(|(_, name)| {
                format!("{name}: it is given twice, and a run always equals itself\nhelp: give another run")
            })
            .collect()
    }
}

/// A run and what was found in it.
#[derive(Clone)]
pub(crate) struct RunShown<'a> {
    name: String,
    run: &'a Run,
    verdicts: Vec<Verdict>,
}

impl RunShown<'_> {
    pub(crate) fn subject(&self) -> PageSubject<'_> {
        PageSubject::Run(Shown { name: &self.name, run: self.run, verdicts: &self.verdicts, written: None })
    }
}

/// `a,b,c`, unless there is a file of that name.
fn split(word: &str) -> Vec<&str> {
    if Path::new(word).exists() { vec![word] } else { word.split(',').filter(|name| !name.is_empty()).collect() }
}

/// Files that would be written over the runs they come from.
pub(crate) fn overwritten(words: &[String], outputs: &[PathBuf]) -> Vec<String> {
    let same = |path: &Path, name: &str| {
        path.canonicalize().is_ok_and(|path| Path::new(name).canonicalize().is_ok_and(|name| name == path))
    };
    let inputs: Vec<&str> = words.iter().flat_map(|word| split(word)).collect();
    let over = outputs.iter().filter(|path| inputs.iter().any(|name| same(path, name)));
    over.map(|path| format!("--output {}: it is one of the compared runs\nhelp: give another file", path.display()))
        .collect()
}
