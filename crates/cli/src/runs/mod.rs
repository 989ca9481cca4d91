//! `fathom runs`: lists, shows, imports and removes saved runs.

mod when;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use device::input_file;
use record::{EnvironmentRecord, RunKind, SavedRun};
use report::runs::{run_details_text, saved_runs_text};
use report::{ResultFormat, SheetStyle};
use results::runs::{RunDetails, RunEntry, RunsResult, SeriesDetails, SkippedRun};
use results::stored::pretty;
use store::{Filter, Listing, Retention, RunStore, StoredRun};
use units::{Bytes, Problem, ProblemCode, counted};

use crate::args::{OptionWord, TEXT_OR_JSON, one_of};
use crate::exit::Exit;
use crate::outputs::print_text;
use crate::run_argument::{ResolvedRun, resolve_all};
use crate::terminal::Terminal;
use crate::{home, save};

/// Runs a subcommand; lists all runs without one.
pub(crate) fn command(options: &RunsOptions) -> Result<Exit, Exit> {
    match &options.command {
        None => list(&RunsListOptions::default()),
        Some(RunsCommand::List(options)) => list(options),
        Some(RunsCommand::Show(options)) => show(options),
        Some(RunsCommand::Rm(named)) => remove(&named.runs),
        Some(RunsCommand::Import(options)) => import(options),
        Some(RunsCommand::Keep(options)) => keep(options),
        Some(RunsCommand::Prune(options)) => prune(options),
    }
}

fn list(options: &RunsListOptions) -> Result<Exit, Exit> {
    let now = device::local_time(device::unix_ms());
    let instant = |option: &str, text: &Option<String>| {
        let of_option = |problem: Problem| Problem { what: format!("{option} {}", problem.what), ..problem };
        let parse = |text: &String| when::unix_ms(text, &now).map_err(|problem| Exit::invalid(of_option(problem)));
        text.as_ref().map(parse).transpose()
    };
    let filter = Filter {
        kind: options.kind,
        name: options.name.clone(),
        host: options.host.clone(),
        device: options.target.clone(),
        tool: options.tool.clone(),
        since_unix_ms: instant("--since", &options.since)?,
        until_unix_ms: instant("--until", &options.until)?,
        text: options.text.clone(),
    };
    let place = home::runs().map_err(Exit::environment)?;
    let store = home::store().map_err(Exit::environment)?;
    let listing = store.map_or_else(|| Ok(store::Listing::default()), |store| store.list(&filter));
    let listing = listing.map_err(|error| failed(&error))?;
    let runs = listing.entries.iter().map(RunEntry::from).collect();
    let result = RunsResult {
        fathom_runs: RunsResult::SCHEMA,
        store: place.display().to_string(),
        runs,
        skipped: skipped(&listing),
    };
    Ok(print_text(&match options.format {
        ResultFormat::Json => pretty(&result),
        _ => saved_runs_text(&result, now.time_zone(), Terminal::stdout().style(true)),
    }))
}

fn show(options: &RunsShowOptions) -> Result<Exit, Exit> {
    let resolved = resolve_all(&options.run).map_err(Exit::invalid)?;
    let style = Terminal::stdout().style(true);
    let details: Vec<_> = resolved.iter().map(details).collect();
    let text = |(one, details)| run_details_text(details, &results(one, style), style);
    Ok(print_text(&match (options.format, &details[..]) {
        (ResultFormat::Json, [only]) => pretty(only),
        (ResultFormat::Json, runs) => pretty(&SeriesDetails { fathom_series: SeriesDetails::SCHEMA, runs }),
        _ => resolved.iter().zip(&details).map(text).collect::<Vec<_>>().join("\n"),
    }))
}

fn remove(words: &[String]) -> Result<Exit, Exit> {
    let store = existing_store()?;
    let ids = store.remove(&expand_series(&store, words)?).map_err(|errors| all_failed(&errors))?;
    Ok(print_text(&ids.iter().map(|id| format!("removed {id}\n")).collect::<String>()))
}

fn import(options: &ImportOptions) -> Result<Exit, Exit> {
    let place = home::runs().map_err(Exit::environment)?;
    let store = RunStore::open(place).map_err(|error| failed(&error))?;
    let mut worst = Exit::Good;
    for path in &options.files {
        let (file, number) = input_file::numbered(path);
        let name = input_file::name(file);
        let bytes = match input_file::bytes(file) {
            Ok(bytes) => bytes,
            Err(problem) => {
                worst = worst.max(Exit::refused(problem.of(&name).at(None)));
                continue;
            }
        };
        for number in run_numbers(&name, &bytes, number) {
            let which = number.map_or_else(|| name.clone(), |number| format!("{name}#{number}"));
            let imported = store.import(&name, &bytes, number, device::unix_ms()).map_err(|error| failed(&error));
            worst = worst.max(match imported {
                Ok(id) => print_text(&format!("imported {which} as {id}\n")),
                Err(exit) => exit,
            });
        }
    }
    Ok(worst)
}

