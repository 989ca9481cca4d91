//! `fathom options`: describes job options.

use crate::exit::Exit;
use crate::outputs::say;
use crate::terminal::tell;

/// Describes one option, or lists them all.
pub(crate) fn command(name: Option<&str>) -> Exit {
    let text = job::docs::option_help(name.unwrap_or("all"));
    match text {
        Some(text) => say(&text),
        None => {
            let name = name.unwrap_or_default();
            let hint = job::table::suggest(name).map_or_else(String::new, |known| format!(": did you mean `{known}`?"));
            tell(&format!("fathom: there is no job option `{name}`{hint}\n"));
            Exit::Usage
        }
    }
}
