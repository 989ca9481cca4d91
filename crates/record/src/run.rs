//! Runs.

mod fleet;

use std::borrow::Cow;
use std::collections::BTreeMap;

use meter::Summary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::declared::Mixed;
use crate::{
    DataKind, Declared, DirectionResult, JobResult, Measured, ModelRecord, Quote, SampleRecord, StuckOperation,
};
pub use fleet::{
    ClockRecord, FleetRecord, LostRank, MergeRecord, MissingRanks, RANK_INTERVALS_MAX, RANK_JOBS_MAX, RankFailure,
    RankJob, RankRecord,
};

/// The record of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Version of this layout, [`crate::SCHEMA`].
    pub schema: u32,
    /// Program that created the record.
    pub tool: Tool,
    /// Start of the run in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Time of this record in milliseconds since 1970: the end of the run, or the time of a status report.
    pub taken_unix_ms: u64,
    /// Offset of the host's clock from UTC in seconds, east positive.
    pub utc_offset_s: i32,
    /// Command line, one word each.
    pub command_line: Vec<String>,
    /// Seed of all random choices.
    pub seed: Option<u64>,
    /// Host of the run.
    pub host: HostRecord,
    /// Options set for all jobs, as typed: name and value.
    pub globals: Vec<(String, String)>,
    /// Requested jobs.
    pub asked: Vec<RequestedRun>,
    /// Results in the order of jobs; jobs that report together share one.
    pub jobs: Vec<JobResult>,
    /// Counters of devices.
    pub disks: Vec<DiskUse>,
    /// Idleness of the CPUs, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idleness: Option<IdlenessRecord>,
    /// Remarks for users that the numbers do not express.
    pub notes: Vec<Note>,
    /// Results of modelled volumes; `None` for real ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRecord>,
    /// Figures of reporting groups and devices that another program printed; empty for runs of Fathom.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<Quote>,
    pub outcome: RunOutcome,
    /// Operations that had not completed when the run ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stuck: Vec<StuckOperation>,
    /// Position in a series of repeats; `None` for a single run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Repeat>,
    /// Ranks of a run on many hosts; `None` for a run of one process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetRecord>,
}

/// One of several runs of the same jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Repeat {
    pub series: String,
    /// Number of this run, from 1.
    pub number: u32,
    /// Planned number of runs.
    pub of: u32,
}

impl Run {
    /// Removes the numbers of results from notes whose jobs have names of their own.
    pub(crate) fn forget_unique_results(&mut self) {
        let is_unique = |name: &str| self.jobs.iter().filter(|job| job.name == name).count() <= 1;
        let notes = self.notes.iter_mut().filter(|note| note.job.as_deref().is_none_or(is_unique));
        notes.for_each(|note| note.result = None);
    }

    /// Returns the numbers of the reporting groups in ascending order.
    #[must_use]
    pub fn groups(&self) -> Vec<u32> {
        let mut groups: Vec<u32> = self.jobs.iter().map(|job| job.group).collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    /// Iterates over the results of one reporting group.
    pub fn in_group(&self, group: u32) -> impl Iterator<Item = &JobResult> {
        self.jobs.iter().filter(move |job| job.group == group)
    }

    /// Returns the totals of a reporting group for one kind; `None` if no job used the kind.
    ///
    /// They are computed as in fio: from whole milliseconds, with bandwidth as total bytes over the longest runtime.
    #[must_use]
    pub fn group_totals(&self, group: u32, kind: DataKind) -> Option<GroupTotals> {
        GroupTotals::of(&self.in_group(group).map(|job| job.result.kind(kind)).collect::<Vec<_>>())
    }

    /// Reports whether another program than fio states the results, or one of its logs: without options, and as far as they
    /// are printed.
    #[must_use]
    pub fn is_of_other_program(&self) -> bool {
        !matches!(self.tool.name.as_str(), "fathom" | "fio" | "")
    }

    /// Reports whether an option was set for a job or for all jobs, by its canonical name.
    #[must_use]
    pub fn was_given(&self, job: &JobResult, option: &str) -> bool {
        job.echo.iter().chain(&self.globals).any(|(name, _)| name == option)
    }
}

/// Totals of a reporting group for one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupTotals {
    /// Transferred bytes.
    pub bytes: u64,
    /// Bytes per second of the group.
    pub bytes_per_second: u64,
    /// Bytes per second of the slowest result.
    pub bytes_per_second_min: u64,
    /// Bytes per second of the fastest result.
    pub bytes_per_second_max: u64,
    /// Shortest runtime in milliseconds.
    pub runtime_ms_min: u64,
    /// Longest runtime in milliseconds.
    pub runtime_ms_max: u64,
}

