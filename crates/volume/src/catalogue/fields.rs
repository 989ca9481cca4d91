//! Problems of a catalogue file, and reading and evaluating its rules.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;
use units::Problem;

use super::problem::CatalogueText;
use super::rule;
use super::schema::SchemaRule;
use crate::toml_fields::{FieldErrors, Fields, kind, number};

/// Problems of a file, as they are found.
pub(super) struct CatalogueErrors {
    pub text: CatalogueText,
    pub problems: Vec<Problem>,
    /// IDs and places of cited sources.
    pub cited: Vec<(String, Range<usize>)>,
    /// IDs and places of used tables.
    pub tables: Vec<(String, Range<usize>)>,
    /// Columns and places of used tables of attachments.
    pub attachments: Vec<(String, Range<usize>)>,
}

impl CatalogueErrors {
    pub(super) fn new(text: &CatalogueText) -> Self {
        Self {
            text: text.clone(),
            problems: Vec::new(),
            cited: Vec::new(),
            tables: Vec::new(),
            attachments: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, at: Range<usize>, message: impl Into<String>) {
        self.problems.push(self.text.problem(at, message));
    }

    pub(super) fn add_with(&mut self, at: Range<usize>, message: impl Into<String>, remedy: impl Into<String>) {
        self.problems.push(self.text.problem(at, message).help(remedy));
    }
}

impl FieldErrors for CatalogueErrors {
    fn report(&mut self, at: Range<usize>, message: String, remedy: String) {
        self.add_with(at, message, remedy);
    }
}

impl Fields<'_> {
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

    /// Reads a column of the tables of attachments.
    pub(super) fn column(&mut self, key: &'static str, errors: &mut CatalogueErrors) -> Option<String> {
        let column = self.text(key, errors)?;
        errors.attachments.push((column.clone(), self.place(key)));
        Some(column)
    }

    /// Reads a number, or a rule in quotes.
    pub(super) fn rule(&mut self, key: &'static str, errors: &mut CatalogueErrors) -> Option<SchemaRule> {
        self.value(key).and_then(|value| read_rule(key, value, errors))
    }
}

/// Parses a number, or a rule in quotes.
pub(super) fn read_rule(key: &str, value: &Spanned<DeValue>, errors: &mut CatalogueErrors) -> Option<SchemaRule> {
    if let Some(number) = number(value.get_ref()) {
        return Some(SchemaRule { expr: rule::Expr::Number(number), at: value.span() });
    }
    let Some(text) = value.get_ref().as_str() else {
        errors.add(value.span(), format!("`{key}` must be a number or a quoted rule, not {}", kind(value)));
        return None;
    };
    match rule::parse(text) {
        Ok(expr) => Some(SchemaRule { expr, at: value.span() }),
        Err(error) => {
            let problem = error.problem.of(format_args!("`{key}`"));
            errors.problems.push(problem.at(errors.text.place(inside(&value.span(), &error.at))));
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
            let remedy = "avoid division by values near 0, and use smaller numbers";
            let message = "the result is too large or not a number";
            Err(text.problem(rule.at.clone(), message).help(remedy))
        }
        Ok(value) => Ok(value),
        Err(error) => {
            let remedy = "make the rule valid for all values of its keys with `if(condition, then, otherwise)`";
            let help = error.problem.help.clone().unwrap_or_else(|| remedy.to_owned());
            Err(error.problem.at(text.place(inside(&rule.at, &error.at))).help(help))
        }
    }
}

/// Converts a place in a rule to one in the file: rules begin after the opening quote.
pub(super) fn inside(rule: &Range<usize>, at: &Range<usize>) -> Range<usize> {
    let start = (rule.start + 1 + at.start).min(rule.end);
    start..(rule.start + 1 + at.end).min(rule.end).max(start)
}
