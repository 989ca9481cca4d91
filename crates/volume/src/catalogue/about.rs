//! What is worth knowing about a volume beyond what it does: who sells it, what may be said about it.

use super::Found;
use super::rule::{eval, number};
use super::schema::{BehaviourRule, KeyKind, Rule, VolumeType};

/// What is worth knowing about a volume beyond what it does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// Who sells it.
    pub provider: String,
    /// What it is made of.
    pub media: String,
    /// The time of its rules, where there are newer ones.
    pub edition: Option<String>,
    /// When its figures were last looked at.
    pub as_of: String,
    /// What nobody publishes.
    pub unknown: Vec<String>,
    /// Whether many machines may read it at once.
    pub many_readers: bool,
    /// What one may say about it, and what was said.
    pub keys: Vec<KeyAbout>,
    /// Why the latency is assumed, where it is.
    pub latency_assumed: Option<String>,
}

/// One key of a volume.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyAbout {
    /// Its name.
    pub name: String,
    /// Its value with its unit; empty where it has none.
    pub value: String,
    /// Who said so.
    pub origin: Origin,
    /// What it may be: `10 GiB to 64 TiB`, `on, off`.
    pub range: String,
    /// The same for programs.
    pub bounds: Bounds,
    /// Where the range is from.
    pub source: String,
}

/// What a key may be. All numbers are in its unit, and follow from the keys before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    /// How the unit is written behind a number; empty for what is counted.
    pub unit: String,
    /// What it is now.
    pub value: Option<f64>,
    /// The least it may be.
    pub least: Option<f64>,
    /// The most it may be.
    pub most: Option<f64>,
    /// The only numbers there are, if not all between them.
    pub one_of: Vec<f64>,
    /// The only words there are, where it is a word.
    pub choices: Vec<String>,
    /// Nobody may give it.
    pub fixed: bool,
}

/// Where the value of a key is from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// It was asked for.
    Asked,
    /// It follows from another key or from the name.
    Implied,
    /// Nobody said anything.
    #[default]
    Default,
}

/// What its entry in the catalogue says about a volume.
pub(super) fn about(found: &Found, volume: &VolumeType) -> About {
    let provider = &found.provider;
    let assumed = match &volume.behaviour {
        BehaviourRule::Latency(rule) if found.values.common.latency_ns.is_none() => rule.assumed.clone(),
        _ => None,
    };
    About {
        provider: provider.title.clone(),
        media: volume.media.clone(),
        edition: volume.edition.clone(),
        as_of: volume.as_of.clone().unwrap_or_else(|| provider.as_of.clone()),
        unknown: volume.unknown.clone(),
        many_readers: volume.many_readers,
        keys: volume.keys.iter().map(|key| key_about(found, key)).collect(),
        latency_assumed: assumed,
    }
}

/// A range that ends no earlier and has ten times this factor between its ends says nothing.
const ANY: f64 = 1e6;

fn key_about(found: &Found, key: &super::schema::Key) -> KeyAbout {
    let value = found.values.keys.iter().find(|known| known.name == key.name);
    let bound = |rule: &Option<Rule>| {
        let rule = rule.as_ref()?;
        eval(&rule.expr, &found.values.names).ok().flatten()?.number()
    };
    let (shown, range) = match &key.kind {
        KeyKind::Quantity(unit, word) => {
            let with = |base: f64| format!("{} {word}", unit.show(base)).trim_end().to_owned();
            let range = match (bound(&key.least), bound(&key.most)) {
                _ if key.fixed => "follows from the rest".to_owned(),
                // Such bounds only keep out what is no number.
                (least, Some(most)) if least.unwrap_or(0.0) * 10.0 * ANY <= most && most >= ANY => "any".to_owned(),
                _ if !key.one_of.is_empty() => key.one_of.iter().map(|one| number(*one)).collect::<Vec<_>>().join(", "),
                (Some(least), Some(most)) if unit.name.is_empty() => {
                    format!("{} to {}", number(least), with(most))
                }
                (Some(least), Some(most)) => format!("{} to {}", with(least * unit.factor), with(most * unit.factor)),
                _ => String::new(),
            };
            (value.and_then(|value| value.value.number()).map(with), range)
        }
        KeyKind::Choice(choices) => (word(value), choices.join(", ")),
        KeyKind::Machine(_) => (word(value), "a machine of the provider's".to_owned()),
    };
    let mut bounds = Bounds { one_of: key.one_of.clone(), fixed: key.fixed, ..Bounds::default() };
    match &key.kind {
        KeyKind::Quantity(unit, _) => {
            bounds.unit = unit.name.to_owned();
            bounds.value = value.and_then(|value| value.value.number()).map(|base| base / unit.factor);
            (bounds.least, bounds.most) = (bound(&key.least), bound(&key.most));
        }
        KeyKind::Choice(choices) => bounds.choices.clone_from(choices),
        KeyKind::Machine(_) => {}
    }
    KeyAbout {
        name: key.name.clone(),
        value: shown.unwrap_or_default(),
        origin: value.map(|value| value.origin).unwrap_or_default(),
        range,
        bounds,
        source: super::cited(&found.provider, key.source.as_ref()),
    }
}

fn word(value: Option<&super::values::KeyValue>) -> Option<String> {
    value.map(|known| super::word(&known.value))
}
