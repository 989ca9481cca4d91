//! Reads a TOML table key by key; unknown keys are problems.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::suggestion;

use super::problem::{CatalogueText, Problem};
use super::rule;
use super::schema::SchemaRule;

/// Problems of a file, as they are found.
pub(super) struct CatalogueErrors {
    pub text: CatalogueText,
    pub problems: Vec<Problem>,
    /// IDs and places of cited sources.
    pub cited: Vec<(String, Range<usize>)>,
    /// IDs and places of used tables.
    pub tables: Vec<(String, Range<usize>)>,
}

impl CatalogueErrors {
    pub(super) fn new(text: &CatalogueText) -> Self {
        Self { text: text.clone(), problems: Vec::new(), cited: Vec::new(), tables: Vec::new() }
    }

    pub(super) fn add(&mut self, at: Range<usize>, message: impl Into<String>) {
        self.problems.push(self.text.problem(at, message));
    }

    pub(super) fn add_with(&mut self, at: Range<usize>, message: impl Into<String>, remedy: impl Into<String>) {
        self.problems.push(self.text.problem(at, message).remedy(remedy));
    }
}

/// A table, and which of its keys were read.
pub(super) struct CatalogueFields<'t> {
    table: &'t DeTable<'t>,
    /// Place in the file, and name in messages.
    pub at: Range<usize>,
    pub name: String,
    keys_read: Vec<&'static str>,
}

impl<'t> CatalogueFields<'t> {
    pub(super) fn new(table: &'t DeTable<'t>, at: Range<usize>, name: impl Into<String>) -> Self {
        Self { table, at, name: name.into(), keys_read: Vec::new() }
    }

    pub(super) fn value(&mut self, key: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.keys_read.push(key);
        self.table.get(key)
    }

    /// Reports whether a key is present, whatever its value.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Returns the place of a key's value, or that of the table.
    pub(super) fn place(&self, key: &str) -> Range<usize> {
        self.table.get(key).map_or_else(|| self.at.clone(), Spanned::span)
    }

    /// Reads the ID of a cited source.
    pub(super) fn source(&mut self, errors: &mut CatalogueErrors) -> Option<String> {
        let id = self.text("source", errors)?;
        errors.cited.push((id.clone(), self.place("source")));
        Some(id)
    }

    /// Reads the ID of a table of machines or tiers.
    pub(super) fn table_id(&mut self, key: &'static str, errors: &mut CatalogueErrors) -> Option<String> {
        let id = self.text(key, errors)?;
        errors.tables.push((id.clone(), self.place(key)));
        Some(id)
    }

