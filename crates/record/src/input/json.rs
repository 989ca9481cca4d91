//! Finds and reads JSON documents in a text.

use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;
use units::{Problem, ProblemCode};

use super::text::{InputText, json_error};
use super::{Input, MAKE, few_devices, iostat, measurable, of_run, spdk_counters};
use crate::{Note, ReadError, Run, fio, store};

/// A document in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonInput {
    /// First line.
    pub(super) line: usize,
    kind: JsonKind,
    /// Line after its end.
    end: usize,
}

impl JsonInput {
    const fn lines(self) -> Range<usize> {
        self.line..self.end
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonKind {
    Fio,
    Iostat,
    Record,
    Repeats,
    SpdkCounters,
    Unknown,
}

/// Finds the documents in a text. Within other text, a brace begins a document only if its key is known.
pub(super) fn find(text: &InputText) -> Vec<JsonInput> {
    let Some(first) = text.lines().position(|line| !line.trim().is_empty()) else { return Vec::new() };
    let begins = |line: &str| {
        let key = line.trim_end().strip_prefix('{').map(str::trim_start);
        key.is_some_and(|key| key.is_empty() || key.starts_with('"'))
    };
    let kind = |line: usize| kind_of(&text.whole[text.start_of(line)..]);
    let all = |begins: &dyn Fn(&str) -> bool| -> Vec<(usize, JsonKind)> {
        let candidates = text.lines().enumerate().filter(|(_, line)| begins(line)).map(|(line, _)| (line, kind(line)));
        candidates.filter(|(_, kind)| *kind != JsonKind::Unknown).collect()
    };
    let mut known = all(&begins);
    if known.is_empty() {
        // A quoted or prefixed document is indented as a whole; inside of others, objects are indented too.
        known = all(&|line| begins(line.trim_start()));
        known.truncate(1);
    }
    // Successive documents of iostat, or copies of counters, form one input.
    let is_series = |kind| matches!(kind, JsonKind::Iostat | JsonKind::SpdkCounters);
    known.dedup_by(|next, before| next.1 == before.1 && is_series(next.1));
    if !known.is_empty() {
        let ends = known.iter().skip(1).map(|(line, _)| *line).chain([text.len()]);
        return known.iter().zip(ends).map(|(&(line, kind), end)| JsonInput { line, kind, end }).collect();
    }
    // A bracket begins a list only if a value follows, not the name of a section or the time of a log.
    let body = text.whole[text.start_of(first)..].trim_start();
    let list = body.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with(['{', '[', '"', ']']));
    let whole = JsonInput { line: first, kind: kind(first), end: text.len() };
    if list || body.starts_with('{') { vec![whole] } else { Vec::new() }
}

/// Recognizes a document by its first key or, if keys are sorted, by any key.
fn kind_of(document: &str) -> JsonKind {
    let of_key = |key: &str| match key {
        "fio version" => JsonKind::Fio,
        "sysstat" => JsonKind::Iostat,
        "schema" => JsonKind::Record,
        "fathom_repeats" => JsonKind::Repeats,
        "tick_rate" => JsonKind::SpdkCounters,
        _ => JsonKind::Unknown,
    };
    let body = document.trim_start().strip_prefix('{').unwrap_or_default().trim_start();
    let first = body.strip_prefix('"').and_then(|key| key.split('"').next()).map_or(JsonKind::Unknown, of_key);
    if first != JsonKind::Unknown {
        return first;
    }
    match serde_json::Deserializer::from_str(document).into_iter::<Value>().next() {
        Some(Ok(answer)) if spdk_counters::is_in(&answer) => JsonKind::SpdkCounters,
        Some(Ok(Value::Object(members))) => {
            members.keys().map(|key| of_key(key)).find(|kind| *kind != JsonKind::Unknown).unwrap_or(JsonKind::Unknown)
        }
        _ => JsonKind::Unknown,
    }
}

/// Reads a document: one input, or the runs of a series of repeats.
pub(super) fn read(text: &InputText, document: JsonInput) -> Result<Vec<Input>, Problem> {
    let body = &text.whole[text.start_of(document.line)..text.start_of(document.end)];
    let body =
        if matches!(document.kind, JsonKind::Record | JsonKind::Repeats) { without_messages(body) } else { body };
    match document.kind {
        JsonKind::Repeats => repeats(text, document, body),
        _ => one(text, document, body).map(|input| vec![input]),
    }
}

/// Strips standard error output after a Fathom document, as in logs of containers.
fn without_messages(body: &str) -> &str {
    // A document takes one line, or ends with a bracket on a line of its own.
    let first = body.find('\n').filter(|end| body[..*end].ends_with('}'));
    let Some(end) = first.or_else(|| body.find("\n}\n").map(|at| at + 2)) else { return body };
    let is_message = |line: &str| !line.starts_with(['{', '[', '}', ']', '"', ' ']);
    if body[end..].lines().all(is_message) { &body[..end] } else { body }
}

fn one(text: &InputText, document: JsonInput, body: &str) -> Result<Input, Problem> {
    match document.kind {
        JsonKind::Fio => {
            let run = fio::from_document(body).map_err(|error| json_error(text, document.lines(), &error, FIO))?;
            if run.jobs.is_empty() {
                let what = "it contains no result: fio exited before a job finished";
                return Err(text.error(document.line, "", what, FIO));
            }
            measurable(text, document.line, of_run(run), FIO)
        }
        JsonKind::Record => record(text, document, body).map(of_run),
        JsonKind::Iostat => {
            let iostat = few_devices(text, iostat::read_json(text, document.lines())?)?;
            measurable(text, document.line, Input::Iostat(iostat), MAKE)
        }
        JsonKind::SpdkCounters => measurable(text, document.line, spdk_counters::read(text, document.lines())?, MAKE),
        JsonKind::Repeats | JsonKind::Unknown => Err(unknown(text, document, body)),
    }
}

/// The file of `--repeat`, as far as it is needed here.
#[derive(Deserialize)]
struct JsonRepeats {
    fathom_repeats: u32,
    series: Vec<JsonSeries>,
}

#[derive(Deserialize)]
struct JsonSeries {
    runs: Vec<Value>,
}

/// Supported version of that document.
const REPEATS: u32 = 1;

fn repeats(text: &InputText, document: JsonInput, body: &str) -> Result<Vec<Input>, Problem> {
    let read: JsonRepeats =
        serde_json::from_str(body.trim_end()).map_err(|error| json_error(text, document.lines(), &error, REPEATED))?;
    if read.fathom_repeats > REPEATS {
        let what = format!("repeats of version {}, but this program reads version {REPEATS}", read.fathom_repeats);
        return Err(text.error(document.line, "", what, "use the version of Fathom that wrote it"));
    }
    let runs: Vec<&Value> = read.series.iter().flat_map(|series| &series.runs).collect();
    if runs.is_empty() {
        return Err(text.error(document.line, "", "this series of repeats contains no run", REPEATED));
    }
    runs.into_iter().map(|run| record(text, document, &run.to_string()).map(of_run)).collect()
}

/// Returns the note about earlier reports on the same run.
pub(super) fn last_of(count: usize, line: usize) -> Note {
    Note::of_run(format!("this run is reported {count} times; the last report was read, from line {} on", line + 1))
}

const FIO: &str = "run fio again with `--output-format=json --output=FILE`";
const REPEATED: &str = "create a new one: `fathom run JOB --repeat 3 -o FILE.json`";
const RECORD: &str = "create a new record: `fathom run JOB -o FILE.json`";

fn record(text: &InputText, document: JsonInput, body: &str) -> Result<Run, Problem> {
    store::from_json(body.trim_end()).map_err(|error| match error {
        ReadError::Malformed(error) => json_error(text, document.lines(), &error, RECORD),
        error @ ReadError::TooNew { .. } => {
            let problem = text.error(document.line, "", error.to_string(), "use a newer fathom");
            Problem { code: ProblemCode::TooNew, ..problem }
        }
        error => text.error(document.line, "", error.to_string(), RECORD),
    })
}

fn unknown(text: &InputText, document: JsonInput, body: &str) -> Problem {
    let value = match serde_json::from_str::<Value>(body.trim_end()) {
        Ok(value) => value,
        Err(error) if error.to_string().starts_with("trailing characters") => {
            let what = "several documents or other text, none of them fio output, a record or iostat output";
            return text.error(document.line, "", what, MAKE);
        }
        Err(error) => return json_error(text, document.lines(), &error, MAKE),
    };
    let keys: Vec<&str> = value.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    if keys.contains(&"sweep") {
        let remedy = "pass the record of one run: `fathom run JOB -o FILE.json`";
        return text.error(document.line, "", "this is a sweep, which contains many runs", remedy);
    }
    let named: Vec<String> = keys.iter().take(3).map(|key| format!("`{key}`")).collect();
    let what = if named.is_empty() {
        "this JSON is neither fio output, nor a record, nor iostat output".to_owned()
    } else {
        format!("this JSON with {} is neither fio output, nor a record, nor iostat output", named.join(", "))
    };
    text.error(document.line, "", what, MAKE)
}
