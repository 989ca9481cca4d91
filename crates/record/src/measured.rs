//! Measured results.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::CpuUse;

use crate::{DataKind, LatencyBlock, LatencyShares, LatencyStats, Shares};
use meter::{Interval as IntervalRecord, TrimmedBlockCounts};

/// Everything measured for one job, or for several that report together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    pub read: DirectionResult,
    pub write: DirectionResult,
    pub trim: DirectionResult,
    pub sync: LatencyStats,
    /// Depths at submission: 1, 2–3, 4–7, 8–15, 16–31, 32–63, 64 and more.
    pub depth: Shares,
    /// Sizes of submissions: 0, 1–4, 5–8, 9–16, 17–32, 33–64, more than 64.
    pub submit: Shares,
    /// Sizes of completions, in the same classes.
    pub complete: Shares,
    /// Delay of the generator under a rate: how much later than possible it was ready to issue.
    pub lateness: LatencyStats,
    /// Counts of each interval.
    pub series: SeriesRecord,
    /// Latency histograms of consecutive blocks of time, each at least one interval long; empty without histograms, and
    /// in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<LatencyBlock>,
    /// Active time summed over workers, in nanoseconds.
    pub runtime_ns: u64,
    /// CPU usage.
    pub cpu: CpuUse,
    /// Number of failed operations.
    pub errors: u64,
    /// Error number of the first failure; zero for none.
    pub first_error: i32,
    /// Number of workers in the result.
    pub workers: u32,
    /// Distribution of service times of another program or of one rank; `None` to compute it from histograms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quoted_shares: Option<LatencyShares>,
    /// Trims of blocks (`block_error_percentiles`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trimmed: Option<TrimmedBlockCounts>,
}

impl Measured {
    #[must_use]
    pub const fn kind(&self, kind: DataKind) -> &DirectionResult {
        match kind {
            DataKind::Read => &self.read,
            DataKind::Write => &self.write,
            DataKind::Trim => &self.trim,
        }
    }

    /// Returns the results of one kind for filling in.
    pub(crate) const fn kind_mut(&mut self, kind: DataKind) -> &mut DirectionResult {
        match kind {
            DataKind::Read => &mut self.read,
            DataKind::Write => &mut self.write,
            DataKind::Trim => &mut self.trim,
        }
    }

    /// Iterates over reads, writes and trims.
    pub fn kinds(&self) -> impl Iterator<Item = (DataKind, &DirectionResult)> {
        DataKind::ALL.into_iter().map(|kind| (kind, self.kind(kind)))
    }

    /// Iterates over the kinds with a result. Other programs may state only bytes.
    pub fn used_kinds(&self) -> impl Iterator<Item = (DataKind, &DirectionResult)> {
        self.kinds().filter(|(_, result)| result.ios > 0 || result.bytes > 0)
    }

