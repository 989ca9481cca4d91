//! Whatever somebody has at hand, read by what is in it: our record, fio's output, `iostat -x`.
//!
//! A document that was cut off is refused, even where parts of it are whole: half of an account is not an account.
//! Only what a program prints for each device at its very end may be missing, for nothing tells that it should be there.

mod command;
mod foreign;
mod iostat;
mod json;
mod normal;
mod text;

use std::fmt;

use job::{Diagnostic, Place};

use crate::Run;
use crate::printable::{may_hide, printable};
pub use iostat::{Iostat, IostatCpu, IostatDevice, IostatKind, IostatReport};
use text::Text;

/// What was read.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A run of ours or of fio's.
    Run(Box<Run>),
    /// What the kernel counted while something ran.
    Iostat(Iostat),
}

/// Why something cannot be read, and where.
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

/// Reads a run or what `iostat` saw, by what is in the bytes; `name` is for errors alone.
///
/// These are known: our own record; fio's `json` and `json+`, with other text around them; fio's normal output of
/// versions 2 and 3; `iostat -x` as text, with most of its options and in any locale, and as JSON. Where fio printed
/// several accounts of a run, or there are several runs, the last one counts and a note says so.
///
/// # Errors
///
/// [`InputError`], which says where, why, and how to make something that can be read.
pub fn read_input(name: &str, bytes: &[u8]) -> Result<Input, InputError> {
    let text = Text::of(name, bytes)?;
    if let Some(document) = json::find(&text) {
        let input = json::read(&text, document)?;
        return Ok(match input {
            Input::Run(run) if may_hide(&text.whole) => Input::Run(Box::new(printable(*run))),
            input => input,
        });
    }
    if normal::is_in(&text) {
        return normal::read(&text).map(|run| Input::Run(Box::new(command::told(&text, run))));
    }
    if iostat::is_in(&text) {
        return iostat::read_text(&text).map(Input::Iostat);
    }
    Err(foreign::refuse(&text))
}
