//! One volume of the catalogue, as small as the need allows.

use volume::catalogue::{About, LatencyBasis};
use volume::closed::{Cap, Load};
use volume::spec::{LimitSource, PriceParts};
use volume::{Jitter, Merging, Spec};

/// A volume with a size, provisioned values and perhaps a machine.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its type in the catalogue: `gcp/pd-ssd`.
    pub listed: String,
    /// What it is, with its numbers.
    pub spec: Spec,
    /// What else is known of it.
    pub about: About,
    /// Its machine, where one is named.
    pub machine: Option<String>,
    /// Which wishes it does not fulfil at its largest; none for one that meets the need.
    pub failures: Vec<UnmetNeed>,
    /// What it costs, all machines together; `None` where it is unknown.
    pub price: Option<Money>,
    /// What holds it back first: the lowest cap under the demand that comes nearest to it.
    pub limit: Option<Cap>,
    /// How far that is above what is wanted: 0.25 for a quarter. Below zero for one that does not meet it.
    pub headroom: f64,
    /// Machines that use it, or one like it each.
    pub machines: u32,
    /// How many like it are bought: one that machines share, or one for each of them.
    pub volumes: u32,
    /// Operations a second that were asked for, of one machine.
    pub rate: f64,
    /// Bytes of one of them.
    pub block: f64,
    /// Mean latency at that rate, in seconds; `None` where nothing simple is known.
    pub mean_secs: Option<f64>,
    /// The same without any waiting.
    pub alone_secs: Option<f64>,
    /// The latency of the share of operations that was asked for, or of 99 in 100.
    pub percentile_secs: Option<f64>,
    /// What bounded latencies would be if no limit had jitter; `None` where that makes no difference that matters.
    pub jitter: Option<JitterEffect>,
    /// The limit that the volume keeps within because it merges sequential operations; `None` where none does.
    pub merging: Option<MergingEffect>,
    /// Operations that have to be in flight, by Little's law: rate times mean latency.
    pub in_flight: Option<f64>,
    /// IOPS while credits last and for how many seconds, where that is more than what lasts.
    pub burst: Option<(f64, f64)>,
    /// Processors to leave free, where the provider has a rule.
    pub cpus: Option<f64>,
    /// A smaller size that would be enough, where its price is not published and that of this one is.
    pub unpriced: Option<String>,
    /// Whether a simulation has confirmed it; `None` where none was made.
    pub survived: Option<bool>,
    /// How much more than the need it was made for, after simulations of less fell short.
    pub margin: f64,
}

/// Latencies with and without the jitter of a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct JitterEffect {
    /// The limit whose jitter spares the most.
    pub limit: String,
    /// Its jitter.
    pub jitter: Jitter,
    /// The mean latency in seconds, where it is bounded and differs.
    pub mean_secs: Option<WithAndWithout>,
    /// The percentile in seconds, where it is bounded and differs.
    pub percentile_secs: Option<WithAndWithout>,
    /// Whether a simulation says so; otherwise the formulas of the plan, with their caution.
    pub is_simulated: bool,
}

/// One figure with jitter, and without.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WithAndWithout {
    /// With it.
    pub with: f64,
    /// Without.
    pub without: f64,
}

impl WithAndWithout {
    /// A latency that is longer by more than this fraction differs.
    const DIFFERS: f64 = 0.05;
    /// One that is longer by more than this matters, even within its bound.
    const MATTERS: f64 = 0.2;

    /// Both figures, where it matters that they differ: for a bound in seconds, or by much.
    #[must_use]
    pub fn that_matter(with: f64, without: f64, bound: f64) -> Option<Self> {
        let longer = without / with.max(f64::MIN_POSITIVE) - 1.0;
        let matters = longer > Self::MATTERS || longer > Self::DIFFERS && without > bound;
        (matters && without.is_finite()).then_some(Self { with, without })
    }
}

/// The effect of merging sequential operations.
#[derive(Clone, Debug, PartialEq)]
pub struct MergingEffect {
    /// The limit that counts them as one.
    pub limit: String,
    /// What is known of it.
    pub merging: Merging,
    /// Operations a second that the limit sustains where each of them counts.
    pub iops: f64,
}

