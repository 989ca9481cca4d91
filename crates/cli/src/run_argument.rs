//! Resolves a RUN of the command line: a saved run, a directory, a file or standard input.

use std::path::Path;

use record::{Input, InputResult, InputResults, Run, read_input, read_inputs};
use store::Loaded;

use crate::{home, input_file};

/// A run of before.
#[derive(Debug)]
pub(crate) struct ResolvedRun {
    /// Its id, or the name of what it was read from.
    pub(crate) name: String,
    pub(crate) run: Run,
    /// What was kept beside the record; `None` of a file.
    pub(crate) kept: Option<Loaded>,
}

/// The run that is meant by an id, the beginning of one, the digits at its end or `last`, by the folder of a run, by a
/// file (a record of ours, or what fio printed; `FILE#2` is the second of several), or by `-`, standard input.
///
/// # Errors
///
/// Which one cannot be had, why, and what to do, on one line.
pub(crate) fn resolve(which: &str) -> Result<ResolvedRun, String> {
    let path = Path::new(which);
    match which {
        _ if is_file(which) => from_bytes(path),
        _ if which != LAST && path.is_dir() => {
            Loaded::at(path).map(ResolvedRun::from).map_err(|error| error.to_string())
        }
        _ => from_store(which),
    }
}

/// The run that was begun last.
const LAST: &str = "last";

/// Whether a word means the bytes of a file or of standard input, and not a run that was kept.
pub(crate) fn is_file(which: &str) -> bool {
    let (path, _) = input_file::numbered(Path::new(which));
    input_file::is_stdin(path) || which != LAST && !path.is_dir() && (path.exists() || which.contains('/'))
}

/// All repeats of a series by its name or by a file with all of them, the first one first; of everything else the one run
/// that [`resolve`] finds.
///
/// # Errors
///
/// As of [`resolve`].
pub(crate) fn resolve_all(which: &str) -> Result<Vec<ResolvedRun>, String> {
    let store = home::store().ok().flatten().filter(|_| !Path::new(which).exists());
    let series =
        store.as_ref().map_or(Ok(Vec::new()), |store| store.series(which)).map_err(|error| error.to_string())?;
    match (store, series.is_empty()) {
        (Some(store), false) => {
            let load = |entry: &store::Entry| store.load(&entry.id).map(ResolvedRun::from);
            series.iter().map(load).collect::<Result<_, _>>().map_err(|error| error.to_string())
        }
        _ if is_file(which) => all_of_bytes(Path::new(which)),
        _ => resolve(which).map(|run| vec![run]),
    }
}

/// The repeats of one series in a file, or its only run.
fn all_of_bytes(path: &Path) -> Result<Vec<ResolvedRun>, String> {
    let (file, number) = input_file::numbered(path);
    let name = input_file::name(file);
    let bytes = input_file::bytes(file).map_err(|unopened| unopened.line(&input_file::name(path)))?;
    if number.is_none()
        && let Ok(InputResults { parts, unreadable }) = read_inputs(&name, &bytes)
        && unreadable.is_empty()
        && parts.len() > 1
        && is_one_series(&parts)
    {
        let of_several = |(index, part): (usize, InputResult)| match part.input {
            Input::Run(run) => Some(ResolvedRun { name: format!("{name}#{}", index + 1), run: *run, kept: None }),
            Input::Iostat(_) => None,
        };
        return Ok(parts.into_iter().enumerate().filter_map(of_several).collect());
    }
    of_bytes(path, &bytes).map(|run| vec![run])
}

fn is_one_series(parts: &[InputResult]) -> bool {
    let series = |part: &InputResult| match &part.input {
        Input::Run(run) => run.repeat.as_ref().map(|repeat| repeat.series.clone()),
        Input::Iostat(_) => None,
    };
    let first = parts.first().and_then(series);
    first.is_some() && parts.iter().all(|part| series(part) == first)
}

fn from_store(which: &str) -> Result<ResolvedRun, String> {
    let Some(store) = home::store()? else {
        let place = home::runs()?;
        return Err(format!(
            "{which}: there is no such file, and no run is saved in {}\nhelp: measure one, or give a file",
            place.display()
        ));
    };
    store.load(which).map(ResolvedRun::from).map_err(|error| match error.reason {
        store::Reason::Unknown(_) => format!(
            "{which}: neither a file nor a saved run in {}\nhelp: `fathom runs list` lists the saved runs; `last` is the latest",
            store.root().display()
        ),
        _ => error.to_string(),
    })
}

fn from_bytes(path: &Path) -> Result<ResolvedRun, String> {
    let (file, _) = input_file::numbered(path);
    let bytes = input_file::bytes(file).map_err(|unopened| unopened.line(&input_file::name(path)))?;
    of_bytes(path, &bytes)
}

fn of_bytes(path: &Path, bytes: &[u8]) -> Result<ResolvedRun, String> {
    let (file, number) = input_file::numbered(path);
    let name = input_file::name(path);
    match read_input(&input_file::name(file), bytes, number).map_err(|error| error.to_string())? {
        Input::Run(run) => Ok(ResolvedRun { name, run: *run, kept: None }),
        Input::Iostat(_) => Err(format!(
            "{name}: the output of iostat is not a run\nhelp: give a record of Fathom's or fio's output, or read it with `fathom explain`"
        )),
    }
}

impl From<Loaded> for ResolvedRun {
    fn from(loaded: Loaded) -> Self {
        Self { name: loaded.entry.id.clone(), run: loaded.run.clone(), kept: Some(loaded) }
    }
}

#[cfg(test)]
mod tests {
    use store::{RunKind, RunStore};

    use super::*;

    /// A store with one run, and the run's folder.
    fn kept(home: &Path) -> (Run, std::path::PathBuf) {
        let store = RunStore::open(home).unwrap();
        let run = Run { schema: record::SCHEMA, started_unix_ms: 1_795_294_384_000, ..Run::default() };
        let id = store.begin(RunKind::Run, "reads").unwrap().finish(&run).unwrap();
        (run, store.root().join(id))
    }

    #[test]
    fn a_folder_is_a_run_wherever_it_was_put() {
        let home = tempfile::tempdir().unwrap();
        let (run, folder) = kept(home.path());
        let elsewhere = home.path().join("copied");
        for path in [&folder, &elsewhere] {
            let resolved = resolve(path.to_str().unwrap()).unwrap();
            assert_eq!((&resolved.run, resolved.kept.is_some()), (&run, true));
            assert!(resolved.name.contains("-run-reads-"), "{}", resolved.name);
            if *path == folder {
                std::fs::rename(&folder, &elsewhere).unwrap();
            }
        }
        let error = resolve(home.path().to_str().unwrap()).unwrap_err();
        assert!(error.contains("manifest.json") && !error.contains('\n'), "{error}");
    }

    #[test]
    fn a_file_is_read_by_what_is_in_it() {
        let home = tempfile::tempdir().unwrap();
        let (run, folder) = kept(home.path());
        let resolved = resolve(folder.join("run.json").to_str().unwrap()).unwrap();
        assert_eq!((resolved.run, resolved.kept.is_none()), (run, true));
        let other = home.path().join("notes.txt");
        std::fs::write(&other, "nothing of the kind").unwrap();
        for (path, what) in [(other, "notes.txt:1:1"), (home.path().join("none.json"), "No such file")] {
            let error = resolve(path.to_str().unwrap()).unwrap_err();
            assert!(error.contains(what) && !error.contains('\n'), "{error}");
        }
    }
}
