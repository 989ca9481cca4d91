//! Types of volume files, as they are written and as models use them (docs/volumes.md).

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::document::{At, Form, Refusal, entries, kept, list, mistyped};
use super::drive;
use super::key::{KeyKind, SchemaKey};
use super::placed_rule::SchemaRule;
use super::problem::CatalogueText;
use super::quantity::{self, QuantityKind, QuantityUnit};
use super::reference::{SharedId, SourceId, TableId};
use super::rule::{Expr, Names};
use super::table::RateTable;
use crate::spec::{LimitSource, Scope};

/// A file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub provider: Option<FileHead>,
    #[serde(default, deserialize_with = "entries")]
    pub source: Vec<(String, LimitSource)>,
    #[serde(default, deserialize_with = "list")]
    pub table: Vec<FileTable>,
    /// Limits of machines, by a name that volumes use.
    #[serde(default, deserialize_with = "entries")]
    pub machine_limits: Vec<(String, MachineLimits)>,
    /// Keys, limits and notes by a name that volumes use.
    #[serde(default, deserialize_with = "entries")]
    pub shared: Vec<(String, SharedRules)>,
    #[serde(default, deserialize_with = "list")]
    pub volume: Vec<At<VolumeType>>,
}

#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct MachineLimits(#[serde(deserialize_with = "list")] pub Vec<At<LimitRule>>);

/// Rules of several volumes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SharedRules {
    #[serde(default, rename = "key", deserialize_with = "entries")]
    pub keys: Vec<SchemaKey>,
    #[serde(default, rename = "limit", deserialize_with = "list")]
    pub limits: Vec<At<LimitRule>>,
    #[serde(default, deserialize_with = "list")]
    pub notes: Vec<NoteRule>,
    #[serde(default, deserialize_with = "list")]
    pub remarks: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileHead {
    pub id: String,
    pub title: String,
    #[serde(default)]
    pub as_of: String,
    pub max_volumes: Option<MaxVolumesRule>,
}

/// Most volumes that a machine takes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MaxVolumesRule {
    #[serde(deserialize_with = "count")]
    pub count: u32,
    pub source: SourceId,
}

/// Reads a whole number of volumes.
fn count<'de, D: Deserializer<'de>>(source: D) -> Result<u32, D::Error> {
    match Form::<IgnoredAny>::deserialize(source)? {
        Form::Number(count) if count.fract() == 0.0 && (1.0..=65_536.0).contains(&count) => Ok(count as u32),
        _ => Err(Refusal::new("`count` must be a whole number from 1", "use, for example, `count = 16`").error()),
    }
}

/// Published probability that a volume is lost within a year.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FailureRule {
    #[serde(deserialize_with = "percentage")]
    pub percent: f64,
    /// What the source says.
    #[serde(default)]
    pub published: String,
    pub source: SourceId,
}

fn percentage<'de, D: Deserializer<'de>>(source: D) -> Result<f64, D::Error> {
    match Form::<IgnoredAny>::deserialize(source)? {
        Form::Number(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err(Refusal::new("`percent` must be a number from 0 to 100", "use, for example, `percent = 0.2`").error()),
    }
}

/// A table with its columns and rows in one text each.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileTable {
    pub id: String,
    pub columns: At<String>,
    pub source: Option<SourceId>,
    pub rows: At<String>,
}

/// One file: the volumes of one provider.
#[derive(Clone, Debug)]
pub(super) struct Provider {
    pub id: String,
    pub title: String,
    pub as_of: String,
    pub max_volumes: Option<MaxVolumesRule>,
    pub sources: BTreeMap<String, LimitSource>,
    pub tables: Vec<RateTable>,
    pub types: Vec<VolumeType>,
    pub text: CatalogueText,
}

