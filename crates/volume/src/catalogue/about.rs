//! Descriptive facts of a volume: provider, keys, prices.

use schemars::JsonSchema;
use serde::Serialize;

use super::FoundVolume;
use super::bounds::{Bounds, FigureOrigin};
use super::key::KeyKind;
use super::placed_rule::SchemaRule;
use super::rule::{eval, number};
use super::schema::{FailureRule, LatencyBasis, VolumeType};
use crate::spec::{LimitSource, Price};

/// Descriptive facts of a volume.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    pub provider: String,
    /// Media: `SSD, network`.
    pub media: String,
    /// Date of the rules, if newer ones exist.
    pub edition: Option<String>,
    /// Date of the last check of the figures.
    pub as_of: String,
    /// Notes on the provider's figures, such as contradictory sources. Notes on the model are in its
    /// [`Spec`](crate::Spec).
    pub remarks: Vec<String>,
    /// Figures that are not published.
    pub unknown: Vec<String>,
    /// Whether many machines may read it at once.
    pub many_readers: bool,
    /// Most such volumes on one machine of the provider; its types may take fewer. `None` if it is not published.
    pub max_volumes: Option<u32>,
    /// Source of `max_volumes`.
    pub max_volumes_source: String,
    /// Published probability that the volume is lost within a year; `None` if it is not published.
    pub annual_failure: Option<AnnualFailure>,
    /// Keys with their ranges and values.
    pub keys: Vec<KeyFacts>,
    /// Reason for an assumed latency; `None` if it is not assumed.
    pub latency_assumed: Option<String>,
    /// Basis of the latency figures.
    pub latency_basis: LatencyBasis,
    /// Published upper bound on the mean latency, in seconds.
    pub latency_below_secs: Option<f64>,
    /// Prices in all known regions, including that of its [`Spec`](crate::Spec).
    pub prices: Vec<RegionalPrice>,
}

/// Published probability that a volume is lost within a year.
#[derive(Clone, Debug, PartialEq)]
pub struct AnnualFailure {
    /// Upper bound, in percent.
    pub percent: f64,
    /// What the provider says.
    pub published: String,
    pub source: LimitSource,
}

/// A price and the regions in which it applies.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RegionalPrice {
    /// The price, with the region of its source.
    pub price: Price,
    /// Other regions with the same price.
    pub also: Vec<String>,
}

impl RegionalPrice {
    /// Reports whether the price applies in a region; one without a region applies everywhere.
    #[must_use]
    pub fn holds_in(&self, region: &str) -> bool {
        super::schema::holds_in(self.price.region.as_deref(), &self.also, region)
    }
}

/// A key of a volume.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyFacts {
    pub name: String,
    /// Value with its unit; empty if there is none.
    pub value: String,
    pub origin: FigureOrigin,
    /// Valid values: `10 GiB to 64 TiB`, `on, off`.
    pub range: String,
    /// Valid values, machine-readable.
    pub bounds: Bounds,
    /// Source of the range.
    pub source: String,
}

pub(super) fn about(found: &FoundVolume, volume: &VolumeType) -> About {
    let provider = &found.provider;
    let (max_volumes, max_volumes_source) = max_volumes(found);
    let failure = |rule: &FailureRule| AnnualFailure {
        percent: rule.percent,
        published: rule.published.clone(),
        source: provider.sources.get(&*rule.source).cloned().unwrap_or_default(),
    };
    let is_assumed = volume.drive.is_none() && found.values.common.latency_ns.is_none();
    About {
        provider: provider.title.clone(),
        media: volume.media.clone(),
        edition: volume.edition.clone(),
        as_of: volume.as_of.clone().unwrap_or_else(|| provider.as_of.clone()),
        remarks: volume.remarks.clone(),
        unknown: volume.unknown.clone(),
        many_readers: volume.many_readers,
        max_volumes,
        max_volumes_source,
        annual_failure: volume.failure.as_ref().map(failure),
        keys: volume.keys.iter().map(|key| key_about(found, key)).collect(),
        latency_assumed: volume.latency.assumed.clone().filter(|_| is_assumed),
        latency_basis: basis(found, volume),
        latency_below_secs: volume.latency.below_us.filter(|_| is_assumed).map(|us| us / 1e6),
        prices: Vec::new(),
    }
}

/// Returns the most volumes of a type on one machine, and the source. The provider's number is not one of older pages.
pub(super) fn max_volumes(found: &FoundVolume) -> (Option<u32>, String) {
    let (volume, today) = (found.volume(), found.provider.max_volumes.as_ref());
    let most = volume.max_volumes.as_ref().or(today.filter(|_| volume.as_of.is_none()));
    (most.map(|most| most.count), super::cited(&found.provider, most.map(|most| &most.source)))
}

