//! Converts problems of volumes and options to diagnostics with a place.

use units::{Place, Problem, ProblemCode};
use volume::catalogue::CatalogueProblem;

/// Converts a problem of the catalogue to a diagnostic at a place.
#[must_use]
pub fn of_volume(problem: &CatalogueProblem, place: Place) -> Problem {
    let diagnostic = Problem::error(ProblemCode::Volume, problem.message.clone()).at(place);
    Problem { help: problem.remedy.clone(), ..diagnostic }
}

/// Returns the place of a part of an option's value on the command line; `at` counts bytes of the value.
#[must_use]
pub fn place_in_option(option: &str, value: &str, at: std::ops::Range<usize>) -> Place {
    let text = format!("{option}={value}");
    let before = value.get(..at.start).map_or(0, |before| before.chars().count());
    let length = value.get(at).map_or(1, |part| part.chars().count()).max(1);
    let column = option.chars().count() + 2 + before;
    command_line_place(text, column, length)
}

/// Returns a place on the command line. Columns start at 1; column and length are in characters.
#[must_use]
pub fn command_line_place(text: String, column: usize, length: usize) -> Place {
    Place { source: "command line".into(), line: 1, column, length, text: text.into() }
}

/// Returns the place of a catalogue problem in its own text.
#[must_use]
pub fn place_in_volume(problem: &CatalogueProblem) -> Place {
    let (line, column, text) = problem.line();
    Place { source: problem.place.name.clone(), line, column, length: problem.width(), text: text.into() }
}
