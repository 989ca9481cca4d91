//! Resolved jobs, with all defaults filled in.
//!
//! Sizes are in bytes, times in nanoseconds, percentages whole numbers. Names are fio's where fio has one.

mod files;
mod goals;
mod host_attributes;
mod hosts;
mod pattern;
mod priority;
mod ranks;
mod replay;
mod verify;

pub(crate) use files::split_names;
pub use files::{CacheHint, FileLocking, FileOptions, FileOrder, FileService, WriteHint};
pub use goals::{FlowOptions, LatencyTarget, RateFloors, SteadyMeasure, SteadyState};
pub use host_attributes::{ControlGroupOptions, HostAttributes};
pub use hosts::PlanHosts;
pub use pattern::{
    BlockSizes, Direction, Distribution, Generator, Pattern, Preconditioning, StridedZones, ZonedOptions,
};
pub use priority::{CommandPriorities, IoPriority, PriorityRule, PriorityShare};
pub use ranks::{JobRanks, RankPart, RankRanges, RankShare, RankTable, SplitKind};
pub use replay::{MergedInput, ReplayFacts, ReplayFit, ReplayLoop, ReplayOptions, ReplaySkip, TraceMerge};
pub use target::spec::*;
pub use verify::*;

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos, PerKind, Place, Problem, ProblemCode, Rate};

/// All jobs of one invocation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Jobs in the order written. `numjobs` is not expanded.
    pub jobs: Vec<Job>,
    /// Options set for all jobs, as typed: canonical name and text, for fio's `global options`.
    pub globals: Vec<(String, String)>,
    /// Simulated hosts that run the jobs together; `None` if one process runs them.
    pub hosts: Option<PlanHosts>,
    /// Files that must contain data for jobs of other ranks. Only those are known that `filename` names.
    pub needed_by_ranks: BTreeSet<String>,
}

/// One job: a section of a job file, or the options after one `--name`.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// `name`, or the section's title.
    pub name: String,
    /// The section's title, if `name` replaces it.
    pub title: Option<String>,
    /// `description`, if given.
    pub description: Option<String>,
    /// Options set for this job alone, as typed: canonical name and text, for fio's `job options`.
    pub echo: Vec<(String, String)>,
    /// Order of execution, and grouping of results.
    pub grouping: Grouping,
    /// Ranks of a run on many hosts.
    pub ranks: JobRanks,
    /// What the job asks of the host for its workers.
    pub host: HostAttributes,
    /// Engine and its options.
    pub engine: EngineSpec,
    /// Priorities of single operations (`cmdprio*`).
    pub command_priorities: CommandPriorities,
    /// Files and how they are created.
    pub files: FileOptions,
    /// Region of the files, amount of data and run time.
    pub extent: JobExtent,
    /// Directions, offsets and block sizes.
    pub pattern: Pattern,
    /// Queue depth and rates.
    pub pace: JobPace,
    /// The trace that it replays instead of a pattern; `None` if it replays none.
    pub replay: Option<ReplayOptions>,
    /// Syncing during the job and at its end.
    pub sync: SyncOptions,
    /// Content of writes.
    pub payload: JobPayload,
    pub verify: VerifyOptions,
    /// Options of statistics, logs and fio's output.
    pub stats: StatOptions,
    /// Options of error handling.
    pub on_error: ErrorOptions,
    /// Places of the options, for messages.
    pub origin: JobOrigin,
}

/// Places of a job's title and options, for messages.
#[derive(Clone, Debug, Default)]
pub struct JobOrigin {
    /// Place of the section's title or the value of `--name`.
    pub title: Option<Place>,
    /// Canonical names of its own and global options with the places of their values, latest last.
    pub options: Vec<(&'static str, Place)>,
}

impl JobOrigin {
    /// Returns the place at which `option` was last set, or the title's place if it was not.
    #[must_use]
    pub fn of(&self, option: &str) -> Option<&Place> {
        let given = self.options.iter().rev().find(|(name, _)| *name == option).map(|(_, place)| place);
        given.or(self.title.as_ref())
    }
}

/// Always equal: jobs with the same options are equal wherever they were written.
impl PartialEq for JobOrigin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Order of execution, and grouping of results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// Wait until all jobs before this one have ended; implies a new reporting group.
    pub stonewall: bool,
    /// Begin a new reporting group without waiting.
    pub new_group: bool,
    /// Merge the results of adjacent jobs of one reporting group.
    pub group_reporting: bool,
    /// Number of workers of this job, at least 1.
    pub numjobs: u32,
    /// `thread`: fio's choice between threads and processes. Fathom always uses threads; kept for `echo`.
    pub thread: bool,
    /// End other jobs when this one ends.
    pub exitall: bool,
    /// End other jobs when this one fails.
    pub exitall_on_error: bool,
    /// Jobs that `exitall` and `exitall_on_error` end.
    pub exit_what: ExitScope,
    /// Name of a job before this one whose workers must all have ended before this one starts.
    pub wait_for: Option<String>,
    /// Processors that the workers may use; `None` for all.
    pub cpus_allowed: Option<Vec<u32>>,
    /// Give each worker one of these CPUs instead of all.
    pub cpus_split: bool,
}

