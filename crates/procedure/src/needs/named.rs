//! A need of a file, and the places of its words.

use std::ops::Range;
use std::sync::Arc;

use units::{Place, Problem};

use crate::plan_words::PlanWords;

/// The text of a needs file.
#[derive(Clone, Debug)]
pub(super) struct NeedsText {
    /// Name of the file.
    pub(super) name: String,
    pub(super) text: Arc<str>,
}

impl NeedsText {
    pub(super) fn place(&self, at: &Range<usize>) -> Place {
        Place::of_text(&self.name, &self.text, at.clone())
    }
}

/// The value of a key, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct PlacedValue {
    pub(super) key: String,
    /// Whether it is set at all: `false` for a flag that is off.
    pub(super) is_set: bool,
    pub(super) words: Vec<String>,
    /// Place of each word in the file; empty for a value of the command line.
    pub(super) places: Vec<Range<usize>>,
}

/// A need of a file, with defaults and options of the command line.
#[derive(Clone, Debug)]
pub struct NamedNeed {
    pub name: String,
    /// Its words, as on the command line.
    pub words: PlanWords,
    pub(super) file: NeedsText,
    /// Place of its name in the file.
    pub(super) at: Range<usize>,
    pub(super) values: Vec<PlacedValue>,
}

impl NamedNeed {
    /// Moves problems of its words to their places in the file.
    #[must_use]
    pub fn located(&self, problems: Vec<Problem>) -> Vec<Problem> {
        problems.into_iter().map(|problem| self.locate(problem)).collect()
    }

    fn locate(&self, problem: Problem) -> Problem {
        let Some(place) = problem.place.clone() else {
            let label = problem.label.clone();
            return problem.at(self.file.place(&self.at)).label(label);
        };
        // A place in another file, such as the job file that `from` names.
        let Some((key, value)) = place.text.strip_prefix("--").and_then(|text| text.split_once('=')) else {
            return problem.note(format!("read for need `{}`", self.name));
        };
        let of_key = self.values.iter().find(|known| known.key == key);
        let at = of_key.and_then(|known| {
            let index = known.words.iter().position(|word| word == value).unwrap_or_default();
            Some((known.places.get(index)?, known.words.get(index)? == value))
        });
        // A value of the command line keeps its place there.
        let Some((at, is_same)) = at else { return problem };
        let inner = at.start + 1..at.end.saturating_sub(1).max(at.start + 1);
        if is_same && self.file.text.get(inner.clone()) == Some(value) {
            // The value begins behind `--KEY=`.
            let before = key.chars().count() + "--=".len();
            let part = self.file.place(&inner).part(place.column.saturating_sub(1 + before), place.length);
            return problem.at(part);
        }
        problem.at(self.file.place(at))
    }
}
