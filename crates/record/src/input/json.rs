//! Documents in JSON, wherever in a text they begin.

use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;

use super::text::{MAKE, Text};
use super::{Input, InputError, iostat};
use crate::{Note, ReadError, Run, fio, store};

/// A document, by the line on which it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Document {
    line: usize,
    kind: Kind,
    /// How many of them there are.
    count: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Fio,
    Iostat,
    Record,
    Unknown,
}

/// The document that counts: of several of fio's, the last. A brace in the middle of other text begins one only where
/// what follows is known.
pub(super) fn find(text: &Text) -> Option<Document> {
    let first = text.lines().position(|line| !line.trim().is_empty())?;
    let begins = |line: &str| line == "{" || line.starts_with("{\"");
    let at = |line: usize| (line, kind_of(&text.whole[text.start_of(line)..]));
    let candidates = text.lines().enumerate().filter(|(_, line)| begins(line)).map(|(line, _)| at(line));
    let known: Vec<(usize, Kind)> = candidates.filter(|(_, kind)| *kind != Kind::Unknown).collect();
    if let Some(&(line, kind)) = known.last() {
        // Reports of iostat follow one another; all of them count.
        let (line, kind) = if kind == Kind::Iostat { known[0] } else { (line, kind) };
        return Some(Document { line, kind, count: known.len() });
    }
    // A bracket begins a list only where a value follows, not the name of a section.
    let body = text.whole[text.start_of(first)..].trim_start();
    let value = |c: char| c.is_ascii_digit() || "{[\"-]".contains(c);
    let list = body.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with(value));
    (list || body.starts_with('{')).then(|| Document { line: first, kind: at(first).1, count: 1 })
}

/// What a document is, by its first key, or by all of them where they were sorted.
fn kind_of(document: &str) -> Kind {
    let of_key = |key: &str| match key {
        "fio version" => Kind::Fio,
        "sysstat" => Kind::Iostat,
        "schema" => Kind::Record,
        _ => Kind::Unknown,
    };
    let body = document.trim_start().strip_prefix('{').unwrap_or_default().trim_start();
    let first = body.strip_prefix('"').and_then(|key| key.split('"').next()).map_or(Kind::Unknown, of_key);
    if first != Kind::Unknown {
        return first;
    }
    match serde_json::Deserializer::from_str(document).into_iter::<Value>().next() {
        Some(Ok(Value::Object(members))) => {
            members.keys().map(|key| of_key(key)).find(|kind| *kind != Kind::Unknown).unwrap_or(Kind::Unknown)
        }
        _ => Kind::Unknown,
    }
}

pub(super) fn read(text: &Text, document: Document) -> Result<Input, InputError> {
    let body = &text.whole[text.start_of(document.line)..];
    let run = |run| Input::Run(Box::new(run));
    match document.kind {
        Kind::Fio => fios(text, document, body).map(run),
        Kind::Record => record(text, document, body).map(run),
        Kind::Iostat => iostat::read_json(text, document.line).map(Input::Iostat),
        Kind::Unknown => Err(unknown(text, document, body)),
    }
}

fn fios(text: &Text, document: Document, body: &str) -> Result<Run, InputError> {
    let mut run = fio::from_document(body).map_err(|error| fault(text, document.line, &error, FIO))?;
    if document.count > 1 {
        run.notes.push(last_of(document.count, document.line));
    }
    Ok(run)
}

/// What says that there was more.
pub(super) fn last_of(count: usize, line: usize) -> Note {
    Note {
        job: None,
        text: format!("of {count} accounts in the input the last one was read, which begins on line {}", line + 1),
    }
}

const FIO: &str = "run fio again with `--output-format=json --output=FILE`";
const RECORD: &str = "make a new record: `fathom run JOB -o FILE.json`";

fn record(text: &Text, document: Document, body: &str) -> Result<Run, InputError> {
    store::from_json(body.trim_end()).map_err(|error| match error {
        ReadError::Malformed(error) => fault(text, document.line, &error, RECORD),
        error @ ReadError::TooNew { .. } => {
            text.fault(document.line, "", error.to_string(), "read it with the program that wrote it")
        }
        error => text.fault(document.line, "", error.to_string(), RECORD),
    })
}

/// An error of the JSON reader at its place in the text, for a document that begins on `line`.
pub(super) fn fault(text: &Text, line: usize, error: &serde_json::Error, remedy: &str) -> InputError {
    let message = error.to_string();
    let what = message.split(" at line ").next().unwrap_or(&message);
    match error.classify() {
        Category::Eof => text.cut_off("the document is cut off before its end", remedy),
        _ => {
            let at = line + error.line().saturating_sub(1);
            // What is wrong with the end of a line is said of the place before the next one.
            let (at, column) = match error.column() {
                0 if at > line => (at - 1, text.line(at - 1).chars().count() + 1),
                column => (at, column.max(1)),
            };
            text.fault_at(at, column, 0, format!("this cannot be read: {what}"), remedy)
        }
    }
}

#[derive(Deserialize)]
struct Whole(Value);

fn unknown(text: &Text, document: Document, body: &str) -> InputError {
    let value = match serde_json::from_str::<Whole>(body.trim_end()) {
        Ok(Whole(value)) => value,
        Err(error) if error.to_string().starts_with("trailing characters") => {
            let what = "several documents or other text follow one another, and none is fio's, a record or iostat's";
            return text.fault(document.line, "", what, MAKE);
        }
        Err(error) => return fault(text, document.line, &error, MAKE),
    };
    let keys: Vec<&str> = value.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    if keys.contains(&"sweep") {
        let remedy = "give the record of one run: `fathom run JOB -o FILE.json`";
        return text.fault(document.line, "", "this is a sweep, many runs in one document", remedy);
    }
    let named: Vec<String> = keys.iter().take(3).map(|key| format!("`{key}`")).collect();
    let what = if named.is_empty() {
        "this JSON is neither fio's nor a record nor iostat's".to_owned()
    } else {
        format!("this JSON with {} is neither fio's nor a record nor iostat's", named.join(", "))
    };
    text.fault(document.line, "", what, MAKE)
}