/// Jobs that end with one (`exit_what`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExitScope {
    /// Those of its reporting group.
    #[default]
    Group,
    /// Those that run at the same time.
    Stonewall,
    /// All of the run, including those that have not begun.
    All,
}

/// A size in bytes or relative to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Bytes(Bytes),
    /// Per cent of the file or device.
    Percent(u32),
    /// Zones of the device, where the job does not give their size.
    Zones(u32),
}

impl Size {
    /// Returns the size in bytes if it is one in zones of `zone_bytes`.
    #[must_use]
    pub fn of_zones(self, zone_bytes: u64) -> Self {
        match self {
            Self::Zones(count) => Self::Bytes(Bytes::new(u64::from(count).saturating_mul(zone_bytes))),
            other => other,
        }
    }
}

/// The region of the files, the amount of data and the run time.
#[derive(Clone, Debug, PartialEq)]
pub struct JobExtent {
    /// `size`: length of the region over all files of the job; `None` for all of the existing files.
    pub size: Option<Size>,
    /// `io_size`: amount to transfer, if it differs from the region.
    pub io_size: Option<Size>,
    /// Start of the region.
    pub offset: Size,
    /// Distance between the starts of consecutive clones' regions.
    pub offset_increment: Size,
    /// Alignment of starts that are given in per cent; zero for the smallest block.
    pub offset_align: Bytes,
    /// Maximum number of operations.
    pub number_ios: Option<u64>,
    /// Number of passes.
    pub loops: u32,
    /// Maximum run time; zero for no limit.
    pub runtime: Nanos,
    /// Repeat the job until `runtime` has elapsed.
    pub time_based: bool,
    /// Warm-up time before results count.
    pub ramp_time: Nanos,
    /// Bytes to transfer before results count; zero for none.
    pub ramp_size: Bytes,
    /// Steady state that ends the job; `None` without `steadystate_duration`.
    pub steady: Option<SteadyState>,
    /// Minimum and maximum delay before the job starts.
    pub startdelay: (Nanos, Nanos),
}

/// Queue depth and rates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobPace {
    /// Queue depth as given; synchronous engines use 1.
    pub iodepth: u32,
    /// Operations per submission, at most the depth; `None` if the job does not say.
    pub batch: Option<u32>,
    /// Minimum number of completions to collect at a time; 0 to poll.
    pub batch_complete_min: u32,
    /// Maximum number of completions to collect at a time, at least the minimum; `None` for no limit.
    pub batch_complete_max: Option<u32>,
    /// Number of operations in flight at which the queue is refilled.
    pub iodepth_low: Option<u32>,
    /// Bytes per second for each kind of operation.
    pub rate: PerKind<Option<Rate>>,
    /// Operations per second for each kind.
    pub rate_iops: PerKind<Option<Rate>>,
    /// Distribution of arrivals.
    pub process: Arrivals,
    /// Rates below which the job fails.
    pub floor: RateFloors,
    /// Whether the schedule of a rate stands still during idle time.
    pub rate_ignores_thinktime: bool,
    /// Latency of one operation above which the job fails.
    pub max_latency: PerKind<Option<Nanos>>,
    /// Latency that decides the queue depth.
    pub target: LatencyTarget,
    /// Place in a flow.
    pub flow: FlowOptions,
    /// Whether operations wait for those in flight that they overlap (`serialize_overlap`).
    pub serialize_overlap: bool,
    /// Idle time after each block of operations.
    pub thinktime: Nanos,
    /// The part of the idle time spent spinning.
    pub thinktime_spin: Nanos,
    /// Processor cycles to spend after each operation, before the idle time.
    pub thinkcycles: u32,
    /// Operations per block.
    pub thinktime_blocks: u64,
    /// Whether operations are counted at issue or at completion.
    pub thinktime_blocks_type: ThinktimeBlocks,
    /// Time between idle times, instead of a number of operations; zero for off.
    pub thinktime_iotime: Nanos,
}