    /// Returns the operations of all kinds, without syncs.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.kinds().map(|(_, result)| result.ios).fold(0, u64::saturating_add)
    }

    /// Returns the bytes of all kinds.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.kinds().map(|(_, result)| result.bytes).fold(0, u64::saturating_add)
    }

    /// Returns the operations per second over all kinds.
    #[must_use]
    pub fn iops(&self) -> f64 {
        per_second(self.ios(), self.elapsed_ns())
    }

    /// Returns the bytes per second over all kinds.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        per_second(self.bytes(), self.elapsed_ns())
    }

    /// Returns the time in which all kinds were measured, in nanoseconds: that of the kind with the longest runtime, or
    /// more if one kind followed another, as reading back follows writing.
    #[must_use]
    pub fn elapsed_ns(&self) -> u64 {
        let longest = self.kinds().map(|(_, result)| result.runtime_ns).max().unwrap_or(0);
        longest.max(self.runtime_ns / u64::from(self.workers.max(1)))
    }

    /// Returns the mean number of workers that were active during that time: fewer than all if some ended earlier.
    #[must_use]
    pub fn active_workers(&self) -> f64 {
        self.runtime_ns as f64 / self.elapsed_ns().max(1) as f64
    }

    /// Returns the mean number of operations in flight by Little's law: operations per second × mean service time. `None`
    /// without the service times of all kinds.
    #[must_use]
    pub fn in_flight(&self) -> Option<f64> {
        self.in_flight_known().filter(|_| self.timed_alone().is_none())
    }

    /// Returns the mean number of operations in flight of the kinds whose service times are known.
    #[must_use]
    pub fn in_flight_known(&self) -> Option<f64> {
        let service_ns: f64 = self.served().map(LatencyStats::sum_ns).sum();
        (service_ns > 0.0 && self.elapsed_ns() > 0).then(|| service_ns / self.elapsed_ns() as f64)
    }

    /// Returns the only kind whose latencies are known, if another one has operations whose latencies are missing: their
    /// mean is not that of all, and does not belong to the rate of all.
    #[must_use]
    pub fn timed_alone(&self) -> Option<DataKind> {
        /// Fraction of operations whose times hardly change a mean.
        const FEW: f64 = 0.01;
        let untimed: u64 = self.kinds().filter(|(_, kind)| kind.served().count == 0).map(|(_, kind)| kind.ios).sum();
        let timed = self.kinds().find(|(_, kind)| kind.served().count > 0).map(|(kind, _)| kind);
        timed.filter(|_| untimed as f64 > FEW * self.ios() as f64)
    }

    /// Returns the mean number of places of the queue that operations and the syncs between them occupied.
    #[must_use]
    pub fn occupied(&self) -> Option<f64> {
        Some(self.in_flight()? + self.sync.sum_ns() / self.elapsed_ns() as f64)
    }

    /// Returns the mean service time over all kinds in nanoseconds; `None` without the service times of all.
    #[must_use]
    pub fn service_mean_ns(&self) -> Option<f64> {
        if self.timed_alone().is_some() {
            return None;
        }
        let count = self.served().map(|service| service.count).fold(0, u64::saturating_add);
        let sum: f64 = self.served().map(LatencyStats::sum_ns).sum();
        (count > 0).then(|| sum / count as f64)
    }

    fn served(&self) -> impl Iterator<Item = &LatencyStats> {
        self.kinds().map(|(_, kind)| kind.served())
    }

    /// Returns the CPU time per operation in nanoseconds; `None` without operations.
    #[must_use]
    pub fn cpu_per_io_ns(&self) -> Option<f64> {
        let ios = self.ios();
        (ios > 0).then(|| self.cpu.busy_ns() as f64 / ios as f64)
    }

    /// Returns the mean fraction of a CPU that a worker used.
    #[must_use]
    pub fn cpu_share(&self) -> f64 {
        if self.runtime_ns == 0 { 0.0 } else { self.cpu.busy_ns() as f64 / self.runtime_ns as f64 }
    }

    /// Returns [`Self::runtime_ns`] in whole milliseconds.
    #[must_use]
    pub const fn runtime_ms(&self) -> u64 {
        self.runtime_ns / 1_000_000
    }

    /// Returns a time in percent of the runtime of all workers.
    #[must_use]
    pub fn cpu_percent(&self, ns: u64) -> f64 {
        if self.runtime_ms() == 0 { 0.0 } else { ns as f64 / 1e4 / self.runtime_ms() as f64 }
    }

    /// Returns the percentage of operations with service times below 2 µs, which is one class in fio's terse output.
    #[must_use]
    pub fn percent_below_2us(&self) -> f64 {
        let services = || self.kinds().map(|(_, result)| &result.service);
        match &self.quoted_shares {
            Some(shares) if services().all(|service| service.buckets.is_empty()) => {
                shares.ns.iter().sum::<f64>() + shares.us[0]
            }
            _ => LatencyShares::percent_below_2us(services(), self.ios()),
        }
    }

    /// Returns the distribution of service times over fio's classes, in percent of all operations.
    #[must_use]
    pub fn latency_shares(&self) -> LatencyShares {
        self.quoted_shares
            .unwrap_or_else(|| LatencyShares::of(self.kinds().map(|(_, result)| &result.service), self.ios()))
    }
}