    /// Reads an optional text.
    pub(super) fn text(&mut self, key: &'static str, errors: &mut CatalogueErrors) -> Option<String> {
        let value = self.value(key)?;
        let text = value.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            errors.add(value.span(), format!("`{key}` is a text in quotes, not {}", kind(value)));
        }
        text
    }

    /// Reads a required text.
    pub(super) fn required(&mut self, key: &'static str, errors: &mut CatalogueErrors) -> String {
        if !self.table.contains_key(key) {
            errors.add(self.at.clone(), format!("{} has no `{key}`", self.name));
        }
        self.text(key, errors).unwrap_or_default()
    }

    /// Reads a text or a list of texts.
    pub(super) fn texts(&mut self, key: &'static str, errors: &mut CatalogueErrors) -> Vec<String> {
        let Some(value) = self.value(key) else { return Vec::new() };
        let values: Vec<&Spanned<DeValue>> =
            value.get_ref().as_array().map_or_else(|| vec![value], |array| array.iter().collect());
        let mut texts = Vec::new();
        for value in values {
            match value.get_ref().as_str() {
                Some(text) => texts.push(text.to_owned()),
                None => errors.add(value.span(), format!("`{key}` holds texts in quotes, not {}", kind(value))),
            }
        }
        texts
    }

    pub(super) fn boolean(&mut self, key: &'static str, errors: &mut CatalogueErrors) -> bool {
        let Some(value) = self.value(key) else { return false };
        value.get_ref().as_bool().unwrap_or_else(|| {
            errors.add(value.span(), format!("`{key}` is true or false, not {}", kind(value)));
            false
        })
    }

    /// Reads a number, or a rule in quotes.
    pub(super) fn rule(&mut self, key: &'static str, errors: &mut CatalogueErrors) -> Option<SchemaRule> {
        self.value(key).and_then(|value| read_rule(key, value, errors))
    }

    pub(super) fn table(&mut self, key: &'static str, errors: &mut CatalogueErrors) -> Option<CatalogueFields<'t>> {
        let value = self.value(key)?;
        let table = value.get_ref().as_table();
        if table.is_none() {
            errors.add(value.span(), format!("`{key}` is a table, not {}", kind(value)));
        }
        table.map(|table| CatalogueFields::new(table, value.span(), format!("`{key}`")))
    }

    /// Reads a list of tables; a single table counts as a list of one.
    pub(super) fn tables(&mut self, key: &'static str, errors: &mut CatalogueErrors) -> Vec<CatalogueFields<'t>> {
        let Some(value) = self.value(key) else { return Vec::new() };
        let values: Vec<&Spanned<DeValue>> =
            value.get_ref().as_array().map_or_else(|| vec![value], |array| array.iter().collect());
        let mut tables = Vec::new();
        for value in values {
            match value.get_ref().as_table() {
                Some(table) => tables.push(CatalogueFields::new(table, value.span(), format!("this `{key}`"))),
                None => errors.add(value.span(), format!("`{key}` is a table, not {}", kind(value))),
            }
        }
        tables
    }

    /// Returns all entries in the order of the file.
    pub(super) fn entries(&self) -> Vec<(&'t Spanned<std::borrow::Cow<'t, str>>, &'t Spanned<DeValue<'t>>)> {
        let mut entries: Vec<_> = self.table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries
    }

    /// Reports unknown keys.
    pub(super) fn finish(self, errors: &mut CatalogueErrors) {
        for (key, _) in self.entries() {
            let name = key.get_ref().as_ref();
            if !self.keys_read.contains(&name) {
                let listed = || format!("it may have {}", self.keys_read.join(", "));
                let remedy = suggestion(name, self.keys_read.iter().copied(), listed);
                errors.add_with(key.span(), format!("{} has no key `{name}`", self.name), remedy);
            }
        }
    }
}

/// Describes the type of a value.
pub(super) fn kind(value: &Spanned<DeValue>) -> String {
    match value.get_ref() {
        DeValue::String(_) => "a text".to_owned(),
        DeValue::Integer(integer) if integer.radix() != 10 => "a number that is not decimal".to_owned(),
        DeValue::Float(float) if number(value.get_ref()).is_none() => format!("`{}`", float.as_str()),
        DeValue::Integer(_) | DeValue::Float(_) => "a number".to_owned(),
        DeValue::Boolean(_) => "true or false".to_owned(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// Returns a finite integer or float.
pub(super) fn number(value: &DeValue) -> Option<f64> {
    let parsed = match value {
        DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().parse().ok(),
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => None,
    };
    parsed.filter(|number: &f64| number.is_finite())
}

/// Parses a number, or a rule in quotes.
pub(super) fn read_rule(key: &str, value: &Spanned<DeValue>, errors: &mut CatalogueErrors) -> Option<SchemaRule> {
    if let Some(number) = number(value.get_ref()) {
        return Some(SchemaRule { expr: rule::Expr::Number(number), at: value.span() });
    }
    let Some(text) = value.get_ref().as_str() else {
        errors.add(value.span(), format!("`{key}` is a number or a rule in quotes, not {}", kind(value)));
        return None;
    };
    match rule::parse(text) {
        Ok(expr) => Some(SchemaRule { expr, at: value.span() }),
        Err(error) => {
            errors.add(inside(&value.span(), &error.at), format!("`{key}`: {}", error.message));
            None
        }
    }
}

/// Evaluates a rule; `None` if a variable is absent.
pub(super) fn evaluate(
    rule: &SchemaRule,
    names: &rule::Names,
    text: &CatalogueText,
) -> Result<Option<rule::RuleValue>, Problem> {
    match rule::eval(&rule.expr, names) {
        Ok(Some(rule::RuleValue::Number(number))) if !number.is_finite() => {
            let remedy = "divide by nothing that comes near 0, and take smaller numbers";
            let message = "this comes to a number that is too large, or to none at all";
            Err(text.problem(rule.at.clone(), message).remedy(remedy))
        }
        Ok(value) => Ok(value),
        Err(error) => {
            let remedy = "write a rule that holds for every value of its keys, with `if(condition, then, otherwise)`";
            Err(text.problem(inside(&rule.at, &error.at), error.message).remedy(remedy))
        }
    }
}

/// Converts a place in a rule to one in the file: rules begin after the opening quote.
pub(super) fn inside(rule: &Range<usize>, at: &Range<usize>) -> Range<usize> {
    let start = (rule.start + 1 + at.start).min(rule.end);
    start..(rule.start + 1 + at.end).min(rule.end).max(start)
}
