//! Assertions from the command line and from files.

use std::path::Path;

use analyse::gate::{Assertion, AssertionError};
use engine::describe;
use job::{Diagnostic, Place};
use runner::problems::place_in_option;
use units::printable;

use super::args::GateOptions;
use crate::input;

/// An expectation as it was written.
pub(super) struct AssertionText {
    pub(super) text: String,
    pub(super) expectation: Assertion,
}

/// All expectations, or all that is wrong with them.
pub(super) fn expectations(options: &GateOptions) -> Result<Vec<AssertionText>, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let mut lines: Vec<AssertionLine> = options.assert.iter().map(|text| AssertionLine::of_option(text)).collect();
    for path in &options.assert_file {
        match read(path) {
            Ok(text) => lines.extend(AssertionLine::of_file(path, &text)),
            Err(problem) => problems.push(*problem),
        }
    }
    if lines.is_empty() && problems.is_empty() {
        problems.push(nothing_expected(options));
    }
    let mut expected = Vec::new();
    for line in lines {
        match Assertion::parse(&line.text) {
            Ok(found) if found.needs_baseline() && options.baseline.is_empty() => {
                problems.push(line.without_baseline());
            }
            Ok(mut expectation) => {
                // As records name jobs.
                expectation.job = expectation.job.map(|job| printable(&job).into_owned());
                expected.push(AssertionText { text: printable(&line.text).into_owned(), expectation });
            }
            Err(fault) => problems.push(line.problem(&fault)),
        }
    }
    if problems.is_empty() { Ok(expected) } else { Err(problems) }
}

/// The text of one expectation, and where it stands.
struct AssertionLine {
    text: String,
    /// The whole text.
    place: Place,
}

impl AssertionLine {
    fn of_option(text: &str) -> Self {
        Self { text: text.to_owned(), place: place_in_option("--assert", text, 0..text.len()) }
    }

    fn of_file<'a>(path: &'a Path, text: &'a str) -> impl Iterator<Item = Self> + 'a {
        let source: std::sync::Arc<str> = path.display().to_string().into();
        text.lines().enumerate().filter_map(move |(index, line)| {
            let written = without_comment(line).trim_end();
            let text = written.trim_start();
            let indent = written.chars().count() - text.chars().count();
            let place = Place {
                source: source.clone(),
                line: index + 1,
                column: indent + 1,
                length: text.chars().count(),
                text: line.into(),
            };
            (!text.is_empty()).then(|| Self { text: text.to_owned(), place })
        })
    }

    fn problem(&self, fault: &AssertionError) -> Diagnostic {
        let before = self.text.get(..fault.at.start).map_or(0, |before| before.chars().count());
        let length = self.text.get(fault.at.clone()).map_or(1, |part| part.chars().count());
        let place = Place { column: self.place.column + before, length: length.max(1), ..self.place.clone() };
        Diagnostic::error("expectation", fault.what.clone()).at(place).remedy(fault.remedy.clone())
    }

    fn without_baseline(&self) -> Diagnostic {
        let message = "a share is of a baseline, and there is none";
        Diagnostic::error("no-baseline", message).at(self.place.clone()).remedy("say what it is of: --baseline RUN")
    }
}

/// A comment begins with `#`, outside of parentheses: names of jobs may have one.
fn without_comment(line: &str) -> &str {
    let mut depth = 0;
    let begin = line.char_indices().find(|(_, character)| {
        depth += i32::from(*character == '(') - i32::from(*character == ')');
        *character == '#' && depth <= 0
    });
    begin.map_or(line, |(at, _)| &line[..at])
}

fn read(path: &Path) -> Result<String, Box<Diagnostic>> {
    input::read_text(path, input::SMALL).map_err(|error| {
        let why = describe(&error);
        let word = path.display().to_string();
        let place = place_in_option("--assert-file", &word, 0..word.len());
        let remedy = "give a text with one expectation on each line: read.iops>=150k";
        Box::new(Diagnostic::error("unreadable-input", why).at(place).remedy(remedy))
    })
}

fn nothing_expected(options: &GateOptions) -> Diagnostic {
    let message = match options.assert_file.first() {
        Some(path) => format!("there is no expectation in {}", path.display()),
        None => "nothing is expected".to_owned(),
    };
    Diagnostic::error("no-expectation", message).remedy("say what should hold: --assert 'read.iops>=150k'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_are_left_out() {
        let text = "# all of it\n\n  read.iops>=1 # a comment\r\njob(a#b).read.iops>=1\n\t#\n";
        let lines: Vec<AssertionLine> = AssertionLine::of_file(Path::new("x"), text).collect();
        let told: Vec<_> = lines.iter().map(|line| (line.text.as_str(), line.place.line, line.place.column)).collect();
        assert_eq!(told, [("read.iops>=1", 3, 3), ("job(a#b).read.iops>=1", 4, 1)]);
    }
}
