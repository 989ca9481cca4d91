//! Deserializes TOML into the types of a catalogue file: tables in the order of the file, with the places of values and
//! all problems at once. `toml` itself stops at the first problem and sorts keys.

use std::cell::RefCell;
use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};

use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, IgnoredAny, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_spanned::de::{SpannedDeserializer, is_spanned};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::{Problem, suggestion};

use super::problem::CatalogueText;
use crate::toml_value::{kind, number};

/// Problems of a file, as they are found, and the references in it.
pub(super) struct CatalogueErrors {
    pub text: CatalogueText,
    pub problems: RefCell<Vec<Problem>>,
    pub references: RefCell<Vec<Reference>>,
}

/// A text that names something defined elsewhere in the file, as a newtype of serde.
pub(super) struct Reference {
    /// Name of the newtype.
    pub kind: &'static str,
    pub id: String,
    pub at: Range<usize>,
}

impl CatalogueErrors {
    pub(super) fn new(text: &CatalogueText) -> Self {
        Self { text: text.clone(), problems: RefCell::default(), references: RefCell::default() }
    }

    pub(super) fn add(&self, at: Range<usize>, message: impl Into<String>, remedy: impl Into<String>) {
        self.push(self.text.problem(at, message).help(remedy));
    }

    pub(super) fn push(&self, problem: Problem) {
        self.problems.borrow_mut().push(problem);
    }

    /// Reads a file; `None` if it has a problem that leaves nothing to check.
    pub(super) fn read<T: de::DeserializeOwned>(&self) -> Option<T> {
        let (root, errors) = DeTable::parse_recoverable(&self.text.text);
        let end = self.text.text.len();
        for error in &errors {
            self.add(error.span().unwrap_or(end..end), error.message(), "use valid TOML, as in docs/volumes.md");
        }
        let root = Spanned::new(0..0, DeValue::Table(root.into_inner()));
        let root = Node { value: &root, key: "", is_element: false, errors: self };
        if errors.is_empty() { root.placed(T::deserialize(root)).ok() } else { None }
    }
}

/// A value with its place in the file.
#[derive(Clone, Debug, Default)]
pub(super) struct At<T> {
    value: T,
    pub at: Range<usize>,
}

impl<T> At<T> {
    pub(super) fn new(value: T, at: Range<usize>) -> Self {
        Self { value, at }
    }

    pub(super) fn into_inner(self) -> T {
        self.value
    }

    pub(super) fn try_map<U, E>(self, with: impl FnOnce(T) -> Result<U, E>) -> Result<At<U>, E> {
        Ok(At { value: with(self.value)?, at: self.at })
    }
}

impl<T> Deref for At<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for At<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T: Display> Display for At<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(|found| Self { at: found.span(), value: found.into_inner() })
    }
}

/// A value of any form but a list.
#[derive(Clone, Debug)]
pub(super) enum Form<T = IgnoredAny> {
    Number(f64),
    Text(String),
    Boolean(bool),
    Table(T),
}

/// Refuses a value of another form.
pub(super) fn mistyped<E: de::Error>(wanted: &'static str) -> E {
    E::invalid_type(Unexpected::Other("another form"), &wanted)
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Form<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FormVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for FormVisitor<T> {
            type Value = Form<T>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a decimal number or a quoted string")
            }

            fn visit_f64<E>(self, number: f64) -> Result<Form<T>, E> {
                Ok(Form::Number(number))
            }

            fn visit_str<E>(self, text: &str) -> Result<Form<T>, E> {
                Ok(Form::Text(text.to_owned()))
            }

            fn visit_bool<E>(self, boolean: bool) -> Result<Form<T>, E> {
                Ok(Form::Boolean(boolean))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Form<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Form::Table)
            }
        }
        deserializer.deserialize_any(FormVisitor(PhantomData))
    }
}

/// Reads a value or a list of values; those with a problem are left out.
pub(super) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(source: D) -> Result<Vec<T>, D::Error> {
    struct ListVisitor<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
            let mut values = Vec::new();
            loop {
                match list.next_element() {
                    Ok(Some(value)) => values.push(value),
                    Ok(None) => return Ok(values),
                    // It is reported.
                    Err(_) => {}
                }
            }
        }
    }
    source.deserialize_seq(ListVisitor(PhantomData))
}

/// A value that knows its key.
pub(super) trait Keyed<'de>: Sized {
    fn read<D: Deserializer<'de>>(key: String, source: D) -> Result<Self, D::Error>;
}

impl<'de, T: Deserialize<'de>> Keyed<'de> for (String, T) {
    fn read<D: Deserializer<'de>>(key: String, source: D) -> Result<Self, D::Error> {
        T::deserialize(source).map(|value| (key, value))
    }
}

