//! Runs of one load on many hosts: the ranks of a run, and how their records merge.

use std::collections::BTreeMap;

use meter::{BLOCK_BYTES_MAX, Summary};
use serde::{Deserialize, Serialize};

use crate::{DataKind, DiskUse, JobResult, LatencyStats, Measured, Run, RunOutcome, SeriesRecord};

/// The ranks of a run. A rank is one process of a load that runs on many hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FleetRecord {
    /// Identifies the run: the same in the records of all its ranks, and in no others.
    pub id: String,
    /// Number of ranks that were started.
    pub ranks: u32,
    /// Ranks whose results are in the record, in ascending order.
    pub members: Vec<RankRecord>,
    /// Known reasons why results of ranks are missing, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostRank>,
    /// Cost of merging the results; `None` if they were merged from files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<MergeRecord>,
}

/// The results of one rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankRecord {
    /// Number, from zero.
    pub rank: u32,
    /// Name of its host.
    pub hostname: String,
    /// Processors of its host; zero if unknown.
    pub cpus: u32,
    /// Clock of its host relative to that of rank 0; `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockRecord>,
    /// Time from the agreed start to the first operation, in nanoseconds; `None` without an agreed start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_delay_ns: Option<u64>,
    /// Outcome.
    pub outcome: RunOutcome,
    /// The worst failure; `None` if its results are complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<RankFailure>,
    /// What went wrong, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
    /// Operations: reads, writes and trims.
    pub ios: [u64; 3],
    /// Bytes: reads, writes and trims.
    pub bytes: [u64; 3],
    /// Operations per second over all kinds, added over its jobs.
    pub iops: f64,
    /// Bytes per second over all kinds, added over its jobs.
    pub bytes_per_second: f64,
    /// Percentiles 50, 99 and 99.9 of the latency over all kinds, in nanoseconds; `None` without histograms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<[u64; 3]>,
    /// Failed operations.
    pub errors: u64,
    /// Number of workers.
    pub workers: u32,
    /// Mean fraction of a processor that a worker used.
    pub cpu_share: f64,
    /// Maximum memory of its process in bytes; zero if unknown.
    pub memory_bytes: u64,
    /// Bytes that it sent to other ranks before its results were merged.
    pub sent_bytes: u64,
    /// Counts of each interval over all jobs, in at most [`RANK_INTERVALS_MAX`] intervals.
    pub series: SeriesRecord,
}

/// Kinds of failures of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RankFailure {
    /// A block did not hold what was written.
    Verification,
    /// An operation failed, or a target did not answer.
    Environment,
}

/// Maximum number of intervals of [`RankRecord::series`].
pub const RANK_INTERVALS_MAX: usize = 120;

/// The clock of a host, relative to that of rank 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockRecord {
    /// Offset of the monotonic clock in nanoseconds; positive if it is ahead.
    pub offset_ns: i64,
    /// Maximum error of the offset in nanoseconds: half the round trip, added over the ranks between.
    pub error_ns: u64,
    /// Change of the offset during the run in parts per billion; `None` if it was measured only once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_ppb: Option<i64>,
    /// Offset of the time of day in nanoseconds; positive if it is ahead.
    pub wall_offset_ns: i64,
}

/// A rank without results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostRank {
    /// Number.
    pub rank: u32,
    /// Why its results are missing, without a full stop.
    pub reason: String,
}

/// Cost of merging the results of all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeRecord {
    /// Time from the end of rank 0's own run to the merged record, in nanoseconds. It includes the wait for slower ranks.
    pub wall_ns: u64,
    /// Part of it in which rank 0 merged records, in nanoseconds.
    pub busy_ns: u64,
    /// Bytes of the records that rank 0 received.
    pub received_bytes: u64,
}

impl FleetRecord {
    /// Describes one rank's own run.
    #[must_use]
    pub fn of_rank(id: String, ranks: u32, rank: RankRecord) -> Self {
        Self { id, ranks, members: vec![rank], ..Self::default() }
    }