/// Returns the numbers of the runs to import: the chosen one, or all of several. `None` is the only run of an input.
fn run_numbers(name: &str, bytes: &[u8], chosen: Option<usize>) -> Vec<Option<usize>> {
    let count = record::read_inputs(name, bytes).map_or(1, |parts| parts.parts.len());
    match chosen {
        None if count > 1 => (1..=count).map(Some).collect(),
        chosen => vec![chosen],
    }
}

fn keep(options: &KeepOptions) -> Result<Exit, Exit> {
    let store = existing_store()?;
    let mut ids = Vec::new();
    for word in expand_series(&store, &options.named.runs)? {
        ids.push(store.resolve(&word).map_err(|error| failed(&error))?);
    }
    for id in &ids {
        store.keep(id, !options.release).map_err(|error| failed(&error))?;
    }
    let what = if options.release { "released" } else { "exempt from retention:" };
    Ok(print_text(&ids.iter().map(|id| format!("{what} {id}\n")).collect::<String>()))
}

fn prune(options: &PruneOptions) -> Result<Exit, Exit> {
    let retention = retention_of(options).map_err(Exit::invalid)?;
    let Some(store) = home::store().map_err(Exit::environment)? else {
        return Ok(print_text("nothing to remove\n"));
    };
    let surplus = store.surplus(retention, device::unix_ms()).map_err(|error| failed(&error))?;
    let removed = match options.dry_run {
        true => surplus.iter().map(|entry| entry.id.clone()).collect(),
        false => store.retain(retention, device::unix_ms()).map_err(|error| failed(&error))?,
    };
    let bytes = surplus.iter().filter(|entry| removed.contains(&entry.id)).map(SavedRun::bytes).sum();
    let what = if options.dry_run { "would be removed" } else { "removed" };
    let lines: String = removed.iter().map(|id| format!("{id}\n")).collect();
    let runs = counted(removed.len() as u64, "run");
    Ok(print_text(&format!("{lines}{runs} {what}, {}\n", Bytes::new(bytes))))
}

/// Returns the retention of the options; without options, that of the environment.
fn retention_of(options: &PruneOptions) -> Result<Retention, Problem> {
    let limit = |option: &str, text: &Option<String>, parse: fn(&str) -> Option<u64>, example: &str| {
        let unknown = |text: &String| {
            Problem::error(ProblemCode::Arguments, format!("{option} {text}: invalid value"))
                .help(format!("write {example}"))
        };
        text.as_ref().map(|text| parse(text).ok_or_else(|| unknown(text))).transpose()
    };
    let max_age_ms = limit("--older-than", &options.older_than, store::age_ms, "a time such as 90d or 12h")?;
    let max_bytes = limit("--larger-than", &options.larger_than, store::size_bytes, "a size such as 1GiB or 500MB")?;
    match (max_age_ms, max_bytes) {
        (None, None) => home::retention(),
        _ => Ok(Retention { max_age_ms, max_bytes, latest: 0 }),
    }
}

/// Opens the store. Fails if no run was ever saved.
fn existing_store() -> Result<RunStore, Exit> {
    let place = home::runs().map_err(Exit::environment)?;
    let store = home::store().map_err(Exit::environment)?;
    store.ok_or_else(|| {
        Exit::invalid(Problem::error(ProblemCode::SavedRun, format!("no saved runs in {}", place.display())))
    })
}

/// Replaces the names of series by the IDs of all their runs.
fn expand_series(store: &RunStore, words: &[String]) -> Result<Vec<String>, Exit> {
    let mut all = Vec::new();
    for word in words {
        let series = store.series(word).map_err(|error| failed(&error))?;
        match series.is_empty() {
            true => all.push(word.clone()),
            false => all.extend(series.into_iter().map(|entry| entry.id)),
        }
    }
    Ok(all)
}

fn failed(error: &store::Error) -> Exit {
    Exit::refused(Problem::from(error.clone()))
}

fn all_failed(errors: &[store::Error]) -> Exit {
    errors.iter().map(failed).max().unwrap_or(Exit::Usage)
}

/// Returns the entries of the store that are not readable runs.
fn skipped(listing: &Listing) -> Vec<SkippedRun> {
    let skipped = |(name, error): &(String, store::Error)| SkippedRun {
        name: name.clone(),
        path: error.path.display().to_string(),
        problem: format!("{}: {}", error.problem.what, error.problem.help.as_deref().unwrap_or_default()),
    };
    listing.skipped.iter().map(skipped).collect()
}

/// Converts a run and the files saved beside its record.
fn details(resolved: &ResolvedRun) -> RunDetails<'_> {
    let saved = resolved.loaded.as_ref();
    let environment = saved.and_then(|saved| saved.environment().ok());
    RunDetails {
        fathom_run: RunDetails::SCHEMA,
        run: &resolved.run,
        entry: saved.map(|saved| RunEntry::from(&saved.entry)),
        folder: saved.map(|saved| saved.folder().to_string_lossy().into_owned()),
        environment: environment.unwrap_or_else(|| EnvironmentRecord::of(&resolved.run)),
        job: saved.and_then(|saved| saved.job().ok().flatten()),
    }
}

