//! The specification of a volume, with sources.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

use crate::hard_disk::HardDisk;
use crate::law::Law;
use crate::request::{PerRequestKind, RequestKind};

/// A volume attached to a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// Name that requests it again: `gcp/pd-ssd@2019,size=2048GB,vcpus=32`.
    pub name: String,
    /// Provider's name of the volume: `SSD persistent disk (zonal)`.
    pub title: String,
    /// Capacity.
    pub size: Bytes,
    /// Name of its machine; volumes with equal names share the machine's stations and limits.
    pub host: String,
    /// Rate limits. All that apply to a request must admit it.
    pub limits: Vec<Limit>,
    /// Stations that a request passes first, on the machine and in the network, in this order.
    pub stations: Vec<Station>,
    /// Service of admitted requests.
    pub behaviour: Behaviour,
    /// Equal volumes that it consists of, each with the limits and the behaviour of the specification; `None` for one.
    pub striping: Option<Striping>,
    /// Page cache of its machine, for jobs without `direct=1`.
    pub buffering: Buffering,
    /// Price for a month of 730 hours; `None` if unknown.
    pub price: Option<Price>,
    /// Names of machine limits that are unknown and therefore not modelled.
    pub unknown_limits: Vec<String>,
    /// Assumptions, gaps and contradictions of the figures.
    pub notes: Vec<String>,
}

/// Beginning of the note on unknown machine limits.
pub(crate) const MACHINE_UNKNOWN: &str = "machine limit unknown";
pub(crate) const ON_REQUEST: &str = "on request only";

impl Spec {
    /// Returns the note about unknown limits of the machine; `None` if all are known or no machine is named.
    #[must_use]
    pub fn unknown_machine(&self) -> Option<&str> {
        self.notes.iter().map(String::as_str).find(|note| note.starts_with(MACHINE_UNKNOWN))
    }

    /// Returns the note that the machine takes the volume only after a request to the provider, if it does.
    #[must_use]
    pub fn on_request(&self) -> Option<&str> {
        self.notes.iter().map(String::as_str).find(|note| note.starts_with(ON_REQUEST))
    }
}

/// RAID 0: several equal volumes, among which consecutive units of the address space alternate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Striping {
    /// Number of volumes, at least 2.
    pub members: u32,
    /// Consecutive bytes on one of them (`mdadm --chunk`, `lvcreate --stripesize`).
    pub unit: u32,
}

impl Striping {
    /// Returns the parts of a range, one for each volume that it concerns: number of the volume, offset and length on
    /// it. Units of one volume are consecutive there, so that a large range has at most one part on each.
    pub fn parts(self, offset: u64, length: u32) -> impl Iterator<Item = (usize, u64, u32)> {
        let (unit, members) = (u64::from(self.unit), u64::from(self.members));
        let end = offset + u64::from(length);
        let (first, last) = (offset / unit, end.saturating_sub(1).max(offset) / unit);
        let touched = (last - first + 1).min(members);
        (0..touched).map(move |index| {
            let start = first + index;
            let within = if index == 0 { offset % unit } else { 0 };
            let units = (last - start) / members + 1;
            // All units are whole, except the first and the last of the range.
            let final_unit = start + (units - 1) * members;
            let beyond = (final_unit + 1) * unit - end.min((final_unit + 1) * unit);
            let bytes = units * unit - within - beyond;
            ((start % members) as usize, start / members * unit + within, bytes as u32)
        })
    }

    /// Returns the parts of an aligned range of this length, and the bytes of each.
    #[must_use]
    pub fn aligned_parts(self, length: u32) -> (u32, u32) {
        let parts = length.div_ceil(self.unit).clamp(1, self.members);
        (parts, length.div_ceil(parts))
    }
}

/// Page cache settings of a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffering {
    /// Memory of the machine's page cache, if this volume specifies it; volumes of one machine must agree.
    pub memory: Option<Bytes>,
    /// Readahead for sequential reads (`read_ahead_kb`).
    pub read_ahead: Option<Bytes>,
}

/// Source of a figure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitSource {
    /// Title of the document.
    pub title: String,
    /// URL or other address.
    #[serde(default)]
    pub address: String,
    /// Date, as far as it is known.
    #[serde(default)]
    pub date: String,
}

