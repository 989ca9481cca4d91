//! Public parsing functions.

use std::sync::Arc;
use units::{Place, Problem, ProblemCode};

use crate::arguments::{self, Arguments};
use crate::file::{FileReader, ParsedAmounts};
use crate::host::{HostOptions, IdleProfile};
use crate::model::Plan;
use crate::parsed::Parsed;
use crate::raw::{InjectedOptions, RawFile};
use crate::resolve::Resolver;
use crate::showcmd::showcmd;
use crate::source::HostSource;
use crate::{Dialect, limits, profile};

/// A parsed command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Invocation {
    /// Options of the program.
    pub host: HostOptions,
    /// The jobs.
    pub plan: Plan,
    /// For `--showcmd`: one command line per job file.
    pub showcmd: Vec<String>,
}

/// Splits the text of a job file into sections without interpreting its options.
///
/// Diagnostics call the file `name`; includes are also searched for in its directory.
pub fn parse_raw(name: &str, text: &[u8], dialect: Dialect, source: &dyn HostSource) -> Parsed<RawFile> {
    let mut diagnostics = Vec::new();
    let spent = &mut ParsedAmounts::default();
    let value = FileReader { dialect, source, diagnostics: &mut diagnostics, spent }.read(name, text);
    Parsed { value, diagnostics }
}

/// Parses all sections of one job file.
pub fn parse_file_text(name: &str, text: &[u8], dialect: Dialect, source: &dyn HostSource) -> Parsed<Plan> {
    let raw = parse_raw(name, text, dialect, source);
    resolve(
        &RawFile::default(),
        &[raw.value],
        Resolver::new(dialect, &[], &InjectedOptions::default()),
        raw.diagnostics,
    )
}

/// Reads and parses the job files at `paths`, or only their sections named in `sections` if any are.
///
/// Each file begins with the defaults. The first job of each later file waits for all jobs before it.
pub fn parse_files(paths: &[String], sections: &[String], dialect: Dialect, source: &dyn HostSource) -> Parsed<Plan> {
    let mut diagnostics = Vec::new();
    let paths: Vec<_> = paths.iter().map(|path| (path.as_str(), None)).collect();
    let files = read_files(&paths, dialect, source, &mut diagnostics);
    resolve(&RawFile::default(), &files, Resolver::new(dialect, sections, &InjectedOptions::default()), diagnostics)
}

/// Parses job options and job files as `fathom run` takes them: `--rw=read`, `--name`, `JOBFILE`.
///
/// Options before any `--name` override those of every job in the files, and a note lists what they replace.
/// [`parse_command_line`] takes them for defaults, as fio does. `args` contains no options of the program. If
/// `sections` is not empty, only the jobs it names are kept.
pub fn parse_job_arguments(
    args: &[String],
    sections: &[String],
    around: &InjectedOptions,
    dialect: Dialect,
    source: &dyn HostSource,
) -> Parsed<Plan> {
    let mut arguments = arguments::read(args, dialect, false);
    arguments.jobs.jobs.retain(|job| job.global || sections.is_empty() || sections.contains(&job.title));
    let imposed = arguments.jobs.jobs.iter().filter(|job| job.global).flat_map(|job| job.options.clone()).collect();
    let resolver = Resolver::new(dialect, sections, around).imposing(imposed);
    let parsed = invocation(arguments, sections, resolver, dialect, source);
    Parsed { value: parsed.value.plan, diagnostics: parsed.diagnostics }
}

/// Parses fio's command line, without the program's name.
pub fn parse_command_line(args: &[String], dialect: Dialect, source: &dyn HostSource) -> Parsed<Invocation> {
    let arguments = arguments::read(args, dialect, true);
    let sections = arguments.host.sections.clone();
    let resolver = Resolver::new(dialect, &sections, &InjectedOptions::default());
    invocation(arguments, &sections, resolver, dialect, source)
}

