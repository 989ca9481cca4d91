//! The ranks of a run on many hosts.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RunOutcome;
use crate::{Declared, DirectionResult, JobResult, LatencyStats, Measured, SeriesRecord};

/// The ranks of a run. A rank is one process of a load that runs on many hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankRecord {
    /// Number, from zero.
    pub rank: u32,
    pub hostname: String,
    /// Processors of its host; zero if unknown.
    pub cpus: u32,
    /// Speed of the fastest network link of its host in bytes per second; `None` if it is unknown, or if targets are not
    /// reached over the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_bytes_per_second: Option<u64>,
    /// Clock of its host relative to rank 0's; `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockRecord>,
    /// Time from the agreed start to the first operation, in nanoseconds; `None` without an agreed start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_delay_ns: Option<u64>,
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
    pub workers: u32,
    /// Mean fraction of a CPU that a worker used.
    pub cpu_share: f64,
    /// Maximum memory of its process in bytes; zero if unknown.
    pub memory_bytes: u64,
    /// Bytes that it sent to other ranks before its results were merged.
    pub sent_bytes: u64,
    /// Counts of each interval over all jobs, in at most [`RANK_INTERVALS_MAX`] intervals.
    pub series: SeriesRecord,
    /// Results by job; empty in older records, and if there are more than [`crate::RANK_JOBS_MAX`] jobs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<RankJob>,
}

/// Kinds of failures of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RankFailure {
    /// A block did not hold what was written.
    Verification,
    /// An operation failed, or a target did not answer.
    Environment,
}

/// Maximum number of intervals of [`RankRecord::series`].
pub const RANK_INTERVALS_MAX: usize = 120;

/// The clock of a host, relative to rank 0's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostRank {
    pub rank: u32,
    /// Why its results are missing, without a full stop.
    pub reason: String,
}

/// Ranks without results that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingRanks {
    /// Their numbers.
    pub ranks: RangeInclusive<u32>,
    /// Why their results are missing, without a full stop.
    pub reason: String,
}

impl fmt::Display for MissingRanks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.ranks.start(), self.ranks.end()) {
            (first, last) if first == last => write!(f, "rank {first}: {}", self.reason),
            (first, last) => write!(f, "ranks {first} to {last}: {}", self.reason),
        }
    }
}

/// Cost of merging the results of all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergeRecord {
    /// Time from the end of rank 0's own run to the merged record, in nanoseconds. It includes the wait for slower ranks.
    pub wall_ns: u64,
    /// Part of it in which rank 0 merged records, in nanoseconds. It grows with the logarithm of the number of ranks.
    pub busy_ns: u64,
    /// Part of it in which rank 0 read the table of ranks, in nanoseconds. It grows with the number of ranks.
    #[serde(default)]
    pub table_ns: u64,
    /// Bytes of the records that rank 0 received.
    pub received_bytes: u64,
}

impl FleetRecord {
    /// Describes one rank's own run.
    #[must_use]
    pub fn of_rank(id: String, ranks: u32, rank: RankRecord) -> Self {
        Self { id, ranks, members: vec![rank], ..Self::default() }
    }

    /// Returns the ranks without results in ascending order: each of known reason, and each gap between others. Their
    /// number follows from the lists of the record, not from `ranks`, which may come from a damaged file.
    #[must_use]
    pub fn missing(&self) -> Vec<MissingRanks> {
        let mut known: BTreeMap<u32, Option<&str>> =
            self.lost.iter().map(|lost| (lost.rank, Some(lost.reason.as_str()))).collect();
        known.extend(self.members.iter().map(|member| (member.rank, None)));
        let (mut missing, mut first) = (Vec::new(), 0);
        let end = (self.ranks, None);
        for (rank, reason) in known.range(..self.ranks).map(|(rank, reason)| (*rank, *reason)).chain([end]) {
            if first < rank {
                let reason = if rank - first == 1 { "it left no result" } else { "they left no results" };
                missing.push(MissingRanks { ranks: first..=rank - 1, reason: reason.to_owned() });
            }
            missing.extend(reason.map(|reason| MissingRanks { ranks: rank..=rank, reason: reason.to_owned() }));
            first = rank.saturating_add(1);
        }
        missing
    }

    /// Returns the time between the first and the last start in nanoseconds, by rank 0's clock; `None` for fewer than
    /// two known starts.
    #[must_use]
    pub fn start_skew_ns(&self) -> Option<u64> {
        let delays = || self.members.iter().filter_map(|member| member.start_delay_ns);
        (delays().count() > 1).then(|| delays().max().unwrap_or(0) - delays().min().unwrap_or(0))
    }

