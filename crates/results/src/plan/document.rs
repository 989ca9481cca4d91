//! The document of a plan for a need.

use schemars::JsonSchema;
use serde::Serialize;
use volume::spec::Price;

use crate::answer::Answer;

/// What a plan does not consider.
pub const NOT_CONSIDERED: [&str; 2] = ["snapshots and network traffic", "taxes"];

/// A plan with its sentences.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanDocument<'a> {
    pub answer: Answer,
    /// Version of the document's layout.
    pub fathom_plan: u32,
    /// Version of Fathom.
    pub version: &'static str,
    /// Seed of the simulations.
    pub seed: u64,
    pub need: PlanNeed<'a>,
    pub exchange: PlanExchange<'a>,
    pub not_considered: [&'static str; 2],
    /// The cheapest volume that no other beats in price and latency.
    pub best: Option<&'a str>,
    /// The fastest volume that no other beats in price and latency.
    pub fastest: Option<&'a str>,
    /// The cheapest volume whose latency is not assumed.
    pub best_of_known_latency: Option<&'a str>,
    /// The fastest volume whose latency is not assumed.
    pub fastest_of_known_latency: Option<&'a str>,
    /// The cheapest volume without headroom, if none meets the need with it.
    pub without_headroom: Option<&'a str>,
    /// Volumes that no other beats in price and latency.
    pub front: Vec<&'a str>,
    /// The cheapest volume for twice the rate.
    pub next_step: Option<PlanNextStep<'a>>,
    /// The best volume, or its machine, with more of what limits it; of plans with a machine.
    pub lift: Option<PlanNextStep<'a>>,
    /// Volumes that meet the need, the cheapest first.
    pub meeting: Vec<PlanCandidate<'a>>,
    /// Volumes that do not meet the need, the nearest first.
    pub missing: Vec<PlanCandidate<'a>>,
    /// Requirements that no volume meets, even alone.
    pub impossible: Vec<PlanImpossible<'a>>,
    /// The volume nearest to all requirements, if each can be met alone but not all together.
    pub nearest: Option<&'a str>,
}

impl PlanDocument<'_> {
    /// Version of the layout.
    pub const SCHEMA: u32 = 1;
}

/// What the volumes must sustain.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanNeed<'a> {
    /// Operations per second.
    pub iops: Option<f64>,
    pub bytes_per_sec: Option<f64>,
    /// Bytes per operation.
    pub block_bytes: Option<u32>,
    /// Fraction of reads, from 0 to 1.
    pub read_share: f64,
    /// Whether operations are sequential.
    pub sequential: bool,
    /// Maximum latency at a percentile.
    pub percentile: Option<PlanPercentile>,
    /// Whether all machines read one volume instead of one each.
    pub shared: bool,
    #[serde(flatten)]
    pub conditions: PlanConditions<'a>,
    /// How the need was derived from a workload or a file, one line per element.
    pub arithmetic: &'a [String],
    /// Why the measured load is not the need, which is unknown; `null` if it is known.
    pub unknown: Option<String>,
}

/// What a plan requires beside rates, and among which volumes and machines it chooses.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanConditions<'a> {
    pub capacity_bytes: Option<u64>,
    /// Maximum mean latency in nanoseconds.
    pub mean_ns: Option<u64>,
    pub machines: u32,
    /// Whether data may be lost with the machine, as on local disks.
    pub scratch: bool,
    /// Machine type, by its provider's name.
    pub machine: Option<&'a str>,
    /// Least number of processors of the machine.
    pub vcpus: Option<u32>,
    /// Least memory of the machine.
    pub memory_bytes: Option<u64>,
    /// Architecture of the machine.
    pub arch: Option<&'a str>,
    /// Family of the machine.
    pub family: Option<&'a str>,
    /// Most volumes of one type in RAID 0; 1 for none.
    pub stripe_max: u32,
    /// Volumes to consider; all if empty.
    pub volumes: &'a [String],
    /// Regions for prices.
    pub regions: &'a [String],
    /// Budget in US dollars per month for all machines.
    pub budget_usd: Option<f64>,
    /// Planned yearly growth as a fraction.
    pub growth_per_year: f64,
    /// Planned spare capacity as a fraction.
    pub headroom: f64,
}

impl<'a> PlanConditions<'a> {
    /// Returns the conditions of a need; `mean` is the bound on the mean latency.
    #[must_use]
    pub fn new(need: &'a plan::Need, mean: Option<units::Nanos>) -> Self {
        Self {
            capacity_bytes: need.capacity,
            mean_ns: mean.map(units::Nanos::get),
            machines: need.machines,
            scratch: need.scratch,
            machine: need.machine.name.as_deref(),
            vcpus: need.machine.vcpus,
            memory_bytes: need.machine.memory_bytes,
            arch: need.machine.arch.as_deref(),
            family: need.machine.family.as_deref(),
            stripe_max: need.stripe_max,
            volumes: &need.volumes,
            regions: &need.regions,
            budget_usd: need.budget,
            growth_per_year: need.growth,
            headroom: need.headroom,
        }
    }
}

