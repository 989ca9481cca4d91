//! The catalogue of modelled volumes, and the details of one volume.

use schemars::JsonSchema;
use serde::Serialize;
use volume::LimitSource;
use volume::catalogue::{BuiltinVolume, RegionalPrice, RenewedFigure};
use volume::spec::Price;

use crate::plan::document::RateBurst;

/// All volumes of the catalogue.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogList<'a> {
    /// Volumes, provider by provider.
    pub volumes: &'a [BuiltinVolume],
}

/// A volume with the rates that it sustains for a load.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogDocument<'a> {
    /// Name with its keys.
    pub name: &'a str,
    /// Provider's name of the volume.
    pub title: &'a str,
    pub provider: &'a str,
    /// Media: `SSD, network`.
    pub media: &'a str,
    /// Date of the rules, if newer ones exist.
    pub edition: Option<&'a str>,
    /// Date of the last check of the figures.
    pub as_of: &'a str,
    pub size_bytes: u64,
    pub keys: Vec<CatalogKey<'a>>,
    pub operations: CatalogOperations,
    /// Limits and stations in the order in which requests pass them.
    pub limits: Vec<CatalogLimit<'a>>,
    /// Sustained operations per second; `null` if nothing bounds them.
    pub iops: Option<f64>,
    /// Sustained bytes per second; `null` if nothing bounds them.
    pub bytes_per_sec: Option<f64>,
    /// Name of the limit that binds in the long run.
    pub bound_by: Option<&'a str>,
    /// `null` if it does not burst above its sustained rate.
    pub burst: Option<RateBurst>,
    /// Latency without queueing; `null` for disk drives.
    pub latency: Option<CatalogLatency<'a>>,
    /// Price of a month of 730 hours; `null` if unknown.
    pub price: Option<&'a Price>,
    /// Prices in all known regions.
    pub prices: &'a [RegionalPrice],
    /// Assumptions, gaps and contradictions of the figures.
    pub notes: &'a [String],
    /// Names of machine limits that are unknown and therefore not modelled.
    pub unknown_limits: &'a [String],
    /// Figures that are not published.
    pub unknown: &'a [String],
}

/// A key of a volume.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogKey<'a> {
    pub name: &'a str,
    /// Value with its unit; empty if there is none.
    pub value: &'a str,
    /// Whether the user gave it.
    pub given: bool,
    /// Valid values: `10 GiB to 64 TiB`, `on, off`.
    pub range: &'a str,
    /// Source of the range.
    pub source: &'a str,
}

/// Operations for which the rates hold.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogOperations {
    /// Bytes per operation.
    pub bytes: u32,
    /// Whether each operation begins at the end of the previous one.
    pub sequential: bool,
    /// Fraction of reads, from 0 to 1.
    pub read_share: f64,
    /// Fraction of writes, from 0 to 1.
    pub write_share: f64,
    /// Fraction of trims, from 0 to 1.
    pub trim_share: f64,
}

/// A limit or station of a volume.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogLimit<'a> {
    pub name: &'a str,
    /// `volume`, or `machine` for a limit that all volumes of a machine share.
    pub scope: &'static str,
    /// Operations per second that it admits; `null` if it counts none of these operations, or admits any number.
    pub iops: Option<f64>,
    /// Bytes per second that it admits.
    pub bytes_per_sec: Option<f64>,
    /// Bucket of burst credits, if it has one.
    pub bucket: Option<CatalogBucket>,
    /// Rule with this volume's numbers.
    pub rule: &'a str,
    pub source: &'a LimitSource,
    /// How much more than its rate the provider is known to sustain.
    pub tolerance: Option<CatalogTolerance<'a>>,
    /// Burst tolerance; `null` if it has credits or is a station.
    pub jitter: Option<CatalogJitter<'a>>,
    /// Merging of sequential operations, if the provider merges them.
    pub merging: Option<CatalogMerging<'a>>,
}

/// Burst credits in operations of the load.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogBucket {
    /// Capacity.
    pub most: f64,
    /// Credits of a new volume.
    pub at_start: f64,
}

/// Measured excess over a limit's nominal rate.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogTolerance<'a> {
    /// Fraction of the nominal rate.
    pub fraction: f64,
    /// Whether it is not measured, but a published burst of unknown length.
    pub is_burst: bool,
    pub source: &'a LimitSource,
}

/// Time by which a limit admits operations ahead of an even schedule.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogJitter<'a> {
    /// Time in milliseconds.
    pub ms: f64,
    /// `given`, `stated` or `assumed`.
    pub basis: &'static str,
    /// Document that states it.
    pub source: Option<&'a LimitSource>,
}

/// Merging of sequential operations.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogMerging<'a> {
    /// Size of the smallest operations that are merged.
    pub from_bytes: u32,
    /// Size up to which they are merged.
    pub to_bytes: u32,
    /// Document that states it.
    pub source: &'a LimitSource,
    /// Aspects that no document states.
    pub assumed: &'a str,
}

