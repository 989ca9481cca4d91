//! Rules with their place in a catalogue file.

use std::ops::Range;

use serde::{Deserialize, Deserializer};
use units::Problem;

use super::document::{At, Form, Refusal, mistyped};
use super::problem::CatalogueText;
use super::rule::{self, Expr, Names, RuleValue};

/// A number, or a rule in quotes.
#[derive(Clone, Debug)]
pub(super) struct SchemaRule {
    pub expr: Expr,
    pub at: Range<usize>,
}

impl<'de> Deserialize<'de> for SchemaRule {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let written: At<Form> = At::deserialize(source)?;
        if !matches!(*written, Form::Number(_) | Form::Text(_)) {
            return Err(mistyped("a number or a quoted rule"));
        }
        let at = written.at.clone();
        Self::new(written.into_inner(), at).map_err(Refusal::error)
    }
}

impl SchemaRule {
    /// Parses a rule at a place.
    pub(super) fn new(written: Form, at: Range<usize>) -> Result<Self, Refusal> {
        let expr = match written {
            Form::Number(number) => Expr::Number(number),
            Form::Text(text) => {
                let misread = |error: rule::RuleError| Refusal::of(*error.problem).at(inside(&at, &error.at));
                rule::parse(&text).map_err(misread)?
            }
            _ => return Err(Refusal::new("a number or a quoted rule is needed", "quote it").at(at)),
        };
        Ok(Self { expr, at })
    }

    /// Evaluates a rule; `None` if a variable is absent.
    pub(super) fn evaluate(&self, names: &Names, text: &CatalogueText) -> Result<Option<RuleValue>, Problem> {
        match rule::eval(&self.expr, names) {
            Ok(Some(RuleValue::Number(number))) if !number.is_finite() => {
                let remedy = "avoid division by values near 0, and use smaller numbers";
                let message = "the result is too large or not a number";
                Err(text.problem(self.at.clone(), message).help(remedy))
            }
            Ok(value) => Ok(value),
            Err(error) => {
                let remedy = "make the rule valid for all values of its keys with `if(condition, then, otherwise)`";
                let help = error.problem.help.clone().unwrap_or_else(|| remedy.to_owned());
                Err(error.problem.at(text.place(inside(&self.at, &error.at))).help(help))
            }
        }
    }
}

/// Converts a place in a rule to one in the file: rules begin after the opening quote.
pub(super) fn inside(rule: &Range<usize>, at: &Range<usize>) -> Range<usize> {
    let start = (rule.start + 1 + at.start).min(rule.end);
    start..(rule.start + 1 + at.end).min(rule.end).max(start)
}