/// Reads the entries of a table in their order; those with a problem are left out.
pub(super) fn entries<'de, D: Deserializer<'de>, T: Keyed<'de>>(source: D) -> Result<Vec<T>, D::Error> {
    struct Entry<T>(String, PhantomData<T>);
    impl<'de, T: Keyed<'de>> DeserializeSeed<'de> for Entry<T> {
        type Value = T;

        fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<T, D::Error> {
            T::read(self.0, source)
        }
    }
    impl<'de, T: Keyed<'de>> Visitor<'de> for Entry<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a table")
        }

        fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Vec<T>, A::Error> {
            let mut values = Vec::new();
            while let Some(key) = map.next_key()? {
                values.extend(map.next_value_seed(Entry(key, PhantomData)));
            }
            Ok(values)
        }
    }
    source.deserialize_map(Entry(String::new(), PhantomData))
}

/// Reads a value, or leaves it out if it has a problem.
pub(super) fn kept<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(source: D) -> Result<T, D::Error> {
    struct KeptVisitor<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for KeptVisitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a table")
        }

        fn visit_newtype_struct<D: Deserializer<'de>>(self, source: D) -> Result<T, D::Error> {
            T::deserialize(source)
        }
    }
    // A newtype reports its problem.
    Ok(source.deserialize_newtype_struct("", KeptVisitor(PhantomData)).unwrap_or_default())
}

/// Why a value is refused. Serde carries it as text to the value that has the place.
#[derive(Debug)]
pub(super) struct Refusal {
    what: String,
    help: String,
    /// Place in the file, if it is not the whole value.
    at: Option<Range<usize>>,
}

impl Refusal {
    pub(super) fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { what: what.into(), help: help.into(), at: None }
    }

    pub(super) fn at(self, at: Range<usize>) -> Self {
        Self { at: Some(at), ..self }
    }

    pub(super) fn of(problem: Problem) -> Self {
        Self::new(problem.what, problem.help.unwrap_or_default())
    }

    /// Returns it as an error of serde.
    pub(super) fn error<E: de::Error>(self) -> E {
        E::custom(self)
    }
}

/// It separates the parts of a refusal.
const SEPARATOR: char = '\u{1f}';

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at.as_ref().map_or(String::new(), |at| format!("{}..{}", at.start, at.end));
        write!(f, "{}{SEPARATOR}{}{SEPARATOR}{at}", self.what, self.help)
    }
}

/// A problem on the way to the value that has its place.
#[derive(Debug)]
enum ReadError {
    Reported,
    Refused(Refusal),
    Missing(&'static str),
    Mistyped { wanted: String },
    Unknown { word: String, known: &'static [&'static str] },
}

impl Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: Display>(message: T) -> Self {
        let text = message.to_string();
        let mut parts = text.rsplitn(3, SEPARATOR);
        let (at, help, what) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
        let Some((what, help)) = what.zip(help) else { return Self::Refused(Refusal::new(text, "")) };
        let at = at.split_once("..").and_then(|(start, end)| Some(start.parse().ok()?..end.parse().ok()?));
        Self::Refused(Refusal { at, ..Refusal::new(what, help) })
    }

    fn invalid_type(_: Unexpected, expected: &dyn de::Expected) -> Self {
        Self::Mistyped { wanted: expected.to_string() }
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Self::Unknown { word: word.to_owned(), known }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }
}

/// A value of the file and its key.
#[derive(Clone, Copy)]
struct Node<'de> {
    value: &'de Spanned<DeValue<'de>>,
    key: &'de str,
    /// Whether it is an element of the list of this key.
    is_element: bool,
    errors: &'de CatalogueErrors,
}

impl<'de> Node<'de> {
    /// Reports the problem of this value, unless it is one of an inner value and reported.
    fn placed<T>(self, result: Result<T, ReadError>) -> Result<T, ReadError> {
        let name = self.name();
        let Refusal { what, help, at } = match result {
            Ok(_) | Err(ReadError::Reported) => return result,
            // A part of a text is one of a rule.
            Err(ReadError::Refused(refusal)) if refusal.at.is_some() && self.value.get_ref().is_str() => {
                Refusal { what: format!("{name}: {}", refusal.what), ..refusal }
            }
            Err(ReadError::Refused(refusal)) => refusal,
            Err(ReadError::Missing(field)) => {
                Refusal::new(format!("{name} has no `{field}`"), format!("add `{field} = ...`, see docs/volumes.md"))
            }
            Err(ReadError::Mistyped { wanted }) => {
                let (wanted, help) = match wanted.as_str() {
                    "a string" => ("a string", "quote it".to_owned()),
                    "a boolean" => ("true or false", "use true or false without quotes".to_owned()),
                    "f64" => ("a number", "use a number without quotes".to_owned()),
                    "a table" | "struct variant" => ("a table", "use { key = value }".to_owned()),
                    wanted => (wanted, format!("use {wanted}")),
                };
                let subject = if self.is_element { format!("each of `{}`", self.key) } else { name };
                Refusal::new(format!("{subject} must be {wanted}, not {}", kind(self.value)), help)
            }
            Err(ReadError::Unknown { word, known }) => {
                let help = suggestion(&word, known.iter().copied(), || format!("use one of {}", known.join(", ")));
                Refusal::new(format!("unknown {} `{word}`", self.key), help)
            }
        };
        let problem = self.errors.text.problem(at.unwrap_or_else(|| self.value.span()), what);
        self.errors.push(problem.maybe_help(Some(help).filter(|help| !help.is_empty())));
        Err(ReadError::Reported)
    }

