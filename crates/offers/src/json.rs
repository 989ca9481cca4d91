//! Reads the items of JSON documents one by one.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use serde::Deserialize;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use units::{Problem, ProblemCode};

use crate::input::OfferInput;

/// One step from the outermost value to the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Each element of a list.
    Each,
    /// The value of this key.
    Key(&'static str),
    /// The value of every key.
    Any,
}

/// Receives what a document has.
pub(crate) trait Items {
    type Item: DeserializeOwned;

    fn item(&mut self, item: Self::Item) -> Result<(), Problem>;

    /// Receives a text beside the list of items, such as the address of the next page.
    fn beside(&mut self, key: &str, text: &str) -> Result<(), Problem> {
        let _ = (key, text);
        Ok(())
    }

    /// Receives the end of a page.
    fn page(&mut self) {}
}

/// A refusal of an item on its way through serde, whose errors are texts.
pub(crate) struct Refusal {
    problem: Option<Problem>,
    halt: Rc<Cell<bool>>,
}

impl Refusal {
    pub(crate) fn keep<T, E: Error>(&mut self, result: Result<T, Problem>) -> Result<T, E> {
        result.map_err(|problem| {
            self.problem = Some(problem);
            self.halt.set(true);
            E::custom("refused")
        })
    }
}

/// Reads one document.
pub(crate) trait Document {
    fn read<'de, D: Deserializer<'de>>(&mut self, document: D, refusal: &mut Refusal) -> Result<(), D::Error>;
}

/// Documents with items at the end of `steps`.
struct ItemDocument<'a, I> {
    steps: &'a [Step],
    items: &'a mut I,
    /// Number of items read.
    count: u64,
}

impl<I: Items> Document for ItemDocument<'_, I> {
    fn read<'de, D: Deserializer<'de>>(&mut self, document: D, refusal: &mut Refusal) -> Result<(), D::Error> {
        Walk { steps: self.steps, items: self.items, count: &mut self.count, refusal }.deserialize(document)
    }
}

/// Reads all items of a file.
pub(crate) fn read_items<I: Items>(input: &mut OfferInput<'_>, steps: &[Step], items: &mut I) -> Result<(), Problem> {
    let mut document = ItemDocument { steps, items, count: 0 };
    let read = read_documents(input, &mut document);
    read.map_err(|problem| problem.note(format!("in item {} of the file", document.count)))
}

/// Reads all documents of a file: one, or several after one another.
pub(crate) fn read_documents(input: &mut OfferInput<'_>, document: &mut impl Document) -> Result<(), Problem> {
    let mut refusal = Refusal { problem: None, halt: input.halt() };
    let read = {
        let mut json = serde_json::Deserializer::from_reader(&mut *input);
        loop {
            if let Err(error) = document.read(&mut json, &mut refusal) {
                break Err(error);
            }
            match json.end() {
                Ok(()) => break Ok(()),
                // Another document follows.
                Err(error) if error.is_syntax() => {}
                Err(error) => break Err(error),
            }
        }
    };
    read.map_err(|error| failure(input, refusal, &error))
}

/// Parses a JSON text within a string.
pub(crate) fn parse_text<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    serde_json::from_str(text).map_err(|error| {
        Problem::error(ProblemCode::UnreadableInput, format!("the JSON within a string is damaged: {error}"))
            .help("download or export the file again")
    })
}

fn failure(input: &mut OfferInput<'_>, refusal: Refusal, error: &serde_json::Error) -> Problem {
    if let Some(problem) = input.take_problem() {
        return problem;
    }
    if let Some(problem) = refusal.problem {
        return input.locate(problem);
    }
    let text = error.to_string();
    let reason = text.rfind(" at line ").map_or(text.as_str(), |at| &text[..at]);
    let problem = if error.is_eof() {
        Problem::error(ProblemCode::CutOff, "the file ends within its JSON").help("download it again: it is incomplete")
    } else if error.is_syntax() && !input.is_text_here() {
        Problem::error(ProblemCode::Encoding, "the file is not UTF-8 text").help("download or export it again")
    } else {
        let what = if error.is_data() { "unexpected content" } else { "the JSON is damaged" };
        Problem::error(ProblemCode::UnreadableInput, format!("{what}: {reason}"))
            .help("download or export the file again")
    };
    input.locate(problem)
}

/// Walks the steps to the items.
struct Walk<'a, I> {
    steps: &'a [Step],
    items: &'a mut I,
    count: &'a mut u64,
    refusal: &'a mut Refusal,
}

impl<I> Walk<'_, I> {
    const fn deeper(&mut self) -> Walk<'_, I> {
        let steps = match self.steps {
            [_, deeper @ ..] => deeper,
            [] => &[],
        };
        Walk { steps, items: self.items, count: self.count, refusal: self.refusal }
    }
}

impl<'de, I: Items> DeserializeSeed<'de> for Walk<'_, I> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        match self.steps.first() {
            Some(Step::Each) => value.deserialize_seq(self),
            Some(Step::Key(_) | Step::Any) => value.deserialize_map(self),
            None => {
                *self.count += 1;
                let item = I::Item::deserialize(value)?;
                self.refusal.keep(self.items.item(item))
            }
        }
    }
}

impl<'de, I: Items> Visitor<'de> for Walk<'_, I> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.steps.first() {
            Some(Step::Key(key)) => write!(f, "an object with `{key}`"),
            Some(Step::Any) => f.write_str("an object"),
            _ => f.write_str("a list"),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(self.deeper())?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if matches!(self.steps.first(), Some(Step::Key(known)) if *known != key) {
                if let Some(text) = map.next_value::<MaybeText>()?.0 {
                    let read = self.items.beside(&key, &text);
                    self.refusal.keep(read)?;
                }
            } else {
                map.next_value_seed(self.deeper())?;
            }
        }
        self.items.page();
        Ok(())
    }
}

/// A text, or any other value, which is ignored.
struct MaybeText(Option<String>);

impl<'de> Deserialize<'de> for MaybeText {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = MaybeText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<MaybeText, E> {
                Ok(MaybeText(Some(text.to_owned())))
            }

            fn visit_unit<E: Error>(self) -> Result<MaybeText, E> {
                Ok(MaybeText(None))
            }

            fn visit_bool<E: Error>(self, _: bool) -> Result<MaybeText, E> {
                Ok(MaybeText(None))
            }

            fn visit_i64<E: Error>(self, _: i64) -> Result<MaybeText, E> {
                Ok(MaybeText(None))
            }

            fn visit_u64<E: Error>(self, _: u64) -> Result<MaybeText, E> {
                Ok(MaybeText(None))
            }

            fn visit_f64<E: Error>(self, _: f64) -> Result<MaybeText, E> {
                Ok(MaybeText(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<MaybeText, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(MaybeText(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MaybeText, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(MaybeText(None))
            }
        }
        value.deserialize_any(TextVisitor)
    }
}

/// The entries of an object, each passed to a function that reads its value.
pub(crate) struct Entries<'a, F>(pub(crate) &'a mut F);

/// Reads the value of a key.
pub(crate) trait ReadEntry {
    fn read<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error>;
}

impl<'de, F: ReadEntry> DeserializeSeed<'de> for Entries<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_map(self)
    }
}

impl<'de, F: ReadEntry> Visitor<'de> for Entries<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            self.0.read(&key, &mut map)?;
        }
        Ok(())
    }
}
