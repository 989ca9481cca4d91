//! Where the program keeps runs: below `$FATHOM_HOME` or, as the XDG base directory specification has it, in the user's
//! data directory.

use std::path::PathBuf;

use store::RunStore;

/// Remedy where runs cannot be saved at the usual place.
pub(crate) const ELSEWHERE: &str = "save runs elsewhere with FATHOM_HOME=DIR, or none with --no-record";

/// The folder of the store.
///
/// # Errors
///
/// Where the environment names no place, on one line.
pub(crate) fn runs() -> Result<PathBuf, String> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let own = set("FATHOM_HOME").map(|home| std::path::absolute(&home).unwrap_or(home));
    // What is not absolute counts for nothing there.
    let data = || set("XDG_DATA_HOME").filter(|path| path.is_absolute());
    let home = || set("HOME").filter(|path| path.is_absolute()).map(|home| home.join(".local/share"));
    let place = own.or_else(|| data().or_else(home).map(|data| data.join("fathom")));
    let nowhere = "there is no place for runs, as none of FATHOM_HOME, XDG_DATA_HOME and HOME is set";
    place.map(|place| place.join("runs")).ok_or_else(|| format!("{nowhere}: {ELSEWHERE}"))
}

/// The folder in which the write gate notes what Fathom left on devices; `None` where the environment names no place.
pub(crate) fn ledger() -> Option<PathBuf> {
    runs().ok().map(|runs| runs.with_file_name("own"))
}

/// The store, for reading; `None` where nothing was ever kept.
///
/// # Errors
///
/// Where there is no place for it or it cannot be opened, on one line.
pub(crate) fn store() -> Result<Option<RunStore>, String> {
    let place = runs()?;
    match place.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        _ => RunStore::open(place).map(Some).map_err(|error| error.to_string()),
    }
}
