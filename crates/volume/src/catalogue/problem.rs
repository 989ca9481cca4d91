//! Problems of volume names and files, with their place.

use std::ops::Range;
use std::sync::Arc;

use units::{Place, Problem, ProblemCode};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CatalogueText {
    /// `volume` for a requested volume; otherwise the name of a file.
    pub name: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
}

impl CatalogueText {
    pub(super) fn new(name: &str, text: &str) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// Creates a problem at a place in this text.
    pub(super) fn problem(&self, at: Range<usize>, what: impl Into<String>) -> Problem {
        Problem::error(ProblemCode::Volume, what).at(self.place(at))
    }

    pub(super) fn place(&self, at: Range<usize>) -> Place {
        Place::of_text(&self.name, &self.text, at)
    }

    /// Reports whether a problem is one of this text.
    pub(super) fn has(&self, problem: &Problem) -> bool {
        problem.place.as_ref().is_some_and(|place| place.source == self.name)
    }
}
