//! JSON values that keep the order of keys and distinguish whole numbers.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// A number without a decimal point.
    Whole(i128),
    /// A number with a decimal point.
    Float(f64),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses a text that is exactly one document.
    #[track_caller]
    pub(crate) fn read(text: &str) -> Self {
        assert!(text.starts_with('{'), "no document at the first byte: {text:.200}");
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text:.2000}"))
    }

    /// Parses consecutive documents.
    #[track_caller]
    pub(crate) fn read_all(text: &str) -> Vec<Self> {
        let documents = serde_json::Deserializer::from_str(text).into_iter();
        documents.map(|document| document.unwrap_or_else(|error| panic!("{error}: {text:.2000}"))).collect()
    }

    /// Parses the document in the output of fio, which prints notes before it.
    #[track_caller]
    pub(crate) fn read_after_notes(text: &str) -> Self {
        let start = if text.starts_with('{') { Some(0) } else { text.find("\n{").map(|at| at + 1) };
        Self::read(&text[start.unwrap_or_else(|| panic!("no document in: {text:.2000}"))..])
    }

    /// Returns the value at a path of keys and indices, such as `jobs/0/read/total_ios`.
    #[track_caller]
    pub(crate) fn at(&self, path: &str) -> &Self {
        self.find(path).unwrap_or_else(|| panic!("nothing at {path}"))
    }

    /// Returns the value at a path, if there is one.
    pub(crate) fn find(&self, path: &str) -> Option<&Self> {
        path.split('/').try_fold(self, |value, key| match value {
            Self::Object(members) => members.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            Self::Array(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// Returns the items of the array at a path.
    #[track_caller]
    pub(crate) fn items(&self, path: &str) -> &[Self] {
        let Self::Array(items) = self.at(path) else { panic!("{path} is no array") };
        items
    }

    /// Returns the number at a path.
    #[track_caller]
    pub(crate) fn number(&self, path: &str) -> f64 {
        match self.at(path) {
            Self::Whole(number) => *number as f64,
            Self::Float(number) => *number,
            other => panic!("{path} is {other:?}"),
        }
    }

    /// Returns the whole number at a path.
    #[track_caller]
    pub(crate) fn whole(&self, path: &str) -> u64 {
        let Self::Whole(number) = self.at(path) else { panic!("{path} is {:?}", self.at(path)) };
        u64::try_from(*number).unwrap_or_else(|_| panic!("{path} is {number}"))
    }

    /// Returns the text at a path.
    #[track_caller]
    pub(crate) fn text(&self, path: &str) -> &str {
        let Self::Text(text) = self.at(path) else { panic!("{path} is {:?}", self.at(path)) };
        text
    }

    /// Returns the distinct paths of all values with their types, in order. All items of an array share a path, as do
    /// numeric keys, because the filled buckets of a histogram vary.
    pub(crate) fn shape(&self) -> Vec<String> {
        let mut shape = Shape::default();
        shape.add("", self);
        shape.lines
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Whole(_) => "whole",
            Self::Float(_) => "float",
            Self::Text(_) => "text",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }
}

#[derive(Default)]
struct Shape {
    lines: Vec<String>,
    known: BTreeSet<String>,
}

impl Shape {
    fn add(&mut self, path: &str, value: &Json) {
        let line = format!("{path}: {}", value.kind());
        if self.known.insert(line.clone()) {
            self.lines.push(line);
        }
        match value {
            Json::Object(members) => members.iter().for_each(|(key, value)| {
                let is_bucket = key.bytes().all(|byte| byte.is_ascii_digit());
                self.add(&format!("{path}/{}", if is_bucket { "#" } else { key }), value);
            }),
            Json::Array(items) => items.iter().for_each(|item| self.add(&format!("{path}[]"), item)),
            _ => {}
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Builder)
    }
}

struct Builder;

impl<'de> Visitor<'de> for Builder {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Whole(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Whole(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element()? {
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(member) = members.next_entry()? {
            object.push(member);
        }
        Ok(Json::Object(object))
    }
}