impl GroupTotals {
    /// Returns the totals of results; `None` if none has run.
    pub(crate) fn of(results: &[&DirectionResult]) -> Option<Self> {
        let used = || results.iter().copied().filter(|result| result.runtime_ms() > 0);
        let rates = || used().map(DirectionResult::fio_bytes_per_second);
        let runtimes = || used().map(DirectionResult::runtime_ms);
        let bytes = used().map(|result| result.bytes).sum();
        let runtime_ms_max = runtimes().max()?;
        let together = DirectionResult { bytes, runtime_ns: runtime_ms_max * 1_000_000, ..DirectionResult::default() };
        Some(Self {
            bytes,
            bytes_per_second: together.fio_bytes_per_second(),
            bytes_per_second_min: rates().min()?,
            bytes_per_second_max: rates().max()?,
            runtime_ms_min: runtimes().min()?,
            runtime_ms_max,
        })
    }
}

impl GroupTotals {
    /// Returns the mean of bandwidth samples in percent of the group's bandwidth, at most 100; fio truncates the mean
    /// to whole KiB/s.
    #[must_use]
    pub fn share_percent(&self, bandwidth_kib: &SampleRecord) -> f64 {
        if self.bytes_per_second == 0 || bandwidth_kib.count == 0 {
            return 0.0;
        }
        (bandwidth_kib.mean.trunc() * 1024.0 * 100.0 / self.bytes_per_second as f64).min(100.0)
    }
}

/// A job as requested, regardless of what its workers did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestedRun {
    pub name: String,
    /// Reporting group.
    pub group: u32,
    /// Requested settings.
    pub declared: Declared,
    /// Load of the CPU; `None` for a job with I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<RequestedLoad>,
    /// Program; `None` for a job that runs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<RequestedProgram>,
}

/// Program that a job runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestedProgram {
    /// The program.
    pub path: String,
    /// Its arguments, as the job has them.
    pub arguments: String,
    /// Its arguments, as the program gets them.
    pub words: Vec<String>,
    /// Whether its output goes to files.
    pub redirects: bool,
}

/// Load of the CPU by a job without I/O.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestedLoad {
    /// Percentage of the time.
    pub percent: u32,
    /// Length of each burst, in microseconds.
    pub burst_us: u64,
    /// Work of a burst, by fio's name.
    pub work: String,
}

impl RequestedRun {
    /// Describes the job of a result that another program states.
    pub(crate) fn of_result(job: &JobResult) -> Self {
        Self { name: job.name.clone(), group: job.group, declared: job.declared.clone(), ..Self::default() }
    }

    /// Describes a job in reporting group `group`.
    #[must_use]
    pub fn of(job: &job::Job, group: u32) -> Self {
        let load = &job.engine.processor;
        let processor = (job.engine.kind == job::EngineKind::Cpuio).then(|| RequestedLoad {
            percent: load.percent,
            burst_us: load.burst.get() / 1000,
            work: load.work.name().to_owned(),
        });
        let program = (job.engine.kind == job::EngineKind::Exec).then(|| RequestedProgram {
            path: job.engine.program.path.clone(),
            arguments: job.engine.program.arguments.clone(),
            words: job.engine.program.words(&job.name, job.extent.runtime),
            redirects: job.engine.program.redirects,
        });
        Self { name: job.name.clone(), group, declared: Declared::of(job), processor, program }
    }
}

/// The program that created a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `fathom`, or `fio` for an import.
    pub name: String,
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostRecord {
    pub hostname: String,
    /// Kernel release.
    pub kernel: String,
    /// Online CPUs; zero if unknown.
    pub cpus: u32,
}