    #[must_use]
    pub fn hosts(&self) -> usize {
        let mut names: Vec<&str> = self.members.iter().map(|member| member.hostname.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    }

    /// Adds the ranks of another record of the same run.
    pub(crate) fn add(&mut self, other: Self) {
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
    /// Returns the operations of all kinds.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.ios.iter().fold(0, |sum, &ios| sum.saturating_add(ios))
    }

    /// Names the rank and its host: `rank 5 on node1`.
    #[must_use]
    pub fn label(&self) -> String {
        let Self { rank, hostname, .. } = self;
        if hostname.is_empty() { format!("rank {rank}") } else { format!("rank {rank} on {hostname}") }
    }
}

/// Maximum number of results by job that a rank adds to the record of all ranks.
pub const RANK_JOBS_MAX: usize = 64;

/// The results of one job in one rank. Its latencies have percentiles instead of histograms, which would make the record
/// of many ranks large.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankJob {
    /// Name. Jobs of equal names are in the order of the merged record.
    pub name: String,
    /// Error number that ended the job; zero for none.
    pub error: i32,
    /// Seconds since the program started.
    pub elapsed_s: u64,
    /// Start of the first operation, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Options set for this job alone, with the variables of the rank replaced.
    pub echo: Vec<(String, String)>,
    /// Measured results, without series.
    pub result: Measured,
}

impl RankJob {
    /// Summarizes the results of all jobs; none if there are too many.
    pub(crate) fn all_of(jobs: &[JobResult]) -> Vec<Self> {
        if jobs.len() > RANK_JOBS_MAX { Vec::new() } else { jobs.iter().map(Self::of).collect() }
    }

    fn of(job: &JobResult) -> Self {
        Self {
            name: job.name.clone(),
            error: job.error,
            elapsed_s: job.elapsed_s,
            started_unix_ms: job.started_unix_ms,
            echo: job.echo.clone(),
            result: job.result.without_histograms(&job.declared),
        }
    }
}

impl Measured {
    /// Returns the results with the requested percentiles instead of histograms, and without series.
    fn without_histograms(&self, declared: &Declared) -> Self {
        let kept = &declared.kept;
        let wanted = |is_wanted: bool| if is_wanted { declared.percentiles.as_slice() } else { &[] };
        let direction = |result: &DirectionResult| DirectionResult {
            submission: result.submission.without_histogram(wanted(kept.slat_percentiles)),
            service: result.service.without_histogram(wanted(kept.clat_percentiles)),
            latency: result.latency.without_histogram(wanted(kept.lat_percentiles)),
            response: result.response.without_histogram(&[]),
            priorities: Vec::new(),
            ..*result
        };
        Self {
            read: direction(&self.read),
            write: direction(&self.write),
            trim: direction(&self.trim),
            sync: self.sync.without_histogram(wanted(kept.clat_percentiles || kept.lat_percentiles)),
            lateness: self.lateness.without_histogram(&[]),
            series: SeriesRecord::default(),
            blocks: Vec::new(),
            trimmed: self.trimmed.clone(),
            quoted_shares: Some(self.latency_shares()),
            ..*self
        }
    }
}

impl LatencyStats {
    fn without_histogram(&self, percents: &[f64]) -> Self {
        Self { buckets: Vec::new(), quoted: self.fio_percentiles_ns(percents), ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(ranks: u32, members: &[u32], lost: &[u32]) -> Vec<String> {
        let members = members.iter().map(|&rank| RankRecord { rank, ..RankRecord::default() }).collect();
        let lost = lost.iter().map(|&rank| LostRank { rank, reason: "gone".to_owned() }).collect();
        let fleet = FleetRecord { ranks, members, lost, ..FleetRecord::default() };
        fleet.missing().iter().map(ToString::to_string).collect()
    }

    /// A record that claims so many ranks took 7.6 GiB to report.
    #[test]
    fn each_claimed_rank_took_memory() {
        let gap = |first: u32| format!("ranks {first} to 4294967294: they left no results");
        assert_eq!(missing(u32::MAX, &[0, 1], &[]), [gap(2)]);
        assert_eq!(
            missing(u32::MAX, &[5, 1, u32::MAX], &[3, 1, u32::MAX]),
            [
                "rank 0: it left no result",
                "rank 2: it left no result",
                "rank 3: gone",
                "rank 4: it left no result",
                &gap(6)
            ],
            "a rank with results is not lost, and no rank has the number of ranks"
        );
        assert_eq!(missing(0, &[], &[]), [""; 0]);
        assert_eq!(missing(2, &[0, 1], &[]), [""; 0]);
        assert_eq!(missing(3, &[0, 1], &[2]), ["rank 2: gone"]);
    }
}
