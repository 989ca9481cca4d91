//! Reads values as fio does, and notices where fio's reading cannot be meant.
//!
//! One reader serves both dialects. It always gives fio's value, and beside it a list of findings: a *fault*
//! where fio refuses, a *quirk* where fio takes the text for something else than it says.

pub(crate) mod lists;
pub(crate) mod number;
pub(crate) mod pattern;
pub(crate) mod skew;
pub(crate) mod word;

use std::ops::Range;

use crate::Dialect;

/// Whether fio refuses the text, or reads it in a way its writer cannot have meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProblemWeight {
    Fault,
    Quirk,
    /// fio refuses what its documents promise; Fathom's own dialect reads it.
    Extension,
}

impl ProblemWeight {
    /// Whether this is an error in `dialect`.
    pub(crate) fn counts(self, dialect: Dialect) -> bool {
        match self {
            Self::Fault => true,
            Self::Quirk => dialect == Dialect::Strict,
            Self::Extension => dialect == Dialect::Fio,
        }
    }
}

/// Something found in the text of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadProblem {
    pub(crate) weight: ProblemWeight,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// What fio does, as a sentence; empty when the message says it all.
    pub(crate) note: String,
    /// What to write; empty when there is nothing to suggest.
    pub(crate) remedy: String,
    /// Which bytes of the value.
    pub(crate) at: Range<usize>,
}

/// Collects findings about one value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    pub(crate) items: Vec<ReadProblem>,
    /// Where in the value the text being read begins.
    base: usize,
}

impl Findings {
    /// Reads a part of the value that begins at `offset` with `read`, so that places come out right.
    pub(crate) fn within<T>(&mut self, offset: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.base;
        self.base += offset;
        let value = read(self);
        self.base = outer;
        value
    }

    /// fio refuses this.
    pub(crate) fn fault(
        &mut self,
        at: Range<usize>,
        code: &'static str,
        message: impl Into<String>,
    ) -> &mut ReadProblem {
        self.push(ProblemWeight::Fault, at, code, message.into())
    }

    /// fio reads this as something that was not meant.
    pub(crate) fn quirk(
        &mut self,
        at: Range<usize>,
        code: &'static str,
        message: impl Into<String>,
    ) -> &mut ReadProblem {
        self.push(ProblemWeight::Quirk, at, code, message.into())
    }

    /// fio refuses this although its documents promise it.
    pub(crate) fn extension(&mut self, at: Range<usize>, code: &'static str, message: impl Into<String>) {
        self.push(ProblemWeight::Extension, at, code, message.into());
    }

    /// Adds a finding of a part that was read apart.
    pub(crate) fn take(&mut self, mut item: ReadProblem) {
        item.at = item.at.start + self.base..item.at.end + self.base;
        self.items.push(item);
    }

    fn push(
        &mut self,
        weight: ProblemWeight,
        at: Range<usize>,
        code: &'static str,
        message: String,
    ) -> &mut ReadProblem {
        let at = at.start + self.base..at.end + self.base;
        self.items.push(ReadProblem { weight, code, message, note: String::new(), remedy: String::new(), at });
        let last = self.items.len() - 1;
        &mut self.items[last]
    }
}

impl ReadProblem {
    /// What fio does with the text.
    pub(crate) fn note(&mut self, note: impl Into<String>) -> &mut Self {
        self.note = note.into();
        self
    }

    /// What to write instead.
    pub(crate) fn remedy(&mut self, remedy: impl Into<String>) -> &mut Self {
        self.remedy = remedy.into();
        self
    }
}
