//! A volume of the catalogue at the smallest size that meets the need.

use units::{Nanos, requests_in_flight};
use volume::catalogue::{About, LatencyBasis};
use volume::closed::{Cap, Load};
use volume::spec::Price;
use volume::{Jitter, Merging, Spec};

use crate::machine::PlannedMachine;
use crate::money::Currency;

/// A volume with a size, provisioned values and perhaps a machine.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Type in the catalogue: `gcp/pd-ssd`.
    pub listed: String,
    /// Resolved volume.
    pub spec: Spec,
    /// Descriptive facts.
    pub about: About,
    /// Machine to which it is attached: named, or chosen by the plan.
    pub machine: Option<PlannedMachine>,
    /// Requirements that it does not meet at its largest; empty if it meets the need.
    pub failures: Vec<UnmetNeed>,
    /// Price for all machines; `None` if unknown.
    pub price: Option<MonthlyCost>,
    /// Bottleneck: the lowest cap under the demand that comes closest to it.
    pub limit: Option<Cap>,
    /// Spare capacity of the bottleneck as a fraction of the demand; negative if it does not meet the need.
    pub headroom: f64,
    /// Number of machines that use it, together or one volume each.
    pub machines: u32,
    /// Number of volumes to buy, or of sets in RAID 0: one if machines share it, otherwise one per machine.
    pub volumes: u32,
    /// Requested operations per second of one machine.
    pub rate: f64,
    /// Bytes per operation.
    pub block: f64,
    /// Mean latency at that rate, in seconds; `None` without a closed form.
    pub mean_secs: Option<f64>,
    /// Mean latency without queueing, in seconds.
    pub alone_secs: Option<f64>,
    /// Latency at the requested percentile, by default the 99th, in seconds.
    pub percentile_secs: Option<f64>,
    /// Bounded latencies without jitter; `None` if the difference does not matter.
    pub jitter: Option<JitterEffect>,
    /// Limit that the volume meets only by merging sequential operations; `None` if there is none.
    pub merging: Option<MergingEffect>,
    /// Operations in flight by Little's law: rate times mean latency.
    pub in_flight: Option<f64>,
    /// IOPS while credits last and their duration in seconds; `None` if not above the sustained rate.
    pub burst: Option<(f64, f64)>,
    /// Processors to leave free, if the provider has a rule.
    pub cpus: Option<f64>,
    /// Whether a simulation confirmed it; `None` if it was not simulated.
    pub survived: Option<bool>,
    /// Factor by which it is dimensioned above the need, after simulations of smaller ones fell short.
    pub margin: f64,
}

/// Latencies with and without the jitter of a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct JitterEffect {
    /// Limit whose jitter saves most.
    pub limit: String,
    /// Jitter of that limit.
    pub jitter: Jitter,
    /// Mean latency in seconds, if it is bounded and differs.
    pub mean_secs: Option<JitterComparison>,
    /// Percentile in seconds, if it is bounded and differs.
    pub percentile_secs: Option<JitterComparison>,
    /// Whether a simulation computed it; otherwise the plan's formulas with their safety factor.
    pub is_simulated: bool,
}

/// A figure with and without jitter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JitterComparison {
    /// With jitter.
    pub with: f64,
    /// Without jitter.
    pub without: f64,
}

impl JitterComparison {
    /// Relative difference above which an exceeded bound matters.
    const DIFFERS: f64 = 0.05;
    /// Relative difference above which it matters even within the bound.
    const MATTERS: f64 = 0.2;

    /// Returns both figures if their difference matters for a bound in seconds.
    #[must_use]
    pub fn that_matter(with: f64, without: f64, bound: f64) -> Option<Self> {
        let longer = without / with.max(f64::MIN_POSITIVE) - 1.0;
        let matters = longer > Self::MATTERS || longer > Self::DIFFERS && without > bound;
        (matters && without.is_finite()).then_some(Self { with, without })
    }
}

/// Effect of merging sequential operations.
#[derive(Clone, Debug, PartialEq)]
pub struct MergingEffect {
    /// Limit that merges them.
    pub limit: String,
    /// Basis of the merging.
    pub merging: Merging,
    /// Operations per second that the limit sustains without merging.
    pub iops: f64,
}

/// Price of all volumes and machines of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct MonthlyCost {
    /// Price of the volumes in the currency of the provider.
    pub price: Price,
    /// Price of the machines in US dollars; `None` if there is none or it is unknown.
    pub machines_usd: Option<f64>,
    /// Total in US dollars, in which candidates are compared.
    pub usd_per_month: f64,
    /// Total in the currency of the need.
    pub per_month: f64,
    pub currency: Currency,
    /// What it does not include, because its price is unknown.
    pub lacks: Option<String>,
    /// Requested region, if the price is published under another name.
    pub stands_for: Option<String>,
}

impl MonthlyCost {
    /// Reports whether the price is complete.
    #[must_use]
    pub const fn whole(&self) -> bool {
        self.lacks.is_none()
    }
}

/// A requirement that is not met.
#[derive(Clone, Debug, PartialEq)]
pub struct UnmetNeed {
    /// Kind of requirement.
    pub requirement: Requirement,
    /// Name of the limit that prevents it.
    pub limit: String,
    /// Requested value, in the unit of the requirement.
    pub wanted: f64,
    /// Maximum or minimum that the volume reaches.
    pub reached: f64,
}

impl UnmetNeed {
    /// Creates one of a requirement without a degree.
    pub(crate) fn absolute(requirement: Requirement, limit: String) -> Self {
        Self { requirement, limit, wanted: 0.0, reached: 0.0 }
    }

