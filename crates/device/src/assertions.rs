//! Assertions from the command line and from files.

use std::path::{Path, PathBuf};

use analyse::gate::Assertion;
use units::{Place, Problem, ProblemCode, printable};

use crate::input;

#[derive(Clone, Debug)]
pub struct AssertionText {
    /// The text, printable.
    pub text: String,
    pub assertion: Assertion,
}

/// Parses the texts of `--assert` and the lines of the files of `--assert-file`.
///
/// # Errors
///
/// Returns all problems together; one of them if an assertion needs a baseline and there is none.
pub fn parse_assertions(
    texts: &[String],
    files: &[PathBuf],
    has_baseline: bool,
) -> Result<Vec<AssertionText>, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut lines: Vec<AssertionLine> = texts.iter().map(|text| AssertionLine::of_option(text)).collect();
    for path in files {
        match read(path) {
            Ok(text) => lines.extend(AssertionLine::of_file(path, &text)),
            Err(problem) => problems.push(problem),
        }
    }
    if lines.is_empty() && problems.is_empty() {
        problems.push(no_assertion(files));
    }
    let mut assertions = Vec::new();
    for line in lines {
        match Assertion::parse(&line.text) {
            Ok(assertion) if assertion.needs_baseline() && !has_baseline => {
                problems.push(line.without_baseline());
            }
            Ok(mut assertion) => {
                // Records have printable names of jobs.
                assertion.job = assertion.job.map(|job| printable(&job).into_owned());
                assertions.push(AssertionText { text: printable(&line.text).into_owned(), assertion });
            }
            Err(problem) => problems.push(problem.within(&line.place)),
        }
    }
    if problems.is_empty() { Ok(assertions) } else { Err(problems) }
}

/// The text of one assertion, not yet parsed.
struct AssertionLine {
    text: String,
    /// Place of the whole text.
    place: Place,
}

impl AssertionLine {
    fn of_option(text: &str) -> Self {
        Self { text: text.to_owned(), place: Place::in_option("--assert", text, 0..text.len()) }
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

    fn without_baseline(&self) -> Problem {
        let message = "a percentage needs a baseline";
        Problem::error(ProblemCode::NoBaseline, message)
            .at(self.place.clone())
            .help("set the baseline with --baseline RUN")
    }
}

/// Returns a line up to its comment. `#` within parentheses belongs to the name of a job.
fn without_comment(line: &str) -> &str {
    let mut depth = 0;
    let comment = line.char_indices().find(|(_, character)| {
        depth += i32::from(*character == '(') - i32::from(*character == ')');
        *character == '#' && depth <= 0
    });
    comment.map_or(line, |(at, _)| &line[..at])
}

fn read(path: &Path) -> Result<String, Problem> {
    input::read_text(path, input::SMALL).map_err(|error| {
        let word = path.display().to_string();
        let place = Place::in_option("--assert-file", &word, 0..word.len());
        let remedy = "use a text file with one expectation per line: read.iops>=150k";
        Problem::error(ProblemCode::UnreadableInput, error.to_string()).at(place).help(remedy)
    })
}

fn no_assertion(files: &[PathBuf]) -> Problem {
    let message = match files.first() {
        Some(path) => format!("{} contains no expectations", path.display()),
        None => "no expectations specified".to_owned(),
    };
    Problem::error(ProblemCode::Expectation, message).help("add one, for example --assert 'read.iops>=150k'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_are_skipped() {
        let text = "# all of it\n\n  read.iops>=1 # a comment\r\njob(a#b).read.iops>=1\n\t#\n";
        let lines: Vec<AssertionLine> = AssertionLine::of_file(Path::new("x"), text).collect();
        let parsed: Vec<_> =
            lines.iter().map(|line| (line.text.as_str(), line.place.line, line.place.column)).collect();
        assert_eq!(parsed, [("read.iops>=1", 3, 3), ("job(a#b).read.iops>=1", 4, 1)]);
    }
}