    /// Returns the ranks without results, each with the reason if it is known.
    #[must_use]
    pub fn missing(&self) -> Vec<LostRank> {
        let lost: BTreeMap<u32, &LostRank> = self.lost.iter().map(|lost| (lost.rank, lost)).collect();
        let present = |rank: &u32| self.members.binary_search_by_key(rank, |member| member.rank).is_ok();
        let unexplained = |rank| LostRank { rank, reason: "there is no result of it".to_owned() };
        let missing = (0..self.ranks).filter(|rank| !present(rank));
        missing.map(|rank| lost.get(&rank).map_or_else(|| unexplained(rank), |lost| (*lost).clone())).collect()
    }

    /// Returns the time between the first and the last start in nanoseconds, by rank 0's clock; `None` for fewer than
    /// two known starts.
    #[must_use]
    pub fn start_skew_ns(&self) -> Option<u64> {
        let delays = || self.members.iter().filter_map(|member| member.start_delay_ns);
        (delays().count() > 1).then(|| delays().max().unwrap_or(0) - delays().min().unwrap_or(0))
    }

    /// Returns the number of hosts by name.
    #[must_use]
    pub fn hosts(&self) -> usize {
        let mut names: Vec<&str> = self.members.iter().map(|member| member.hostname.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    }

    fn add(&mut self, other: Self) {
        self.ranks = self.ranks.max(other.ranks);
        self.members.extend(other.members);
        self.members.sort_by_key(|member| member.rank);
        self.members.dedup_by_key(|member| member.rank);
        self.lost.extend(other.lost);
        self.lost.sort_by_key(|lost| lost.rank);
        self.lost.dedup_by_key(|lost| lost.rank);
    }
}

impl RankRecord {
    /// Summarizes the results of a run in one rank. What the run does not know (clock, start, memory) is left out.
    #[must_use]
    pub fn of(rank: u32, run: &Run) -> Self {
        let mut all = Summary::default();
        let (mut iops, mut bytes_per_second) = (0.0, 0.0);
        for job in &run.jobs {
            all.merge(&Summary::from(&job.result));
            iops += job.result.iops();
            bytes_per_second += job.result.bytes_per_second();
        }
        let all = Measured::from(&all);
        let of = |value: fn(&crate::DirectionResult) -> u64| DataKind::ALL.map(|kind| value(all.kind(kind)));
        Self {
            rank,
            hostname: run.host.hostname.clone(),
            cpus: run.host.cpus,
            outcome: run.outcome,
            ios: of(|result| result.ios),
            bytes: of(|result| result.bytes),
            iops,
            bytes_per_second,
            latency_ns: latency_ns(&all),
            errors: all.errors,
            workers: all.workers,
            cpu_share: all.cpu_share(),
            series: coarsened(all.series),
            ..Self::default()
        }
    }

    /// Returns the operations of all kinds.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.ios.iter().sum()
    }
}

/// Returns percentiles over all kinds.
fn latency_ns(all: &Measured) -> Option<[u64; 3]> {
    let mut together = meter::Latency::default();
    for (_, result) in all.kinds() {
        together.merge(&result.in_blocks().into());
    }
    let together = LatencyStats::from(&together);
    let [p50, p99, p999] = [50.0, 99.0, 99.9].map(|percent| together.percentile_ns(percent));
    Some([p50?, p99?, p999?])
}

fn coarsened(mut series: SeriesRecord) -> SeriesRecord {
    while series.intervals.len() > RANK_INTERVALS_MAX {
        series = series.halved();
    }
    series
}