/// Results of one kind of operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DirectionResult {
    /// Completed operations.
    pub ios: u64,
    /// Transferred bytes.
    pub bytes: u64,
    /// Operations that were short at first.
    pub short_ios: u64,
    /// Operations that were dropped.
    pub drop_ios: u64,
    /// Longest runtime of this kind among the workers, in nanoseconds.
    pub runtime_ns: u64,
    /// Time from the start of an operation to its submission (fio's `slat`).
    pub submission: LatencyStats,
    /// Time from submission to completion (fio's `clat`).
    pub service: LatencyStats,
    /// Time from the start of an operation to its completion (fio's `lat`).
    pub latency: LatencyStats,
    /// Time from the scheduled start to completion, under a rate.
    pub response: LatencyStats,
    /// Latencies of operations of each I/O priority that occurred; empty if operations have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<PriorityLatency>,
    /// Bandwidth in KiB/s, one sample per window.
    pub bandwidth_kib: SampleRecord,
    /// Operations per second, one sample per window.
    pub iops_samples: SampleRecord,
}

/// Latencies of the operations of one I/O priority: service times, or total latencies with `lat_percentiles`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PriorityLatency {
    /// The priority as the kernel encodes it (see `ioprio_set`).
    pub priority: u16,
    pub latency: LatencyStats,
}

impl DirectionResult {
    /// Returns the service time or, without one that the total latency can contain (`disable_clat`), that.
    #[must_use]
    pub fn served(&self) -> &LatencyStats {
        if self.service.count > 0 && self.fits_total(&self.service) { &self.service } else { &self.latency }
    }

    /// Reports whether the total latency can contain another one, as far as it is known.
    pub(crate) fn fits_total(&self, part: &LatencyStats) -> bool {
        /// Excess that truncation to whole microseconds explains, in nanoseconds, and as a factor that of rounding.
        const CUT_NS: f64 = 1_000.0;
        const ROUNDED: f64 = 1.01;
        self.latency.mean_ns <= 0.0 || part.mean_ns <= ROUNDED * self.latency.mean_ns + CUT_NS
    }

    /// Returns the total latency, if it has percentiles and the service time has none (fio's `lat_percentiles` alone), or
    /// if there is no service time (`disable_clat`).
    #[must_use]
    pub fn total_instead(&self) -> Option<&LatencyStats> {
        let has = |latency: &LatencyStats| !latency.buckets.is_empty() || !latency.quoted.is_empty();
        let (service, total) = (&self.service, &self.latency);
        Some(total).filter(|_| has(total) && !has(service) || total.count > 0 && service.count == 0)
    }

    /// Returns the latency that has percentiles: the service time or, where only the total latency has them, that.
    #[must_use]
    pub fn with_percentiles(&self) -> &LatencyStats {
        self.total_instead().unwrap_or(&self.service)
    }

    /// Returns the latency that [`Measured::blocks`] count: the response time under a rate, otherwise the service time
    /// or, without it, the total latency.
    #[must_use]
    pub fn in_blocks(&self) -> &LatencyStats {
        let kept = [&self.response, &self.service].into_iter().find(|stats| !stats.buckets.is_empty());
        kept.unwrap_or(&self.latency)
    }

    /// Returns the operations per second over the whole runtime.
    #[must_use]
    pub fn iops(&self) -> f64 {
        per_second(self.ios, self.runtime_ns)
    }