impl Provider {
    pub(super) fn machine_tables(&self) -> impl Iterator<Item = &RateTable> {
        let keys = || self.types.iter().flat_map(|volume| &volume.keys);
        let names_it =
            move |id: &String| keys().any(|key| matches!(&key.kind, KeyKind::Machine(table) if **table == *id));
        self.tables
            .iter()
            .filter(move |table| table.has_id(super::table::ATTACHMENTS) || table.ids.iter().any(names_it))
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VolumeType {
    #[serde(default)]
    pub id: At<String>,
    /// Date of the rules, if newer ones exist.
    pub edition: Option<String>,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub media: String,
    pub as_of: Option<String>,
    /// Rules that it shares with other volumes.
    #[serde(default, deserialize_with = "list")]
    pub shared: Vec<SharedId>,
    #[serde(default, rename = "key", deserialize_with = "entries")]
    pub keys: Vec<SchemaKey>,
    /// ID of a table of sizes with names and figures, such as Azure's P10 and P20.
    pub tiers: Option<TableId>,
    #[serde(default, rename = "let", deserialize_with = "entries")]
    pub lets: Vec<(String, SchemaRule)>,
    #[serde(default, rename = "limit", deserialize_with = "list")]
    pub limits: Vec<At<LimitRule>>,
    #[serde(default, rename = "station", deserialize_with = "list")]
    pub stations: Vec<StationRule>,
    /// Parameters of a disk drive by name; its mechanics determine its latency.
    #[serde(default, deserialize_with = "kept")]
    pub drive: Option<DriveRule>,
    #[serde(default, deserialize_with = "kept")]
    pub latency: At<LatencyRule>,
    /// Prices, one per region; the default comes first.
    #[serde(default, rename = "price", deserialize_with = "list")]
    pub prices: Vec<At<PriceRule>>,
    /// Whether many machines may read it at once.
    #[serde(default)]
    pub many_readers: bool,
    /// Most such volumes on a machine, if it is not the number of the provider.
    pub max_volumes: Option<MaxVolumesRule>,
    pub failure: Option<FailureRule>,
    #[serde(default, deserialize_with = "list")]
    pub notes: Vec<NoteRule>,
    /// Notes on the provider's figures, which no result needs.
    #[serde(default, deserialize_with = "list")]
    pub remarks: Vec<String>,
    #[serde(default, deserialize_with = "list")]
    pub unknown: Vec<String>,
}

fn name<'de, D: Deserializer<'de>>(source: D) -> Result<String, D::Error> {
    let name = String::deserialize(source)?;
    if name.trim().is_empty() {
        let remedy = "add a descriptive name, such as `name = \"volume IOPS\"`";
        return Err(Refusal::new("the name is empty", remedy).error());
    }
    Ok(name)
}

/// Reads a size of operations.
fn size<'de, D: Deserializer<'de>>(source: D) -> Result<u32, D::Error> {
    let bytes = quantity::read(&String::deserialize(source)?, QuantityKind::Size);
    match bytes.map_err(|problem| Refusal::of(problem).error())? {
        bytes if (1.0..=f64::from(1_u32 << 30)).contains(&bytes) => Ok(bytes as u32),
        _ => Err(Refusal::new("the size must be between 1 B and 1 GiB", "use, for example, \"256KiB\"").error()),
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct OperationSize(#[serde(deserialize_with = "size")] pub u32);

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitRule {
    #[serde(deserialize_with = "name")]
    pub name: String,
    #[serde(default)]
    pub scope: Scope,
    iops: Option<SchemaRule>,
    read_iops: Option<SchemaRule>,
    write_iops: Option<SchemaRule>,
    mibps: Option<SchemaRule>,
    read_mibps: Option<SchemaRule>,
    write_mibps: Option<SchemaRule>,
    mbps: Option<SchemaRule>,
    read_mbps: Option<SchemaRule>,
    write_mbps: Option<SchemaRule>,
    gibps: Option<SchemaRule>,
    read_gibps: Option<SchemaRule>,
    write_gibps: Option<SchemaRule>,
    kbps: Option<SchemaRule>,
    read_kbps: Option<SchemaRule>,
    write_kbps: Option<SchemaRule>,
    /// Bytes of a counted operation.
    pub io_unit: Option<OperationSize>,
    #[serde(default, rename = "merged", deserialize_with = "merging")]
    pub merging: At<Option<MergingRule>>,
    /// Counts only larger operations than this.
    pub larger_than: Option<At<OperationSize>>,
    /// Applies only if this is not zero.
    pub when: Option<SchemaRule>,
    /// Capacity and initial level of a bucket, in units of the limit.
    pub credits: Option<SchemaRule>,
    pub credits_at_start: Option<SchemaRule>,
    pub jitter: Option<At<JitterRule>>,
    pub tolerance: Option<ToleranceRule>,
    pub source: Option<SourceId>,
}

/// A rate of reads and writes, of which one may be absent.
pub(super) struct RateRule<'a> {
    pub read: Option<&'a SchemaRule>,
    pub write: Option<&'a SchemaRule>,
    /// Unit of bytes; `None` for operations.
    pub bytes: Option<QuantityUnit>,
}

impl LimitRule {
    /// Returns the rates that are set; a valid limit has one.
    pub(super) fn rates(&self) -> impl Iterator<Item = RateRule<'_>> {
        let rates = [
            (None, [&self.iops, &self.read_iops, &self.write_iops]),
            (Some("MiB"), [&self.mibps, &self.read_mibps, &self.write_mibps]),
            (Some("MB"), [&self.mbps, &self.read_mbps, &self.write_mbps]),
            (Some("GiB"), [&self.gibps, &self.read_gibps, &self.write_gibps]),
            (Some("kB"), [&self.kbps, &self.read_kbps, &self.write_kbps]),
        ];
        rates.into_iter().filter(|(_, rules)| rules.iter().any(|rule| rule.is_some())).map(
            |(unit, [both, read, write])| {
                let [read, write] = [read, write].map(|rule| rule.as_ref().or(both.as_ref()));
                RateRule { read, write, bytes: unit.and_then(QuantityUnit::of) }
            },
        )
    }

    pub(super) fn rate(&self) -> RateRule<'_> {
        self.rates().next().unwrap_or(RateRule { read: None, write: None, bytes: None })
    }

    /// Returns the names of the variables in its rates.
    pub(super) fn variables(&self) -> Vec<String> {
        let (rate, mut used) = (self.rate(), Vec::new());
        [rate.read, rate.write].into_iter().flatten().for_each(|rule| rule.expr.names(&mut used));
        used.into_iter().map(|(name, _)| name).collect()
    }
}

/// Measured excess over a limit's nominal rate. It has a source because it is a measurement or published.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToleranceRule {
    /// Thousandths of the nominal rate.
    #[serde(rename = "percent", deserialize_with = "per_mille")]
    pub per_mille: u32,
    /// Whether it is a published burst of unknown length.
    #[serde(default, rename = "burst")]
    pub is_burst: bool,
    pub source: SourceId,
}

/// Reads a percentage. A volume measured further above its limit than 100% is not bound by it.
fn per_mille<'de, D: Deserializer<'de>>(source: D) -> Result<u32, D::Error> {
    match Form::<IgnoredAny>::deserialize(source)? {
        Form::Number(percent) if (0.0..=100.0).contains(&percent) => Ok(libm::round(10.0 * percent) as u32),
        _ => Err(Refusal::new("`percent` must be a number from 0 to 100", "use, for example, `percent = 5`").error()),
    }
}

/// Minimum size of merged operations, with source and assumptions.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MergingRule {
    pub from: Option<OperationSize>,
    pub source: Option<SourceId>,
    pub assumed: Option<String>,
}

