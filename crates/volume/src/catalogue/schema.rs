//! Types of volume files.

use std::collections::BTreeMap;
use std::ops::Range;

use super::problem::CatalogueText;
use super::quantity::QuantityUnit;
use super::rule::{Expr, Names};
use super::table::RateTable;
use crate::spec::{LimitSource, Scope};

/// One file: the volumes of one provider.
#[derive(Clone, Debug)]
pub(super) struct Provider {
    pub id: String,
    pub title: String,
    pub as_of: String,
    pub sources: BTreeMap<String, LimitSource>,
    pub tables: Vec<RateTable>,
    pub types: Vec<VolumeType>,
    pub text: CatalogueText,
}

impl Provider {
    pub(super) fn machine_tables(&self) -> impl Iterator<Item = &RateTable> {
        let keys = || self.types.iter().flat_map(|volume| &volume.keys);
        let names_it = move |id: &String| keys().any(|key| matches!(&key.kind, KeyKind::Machine(table) if table == id));
        self.tables
            .iter()
            .filter(move |table| table.has_id(super::table::ATTACHMENTS) || table.ids.iter().any(names_it))
    }
}

#[derive(Clone, Debug)]
pub(super) struct VolumeType {
    pub id: String,
    /// Date of the rules, if newer ones exist.
    pub edition: Option<String>,
    pub title: String,
    pub media: String,
    pub as_of: Option<String>,
    pub keys: Vec<SchemaKey>,
    /// ID of a table of sizes with names and figures, such as Azure's P10 and P20.
    pub tiers: Option<String>,
    pub lets: Vec<(String, SchemaRule)>,
    pub limits: Vec<LimitRule>,
    pub stations: Vec<StationRule>,
    pub behaviour: BehaviourRule,
    /// Prices, one per region; the default comes first.
    pub prices: Vec<PriceRule>,
    /// Whether many machines may read it at once.
    pub many_readers: bool,
    pub notes: Vec<NoteRule>,
    pub unknown: Vec<String>,
}

#[derive(Clone, Debug)]
pub(super) struct SchemaRule {
    pub expr: Expr,
    pub at: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct SchemaKey {
    pub name: String,
    pub kind: KeyKind,
    /// Column of the tables of attachments that says which machines take the volume.
    pub attach: Option<String>,
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
    pub source: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum KeyKind {
    /// A number. Counted things have a word, such as `disks`.
    Quantity(QuantityUnit, String),
    /// One of several words.
    Choice(Vec<String>),
    /// The name of a machine, with the ID of the tables of its limits.
    Machine(String),
}

#[derive(Clone, Debug)]
pub(super) struct LimitRule {
    pub name: String,
    pub scope: Scope,
    pub counted: CountedRule,
    /// Bytes of a counted operation.
    pub io_unit: Option<u32>,
    pub merging: Option<MergingRule>,
    /// Rates in the unit of `counted`.
    pub read: Option<SchemaRule>,
    pub write: Option<SchemaRule>,
    /// Applies only if this is not zero.
    pub when: Option<SchemaRule>,
    pub burst: BurstRule,
    pub tolerance: Option<ToleranceRule>,
    pub source: Option<String>,
}

/// Measured excess over a limit's nominal rate.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ToleranceRule {
    /// Thousandths of the nominal rate.
    pub per_mille: u32,
    /// Whether it is a published burst of unknown length.
    pub is_burst: bool,
    pub source: String,
}

/// Minimum size of merged operations, with source and assumptions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MergingRule {
    pub from: u32,
    pub source: Option<String>,
    pub assumed: Option<String>,
}

/// A note, with its condition if it has one.
#[derive(Clone, Debug)]
pub(super) struct NoteRule {
    pub when: Option<SchemaRule>,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum CountedRule {
    Operations {
        above: Option<u32>,
    },
    /// Bytes, with the unit of the rates.
    Bytes(QuantityUnit),
}

#[derive(Clone, Debug)]
pub(super) enum BurstRule {
    /// Jitter; `None` if the file does not state it.
    Jitter(Option<JitterRule>),
    /// Capacity and initial level, in units of the limit.
    Credits { most: SchemaRule, at_start: Option<SchemaRule> },
}

#[derive(Clone, Debug)]
pub(super) struct JitterRule {
    pub ms: SchemaRule,
    pub source: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct StationRule {
    pub name: String,
    pub scope: Scope,
    pub servers: SchemaRule,
    pub service_us: SchemaRule,
    pub mibps: Option<SchemaRule>,
    pub source: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) enum BehaviourRule {
    Latency(Box<LatencyRule>),
    Drive(Vec<(String, SchemaRule)>),
}

#[derive(Clone, Debug)]
pub(super) struct LatencyRule {
    pub read: LawRule,
    pub write: Option<LawRule>,
    pub mibps: Option<SchemaRule>,
    pub source: Option<String>,
    /// Reason for figures that no measurement or publication states.
    pub assumed: Option<String>,
    /// Basis of the figures; `None` if it follows from `source` and `assumed`.
    pub basis: Option<LatencyBasis>,
}

/// A latency distribution with its parameters; times are in microseconds.
#[derive(Clone, Debug)]
pub(super) struct LawRule {
    pub law: String,
    pub parameters: Vec<(String, SchemaRule)>,
    /// Measured quantiles: pairs of a percentile and microseconds, both rising.
    pub points: Vec<(f64, f64)>,
}

#[derive(Clone, Debug)]
pub(super) struct PriceRule {
    pub currency: String,
    pub rule: SchemaRule,
    pub region: Option<String>,
    /// Other regions with the same price.
    pub also: Vec<String>,
    /// Further costs whose price is not published.
    pub lacks: Option<String>,
    pub note: String,
    pub source: Option<String>,
}

impl LimitRule {
    /// Returns the names of the variables in its rates.
    pub(super) fn variables(&self) -> Vec<String> {
        let mut used = Vec::new();
        [&self.read, &self.write].into_iter().flatten().for_each(|rule| rule.expr.names(&mut used));
        used.into_iter().map(|(name, _)| name).collect()
    }
}

impl VolumeType {
    /// Returns the ID with the edition: `pd-ssd@2019`.
    pub(super) fn full_id(&self) -> String {
        match &self.edition {
            Some(edition) => format!("{}@{edition}", self.id),
            None => self.id.clone(),
        }
    }

