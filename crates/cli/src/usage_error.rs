//! Converts argument errors of `clap` to diagnostics.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use units::{Place, Problem, ProblemCode};

/// Converts an error of the command line `fathom WORD...` to a diagnostic that points at the word.
pub(crate) fn diagnostic(error: &clap::Error, words: &[String]) -> Problem {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let first = lines.next().unwrap_or_default();
    let (mut message, mut remedies) = (first.strip_prefix("error: ").unwrap_or(first).to_owned(), Vec::new());
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with("For more information")) {
        if let Some(tip) = line.strip_prefix("tip: ") {
            // An unknown option is rarely meant as a value: the help of the command lists what there is.
            if !tip.starts_with("to pass ") {
                remedies.push(tip.to_owned());
            }
        } else if let Some(values) = line.strip_prefix('[') {
            remedies.push(values.trim_end_matches(']').to_owned());
        } else {
            message = format!("{message} {line}");
        }
    }
    if remedies.is_empty() {
        remedies.push(format!("see `{} --help`", command(error, words)));
    }
    Problem::error(code(error.kind()), message).at(place(error, words)).help(remedies.join("; "))
}

const fn code(kind: ErrorKind) -> ProblemCode {
    match kind {
        ErrorKind::UnknownArgument => ProblemCode::UnknownArgument,
        ErrorKind::InvalidSubcommand => ProblemCode::UnknownCommand,
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => ProblemCode::UnknownValue,
        ErrorKind::ArgumentConflict => ProblemCode::ArgumentConflict,
        ErrorKind::MissingRequiredArgument | ErrorKind::MissingSubcommand => ProblemCode::MissingArgument,
        _ => ProblemCode::Arguments,
    }
}

/// Returns the command whose help describes the usage.
fn command(error: &clap::Error, words: &[String]) -> String {
    let name = words.first().filter(|word| !word.starts_with('-') && error.kind() != ErrorKind::InvalidSubcommand);
    name.map_or_else(|| "fathom".to_owned(), |name| format!("fathom {name}"))
}

/// Returns the place of the word that is wrong, if the user wrote one.
fn place(error: &clap::Error, words: &[String]) -> Option<Place> {
    let words = &job::redacted_words(words);
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    // clap calls an argument `--format <FORMAT>`; the first word is what the user writes.
    let argument = context(ContextKind::InvalidSubcommand).or_else(|| context(ContextKind::InvalidArg));
    let argument = argument.and_then(|argument| argument.split_whitespace().next())?;
    let value = context(ContextKind::InvalidValue).filter(|value| !value.is_empty());
    let at = words.iter().position(|word| {
        let is_named = word == argument || word.strip_prefix(argument).is_some_and(|rest| rest.starts_with('='));
        is_named || value.is_some_and(|value| word == value)
    })?;
    // The value is in the same word as its option or in the next one.
    let has_value = |index: &usize| value.is_some_and(|value| words[*index].ends_with(value));
    let at = [at, at + 1].into_iter().filter(|index| *index < words.len()).find(has_value).unwrap_or(at);
    let before: usize = words[..at].iter().map(|word| word.chars().count() + 1).sum();
    let (whole, part) = (words[at].chars().count(), value.map_or(0, |value| value.chars().count()));
    let length = if has_value(&at) { part } else { whole };
    let column = "fathom ".len() + before + whole - length + 1;
    Some(Place::on_command_line(format!("fathom {}", words.join(" ")), column, length))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn marked(line: &str) -> (String, Option<String>, Option<String>) {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let words_with_program = std::iter::once("fathom".to_owned()).chain(words.clone());
        let error = crate::commands::Cli::try_parse_from(words_with_program).unwrap_err();
        let problem = diagnostic(&error, &words);
        let marked = problem.place.map(|place| place.text.chars().skip(place.column - 1).take(place.length).collect());
        (problem.what, marked, problem.help)
    }

    #[test]
    fn an_argument_error_points_at_its_word_and_names_the_remedy() {
        for (line, marks, message, remedy) in [
            ("plan --iopps 5", Some("--iopps"), "unexpected argument", "similar argument"),
            ("gate a.json --expect x", Some("--expect"), "unexpected argument", "see `fathom gate --help`"),
            ("frobnicate", Some("frobnicate"), "unrecognized subcommand", "see `fathom --help`"),
            ("runs shw", Some("shw"), "unrecognized subcommand", "'show'"),
            ("run --format xml", Some("xml"), "invalid value 'xml'", "possible values: text, json"),
            ("run --format=xml", Some("xml"), "invalid value 'xml'", "possible values: text, json"),
            ("run --repeat 0", Some("0"), "invalid value '0'", "see `fathom run --help`"),
            ("run --live --progress off", Some("--live"), "cannot be used with", "see `fathom run --help`"),
            ("suite run vultr", None, "--target <PATH|DEVICE>", "see `fathom suite --help`"),
            ("report", None, "<RUN>...", "see `fathom report --help`"),
        ] {
            let (text, place, help) = marked(line);
            assert!(text.contains(message) && !text.contains('\n'), "{line}: {text}");
            assert_eq!(place.as_deref(), marks, "{line}");
            assert!(help.as_ref().is_some_and(|help| help.contains(remedy)), "{line}: {help:?}");
        }
    }
}
