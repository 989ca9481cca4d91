//! What is worth knowing about a volume beyond what it does: who sells it, what may be said about it.

use super::FoundVolume;
use super::rule::{eval, number};
use super::schema::{BehaviourRule, KeyKind, SchemaRule, VolumeType};
use crate::spec::Price;

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
    /// Figures that are not published.
    pub unknown: Vec<String>,
    /// Whether many machines may read it at once.
    pub many_readers: bool,
    /// What one may say about it, and what was said.
    pub keys: Vec<KeyAbout>,
    /// Why the latency is assumed, where it is.
    pub latency_assumed: Option<String>,
    /// Where the figures of its latency are from.
    pub latency_basis: LatencyBasis,
    /// Its prices in all regions that are known, the one of its [`Spec`](crate::Spec) among them.
    pub prices: Vec<Regional>,
}

/// Where the figures of a latency are from, the surest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LatencyBasis {
    /// It was given with the volume's name.
    Given,
    /// Measured on this type of volume.
    Measured,
    /// The provider publishes a mean or a range.
    Published,
    /// Neither: another volume's, or what a word such as "sub-millisecond" allows.
    #[default]
    Assumed,
}

impl LatencyBasis {
    /// `measured`, `published`, `assumed`, `given`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Measured => "measured",
            Self::Published => "published",
            Self::Assumed => "assumed",
        }
    }
}

/// A price and the regions that pay it.
#[derive(Clone, Debug, PartialEq)]
pub struct Regional {
    /// The price, with the region of its source.
    pub price: Price,
    /// Other regions that pay the same.
    pub also: Vec<String>,
}

impl Regional {
    /// Whether it holds in a region: one that names none holds everywhere.
    #[must_use]
    pub fn holds_in(&self, region: &str) -> bool {
        let Some(own) = &self.price.region else { return true };
        std::iter::once(own).chain(&self.also).any(|known| known.eq_ignore_ascii_case(region))
    }
}

/// One key of a volume.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyAbout {
    /// Its name.
    pub name: String,
    /// Its value with its unit; empty where it has none.
    pub value: String,
    /// Who said so.
    pub origin: FigureOrigin,
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
    /// The values that are sold, up to the last of them; empty where only `step` says what is sold.
    pub sold: Vec<f64>,
    /// Sold in multiples of this, above the last of `sold`; `None` where the catalogue does not say.
    pub step: Option<f64>,
    /// Values up to which one price and one set of limits hold: a smaller one costs as much as the next of these.
    pub tiers: Vec<f64>,
    /// The only words there are, where it is a word.
    pub choices: Vec<String>,
    /// It must not be given.
    pub fixed: bool,
}

/// Values are compared with this relative tolerance: a third of a TiB is not a whole number of bytes.
const HAIR: f64 = 1e-9;

impl Bounds {
    /// The least value that is sold and is no less than `least`; `None` where the largest is smaller. Of values that
    /// one price covers it is the largest. Without a published step whole units are assumed.
    #[must_use]
    pub fn sold_from(&self, least: f64) -> Option<f64> {
        let least = least.max(self.least.unwrap_or(0.0)) * (1.0 - HAIR);
        let listed = self.sold.iter().copied().find(|sold| *sold >= least);
        let stepped = || {
            let step = if self.sold.is_empty() { Some(self.step.unwrap_or(1.0)) } else { self.step };
            step.map(|step| (least / step).ceil().max(1.0) * step)
        };
        let sold = listed.or_else(stepped)?;
        let tiered = self.tiers.iter().copied().find(|tier| *tier >= sold * (1.0 - HAIR)).unwrap_or(sold);
        self.most.is_none_or(|most| tiered <= most * (1.0 + HAIR)).then_some(tiered)
    }

    /// The largest value that is sold; `None` where the catalogue states no bound.
    #[must_use]
    pub fn largest_sold(&self) -> Option<f64> {
        let most = self.most? * (1.0 + HAIR);
        let listed = self.sold.iter().copied().rfind(|sold| *sold <= most);
        let step = if self.sold.is_empty() { Some(self.step.unwrap_or(1.0)) } else { self.step };
        let stepped = step.map(|step| (most / step).floor() * step);
        listed.into_iter().chain(stepped).reduce(f64::max)
    }

    /// Whether a volume with this value can be bought, as far as the catalogue says.
    #[must_use]
    pub fn is_sold(&self, value: f64) -> bool {
        let is = |sold: f64| (value / sold - 1.0).abs() <= HAIR;
        let last = self.sold.last().copied().unwrap_or(0.0);
        match self.step {
            _ if self.sold.iter().any(|sold| is(*sold)) => true,
            Some(step) => value > last && is((value / step).round().max(1.0) * step),
            None => self.sold.is_empty(),
        }
    }
}

/// Where the value of a key is from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FigureOrigin {
    /// It was asked for.
    Asked,
    /// It follows from another key or from the name.
    Implied,
    /// Unknown.
    #[default]
    Default,
}

/// What its entry in the catalogue says about a volume.
pub(super) fn about(found: &FoundVolume, volume: &VolumeType) -> About {
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
        latency_basis: basis(found, volume),
        prices: Vec::new(),
    }
}

fn basis(found: &FoundVolume, volume: &VolumeType) -> LatencyBasis {
    let is_given = |key: &super::values::KeyValue| key.name.ends_with("latency") && key.origin == FigureOrigin::Asked;
    match &volume.behaviour {
        BehaviourRule::Drive(_) => LatencyBasis::Measured,
        _ if found.values.common.latency_ns.is_some() || found.values.keys.iter().any(is_given) => LatencyBasis::Given,
        BehaviourRule::Latency(rule) => rule.basis.unwrap_or(match (&rule.assumed, &rule.source) {
            (None, Some(_)) => LatencyBasis::Measured,
            _ => LatencyBasis::Assumed,
        }),
    }
}

/// A range that ends no earlier and has ten times this factor between its ends says nothing.
const ANY: f64 = 1e6;

fn key_about(found: &FoundVolume, key: &super::schema::SchemaKey) -> KeyAbout {
    let value = found.values.keys.iter().find(|known| known.name == key.name);
    let bound = |rule: &Option<SchemaRule>| {
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
                (Some(_), Some(most)) if !key.sold.is_empty() => sold_range(key, unit, most),
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
            (bounds.sold, bounds.step) = (key.sold.clone(), key.step);
            if let (Some(tiers), "size") = (&found.volume().tiers, key.name.as_str()) {
                let in_unit = |gib: f64| gib * (1_u64 << 30) as f64 / unit.factor;
                bounds.tiers = super::table::tiers(&found.provider.tables, tiers).into_iter().map(in_unit).collect();
            }
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

/// What is sold, in words: `4, 8, 16, 32 GiB, then multiples of 1,024 GiB to 65,536 GiB`.
fn sold_range(key: &super::schema::SchemaKey, unit: &super::quantity::QuantityUnit, most: f64) -> String {
    let listed = key.sold.iter().map(|sold| number(*sold)).collect::<Vec<_>>().join(", ");
    let then = key.step.map(|step| {
        format!(", then multiples of {} to {}", unit.show(step * unit.factor), unit.show(most * unit.factor))
    });
    format!("{listed} {}{}", unit.name, then.unwrap_or_default())
}

fn word(value: Option<&super::values::KeyValue>) -> Option<String> {
    value.map(|known| super::word(&known.value))
}
