//! The need: load, latency, capacity, budget.

use units::Nanos;
use volume::catalogue::CloudRegion;
use volume::closed::Load;

use crate::candidate::Requirement;
use crate::machine::MachineNeed;
use crate::money::{Currency, Exchange};

/// Default block size for IOPS: the one for which providers state IOPS.
const SMALL: u32 = 4 << 10;
/// Default block size for throughput.
const LARGE: u32 = 1 << 20;

/// Most volumes in RAID 0 by default.
pub const STRIPE_MAX: u32 = 8;

/// Requirements for a volume, for each machine that uses it.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// Operations per second.
    pub iops: Option<f64>,
    /// Bytes per second.
    pub bytes_per_sec: Option<f64>,
    /// Bytes per operation. By default small for IOPS and large for throughput.
    pub block: Option<u32>,
    /// Fraction of reads, from 0 to 1.
    pub read_share: f64,
    /// Whether operations are sequential.
    pub sequential: bool,
    /// Capacity in bytes.
    pub capacity: Option<u64>,
    /// Maximum mean latency.
    pub mean: Option<Nanos>,
    /// Maximum latency at a percentile: 0.99 and 2 ms.
    pub percentile: Option<(f64, Nanos)>,
    pub machines: u32,
    /// Whether all machines read one volume instead of one each.
    pub shared: bool,
    /// Whether data may be lost with the machine, as on local disks.
    pub scratch: bool,
    /// Requirements on the machine.
    pub machine: MachineNeed,
    /// Volumes to consider: `gcp`, `gcp@2019`, `gcp/pd-ssd`, each with optional keys; all if empty.
    pub volumes: Vec<String>,
    /// Regions for prices, of any provider. In each region of a provider, its volumes are considered.
    pub regions: Vec<String>,
    /// How the regions were found near a place, if they were.
    pub near: Vec<NearRegion>,
    /// Most volumes of one type in RAID 0; 1 for none.
    pub stripe_max: u32,
    /// Budget in US dollars per month for all machines.
    pub budget: Option<f64>,
    /// Planned spare capacity as a fraction: with 0.2 a volume sustains 1.2 times each rate, and its latency at the
    /// rate itself is at most the bound divided by 1.2. Does not apply to capacity in bytes.
    pub headroom: f64,
    /// Exchange rates for comparing prices.
    pub exchange: Exchange,
    /// Currency of totals.
    pub currency: Currency,
    /// Planned yearly growth as a fraction; the plan covers one year.
    pub growth: f64,
    /// Number of years whose prices are wanted; the volume is for the first.
    pub years: u32,
}

impl Default for Need {
    fn default() -> Self {
        Self {
            iops: None,
            bytes_per_sec: None,
            block: None,
            read_share: 1.0,
            sequential: false,
            capacity: None,
            mean: None,
            percentile: None,
            machines: 1,
            shared: false,
            scratch: false,
            machine: MachineNeed::default(),
            volumes: Vec::new(),
            regions: Vec::new(),
            near: Vec::new(),
            stripe_max: STRIPE_MAX,
            budget: None,
            headroom: 0.0,
            exchange: Exchange::default(),
            currency: Currency::default(),
            growth: 0.0,
            years: 1,
        }
    }
}

/// Region of a provider near a place.
#[derive(Clone, Debug, PartialEq)]
pub struct NearRegion {
    pub region: CloudRegion,
    /// Distance from the place.
    pub km: f64,
    /// Nearer region of the provider without a known price.
    pub unpriced: Option<CloudRegion>,
}

/// Rate of equal operations that a volume must sustain.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Operations per second of one machine.
    pub rate: f64,
    /// Rate including headroom.
    pub sustained: f64,
    /// The operations, with unlimited operations in flight.
    pub load: Load,
    /// Whether it is a throughput requirement.
    pub in_bytes: bool,
    /// Whether bounds on latency apply to it.
    pub timed: bool,
}

impl Demand {
    /// Reports whether limits of throughput count for it: at the block size for which providers state IOPS, those do.
    pub(crate) fn is_of_bytes(&self) -> bool {
        self.in_bytes || self.load.mean_bytes() > f64::from(SMALL)
    }
}

