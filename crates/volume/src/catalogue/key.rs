//! Keys of a volume, as they are written and as models use them.

use serde::{Deserialize, Deserializer};
use units::{closest, suggestion};

use super::document::{At, Form, Keyed, Refusal, list};
use super::placed_rule::SchemaRule;
use super::quantity::{QuantityKind, QuantityUnit};
use super::reference::{AttachmentColumn, LimitsId, SourceId, TableId};
use super::rule::Expr;

#[derive(Clone, Debug)]
pub(super) struct SchemaKey {
    pub name: String,
    pub kind: KeyKind,
    /// Column of the tables of attachments that says which machines take the volume.
    pub attach: Option<AttachmentColumn>,
    /// Limits that the machine shares among its volumes.
    pub limits: Vec<LimitsId>,
    /// Value if the key is not given, in its unit.
    pub default: Option<SchemaRule>,
    /// Whether the value follows from other keys and cannot be given.
    pub fixed: bool,
    pub least: Option<SchemaRule>,
    pub most: Option<SchemaRule>,
    /// The only valid numbers; empty if all from `least` to `most` are.
    pub one_of: Vec<f64>,
    /// Values on sale; above the last of them, multiples of `step` are.
    pub sold: Vec<f64>,
    /// Step of the values on sale.
    pub step: Option<f64>,
    pub requires: Option<RequirementRule>,
    pub source: Option<SourceId>,
}

/// Condition of a key's values other than its default.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequirementRule {
    pub rule: SchemaRule,
    /// What is required, behind "requires".
    pub what: String,
    pub remedy: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum KeyKind {
    /// A number. Counted things have a word, such as `disks`.
    Quantity(QuantityUnit, String),
    /// One of several words.
    Choice(Vec<String>),
    /// The name of a machine, with the ID of the tables of its limits.
    Machine(TableId),
}

/// A key as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileKey {
    pub unit: Option<At<String>>,
    pub choices: Option<At<Vec<String>>>,
    pub table: Option<TableId>,
    pub attach: Option<AttachmentColumn>,
    #[serde(default, deserialize_with = "list")]
    pub limits: Vec<LimitsId>,
    pub default: Option<At<Form>>,
    #[serde(default)]
    pub fixed: bool,
    pub min: Option<SchemaRule>,
    pub max: Option<SchemaRule>,
    #[serde(default, deserialize_with = "numbers")]
    pub one_of: Vec<f64>,
    #[serde(default, deserialize_with = "numbers")]
    pub sold: Vec<f64>,
    #[serde(default, deserialize_with = "step")]
    pub step: Option<f64>,
    pub requires: Option<RequirementRule>,
    pub source: Option<SourceId>,
}

impl<'de> Keyed<'de> for SchemaKey {
    fn read<D: Deserializer<'de>>(name: String, source: D) -> Result<Self, D::Error> {
        key(name, FileKey::deserialize(source)?).map_err(Refusal::error)
    }
}

fn numbers<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<f64>, D::Error> {
    let wanted = || Refusal::new("this must be a list of non-negative numbers", "use, for example, [1, 2, 4]").error();
    let numbers = Vec::<Form>::deserialize(source)?.into_iter().map(|form| match form {
        Form::Number(number) if number >= 0.0 => Some(number),
        _ => None,
    });
    numbers.collect::<Option<Vec<f64>>>().filter(|numbers| !numbers.is_empty()).ok_or_else(wanted)
}

fn step<'de, D: Deserializer<'de>>(source: D) -> Result<Option<f64>, D::Error> {
    match f64::deserialize(source)? {
        step if step > 0.0 => Ok(Some(step)),
        _ => Err(Refusal::new("`step` must be a number greater than 0", "use, for example, `step = 1`").error()),
    }
}