/// A remark for users.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// Job that it concerns; `None` for the run.
    pub job: Option<String>,
    /// One sentence without the job's name.
    pub text: String,
    /// Number of the result that it concerns, if others have the same name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<u32>,
}

impl Note {
    /// Creates a remark about the run.
    #[must_use]
    pub fn of_run(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Creates a remark about a result, by its job's name and its number.
    pub(crate) fn of_result(job: &str, number: u32, text: impl Into<String>) -> Self {
        Self { job: Some(job.to_owned()), result: Some(number), ..Self::of_run(text) }
    }
}

/// Counters of a device during the run. fio's documents have the same names, without units.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DiskUse {
    /// Name, as in `/sys/block`.
    pub name: String,
    /// Completed reads.
    pub read_ios: u64,
    /// Completed writes.
    pub write_ios: u64,
    /// Read sectors of 512 bytes.
    pub read_sectors: u64,
    /// Written sectors of 512 bytes.
    pub write_sectors: u64,
    /// Reads merged with adjacent ones.
    pub read_merges: u64,
    /// Writes merged with adjacent ones.
    pub write_merges: u64,
    /// Total time of reads in milliseconds.
    #[serde(alias = "read_ticks")]
    pub read_ticks_ms: u64,
    /// Total time of writes in milliseconds.
    #[serde(alias = "write_ticks")]
    pub write_ticks_ms: u64,
    /// Milliseconds weighted by the number of requests in flight.
    #[serde(alias = "in_queue")]
    pub in_queue_ms: u64,
    /// Percentage of time with at least one request in flight.
    #[serde(alias = "util")]
    pub util_percent: f64,
}

/// How idle the CPUs were during a run (`--idle-prof`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IdlenessRecord {
    /// Processors, each with the percentage of time for which it was idle.
    pub processors: Vec<(u32, f64)>,
    /// Whether outputs list each CPU.
    pub lists_processors: bool,
    /// Mean time to touch each byte of a page, in microseconds.
    pub unit_mean_us: f64,
    /// Standard deviation of that time.
    pub unit_stddev_us: f64,
}