/// A rate limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Name in reports: `volume IOPS`, `machine write throughput`.
    pub name: String,
    /// Whether the volume or its machine owns it.
    pub scope: Scope,
    pub counted: CountedUnit,
    /// Size of the operations that it counts; `None` if each request counts as one operation, or with its bytes.
    pub io_unit: Option<IoUnit>,
    /// Units per second for requests of each kind; `None` for kinds that are not counted. All kinds that are counted
    /// share one budget: a read costs 1/`read` seconds, a write 1/`write`.
    pub rate: PerRequestKind<Option<u64>>,
    /// Only larger requests than this, in bytes, are counted: some providers allow fewer large operations than small
    /// ones.
    pub larger_than: u32,
    /// Burst after a pause, on top of the rate. Plain limits allow a little, so that the jitter of arrivals does not
    /// count as load; credit buckets allow the whole bucket.
    pub burst: Burst,
    /// How much more than its rate the provider is known to sustain; `None` if nothing is published or measured.
    pub tolerance: Option<Tolerance>,
    /// Basis for the merging of sequential operations; `None` if they are not merged.
    pub merging: Option<Merging>,
    /// Rule with this volume's numbers: `min(30 × 2048 GB, 60,000)`.
    pub rule: String,
    /// Source of the rule.
    pub source: LimitSource,
}

impl Limit {
    /// Returns the requests of one kind and length per second that it sustains, none of them sequential; `None` if it
    /// does not count them.
    #[must_use]
    pub fn requests_per_sec(&self, kind: RequestKind, length: u32) -> Option<f64> {
        let rate = (*self.rate.get(kind)).filter(|_| length > self.larger_than || self.larger_than == 0)?;
        Some(rate as f64 / self.units(length).max(1) as f64)
    }

    /// Returns the units that a request of this length counts as if it does not continue a sequential run.
    #[must_use]
    pub fn units(&self, length: u32) -> u64 {
        let whole = |unit: IoUnit| u64::from(length.div_ceil(unit.bytes.max(1))).max(1);
        match (self.counted, self.io_unit) {
            (CountedUnit::Operations, io_unit) => io_unit.map_or(1, whole),
            (CountedUnit::Bytes, Some(unit)) => whole(unit) * u64::from(unit.bytes),
            (CountedUnit::Bytes, None) => u64::from(length),
        }
    }

    /// Returns the unit and the minimum bytes of sequential operations that are merged; `None` if they are not merged.
    #[must_use]
    pub fn merges(&self) -> Option<(u32, u32)> {
        let unit = self.io_unit?;
        Some((unit.bytes, unit.merged_from?))
    }
}

/// Measured excess over a limit's nominal rate. Models keep to the nominal rate; measurements up to this one count as
/// having reached the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// Thousandths of the nominal rate.
    pub per_mille: u32,
    /// Whether it is not measured, but a published burst of unknown length.
    pub is_burst: bool,
    /// Source of the figure.
    pub source: LimitSource,
}

impl Tolerance {
    /// Returns the excess as a fraction of the nominal rate.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        f64::from(self.per_mille) / 1000.0
    }
}

/// How a provider counts sequential operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merging {
    /// Document that states it.
    pub source: LimitSource,
    /// Aspects that no document states.
    pub assumed: String,
}

/// Burst after a pause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Burst {
    /// As much as the rate allows in this time.
    Jitter(Jitter),
    /// A bucket of credits, in units of the limit.
    Credits {
        /// Capacity.
        most: u64,
        /// Level at the start.
        at_start: u64,
    },
}

/// How far ahead of an even schedule a limit admits requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// Time by which a request may be early.
    pub time: Nanos,
    /// Basis of that time.
    pub basis: JitterBasis,
}

impl Jitter {
    /// Creates a jitter that no document states.
    #[must_use]
    pub const fn assumed(time: Nanos) -> Self {
        Self { time, basis: JitterBasis::Assumed }
    }

    /// Creates a jitter that the user specified.
    #[must_use]
    pub const fn given(time: Nanos) -> Self {
        Self { time, basis: JitterBasis::Given }
    }
}

impl Default for Jitter {
    /// Arrivals of a steady load bunch at random. A limit without jitter would lose a few per cent of its rate to that,
    /// which no provider is known to do. The jitter of real limits is not published. It also decides the tail near a
    /// limit, so it is a key of limits and volumes, and results state the wait without it.
    fn default() -> Self {
        Self::assumed(Nanos::from_millis(5))
    }
}

/// Basis of a limit's jitter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JitterBasis {
    /// Specified with the volume's name.
    Given,
    /// Stated by a document or a measurement.
    Stated(LimitSource),
    /// Neither.
    Assumed,
}

