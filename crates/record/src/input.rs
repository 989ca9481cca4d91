//! Any input, recognized by its content: our record, fio's output, `iostat -x`.
//!
//! A document that was cut off is refused, even where parts of it are whole: half of an account is not an account.
//! Only what a program prints for each device at its very end may be missing, for nothing tells that it should be there.

mod accounts;
mod binary;
mod command;
mod foreign;
mod iostat;
mod json;
mod json_error;
mod normal;
mod prefix;
mod terse;
mod text;

use std::fmt;

use job::{Diagnostic, Place};

use crate::Run;
use crate::printable::{may_hide, printable};
use accounts::ClaimFormat;
pub use iostat::{Iostat, IostatCpu, IostatDevice, IostatKind, IostatReport};
use text::InputText;

/// A recognized input.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A run of ours or of fio's.
    Run(Box<Run>),
    /// What the kernel counted while something ran.
    Iostat(Iostat),
}

/// An input error with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct InputError {
    /// The name it was given under.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// How many characters are meant; 0 for a place alone.
    pub length: usize,
    /// The line itself, without colours and cut to 240 characters.
    pub text: String,
    /// What is wrong, in one sentence without a full stop.
    pub what: String,
    /// What to do instead.
    pub remedy: String,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}: {}", self.name, self.line, self.column, self.what, self.remedy)
    }
}

impl From<InputError> for Diagnostic {
    fn from(error: InputError) -> Self {
        let place = Place {
            source: error.name.into(),
            line: error.line,
            column: error.column,
            length: error.length,
            text: error.text.into(),
        };
        Self::error("unreadable-input", error.what).at(place).remedy(error.remedy)
    }
}

/// One of the accounts in an input.
#[derive(Clone, Debug, PartialEq)]
pub struct InputResult {
    /// The line on which it begins, from 1.
    pub line: usize,
    /// What was read.
    pub input: Input,
}

/// All that is in an input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputResults {
    /// What was read, in the order of the input.
    pub parts: Vec<InputResult>,
    /// What is in it too, and cannot be read.
    pub unreadable: Vec<InputError>,
}

/// Reads all runs, or what `iostat` saw, by what is in the bytes; `name` is for errors alone.
///
/// These are known: Fathom's record, one run or the repeats of `--repeat`; fio's `json` and `json+`, with other text around them; fio's normal output of
/// versions 2 and 3; its terse output from version 3 of that format; `iostat -x` as text, with most of its options and in any locale, and as JSON. Where
/// fio printed several accounts of one run (`--status-interval`), the last one counts and a note says so; where it printed
/// one account in several formats, the one with the most in it counts.
///
/// # Errors
///
/// [`InputError`] where nothing can be read, which says where, why, and how to make something that can be.
pub fn read_inputs(name: &str, bytes: &[u8]) -> Result<InputResults, InputError> {
    let text = InputText::of(name, bytes)?;
    few_enough(&text, text.whole.matches("\"jobname\"").count() + normal::results(&text), RESULTS_MAX, "results")?;
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    let mut add = |format: ClaimFormat, line: usize, read: Result<Input, InputError>| match read {
        Ok(input) => found.push((format, InputResult { line: line + 1, input })),
        // Beside documents that were read, a part of another format is an excerpt of them.
        Err(error) if found.iter().all(|(read, _)| *read == format) => unreadable.push(error),
        Err(_) => {}
    };
    for document in json::find(&text) {
        match json::read(&text, document) {
            Ok(inputs) => inputs.into_iter().for_each(|input| add(ClaimFormat::Json, document.line, Ok(input))),
            Err(error) => add(ClaimFormat::Json, document.line, Err(error)),
        }
    }
    let mut above = 0;
    for lines in normal::runs(&text) {
        let around = above..lines.end;
        above = normal::end_of_results(&text, lines.clone());
        let told = |run| of_run(command::told(&text, around, run));
        add(ClaimFormat::Normal, lines.start, normal::read(&text, lines).map(told));
    }
    for lines in terse::runs(&text) {
        add(ClaimFormat::Terse, lines.start, terse::read(&text, lines).map(of_run));
    }
    if found.is_empty() && unreadable.is_empty() && iostat::is_in(&text) {
        match iostat::read_text(&text).and_then(|iostat| few_devices(&text, iostat)) {
            Ok(iostat) => found.push((ClaimFormat::Iostat, InputResult { line: 1, input: Input::Iostat(iostat) })),
            Err(error) => unreadable.push(error),
        }
    }
    let mut parts = accounts::of_their_own(found);
    if parts.is_empty() {
        return Err(if unreadable.is_empty() { foreign::refuse(&text) } else { unreadable.swap_remove(0) });
    }
    parts.sort_by_key(|part| part.line);
    if may_hide(&text.whole) {
        parts.iter_mut().for_each(show);
    }
    Ok(InputResults { parts, unreadable })
}

/// Results of jobs in one input, and devices in one report: each takes kilobytes, and is held against the others.
const RESULTS_MAX: usize = 10_000;
const DEVICES_MAX: usize = 4_096;

fn few_enough(text: &InputText, count: usize, most: usize, what: &str) -> Result<(), InputError> {
    if count <= most {
        return Ok(());
    }
    let remedy = format!("give a part of it, with at most {most} of them");
    Err(text.fault(0, "", format!("there are {count} {what} in it, more than {most}"), remedy))
}

pub(in crate::input) fn few_devices(text: &InputText, iostat: Iostat) -> Result<Iostat, InputError> {
    let most = iostat.reports.iter().map(|report| report.devices.len()).max().unwrap_or(0);
    few_enough(text, most, DEVICES_MAX, "devices in a report")?;
    Ok(iostat)
}

fn of_run(run: Run) -> Input {
    Input::Run(Box::new(run))
}

/// Makes texts such that a terminal shows them as they are.
fn show(part: &mut InputResult) {
    if let Input::Run(run) = &mut part.input {
        **run = printable(std::mem::take(&mut **run));
    }
}

/// Reads the one account in an input, or the one with a number, from 1.
///
/// # Errors
///
/// As of [`read_inputs`]; and where there are several and none was chosen, or no one with that number.
pub fn read_input(name: &str, bytes: &[u8], number: Option<usize>) -> Result<Input, InputError> {
    let InputResults { mut parts, mut unreadable } = read_inputs(name, bytes)?;
    let count = parts.len();
    let index = number.map_or(0, |number| number.wrapping_sub(1));
    if index < count && (number.is_some() || count == 1 && unreadable.is_empty()) {
        return Ok(parts.swap_remove(index).input);
    }
    if count == 1 && number.is_none() {
        return Err(unreadable.swap_remove(0));
    }
    let mut lines: Vec<String> = parts.iter().map(|part| part.line.to_string()).collect();
    // Repeats are in one document.
    lines.dedup();
    let lines = if lines.len() == 1 { format!("line {}", lines[0]) } else { format!("lines {}", lines.join(", ")) };
    Err(InputError {
        name: name.to_owned(),
        line: parts.last().map_or(1, |part| part.line),
        column: 1,
        length: 0,
        text: String::new(),
        what: format!("there are {count} runs in it, which begin on {lines}"),
        remedy: format!("choose one: `{name}#1` to `{name}#{count}`"),
    })
}

/// Remedy: how to produce readable input.
const MAKE: &str =
    "give fio's output (`fio --output-format=json`), a record of `fathom run`, or `iostat -x -o JSON 1 30`";
