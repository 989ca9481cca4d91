//! Which latencies a worker measures, which log files it writes, and what is in them.

use job::{IoPriority, Job, WindowValues};
use meter::{LogKind, LogOptions, WorkerLog};
use units::{Nanos, Problem};

/// Creates the log files of workers (`write_lat_log` and similar).
pub trait LogSink: Sync {
    /// Creates the files of a plan.
    ///
    /// # Errors
    ///
    /// Returns the file that cannot be created and the reason.
    fn create(&self, plan: &LogPlan) -> Result<Box<dyn WorkerLog>, Problem>;
}

/// The log files of one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPlan {
    pub files: Vec<PlannedLog>,
    /// Columns of each line.
    pub columns: LogColumns,
    /// Binary logarithm of the number of buckets that histograms merge.
    pub coarseness: u32,
    /// Whether other workers write to the same files, which keep what they contain.
    pub shared: bool,
    /// Whether files are compressed.
    pub compressed: bool,
    /// Processors of the thread that writes; empty for all.
    pub cpus: Vec<u32>,
    /// What to add to instants of the target's clock for the times of entries, modulo 2^64 ns; `None` for times since
    /// the start of measurement.
    pub epoch: Option<u64>,
    /// Priorities of operations, as the kernel encodes them: first that of the worker.
    pub priorities: Vec<u16>,
}

/// A log file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedLog {
    pub path: String,
    /// Entries.
    pub kind: LogKind,
    /// Whether single operations have entries. Synchronous engines have no submission latency, for example.
    pub operations: bool,
}

/// Columns of log lines besides time, value, kind of operation and block size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogColumns {
    /// Values of windows; both are two columns.
    pub values: WindowValues,
    pub offset: bool,
    /// Priorities as class and level in hexadecimal digits, instead of 1 for real time and 0 for all others.
    pub priority: bool,
    /// Times of submission.
    pub issue_time: bool,
}

impl LogPlan {
    /// Returns the log files of a job's worker; `None` if there are none. `number` counts workers from zero.
    #[must_use]
    pub fn of(job: &Job, number: usize, epoch: Option<u64>) -> Option<Self> {
        let stats = &job.stats;
        let ending = if stats.per_job_logs { format!(".{}.log", number + 1) } else { ".log".to_owned() };
        let compression = if stats.log_store_compressed { ".fz" } else { "" };
        let planned = |(prefix, kind, name): (&Option<String>, LogKind, &str)| {
            let prefix = prefix.as_ref().map(|prefix| if prefix.is_empty() { &job.name } else { prefix })?;
            let path = format!("{prefix}_{name}{ending}{compression}");
            Some(PlannedLog { path, kind, operations: logs_operations(job, kind) })
        };
        let latency = |disabled: bool| if disabled { &None } else { &stats.write_lat_log };
        let files: Vec<PlannedLog> = [
            (latency(stats.disable_slat), LogKind::Submission, "slat"),
            (latency(stats.disable_clat), LogKind::Service, "clat"),
            (latency(stats.disable_lat), LogKind::Latency, "lat"),
            (&stats.write_bw_log, LogKind::Bandwidth, "bw"),
            (&stats.write_iops_log, LogKind::Iops, "iops"),
            (&stats.write_hist_log, LogKind::Histogram, "clat_hist"),
        ]
        .into_iter()
        .filter_map(planned)
        .collect();
        let columns = LogColumns {
            values: stats.log_values,
            offset: stats.log_offset,
            priority: stats.log_prio,
            issue_time: stats.log_issue_time,
        };
        (!files.is_empty()).then(|| Self {
            files,
            columns,
            coarseness: stats.log_hist_coarseness,
            shared: !stats.per_job_logs,
            compressed: stats.log_store_compressed,
            cpus: stats.log_cpus.clone(),
            epoch,
            priorities: logged_priorities(job),
        })
    }
}

/// Returns the priorities to which operations refer by index.
fn logged_priorities(job: &Job) -> Vec<u16> {
    let own = job.priorities().into_iter().skip(1).map(IoPriority::as_raw);
    std::iter::once(job.host.raw_io_priority().unwrap_or(0)).chain(own).collect()
}

/// Reports whether a log has an entry for each operation.
fn logs_operations(job: &Job, kind: LogKind) -> bool {
    let stats = &job.stats;
    let measured = measured_latencies(job);
    stats.stats
        && stats.log_avg == Nanos::ZERO
        && match kind {
            LogKind::Submission => measured.submission,
            LogKind::Service => measured.service,
            LogKind::Latency => measured.latency,
            LogKind::Bandwidth => !stats.gtod_reduce && !stats.disable_bw,
            LogKind::Iops => !stats.gtod_reduce,
            LogKind::Histogram => false,
        }
}

/// Latencies that a job measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MeasuredLatencies {
    pub(crate) submission: bool,
    pub(crate) service: bool,
    pub(crate) latency: bool,
}

/// Returns which latencies a job measures.
pub(crate) fn measured_latencies(job: &Job) -> MeasuredLatencies {
    let stats = &job.stats;
    let latencies = stats.stats && !stats.gtod_reduce;
    MeasuredLatencies {
        // Synchronous engines never submit; fio has no such figure either.
        submission: latencies && !stats.disable_slat && job.has_queue(),
        service: latencies && !stats.disable_clat,
        // As in fio: an operation on names begins with its call.
        latency: latencies && !stats.disable_lat && job.engine.kind.name_call().is_none(),
    }
}

/// Returns what the meter of a job's workers logs.
pub(crate) fn log_options(job: &Job) -> LogOptions {
    let stats = &job.stats;
    let files = LogPlan::of(job, 0, None).map_or_else(Vec::new, |plan| plan.files);
    let has = |kind| files.iter().any(|file| file.kind == kind);
    let measured = measured_latencies(job);
    let averaged =
        |wanted: bool, window| if wanted && stats.stats && stats.log_avg > Nanos::ZERO { window } else { Nanos::ZERO };
    let (bandwidth, iops) = sample_windows(job);
    let has_latency = [LogKind::Submission, LogKind::Service, LogKind::Latency].into_iter().any(has);
    LogOptions {
        operations: files.iter().any(|file| file.operations),
        latency_window: averaged(has_latency, stats.log_avg),
        submission: measured.submission && has(LogKind::Submission),
        service: measured.service && has(LogKind::Service),
        latency: measured.latency && has(LogKind::Latency),
        maxima: has_latency && stats.log_values != WindowValues::Mean && stats.log_avg > Nanos::ZERO,
        bandwidth_window: averaged(has(LogKind::Bandwidth) && !stats.disable_bw, bandwidth),
        iops_window: averaged(has(LogKind::Iops), iops),
        histogram_window: if has(LogKind::Histogram) && measured.service { stats.log_hist } else { Nanos::ZERO },
    }
}

/// Returns the windows of bandwidth and IOPS samples. Without `bwavgtime` and `iopsavgtime`, those of averaged logs
/// apply to the statistics as well, as in fio.
pub(crate) fn sample_windows(job: &Job) -> (Nanos, Nanos) {
    let stats = &job.stats;
    let window = |given: Option<Nanos>, log: &Option<String>| {
        let of_log = log.as_ref().map(|_| stats.log_avg);
        let set = [given, of_log].into_iter().flatten().find(|window| *window > Nanos::ZERO);
        set.unwrap_or(SAMPLE_WINDOW)
    };
    (window(stats.bw_window, &stats.write_bw_log), window(stats.iops_window, &stats.write_iops_log))
}

/// Window of samples by default.
const SAMPLE_WINDOW: Nanos = Nanos::from_millis(500);
