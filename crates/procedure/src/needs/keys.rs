//! The keys of a need: options of `fathom plan`.

use clap::{Arg, ArgAction, Args, Command};
use toml::Spanned;
use toml::de::DeValue;
use units::suggestion;
use volume::toml_value::kind;

use crate::plan_words::PlanWords;

/// Heading of the options that concern the calculation of all needs.
const CALCULATION: &str = "Calculation";

/// Returns a command with the options of a need.
pub(super) fn command() -> Command {
    PlanWords::augment_args(Command::new("need").no_binary_name(true).disable_help_flag(true))
}

/// Returns the options that are keys of a need.
pub(super) fn of_need(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| arg.get_long().is_some() && arg.get_help_heading() != Some(CALCULATION))
}

/// Reports whether an option has no value.
pub(super) fn is_flag(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

/// A message and its remedy.
type Refusal = (String, String);

/// Returns the words of a key's value: none for `false`, one empty list of words for `true`, one word otherwise, several
/// for a list.
pub(super) fn words(arg: &Arg, value: &Spanned<DeValue>) -> Result<Option<Vec<String>>, Refusal> {
    let name = arg.get_long().unwrap_or_default();
    if is_flag(arg) {
        let refusal = || (format!("`{name}` must be true or false, not {}", kind(value)), "omit the quotes".to_owned());
        return Ok(value.get_ref().as_bool().ok_or_else(refusal)?.then(Vec::new));
    }
    match value.get_ref().as_array().filter(|_| matches!(arg.get_action(), ArgAction::Append)) {
        Some(list) => list.iter().map(|value| word(arg, value)).collect::<Result<_, _>>().map(Some),
        None => Ok(Some(vec![word(arg, value)?])),
    }
}

/// Returns a string, or a number as it is written.
fn word(arg: &Arg, value: &Spanned<DeValue>) -> Result<String, Refusal> {
    let name = arg.get_long().unwrap_or_default();
    let word = match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().replace('_', ""),
        DeValue::Float(number) if volume::toml_value::number(value.get_ref()).is_some() => {
            number.as_str().replace('_', "")
        }
        _ => {
            let message = format!("`{name}` must be a string or a number, not {}", kind(value));
            return Err((message, "write it as on the command line, in quotes".to_owned()));
        }
    };
    let possible = arg.get_possible_values();
    if possible.is_empty() || possible.iter().any(|known| known.matches(&word, false)) {
        return Ok(word);
    }
    let names: Vec<&str> = possible.iter().map(clap::builder::PossibleValue::get_name).collect();
    let remedy = suggestion(&word, names.iter().copied(), || format!("use one of {}", names.join(", ")));
    Err((format!("unknown {name} `{word}`"), remedy))
}