/// Cost per month.
#[derive(Clone, Debug, PartialEq)]
pub struct Money {
    /// `USD`, `EUR`.
    pub currency: String,
    /// All of it.
    pub per_month: f64,
    /// The same in US dollars, in which candidates are compared.
    pub usd_per_month: f64,
    /// What is paid for what.
    pub parts: PriceParts,
    /// Where it holds, as far as that is said.
    pub region: Option<String>,
    /// The region that was asked for, where the price is published under another name.
    pub stands_for: Option<String>,
    /// Where it is from, and when.
    pub source: LimitSource,
    /// Costs that it does not include because their price is not published. It is then a lower bound.
    pub lacks: Option<String>,
    /// How it is made up.
    pub rule: String,
}

impl Money {
    /// Whether it is the whole price.
    #[must_use]
    pub const fn whole(&self) -> bool {
        self.lacks.is_none()
    }
}

/// A wish that is not fulfilled.
#[derive(Clone, Debug, PartialEq)]
pub struct UnmetNeed {
    /// Which.
    pub requirement: Requirement,
    /// The limit that stands against it, by its name.
    pub limit: String,
    /// What was wished, in the unit of the requirement.
    pub wanted: f64,
    /// What there is at most, or at least.
    pub reached: f64,
}

impl UnmetNeed {
    /// By which factor it falls short; infinite where it is no matter of more or less.
    #[must_use]
    pub fn short_by(&self) -> f64 {
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
}

/// A requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Requirement {
    /// Operations a second.
    Iops,
    /// Bytes a second.
    Throughput,
    /// Bytes.
    Capacity,
    /// Mean latency, in seconds.
    Mean,
    /// A percentile of latency, in seconds.
    Percentile,
    /// One volume for many machines.
    Sharing,
    /// A size that is sold.
    Size,
    /// Outliving its machine.
    Durability,
    /// The machine that was named.
    Machine,
    /// US dollars a month.
    Budget,
    /// A budget was given and the price is not known.
    Price,
    /// Nothing simple is known of this load on this volume.
    Unknown,
}

impl Candidate {
    /// Whether its latency is measured, published or given, and not assumed.
    #[must_use]
    pub fn has_known_latency(&self) -> bool {
        self.about.latency_basis < LatencyBasis::Assumed
    }

    /// Whether it does all that is wanted.
    #[must_use]
    pub fn meets(&self) -> bool {
        self.failures.is_empty() && self.survived != Some(false)
    }

    /// The month's price in full, where that is known.
    #[must_use]
    pub fn known_price(&self) -> Option<&Money> {
        self.price.as_ref().filter(|price| price.whole())
    }

    /// Operations a second of all machines together, by what the volumes give.
    fn given_iops(&self) -> Option<f64> {
        Some(self.limit.as_ref()?.iops * f64::from(self.machines))
    }

    /// What one of the operations a second costs in a month, in US dollars, by what the volumes give.
    #[must_use]
    pub fn price_per_iops(&self) -> Option<f64> {
        Some(self.known_price()?.usd_per_month / self.given_iops()?)
    }

    /// What one MiB a second costs in a month, in US dollars.
    #[must_use]
    pub fn price_per_mibps(&self) -> Option<f64> {
        Some(self.price_per_iops()? * f64::from(1_u32 << 20) / self.block)
    }

    /// Operations a second for each GB.
    #[must_use]
    pub fn iops_per_gb(&self) -> Option<f64> {
        Some(self.given_iops()? / (f64::from(self.volumes) * self.spec.size.get() as f64 / 1e9))
    }

    /// Jobs and the depth of each that keep enough in flight, at most 64 a job until there are 64 of them.
    #[must_use]
    pub fn jobs(&self) -> Option<(u64, u64)> {
        let depth = (self.in_flight? * (1.0 - 1e-9)).ceil().max(1.0) as u64;
        let jobs = depth.div_ceil(64).clamp(1, 64);
        Some((jobs, depth.div_ceil(jobs)))
    }
}

/// Persistent disks want one free processor for 2,000 to 2,500 operations per second ("Optimizing persistent disk and
/// local SSD performance", about 2019): 2,000 reads, 2,500 writes.
#[must_use]
pub fn iops_per_cpu(words: &str, load: &Load) -> Option<f64> {
    const READS: f64 = 2_000.0;
    const WRITES: f64 = 2_500.0;
    words.starts_with("gcp/pd-").then(|| 1.0 / (load.share.read / READS + load.share.write / WRITES))
}