    /// Returns the factor by which it falls short; infinite for requirements without a degree, and for a latency that
    /// grows without end.
    #[must_use]
    pub fn short_by(&self) -> f64 {
        if self.is_without_end() {
            return f64::INFINITY;
        }
        let (more, less) = match self.requirement {
            Requirement::Iops | Requirement::Throughput | Requirement::Capacity => (self.wanted, self.reached),
            Requirement::Mean | Requirement::Percentile | Requirement::Budget => (self.reached, self.wanted),
            Requirement::Sharing
            | Requirement::Size
            | Requirement::Durability
            | Requirement::Machine
            | Requirement::Price
            | Requirement::Unknown => return f64::INFINITY,
        };
        if less > 0.0 { more / less } else { f64::INFINITY }
    }

    /// Reports whether a queue grows without end, so that the latency reached is the one without queueing.
    #[must_use]
    pub fn is_without_end(&self) -> bool {
        matches!(self.requirement, Requirement::Mean | Requirement::Percentile) && self.reached < self.wanted
    }
}

/// Kinds of requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Requirement {
    /// Operations per second.
    Iops,
    /// Bytes per second.
    Throughput,
    /// Capacity in bytes.
    Capacity,
    /// Mean latency, in seconds.
    Mean,
    /// Percentile of the latency, in seconds.
    Percentile,
    /// One volume for many machines.
    Sharing,
    /// A size on sale.
    Size,
    /// Data survive the loss of the machine.
    Durability,
    /// The named machine.
    Machine,
    /// US dollars per month.
    Budget,
    /// A known price, if there is a budget.
    Price,
    /// A closed form for this load on this volume.
    Unknown,
}

impl Candidate {
    /// Reports whether the latency is measured, published or given, and not assumed.
    #[must_use]
    pub fn has_known_latency(&self) -> bool {
        self.about.latency_basis < LatencyBasis::Assumed
    }

    /// Returns the number of volumes in RAID 0; 1 without one.
    #[must_use]
    pub fn members(&self) -> u32 {
        self.spec.striping.map_or(1, |striping| striping.members)
    }

    /// Reports whether its bottleneck is the machine rather than the volumes.
    #[must_use]
    pub fn is_limited_by_machine(&self) -> bool {
        self.limit.as_ref().is_some_and(|cap| volume::names_machine(&cap.name))
    }

    /// Reports whether bounds on the latency are kept by what is measured or published, and not by an assumption alone.
    #[must_use]
    pub fn latency_is_within(&self, mean: Option<Nanos>, has_percentile: bool) -> bool {
        let published = self.about.latency_below_secs;
        let is_published = |bound: Nanos| published.is_some_and(|below| below <= bound.secs_f64());
        self.has_known_latency() || !has_percentile && mean.is_none_or(is_published)
    }

    /// Reports whether it is a disk drive, whose latency depends on the operations in flight.
    #[must_use]
    pub fn is_drive(&self) -> bool {
        matches!(self.spec.behaviour, volume::Behaviour::Drive(_))
    }

    /// Reports whether machines have limits for it and none is named.
    #[must_use]
    pub fn depends_on_unnamed_machine(&self) -> bool {
        self.about.keys.iter().any(|key| key.name == "machine" && key.value.is_empty())
    }

    /// Reports whether it meets the need.
    #[must_use]
    pub fn meets(&self) -> bool {
        self.failures.is_empty() && self.survived != Some(false)
    }

    /// Returns the failures that count for the distance from the need. Where the rate is not sustained, a queue without end
    /// follows from that.
    pub(crate) fn own_failures(&self) -> impl Iterator<Item = &UnmetNeed> {
        let of_rate = |failure: &UnmetNeed| matches!(failure.requirement, Requirement::Iops | Requirement::Throughput);
        let lacks_rate = self.failures.iter().any(of_rate);
        self.failures.iter().filter(move |failure| !(lacks_rate && failure.is_without_end()))
    }

    /// Returns the complete monthly price, if known.
    #[must_use]
    pub fn known_price(&self) -> Option<&MonthlyCost> {
        self.price.as_ref().filter(|price| price.whole())
    }

    /// Returns the operations per second that the volumes sustain for all machines.
    fn given_iops(&self) -> Option<f64> {
        Some(self.limit.as_ref()?.iops * f64::from(self.machines))
    }

    /// Returns the monthly price per sustained operation per second, in US dollars.
    #[must_use]
    pub fn price_per_iops(&self) -> Option<f64> {
        Some(self.known_price()?.usd_per_month / self.given_iops()?)
    }

    /// Returns the monthly price per MiB/s, in US dollars.
    #[must_use]
    pub fn price_per_mibps(&self) -> Option<f64> {
        Some(self.price_per_iops()? * f64::from(1_u32 << 20) / self.block)
    }

    /// Returns the operations per second per GB.
    #[must_use]
    pub fn iops_per_gb(&self) -> Option<f64> {
        Some(self.given_iops()? / (f64::from(self.volumes) * self.spec.size.get() as f64 / 1e9))
    }

    /// Returns the number of jobs and their queue depth that keep enough in flight: at most 64 per job, up to 64 jobs.
    #[must_use]
    pub fn jobs(&self) -> Option<(u64, u64)> {
        let depth = requests_in_flight(self.in_flight?);
        let jobs = depth.div_ceil(64).clamp(1, 64);
        Some((jobs, depth.div_ceil(jobs)))
    }
}

/// Returns the operations per second per free CPU. Persistent disks need one for 2,000 reads or 2,500 writes per
/// second ("Optimizing persistent disk and local SSD performance", about 2019).
#[must_use]
pub fn iops_per_cpu(words: &str, load: &Load) -> Option<f64> {
    const READS: f64 = 2_000.0;
    const WRITES: f64 = 2_500.0;
    words.starts_with("gcp/pd-").then(|| 1.0 / (load.share.read / READS + load.share.write / WRITES))
}