fn invocation(
    arguments: Arguments,
    sections: &[String],
    resolver: Resolver<'_>,
    dialect: Dialect,
    source: &dyn HostSource,
) -> Parsed<Invocation> {
    let Arguments { host, jobs, files, mut diagnostics, .. } = arguments;
    let paths: Vec<_> = files.iter().map(|(path, place)| (path.as_str(), Some(place))).collect();
    let mut raw = read_files(&paths, dialect, source, &mut diagnostics);
    if let Some(name) = &host.profile {
        match profile::expand(name, &jobs, source) {
            Ok(jobs) => raw.insert(0, jobs),
            Err(problem) => diagnostics.push(problem),
        }
    }
    let showcmd = if host.showcmd { show(&jobs, &raw, sections) } else { Vec::new() };
    let plan = resolve(&jobs, &raw, resolver, diagnostics);
    let asks_for_help =
        host.version || host.help || host.cmdhelp.is_some() || host.enghelp.is_some() || host.inflate_log.is_some();
    let calibrates = host.idle_prof == Some(IdleProfile::Calibrate);
    let runs_nothing = asks_for_help || host.debug.lists || calibrates || host.parse_only || host.showcmd;
    let diagnostics = plan.diagnostics.into_iter().filter(|d| !runs_nothing || d.code != ProblemCode::NoJobs).collect();
    Parsed { value: Invocation { host, plan: plan.value, showcmd }, diagnostics }
}

/// Returns a command line per file; options of the command line itself affect the first file only.
fn show(command_line: &RawFile, files: &[RawFile], sections: &[String]) -> Vec<String> {
    let nothing = RawFile::default();
    let before = std::iter::once(command_line).chain(std::iter::repeat(&nothing));
    files.iter().zip(before).map(|(file, before)| showcmd(before, file, sections)).collect()
}

fn read_files(
    paths: &[(&str, Option<&Place>)],
    dialect: Dialect,
    source: &dyn HostSource,
    diagnostics: &mut Vec<Problem>,
) -> Vec<RawFile> {
    let (mut files, mut spent) = (Vec::new(), ParsedAmounts::default());
    for (path, place) in paths {
        match source.read(path) {
            Ok(text) => {
                let spent = &mut spent;
                files.push(FileReader { dialect, source, diagnostics, spent }.read(path, &text));
            }
            Err(problem) => {
                // The word may be the value of an option that the engine does not have, without credentials in its place.
                let shown = place.map_or_else(|| (*path).to_owned(), Place::marked);
                diagnostics.push(problem.of(format_args!("`{shown}` cannot be read")).at(place.cloned()));
            }
        }
    }
    files
}

fn resolve(
    command_line: &RawFile,
    files: &[RawFile],
    mut resolver: Resolver<'_>,
    mut diagnostics: Vec<Problem>,
) -> Parsed<Plan> {
    resolver.add(command_line, true);
    for (index, file) in files.iter().enumerate() {
        resolver.add(file, index == 0);
    }
    let (value, problems) = resolver.finish();
    diagnostics.extend(problems);
    if value.jobs.is_empty() && diagnostics.is_empty() {
        diagnostics.push(
            Problem::error(ProblemCode::NoJobs, "no job is defined")
                .help("name one: `[name]` in a job file, or `--name=…` on the command line"),
        );
    }
    sort_by_place(&mut diagnostics);
    limits::shorten(&mut diagnostics);
    Parsed { value, diagnostics }
}

/// Sorts diagnostics by place, the files in the order of their first diagnostic.
fn sort_by_place(diagnostics: &mut [Problem]) {
    let mut sources: Vec<Arc<str>> = Vec::new();
    for place in diagnostics.iter().filter_map(|d| d.place.as_ref()) {
        if !sources.contains(&place.source) {
            sources.push(Arc::clone(&place.source));
        }
    }
    let file = |place: &Place| sources.iter().position(|source| *source == place.source);
    diagnostics.sort_by_key(|d| d.place.as_ref().map(|place| (file(place), place.line, place.column)));
}
