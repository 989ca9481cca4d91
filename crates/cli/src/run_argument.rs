//! Resolves a RUN of the command line: a saved run, a directory, a file or standard input.

use std::path::Path;

use record::{Input, InputResult, InputResults, Run, read_input, read_inputs};
use store::StoredRun;

use crate::{diagnostics, home};
use device::input_file;
use units::{Problem, ProblemCode};

/// A run that an argument names.
#[derive(Debug)]
pub(crate) struct ResolvedRun {
    /// ID of a saved run, or name of the file.
    pub(crate) name: String,
    pub(crate) run: Run,
    /// The saved run; `None` for a file.
    pub(crate) loaded: Option<StoredRun>,
}

/// Loads a run by its ID, the beginning or the last digits of the ID, `last`, its directory, a file (a record, or fio's
/// output; `FILE#2` is the second of several runs), or `-` for standard input.
fn resolve(which: &str) -> Result<ResolvedRun, Problem> {
    let path = Path::new(which);
    match which {
        _ if is_file(which) => parse(path, &read(path)?),
        _ if which != LAST && path.is_dir() && !store::rank_files(path).is_empty() => of_ranks(path),
        _ if which != LAST && path.is_dir() => Ok(StoredRun::at(path)?.into()),
        _ => from_store(which),
    }
}

/// Argument for the latest saved run.
const LAST: &str = "last";

/// Reports whether an argument names a file or standard input, rather than a saved run.
pub(crate) fn is_file(which: &str) -> bool {
    let (path, _) = input_file::numbered(Path::new(which));
    input_file::is_stdin(path) || which != LAST && !path.is_dir() && (path.exists() || which.contains('/'))
}

/// Loads all repeats of a series, in order, by its name or from a file; otherwise the one run that [`resolve`] finds.
pub(crate) fn resolve_all(which: &str) -> Result<Vec<ResolvedRun>, Problem> {
    let store = home::store().ok().flatten().filter(|_| !Path::new(which).exists());
    let series = store.as_ref().map_or(Ok(Vec::new()), |store| store.series(which))?;
    match (store, series.is_empty()) {
        (Some(store), false) => {
            let load = |entry: &record::SavedRun| store.load(&entry.id).map(ResolvedRun::from);
            series.iter().map(load).collect::<Result<_, store::Error>>().map_err(Problem::from)
        }
        _ if is_file(which) => all_of_file(Path::new(which)),
        _ => resolve(which).map(|run| vec![run]),
    }
}

/// Reads the repeats of one series in a file, or its only run.
fn all_of_file(path: &Path) -> Result<Vec<ResolvedRun>, Problem> {
    let (file, number) = input_file::numbered(path);
    let (name, bytes) = (input_file::name(file), read(path)?);
    if number.is_none()
        && let Ok(InputResults { mut parts, unreadable }) = read_inputs(&name, &bytes)
        && unreadable.is_empty()
    {
        if parts.len() == 1 {
            return of_input(path, parts.swap_remove(0).input).map(|run| vec![run]);
        }
        if is_one_series(&parts) {
            let repeat = |(index, part): (usize, InputResult)| match part.input {
                Input::Run(run) => Some(ResolvedRun { name: format!("{name}#{}", index + 1), run: *run, loaded: None }),
                Input::Iostat(_) => None,
            };
            return Ok(parts.into_iter().enumerate().filter_map(repeat).collect());
        }
    }
    parse(path, &bytes).map(|run| vec![run])
}

/// Merges the records of ranks in a directory. Those that cannot be read are warned of.
fn of_ranks(folder: &Path) -> Result<ResolvedRun, Problem> {
    let (run, problems) = store::read_ranks(folder)?;
    problems.iter().for_each(diagnostics::warning);
    let name = folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned();
    Ok(ResolvedRun { name, run, loaded: None })
}

fn is_one_series(parts: &[InputResult]) -> bool {
    let series = |part: &InputResult| match &part.input {
        Input::Run(run) => run.repeat.as_ref().map(|repeat| repeat.series.clone()),
        Input::Iostat(_) => None,
    };
    let first = parts.first().and_then(series);
    first.is_some() && parts.iter().all(|part| series(part) == first)
}