/// A rate limit of one kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paced {
    /// Operations of any size per second.
    Operations(Rate),
    /// Bytes per second.
    Bytes(Rate),
}

impl Paced {
    /// Returns the limit that `rate` and `rate_iops` set for these block sizes; a rate of zero is none.
    ///
    /// If sizes vary, fio's `rate_iops` limits bytes per second to that many times the smallest block: its HOWTO calls
    /// that size the metric. A Poisson process counts arrivals of any size.
    fn new(bytes: Option<Rate>, operations: Option<Rate>, sizes: &BlockSizes, process: Arrivals) -> Option<Self> {
        let positive = |rate: &Rate| rate.get() > 0;
        let Some(rate) = operations.filter(positive) else { return bytes.filter(positive).map(Self::Bytes) };
        let varies = sizes.min() < sizes.max() && process == Arrivals::Linear;
        let metric = u64::from(sizes.min().max(1));
        Some(if varies {
            Self::Bytes(Rate::per_sec(rate.get().saturating_mul(metric)))
        } else {
            Self::Operations(rate)
        })
    }
}

impl Job {
    /// Returns the problem of an option whose value does not fit the files, the device or the host.
    #[must_use]
    pub fn unfit(&self, option: &str, what: impl fmt::Display) -> Problem {
        Problem::error(ProblemCode::Unfit, format!("job `{}`: {option}: {what}", self.name))
            .at(self.origin.of(option).cloned())
    }

    /// Returns the problem of an option for the reason that another problem gives, with its help.
    #[must_use]
    pub fn unfit_because(&self, option: &str, problem: Problem) -> Problem {
        self.unfit(option, problem.what).maybe_help(problem.help)
    }

    /// Returns the title of the section, which names the files of the job.
    #[must_use]
    pub fn section_title(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// Returns the path of the donor of a clone of the job: in the `directory` of its files, unless it is absolute. `None`
    /// for a job of another engine than `e4defrag`.
    #[must_use]
    pub fn donor_path(&self, clone: u32) -> Option<String> {
        let donor = &self.engine.defragment.donor;
        if self.engine.kind != EngineKind::E4defrag || donor.is_empty() {
            return None;
        }
        let directories = &self.files.directories;
        let directory = directories.get(clone as usize % directories.len().max(1)).filter(|path| !path.is_empty());
        Some(match directory {
            Some(directory) if !donor.starts_with('/') => format!("{}/{donor}", directory.trim_end_matches('/')),
            _ => donor.clone(),
        })
    }

    /// Describes the target: a volume, an export or files.
    #[must_use]
    pub fn target(&self) -> String {
        match (self.engine.volume.as_ref().or(self.engine.uri.as_ref()), self.files.filenames.as_slice()) {
            (Some(place), _) => place.clone(),
            (None, []) => "generated files".to_owned(),
            (None, names) => names.join(":"),
        }
    }

    /// Reports whether more than one operation can be in flight.
    #[must_use]
    pub fn has_queue(&self) -> bool {
        self.engine.kind.traits().queues || self.engine.offloads
    }

    /// Returns the queue depth of each worker.
    #[must_use]
    pub fn depth(&self) -> u32 {
        if self.has_queue() { self.pace.iodepth.max(1) } else { 1 }
    }

    /// Reports whether arrivals follow a schedule.
    #[must_use]
    pub fn is_scheduled(&self) -> bool {
        if let Some(replay) = &self.replay {
            return replay.is_scheduled();
        }
        let (bytes, iops) = (&self.pace.rate, &self.pace.rate_iops);
        let limits = [bytes.read, bytes.write, bytes.trim, iops.read, iops.write, iops.trim];
        limits.iter().any(Option::is_some) || self.pace.process == Arrivals::Poisson
    }

    /// Reports whether operations go through a queue in fio, at any depth.
    #[must_use]
    pub fn is_queued(&self) -> bool {
        self.engine.kind.traits().queues && (self.engine.kind != EngineKind::Null || self.pace.iodepth > 1)
    }

    /// Reports whether the job writes until the device or filesystem is full.
    #[must_use]
    pub fn fills_device(&self) -> bool {
        self.files.fill_device && self.pattern.direction.writes()
    }

    /// Reports whether the job continues when no space is left (`ignore_error`).
    #[must_use]
    pub fn ignores_full_disk(&self) -> bool {
        const ENOSPC: i32 = 28;
        self.on_error.ignored[1].contains(&ENOSPC)
    }

    /// Reports whether the files must contain data before the job begins: it reads them, or must not extend them.
    #[must_use]
    pub fn needs_data(&self) -> bool {
        let direction = self.pattern.direction;
        !self.files.create_on_open
            && (direction.reads() || self.files.overwrite || (!direction.writes() && direction.trims()))
    }

    /// Returns the rate limit of each kind of operation, including kinds that the job does not issue. A replay at the
    /// instants of its trace offers the mean rates of the trace.
    #[must_use]
    pub fn paced(&self) -> PerKind<Option<Paced>> {
        if let Some(replay) = &self.replay {
            return replay.mean_rates();
        }
        let (JobPace { rate, rate_iops, process, .. }, sizes) = (&self.pace, &self.pattern.block_sizes);
        PerKind {
            read: Paced::new(rate.read, rate_iops.read, &sizes.read, *process),
            write: Paced::new(rate.write, rate_iops.write, &sizes.write, *process),
            trim: Paced::new(rate.trim, rate_iops.trim, &sizes.trim, *process),
        }
    }
}

/// Distribution of arrivals under a rate (`rate_process`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// Evenly spaced.
    #[default]
    Linear,
    /// Poisson process.
    Poisson,
}

