//! The first stage of parsing: keys, values and their places.

use std::sync::Arc;

use crate::redact::redacted_value;
use crate::table;
use units::Place;

/// An option as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawOption {
    /// Text before `=`, trimmed.
    pub key: String,
    /// Text after `=` with variables expanded; `None` if there is no `=`.
    pub value: Option<String>,
    pub key_place: Place,
    /// Place of the value, or of the key if there is no value.
    pub value_place: Place,
    /// Whether the value is unchanged from the text at its place, so that parts of it can be located.
    pub verbatim: bool,
    /// Place of the comment that follows, if any.
    pub cut: Option<Place>,
    /// Names of its environment variables that are not set.
    pub unset: Vec<String>,
}

impl RawOption {
    /// Returns the option as a line of a job file.
    pub(crate) fn line(&self) -> String {
        match &self.value {
            Some(value) => format!("{}={value}", self.key),
            None => self.key.clone(),
        }
    }

    /// Returns an option as if given on the command line.
    pub(crate) fn of_words(key: &str, value: &str) -> Self {
        let text: Arc<str> = Arc::from(format!("--{key}={}", redacted_value(key, value)));
        let place = |column, length| {
            let (source, text) = (Arc::from("command line"), Arc::clone(&text));
            Place { source, line: 1, column, length, text }
        };
        let (key_length, value_length) = (key.chars().count(), redacted_value(key, value).chars().count());
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

    /// Returns the place of a byte range of the value, or of the whole value if the range cannot be located.
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
    /// Place of the title.
    pub place: Place,
    /// Options in the order written.
    pub options: Vec<RawOption>,
    /// Whether it changes the defaults of later jobs instead of being a job.
    pub global: bool,
    /// Whether it comes from the command line, where options take effect in the order written.
    pub ordered: bool,
}

impl RawJob {
    /// Returns the options in the order in which they take effect: in a file some come first, some last, and engine
    /// options after all others.
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
    /// Sections in the order written.
    pub jobs: Vec<RawJob>,
}

/// Options that the caller adds to every job. Results do not repeat them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InjectedOptions {
    /// Names and values applied before all others, which a job may override.
    pub before: Vec<(String, String)>,
    /// Names and values applied after all others.
    pub after: Vec<(String, String)>,
}