/// Reads a boolean or a table.
fn merging<'de, D: Deserializer<'de>>(source: D) -> Result<At<Option<MergingRule>>, D::Error> {
    let form: At<Form<MergingRule>> = At::deserialize(source)?;
    form.try_map(|form| match form {
        Form::Boolean(is_merged) => Ok(is_merged.then(MergingRule::default)),
        Form::Table(rule) => Ok(Some(rule)),
        _ => Err(mistyped("true or false, or a table")),
    })
}

/// A note, with its condition if it has one.
#[derive(Clone, Debug)]
pub(super) struct NoteRule {
    pub when: Option<SchemaRule>,
    pub text: String,
}

impl<'de> Deserialize<'de> for NoteRule {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct ConditionalNote {
            when: Option<SchemaRule>,
            text: String,
        }
        match Form::deserialize(source)? {
            Form::Text(text) => Ok(Self { when: None, text }),
            Form::Table(ConditionalNote { when, text }) => Ok(Self { when, text }),
            _ => Err(mistyped("a quoted string or a table, `{ when = \"RULE\", text = \"...\" }`")),
        }
    }
}

/// Burst tolerance. Without a source, it counts as assumed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JitterRule {
    pub ms: SchemaRule,
    pub source: Option<SourceId>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StationRule {
    #[serde(deserialize_with = "name")]
    pub name: String,
    #[serde(default = "machine")]
    pub scope: Scope,
    pub servers: SchemaRule,
    pub service_us: SchemaRule,
    pub mibps: Option<SchemaRule>,
    pub source: Option<SourceId>,
}

const fn machine() -> Scope {
    Scope::Machine
}