/// The unit of `thinktime_blocks`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThinktimeBlocks {
    /// Completed operations.
    #[default]
    Complete,
    /// Issued operations.
    Issue,
}

/// Syncing during a job and at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncOptions {
    /// Writes between calls of `fsync`; 0 for never.
    pub fsync: u32,
    /// Writes between calls of `fdatasync`; 0 for never.
    pub fdatasync: u32,
    /// `fsync` at the end of the job.
    pub end_fsync: bool,
    /// `fsync` when a file is closed.
    pub fsync_on_close: bool,
    /// `syncfs` at the end of the job.
    pub end_syncfs: bool,
    /// `sync_file_range` of what was written.
    pub range: SyncRangeOptions,
}

impl SyncOptions {
    /// Reports whether the job syncs between its operations.
    #[must_use]
    pub fn is_periodic(&self) -> bool {
        self.fsync > 0 || self.fdatasync > 0 || self.range.writes > 0
    }

    /// Returns the first option that requests syncs; `None` if none does.
    #[must_use]
    pub fn option(&self) -> Option<&'static str> {
        let options = [
            ("fsync", self.fsync > 0),
            ("fdatasync", self.fdatasync > 0),
            ("sync_file_range", self.range.writes > 0),
            ("end_fsync", self.end_fsync),
            ("end_syncfs", self.end_syncfs),
            ("fsync_on_close", self.fsync_on_close),
        ];
        options.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
    }
}

/// Calls of `sync_file_range` during a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncRangeOptions {
    /// Writes between two calls; 0 for never.
    pub writes: u32,
    pub flags: SyncRangeFlags,
}

/// Content of writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobPayload {
    /// New random bytes for each write.
    pub refill_buffers: bool,
    pub zero_buffers: bool,
    /// Change a few bytes of each buffer before each write, against deduplication.
    pub scramble_buffers: bool,
    /// Pattern that is repeated instead of random bytes.
    pub pattern: Option<VerifyPattern>,
    /// Percentage of each chunk that is zeroes or the pattern; `None` to fill buffers in one way only.
    pub compress_percent: Option<u32>,
    /// Size of these chunks; zero for the whole buffer.
    pub compress_chunk: u32,
    /// Buffers that are equal to others.
    pub dedupe: DedupeOptions,
}

