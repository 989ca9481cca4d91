//! The closed form: throughput and latency from limits and Little's law, without simulation.
//!
//! With `N` requests in flight, a latency of `R` without queueing and a limit of `X` requests per second, a volume
//! sustains `min(N / R, X)` per second at a latency of `max(R, N / X)`. The knee is at `N = R × X`.

use units::Nanos;

use crate::request::{PerRequestKind, RequestKind};
use crate::spec::{Behaviour, Burst, CountedUnit, Limit, Scope, Spec, Station, Striping};

/// A closed loop of equal requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Requests in flight of all workers; infinite for as many as the volume can use.
    pub in_flight: f64,
    /// Bytes per request of each kind.
    pub bytes: PerRequestKind<u32>,
    /// Fraction of requests of each kind; all together 1.
    pub share: PerRequestKind<f64>,
    /// Whether each request continues where the last one of its kind ended.
    pub sequential: bool,
}

impl Load {
    /// Creates a load of requests of one kind and size.
    #[must_use]
    pub fn of(kind: RequestKind, bytes: u32, in_flight: f64) -> Self {
        let share = PerRequestKind::from_fn(|of| if of == kind { 1.0 } else { 0.0 });
        let bytes = PerRequestKind { read: bytes, write: bytes, trim: bytes, flush: 0 };
        Self { in_flight, bytes, share, sequential: false }
    }

    /// Creates a load of reads and writes of one size.
    #[must_use]
    pub fn mixed(read_share: f64, bytes: u32, in_flight: f64) -> Self {
        let share = PerRequestKind { read: read_share, write: 1.0 - read_share, trim: 0.0, flush: 0.0 };
        Self { share, ..Self::of(RequestKind::Read, bytes, in_flight) }
    }

    /// Returns the mean of a figure over the request kinds, weighted by their fractions.
    fn mean(&self, of: impl Fn(RequestKind) -> f64) -> f64 {
        let part = |kind: RequestKind| match *self.share.get(kind) {
            0.0 => 0.0,
            share => share * of(kind),
        };
        RequestKind::ALL.into_iter().map(part).sum()
    }

    /// Returns the mean bytes of a request.
    #[must_use]
    pub fn mean_bytes(&self) -> f64 {
        self.mean(|kind| f64::from(*self.bytes.get(kind)))
    }
}

/// Limit or station of a cap, as an index into its [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapPart {
    Limit(usize),
    Station(usize),
}

/// A bucket of credits, in requests of the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// Capacity.
    pub most: f64,
    /// Level at the start.
    pub at_start: f64,
}

/// Cap of one limit or station on a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Cap {
    /// Name of the limit or station.
    pub name: String,
    /// Index in the spec, which has its rule, source and owner.
    pub part: CapPart,
    /// Requests per second.
    pub iops: f64,
    /// Burst credits; `None` if there is no bucket.
    pub bucket: Option<Bucket>,
    /// How long a full bucket lasts at the rate of the nearest other cap; `None` if there is no bucket.
    pub burst_secs: Option<f64>,
    /// Variation of the cost of requests: the mean square over the square of the mean.
    pub spread: f64,
    /// How many seconds ahead of an even schedule it admits requests: by jitter, or by a bucket that the load does not
    /// drain.
    pub forgives_secs: f64,
    /// Requests served at once.
    pub servers: u32,
    /// Equal limits or stations, one of each volume in RAID 0, among which the requests are divided.
    pub members: u32,
}

/// Waiting time at one cap under random arrivals (a Poisson process).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapWait {
    /// Mean over all requests, in seconds; infinite if more arrive than are admitted.
    pub mean_secs: f64,
    /// Fraction of requests that wait.
    pub share: f64,
}

impl CapWait {
    /// Returns the wait that the fraction `share` of requests does not exceed, in seconds. The tail is exponential.
    #[must_use]
    pub fn quantile_secs(&self, share: f64) -> f64 {
        let beyond = 1.0 - share;
        if self.share <= beyond { 0.0 } else { self.mean_secs / self.share * libm::log(self.share / beyond) }
    }
}