fn basis(found: &FoundVolume, volume: &VolumeType) -> LatencyBasis {
    let is_given = |key: &super::values::KeyValue| key.name.ends_with("latency") && key.origin == FigureOrigin::Asked;
    if volume.drive.is_some() {
        LatencyBasis::Measured
    } else if found.values.common.latency_ns.is_some() || found.values.keys.iter().any(is_given) {
        LatencyBasis::Given
    } else {
        let is_measured = volume.latency.assumed.is_none() && volume.latency.source.is_some();
        volume.latency.basis.unwrap_or(if is_measured { LatencyBasis::Measured } else { LatencyBasis::Assumed })
    }
}

/// Ranges that reach this value and span ten times this factor are shown as `any`.
const ANY: f64 = 1e6;

fn key_about(found: &FoundVolume, key: &super::key::SchemaKey) -> KeyFacts {
    let value = found.values.keys.iter().find(|known| known.name == key.name);
    let bound = |rule: &Option<SchemaRule>| {
        let rule = rule.as_ref()?;
        eval(&rule.expr, &found.values.names).ok().flatten()?.number()
    };
    let mut bounds = Bounds { one_of: key.one_of.clone(), fixed: key.fixed, ..Bounds::default() };
    let word = || value.map(|known| super::word(&known.value));
    let (shown, range) = match &key.kind {
        KeyKind::Quantity(unit, word) => {
            let base = value.and_then(|value| value.value.number());
            (bounds.unit, bounds.sold, bounds.step) = (unit.name.to_owned(), key.sold.clone(), key.step);
            if let (Some(tiers), "size") = (&found.volume().tiers, key.name.as_str()) {
                let in_unit = |gib: f64| gib * (1_u64 << 30) as f64 / unit.factor;
                bounds.tiers = super::table::tiers(&found.provider.tables, tiers).into_iter().map(in_unit).collect();
            }
            bounds.value = base.map(|base| base / unit.factor);
            (bounds.least, bounds.most) = (bound(&key.least), bound(&key.most));
            let with = |base: f64| format!("{} {word}", unit.show(base)).trim_end().to_owned();
            let range = match (bounds.least, bounds.most) {
                _ if key.fixed => "derived".to_owned(),
                // Such bounds only exclude invalid numbers.
                (least, Some(most)) if least.unwrap_or(0.0) * 10.0 * ANY <= most && most >= ANY => "any".to_owned(),
                _ if !key.one_of.is_empty() => key.one_of.iter().map(|one| number(*one)).collect::<Vec<_>>().join(", "),
                (Some(_), Some(most)) if !key.sold.is_empty() => sold_range(key, unit, most),
                (Some(least), Some(most)) if unit.name.is_empty() => {
                    format!("{} to {}", number(least), with(most))
                }
                (Some(least), Some(most)) => format!("{} to {}", with(least * unit.factor), with(most * unit.factor)),
                _ => String::new(),
            };
            (base.map(with), range)
        }
        KeyKind::Choice(choices) => {
            bounds.choices.clone_from(choices);
            (word(), choices.join(", "))
        }
        KeyKind::Machine(_) => {
            let takers = key.attach.iter().flat_map(|column| super::attachment::takers(&found.provider, column));
            let takers = takers.collect::<Vec<_>>().join(", ");
            let all = "any machine type of the provider";
            (word(), if takers.is_empty() { all.to_owned() } else { format!("{all}: {takers}") })
        }
    };
    KeyFacts {
        name: key.name.clone(),
        value: shown.unwrap_or_default(),
        origin: value.map(|value| value.origin).unwrap_or_default(),
        range,
        bounds,
        source: super::cited(&found.provider, key.source.as_ref()),
    }
}

/// Describes the sizes on sale: `4, 8, 16, 32 GiB, then multiples of 1,024 GiB to 65,536 GiB`.
fn sold_range(key: &super::key::SchemaKey, unit: &super::quantity::QuantityUnit, most: f64) -> String {
    let listed = key.sold.iter().map(|sold| number(*sold)).collect::<Vec<_>>().join(", ");
    let then = key.step.map(|step| {
        format!(", then multiples of {} to {}", unit.show(step * unit.factor), unit.show(most * unit.factor))
    });
    format!("{listed} {}{}", unit.name, then.unwrap_or_default())
}
