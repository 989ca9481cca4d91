//! Runs made of figures that other programs state, which have neither fio's counts nor its options.

use super::Input;
use super::iostat::disks_among;
use crate::{
    DataKind, Declared, DeclaredSizes, DirectionResult, DiskCounters, JobResult, KindCounters, LatencyStats, Measured,
    Note, Run, SCHEMA, Tool,
};
use units::PerKind;

/// Time in nanoseconds for which rates are counted if it is unknown how long they were measured.
const NOMINAL_NS: u64 = 1_000_000_000_000;

/// What is known of a load.
#[derive(Clone, Debug, Default)]
pub(super) struct StatedLoad {
    /// `rw`, by fio's name; empty if it is unknown.
    pub(super) rw: String,
    pub(super) depth: Option<u32>,
    pub(super) block_bytes: Option<u32>,
}

/// Returns a run of a program, in whose results `note` is to be read.
pub(super) fn run(tool: &str, jobs: Vec<JobResult>, notes: &[String]) -> Run {
    Run {
        schema: SCHEMA,
        tool: Tool { name: tool.to_owned(), version: String::new() },
        jobs,
        notes: notes.iter().map(Note::of_run).collect(),
        ..Run::default()
    }
}

/// Returns a result without figures.
pub(super) fn result(name: &str, group: u32, number: usize, load: &StatedLoad) -> JobResult {
    let depth = load.depth.unwrap_or(0);
    let size = load.block_bytes.map_or(DeclaredSizes::default(), |bytes| DeclaredSizes { min: bytes, max: bytes });
    let declared = Declared {
        device: true,
        queues: true,
        iodepth: depth,
        iodepth_effective: depth,
        in_flight_asked: load.depth.map(u64::from),
        in_flight_possible: load.depth.map(u64::from),
        numjobs: 1,
        rw: load.rw.clone(),
        block_sizes: PerKind { read: size, write: size, trim: size },
        kb_base: 1024,
        header_only: true,
        ..Declared::default()
    };
    let result = Measured { workers: 1, ..Measured::default() };
    JobResult {
        name: name.to_owned(),
        group,
        number: u32::try_from(number).unwrap_or(u32::MAX),
        workers: 1,
        declared,
        result,
        untimed: true,
        ..JobResult::default()
    }
}

impl JobResult {
    /// Sets the rates of a kind and its latency, of which only means need to be known. `seconds` is how long it was
    /// measured, if that is known.
    pub(super) fn set_rate(
        &mut self,
        kind: DataKind,
        iops: f64,
        bytes_per_second: f64,
        seconds: Option<f64>,
        latency: LatencyStats,
    ) {
        let runtime_ns = seconds.map_or(NOMINAL_NS, |seconds| (seconds * 1e9) as u64);
        let count = |rate: f64| (rate * runtime_ns as f64 / 1e9).round() as u64;
        let ios = count(iops);
        let latency = LatencyStats { count: if latency.mean_ns > 0.0 { ios } else { 0 }, ..latency };
        *self.result.kind_mut(kind) = DirectionResult {
            ios,
            bytes: count(bytes_per_second),
            runtime_ns,
            service: latency.clone(),
            latency,
            ..DirectionResult::default()
        };
        self.result.runtime_ns = self.result.runtime_ns.max(runtime_ns);
        self.untimed = seconds.is_none();
    }

    /// Sets the operations of a kind that were counted in a time that is unknown, and their latency.
    pub(super) fn set_count(&mut self, kind: DataKind, ios: u64, bytes: u64, latency: LatencyStats) {
        let service = latency.clone();
        *self.result.kind_mut(kind) = DirectionResult { ios, bytes, service, latency, ..DirectionResult::default() };
    }
}

/// Returns statistics of times that have only a count and a sum.
pub(super) fn mean_of(count: u64, sum_ns: f64) -> LatencyStats {
    let is_known = count > 0 && sum_ns > 0.0;
    LatencyStats {
        count: if is_known { count } else { 0 },
        mean_ns: if is_known { sum_ns / count as f64 } else { 0.0 },
        ..LatencyStats::default()
    }
}

/// Counters of a device over a time that is unknown.
pub(super) struct StatedDisk {
    pub(super) name: String,
    pub(super) counters: DiskCounters,
}

/// Returns a run with a result for each disk that was used. The requests of devices on a disk are its own: together they
/// would count twice.
pub(super) fn of_disks(tool: &str, disks: impl Iterator<Item = StatedDisk>, notes: &[String]) -> Run {
    let mut used: Vec<StatedDisk> = disks.filter(|disk| disk.counters.requests() > 0).collect();
    let names: Vec<String> = used.iter().map(|disk| disk.name.clone()).collect();
    let requests = |name: &str| used.iter().find(|disk| disk.name == name).map_or(0, |disk| disk.counters.requests());
    let stacked = disks_among(&names, |name| [0.0, requests(name) as f64]);
    let above: Vec<String> = stacked.into_iter().flat_map(|disk| disk.above).collect();
    used.retain(|disk| !above.contains(&disk.name));
    let mut notes = notes.to_vec();
    if !above.is_empty() {
        notes.push(format!("ignored, because the devices below them count the same requests: {}", above.join(", ")));
    }
    for disk in &used {
        let (read, write) = (&disk.counters.read, &disk.counters.write);
        for (kind, of, other) in [("reads", read, write), ("writes", write, read)] {
            if of.wait_ms == 0 && of.requests > other.requests / 10 && other.wait_ms > 0 {
                let times = mean_of(other.requests, other.wait_ms as f64 * 1e6).mean_ns as u64;
                let times = units::Nanos::new(times);
                notes.push(format!("{}: its {kind} have no times; the others took {times} each", disk.name));
            }
        }
    }
    let job = |(number, disk): (usize, StatedDisk)| {
        let mut job = result(&disk.name, 0, number, &StatedLoad::default());
        let mut set = |kind: DataKind, of: &KindCounters| {
            job.set_count(kind, of.requests, of.bytes(), mean_of(of.requests, of.wait_ms as f64 * 1e6));
        };
        set(DataKind::Read, &disk.counters.read);
        set(DataKind::Write, &disk.counters.write);
        disk.counters.discard.iter().for_each(|discard| set(DataKind::Trim, discard));
        if let Some(flush) = &disk.counters.flush {
            job.result.sync = mean_of(flush.requests, flush.wait_ms as f64 * 1e6);
        }
        job
    };
    run(tool, used.into_iter().enumerate().map(job).collect(), &notes)
}

/// Wraps a run.
pub(super) fn input(tool: &str, jobs: Vec<JobResult>, notes: &[String]) -> Input {
    super::of_run(run(tool, jobs, notes))
}