/// Checks that a key's unit is known and fits the key's name.
fn unit(key: &str, word: &str, unit: QuantityUnit) -> Result<(), Refusal> {
    let wanted = match key {
        "size" => Some((QuantityKind::Size, "a size")),
        "throughput" => Some((QuantityKind::Throughput, "a throughput")),
        "latency" | "jitter" => Some((QuantityKind::Duration, "a time")),
        _ => None,
    };
    let wrong = wanted.filter(|(measure, _)| *measure != unit.measure);
    // `gib` is a slip, `disks` names what is counted.
    let slip = QuantityUnit::names().find(|name| unit.name.is_empty() && name.eq_ignore_ascii_case(word));
    if wrong.is_none() && slip.is_none() && !word.trim().is_empty() {
        return Ok(());
    }
    let known = QuantityUnit::of_measure(wrong.map_or(unit.measure, |(measure, _)| measure));
    let near = slip.or_else(|| closest(word, known.iter().copied()));
    let listed = || match known.is_empty() {
        true => "name the counted things, such as `unit = \"disks\"`".to_owned(),
        false => format!("use one of {}", known.join(", ")),
    };
    let remedy = near.map_or_else(listed, |near| format!("did you mean `{near}`?"));
    let what = wrong.map_or("a quantity", |(_, what)| what);
    Err(Refusal::new(format!("`{word}` is not a unit for {what}"), remedy))
}

/// Checks a key as it is written.
fn key(name: String, file: FileKey) -> Result<SchemaKey, Refusal> {
    let FileKey { attach, limits, fixed, min, max, one_of, sold, step, requires, source, .. } = file;
    let kind = match (file.choices, file.table, file.unit) {
        (Some(choices), None, None) => {
            if let Some(word) = twice(&choices) {
                return Err(Refusal::new(format!("duplicate choice `{word}`"), "list each choice once").at(choices.at));
            }
            let is_bounded = min.is_some() || max.is_some() || !one_of.is_empty() || !sold.is_empty() || step.is_some();
            if is_bounded {
                let message = "`min`, `max`, `one_of`, `sold` and `step` do not apply to `choices`";
                return Err(Refusal::new(message, "omit them, or use a `unit` instead of `choices`"));
            }
            KeyKind::Choice(choices.into_inner())
        }
        (None, Some(table), None) => KeyKind::Machine(table),
        (None, None, Some(word)) => {
            let counted = QuantityUnit { name: "", measure: QuantityKind::Count, factor: 1.0 };
            let found = QuantityUnit::of(&word).unwrap_or(counted);
            unit(&name, &word, found).map_err(|refusal| refusal.at(word.at.clone()))?;
            KeyKind::Quantity(found, if found.name.is_empty() { word.into_inner() } else { String::new() })
        }
        _ => {
            let message = format!("the key `{name}` needs one of `unit`, `choices` and `table`");
            return Err(Refusal::new(message, "add, for example, `unit = \"GiB\"`"));
        }
    };
    if name == "size" && !matches!(kind, KeyKind::Quantity(..)) {
        return Err(Refusal::new("a size needs a unit", format!("add, for example, {SIZE}")));
    }
    let default = file.default.map(|written| default(written, &kind)).transpose()?;
    Ok(SchemaKey {
        name,
        kind,
        attach,
        limits,
        default,
        fixed,
        least: min,
        most: max,
        one_of,
        sold,
        step,
        requires,
        source,
    })
}

/// An example of the key that every volume needs.
pub(super) const SIZE: &str = "`key.size = { unit = \"GiB\", default = 100 }`";

/// Checks the default of a key. Defaults of choices and machines are words, not rules.
fn default(written: At<Form>, kind: &KeyKind) -> Result<SchemaRule, Refusal> {
    let at = written.at.clone();
    match (written.into_inner(), kind) {
        (form, KeyKind::Quantity(..)) => SchemaRule::new(form, at),
        (Form::Text(word), KeyKind::Choice(choices)) if !choices.contains(&word) => {
            let remedy = suggestion(&word, choices.iter().map(String::as_str), || "use one of them".to_owned());
            Err(Refusal::new(format!("the default `{word}` is not one of {}", choices.join(", ")), remedy).at(at))
        }
        (Form::Text(word), _) => Ok(SchemaRule { expr: Expr::Word(word), at }),
        _ => Err(Refusal::new("the default must be a string", "quote it").at(at)),
    }
}

/// Returns the first duplicate word.
pub(super) fn twice(words: &[String]) -> Option<&str> {
    let again = |(index, word): (usize, &String)| words[..index].contains(word);
    words.iter().enumerate().find(|entry| again(*entry)).map(|(_, word)| word.as_str())
}