impl Run {
    /// Adds the results of another rank, which ran the same jobs at the same time. Merging is associative, and gives the
    /// same counts and percentiles in every order.
    ///
    /// Jobs belong together if they have the same name and are the same one of that name. Devices are distinguished by
    /// their hosts, so [`Run::name_disks_by_host`] comes first.
    pub fn add_rank(&mut self, other: Self) {
        self.started_unix_ms = self.started_unix_ms.min(other.started_unix_ms);
        self.taken_unix_ms = self.taken_unix_ms.max(other.taken_unix_ms);
        self.outcome = self.outcome.worse(other.outcome);
        for global in other.globals {
            if !self.globals.contains(&global) {
                self.globals.push(global);
            }
        }
        for asked in other.asked {
            if self.asked.iter().all(|known| known.name != asked.name) {
                self.asked.push(asked);
            }
        }
        self.add_jobs(other.jobs);
        for disk in other.disks {
            match self.disks.iter_mut().find(|known| known.name == disk.name) {
                Some(known) => known.widen(&disk),
                None => self.disks.push(disk),
            }
        }
        for note in other.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.stuck.extend(other.stuck);
        match (&mut self.fleet, other.fleet) {
            (Some(fleet), Some(more)) => fleet.add(more),
            (fleet, more) => *fleet = fleet.take().or(more),
        }
    }

    fn add_jobs(&mut self, jobs: Vec<JobResult>) {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let (own, mut merged) = (self.jobs.len(), vec![false; self.jobs.len()]);
        for job in jobs {
            let skipped = seen.entry(job.name.clone()).or_default();
            let of_name = |index: &usize| self.jobs[*index].name == job.name;
            let place = (0..own).filter(of_name).nth(*skipped);
            *skipped += 1;
            match place {
                Some(index) => {
                    merged[index] = true;
                    self.jobs[index].add_rank(job);
                }
                None => self.jobs.push(job),
            }
        }
        let block_bytes = BLOCK_BYTES_MAX / self.jobs.len().max(1);
        for (job, merged) in self.jobs.iter_mut().zip(merged) {
            if merged {
                job.limit_blocks(block_bytes);
            }
        }
    }

    /// Prefixes the names of devices with that of the host.
    pub fn name_disks_by_host(&mut self) {
        for disk in &mut self.disks {
            disk.name = format!("{}:{}", self.host.hostname, disk.name);
        }
    }
}

impl JobResult {
    /// Adds the results of the same job in another rank.
    fn add_rank(&mut self, other: Self) {
        let mut summary = Summary::from(&self.result);
        summary.merge(&Summary::from(&other.result));
        self.result = (&summary).into();
        self.declared.add(&other.declared);
        self.error = if self.error == 0 { other.error } else { self.error };
        self.eta_s = self.eta_s.max(other.eta_s);
        self.elapsed_s = self.elapsed_s.max(other.elapsed_s);
        self.started_unix_ms = self.started_unix_ms.min(other.started_unix_ms);
        self.workers += other.workers;
        self.evidence.add(&other.evidence);
        if let Some(more) = &other.verified {
            self.verified.get_or_insert_default().merge(more);
        }
    }

    fn limit_blocks(&mut self, bytes: usize) {
        let mut summary = Summary::from(&self.result);
        summary.blocks.shrink_to(bytes);
        self.result.blocks = Measured::from(&summary).blocks;
    }
}