fn from_store(which: &str) -> Result<ResolvedRun, Problem> {
    let Some(store) = home::store()? else {
        let place = home::runs()?;
        let what = format!("{which}: no such file, and no saved run in {}", place.display());
        return Err(Problem::error(ProblemCode::SavedRun, what).help("measure one, or give a file"));
    };
    store.load(which).map(ResolvedRun::from).map_err(|error| {
        if !error.is_unknown() {
            return error.into();
        }
        let what = format!("{which}: neither a file nor a saved run in {}", store.root().display());
        Problem::error(ProblemCode::SavedRun, what)
            .help("`fathom runs list` lists the saved runs; `last` is the latest")
    })
}

fn read(path: &Path) -> Result<Vec<u8>, Problem> {
    let (file, _) = input_file::numbered(path);
    input_file::bytes(file).map_err(|problem| problem.of(input_file::name(path)).at(None))
}

fn parse(path: &Path, bytes: &[u8]) -> Result<ResolvedRun, Problem> {
    let (file, number) = input_file::numbered(path);
    let input = read_input(&input_file::name(file), bytes, number)?;
    of_input(path, input)
}

fn of_input(path: &Path, input: Input) -> Result<ResolvedRun, Problem> {
    let name = input_file::name(path);
    match input {
        Input::Run(run) => Ok(ResolvedRun { name, run: *run, loaded: None }),
        Input::Iostat(counters) => {
            let what = format!("{name}: output of {} is not a run", counters.format.name());
            Err(Problem::error(ProblemCode::UnreadableInput, what)
                .help("give a Fathom record or fio's output, or read it with `fathom explain`"))
        }
    }
}

impl From<StoredRun> for ResolvedRun {
    fn from(loaded: StoredRun) -> Self {
        Self { name: loaded.entry.id.clone(), run: loaded.run.clone(), loaded: Some(loaded) }
    }
}

#[cfg(test)]
mod tests {
    use record::RunKind;
    use store::RunStore;

    use super::*;

    /// Saves a run in a new store. Returns it and its directory.
    fn saved(home: &Path) -> (Run, std::path::PathBuf) {
        let store = RunStore::open(home).unwrap();
        let run = Run { schema: record::SCHEMA, started_unix_ms: 1_795_294_384_000, ..Run::default() };
        let id = store.begin(RunKind::Run, "reads").unwrap().finish(&run).unwrap();
        (run, store.root().join(id))
    }

    #[test]
    fn a_run_can_be_loaded_from_a_copied_directory() {
        let home = tempfile::tempdir().unwrap();
        let (run, folder) = saved(home.path());
        let elsewhere = home.path().join("copied");
        for path in [&folder, &elsewhere] {
            let resolved = resolve(path.to_str().unwrap()).unwrap();
            assert_eq!((&resolved.run, resolved.loaded.is_some()), (&run, true));
            assert!(resolved.name.contains("-run-reads-"), "{}", resolved.name);
            if *path == folder {
                std::fs::rename(&folder, &elsewhere).unwrap();
            }
        }
        let error = resolve(home.path().to_str().unwrap()).unwrap_err();
        assert!(error.what.contains("manifest.json") && error.help.is_some(), "{error}");
    }

    #[test]
    fn the_content_of_a_file_decides_its_format() {
        let home = tempfile::tempdir().unwrap();
        let (run, folder) = saved(home.path());
        let resolved = resolve(folder.join("run.json").to_str().unwrap()).unwrap();
        assert_eq!((resolved.run, resolved.loaded.is_none()), (run, true));
        let other = home.path().join("notes.txt");
        std::fs::write(&other, "nothing of the kind").unwrap();
        for (path, what) in [(other, "notes.txt:1:1"), (home.path().join("none.json"), "No such file")] {
            let error = resolve(path.to_str().unwrap()).unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
        }
    }
}
