//! Reads a TOML table key by key; unknown keys are problems.

use std::ops::Range;

use job::Diagnostic;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::suggestion;

use super::schema::SuiteText;

/// Problems of a file, as they are found.
pub(crate) struct FieldErrors {
    pub(crate) text: SuiteText,
    pub(crate) problems: Vec<Diagnostic>,
}

impl FieldErrors {
    pub(crate) fn add(&mut self, at: &Range<usize>, message: impl Into<String>, remedy: impl Into<String>) {
        let problem = Diagnostic::error("suite", message.into()).at(self.text.place(at));
        self.problems.push(problem.remedy(remedy.into()));
    }
}

/// A table, and which of its keys were read.
pub(crate) struct SuiteFields<'t> {
    table: &'t DeTable<'t>,
    pub(crate) at: Range<usize>,
    pub(crate) name: String,
    keys_read: Vec<&'static str>,
}

impl<'t> SuiteFields<'t> {
    pub(crate) fn new(table: &'t DeTable<'t>, at: Range<usize>, name: impl Into<String>) -> Self {
        Self { table, at, name: name.into(), keys_read: Vec::new() }
    }

    pub(crate) fn value(&mut self, key: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.keys_read.push(key);
        self.table.get(key)
    }

    /// Returns the place of a key's value, or that of the table.
    pub(crate) fn place(&self, key: &str) -> Range<usize> {
        self.table.get(key).map_or_else(|| self.at.clone(), Spanned::span)
    }

    pub(crate) fn text(&mut self, key: &'static str, errors: &mut FieldErrors) -> Option<String> {
        let value = self.value(key)?;
        let text = value.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            errors.add(&value.span(), format!("`{key}` is a text, not {}", kind(value)), "write it in quotes");
        }
        text
    }

    /// Reads a required text.
    pub(crate) fn required(&mut self, key: &'static str, errors: &mut FieldErrors) -> String {
        if !self.table.contains_key(key) {
            errors.add(&self.at, format!("{} has no `{key}`", self.name), format!("write `{key} = \"...\"`"));
        }
        self.text(key, errors).unwrap_or_default()
    }

    /// Reads a list of texts with their places.
    pub(crate) fn texts(&mut self, key: &'static str, errors: &mut FieldErrors) -> Vec<(String, Range<usize>)> {
        let Some(value) = self.value(key) else { return Vec::new() };
        let Some(list) = value.get_ref().as_array() else {
            errors.add(&value.span(), format!("`{key}` is a list, not {}", kind(value)), "write it in brackets");
            return Vec::new();
        };
        let mut texts = Vec::new();
        for value in list.iter() {
            match value.get_ref().as_str() {
                Some(text) => texts.push((text.to_owned(), value.span())),
                None => {
                    let message = format!("`{key}` holds texts, not {}", kind(value));
                    errors.add(&value.span(), message, "write each in quotes");
                }
            }
        }
        texts
    }

    pub(crate) fn boolean(&mut self, key: &'static str, errors: &mut FieldErrors) -> bool {
        let Some(value) = self.value(key) else { return false };
        value.get_ref().as_bool().unwrap_or_else(|| {
            errors.add(&value.span(), format!("`{key}` is a switch, not {}", kind(value)), "write true or false");
            false
        })
    }

    /// Reads a number above zero.
    pub(crate) fn number(&mut self, key: &'static str, errors: &mut FieldErrors) -> Option<f64> {
        let value = self.value(key)?;
        let number = number(value.get_ref()).filter(|number| *number > 0.0);
        if number.is_none() {
            let message = format!("`{key}` is a number above 0, not {}", kind(value));
            errors.add(&value.span(), message, "write the number without quotes and without its unit");
        }
        number
    }

    /// Reads a whole number from 1 to `most`.
    pub(crate) fn whole(&mut self, key: &'static str, most: u32, errors: &mut FieldErrors) -> Option<u32> {
        let number = self.number(key, errors)?;
        let whole = (number.fract() == 0.0 && number <= f64::from(most)).then_some(number as u32);
        if whole.is_none() {
            errors.add(&self.place(key), format!("`{key}` is a whole number"), format!("write one from 1 to {most}"));
        }
        whole
    }

    pub(crate) fn table(&mut self, key: &'static str, errors: &mut FieldErrors) -> Option<SuiteFields<'t>> {
        let value = self.value(key)?;
        let table = value.get_ref().as_table();
        if table.is_none() {
            let message = format!("`{key}` is a table, not {}", kind(value));
            errors.add(&value.span(), message, "write it as { key = value }");
        }
        table.map(|table| SuiteFields::new(table, value.span(), format!("`{key}`")))
    }

    /// Reads a list of tables.
    pub(crate) fn tables(&mut self, key: &'static str, errors: &mut FieldErrors) -> Vec<SuiteFields<'t>> {
        let Some(value) = self.value(key) else { return Vec::new() };
        let list = value.get_ref().as_array().map_or_else(|| vec![value], |list| list.iter().collect());
        let mut tables = Vec::new();
        for value in list {
            match value.get_ref().as_table() {
                Some(table) => tables.push(SuiteFields::new(table, value.span(), format!("this `{key}`"))),
                None => {
                    let message = format!("`{key}` holds tables, not {}", kind(value));
                    errors.add(&value.span(), message, "write each as { key = value }");
                }
            }
        }
        tables
    }

    /// Returns all entries in the order of the file.
    pub(crate) fn entries(&self) -> Vec<(String, &'t Spanned<DeValue<'t>>)> {
        let mut entries: Vec<_> = self.table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries.into_iter().map(|(key, value)| (key.get_ref().to_string(), value)).collect()
    }

    /// Reports unknown keys.
    pub(crate) fn finish(self, errors: &mut FieldErrors) {
        for (key, _) in self.table.iter() {
            let name = key.get_ref().as_ref();
            if !self.keys_read.contains(&name) {
                let listed = || format!("it may have {}", self.keys_read.join(", "));
                let remedy = suggestion(name, self.keys_read.iter().copied(), listed);
                errors.add(&key.span(), format!("{} has no key `{name}`", self.name), remedy);
            }
        }
    }
}

/// Describes the type of a value.
pub(crate) fn kind(value: &Spanned<DeValue>) -> &'static str {
    match value.get_ref() {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "such a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn number(value: &DeValue) -> Option<f64> {
    let parsed = match value {
        DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().parse().ok(),
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => None,
    };
    parsed.filter(|number: &f64| number.is_finite())
}

/// Converts a value of a job option to fio's notation.
pub(crate) fn word(value: &Spanned<DeValue>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Boolean(boolean) => Some(u8::from(*boolean).to_string()),
        DeValue::Integer(integer) if integer.radix() == 10 => Some(integer.as_str().to_owned()),
        DeValue::Float(float) => Some(float.as_str().to_owned()),
        _ => None,
    }
}
