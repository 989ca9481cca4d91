//! The catalogue of modelled volumes, and the details of one volume.

use schemars::JsonSchema;
use serde::Serialize;
use volume::LimitSource;
use volume::catalogue::{BuiltinVolume, RegionalPrice};
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