/// Parameters of a disk drive by name.
#[derive(Clone, Debug, Default)]
pub(super) struct DriveRule(pub Vec<(String, SchemaRule)>);

impl<'de> Deserialize<'de> for DriveRule {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct DriveVisitor;
        impl<'de> Visitor<'de> for DriveVisitor {
            type Value = DriveRule;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a table")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DriveRule, A::Error> {
                let mut parameters = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name == drive::SOURCE {
                        map.next_value::<SourceId>()?;
                    } else if let Ok(rule) = map.next_value() {
                        parameters.push((name, rule));
                    }
                }
                Ok(DriveRule(parameters))
            }
        }
        source.deserialize_struct("drive", &drive::KEYS, DriveVisitor)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LatencyRule {
    pub read: LawRule,
    pub write: Option<LawRule>,
    pub mibps: Option<SchemaRule>,
    pub source: Option<SourceId>,
    /// Reason for figures that no measurement or publication states.
    pub assumed: Option<String>,
    /// Published upper bound on the mean latency, in microseconds.
    pub below_us: Option<f64>,
    /// Basis of the figures; `None` if it follows from `source` and `assumed`.
    pub basis: Option<LatencyBasis>,
}

impl Default for LatencyRule {
    fn default() -> Self {
        let read = LawRule::Constant { us: SchemaRule { expr: Expr::Number(0.0), at: 0..0 } };
        let assumed = Some("no latency specified: none is modelled".to_owned());
        Self { read, write: None, mibps: None, source: None, assumed, below_us: None, basis: None }
    }
}

/// A latency distribution with its parameters; times are in microseconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "law", rename_all = "kebab-case")]
pub(super) enum LawRule {
    Constant {
        us: SchemaRule,
    },
    Uniform {
        least_us: SchemaRule,
        most_us: SchemaRule,
    },
    Exponential {
        mean_us: SchemaRule,
    },
    LogLogistic {
        shift_us: SchemaRule,
        scale_us: SchemaRule,
        shape: SchemaRule,
        most_us: SchemaRule,
    },
    LogNormal {
        shift_us: SchemaRule,
        median_us: SchemaRule,
        sigma: SchemaRule,
        most_us: SchemaRule,
    },
    /// The distribution measured on Hyperdisk.
    Networked {
        mean_us: SchemaRule,
    },
    Quantiles {
        /// Measured quantiles: pairs of a percentile and microseconds, both rising.
        #[serde(deserialize_with = "points")]
        points: Vec<(f64, f64)>,
    },
}

impl LawRule {
    fn rules(&self) -> Vec<&SchemaRule> {
        match self {
            Self::Constant { us } => vec![us],
            Self::Exponential { mean_us } | Self::Networked { mean_us } => vec![mean_us],
            Self::Uniform { least_us, most_us } => vec![least_us, most_us],
            Self::LogLogistic { shift_us, scale_us, shape, most_us } => vec![shift_us, scale_us, shape, most_us],
            Self::LogNormal { shift_us, median_us, sigma, most_us } => vec![shift_us, median_us, sigma, most_us],
            Self::Quantiles { .. } => Vec::new(),
        }
    }
}

fn points<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<(f64, f64)>, D::Error> {
    let points: Vec<(f64, f64)> = Vec::deserialize(source)?;
    let is_inside = |(percent, us): &(f64, f64)| (0.0..=100.0).contains(percent) && (0.0..=1e12).contains(us);
    let is_rising = points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
    if points.is_empty() || !is_rising || !points.iter().all(is_inside) {
        let message = "`points` must increase, with percent from 0 to 100 and us from 0 to 10^12";
        return Err(Refusal::new(message, "use pairs [percent, us], such as [[50, 900], [99, 2_000]]").error());
    }
    Ok(points)
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceRule {
    usd: Option<SchemaRule>,
    eur: Option<SchemaRule>,
    pub region: Option<String>,
    /// ID of a table of regions, whose columns are variables of the rule.
    pub regions: Option<TableId>,
    /// Other regions with the same price.
    #[serde(default, deserialize_with = "list")]
    pub also: Vec<String>,
    /// Further costs whose price is not published.
    pub lacks: Option<String>,
    #[serde(default)]
    pub note: String,
    pub source: Option<SourceId>,
    /// Figures of the tiers in the price's region, for the variable `region_tier`.
    #[serde(skip)]
    pub tiers: Vec<TierFigure>,
}

/// Column that stands for the one with the name of the volume's tier, in the variable `region_tier`.
pub(super) const TIER_FIGURE: &str = "tier";

/// The figure of a tier in a region.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TierFigure {
    pub tier: String,
    pub usd: f64,
    pub source: Option<SourceId>,
}

