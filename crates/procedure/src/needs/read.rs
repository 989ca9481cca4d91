//! Reads needs from TOML.

use std::ops::Range;
use std::path::Path;

use clap::{Arg, ArgMatches, Command, FromArgMatches};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::{Problem, ProblemCode, is_hidden, suggestion};
use volume::toml_value::kind;

use super::GivenWords;
use super::keys::{self, is_flag};
use super::named::{NamedNeed, NeedsText, PlacedValue};
use crate::plan_words::PlanWords;

/// Most needs of a file.
const NEEDS_MAX: usize = 10_000;
/// Most characters of a name.
const NAME_MAX: usize = 63;
/// Most errors of syntax that are reported: a file of another kind may have thousands.
const SYNTAX_ERRORS_MAX: usize = 5;
/// Tables of a needs file.
const TABLES: [&str; 2] = ["defaults", "need"];
const EXAMPLE: &str = "begin each need with a heading such as [need.db]";

/// Returns the needs of a file in their order, or all problems of the file. `given` are options of the command line,
/// which replace those of every need.
///
/// # Errors
///
/// Returns all problems of the text and its keys. Values are read with [`PlanWords`] afterwards.
pub fn read(name: &str, text: &str, given: &GivenWords) -> Result<Vec<NamedNeed>, Vec<Problem>> {
    let file = NeedsText { name: name.to_owned(), text: text.into() };
    let mut reader = NeedsReader { file, problems: Vec::new() };
    let (root, syntax_errors) = DeTable::parse_recoverable(text);
    for error in syntax_errors.iter().take(SYNTAX_ERRORS_MAX) {
        let at = error.span().unwrap_or(text.len()..text.len());
        let help = "a needs file is TOML, as in docs/plan.md; pass a trace or a result with --from";
        reader.add(&at, error.message(), help);
    }
    if !syntax_errors.is_empty() {
        return Err(reader.problems);
    }
    let needs = reader.needs(root.get_ref(), given);
    let mut problems = reader.problems;
    problems.sort_by_key(|problem| problem.place.as_ref().map(|place| (place.line, place.column)));
    problems.dedup();
    if problems.is_empty() { Ok(needs) } else { Err(problems) }
}

struct NeedsReader {
    file: NeedsText,
    problems: Vec<Problem>,
}

type Key<'t> = Spanned<std::borrow::Cow<'t, str>>;

/// Returns the entries of a table in the order of the file.
fn entries<'t>(table: &'t DeTable<'t>) -> Vec<(&'t Key<'t>, &'t Spanned<DeValue<'t>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

impl NeedsReader {
    fn add(&mut self, at: &Range<usize>, message: impl Into<String>, remedy: impl Into<String>) {
        let problem = Problem::error(ProblemCode::Plan, message).at(self.file.place(at));
        self.problems.push(problem.help(remedy));
    }

    fn needs(&mut self, root: &DeTable, given: &GivenWords) -> Vec<NamedNeed> {
        let command = keys::command();
        let mut defaults = Vec::new();
        let mut named = Vec::new();
        for (key, value) in entries(root) {
            let (name, table) = (key.get_ref().as_ref(), value.get_ref().as_table());
            match (name, table) {
                ("defaults", Some(table)) => defaults = self.values(&command, table, "[defaults]"),
                ("need", Some(table)) => named = entries(table),
                ("defaults" | "need", None) => {
                    self.add(&value.span(), format!("`{name}` must be a table, not {}", kind(value)), EXAMPLE);
                }
                _ => {
                    let is_key = keys::of_need(&command).any(|arg| arg.get_long() == Some(name));
                    let remedy = match is_key {
                        true => "move it below [defaults] or a need such as [need.db]".to_owned(),
                        false => suggestion(name, TABLES.into_iter(), || EXAMPLE.to_owned()),
                    };
                    self.add(&key.span(), format!("the file has no key `{name}`"), remedy);
                }
            }
        }
        if named.is_empty() && self.problems.is_empty() {
            let whole = Problem::error(ProblemCode::Plan, format!("{} has no needs", self.file.name));
            self.problems.push(whole.help(EXAMPLE));
        }
        if named.len() > NEEDS_MAX {
            let message = format!("{} needs in one file", units::grouped(named.len() as u64));
            self.add(&named[NEEDS_MAX].0.span(), message, format!("use at most {NEEDS_MAX}"));
            return Vec::new();
        }
        let needs = named.into_iter().filter_map(|(key, value)| self.need(&command, (key, value), &defaults, given));
        needs.collect()
    }

