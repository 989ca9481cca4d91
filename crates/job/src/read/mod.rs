//! Parses values as fio does, and records where fio's reading cannot be what the user meant.
//!
//! One parser serves both dialects. It returns fio's value with a list of findings: *faults*, which fio refuses, and
//! *quirks*, which fio reads as something other than the text says.

pub(crate) mod distribution;
pub(crate) mod error_numbers;
pub(crate) mod lists;
pub(crate) mod number;
pub(crate) mod nvme;
pub(crate) mod pattern;
pub(crate) mod priorities;
pub(crate) mod word;

use std::ops::Range;
use units::ProblemCode;

use crate::Dialect;

/// How fio treats a text that the strict dialect questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProblemWeight {
    /// fio refuses it.
    Fault,
    /// fio reads it in a way that the user cannot have meant.
    Quirk,
    /// fio refuses it although its documentation allows it; the strict dialect accepts it.
    Extension,
}

impl ProblemWeight {
    /// Reports whether this is an error in `dialect`.
    pub(crate) fn is_error_in(self, dialect: Dialect) -> bool {
        match self {
            Self::Fault => true,
            Self::Quirk => dialect == Dialect::Strict,
            Self::Extension => dialect == Dialect::Fio,
        }
    }
}

/// A finding in the text of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadProblem {
    pub(crate) weight: ProblemWeight,
    pub(crate) code: ProblemCode,
    pub(crate) message: String,
    /// fio's behaviour, as a sentence; empty if the message suffices.
    pub(crate) note: String,
    /// What to write instead; empty if there is no suggestion.
    pub(crate) help: String,
    /// Byte range in the value.
    pub(crate) at: Range<usize>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    pub(crate) items: Vec<ReadProblem>,
    /// Offset in the value of the text being parsed.
    base: usize,
}

impl Findings {
    /// Calls `read` for the part of the value that begins at `offset`, so that places are relative to the whole value.
    pub(crate) fn within<T>(&mut self, offset: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.base;
        self.base += offset;
        let value = read(self);
        self.base = outer;
        value
    }

    /// Adds a text that fio refuses.
    pub(crate) fn fault(
        &mut self,
        at: Range<usize>,
        code: ProblemCode,
        message: impl Into<String>,
    ) -> &mut ReadProblem {
        self.push(ProblemWeight::Fault, at, code, message.into())
    }

    /// Adds a text that fio reads as something else.
    pub(crate) fn quirk(
        &mut self,
        at: Range<usize>,
        code: ProblemCode,
        message: impl Into<String>,
    ) -> &mut ReadProblem {
        self.push(ProblemWeight::Quirk, at, code, message.into())
    }

    /// Adds a text that fio refuses although its documentation allows it.
    pub(crate) fn extension(&mut self, at: Range<usize>, code: ProblemCode, message: impl Into<String>) {
        self.push(ProblemWeight::Extension, at, code, message.into());
    }

    /// Adds a finding of a part that was parsed on its own.
    pub(crate) fn take(&mut self, mut item: ReadProblem) {
        item.at = item.at.start + self.base..item.at.end + self.base;
        self.items.push(item);
    }

    fn push(
        &mut self,
        weight: ProblemWeight,
        at: Range<usize>,
        code: ProblemCode,
        message: String,
    ) -> &mut ReadProblem {
        let at = at.start + self.base..at.end + self.base;
        self.items.push(ReadProblem { weight, code, message, note: String::new(), help: String::new(), at });
        let last = self.items.len() - 1;
        &mut self.items[last]
    }
}

impl ReadProblem {
    /// Sets fio's behaviour.
    pub(crate) fn note(&mut self, note: impl Into<String>) -> &mut Self {
        self.note = note.into();
        self
    }

    /// Sets what to write instead.
    pub(crate) fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help = help.into();
        self
    }
}