/// Reports whether a price of the region `own`, and of `also`, applies in another region.
pub(super) fn holds_in(own: Option<&str>, also: &[String], region: &str) -> bool {
    let Some(own) = own else { return true };
    std::iter::once(own).chain(also.iter().map(String::as_str)).any(|known| known.eq_ignore_ascii_case(region))
}

impl PriceRule {
    /// Reports whether the price applies in a region; one without a region applies everywhere.
    pub(super) fn holds_in(&self, region: &str) -> bool {
        holds_in(self.region.as_deref(), &self.also, region)
    }

    /// Returns the price with the figure of a tier; `None` if it needs one that is unknown.
    pub(super) fn of_tier(&self, tier: Option<&str>) -> Option<Cow<'_, Self>> {
        if self.tiers.is_empty() {
            return Some(Cow::Borrowed(self));
        }
        let figure = self.tiers.iter().find(|known| tier.is_some_and(|tier| known.tier.eq_ignore_ascii_case(tier)))?;
        let mut price = self.with(&|name| (name.strip_prefix("region_") == Some(TIER_FIGURE)).then_some(figure.usd));
        price.source = figure.source.clone().or(price.source);
        Some(Cow::Owned(price))
    }

    /// Returns the currency and the rule; `None` unless there is one of them.
    pub(super) fn amount(&self) -> Option<(&'static str, &SchemaRule)> {
        match (&self.usd, &self.eur) {
            (Some(usd), None) => Some(("USD", usd)),
            (None, Some(eur)) => Some(("EUR", eur)),
            _ => None,
        }
    }

    /// Returns the price of one region, with its figures in place of variables.
    pub(super) fn of_region(&self, region: &str, figure: &dyn Fn(&str) -> Option<f64>) -> Self {
        Self { region: Some(region.to_owned()), ..self.with(figure) }
    }

    fn with(&self, figure: &dyn Fn(&str) -> Option<f64>) -> Self {
        let with = |rule: &SchemaRule| SchemaRule { expr: rule.expr.with(figure), at: rule.at.clone() };
        Self { usd: self.usd.as_ref().map(with), eur: self.eur.as_ref().map(with), ..self.clone() }
    }
}

impl VolumeType {
    /// Returns the ID with the edition: `pd-ssd@2019`.
    pub(super) fn full_id(&self) -> String {
        match &self.edition {
            Some(edition) => format!("{}@{edition}", *self.id),
            None => self.id.to_string(),
        }
    }

    pub(super) fn rules(&self) -> Vec<&SchemaRule> {
        let mut rules: Vec<&SchemaRule> = self.lets.iter().map(|(_, rule)| rule).collect();
        for key in &self.keys {
            rules.extend([&key.default, &key.least, &key.most].into_iter().flatten());
            rules.extend(key.requires.as_ref().map(|requires| &requires.rule));
        }
        for limit in &self.limits {
            rules.extend(limit.rates().flat_map(|rate| [rate.read, rate.write]).flatten());
            rules.extend([&limit.when, &limit.credits, &limit.credits_at_start].into_iter().flatten());
            rules.extend(limit.jitter.as_ref().map(|jitter| &jitter.ms));
        }
        for station in &self.stations {
            rules.extend([&station.servers, &station.service_us]);
            rules.extend(&station.mibps);
        }
        rules.extend(self.drive.iter().flat_map(|drive| &drive.0).map(|(_, rule)| rule));
        rules.extend(
            [Some(&self.latency.read), self.latency.write.as_ref()].into_iter().flatten().flat_map(LawRule::rules),
        );
        rules.extend(&self.latency.mibps);
        rules.extend(self.prices.iter().filter_map(|price| price.amount()).map(|(_, rule)| rule));
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
        add(format!("region_{TIER_FIGURE}"), String::new());
    }
    add("volumes".to_owned(), "volumes".to_owned());
    volume.lets.iter().for_each(|(name, _)| add(name.clone(), String::new()));
    names
}

/// Basis of latency figures, the most certain first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LatencyBasis {
    /// Specified with the volume's name.
    #[serde(skip_deserializing)]
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