    fn need(
        &mut self,
        command: &Command,
        (key, value): (&Key, &Spanned<DeValue>),
        defaults: &[PlacedValue],
        given: &GivenWords,
    ) -> Option<NamedNeed> {
        let (name, at) = (key.get_ref().as_ref(), key.span());
        let is_valid = !name.trim().is_empty() && name.chars().count() <= NAME_MAX && !name.chars().any(is_hidden);
        if !is_valid {
            let remedy = format!("use 1 to {NAME_MAX} printable characters, not only spaces");
            self.add(&at, "invalid name of a need", remedy);
        }
        let Some(table) = value.get_ref().as_table() else {
            let message = format!("`need.{name}` must be a table, not {}", kind(value));
            self.add(&value.span(), message, EXAMPLE);
            return None;
        };
        let own = self.values(command, table, &format!("need `{name}`"));
        let mut values: Vec<PlacedValue> = defaults.to_vec();
        let given = given.0.iter().map(|(key, words)| PlacedValue {
            key: key.clone(),
            is_set: true,
            words: words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            places: Vec::new(),
        });
        for value in own.into_iter().chain(given) {
            values.retain(|known| known.key != value.key);
            values.push(value);
        }
        let words = match parse(command, &values) {
            Ok(words) => words,
            Err(error) => {
                let text = error.render().to_string();
                let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
                let message: Vec<&str> = lines.filter(|line| !line.is_empty() && !line.starts_with("tip:")).collect();
                let message = message.join(" ");
                let message = message.strip_prefix("error: ").unwrap_or(&message).to_owned();
                self.add(&at, message, "see `fathom plan --help`");
                return None;
            }
        };
        Some(NamedNeed { name: name.to_owned(), words, file: self.file.clone(), at, values })
    }

    /// Reads the keys of a table.
    fn values(&mut self, command: &Command, table: &DeTable, subject: &str) -> Vec<PlacedValue> {
        let mut values = Vec::new();
        for (key, value) in entries(table) {
            let name = key.get_ref().as_ref();
            let Some(arg) = keys::of_need(command).find(|arg| arg.get_long() == Some(name)) else {
                let names = || keys::of_need(command).filter_map(Arg::get_long);
                let listed = || format!("use one of {}", names().collect::<Vec<_>>().join(", "));
                self.add(&key.span(), format!("{subject} has no key `{name}`"), suggestion(name, names(), listed));
                continue;
            };
            match keys::words(arg, value) {
                Ok(words) => {
                    let (is_set, words) = (words.is_some(), words.unwrap_or_default());
                    let places = match value.get_ref().as_array() {
                        Some(list) => list.iter().map(Spanned::span).collect(),
                        None => vec![value.span()],
                    };
                    let words = words.into_iter().map(|word| self.beside_file(name, word)).collect();
                    values.push(PlacedValue { key: name.to_owned(), is_set, words, places });
                }
                Err((message, remedy)) => self.add(&value.span(), message, remedy),
            }
        }
        values
    }

    /// Returns a word; a relative path is one from the folder of the needs file.
    fn beside_file(&self, key: &str, word: String) -> String {
        let folder = Path::new(&self.file.name).parent().filter(|folder| !folder.as_os_str().is_empty());
        match folder.filter(|_| key == "from" && word != "-") {
            Some(folder) => folder.join(&word).to_str().map_or(word, str::to_owned),
            None => word,
        }
    }
}

/// Parses values as `clap` parses the same options on the command line.
fn parse(command: &Command, values: &[PlacedValue]) -> Result<PlanWords, clap::Error> {
    let is_flag_key = |key: &str| command.get_arguments().any(|arg| arg.get_long() == Some(key) && is_flag(arg));
    let mut words = Vec::new();
    for value in values {
        match is_flag_key(&value.key) {
            // One that is off replaces a default that is on.
            true => words.extend(value.is_set.then(|| format!("--{}", value.key))),
            false => words.extend(value.words.iter().map(|word| format!("--{}={word}", value.key))),
        }
    }
    let matches: ArgMatches = command.clone().try_get_matches_from(words)?;
    PlanWords::from_arg_matches(&matches)
}
