//! Problems of a suite file, and its values.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;
use units::{Problem, ProblemCode};
use volume::toml_value::kind;

use super::schema::SuiteText;
use super::toml_fields::{FieldErrors, Fields};

/// Problems of a file, as they are found.
pub(crate) struct SuiteErrors {
    pub(crate) text: SuiteText,
    pub(crate) problems: Vec<Problem>,
}

impl SuiteErrors {
    pub(crate) fn add(&mut self, at: &Range<usize>, message: impl Into<String>, remedy: impl Into<String>) {
        let problem = Problem::error(ProblemCode::Suite, message.into()).at(self.text.place(at));
        self.problems.push(problem.help(remedy.into()));
    }
}

impl FieldErrors for SuiteErrors {
    fn report(&mut self, at: Range<usize>, message: String, remedy: String) {
        self.add(&at, message, remedy);
    }
}

/// Reads a number above zero.
pub(crate) fn number(fields: &mut Fields, key: &'static str, errors: &mut SuiteErrors) -> Option<f64> {
    let value = fields.value(key)?;
    let number = volume::toml_value::number(value.get_ref()).filter(|number| *number > 0.0);
    if number.is_none() {
        let found =
            volume::toml_value::number(value.get_ref()).map_or_else(|| kind(value), |number| number.to_string());
        let message = format!("`{key}` must be a number greater than 0, not {found}");
        errors.add(&value.span(), message, "use a number without quotes and unit");
    }
    number
}

/// Reads a whole number from 1 to `most`.
pub(crate) fn whole(fields: &mut Fields, key: &'static str, most: u32, errors: &mut SuiteErrors) -> Option<u32> {
    let number = number(fields, key, errors)?;
    let whole = (number.fract() == 0.0 && number <= f64::from(most)).then_some(number as u32);
    if whole.is_none() {
        errors.add(
            &fields.place(key),
            format!("`{key}` must be a whole number"),
            format!("use a number from 1 to {most}"),
        );
    }
    whole
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
