//! `fathom options`: describes job options.

use crate::exit::Exit;
use crate::outputs::print_text;

/// Describes one option, or lists them all.
pub(crate) fn command(name: Option<&str>) -> Exit {
    let text = job::docs::option_help(name.unwrap_or("all"));
    match text {
        Some(text) => print_text(&text),
        None => {
            let name = name.unwrap_or_default();
            let remedy = job::table::suggest(name).map_or_else(
                || "`fathom options` lists all job options".to_owned(),
                |known| format!("did you mean `{known}`?"),
            );
            Exit::usage(&format!("there is no job option `{name}`\nhelp: {remedy}"))
        }
    }
}
