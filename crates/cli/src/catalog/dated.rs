//! Dated files in the data directory.

use std::io::ErrorKind;
use std::path::PathBuf;

use device::input;
use units::{Problem, ProblemCode};
use volume::catalogue::Renewals;

use crate::diagnostics::warning;
use crate::home;

/// Lays the dated files of the data directory over the catalogue.
pub(crate) const RENEWALS: Renewals = Renewals { read, refused };

/// A dated file with its text.
pub(super) struct DatedText {
    pub path: PathBuf,
    /// `None` if there is no file.
    pub text: Option<String>,
}

/// Reads the dated file of a provider.
pub(super) fn of(provider: &str) -> Result<DatedText, Problem> {
    let path = home::dated_file(provider)?;
    let unreadable = |why: String| {
        Problem::error(ProblemCode::Catalog, format!("{} cannot be read: {why}", path.display()))
            .help("delete the file, and import the provider's files again")
    };
    let text = match input::read(&path, input::STATE) {
        Ok(bytes) => Some(String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned()))?),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(unreadable(error.to_string())),
    };
    Ok(DatedText { path, text })
}

fn read(provider: &str) -> Option<(String, String)> {
    // Without a data directory there is no dated file.
    home::dated_file(provider).ok()?;
    match of(provider) {
        Ok(dated) => Some((dated.path.display().to_string(), dated.text?)),
        Err(problem) => {
            warning(&problem);
            None
        }
    }
}

/// Says that the built-in figures are used, and why.
fn refused(provider: &str, mut problems: Vec<Problem>) {
    if problems.is_empty() {
        return;
    }
    let first = problems.remove(0);
    let subject = format!("the dated figures of {provider} are not used: {}", first.what);
    let path = home::dated_file(provider).map(|path| path.display().to_string()).unwrap_or_default();
    let remedy = format!("delete {path}, and import the files again: `fathom catalog update --from FILE...`");
    warning(&Problem { what: subject, ..first }.help(remedy));
}

/// Returns the date of an instant in milliseconds since 1970, in UTC.
pub(super) fn date(unix_ms: u64) -> String {
    let instant = i64::try_from(unix_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    instant.unwrap_or(jiff::Timestamp::MAX).strftime("%Y-%m-%d").to_string()
}

/// Returns the date of today, or that of `FATHOM_TODAY`, for tests and for the pages of the documentation.
pub(crate) fn today() -> String {
    std::env::var("FATHOM_TODAY").unwrap_or_else(|_| date(device::unix_ms()))
}
