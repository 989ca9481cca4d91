//! Directory of saved runs: below `$FATHOM_HOME` or, by the XDG base directory specification, in the user's data
//! directory.

use std::path::PathBuf;

use store::{Retention, RunStore};
use units::{Problem, ProblemCode};

/// Remedy if runs cannot be saved in the default directory.
pub(crate) const ELSEWHERE: &str = "set FATHOM_HOME=DIR to save runs elsewhere, or add --no-record";

/// Returns the directory of the store. Fails if the environment names none.
pub(crate) fn runs() -> Result<PathBuf, Problem> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let own = set("FATHOM_HOME").map(|home| std::path::absolute(&home).unwrap_or(home));
    // The specification ignores relative paths.
    let data = || set("XDG_DATA_HOME").filter(|path| path.is_absolute());
    let home = || set("HOME").filter(|path| path.is_absolute()).map(|home| home.join(".local/share"));
    let place = own.or_else(|| data().or_else(home).map(|data| data.join("fathom")));
    let nowhere = "no directory for saved runs: none of FATHOM_HOME, XDG_DATA_HOME and HOME is set";
    place.map(|place| place.join("runs")).ok_or_else(|| Problem::error(ProblemCode::Store, nowhere).help(ELSEWHERE))
}

/// Returns the directory in which the write gate records devices with data of Fathom; `None` if the environment names
/// none.
pub(crate) fn ledger() -> Option<PathBuf> {
    runs().ok().map(|runs| runs.with_file_name("own"))
}

/// Returns the path of a provider's dated file, whose figures are laid over the catalogue.
pub(crate) fn dated_file(provider: &str) -> Result<PathBuf, Problem> {
    runs().map(|runs| runs.with_file_name("catalog").join(format!("{provider}.toml")))
}

/// Returns the retention of saved runs. Fails on an unreadable variable.
pub(crate) fn retention() -> Result<Retention, Problem> {
    Retention::of_variables(|name| std::env::var(name).ok())
}

/// Opens the store for reading; `None` if no run was ever saved.
pub(crate) fn store() -> Result<Option<RunStore>, Problem> {
    let place = runs()?;
    match place.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        _ => RunStore::open(place).map(Some).map_err(Problem::from),
    }
}
