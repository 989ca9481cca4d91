//! `fathom options`: describes job options.

use units::{Problem, ProblemCode};

use crate::exit::Exit;
use crate::outputs::print_text;

/// Describes one option, or lists them all.
pub(crate) fn command(name: Option<&str>) -> Exit {
    let name = name.unwrap_or("all");
    if let Some(text) = job::docs::option_help(name) {
        return print_text(&text);
    }
    let remedy = job::table::suggest(name).map_or_else(
        || "`fathom options` lists all job options".to_owned(),
        |known| format!("did you mean `{known}`?"),
    );
    Exit::invalid(Problem::error(ProblemCode::UnknownOption, format!("unknown job option `{name}`")).help(remedy))
}