/// Returns the saved text of a sweep, a grid or a suite, and the results of any other run.
fn results(resolved: &ResolvedRun, style: SheetStyle) -> String {
    let printed = |saved: &StoredRun| String::from_utf8(saved.file(save::TEXT).ok()?).ok();
    let results = || report::text(&resolved.run, &analyse::analyse(&resolved.run), style);
    resolved.loaded.as_ref().and_then(printed).unwrap_or_else(results)
}

pub(crate) const HELP: &str = "\
Every run, sim, sweep and suite is saved in $FATHOM_HOME/runs or, if that is unset, in \
$XDG_DATA_HOME/fathom/runs (~/.local/share/fathom/runs). RUN is the ID of a run, its prefix or its last \
four digits, `last`, the name of a series of repeats, or the directory of a run. Patterns match whole \
names and may contain * and ?. WHEN is a date, a date and time, or an age: 2026-11-21, 2026-11-21T20:53, \
12h, 7d. docs/runs.md describes the saved files and their retention.

Examples:
  fathom runs list --kind sweep --target 'nvme*' --since 7d
  fathom runs show last
  fathom runs prune --older-than 90d --larger-than 1GiB --dry-run

Exit codes: 0 done, 2 usage, or no such run: nothing was changed, 3 I/O or environment error";

/// Options of `fathom runs`.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunsOptions {
    #[command(subcommand)]
    command: Option<RunsCommand>,
}

#[derive(Clone, Debug, Subcommand)]
enum RunsCommand {
    /// List saved runs, newest last
    List(RunsListOptions),
    /// Show a run: its output, host, job, and the command that repeats it
    Show(RunsShowOptions),
    /// Remove runs
    Rm(NamedRuns),
    /// Save fio's output, or records from other hosts
    Import(ImportOptions),
    /// Exempt runs from retention
    Keep(KeepOptions),
    /// Remove runs by age or total size
    Prune(PruneOptions),
}

#[derive(Clone, Debug, Default, Args)]
struct RunsListOptions {
    /// Only runs with this text in a name, a target or the command
    text: Option<String>,
    /// Only runs of this kind
    #[arg(long, value_parser = one_of(KINDS), help_heading = "Filters")]
    kind: Option<RunKind>,
    /// Only runs whose name, ID or job matches
    #[arg(long, value_name = "PATTERN", help_heading = "Filters")]
    name: Option<String>,
    /// Only runs whose file, device or volume matches
    #[arg(long, value_name = "PATTERN", help_heading = "Filters")]
    target: Option<String>,
    /// Only runs whose host matches
    #[arg(long, value_name = "PATTERN", help_heading = "Filters")]
    host: Option<String>,
    /// Only runs whose program matches: fathom, fio-3.*
    #[arg(long, value_name = "PATTERN", help_heading = "Filters")]
    tool: Option<String>,
    /// Only runs that started at this time or later
    #[arg(long, value_name = "WHEN", help_heading = "Filters")]
    since: Option<String>,
    /// Only runs that started before this time
    #[arg(long, value_name = "WHEN", help_heading = "Filters")]
    until: Option<String>,
    /// Format of standard output
    #[arg(long, value_parser = one_of(TEXT_OR_JSON), default_value = "text", help_heading = "Output")]
    format: ResultFormat,
}

const KINDS: &[OptionWord<RunKind>] = &[
    ("run", "A measurement", RunKind::Run),
    ("sim", "A simulation", RunKind::Sim),
    ("sweep", "A search for the knee, or a grid", RunKind::Sweep),
    ("suite", "A published benchmark", RunKind::Suite),
];

#[derive(Clone, Debug, Args)]
struct RunsShowOptions {
    /// Run: an ID, a part of one, `last`, or a directory
    run: String,
    /// Format of standard output
    #[arg(long, value_parser = one_of(TEXT_OR_JSON), default_value = "text")]
    format: ResultFormat,
}

#[derive(Clone, Debug, Args)]
struct NamedRuns {
    /// Runs: IDs, parts of them, `last`, series
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,
}

#[derive(Clone, Debug, Args)]
struct ImportOptions {
    /// Output of fio (normal, json, json+), or a record; - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

#[derive(Clone, Debug, Args)]
struct KeepOptions {
    #[command(flatten)]
    named: NamedRuns,
    /// Make them subject to retention again
    #[arg(long)]
    release: bool,
}

#[derive(Clone, Debug, Args)]
struct PruneOptions {
    /// Remove runs older than this [default: FATHOM_KEEP_FOR, or a year]
    #[arg(long, value_name = "AGE")]
    older_than: Option<String>,
    /// Remove the oldest runs until the rest fit in this size [default: FATHOM_KEEP_SIZE, or 4GiB]
    #[arg(long, value_name = "SIZE")]
    larger_than: Option<String>,
    /// Print the runs that would be removed, and exit
    #[arg(long)]
    dry_run: bool,
}
