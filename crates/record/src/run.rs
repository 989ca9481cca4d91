//! A run as a whole.

use serde::{Deserialize, Serialize};

use crate::{DataKind, Declared, DirectionResult, JobResult, ModelRecord, Quote, SampleRecord, StuckOperation};

/// The record of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The version of this layout, [`crate::SCHEMA`].
    pub schema: u32,
    /// What made it.
    pub tool: Tool,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// When this account was taken: at the end, or in the middle for a status report.
    pub taken_unix_ms: u64,
    /// The host's distance from UTC in seconds, east positive.
    pub utc_offset_s: i32,
    /// The command line, a word each.
    pub command_line: Vec<String>,
    /// What everything random was derived from.
    pub seed: Option<u64>,
    /// Where it ran.
    pub host: HostRecord,
    /// Options set for all jobs, as typed: name and text.
    pub globals: Vec<(String, String)>,
    /// What was asked for, a job each.
    pub asked: Vec<RequestedRun>,
    /// Results in the order of jobs; those that report together are one.
    pub jobs: Vec<JobResult>,
    /// What the devices themselves counted.
    pub disks: Vec<DiskUse>,
    /// What users should know that is not in the numbers.
    pub notes: Vec<Note>,
    /// What modelled volumes have to say; `None` where the run was on real ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRecord>,
    /// What another program printed of reporting groups and devices; empty for runs of ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<Quote>,
    /// How it ended.
    pub outcome: RunOutcome,
    /// Operations that the run ended without; empty where all completed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stuck: Vec<StuckOperation>,
    /// Which repeat of a series it is; `None` where it was done once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Repeat>,
}

/// One of several runs of the same jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// What all of them are called together.
    pub series: String,
    /// Which of them it is, from 1.
    pub number: u32,
    /// How many were to be done.
    pub of: u32,
}

impl Run {
    /// The numbers of the reporting groups, in rising order.
    #[must_use]
    pub fn groups(&self) -> Vec<u32> {
        let mut groups: Vec<u32> = self.jobs.iter().map(|job| job.group).collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    /// The results of one reporting group.
    pub fn in_group(&self, group: u32) -> impl Iterator<Item = &JobResult> {
        self.jobs.iter().filter(move |job| job.group == group)
    }

    /// What the results of one reporting group make together for one kind; `None` where none has used it.
    ///
    /// As fio computes it: from whole milliseconds, bandwidth from the bytes of all over the longest runtime.
    #[must_use]
    pub fn group_totals(&self, group: u32, kind: DataKind) -> Option<GroupTotals> {
        let used = || self.in_group(group).map(|job| job.result.kind(kind)).filter(|result| result.runtime_ns > 0);
        let rates = || used().map(DirectionResult::fio_bytes_per_second);
        let runtimes = || used().map(DirectionResult::runtime_ms);
        let bytes = used().map(|result| result.bytes).sum();
        let runtime_ms_max = runtimes().max()?;
        let together = DirectionResult { bytes, runtime_ns: runtime_ms_max * 1_000_000, ..DirectionResult::default() };
        Some(GroupTotals {
            bytes,
            bytes_per_second: together.fio_bytes_per_second(),
            bytes_per_second_min: rates().min()?,
            bytes_per_second_max: rates().max()?,
            runtime_ms_min: runtimes().min()?,
            runtime_ms_max,
        })
    }

    /// Whether an option was given to one job or to all, by its canonical name.
    #[must_use]
    pub fn was_given(&self, job: &JobResult, option: &str) -> bool {
        job.echo.iter().chain(&self.globals).any(|(name, _)| name == option)
    }
}

/// Totals of a reporting group for one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupTotals {
    /// Bytes transferred.
    pub bytes: u64,
    /// Bytes per second of all together.
    pub bytes_per_second: u64,
    /// Bytes per second of the slowest.
    pub bytes_per_second_min: u64,
    /// Bytes per second of the fastest.
    pub bytes_per_second_max: u64,
    /// The shortest runtime in milliseconds.
    pub runtime_ms_min: u64,
    /// The longest runtime in milliseconds.
    pub runtime_ms_max: u64,
}

impl GroupTotals {
    /// The share of the group's bandwidth that samples make, in per cent and at most 100; fio cuts their mean to
    /// whole KiB/s.
    #[must_use]
    pub fn share_percent(&self, bandwidth_kib: &SampleRecord) -> f64 {
        if self.bytes_per_second == 0 || bandwidth_kib.count == 0 {
            return 0.0;
        }
        (bandwidth_kib.mean.trunc() * 1024.0 * 100.0 / self.bytes_per_second as f64).min(100.0)
    }
}

/// A job as it was asked for, whatever became of its workers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestedRun {
    /// Its name.
    pub name: String,
    /// Its reporting group.
    pub group: u32,
    /// What it asked for.
    pub declared: Declared,
}

impl RequestedRun {
    /// What `job` in reporting group `group` asks for.
    #[must_use]
    pub fn of(job: &job::Job, group: u32) -> Self {
        Self { name: job.name.clone(), group, declared: Declared::of(job) }
    }
}

/// The program that made a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// `fathom`, or `fio` for an import.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Tool {
    /// Returns this program.
    #[must_use]
    pub fn this() -> Self {
        Self { name: "fathom".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

/// The host of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRecord {
    /// Its name.
    pub hostname: String,
    /// The kernel's version.
    pub kernel: String,
    /// Processors online; zero where it is unknown.
    pub cpus: u32,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunOutcome {
    /// Everything was done.
    #[default]
    Completed,
    /// It was asked to stop; results are those until then.
    Interrupted,
    /// At least one worker failed; the results of the others are whole.
    Failed,
    /// It was going on when this account was taken.
    Running,
}

/// Something that users should know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The job it is about; `None` for the run.
    pub job: Option<String>,
    /// The text, a sentence without the job's name.
    pub text: String,
}

/// Counters of a device during the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskUse {
    /// Its name, as in `/sys/block`.
    pub name: String,
    /// Reads completed.
    pub read_ios: u64,
    /// Writes completed.
    pub write_ios: u64,
    /// Sectors of 512 bytes read.
    pub read_sectors: u64,
    /// Sectors of 512 bytes written.
    pub write_sectors: u64,
    /// Reads merged with neighbours.
    pub read_merges: u64,
    /// Writes merged with neighbours.
    pub write_merges: u64,
    /// Milliseconds that reads took together.
    pub read_ticks_ms: u64,
    /// Milliseconds that writes took together.
    pub write_ticks_ms: u64,
    /// Milliseconds weighted by the number in flight.
    pub in_queue_ms: u64,
    /// The share of time in which at least one was in flight, in per cent.
    pub util_percent: f64,
}
