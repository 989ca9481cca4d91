//! Merges the records of ranks: one load on many hosts.

use std::collections::BTreeMap;

use meter::{BLOCK_BYTES_MAX, Summary};

use crate::fio::ALL_CLIENTS;
use crate::{
    DataKind, DiskUse, JobResult, LatencyStats, Measured, RANK_INTERVALS_MAX, RankJob, RankRecord, Run, SeriesRecord,
};

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
            jobs: RankJob::all_of(&run.jobs),
            ..Self::default()
        }
    }

    /// Reduces the series to this number of intervals at most.
    pub fn shorten_series(&mut self, most: usize) {
        self.series = shortened(std::mem::take(&mut self.series), most);
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

fn coarsened(series: SeriesRecord) -> SeriesRecord {
    shortened(series, RANK_INTERVALS_MAX)
}

fn shortened(mut series: SeriesRecord, most: usize) -> SeriesRecord {
    while series.intervals.len() > most.max(1) {
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
        let (own, mut pairs) = (self.jobs.len(), Vec::new());
        for job in jobs {
            let skipped = seen.entry(job.name.clone()).or_default();
            let of_name = |index: &usize| self.jobs[*index].name == job.name;
            let place = (0..own).filter(of_name).nth(*skipped);
            *skipped += 1;
            match place {
                Some(index) => pairs.push((index, job)),
                None => self.jobs.push(job),
            }
        }
        let block_bytes = BLOCK_BYTES_MAX / self.jobs.len().max(1);
        pairs.iter().for_each(|(index, job)| self.jobs[*index].add_rank(job, block_bytes));
    }

    /// Prefixes device names with the host name.
    pub fn name_disks_by_host(&mut self) {
        for disk in &mut self.disks {
            disk.name = format!("{}:{}", self.host.hostname, disk.name);
        }
    }
}

impl JobResult {
    /// Adds the results of the same job in another rank, with about `block_bytes` of latency blocks at most.
    fn add_rank(&mut self, other: &Self, block_bytes: usize) {
        let mut summary = Summary::from(&self.result);
        summary.merge(&Summary::from(&other.result));
        summary.blocks.shrink_to(block_bytes);
        self.result = (&summary).into();
        self.declared.add(&other.declared);
        self.error = if self.error == 0 { other.error } else { self.error };
        self.eta_s = self.eta_s.max(other.eta_s);
        self.elapsed_s = self.elapsed_s.max(other.elapsed_s);
        self.started_unix_ms = self.started_unix_ms.min(other.started_unix_ms);
        self.workers += other.workers;
        self.evidence.add([&other.evidence]);
        if let Some(more) = &other.verified {
            self.verified.get_or_insert_default().merge(more);
        }
        if let (Some(replay), Some(more)) = (&mut self.replay, &other.replay) {
            replay.merge(more);
        }
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

impl Run {
    /// Returns the results of each rank as a run of its own, in ascending order; `None` if they are unknown for all
    /// ranks, as in older records and with many jobs.
    #[must_use]
    pub fn by_rank(&self) -> Option<Vec<(&RankRecord, Self)>> {
        let members = &self.fleet.as_ref()?.members;
        let has_jobs = |member: &&RankRecord| !member.jobs.is_empty();
        let is_known = members.iter().all(|member| has_jobs(&member) || member.workers == 0);
        if !is_known || !members.iter().any(|member| has_jobs(&member)) {
            return None;
        }
        let of_rank = |member| (member, Self { jobs: self.jobs_of(member), ..Self::default() });
        Some(members.iter().map(of_rank).collect())
    }

    /// Returns the results of a rank, with the settings of the merged jobs.
    fn jobs_of(&self, member: &RankRecord) -> Vec<JobResult> {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        let of_rank = |job: &RankJob, merged: &JobResult| JobResult {
            name: job.name.clone(),
            description: merged.description.clone(),
            group: merged.group,
            number: merged.number,
            error: job.error,
            elapsed_s: job.elapsed_s,
            started_unix_ms: job.started_unix_ms,
            workers: job.result.workers,
            echo: job.echo.clone(),
            declared: merged.declared.clone(),
            result: job.result.clone(),
            ..JobResult::default()
        };
        let jobs = member.jobs.iter().filter_map(|job| {
            let skipped = seen.entry(&job.name).or_default();
            let merged = self.jobs.iter().filter(|merged| merged.name == job.name).nth(*skipped);
            *skipped += 1;
            merged.map(|merged| of_rank(job, merged))
        });
        jobs.collect()
    }

    /// Returns the total of each reporting group as one result, by the name of fio's total of its clients.
    #[must_use]
    pub fn group_sums(&self) -> Vec<JobResult> {
        self.groups().into_iter().map(|group| self.group_sum(group)).collect()
    }

    fn group_sum(&self, group: u32) -> JobResult {
        let mut all = Summary::default();
        self.in_group(group).for_each(|job| all.merge(&Summary::from(&job.result)));
        let jobs = || self.in_group(group);
        JobResult {
            name: ALL_CLIENTS.to_owned(),
            group,
            error: jobs().map(|job| job.error).find(|error| *error != 0).unwrap_or(0),
            eta_s: jobs().map(|job| job.eta_s).max().unwrap_or(0),
            elapsed_s: jobs().map(|job| job.elapsed_s).max().unwrap_or(0),
            started_unix_ms: jobs().map(|job| job.started_unix_ms).min().unwrap_or(0),
            workers: jobs().map(|job| job.workers).sum(),
            declared: jobs().next().map(|job| job.declared.clone()).unwrap_or_default(),
            result: Measured::from(&all),
            ..JobResult::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DirectionResult, FleetRecord, HostRecord};

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
        assert_eq!(fleet.members.iter().map(RankRecord::ios).collect::<Vec<_>>(), [2, 1, 3]);
        assert_eq!(fleet.missing().iter().map(|lost| lost.ranks.clone()).collect::<Vec<_>>(), [3..=3]);
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