    /// Returns the bytes per second over the whole runtime.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        per_second(self.bytes, self.runtime_ns)
    }

    /// Returns the runtime in whole milliseconds, fio's unit; at least one if the kind moved data.
    #[must_use]
    pub fn runtime_ms(&self) -> u64 {
        let runs = self.runtime_ns > 0 && !self.is_without_data();
        if runs { (self.runtime_ns / 1_000_000).max(1) } else { 0 }
    }

    /// Reports whether operations moved no data, so that fio measures no runtime of theirs.
    #[must_use]
    pub const fn is_without_data(&self) -> bool {
        self.ios > 0 && self.bytes == 0
    }

    /// Returns the bytes per second as fio computes them: from whole milliseconds, truncated.
    #[must_use]
    pub fn fio_bytes_per_second(&self) -> u64 {
        scaled(self.bytes, 1_000, self.runtime_ms())
    }

    /// Returns the operations per second as fio computes them: from whole milliseconds.
    #[must_use]
    pub fn fio_iops(&self) -> f64 {
        if self.runtime_ms() == 0 { 0.0 } else { 1000.0 * self.ios as f64 / self.runtime_ms() as f64 }
    }
}

pub(crate) fn per_second(n: u64, runtime_ns: u64) -> f64 {
    if runtime_ns == 0 { 0.0 } else { n as f64 * 1e9 / runtime_ns as f64 }
}

/// Returns `n × by / over` truncated; zero if `over` is zero.
fn scaled(n: u64, by: u64, over: u64) -> u64 {
    let quotient = (u128::from(n) * u128::from(by)).checked_div(u128::from(over)).unwrap_or(0);
    u64::try_from(quotient).unwrap_or(u64::MAX)
}

/// Statistics of samples other than latencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SampleRecord {
    /// Number of samples.
    pub count: u64,
    /// Minimum.
    pub min: f64,
    /// Maximum.
    pub max: f64,
    pub mean: f64,
    /// Standard deviation.
    pub stddev: f64,
}

impl SampleRecord {
    /// Returns the mean in percent of a total, at most 100.
    #[must_use]
    pub fn percent_of(&self, whole: u64) -> f64 {
        if whole == 0 || self.count == 0 { 0.0 } else { (self.mean * 100.0 / whole as f64).min(100.0) }
    }
}

/// Counts of intervals of equal width, from the start of measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesRecord {
    /// Width of an interval in nanoseconds.
    pub width_ns: u64,
    /// Minimum width in nanoseconds for judging steadiness; shorter intervals vary by chance. Zero if intervals are
    /// wide enough.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pace_ns: u64,
    /// Intervals in order; the last one may be incomplete.
    pub intervals: Vec<IntervalRecord>,
}