/// A percentile of latencies.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct PlanPercentile {
    /// Percentile as a fraction: 0.99.
    pub share: f64,
    /// Latency in nanoseconds.
    pub ns: u64,
}

/// Exchange rate for comparing prices.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanExchange<'a> {
    pub usd_per_eur: f64,
    /// Title of its source.
    pub title: &'a str,
    /// URL or other address of its source.
    pub address: &'a str,
    /// Date of the rate.
    pub date: &'a str,
}

/// The cheapest volume for more than the need.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanNextStep<'a> {
    /// Name of the volume with its keys.
    pub volume: &'a str,
    /// `null` if the price is unknown or incomplete.
    pub price_per_month: Option<f64>,
    /// Currency of that price.
    pub currency: Option<&'a str>,
    /// Total of volumes and machines in US dollars.
    pub usd_per_month: Option<f64>,
    /// Whether a simulation confirmed it; `null` if it was not simulated.
    pub confirmed: Option<bool>,
}

/// A requirement that no volume meets.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanImpossible<'a> {
    pub failure: PlanFailure<'a>,
    /// Name of the nearest volume with its keys.
    pub nearest: &'a str,
}

/// A requirement that a volume does not meet.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanFailure<'a> {
    /// Name of the requirement.
    pub requirement: &'static str,
    /// Name of the limit that prevents it.
    pub limit: &'a str,
    /// Requested value, in operations, bytes, seconds or US dollars; `null` if the requirement has no degree.
    pub wanted: Option<f64>,
    /// Value that the volume reaches.
    pub reached: Option<f64>,
    /// Sentence.
    pub says: String,
}

/// A volume of the catalogue at the smallest size that meets the need.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanCandidate<'a> {
    /// Name with its keys.
    pub volume: &'a str,
    /// Type in the catalogue: `gcp/pd-ssd`.
    #[serde(rename = "type")]
    pub listed: &'a str,
    /// Provider's name of the volume.
    pub title: &'a str,
    pub size_bytes: u64,
    /// Whether it meets the need.
    pub meets: bool,
    /// Requirements that it does not meet.
    pub failures: Vec<PlanFailure<'a>>,
    /// Bottleneck.
    pub limit: Option<PlanLimit<'a>>,
    /// Spare capacity of the bottleneck as a fraction of the demand; `null` if nothing limits it.
    pub headroom: Option<f64>,
    /// Requested operations per second of one machine.
    pub wanted_iops: f64,
    /// Bytes per operation.
    pub block_bytes: f64,
    /// Price of all volumes; `null` if unknown.
    pub price: Option<CandidatePrice<'a>>,
    /// Mean latency at that rate in nanoseconds; `null` without a closed form.
    pub latency_ns: Option<f64>,
    /// Latency at the requested percentile, by default the 99th, in nanoseconds.
    pub percentile_ns: Option<f64>,
    /// Operations in flight by Little's law.
    pub in_flight: Option<f64>,
    /// Jobs that keep as many in flight.
    pub jobs: Option<PlanJobs>,
    /// Sustained operations per second and gigabyte.
    pub iops_per_gb: Option<f64>,
    /// `null` if it does not burst above its sustained rate.
    pub burst: Option<RateBurst>,
    /// Number of volumes to buy.
    pub volumes: u32,
    /// Number of volumes in each RAID 0; 1 without one.
    pub stripe: u32,
    /// Machine to which it is attached: the named one, or the one that the plan chose.
    pub machine: Option<PlanMachine<'a>>,
    /// Processors to leave free, if the provider has a rule.
    pub cpus: Option<f64>,
    /// Machine types that suffice; only of the best and the fastest candidate.
    pub machines: Vec<&'a str>,
    /// Whether a simulation confirmed it; `null` if it was not simulated.
    pub confirmed: Option<bool>,
    /// Factor by which it is dimensioned above the need, after simulations of smaller ones fell short.
    pub margin: f64,
    /// Date of the last check of the figures.
    pub as_of: &'a str,
    /// Figures that are not published.
    pub unknown: &'a [String],
    /// Reason for an assumed latency; `null` if it is not assumed.
    pub latency_assumed: Option<&'a str>,
    /// Basis of the latency: `given`, `measured`, `published` or `assumed`.
    pub latency_basis: &'static str,
    /// Effect of a limit's burst tolerance on bounded latencies; `null` if the difference does not matter.
    pub jitter: Option<PlanJitter<'a>>,
    /// Limit that the volume meets only by merging sequential operations.
    pub merging: Option<PlanMerging<'a>>,
    /// Names of machine limits that are unknown and therefore not modelled.
    pub unknown_machine_limits: &'a [String],
}

