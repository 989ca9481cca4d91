//! First stage: keys, values and their places.

use std::sync::Arc;

use crate::diagnostic::Place;
use crate::table;

/// An option as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawOption {
    /// What stands before `=`, trimmed.
    pub key: String,
    /// What stands behind `=`, with variables replaced; `None` where there is no `=`.
    pub value: Option<String>,
    /// Where the key is.
    pub key_place: Place,
    /// Where the value is; the key's place where there is none.
    pub value_place: Place,
    /// Whether the value stands in the text as it is here, so that places within it can be told.
    pub verbatim: bool,
    /// What was cut off behind `;` or `#`, if anything.
    pub cut: Option<Place>,
    /// Environment variables in it that are not set.
    pub unset: Vec<String>,
}

impl RawOption {
    /// As a job file has it.
    pub(crate) fn line(&self) -> String {
        match &self.value {
            Some(value) => format!("{}={value}", self.key),
            None => self.key.clone(),
        }
    }

    /// An option that stands on the command line in other words.
    pub(crate) fn of_words(key: &str, value: &str) -> Self {
        let text: Arc<str> = Arc::from(format!("--{key}={value}"));
        let place = |column, length| {
            let (source, text) = (Arc::from("command line"), Arc::clone(&text));
            Place { source, line: 1, column, length, text }
        };
        let (key_length, value_length) = (key.chars().count(), value.chars().count());
        Self {
            key: key.to_owned(),
            value: Some(value.to_owned()),
            key_place: place(3, key_length),
            value_place: place(4 + key_length, value_length),
            verbatim: true,
            cut: None,
            unset: Vec::new(),
        }
    }

    /// The place of some bytes of the value: the whole value if they cannot be told apart.
    pub(crate) fn place_of(&self, bytes: &std::ops::Range<usize>) -> Place {
        let value = self.value.as_deref().unwrap_or("");
        let chars = |range: std::ops::Range<usize>| value.get(range).map(|text| text.chars().count());
        match (chars(0..bytes.start), chars(bytes.clone())) {
            (Some(start), Some(length)) if self.verbatim && length > 0 => self.value_place.part(start, length),
            _ => self.value_place.clone(),
        }
    }
}

/// A section of a job file, or the options after one `--name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawJob {
    /// The section's title, or the value of `--name`.
    pub title: String,
    /// Where the title is.
    pub place: Place,
    /// Its options in the order written.
    pub options: Vec<RawOption>,
    /// Whether it changes the defaults of what follows instead of being a job.
    pub global: bool,
    /// Whether it came from the command line, where options take effect in the order written.
    pub ordered: bool,
}

impl RawJob {
    /// The options in the order in which they take effect: in a file some come first and some last, and those of the
    /// engine alone after all others.
    pub(crate) fn in_order(&self) -> Vec<&RawOption> {
        let mut order: Vec<&RawOption> = self.options.iter().collect();
        if !self.ordered {
            order.sort_by_cached_key(|option| priority(&option.key));
        }
        order
    }
}

fn priority(key: &str) -> u8 {
    let specs = table::find_all(key);
    match specs.first().map(|spec| spec.name) {
        Some("kb_base" | "unit_base" | "lockfile" | "cpus_allowed_policy") => 0,
        Some("filename" | "filename_format") => 2,
        Some(_) if specs.iter().all(|spec| !spec.engines.is_empty()) => 3,
        _ => 1,
    }
}

/// The sections of one file, or of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawFile {
    /// Its sections in the order written.
    pub jobs: Vec<RawJob>,
}