impl JitterBasis {
    /// Returns `given`, `stated` or `assumed`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Stated(_) => "stated",
            Self::Assumed => "assumed",
        }
    }
}

/// Scope of a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One volume, on all machines that use it.
    #[default]
    Volume,
    /// All volumes on the machine with a limit of this name.
    Machine,
}

/// Reports whether a limit's name marks it as the machine's own, by the catalogue's convention: limits of volumes may
/// be shared on a machine too.
#[must_use]
pub fn names_machine(limit: &str) -> bool {
    limit.starts_with("machine")
}

/// Unit of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedUnit {
    Operations,
    Bytes,
}

/// Size of the operations that a limit counts: a larger request counts as several, a smaller one as a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoUnit {
    /// Bytes of one operation.
    pub bytes: u32,
    /// Minimum bytes of sequential requests that are merged until a unit is full; `None` if each counts by itself.
    pub merged_from: Option<u32>,
}

/// Several servers with one queue: the CPUs of a machine, the threads of a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Station {
    /// Name in reports: `vCPUs`.
    pub name: String,
    /// Whether the volume or its machine owns it.
    pub scope: Scope,
    /// Requests served at once.
    pub servers: u32,
    /// Service time of a request of any size, in nanoseconds with [`Station::FRACTION_BITS`] fractional bits.
    pub service_fixed: u64,
    /// Additional transfer rate of one server, in bytes per second.
    pub bytes_per_sec: Option<u64>,
    /// Rule or measurement.
    pub rule: String,
    /// Source of the rule.
    pub source: LimitSource,
}

impl Station {
    /// Fractional bits of service times: 1/1024 ns makes a million operations per second exact to 10^-6.
    pub const FRACTION_BITS: u32 = 10;

    /// Converts nanoseconds to [`Station::service_fixed`].
    #[must_use]
    pub fn service_ns(ns: f64) -> u64 {
        libm::round(ns * f64::from(1 << Self::FRACTION_BITS)) as u64
    }
}

/// Service of admitted requests.
#[derive(Clone, Debug, PartialEq)]
pub enum Behaviour {
    /// An independent random latency per request.
    Latency(LatencySpec),
    /// The mechanics of one disk drive.
    Drive(HardDisk),
}

/// Latency without queueing.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencySpec {
    /// Latency of each kind of request.
    pub law: PerRequestKind<Law>,
    /// Latency of reads of blocks that were never written; `None` if it does not differ.
    pub unwritten: Option<Law>,
    /// Fraction of the volume that is written at the start, from 0 to 1.
    pub written_share: f64,
    /// Transfer rate of one request in bytes per second, added to its latency.
    pub bytes_per_sec: Option<u64>,
    pub spells: Option<SlowPeriods>,
    /// Source of the distributions.
    pub source: LimitSource,
}

/// Slow periods: two states with exponential durations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowPeriods {
    /// Mean time from the end of one to the start of the next.
    pub every: Nanos,
    /// Mean duration.
    pub lasting: Nanos,
    /// Factor by which latencies grow, at least 1.
    pub factor: f64,
}

/// Price of a volume.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Price {
    /// Currency code: `USD`, `EUR`.
    pub currency: String,
    /// Price for a month of 730 hours.
    pub per_month: f64,
    /// Components of the price.
    pub parts: PriceParts,
    /// Region in which it applies, if stated: `us-central1`.
    pub region: Option<String>,
    /// Further costs whose price is not published.
    pub lacks: Option<String>,
    /// Calculation: `2048 GB × 0.170`.
    pub rule: String,
    /// Source of the prices.
    pub source: LimitSource,
}

impl Price {
    /// Returns the price of several volumes.
    #[must_use]
    pub fn times(&self, copies: f64) -> Self {
        let PriceParts { capacity, iops, throughput, performance } = self.parts;
        let [capacity, iops, throughput, performance] =
            [capacity, iops, throughput, performance].map(|part| part * copies);
        let parts = PriceParts { capacity, iops, throughput, performance };
        Self { per_month: self.per_month * copies, parts, ..self.clone() }
    }
}

/// Components of a monthly price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PriceParts {
    /// For capacity and everything included with it.
    pub capacity: f64,
    /// For provisioned operations per second.
    pub iops: f64,
    /// For provisioned bytes per second.
    pub throughput: f64,
    /// For units that buy both operations and bytes per second.
    pub performance: f64,
}
