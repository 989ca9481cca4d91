//! Reads a TOML table key by key; unknown keys are problems.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::suggestion;
use volume::toml_value::kind;

/// Collects the problems of a file.
pub(super) trait FieldErrors {
    /// Adds a problem of the bytes at a place.
    fn report(&mut self, at: Range<usize>, message: String, remedy: String);
}

/// A table, and which of its keys were read.
pub(super) struct Fields<'t> {
    table: &'t DeTable<'t>,
    /// Place in the file.
    pub(super) at: Range<usize>,
    /// Name in messages.
    pub(super) name: String,
    keys_read: Vec<&'static str>,
}

impl<'t> Fields<'t> {
    /// Begins to read a table.
    #[must_use]
    pub(super) fn new(table: &'t DeTable<'t>, at: Range<usize>, name: impl Into<String>) -> Self {
        Self { table, at, name: name.into(), keys_read: Vec::new() }
    }

    pub(super) fn value(&mut self, key: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.keys_read.push(key);
        self.table.get(key)
    }

    /// Reports whether a key is present, with any value.
    #[must_use]
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Returns the place of a key's value, or of the table.
    #[must_use]
    pub(super) fn place(&self, key: &str) -> Range<usize> {
        self.table.get(key).map_or_else(|| self.at.clone(), Spanned::span)
    }

    /// Reads a text.
    pub(super) fn text(&mut self, key: &'static str, errors: &mut impl FieldErrors) -> Option<String> {
        let value = self.value(key)?;
        let text = value.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            let message = format!("`{key}` must be a string, not {}", kind(value));
            errors.report(value.span(), message, "quote it".to_owned());
        }
        text
    }

    /// Reads a required text.
    pub(super) fn required(&mut self, key: &'static str, errors: &mut impl FieldErrors) -> String {
        if !self.has(key) {
            let remedy = format!("add `{key} = \"...\"`");
            errors.report(self.at.clone(), format!("{} has no `{key}`", self.name), remedy);
        }
        self.text(key, errors).unwrap_or_default()
    }

    /// Returns the values of a list; a single value counts as a list of one.
    fn list(&mut self, key: &'static str) -> Vec<&'t Spanned<DeValue<'t>>> {
        let Some(value) = self.value(key) else { return Vec::new() };
        value.get_ref().as_array().map_or_else(|| vec![value], |list| list.iter().collect())
    }

    /// Reads a text or a list of texts, with their places.
    pub(super) fn texts(&mut self, key: &'static str, errors: &mut impl FieldErrors) -> Vec<(String, Range<usize>)> {
        let mut texts = Vec::new();
        for value in self.list(key) {
            match value.get_ref().as_str() {
                Some(text) => texts.push((text.to_owned(), value.span())),
                None => {
                    let message = format!("`{key}` must contain strings, not {}", kind(value));
                    errors.report(value.span(), message, "quote each".to_owned());
                }
            }
        }
        texts
    }

    /// Reads a list of texts, with their places; a single text is an error.
    pub(super) fn text_list(
        &mut self,
        key: &'static str,
        errors: &mut impl FieldErrors,
    ) -> Vec<(String, Range<usize>)> {
        match self.table.get(key) {
            Some(value) if value.get_ref().as_array().is_none() => {
                self.keys_read.push(key);
                let message = format!("`{key}` must be a list, not {}", kind(value));
                errors.report(value.span(), message, "enclose it in brackets".to_owned());
                Vec::new()
            }
            _ => self.texts(key, errors),
        }
    }

    /// Reads `true` or `false`; an absent key is `false`.
    pub(super) fn boolean(&mut self, key: &'static str, errors: &mut impl FieldErrors) -> bool {
        let Some(value) = self.value(key) else { return false };
        value.get_ref().as_bool().unwrap_or_else(|| {
            let message = format!("`{key}` must be true or false, not {}", kind(value));
            errors.report(value.span(), message, "use true or false without quotes".to_owned());
            false
        })
    }

    /// Reads a table.
    pub(super) fn table(&mut self, key: &'static str, errors: &mut impl FieldErrors) -> Option<Self> {
        let value = self.value(key)?;
        let table = value.get_ref().as_table();
        if table.is_none() {
            let message = format!("`{key}` must be a table, not {}", kind(value));
            errors.report(value.span(), message, "use { key = value }".to_owned());
        }
        table.map(|table| Self::new(table, value.span(), format!("`{key}`")))
    }

    /// Reads a table or a list of tables.
    pub(super) fn tables(&mut self, key: &'static str, errors: &mut impl FieldErrors) -> Vec<Self> {
        let mut tables = Vec::new();
        for value in self.list(key) {
            match value.get_ref().as_table() {
                Some(table) => tables.push(Self::new(table, value.span(), format!("this `{key}`"))),
                None => {
                    let message = format!("`{key}` must be a table, not {}", kind(value));
                    errors.report(value.span(), message, "use { key = value } for each".to_owned());
                }
            }
        }
        tables
    }

    /// Returns all entries in the order of the file.
    #[must_use]
    pub(super) fn entries(&self) -> Vec<(&'t Spanned<std::borrow::Cow<'t, str>>, &'t Spanned<DeValue<'t>>)> {
        let mut entries: Vec<_> = self.table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries
    }

    /// Reports unknown keys.
    pub(super) fn finish(self, errors: &mut impl FieldErrors) {
        for (key, _) in self.entries() {
            let name = key.get_ref().as_ref();
            if !self.keys_read.contains(&name) {
                let listed = || format!("use one of {}", self.keys_read.join(", "));
                let remedy = suggestion(name, self.keys_read.iter().copied(), listed);
                errors.report(key.span(), format!("{} has no key `{name}`", self.name), remedy);
            }
        }
    }
}
