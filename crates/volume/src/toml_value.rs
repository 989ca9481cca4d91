//! Values of a TOML document.

use toml::Spanned;
use toml::de::DeValue;

/// Describes the type of a value.
#[must_use]
pub fn kind(value: &Spanned<DeValue>) -> String {
    match value.get_ref() {
        DeValue::String(_) => "a string".to_owned(),
        DeValue::Integer(integer) if integer.radix() != 10 => "a non-decimal number".to_owned(),
        DeValue::Float(float) if number(value.get_ref()).is_none() => format!("`{}`", float.as_str()),
        DeValue::Integer(_) | DeValue::Float(_) => "a number".to_owned(),
        DeValue::Boolean(_) => "a boolean".to_owned(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// Returns a finite integer or float.
#[must_use]
pub fn number(value: &DeValue) -> Option<f64> {
    let parsed = match value {
        DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().parse().ok(),
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => None,
    };
    parsed.filter(|number: &f64| number.is_finite())
}
