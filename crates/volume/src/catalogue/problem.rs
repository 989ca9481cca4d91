//! Problems of volume names and files, with their place.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogueText {
    /// `volume` for a requested volume; otherwise the name of a file.
    pub name: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
}

impl CatalogueText {
    #[must_use]
    pub fn new(name: &str, text: &str) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// Creates a problem at a place in this text.
    pub(super) fn problem(&self, at: Range<usize>, message: impl Into<String>) -> CatalogueProblem {
        CatalogueProblem { message: message.into(), place: self.clone(), at, remedy: None }
    }
}

/// A problem of a text. All problems of a text are reported at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogueProblem {
    /// CatalogueProblem in one sentence, without a full stop.
    pub message: String,
    /// Text with the problem.
    pub place: CatalogueText,
    /// Place in the text, in bytes.
    pub at: Range<usize>,
    /// Suggested correction.
    pub remedy: Option<String>,
}

impl CatalogueProblem {
    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Sets the remedy, if there is one.
    pub(super) fn maybe(mut self, remedy: Option<String>) -> Self {
        self.remedy = remedy.or(self.remedy);
        self
    }

    /// Returns the line and the column of its first character, both counted from 1, and the whole line.
    #[must_use]
    pub fn line(&self) -> (usize, usize, &str) {
        let text = &*self.place.text;
        let mut start = self.at.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let number = text[..begin].matches('\n').count() + 1;
        (number, text[begin..start].chars().count() + 1, text[begin..end].trim_end_matches('\r'))
    }

    /// Returns the number of characters that it spans in its line.
    #[must_use]
    pub fn width(&self) -> usize {
        let (_, column, line) = self.line();
        let spanned = self.place.text.get(self.at.clone()).map_or(0, |part| part.chars().count());
        spanned.min((line.chars().count() + 1).saturating_sub(column))
    }
}

impl fmt::Display for CatalogueProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column, _) = self.line();
        write!(f, "{}:{line}:{column}: {}", self.place.name, self.message)?;
        self.remedy.iter().try_for_each(|remedy| write!(f, " ({remedy})"))
    }
}