impl Cap {
    /// Returns the same cap without jitter; `None` if it has none.
    #[must_use]
    pub fn without_jitter(&self) -> Option<Self> {
        (self.bucket.is_none() && self.forgives_secs > 0.0).then(|| Self { forgives_secs: 0.0, ..self.clone() })
    }

    /// Returns the wait at a lasting arrival rate of `iops` (below its rate a bucket refills), by heavy-traffic formulas (Pollaczek and Khinchine with Kingman's
    /// tail for a limit, Sakasegawa for several servers). Accurate to a tenth where waits matter.
    #[must_use]
    pub fn wait(&self, iops: f64) -> CapWait {
        let busy = iops / self.iops;
        if busy >= 1.0 {
            return CapWait { mean_secs: f64::INFINITY, share: 1.0 };
        }
        let members = f64::from(self.members);
        let service_secs = members / self.iops;
        if self.servers > 1 {
            let servers = f64::from(self.servers);
            let share = libm::pow(busy, libm::sqrt(2.0 * (servers + 1.0)) - 1.0);
            return CapWait { mean_secs: share * self.spread * service_secs / (2.0 * (1.0 - busy)), share };
        }
        // The backlog distribution falls by e over this many seconds of work.
        let scale_secs = busy * self.spread * service_secs / (2.0 * (1.0 - busy));
        let share = busy * libm::exp(-self.forgives_secs / scale_secs.max(1e-15));
        // If one request alone exceeds the jitter, the next one waits for the remainder, however few arrive.
        let rest_secs = (self.spread * service_secs - self.forgives_secs).max(0.0);
        let behind_one = -libm::expm1(-iops / members * rest_secs);
        let mean_secs = (share * scale_secs / busy.max(1e-15)).max(behind_one * rest_secs / 2.0);
        CapWait { mean_secs, share: share.max(behind_one) }
    }
}

/// Predicted IOPS and latency of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Sustained requests per second, once credits are spent.
    pub iops: f64,
    /// Mean latency at that rate.
    pub latency: Nanos,
    /// Requests per second while credits last; equals `iops` if there are none.
    pub burst_iops: f64,
    /// Latency without queueing.
    pub alone: Nanos,
    /// Index into `caps` of the cap that is reached; `None` if latency and queue depth bound the rate.
    pub limit: Option<usize>,
    /// All caps on the load, the lowest first.
    pub caps: Vec<Cap>,
}

impl Prediction {
    /// Returns the number of requests in flight that reaches the lowest cap; more only wait.
    #[must_use]
    pub fn knee(&self) -> Option<f64> {
        self.caps.first().map(|cap| cap.iops * self.alone.secs_f64())
    }

    /// Returns how long `burst_iops` lasts from the start, until the first bucket is empty. `None` if there is no
    /// burst.
    #[must_use]
    pub fn burst_secs(&self) -> Option<f64> {
        let left = |cap: &Cap| {
            let spent = self.burst_iops - cap.iops;
            cap.bucket.filter(|_| spent > 0.0).map(|bucket| bucket.at_start / spent)
        };
        let lasting = self.caps.iter().filter_map(left).fold(f64::INFINITY, f64::min);
        (self.burst_iops > self.iops).then_some(lasting)
    }
}

/// Returns the caps of all limits and stations that count the load, the lowest first.
#[must_use]
pub fn caps(spec: &Spec, load: &Load) -> Vec<Cap> {
    if let Some(striping) = spec.striping {
        return striped_caps(spec, striping, load);
    }
    let limits = spec.limits.iter().enumerate();
    let mut caps: Vec<Cap> = limits.filter_map(|(index, limit)| limit_cap(index, limit, load)).collect();
    let stations = spec.stations.iter().enumerate();
    caps.extend(stations.map(|(index, station)| station_cap(index, station, load)));
    caps.sort_by(|a, b| a.iops.total_cmp(&b.iops));
    caps
}