impl IdlenessRecord {
    /// Returns the percentage for all CPUs together.
    #[must_use]
    pub fn system_percent(&self) -> f64 {
        let sum: f64 = self.processors.iter().map(|(_, percent)| percent).sum();
        sum / self.processors.len().max(1) as f64
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunOutcome {
    /// The run is complete.
    #[default]
    Completed,
    /// The run was stopped; results cover the time until then.
    Interrupted,
    /// At least one worker failed; results of the others are complete.
    Failed,
    /// The run was in progress when the record was made.
    Running,
}

impl RunOutcome {
    /// Returns the outcome of two runs together.
    #[must_use]
    pub(crate) fn worse(self, other: Self) -> Self {
        let order = [Self::Interrupted, Self::Running, Self::Failed, Self::Completed];
        order.into_iter().find(|outcome| [self, other].contains(outcome)).unwrap_or_default()
    }
}

impl Run {
    /// Returns the indices of the results that are known to have been measured at the same time: each result once, in the
    /// order of the run. Results of different phases ran one after another, or nothing says that they overlapped.
    #[must_use]
    pub fn phases(&self) -> Vec<Vec<usize>> {
        let mut first_of_group: BTreeMap<u32, &JobResult> = BTreeMap::new();
        for job in &self.jobs {
            first_of_group.entry(job.group).or_insert(job);
        }
        let mut phases: Vec<Vec<usize>> = Vec::new();
        for index in 0..self.jobs.len() {
            let first = first_of_group[&self.jobs[index].group];
            let overlaps =
                |phase: &Vec<usize>| phase.iter().any(|&of| overlap(&self.jobs[of], &self.jobs[index], first));
            let (joined, others): (Vec<_>, Vec<_>) = phases.into_iter().partition(overlaps);
            let mut phase: Vec<usize> = joined.into_iter().flatten().collect();
            phase.push(index);
            phase.sort_unstable();
            phases = others;
            phases.push(phase);
        }
        phases.sort();
        phases
    }

    /// Returns the bytes that some jobs access, each named file once; `None` if a size is unknown.
    #[must_use]
    pub fn region_bytes(&self, jobs: &[usize]) -> Option<u64> {
        let mut regions: Vec<(Option<&str>, u64)> = Vec::new();
        for job in jobs.iter().map(|&index| &self.jobs[index]) {
            let size = job.declared.size?;
            let given = job.echo.iter().chain(&self.globals).find(|(name, _)| name == "filename");
            let file = given.map(|(_, file)| file.as_str());
            match regions.iter_mut().find(|(known, _)| file.is_some() && *known == file) {
                Some((_, known)) => *known = size.max(*known),
                None => regions.push((file, size)),
            }
        }
        Some(regions.iter().map(|(_, size)| *size).fold(0, u64::saturating_add))
    }

    /// Returns the results of some jobs as one: their operations over the time of the longest, as fio adds up a group.
    /// Percentiles that are only printed do not add up, and are left out.
    #[must_use]
    pub fn together(&self, jobs: &[usize]) -> JobResult {
        let of = || jobs.iter().map(|&index| &self.jobs[index]);
        let Some(first) = of().next() else { return JobResult::default() };
        if jobs.len() == 1 {
            return first.clone();
        }
        let mut summary = Summary::default();
        of().for_each(|job| summary.merge(&Summary::from(&job.result)));
        let mut declared = first.declared.clone();
        of().skip(1).for_each(|job| declared.add(&job.declared));
        declared.mixed = Mixed::all(of().map(|job| (job.name.as_str(), job.workers, Cow::Borrowed(&job.declared))));
        declared.thinktime_ns = of().map(|job| job.declared.thinktime_ns).max().unwrap_or(0);
        declared.size = first.declared.size.filter(|size| of().all(|job| job.declared.size == Some(*size)));
        declared.header_only = of().any(|job| job.declared.header_only);
        let mut together = JobResult {
            workers: of().map(|job| job.workers).fold(0, u32::saturating_add),
            error: of().map(|job| job.error).find(|error| *error != 0).unwrap_or(0),
            started_unix_ms: of().map(|job| job.started_unix_ms).min().unwrap_or(0),
            elapsed_s: of().map(|job| job.elapsed_s).max().unwrap_or(0),
            declared,
            result: Measured::from(&summary),
            probe: None,
            verified: None,
            depth_search: None,
            steady: None,
            ..first.clone()
        };
        together.evidence.add(of().skip(1).map(|job| &job.evidence));
        together
    }
}

/// Reports whether two results of a run are known to have overlapped in time: `a`, and a later one, with the first result of
/// its group.
fn overlap(a: &JobResult, b: &JobResult, first_of_group: &JobResult) -> bool {
    /// Fraction of the shorter of two results that is more than the inexactness of their starts.
    const SHARED: f64 = 0.1;
    let (a_ns, b_ns) = (a.result.elapsed_ns() as f64, b.result.elapsed_ns() as f64);
    if a.started_unix_ms > 0 && b.started_unix_ms > 0 {
        let starts = [a, b].map(|job| job.started_unix_ms as f64 * 1e6);
        let shared_ns = (starts[0] + a_ns).min(starts[1] + b_ns) - starts[0].max(starts[1]);
        return shared_ns >= SHARED * a_ns.min(b_ns);
    }
    if a.group == b.group {
        return true;
    }
    // A group begins where an option asks for it: `stonewall` waits for the one before, `new_group` does not.
    let asks = |option: &str| {
        let given = first_of_group.echo.iter().rev().find(|(name, _)| name == option);
        given.is_some_and(|(_, value)| value != "0")
    };
    if asks("stonewall") || asks("wait_for_previous") {
        return false;
    }
    if asks("new_group") && b.group == a.group + 1 {
        return true;
    }
    // In less time than both took one after the other, they overlapped.
    let whole_ns = a.elapsed_s.max(b.elapsed_s) as f64 * 1e9;
    whole_ns > 0.0 && whole_ns + 2e9 < a_ns + b_ns
}
