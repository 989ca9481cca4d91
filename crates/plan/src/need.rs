//! The need: load, latency, capacity, budget.

use units::Nanos;
use volume::closed::Load;

use crate::exchange::Exchange;

/// Blocks of a need for IOPS that names no size: what providers state their IOPS for.
const SMALL: u32 = 4 << 10;
/// Blocks of a need for throughput that names no size.
const LARGE: u32 = 1 << 20;

/// Requirements for a volume, for each machine that uses it.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// Operations a second.
    pub iops: Option<f64>,
    /// Bytes a second.
    pub bytes_per_sec: Option<f64>,
    /// Bytes of an operation. Without, operations are counted in small ones and bytes moved in large ones.
    pub block: Option<u32>,
    /// The share of reads, from 0 to 1.
    pub read_share: f64,
    /// Whether each operation begins where the last one ended.
    pub sequential: bool,
    /// Bytes to be kept.
    pub capacity: Option<u64>,
    /// The longest mean latency.
    pub mean: Option<Nanos>,
    /// The longest latency of a share of all operations: 0.99 and 2 ms.
    pub percentile: Option<(f64, Nanos)>,
    /// Machines that need it.
    pub machines: u32,
    /// Whether they read one volume, all of them, instead of having one each.
    pub shared: bool,
    /// Whether it may be lost with its machine, as what lies on local disks may.
    pub scratch: bool,
    /// Processors of a machine.
    pub vcpus: Option<u32>,
    /// The machine, by its provider's name.
    pub machine: Option<String>,
    /// Volumes to look at: `gcp`, `gcp@2019`, `gcp/pd-ssd`, each perhaps with keys behind it; all where there are none.
    pub volumes: Vec<String>,
    /// Where prices are wanted for.
    pub region: Option<String>,
    /// US dollars a month, all machines together.
    pub budget: Option<f64>,
    /// Spare capacity that is planned for, as a fraction: with 0.2 a volume sustains 1.2 times each rate, and its latency
    /// at the rate itself is at most the bound over 1.2. Capacity in bytes has none.
    pub headroom: f64,
    /// The rate at which prices in other currencies are compared.
    pub exchange: Exchange,
    /// How much more is wanted each year: 0.2 for a fifth. It is planned for the year to come.
    pub growth: f64,
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
            vcpus: None,
            machine: None,
            volumes: Vec::new(),
            region: None,
            budget: None,
            headroom: 0.0,
            exchange: Exchange::default(),
            growth: 0.0,
        }
    }
}

/// A rate of equal operations that a volume has to let through.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Operations a second of one machine.
    pub rate: f64,
    /// The rate that the volume has to sustain: the same with headroom.
    pub sustained: f64,
    /// The operations, as many in flight as it takes.
    pub load: Load,
    /// Whether it is counted in bytes rather than in operations.
    pub in_bytes: bool,
    /// Whether bounds on latency are about it.
    pub timed: bool,
}

impl Need {
    /// The rates that are wanted, grown by a year. With one block size it is one rate; without, IOPS and throughput are
    /// wanted of different operations, each at its time.
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

    /// The longest latency that is planned for, in seconds: a bound less the headroom.
    #[must_use]
    pub fn planned_secs(&self, bound: Nanos) -> f64 {
        bound.secs_f64() / (1.0 + self.headroom)
    }

    /// Bytes to be kept in a year.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.capacity.unwrap_or(0) as f64 * (1.0 + self.growth)).ceil() as u64
    }

    /// How often a volume has to let the rate of one machine through.
    #[must_use]
    pub fn readers(&self) -> f64 {
        if self.shared { f64::from(self.machines.max(1)) } else { 1.0 }
    }

    /// How many volumes are bought.
    #[must_use]
    pub fn copies(&self) -> f64 {
        if self.shared { 1.0 } else { f64::from(self.machines.max(1)) }
    }

    /// The same with rates so many times as high.
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        let times = |rate: Option<f64>| rate.map(|rate| rate * factor);
        Self { iops: times(self.iops), bytes_per_sec: times(self.bytes_per_sec), ..self.clone() }
    }
}