/// Returns the caps of volumes in RAID 0 on aligned requests. Each volume serves its fraction of the parts, of which a
/// request has one for each unit; limits and stations of the machine count all parts.
fn striped_caps(spec: &Spec, striping: Striping, load: &Load) -> Vec<Cap> {
    let parts = |bytes: &u32| striping.aligned_parts(*bytes);
    let of_member = Load { bytes: load.bytes.map(|bytes| parts(bytes).1), ..load.clone() };
    let parts = load.mean(|kind| f64::from(parts(load.bytes.get(kind)).0)).max(1.0);
    let member = Spec { striping: None, ..spec.clone() };
    let mut caps = caps(&member, &of_member);
    for cap in &mut caps {
        let scope = match cap.part {
            CapPart::Limit(index) => &spec.limits[index].scope,
            CapPart::Station(index) => &spec.stations[index].scope,
        };
        cap.members = if *scope == Scope::Volume { striping.members } else { 1 };
        let more = f64::from(cap.members) / parts;
        cap.iops *= more;
        cap.bucket =
            cap.bucket.map(|Bucket { most, at_start }| Bucket { most: most * more, at_start: at_start * more });
    }
    caps.sort_by(|a, b| a.iops.total_cmp(&b.iops));
    caps
}

/// Predicts the throughput and latency of a load that has a volume to itself. Returns `None` if there is no closed
/// form: for a drive under anything but random reads or writes.
#[must_use]
pub fn predict(spec: &Spec, load: &Load) -> Option<Prediction> {
    let mut caps = caps(spec, load);
    let (free_iops, alone) = match &spec.behaviour {
        Behaviour::Latency(_) => {
            let alone = alone(spec, load);
            (load.in_flight / alone.secs_f64().max(1e-12), alone)
        }
        Behaviour::Drive(drive) => {
            let iops = drive.random_iops(load)?;
            (iops, Nanos::from_secs_f64(1.0 / drive.random_iops(&Load { in_flight: 1.0, ..load.clone() })?))
        }
    };
    let lowest = |caps: &mut dyn Iterator<Item = f64>| caps.fold(free_iops, f64::min);
    let iops = lowest(&mut caps.iter().map(|cap| cap.iops));
    let burst_iops = lowest(&mut caps.iter().filter(|cap| cap.bucket.is_none()).map(|cap| cap.iops));
    for cap in &mut caps {
        // Spent at the burst rate, refilled at the cap's own rate.
        let spent = burst_iops - cap.iops;
        cap.burst_secs = cap.bucket.map(|bucket| if spent > 0.0 { bucket.most / spent } else { f64::INFINITY });
    }
    let limit = caps.first().filter(|cap| cap.iops < free_iops).map(|_| 0);
    let latency = Nanos::from_secs_f64(load.in_flight / iops.max(1e-12));
    Some(Prediction { iops, latency, burst_iops, alone, limit, caps })
}

/// Returns the mean latency without queueing: stations, the volume's latency, and its transfer.
fn alone(spec: &Spec, load: &Load) -> Nanos {
    let law = match &spec.behaviour {
        Behaviour::Latency(latency) => load.mean(|kind| latency.law.get(kind).mean().secs_f64()),
        Behaviour::Drive(_) => 0.0,
    };
    Nanos::from_secs_f64(law + transit_secs(spec, load))
}

/// Returns the time of a request at stations and in transfer, without queueing, in seconds.
#[must_use]
pub fn transit_secs(spec: &Spec, load: &Load) -> f64 {
    let stations: f64 =
        spec.stations.iter().map(|station| load.mean(|kind| service_secs(station, *load.bytes.get(kind)))).sum();
    match &spec.behaviour {
        Behaviour::Latency(latency) => {
            stations + latency.bytes_per_sec.map_or(0.0, |rate| load.mean_bytes() / rate as f64)
        }
        Behaviour::Drive(_) => stations,
    }
}

fn service_secs(station: &Station, bytes: u32) -> f64 {
    let fixed_ns = station.service_fixed as f64 / f64::from(1_u32 << Station::FRACTION_BITS);
    fixed_ns / 1e9 + station.bytes_per_sec.map_or(0.0, |rate| f64::from(bytes) / rate as f64)
}

