//! State of a suite: where it is, and what it holds.

use std::path::{Path, PathBuf};

use device::state_file;
use procedure::suite::{SuiteQuestion, SuiteState, hash};
use units::{Problem, ProblemCode};

/// Loads the state at a path, if there is one. Fails if it is unreadable or belongs to another run.
pub(super) fn load(
    path: &Path,
    question: &SuiteQuestion<'_>,
    seed: Option<u64>,
) -> Result<Option<SuiteState>, Problem> {
    let text = state_file::read(path)?;
    text.map(|text| SuiteState::parse(&path.display().to_string(), &text, question, seed)).transpose()
}

/// Saves a state.
pub(super) fn save(state: &SuiteState, path: &Path) -> Result<(), Problem> {
    state_file::replace(path, &state.to_json())
}

/// Returns the default path of a state: one file for each suite, target and volume.
pub(super) fn default_path(question: &SuiteQuestion<'_>) -> Result<PathBuf, Problem> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // The XDG base directory specification ignores relative paths.
    let base = set("XDG_STATE_HOME").filter(|path| path.is_absolute());
    let base = base.or_else(|| set("HOME").map(|home| home.join(".local/state")));
    let Some(base) = base else {
        let what = "no directory for the state: neither XDG_STATE_HOME nor HOME is set";
        return Err(Problem::error(ProblemCode::File, what).help("give --state FILE"));
    };
    let directory = base.join("fathom").join("suites");
    std::fs::create_dir_all(&directory).map_err(|error| {
        let subject = format_args!("cannot create the directory {}", directory.display());
        engine::io_problem(ProblemCode::File, subject, &error).also_help("give --state FILE")
    })?;
    let target = question.target_path().unwrap_or_default();
    let hash = hash(&format!("{target}\n{}", question.volume().unwrap_or_default()));
    Ok(directory.join(format!("{}-{:08x}.json", question.suite().name(), hash as u32)))
}

/// Returns an absolute path.
pub(super) fn absolute(path: &str) -> String {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}