impl Need {
    /// Returns the required rates after a year's growth. With one block size it is one rate; otherwise IOPS and
    /// throughput are separate demands with different block sizes.
    #[must_use]
    pub fn demands(&self) -> Vec<Demand> {
        let grown = 1.0 + self.growth;
        let demand = |rate: f64, block: u32, in_bytes: bool, timed: bool| {
            let load = Load::mixed(self.read_share, block, f64::INFINITY);
            let (rate, load) = (rate * grown, Load { sequential: self.sequential, ..load });
            Demand { rate, sustained: rate * (1.0 + self.headroom), load, in_bytes, timed }
        };
        let by_bytes = |block: u32| self.bytes_per_sec.map(|bytes| bytes / f64::from(block));
        if let Some(block) = self.block {
            let (iops, moved) = (self.iops.unwrap_or(0.0), by_bytes(block).unwrap_or(0.0));
            let rate = iops.max(moved);
            return if rate > 0.0 { vec![demand(rate, block, moved > iops, true)] } else { Vec::new() };
        }
        let small = self.iops.map(|iops| demand(iops, SMALL, false, true));
        let large = by_bytes(LARGE).map(|rate| demand(rate, LARGE, true, self.iops.is_none()));
        small.into_iter().chain(large).collect()
    }

    /// Converts US dollars to the currency of totals.
    #[must_use]
    pub fn in_currency(&self, usd: f64) -> f64 {
        usd / self.exchange.usd_per(self.currency.code()).unwrap_or(1.0)
    }

    /// Reports whether a latency is bounded.
    #[must_use]
    pub const fn bounds_latency(&self) -> bool {
        self.mean.is_some() || self.percentile.is_some()
    }

    /// Returns the planned maximum latency in seconds: a bound less the headroom.
    #[must_use]
    pub fn planned_secs(&self, bound: Nanos) -> f64 {
        bound.secs_f64() / (1.0 + self.headroom)
    }

    /// Returns the required capacity in bytes after a year's growth.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.capacity.unwrap_or(0) as f64 * (1.0 + self.growth)).ceil() as u64
    }

    /// Returns the number of machines whose load one volume must sustain.
    #[must_use]
    pub fn readers(&self) -> f64 {
        if self.shared { f64::from(self.machines.max(1)) } else { 1.0 }
    }

    /// Returns the number of volumes to buy.
    #[must_use]
    pub fn copies(&self) -> f64 {
        if self.shared { 1.0 } else { f64::from(self.machines.max(1)) }
    }

    /// Returns the need with one of its requirements alone; bounds on latency hold at the required rate.
    pub(crate) fn only(&self, requirement: Requirement) -> Self {
        // Where a machine is to be chosen, the volumes are judged without one.
        let machine = if self.machine.is_open() { MachineNeed::default() } else { self.machine.clone() };
        let loaded = Self { budget: None, mean: None, percentile: None, machine, ..self.clone() };
        match requirement {
            Requirement::Iops | Requirement::Throughput => loaded,
            Requirement::Mean => Self { mean: self.mean, ..loaded },
            Requirement::Percentile => Self { percentile: self.percentile, ..loaded },
            Requirement::Capacity => Self { iops: None, bytes_per_sec: None, ..loaded },
            Requirement::Machine => Self { iops: None, bytes_per_sec: None, machine: self.machine.clone(), ..loaded },
            Requirement::Budget => Self { iops: None, bytes_per_sec: None, budget: self.budget, ..loaded },
            _ => self.clone(),
        }
    }

    /// Returns the need after `years` years of growth instead of one.
    #[must_use]
    pub fn after(&self, years: u32) -> Self {
        Self { growth: (1.0 + self.growth).powi(years as i32) - 1.0, years: 1, ..self.clone() }
    }

    /// Returns the need with rates multiplied by `factor`.
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        let times = |rate: Option<f64>| rate.map(|rate| rate * factor);
        Self { iops: times(self.iops), bytes_per_sec: times(self.bytes_per_sec), ..self.clone() }
    }
}