/// Returns the requests per second that a limit sustains; `None` if it counts none of them.
fn limit_cap(index: usize, limit: &Limit, load: &Load) -> Option<Cap> {
    let mean_secs = load.mean(|kind| cost_secs(limit, load, kind));
    let iops = 1.0 / mean_secs;
    let fastest = limit.rate.each().into_iter().flatten().copied().max()?;
    // A bucket holds this many seconds of the rate.
    let requests = |units: u64| units as f64 / fastest as f64 * iops;
    let (bucket, forgives_secs) = match &limit.burst {
        Burst::Credits { most, at_start } => {
            (Some(Bucket { most: requests(*most), at_start: requests(*at_start) }), *most as f64 / fastest as f64)
        }
        Burst::Jitter(jitter) => (None, jitter.time.secs_f64()),
    };
    let squares = load.mean(|kind| {
        let cost = cost_secs(limit, load, kind);
        cost * cost
    });
    let spread = squares / (mean_secs * mean_secs).max(f64::MIN_POSITIVE);
    let (name, part) = (limit.name.clone(), CapPart::Limit(index));
    let cap = Cap { name, part, iops, bucket, burst_secs: None, spread, forgives_secs, servers: 1, members: 1 };
    (mean_secs > 0.0).then_some(cap)
}

/// Returns the fraction of a limit's second that one request takes.
fn cost_secs(limit: &Limit, load: &Load, kind: RequestKind) -> f64 {
    let bytes = *load.bytes.get(kind);
    match (limit.merges(), limit.rate.get(kind)) {
        (Some((_, least)), Some(rate)) if load.sequential && bytes >= least && limit.counted == CountedUnit::Bytes => {
            f64::from(bytes) / *rate as f64
        }
        (Some((unit, least)), Some(rate)) if load.sequential && bytes >= least => {
            f64::from(bytes) / f64::from(unit.max(1)) / *rate as f64
        }
        _ => limit.requests_per_sec(kind, bytes).map_or(0.0, |rate| 1.0 / rate),
    }
}