/// Writes of equal buffers, for devices that deduplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DedupeOptions {
    /// Percentage of buffers that duplicate others.
    pub percent: u32,
    /// Whether they duplicate buffers of a working set instead of the last one of their own.
    pub has_working_set: bool,
    /// Size of the working set as a percentage of the job's blocks.
    pub working_set_percent: u32,
    /// Whether all jobs have one working set.
    pub is_global: bool,
}

/// fio's defaults.
impl Default for DedupeOptions {
    fn default() -> Self {
        Self { percent: 0, has_working_set: false, working_set_percent: 5, is_global: false }
    }
}

/// Values that logs of averages contain for each window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowValues {
    #[default]
    Mean,
    /// The maximum.
    Max,
    /// The mean and the maximum.
    Both,
}

/// Options of statistics and logs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatOptions {
    /// Read the clock less and measure no latencies.
    pub gtod_reduce: bool,
    /// Do not measure total latency.
    pub disable_lat: bool,
    /// Do not measure completion latency.
    pub disable_clat: bool,
    /// Do not measure submission latency.
    pub disable_slat: bool,
    /// Do not sample bandwidth.
    pub disable_bw: bool,
    /// Report percentiles of completion latency.
    pub clat_percentiles: bool,
    /// Report percentiles of total latency.
    pub lat_percentiles: bool,
    /// Report percentiles of submission latency.
    pub slat_percentiles: bool,
    /// Percentiles to report, ascending.
    pub percentile_list: Vec<f64>,
    /// Prefix of latency logs.
    pub write_lat_log: Option<String>,
    /// Prefix of IOPS logs.
    pub write_iops_log: Option<String>,
    /// Prefix of bandwidth logs.
    pub write_bw_log: Option<String>,
    /// Prefix of histogram logs.
    pub write_hist_log: Option<String>,
    /// Window over which log entries are averaged; zero for one entry per operation.
    pub log_avg: Nanos,
    /// Values to log for each window.
    pub log_values: WindowValues,
    /// Window of logged histograms; zero for none.
    pub log_hist: Nanos,
    /// Binary logarithm of the number of buckets that histogram logs merge.
    pub log_hist_coarseness: u32,
    /// Add offsets to logs.
    pub log_offset: bool,
    /// Write priorities with class and level to logs.
    pub log_prio: bool,
    /// Add the times of submission to logs.
    pub log_issue_time: bool,
    /// Write compressed logs.
    pub log_store_compressed: bool,
    /// Processors of the threads that write logs; empty for all.
    pub log_cpus: Vec<u32>,
    /// Write the times of [`Self::log_clock`] to logs.
    pub log_alternate_epoch: bool,
    /// Number of a clock of `clock_gettime`.
    pub log_clock: u32,
    /// Number of the clock of `clock_gettime` that measures the start of the job in fio's JSON.
    pub start_clock: u32,
    /// One log per worker.
    pub per_job_logs: bool,
    /// Path of a log of all operations.
    pub write_iolog: Option<String>,
    /// Window of bandwidth samples; `None` for the log's, or half a second.
    pub bw_window: Option<Nanos>,
    /// Window of IOPS samples; `None` for the log's, or half a second.
    pub iops_window: Option<Nanos>,
    /// Report the counters of the block devices.
    pub disk_util: bool,
    /// Base of printed sizes in fio's normal output: 1024 or 1000.
    pub kb_base: u32,
    /// Unit of rates in fio's normal output: 8 for bytes, 1 for bits, 0 for both.
    pub unit_base: u32,
    /// Significant figures in fio's normal output.
    pub significant_figures: u32,
    /// Whether the trims of each block are counted (`block_error_percentiles`).
    pub block_errors: bool,
    /// Whether fio's outputs report reads, writes and trims together.
    pub unified: UnifiedReport,
    /// Keep statistics.
    pub stats: bool,
}

/// Reporting of reads, writes and trims (`unified_rw_reporting`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnifiedReport {
    #[default]
    None,
    /// Together.
    Mixed,
    /// One by one and together.
    Both,
}

impl UnifiedReport {
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// Options of error handling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorOptions {
    /// Continue after failed reads.
    pub continue_on_read: bool,
    /// Continue after failed writes.
    pub continue_on_write: bool,
    /// Continue after failed verifications.
    pub continue_on_verify: bool,
    /// Error numbers that do not end the job, of reads, writes and verification (`ignore_error`).
    pub ignored: [Vec<i32>; 3],
    /// Print ignored errors.
    pub error_dump: bool,
}