impl SeriesRecord {
    /// Returns the series in intervals that are wide enough to judge steadiness.
    #[must_use]
    pub fn paced(&self) -> Cow<'_, Self> {
        if self.width_ns == 0 || self.pace_ns <= self.width_ns {
            return Cow::Borrowed(self);
        }
        let each = self.pace_ns.div_ceil(self.width_ns);
        let joined = |part: &[IntervalRecord]| {
            part[1..].iter().fold(part[0], |mut sum, next| {
                sum.join(next);
                sum
            })
        };
        let intervals = self.intervals.chunks(each as usize).map(joined).collect();
        Cow::Owned(Self { width_ns: self.width_ns.saturating_mul(each), pace_ns: 0, intervals })
    }

    /// Returns the series in intervals of twice the width.
    #[must_use]
    pub(crate) fn halved(&self) -> Self {
        let doubled = Self { pace_ns: self.width_ns.saturating_mul(2), ..self.clone() };
        Self { pace_ns: self.pace_ns, ..doubled.paced().into_owned() }
    }

    /// Returns the operations per second of each complete [paced](SeriesRecord::paced) interval.
    #[must_use]
    pub fn iops(&self) -> Vec<f64> {
        let paced = self.paced();
        let whole = paced.intervals.len().saturating_sub(1);
        let per_second = |interval: &IntervalRecord| per_second(interval.ios.iter().sum(), paced.width_ns);
        paced.intervals[..whole].iter().map(per_second).collect()
    }

    /// Returns the coefficient of variation of operations per second; `None` for fewer than five complete intervals.
    #[must_use]
    pub fn variation(&self) -> Option<f64> {
        let iops = self.iops();
        let mean = mean(&iops);
        if iops.len() < 5 || mean <= 0.0 {
            return None;
        }
        let squares: f64 = iops.iter().map(|value| (value - mean).powi(2)).sum();
        Some((squares / (iops.len() - 1) as f64).sqrt() / mean)
    }

    /// Returns the mean operations per second of the first and last third; `None` for fewer than nine complete
    /// intervals.
    #[must_use]
    pub fn early_and_late(&self) -> Option<(f64, f64)> {
        let iops = self.iops();
        let third = iops.len() / 3;
        (third >= 3).then(|| (mean(&iops[..third]), mean(&iops[iops.len() - third..])))
    }

    /// Returns the mean operations per second of the complete intervals before and after an instant; `None` if there are
    /// none on one side.
    #[must_use]
    pub fn before_and_after(&self, at_ns: f64) -> Option<(f64, f64)> {
        let (iops, at) = (self.iops(), at_ns / self.paced().width_ns.max(1) as f64);
        let (before, after) = (iops.get(..at as usize)?, iops.get(at.ceil() as usize..)?);
        (!before.is_empty() && !after.is_empty()).then(|| (mean(before), mean(after)))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(pace_ns: &u64) -> bool {
    *pace_ns == 0
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

impl From<&meter::Summary> for Measured {
    fn from(summary: &meter::Summary) -> Self {
        let [read, write, trim] = summary.directions.each_ref().map(DirectionResult::from);
        Self {
            read,
            write,
            trim,
            sync: (&summary.sync).into(),
            depth: Shares { counts: summary.depth.0, total: summary.ios() },
            submit: Shares::of(summary.submit.0),
            complete: Shares::of(summary.complete.0),
            lateness: (&summary.lateness).into(),
            series: (&summary.series).into(),
            blocks: summary.blocks.iter().map(LatencyBlock::from).collect(),
            runtime_ns: summary.runtime.get(),
            cpu: summary.cpu,
            errors: summary.errors,
            first_error: summary.first_error,
            workers: summary.workers,
            quoted_shares: None,
            trimmed: summary.trimmed.clone(),
        }
    }
}

impl From<&meter::DirectionSummary> for DirectionResult {
    fn from(summary: &meter::DirectionSummary) -> Self {
        Self {
            ios: summary.ios,
            bytes: summary.bytes,
            short_ios: summary.short_ios,
            drop_ios: summary.drop_ios,
            runtime_ns: summary.runtime.get(),
            submission: (&summary.submission).into(),
            service: (&summary.service).into(),
            latency: (&summary.latency).into(),
            response: (&summary.response).into(),
            priorities: summary
                .priorities
                .iter()
                .filter(|(_, latency)| latency.moments.count() > 0)
                .map(PriorityLatency::from)
                .collect(),
            bandwidth_kib: summary.bandwidth.into(),
            iops_samples: summary.iops.into(),
        }
    }
}

impl From<&(u16, meter::Latency)> for PriorityLatency {
    fn from((priority, latency): &(u16, meter::Latency)) -> Self {
        Self { priority: *priority, latency: latency.into() }
    }
}

impl From<meter::Samples> for SampleRecord {
    fn from(samples: meter::Samples) -> Self {
        Self { count: samples.count, min: samples.min, max: samples.max, mean: samples.mean, stddev: samples.stddev() }
    }
}

impl From<&meter::Series> for SeriesRecord {
    fn from(series: &meter::Series) -> Self {
        let (width_ns, pace_ns) = (series.width().get(), series.pace().get());
        Self { width_ns, pace_ns: if pace_ns > width_ns { pace_ns } else { 0 }, intervals: series.intervals().to_vec() }
    }
}