fn station_cap(index: usize, station: &Station, load: &Load) -> Cap {
    let service = load.mean(|kind| service_secs(station, *load.bytes.get(kind)));
    let iops = f64::from(station.servers) / service.max(1e-12);
    let (name, part) = (station.name.clone(), CapPart::Station(index));
    Cap {
        name,
        part,
        iops,
        bucket: None,
        burst_secs: None,
        spread: 1.0,
        forgives_secs: 0.0,
        servers: station.servers,
        members: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(volume: &str, load: &Load) -> Prediction {
        let spec = crate::catalogue::resolve(volume).unwrap_or_else(|problems| panic!("{}", problems[0]));
        predict(&spec, load).unwrap()
    }

    fn reads(bytes: u32) -> Load {
        Load::of(RequestKind::Read, bytes, f64::INFINITY)
    }

    #[test]
    fn the_lowest_limit_applies_at_each_block_size() {
        let (small, large) = (asked("vultr/nvme-block", &reads(4096)), asked("vultr/nvme-block", &reads(1 << 20)));
        assert_eq!((small.caps[0].name.as_str(), small.limit), ("volume IOPS", Some(0)));
        assert_eq!(large.caps[0].name, "volume throughput");
        assert!((large.iops - 381.47).abs() < 0.01);
        assert!((small.burst_iops - 15_000.0).abs() < 1e-6 && (small.burst_secs().unwrap() - 60.0).abs() < 1e-6);
        let half = asked("vultr/nvme-block,credits=50%", &reads(4096));
        assert!((half.burst_secs().unwrap() - 30.0).abs() < 1e-6 && (half.caps[0].burst_secs.unwrap() - 60.0) < 1e-6);
    }

    #[test]
    fn mixed_operations_share_a_linear_budget() {
        let mixed = asked("gcp/pd-ssd@2019,size=65536GB,vcpus=32", &Load::mixed(0.75, 8000, f64::INFINITY));
        // 45,000 reads and 7,500 writes are on the line of 60,000 and 30,000; 3 to 1 is 36,000 and 12,000.
        assert!((mixed.iops - 48_000.0).abs() < 0.01, "{mixed:?}");
    }

    #[test]
    fn merged_runs_cost_less_than_random_operations() {
        let iops = |sequential| asked("aws/st1,size=1TiB", &Load { sequential, ..reads(65_536) }).iops;
        assert!((iops(false) - 40.0).abs() < 1e-6 && (iops(true) - 640.0).abs() < 1e-6, "40 MiB/s limit both");
    }

    /// 500 random operations of 4 KiB per second counted as 2 MiB/s, which no bucket noticed: each takes a credit of 1 MiB.
    #[test]
    fn random_operations_on_hard_disks_of_ebs_take_whole_credits() {
        for (volume, sustained, burst) in [("aws/st1,size=500GiB", 40.0, 250.0), ("aws/sc1,size=500GiB", 12.0, 80.0)] {
            let of = |mibps: f64| mibps * 500.0 / 1024.0;
            let found = asked(volume, &reads(4096));
            assert!(
                (found.iops - of(sustained)).abs() < 0.01 && (found.burst_iops - of(burst)).abs() < 0.01,
                "{found:?}"
            );
            let secs = 500.0 * 1024.0 / (of(burst) - of(sustained));
            assert!((found.burst_secs().unwrap() / secs - 1.0).abs() < 0.001, "{:?} for {secs}", found.burst_secs());
        }
    }

    #[test]
    fn stations_cap_like_limits() {
        let station = asked("nutanix/ahv-4node,frodo_threads=2", &reads(4096));
        assert!((station.iops / 850_000.0 - 1.0).abs() < 1e-4);
        assert_eq!(station.caps[0].part, CapPart::Station(0));
    }

    #[test]
    fn waits_grow_near_a_limit() {
        let cap = asked("gcp/hyperdisk-balanced,size=1TiB,iops=10000", &reads(4096)).caps.remove(0);
        let mean = |iops| cap.wait(iops).mean_secs;
        assert!(mean(5_000.0) < 1e-9 && mean(9_000.0) < mean(9_900.0) && mean(10_000.0).is_infinite());
        // Half a service time at full load over the free capacity; jitter divides it by powers of e.
        let plain = cap.without_jitter().unwrap();
        assert!((plain.wait(9_000.0).mean_secs - 0.9 * 1e-4 / 0.2).abs() < 1e-6);
        // Where one operation costs more time than the jitter, the next one waits.
        let large = Cap { iops: 76.0, ..cap };
        assert!(large.wait(9.0).share > 0.05 && large.wait(9.0).quantile_secs(0.99) > 1e-3);
    }

    /// A limit with a bucket let random arrivals wait longer than one without, although they leave credits unused.
    #[test]
    fn random_arrivals_below_a_limit_with_a_bucket_do_not_wait() {
        for (volume, iops) in [("azure/p15", 800.0), ("aws/gp2,size=600GiB", 1_500.0), ("vultr/nvme-block", 7_400.0)] {
            let caps = asked(volume, &reads(4096)).caps;
            assert!(caps[0].bucket.is_some() && caps[0].without_jitter().is_none(), "{volume}: {:?}", caps[0]);
            assert!(caps.iter().all(|cap| cap.wait(iops).quantile_secs(0.99) < 1e-9), "{volume}: {caps:?}");
            assert!(caps[0].wait(1.01 * caps[0].iops).mean_secs.is_infinite(), "credits are not counted on");
        }
    }

    #[test]
    fn sequential_loads_of_a_drive_have_no_closed_form() {
        let spec = crate::catalogue::resolve("hdd/7200rpm").unwrap();
        assert!(predict(&spec, &Load::of(RequestKind::Read, 4096, 1.0)).is_some());
        assert_eq!(predict(&spec, &Load { sequential: true, ..Load::of(RequestKind::Read, 4096, 1.0) }), None);
    }
}