/// A machine of a plan.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanMachine<'a> {
    /// Provider's name.
    pub name: &'a str,
    /// Whether the plan chose it; otherwise it was named.
    pub chosen: bool,
    pub vcpus: Option<u32>,
    pub memory_bytes: Option<u64>,
    /// Architecture.
    pub arch: Option<&'a str>,
    /// Family.
    pub family: Option<&'a str>,
    /// Price of one machine; `null` if unknown.
    pub usd_per_month: Option<f64>,
    /// Region of the price.
    pub region: Option<&'a str>,
    /// Date of the price.
    pub date: Option<&'a str>,
}

impl<'a> From<&'a plan::PlannedMachine> for PlanMachine<'a> {
    fn from(machine: &'a plan::PlannedMachine) -> Self {
        let (kind, price) = (&machine.kind, machine.price.as_ref());
        Self {
            name: &kind.name,
            chosen: machine.is_chosen,
            vcpus: (kind.vcpus > 0).then_some(kind.vcpus),
            memory_bytes: kind.memory_bytes,
            arch: kind.arch.as_deref(),
            family: kind.family.as_deref(),
            usd_per_month: price.map(|price| price.usd_per_month),
            region: price.map(|price| &*price.region),
            date: price.map(|price| price.source.date.as_str()),
        }
    }
}

/// The lowest cap of a volume.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanLimit<'a> {
    pub name: &'a str,
    /// Operations per second; `null` if unbounded.
    pub iops: Option<f64>,
}

/// Jobs that keep enough operations in flight.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanJobs {
    pub numjobs: u64,
    /// Queue depth of each job.
    pub iodepth: u64,
}

/// A rate above the sustained one, while credits last.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RateBurst {
    /// Operations per second; `null` if unbounded.
    pub iops: Option<f64>,
    /// Duration in seconds; `null` if unlimited.
    pub secs: Option<f64>,
}

/// Latencies with and without the burst tolerance of a limit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanJitter<'a> {
    /// Name of the limit.
    pub limit: &'a str,
    /// Burst tolerance in milliseconds.
    pub ms: f64,
    /// Its basis: `given`, `stated` or `assumed`.
    pub basis: &'static str,
    /// Whether a simulation computed the latencies.
    pub simulated: bool,
    /// Mean latency, if it is bounded and differs.
    pub latency: Option<JitterLatency>,
    /// Percentile, if it is bounded and differs.
    pub percentile: Option<JitterLatency>,
}

/// A latency with and without burst tolerance.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JitterLatency {
    pub with_ns: f64,
    pub without_ns: f64,
}

/// Merging of sequential operations by the provider.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanMerging<'a> {
    /// Limit that merges them.
    pub limit: &'a str,
    /// Operations per second that the limit sustains without merging.
    pub iops_each: f64,
    /// Title of the document that states it.
    pub source: &'a str,
    /// Date of that document.
    pub date: &'a str,
    /// Aspects that no document states.
    pub assumed: &'a str,
}

/// A price of all volumes of a candidate, comparable with others.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MonthlyPrice<'a> {
    #[serde(flatten)]
    pub price: &'a Price,
    /// Price of the machines in US dollars; `null` without one or if it is unknown.
    pub machines_usd_per_month: Option<f64>,
    /// Total of volumes and machines in US dollars, in which candidates are compared.
    pub usd_per_month: f64,
    /// Costs that the total does not include, because their price is unknown.
    pub excludes: Option<&'a str>,
    /// Requested region, if the price is published under another name.
    pub stands_for: Option<&'a str>,
    /// Date of the price.
    pub date: &'a str,
}

impl<'a> From<&'a plan::MonthlyCost> for MonthlyPrice<'a> {
    fn from(money: &'a plan::MonthlyCost) -> Self {
        Self {
            price: &money.price,
            machines_usd_per_month: money.machines_usd,
            usd_per_month: money.usd_per_month,
            excludes: money.lacks.as_deref(),
            stands_for: money.stands_for.as_deref(),
            date: &money.price.source.date,
        }
    }
}

/// A price with what each rate costs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CandidatePrice<'a> {
    #[serde(flatten)]
    pub price: MonthlyPrice<'a>,
    /// US dollars per month for each sustained operation per second.
    pub per_iops: Option<f64>,
    /// US dollars per month for each sustained MiB per second.
    pub per_mibps: Option<f64>,
}
