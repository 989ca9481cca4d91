//! The specification of a volume, with sources.

use units::{Bytes, Nanos};

use crate::hard_disk::HardDisk;
use crate::law::Law;
use crate::request::{PerRequestKind, RequestKind};

/// One volume, on the machine it hangs on.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// As it can be asked for again: `gcp/pd-ssd@2019,size=2048GB,vcpus=32`.
    pub name: String,
    /// In the provider's words: `SSD persistent disk (zonal)`.
    pub title: String,
    /// How much it holds.
    pub size: Bytes,
    /// Which machine it hangs on; volumes with equal names share that machine's stations and limits.
    pub host: String,
    /// What holds it back. All limits that apply to a request must admit it.
    pub limits: Vec<Limit>,
    /// What a request passes before it, on the machine and in the network, in this order.
    pub stations: Vec<Station>,
    /// How long it takes once it is admitted.
    pub behaviour: Behaviour,
    /// What its machine does before anything reaches it, where a job is not `direct=1`.
    pub buffering: Buffering,
    /// What it costs in a month of 730 hours, where that is known.
    pub price: Option<Price>,
    /// Limits of its machine that are not known, by name. The model has none in their place.
    pub unknown_limits: Vec<String>,
    /// What users of these numbers should know: assumptions, gaps, contradictions.
    pub notes: Vec<String>,
}

/// Beginning of the note on unknown machine limits.
pub(crate) const MACHINE_UNKNOWN: &str = "machine limit unknown";

impl Spec {
    /// The note that names limits of its machine which are not known; `None` where all are, or no machine is named.
    #[must_use]
    pub fn unknown_machine(&self) -> Option<&str> {
        self.notes.iter().map(String::as_str).find(|note| note.starts_with(MACHINE_UNKNOWN))
    }
}

/// Page cache settings of a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffering {
    /// The machine's memory for pages, if this volume says how much it is; those of one machine that do agree.
    pub memory: Option<Bytes>,
    /// How far is read ahead of those who read the volume from front to back (`read_ahead_kb`).
    pub read_ahead: Option<Bytes>,
}

/// Source of a figure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitSource {
    /// What it is called.
    pub title: String,
    /// Where it stands.
    pub address: String,
    /// Its date, as far as it is known.
    pub date: String,
}

/// A rate limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What it is, as it is reported: `volume IOPS`, `machine write throughput`.
    pub name: String,
    /// Who shares it.
    pub scope: Scope,
    /// What it counts.
    pub counted: CountedUnit,
    /// How much of it may pass in a second for requests of each kind; `None` where they are not counted. Where
    /// several kinds are counted they draw on one budget: a read costs 1/`read` seconds, a write 1/`write`.
    pub rate: PerRequestKind<Option<u64>>,
    /// Only requests of more bytes than this are counted: some providers allow fewer large operations than small ones.
    pub larger_than: u32,
    /// How much may pass at once after a pause, on top of the rate. For plain limits a little, so that the
    /// jitter of arrivals does not count as load; for credit buckets the whole bucket.
    pub burst: Burst,
    /// How much more than its rate the provider is known to sustain; `None` where nothing is published or measured.
    pub tolerance: Option<Tolerance>,
    /// What the merging of sequential operations rests on; `None` where they are not merged.
    pub merging: Option<Merging>,
    /// The rule it follows from, with this volume's numbers: `min(30 × 2048 GB, 60,000)`.
    pub rule: String,
    /// Where the rule is from.
    pub source: LimitSource,
}

impl Limit {
    /// How many requests of one kind and length it lets pass in a second, none of them continuing another; `None` where
    /// it does not count them.
    #[must_use]
    pub fn requests_per_sec(&self, kind: RequestKind, length: u32) -> Option<f64> {
        let rate = (*self.rate.get(kind)).filter(|_| length > self.larger_than || self.larger_than == 0)?;
        let units = match self.counted {
            CountedUnit::Bytes => length,
            CountedUnit::Operations { unit: None, .. } => 1,
            CountedUnit::Operations { unit: Some(unit), .. } => length.div_ceil(unit.max(1)),
        };
        Some(rate as f64 / f64::from(units.max(1)))
    }
}

/// How far above a limit's nominal rate real volumes were measured. Models keep to the nominal rate; measurements up to
/// here have reached the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// Thousandths of the nominal rate.
    pub per_mille: u32,
    /// Where the measurement is from.
    pub source: LimitSource,
}

impl Tolerance {
    /// The same as a fraction of the nominal rate.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        f64::from(self.per_mille) / 1000.0
    }
}

/// How a provider counts sequential operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merging {
    /// Where it is documented.
    pub source: LimitSource,
    /// What of it no document states.
    pub assumed: String,
}

/// Burst after a pause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Burst {
    /// As much as the rate gives in this time.
    Jitter(Jitter),
    /// A bucket of credits, in units of the limit.
    Credits {
        /// What it holds at most.
        most: u64,
        /// What it holds at the start.
        at_start: u64,
    },
}

