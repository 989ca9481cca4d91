//! Sample runs.

#![allow(dead_code)]

use record::{
    Declared, DirectionResult, FleetRecord, HostRecord, IntervalRecord, JobResult, LatencyStats, Measured, RankRecord,
    Run, SeriesRecord, TargetFacts, TargetKind, Throttle,
};
use units::random::Random;

pub(crate) const SECOND_NS: u64 = 1_000_000_000;

/// A first-order autoregressive series with mean zero and standard deviation one.
pub(crate) struct Wander {
    phi: f64,
    last: f64,
}

impl Wander {
    pub(crate) fn new(phi: f64, random: &mut Random) -> Self {
        Self { phi, last: normal(random) }
    }

    pub(crate) fn next(&mut self, random: &mut Random) -> f64 {
        self.last = self.phi * self.last + (1.0 - self.phi * self.phi).sqrt() * normal(random);
        self.last
    }
}

/// Returns a normally distributed value (Box-Muller).
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

/// Latencies that all fall into one bucket.
pub(crate) fn latency(count: u64, mean_ns: u64, stddev_ns: u64) -> LatencyStats {
    LatencyStats {
        count,
        min_ns: mean_ns,
        max_ns: mean_ns,
        mean_ns: mean_ns as f64,
        stddev_ns: stddev_ns as f64,
        buckets: vec![(meter_bucket(mean_ns), count)],
        quoted: Vec::new(),
    }
}

/// Returns the bucket of a value, with 64 buckets per power of two.
pub(crate) fn meter_bucket(value: u64) -> usize {
    let shift = value.max(64).ilog2() - 6;
    if shift == 0 { value as usize } else { ((shift as usize + 1) << 6) + ((value >> shift) & 63) as usize }
}

/// A throttle of `sda`.
pub(crate) fn throttle(key: &str, value: u64) -> Throttle {
    let (device, file) = ("sda".to_owned(), "/sys/fs/cgroup/db.slice/io.max".to_owned());
    Throttle { device, file, key: key.to_owned(), value }
}

/// A direct random read of 30 s that keeps `depth` in flight at `service_ns` each.
pub(crate) fn queue_full(depth: u32, service_ns: u64) -> Run {
    let runtime_ns = 30 * SECOND_NS;
    let ios = runtime_ns * u64::from(depth) / service_ns;
    let read = DirectionResult {
        ios,
        bytes: ios * 4096,
        runtime_ns,
        service: latency(ios, service_ns, service_ns / 2),
        ..DirectionResult::default()
    };
    let each = IntervalRecord { ios: [ios / 30, 0, 0], ..IntervalRecord::default() };
    let result = Measured {
        read,
        runtime_ns,
        workers: 1,
        series: SeriesRecord { width_ns: SECOND_NS, pace_ns: 0, intervals: vec![each; 30] },
        ..Measured::default()
    };
    let declared = Declared {
        engine: "io_uring".to_owned(),
        device: true,
        queues: true,
        iodepth: depth,
        iodepth_effective: depth,
        in_flight_asked: Some(depth.into()),
        in_flight_possible: Some(depth.into()),
        direct: true,
        rw: "randread".to_owned(),
        ..Declared::default()
    };
    let job = JobResult { name: "job".to_owned(), workers: 1, declared, result, ..JobResult::default() };
    Run { host: HostRecord { cpus: 8, ..HostRecord::default() }, jobs: vec![job], ..Run::default() }
}

/// Returns the only file of a run's only job.
pub(crate) fn file(run: &mut Run) -> &mut TargetFacts {
    run.jobs[0].evidence.targets = vec![TargetFacts {
        path: "f".to_owned(),
        kind: TargetKind::Regular,
        size: 1 << 30,
        allocated: Some(1 << 30),
        cached_before: None,
        cached_after: None,
    }];
    &mut run.jobs[0].evidence.targets[0]
}

/// A rank with one interval per second; two ranks are on each host.
pub(crate) fn rank(number: u32, iops: &[u64]) -> RankRecord {
    let interval = |&ios: &u64| IntervalRecord { ios: [ios, 0, 0], ..IntervalRecord::default() };
    let sum: u64 = iops.iter().sum();
    let mean = sum as f64 / iops.len().max(1) as f64;
    RankRecord {
        rank: number,
        hostname: format!("node{}", number / 2),
        cpus: 8,
        ios: [sum, 0, 0],
        bytes: [4096 * sum, 0, 0],
        iops: mean,
        bytes_per_second: 4096.0 * mean,
        latency_ns: Some([500_000, 1_000_000, 2_000_000]),
        workers: 2,
        cpu_share: 0.2,
        series: SeriesRecord { width_ns: SECOND_NS, pace_ns: 0, intervals: iops.iter().map(interval).collect() },
        ..RankRecord::default()
    }
}

/// A run whose job is the sum of the ranks.
pub(crate) fn of_ranks(members: Vec<RankRecord>) -> Run {
    let mut run = queue_full(32, 1_000_000);
    let workers: u32 = members.iter().map(|member| member.workers).sum();
    run.jobs[0].workers = workers;
    run.jobs[0].result.workers = workers;
    run.jobs[0].result.runtime_ns *= u64::from(workers.max(1));
    let length = members.iter().map(|member| member.series.intervals.len()).max().unwrap_or(0);
    let sum =
        |at: usize| members.iter().filter_map(|member| member.series.intervals.get(at)).map(|one| one.ios[0]).sum();
    let interval = |at| IntervalRecord { ios: [sum(at), 0, 0], ..IntervalRecord::default() };
    run.jobs[0].result.series.intervals = (0..length).map(interval).collect();
    run.fleet = Some(FleetRecord { ranks: members.len() as u32, members, ..FleetRecord::default() });
    run
}