    pub(super) fn rules(&self) -> Vec<&SchemaRule> {
        let mut rules: Vec<&SchemaRule> = self.lets.iter().map(|(_, rule)| rule).collect();
        for key in &self.keys {
            rules.extend([&key.default, &key.least, &key.most].into_iter().flatten());
        }
        for limit in &self.limits {
            rules.extend([&limit.read, &limit.write, &limit.when].into_iter().flatten());
            match &limit.burst {
                BurstRule::Jitter(rule) => rules.extend(rule.as_ref().map(|rule| &rule.ms)),
                BurstRule::Credits { most, at_start } => {
                    rules.extend([Some(most), at_start.as_ref()].into_iter().flatten());
                }
            }
        }
        for station in &self.stations {
            rules.extend([&station.servers, &station.service_us]);
            rules.extend(&station.mibps);
        }
        match &self.behaviour {
            BehaviourRule::Drive(parameters) => rules.extend(parameters.iter().map(|(_, rule)| rule)),
            BehaviourRule::Latency(latency) => {
                let laws = [Some(&latency.read), latency.write.as_ref()];
                rules.extend(laws.into_iter().flatten().flat_map(|law| law.parameters.iter().map(|(_, rule)| rule)));
                rules.extend(&latency.mibps);
            }
        }
        rules.extend(self.prices.iter().map(|price| &price.rule));
        rules.extend(self.notes.iter().filter_map(|note| note.when.as_ref()));
        rules
    }
}

/// Returns the variables that a key defines, with the factor from base units and the unit for display.
pub(super) fn variables(key: &SchemaKey) -> Vec<(String, f64, String)> {
    use super::quantity::QuantityKind;
    let KeyKind::Quantity(unit, word) = &key.kind else { return Vec::new() };
    let named = |own: &str, variables: &[(&str, f64, &str)]| -> Vec<(String, f64, String)> {
        let prefix = if key.name == own { String::new() } else { format!("{}_", key.name) };
        variables.iter().map(|(name, factor, unit)| (format!("{prefix}{name}"), *factor, (*unit).to_owned())).collect()
    };
    let binary = |power: i32| libm::pow(1024.0, f64::from(power));
    match unit.measure {
        QuantityKind::Size => named(
            "size",
            &[("gib", binary(3), "GiB"), ("tib", binary(4), "TiB"), ("gb", 1e9, "GB"), ("tb", 1e12, "TB")],
        ),
        QuantityKind::Throughput => named("throughput", &[("mibps", binary(2), "MiB/s"), ("mbps", 1e6, "MB/s")]),
        QuantityKind::Duration => named("", &[("us", 1e3, "us"), ("ms", 1e6, "ms"), ("s", 1e9, "s")]),
        QuantityKind::Share => vec![(key.name.clone(), 1.0, String::new())],
        QuantityKind::Count => vec![(key.name.clone(), 1.0, word.clone())],
    }
}

/// Returns all variables that the rules of a type may use, without values.
pub(super) fn names(volume: &VolumeType, tables: &[RateTable]) -> Names {
    let mut names = Names::new();
    let columns = |id: &str| -> Vec<String> {
        tables.iter().filter(|table| table.has_id(id)).flat_map(|table| table.columns.clone()).collect()
    };
    let mut add = |name: String, unit: String| {
        names.insert(name, super::rule::Variable { value: None, unit });
    };
    for key in &volume.keys {
        for (name, _, unit) in variables(key) {
            if key.name == "size" {
                add(format!("all_{name}"), unit.clone());
            }
            add(name, unit);
        }
        if let KeyKind::Machine(table) = &key.kind {
            columns(table).into_iter().for_each(|column| add(format!("machine_{column}"), String::new()));
        }
        let unit = match &key.kind {
            _ if key.name == "iops" => "IOPS",
            KeyKind::Quantity(_, word) => word,
            _ => "",
        };
        add(key.name.clone(), unit.to_owned());
    }
    if let Some(tiers) = &volume.tiers {
        columns(tiers).into_iter().for_each(|column| add(format!("tier_{column}"), String::new()));
        add("tier".to_owned(), String::new());
    }
    add("volumes".to_owned(), "volumes".to_owned());
    volume.lets.iter().for_each(|(name, _)| add(name.clone(), String::new()));
    names
}

/// Basis of latency figures, the most certain first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LatencyBasis {
    /// Specified with the volume's name.
    Given,
    /// Measured on this type of volume.
    Measured,
    /// Published by the provider as a mean or a range.
    Published,
    /// Another volume's figures, or an interpretation of a phrase such as "sub-millisecond".
    #[default]
    Assumed,
}

impl LatencyBasis {
    /// Returns `measured`, `published`, `assumed` or `given`.
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