/// How far ahead of an even schedule a limit admits requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// How far.
    pub time: Nanos,
    /// Where the time is from.
    pub basis: JitterBasis,
}

impl Jitter {
    /// A jitter that no document states.
    #[must_use]
    pub const fn assumed(time: Nanos) -> Self {
        Self { time, basis: JitterBasis::Assumed }
    }

    /// A jitter that was asked for.
    #[must_use]
    pub const fn given(time: Nanos) -> Self {
        Self { time, basis: JitterBasis::Given }
    }
}

impl Default for Jitter {
    /// Arrivals of a steady load bunch by chance. A limit that forgot every gap at once would lose a few per cent of its
    /// rate to them, which no provider is known to do. How much real limits forgive is not published.
    fn default() -> Self {
        Self::assumed(Nanos::from_millis(5))
    }
}

/// Basis of a limit's jitter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JitterBasis {
    /// It was given with the volume's name.
    Given,
    /// A document or a measurement states it.
    Stated(LimitSource),
    /// Neither.
    Assumed,
}

impl JitterBasis {
    /// `given`, `stated`, `assumed`.
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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The volume alone, however many machines use it.
    Volume,
    /// All volumes on the machine that carry a limit of this name.
    Machine,
}

/// Whether a limit's name says that it is the machine's own, as the catalogue names them: those of volumes may be shared
/// on a machine too.
#[must_use]
pub fn names_machine(limit: &str) -> bool {
    limit.starts_with("machine")
}

/// Unit of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedUnit {
    /// Operations. One of more than `unit` bytes counts as several, if a unit is given.
    Operations {
        /// Bytes of one operation as it is counted.
        unit: Option<u32>,
        /// Operations of at least so many bytes that continue where the last one ended are counted as one until a unit is
        /// full; `None` where each is counted.
        merged_from: Option<u32>,
    },
    /// Bytes.
    Bytes,
}

/// A place with a number of servers and a queue: the processors of a machine, the threads of a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Station {
    /// What it is, as it is reported: `vCPUs`.
    pub name: String,
    /// Who shares it.
    pub scope: Scope,
    /// How many requests it serves at once.
    pub servers: u32,
    /// How long one takes, whatever its size, in nanoseconds, with this many fractional bits: see
    /// [`Station::FRACTION_BITS`].
    pub service_fixed: u64,
    /// Bytes a second of one server, on top of that.
    pub bytes_per_sec: Option<u64>,
    /// The rule or the measurement.
    pub rule: String,
    /// Where it is from.
    pub source: LimitSource,
}

impl Station {
    /// Service times are kept to 1/1024 of a nanosecond, so that a million operations a second are exact to 10^-6.
    pub const FRACTION_BITS: u32 = 10;

    /// A service time of `ns` nanoseconds as [`Station::service_fixed`] has it.
    #[must_use]
    pub fn service_ns(ns: f64) -> u64 {
        libm::round(ns * f64::from(1 << Self::FRACTION_BITS)) as u64
    }
}

/// Service of admitted requests.
#[derive(Clone, Debug, PartialEq)]
pub enum Behaviour {
    /// By chance, each for itself.
    Latency(LatencySpec),
    /// By the movements of one disk drive.
    Drive(HardDisk),
}

/// Latency without queueing.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencySpec {
    /// Of each kind of request.
    pub law: PerRequestKind<Law>,
    /// Reads of blocks that were never written, where they differ.
    pub unwritten: Option<Law>,
    /// How much of the volume is written at the start, from 0 to 1.
    pub written_share: f64,
    /// Bytes a second of one request's transfer, added to its latency.
    pub bytes_per_sec: Option<u64>,
    /// Slow spells.
    pub spells: Option<Spells>,
    /// Where the laws are from.
    pub source: LimitSource,
}

/// Times in which everything takes longer: two states with exponential durations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spells {
    /// From the end of one to the start of the next, on average.
    pub every: Nanos,
    /// How long one lasts, on average.
    pub lasting: Nanos,
    /// How many times longer everything takes, at least 1.
    pub factor: f64,
}

/// Price of a volume.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// `USD`, `EUR`.
    pub currency: String,
    /// In a month of 730 hours.
    pub per_month: f64,
    /// What of that is paid for what.
    pub parts: PriceParts,
    /// Where it holds, where that is said: `us-central1`.
    pub region: Option<String>,
    /// Further costs whose price is not published.
    pub lacks: Option<String>,
    /// How it is made up: `2048 GB × 0.170`.
    pub rule: String,
    /// Where the prices are from.
    pub source: LimitSource,
}

/// Components of a monthly price.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PriceParts {
    /// For capacity, and for whatever comes with it.
    pub capacity: f64,
    /// For provisioned operations a second.
    pub iops: f64,
    /// For provisioned bytes a second.
    pub throughput: f64,
    /// For units that buy operations and bytes a second together.
    pub performance: f64,
}