/// Latency of a volume without queueing.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogLatency<'a> {
    pub read: CatalogLaw,
    pub write: CatalogLaw,
    /// `given`, `measured`, `published` or `assumed`.
    pub basis: &'static str,
    /// Reason for an assumed latency.
    pub assumed: Option<&'a str>,
    pub source: &'a LimitSource,
}

/// A distribution of latencies in microseconds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CatalogLaw {
    pub mean_us: f64,
    pub p50_us: f64,
    pub p99_us: f64,
    #[serde(rename = "p99.9_us")]
    pub p999_us: f64,
}

/// What an update of the catalogue read and wrote.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CatalogUpdate {
    /// ID of the provider: `aws`.
    pub provider: String,
    /// The dated file.
    pub path: String,
    /// Whether it was written; `false` for a dry run.
    pub written: bool,
    /// Date of its newest figures.
    pub date: String,
    /// Files and answers that were read.
    pub read: Vec<CatalogInput>,
    /// Regions with prices in the dated file.
    pub regions: Vec<String>,
    /// Number of prices of volumes in the dated file.
    pub volume_prices: usize,
    /// Number of prices of machines in the dated file.
    pub machine_prices: usize,
    /// Number of machines with facts in the dated file.
    pub machines: usize,
    /// Numbers of its figures beside the built-in ones.
    pub figures: FigureCounts,
    /// Items of the files that were left out.
    pub skipped: Vec<SkippedOffers>,
}

/// A file or an answer of a provider's tool.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CatalogInput {
    pub name: String,
    /// Format that was recognized.
    pub format: String,
}

/// Items that were left out for one reason.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SkippedOffers {
    pub reason: String,
    pub items: u64,
}

/// Numbers of figures of a dated file beside the built-in catalogue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FigureCounts {
    pub changed: usize,
    /// Figures that the built-in catalogue lacks.
    pub new: usize,
    pub equal: usize,
    /// Figures that the dated file lacks in its regions and machines.
    pub missing: usize,
    /// Figures with a later date in the built-in catalogue, which are not used.
    pub older: usize,
}

/// How dated files differ from the built-in catalogue, and which plans change with it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CatalogDiff {
    /// Providers with a dated file.
    pub providers: Vec<ProviderDiff>,
    /// Number of plans that were compared.
    pub compared_plans: usize,
    /// Plans whose best volume or price changes.
    pub plans: Vec<PlanChange>,
}

/// A dated file beside the built-in catalogue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProviderDiff {
    /// ID of the provider: `aws`.
    pub provider: String,
    /// The dated file.
    pub path: String,
    pub counts: FigureCounts,
    /// Figures that differ.
    pub figures: Vec<FigureChange>,
}

/// A figure that differs from the built-in one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FigureChange {
    /// Table of the catalogue: `prices`.
    pub table: String,
    /// Region or machine.
    pub row: String,
    pub column: String,
    /// Built-in figure; `null` if there is none.
    pub old: Option<f64>,
    /// Figure of the dated file; `null` if it lacks it.
    pub new: Option<f64>,
}

/// A plan that changes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanChange {
    /// The need: `16,000 IOPS, 500 GiB`.
    pub need: String,
    /// Provider whose volumes are considered.
    pub provider: String,
    /// Region of the prices; `null` for the default region.
    pub region: Option<String>,
    /// Best volume by the built-in figures.
    pub old: Option<PlanChoice>,
    /// Best volume by the dated figures.
    pub new: Option<PlanChoice>,
}

/// The cheapest volume that meets a need.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanChoice {
    /// Name with its keys.
    pub volume: String,
    pub usd_per_month: f64,
}

/// Figures that differ by a smaller fraction are equal: the built-in ones are rounded.
const ROUNDING: f64 = 1e-4;

impl ProviderDiff {
    /// Compares the figures of a dated file with the built-in ones.
    #[must_use]
    pub fn new(provider: &str, path: String, figures: &[RenewedFigure]) -> Self {
        let mut counts = FigureCounts::default();
        let mut changes = Vec::new();
        for RenewedFigure { table, row, column, old, new, is_older } in figures {
            match (old, new) {
                _ if *is_older => {
                    counts.older += 1;
                    continue;
                }
                (Some(old), Some(new)) if (new - old).abs() <= ROUNDING * old.abs().max(new.abs()) => {
                    counts.equal += 1;
                    continue;
                }
                (Some(_), Some(_)) => counts.changed += 1,
                (Some(_), None) => counts.missing += 1,
                (None, _) => counts.new += 1,
            }
            let [table, row, column] = [table, row, column].map(Clone::clone);
            changes.push(FigureChange { table, row, column, old: *old, new: *new });
        }
        Self { provider: provider.to_owned(), path, counts, figures: changes }
    }
}