impl DiskUse {
    /// Joins the counts of the same device as another process of the same host saw them: the greater ones, because both
    /// count the operations of all processes.
    fn widen(&mut self, other: &Self) {
        let counts = [
            (&mut self.read_ios, other.read_ios),
            (&mut self.write_ios, other.write_ios),
            (&mut self.read_sectors, other.read_sectors),
            (&mut self.write_sectors, other.write_sectors),
            (&mut self.read_merges, other.read_merges),
            (&mut self.write_merges, other.write_merges),
            (&mut self.read_ticks_ms, other.read_ticks_ms),
            (&mut self.write_ticks_ms, other.write_ticks_ms),
            (&mut self.in_queue_ms, other.in_queue_ms),
        ];
        for (ours, theirs) in counts {
            *ours = (*ours).max(theirs);
        }
        self.util_percent = self.util_percent.max(other.util_percent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DirectionResult, HostRecord};

    /// The record of one rank with one operation per latency.
    fn rank(number: u32, latencies_ns: &[u64]) -> Run {
        let mut service = meter::Latency::default();
        latencies_ns.iter().for_each(|ns| service.add(*ns, 1));
        let read = DirectionResult {
            ios: latencies_ns.len() as u64,
            bytes: 4096 * latencies_ns.len() as u64,
            runtime_ns: 1_000_000_000,
            service: (&service).into(),
            ..DirectionResult::default()
        };
        let result = Measured { read, workers: 1, runtime_ns: 1_000_000_000, ..Measured::default() };
        let jobs = vec![JobResult { name: "a".to_owned(), workers: 1, result, ..JobResult::default() }];
        let host = HostRecord { hostname: format!("node{number}"), ..HostRecord::default() };
        let disks = vec![DiskUse { name: "sda".to_owned(), read_ios: 7, ..DiskUse::default() }];
        let mut run = Run { jobs, host, disks, ..Run::default() };
        run.name_disks_by_host();
        run.fleet = Some(FleetRecord::of_rank("x".to_owned(), 4, RankRecord::of(number, &run)));
        run
    }

    #[test]
    fn ranks_merge_in_any_order_to_the_concatenated_histogram() {
        let ranks = [rank(0, &[1_000, 5_000]), rank(1, &[90_000]), rank(2, &[1_000, 1_000, 70_000])];
        let (mut forward, mut backward) = (ranks[0].clone(), ranks[2].clone());
        forward.add_rank(ranks[1].clone());
        forward.add_rank(ranks[2].clone());
        let mut middle = ranks[1].clone();
        middle.add_rank(ranks[0].clone());
        backward.add_rank(middle);
        let concatenated = rank(9, &[1_000, 5_000, 90_000, 1_000, 1_000, 70_000]);
        for merged in [&forward, &backward] {
            let (ours, expected) = (&merged.jobs[0].result.read, &concatenated.jobs[0].result.read);
            assert_eq!((ours.ios, ours.bytes, &ours.service.buckets), (6, 6 * 4096, &expected.service.buckets));
            assert_eq!(ours.service.percentile_ns(99.0), expected.service.percentile_ns(99.0));
            assert_eq!((merged.jobs.len(), merged.jobs[0].workers), (1, 3));
            assert_eq!(merged.fleet, forward.fleet);
        }
        let fleet = forward.fleet.unwrap();
        assert_eq!(fleet.members.iter().map(|member| member.ios()).collect::<Vec<_>>(), [2, 1, 3]);
        assert_eq!(fleet.missing().iter().map(|lost| lost.rank).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn jobs_merge_by_name_and_position_and_devices_by_host() {
        let job = |name: &str, ios| JobResult {
            name: name.to_owned(),
            workers: 1,
            result: Measured { read: DirectionResult { ios, ..DirectionResult::default() }, ..Measured::default() },
            ..JobResult::default()
        };
        let (mut one, mut two) = (rank(0, &[]), rank(1, &[]));
        one.jobs = vec![job("a", 1), job("a", 10), job("b", 100)];
        two.jobs = vec![job("a", 2), job("c", 200), job("a", 20), job("a", 30)];
        one.add_rank(two);
        let counts: Vec<_> = one.jobs.iter().map(|job| (job.name.as_str(), job.result.read.ios)).collect();
        assert_eq!(counts, [("a", 3), ("a", 30), ("b", 100), ("c", 200), ("a", 30)]);
        assert_eq!(one.disks.iter().map(|disk| disk.name.as_str()).collect::<Vec<_>>(), ["node0:sda", "node1:sda"]);
        let mut beside = rank(0, &[]);
        beside.disks[0].read_ios = 9;
        one.add_rank(beside);
        assert_eq!(one.disks.iter().map(|disk| disk.read_ios).collect::<Vec<_>>(), [9, 7]);
    }

    #[test]
    fn a_long_series_is_coarsened_without_losing_counts() {
        let interval = crate::IntervalRecord { ios: [3, 1, 0], ..crate::IntervalRecord::default() };
        let series = SeriesRecord { width_ns: 1_000_000_000, pace_ns: 0, intervals: vec![interval; 1_001] };
        let coarse = coarsened(series);
        assert_eq!((coarse.width_ns, coarse.intervals.len()), (16_000_000_000, 63));
        assert_eq!(coarse.intervals.iter().map(|interval| interval.ios[0]).sum::<u64>(), 3_003);
    }
}