    fn mistyped<T>(wanted: &str) -> Result<T, ReadError> {
        Err(ReadError::Mistyped { wanted: wanted.to_owned() })
    }

    /// Visits the entries of a table in the order of the file, but the tag of an enumeration. Reports keys that are not
    /// among the known fields.
    fn table<V>(self, fields: Option<&'static [&'static str]>, tag: &str, visitor: V) -> Result<V::Value, ReadError>
    where
        V: Visitor<'de>,
    {
        let Some(table) = self.value.get_ref().as_table() else { return Self::mistyped("a table") };
        let mut entries: Vec<_> = table.iter().filter(|(key, _)| key.get_ref() != tag).collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut known = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let word: &'de str = key.get_ref();
            match fields.filter(|fields| !fields.contains(&word)) {
                None => known.push(Node { value, key: word, is_element: false, ..self }),
                Some(fields) => {
                    let listed = || format!("use one of {}", fields.join(", "));
                    let remedy = suggestion(word, fields.iter().copied(), listed);
                    self.errors.add(key.span(), format!("{} has no key `{word}`", self.name()), remedy);
                }
            }
        }
        visitor.visit_map(Nodes { nodes: known.into_iter(), current: None })
    }

    fn name(self) -> String {
        match (self.key, self.is_element) {
            ("", _) => "the file".to_owned(),
            (key, true) => format!("this `{key}`"),
            (key, false) => format!("`{key}`"),
        }
    }
}

/// The values of a list, or of the entries of a table.
struct Nodes<'de> {
    nodes: std::vec::IntoIter<Node<'de>>,
    /// The entry whose key was read last.
    current: Option<Node<'de>>,
}

impl<'de> de::MapAccess<'de> for Nodes<'de> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        self.current = self.nodes.next();
        self.current.map(|node| seed.deserialize(BorrowedStrDeserializer::new(node.key))).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, ReadError> {
        let node = self.current.take().ok_or(ReadError::Reported)?;
        node.placed(seed.deserialize(node))
    }
}

impl<'de> de::SeqAccess<'de> for Nodes<'de> {
    type Error = ReadError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, ReadError> {
        self.nodes.next().map(|node| node.placed(seed.deserialize(node))).transpose()
    }
}

impl<'de> IntoDeserializer<'de, ReadError> for Node<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value.get_ref() {
            DeValue::String(text) => visitor.visit_borrowed_str(text),
            DeValue::Boolean(boolean) => visitor.visit_bool(*boolean),
            DeValue::Array(_) => self.deserialize_seq(visitor),
            DeValue::Table(_) => self.table(None, "", visitor),
            other => match number(other) {
                Some(number) => visitor.visit_f64(number),
                None => Err(de::Error::invalid_type(Unexpected::Other("no number"), &visitor)),
            },
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    /// A single value counts as a list of one.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let element = |value| Node { value, is_element: true, ..self };
        let nodes: Vec<Node<'de>> = match self.value.get_ref().as_array() {
            Some(values) => values.iter().map(element).collect(),
            None => vec![element(self.value)],
        };
        visitor.visit_seq(Nodes { nodes: nodes.into_iter(), current: None })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, ReadError> {
        match self.value.get_ref().as_array() {
            Some(values) if values.len() == length => self.deserialize_seq(visitor),
            _ => {
                let what = format!("each of `{}` must be a list of {length} numbers", self.key);
                Err(ReadError::Refused(Refusal::new(what, "use, for example, [[50, 900], [99, 2_000]]")))
            }
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        if is_spanned(name) {
            return visitor.visit_map(SpannedDeserializer::new(self, self.value.span()));
        }
        self.table(Some(fields), "", visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        if let (Some(id), false) = (self.value.get_ref().as_str(), name.is_empty()) {
            let reference = Reference { kind: name, id: id.to_owned(), at: self.value.span() };
            self.errors.references.borrow_mut().push(reference);
        }
        self.placed(visitor.visit_newtype_struct(self))
    }

    /// A table is the variant that the value of its key with the name of the enumeration names.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.value.get_ref() {
            DeValue::String(word) => visitor.visit_enum(BorrowedStrDeserializer::new(word)),
            DeValue::Table(_) => visitor.visit_enum(Tagged { node: self, tag: name }),
            _ => Self::mistyped("a table"),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        tuple_struct map identifier ignored_any
    }
}

/// A table as a variant of an enumeration.
struct Tagged<'de> {
    node: Node<'de>,
    tag: &'static str,
}

impl<'de> de::EnumAccess<'de> for Tagged<'de> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), ReadError> {
        let table = self.node.value.get_ref().as_table();
        let value = table.and_then(|table| table.get(self.tag)).ok_or(ReadError::Missing(self.tag))?;
        let tag = Node { value, key: self.tag, ..self.node };
        tag.placed(seed.deserialize(tag)).map(|variant| (variant, self))
    }
}

impl<'de> de::VariantAccess<'de> for Tagged<'de> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, ReadError> {
        seed.deserialize(self.node)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.node.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.node.table(Some(fields), self.tag, visitor)
    }
}
