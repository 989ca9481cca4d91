//! `fathom runs`: lists, shows, imports and removes saved runs.

pub(crate) mod args;
mod saved;
mod when;

use args::{ImportOptions, KeepOptions, PruneOptions, RunsCommand, RunsListOptions, RunsOptions, RunsShowOptions};
use device::input_file;
use jiff::tz::TimeZone;
use report::runs::{run_details_json, run_details_text, saved_runs_json, saved_runs_text};
use store::{Entry, Filter, Reason, Retention, RunStore};
use units::Bytes;

use crate::args::TextOrJson;
use crate::exit::Exit;
use crate::home;
use crate::outputs::print_text;
use crate::run_argument::resolve_all;
use crate::terminal::Terminal;

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
        let parse = |text: &String| when::unix_ms(text, &now).map_err(|what| Exit::usage(format!("{option} {what}")));
        text.as_ref().map(parse).transpose()
    };
    let filter = Filter {
        kind: options.kind.map(store::RunKind::from),
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
    let runs: Vec<_> = listing.entries.iter().map(|entry| saved::run(entry, now.time_zone())).collect();
    let (place, skipped) = (place.display().to_string(), saved::skipped(&listing));
    Ok(print_text(&match options.format {
        TextOrJson::Json => saved_runs_json(&place, &runs, &skipped),
        TextOrJson::Text => saved_runs_text(&place, &runs, &skipped, Terminal::stdout().style()),
    }))
}

fn show(options: &RunsShowOptions) -> Result<Exit, Exit> {
    let resolved = resolve_all(&options.run).map_err(Exit::usage)?;
    let (zone, style) = (TimeZone::system(), Terminal::stdout().style());
    let details: Vec<_> = resolved.iter().map(|one| saved::details(one, &zone)).collect();
    let text = |(one, details)| run_details_text(details, &saved::results(one, style), style);
    Ok(print_text(&match options.format {
        TextOrJson::Json => run_details_json(&details),
        TextOrJson::Text => resolved.iter().zip(&details).map(text).collect::<Vec<_>>().join("\n"),
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
            Err(unopened) => {
                let report = if unopened.usage { Exit::usage } else { Exit::environment };
                worst = worst.max(report(unopened.line(&name)));
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
    let retention = retention_of(options).map_err(Exit::usage)?;
    let Some(store) = home::store().map_err(Exit::environment)? else {
        return Ok(print_text("nothing to remove\n"));
    };
    let surplus = store.surplus(retention, device::unix_ms()).map_err(|error| failed(&error))?;
    let removed = match options.dry_run {
        true => surplus.iter().map(|entry| entry.id.clone()).collect(),
        false => store.retain(retention, device::unix_ms()).map_err(|error| failed(&error))?,
    };
    let bytes = surplus.iter().filter(|entry| removed.contains(&entry.id)).map(Entry::bytes).sum();
    let what = if options.dry_run { "would be removed" } else { "removed" };
    let lines: String = removed.iter().map(|id| format!("{id}\n")).collect();
    let noun = if removed.len() == 1 { "run" } else { "runs" };
    Ok(print_text(&format!("{lines}{} {noun} {what}, {}\n", removed.len(), Bytes::new(bytes))))
}

/// Returns the retention of the options; without options, that of the environment.
fn retention_of(options: &PruneOptions) -> Result<Retention, String> {
    let limit = |option: &str, text: &Option<String>, parse: fn(&str) -> Option<u64>, example: &str| {
        let unknown = |text: &String| format!("{option} {text}: unreadable value\nhelp: write {example}");
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
    store.ok_or_else(|| Exit::usage(format!("no run is saved in {}", place.display())))
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
    let text = error.to_string();
    match error.reason {
        Reason::Unknown(_) | Reason::Ambiguous { .. } | Reason::Foreign(_) | Reason::Refused(_) => Exit::usage(text),
        _ => Exit::environment(text),
    }
}

fn all_failed(errors: &[store::Error]) -> Exit {
    errors.iter().map(failed).max().unwrap_or(Exit::Usage)
}
