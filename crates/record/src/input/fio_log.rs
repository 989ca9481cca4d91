//! Reads fio's logs over time: `_lat`, `_clat`, `_slat`, `_iops`, `_bw` and `_clat_hist`, of all versions, with and without
//! `log_avg_msec`. Only the name of a file tells what it logs.

use std::collections::BTreeMap;

use meter::LogKind;
use units::{Nanos, Problem};

use super::Input;
use super::stated::{StatedLoad, input, result};
use super::text::InputText;
use crate::{DataKind, DirectionResult, LatencyStats};
use crate::{IntervalRecord, SeriesRecord};

const MS: u64 = 1_000_000;

/// Endings of the names of logs, the longer of those that end alike first.
const ENDINGS: [(&str, LogKind); 6] = [
    ("_clat_hist", LogKind::Histogram),
    ("_clat", LogKind::Service),
    ("_slat", LogKind::Submission),
    ("_lat", LogKind::Latency),
    ("_iops", LogKind::Iops),
    ("_bw", LogKind::Bandwidth),
];

/// Returns the kind of log by the name of a file, `db_clat.1.log`, and the part of the name before it.
fn of_name(name: &str) -> Option<(&str, LogKind)> {
    let file = name.rsplit('/').next().unwrap_or(name);
    ENDINGS.into_iter().find_map(|(suffix, kind)| {
        let (job, rest) = file.rsplit_once(suffix)?;
        rest.bytes().next().is_none_or(|byte| byte == b'.').then_some((job, kind))
    })
}

/// A line: time, value, kind of operation, and its size, which is zero in averages.
struct FioLogLine {
    time_ms: u64,
    value: u64,
    kind: DataKind,
    bytes: u64,
}

fn kind_of(number: u64) -> Option<DataKind> {
    DataKind::ALL.get(usize::try_from(number).ok()?).copied()
}

fn fields(line: &str) -> Option<Vec<u64>> {
    let field = |text: &str| {
        let text = text.trim();
        match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        }
    };
    line.split(',').map(field).collect()
}

impl FioLogLine {
    /// `has_greatest` is whether the greatest value stands beside the average (`log_window_value=both`).
    fn parse(line: &str, has_greatest: bool) -> Option<Self> {
        let fields = fields(line).filter(|fields| (3..=8).contains(&fields.len()))?;
        let at = 2 + usize::from(has_greatest);
        let kind = kind_of(*fields.get(at)?)?;
        Some(Self { time_ms: fields[0], value: fields[1], kind, bytes: fields.get(at + 1).copied().unwrap_or(0) })
    }
}

/// Reports whether a text is a log of fio: whole numbers between commas, with rising times and known kinds of operations.
pub(super) fn is_in(text: &InputText) -> bool {
    const LOOKED_AT: usize = 20;
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty()).take(LOOKED_AT);
    let is_named = of_name(text.name()).is_some();
    let all = |is: &dyn Fn(&str) -> bool| lines().next().is_some() && lines().all(is);
    if of_name(text.name()).is_some_and(|(_, kind)| kind == LogKind::Histogram) {
        return all(&|line| fields(line).is_some_and(|fields| fields.len() > 8));
    }
    // fio writes a blank behind each comma.
    let is_plain =
        all(&|line| FioLogLine::parse(line, false).is_some()) || all(&|line| FioLogLine::parse(line, true).is_some());
    let times: Vec<u64> = lines().filter_map(|line| Some(fields(line)?[0])).collect();
    is_plain && times.is_sorted() && (is_named || lines().all(|line| line.contains(", ")))
}

pub(super) fn read(text: &InputText) -> Result<Input, Problem> {
    let Some((job, kind)) = of_name(text.name()) else {
        let what = "this is a fio log over time, and only its file name shows what it contains";
        let remedy =
            "use the file name that fio gave it: `NAME_lat.1.log`, `_clat`, `_slat`, `_iops`, `_bw` or `_clat_hist`";
        return Err(text.error(0, text.line(0).trim(), what, remedy));
    };
    if kind == LogKind::Histogram {
        return histogram(text, job);
    }
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let has_greatest = FioLogLine::parse(first, false).is_none();
    let last = text.lines().rposition(|line| !line.trim().is_empty()).unwrap_or(0);
    let (mut lines, mut notes) = (Vec::new(), Vec::new());
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match FioLogLine::parse(line, has_greatest) {
            Some(line) => lines.push(line),
            None if index == last && !lines.is_empty() => {
                notes.push("the last line is truncated and ignored".to_owned());
            }
            None => {
                let what = "this is not a log line (time in ms, value, kind, size)";
                return Err(text.error(index, line.trim(), what, "pass the unmodified fio log"));
            }
        }
    }
    if !text.ended && notes.is_empty() && lines.len() > 1 {
        lines.pop();
        notes.push("the last line has no newline and is ignored".to_owned());
    }
    let averaged = lines.iter().all(|line| line.bytes == 0);
    let columns = first.split(',').count();
    let mut log = FioLog { kind, lines, notes };
    let jobs = match averaged {
        true => log.of_windows(job),
        false => log.of_operations(job, columns),
    };
    Ok(input("fio log", vec![jobs], &log.notes))
}

struct FioLog {
    kind: LogKind,
    lines: Vec<FioLogLine>,
    notes: Vec<String>,
}

impl FioLog {
    const fn is_of_time(&self) -> bool {
        matches!(self.kind, LogKind::Latency | LogKind::Service | LogKind::Submission)
    }

    /// Returns the time of a kind's lines, from the first to the last, with one more window in front.
    fn span_ms(&self, window_ms: u64) -> u64 {
        let (first, last) =
            (self.lines.first().map_or(0, |line| line.time_ms), self.lines.last().map_or(0, |line| line.time_ms));
        // Logs count from the start of the job.
        if self.is_early(window_ms) { last.max(1) } else { (last - first + window_ms).max(1) }
    }

    /// Reports whether the first line follows the start of the time, which is not so in Unix time.
    fn is_early(&self, window_ms: u64) -> bool {
        self.lines.first().is_none_or(|line| line.time_ms <= 10 * window_ms.max(10))
    }

    /// Returns the time in which the counts of a log of histograms were made. When the first window began is unknown in
    /// Unix time, so it is taken for as long as its counts take at the rate of the others.
    fn counted_ms(&self) -> u64 {
        let window_ms = self.window_ms();
        let first_ms = self.lines.first().map_or(0, |line| line.time_ms);
        let sum = |of: &dyn Fn(&FioLogLine) -> bool| {
            self.lines.iter().filter(|line| of(line)).map(|line| line.value as f64).sum::<f64>()
        };
        let (all, later) = (sum(&|_| true), sum(&|line| line.time_ms > first_ms + window_ms / 2));
        let later_ms = self.lines.last().map_or(0, |line| line.time_ms) - first_ms;
        match self.is_early(window_ms) || later == 0.0 {
            true => self.span_ms(window_ms),
            false => (later_ms as f64 * all / later).round() as u64,
        }
    }

    /// Returns the result of a log with a line for each operation.
    fn of_operations(&mut self, job: &str, columns: usize) -> crate::JobResult {
        let mut made = result(job, 0, 0, &StatedLoad::default());
        let runtime_ms = self.span_ms(1);
        let runtime_ns = runtime_ms.saturating_mul(MS);
        let mut values: Vec<u64> = self.lines.iter().map(|line| line.value).collect();
        values.sort_unstable();
        // Up to four columns are of fio 2 too, which counts microseconds; no device answers within two microseconds.
        let median = values.get(values.len() / 2).copied().unwrap_or(0);
        let in_us = self.is_of_time() && columns <= 4 && median < 2_000;
        let scale = if in_us { 1_000 } else { 1 };
        let mut times: BTreeMap<DataKind, Times> = BTreeMap::new();
        let mut counts: BTreeMap<DataKind, (u64, u64)> = BTreeMap::new();
        for line in &self.lines {
            let count = counts.entry(line.kind).or_default();
            *count = (count.0 + 1, count.1.saturating_add(line.bytes));
            if self.is_of_time() {
                times.entry(line.kind).or_default().add(line.value.saturating_mul(scale), 1);
            }
        }
        for (kind, (ios, bytes)) in counts {
            let latency = times.remove(&kind).unwrap_or_default().stats();
            let of = made.result.kind_mut(kind);
            *of = DirectionResult { ios, bytes, runtime_ns, ..DirectionResult::default() };
            match self.kind {
                LogKind::Service => of.service = latency,
                LogKind::Submission => of.submission = latency,
                _ => of.latency = latency,
            }
        }
        let width_ms = if runtime_ms > 10_000 { 1_000 } else { 100 };
        let mut intervals =
            vec![IntervalRecord::default(); usize::try_from(runtime_ms / width_ms + 1).unwrap_or(1).min(INTERVALS_MAX)];
        for line in &self.lines {
            let at = usize::try_from(line.time_ms / width_ms).unwrap_or(usize::MAX).min(intervals.len() - 1);
            let interval = &mut intervals[at];
            interval.ios[line.kind as usize] += 1;
            interval.bytes[line.kind as usize] = interval.bytes[line.kind as usize].saturating_add(line.bytes);
        }
        made.result.series = SeriesRecord { width_ns: width_ms * MS, pace_ns: 0, intervals };
        (made.result.runtime_ns, made.untimed) = (runtime_ns, false);
        if in_us {
            self.notes.push("values are read as microseconds, the unit of fio 2 logs".to_owned());
        }
        self.notes.push(
            "a log contains neither options nor queue depth; its operations count from the start of the log".to_owned(),
        );
        made
    }

    /// Returns the result of a log of averages over windows (`log_avg_msec`).
    fn of_windows(&mut self, job: &str) -> crate::JobResult {
        let mut made = result(job, 0, 0, &StatedLoad::default());
        let window_ms = self.window_ms();
        let mut by_kind: BTreeMap<DataKind, Vec<&FioLogLine>> = BTreeMap::new();
        self.lines.iter().for_each(|line| by_kind.entry(line.kind).or_default().push(line));
        let runtime_ms = self.span_ms(window_ms);
        let windows = usize::try_from(runtime_ms / window_ms.max(1) + 1).unwrap_or(1).min(INTERVALS_MAX);
        let mut intervals = vec![IntervalRecord::default(); windows];
        let first_ms = self.lines.first().map_or(0, |line| line.time_ms);
        for (kind, lines) in by_kind {
            let mean = lines.iter().map(|line| line.value as f64).sum::<f64>() / lines.len().max(1) as f64;
            // How many operations there were is not known.
            let stats = LatencyStats { count: 1, mean_ns: mean, ..LatencyStats::default() };
            // Time before and after the windows of this kind counts as a window without operations.
            let share = (lines.len() as f64 * window_ms as f64 / runtime_ms as f64).min(1.0);
            let seconds = Some(runtime_ms as f64 / 1e3);
            match self.kind {
                LogKind::Iops => made.set_rate(kind, mean * share, 0.0, seconds, LatencyStats::default()),
                LogKind::Bandwidth => {
                    made.set_rate(kind, 0.0, mean * share * 1024.0, seconds, LatencyStats::default());
                }
                LogKind::Submission => {
                    made.set_count(kind, 1, 0, LatencyStats::default());
                    made.result.kind_mut(kind).submission = stats;
                    let mean = Nanos::new(mean.round() as u64);
                    let name = kind.name();
                    self.notes.push(format!("submission of a {name} took {mean} on average, included in its latency"));
                }
                _ => made.set_count(kind, 1, 0, stats),
            }
            for line in lines {
                // A window may end a little early or late.
                let since_first_ms = line.time_ms.saturating_sub(first_ms).saturating_add(window_ms / 2);
                let at = usize::try_from(since_first_ms / window_ms.max(1)).unwrap_or(usize::MAX);
                let interval = &mut intervals[at.min(windows - 1)];
                let amount = line.value.saturating_mul(window_ms) / 1_000;
                match self.kind {
                    LogKind::Iops => interval.ios[kind as usize] += amount,
                    LogKind::Bandwidth => interval.bytes[kind as usize] += amount.saturating_mul(1024),
                    _ => {}
                }
            }
        }
        if self.kind == LogKind::Iops {
            made.result.series = SeriesRecord { width_ns: window_ms.max(1) * MS, pace_ns: 0, intervals };
        }
        let what = match self.kind {
            LogKind::Iops => "it contains no latencies or sizes",
            LogKind::Bandwidth => "it contains no operations or latencies",
            _ => "it contains only means: rates, percentiles and maximum are unknown",
        };
        self.notes.push(format!("this is a log of means over {window_ms} ms (`log_avg_msec`): {what}"));
        made
    }

    /// Returns the width of the windows: the median distance of two lines of one kind.
    fn window_ms(&self) -> u64 {
        let mut before: BTreeMap<DataKind, u64> = BTreeMap::new();
        let mut widths: Vec<u64> = Vec::new();
        for line in &self.lines {
            let last = before.insert(line.kind, line.time_ms);
            widths.extend(last.map(|last| line.time_ms.saturating_sub(last)).filter(|width| *width > 0));
        }
        widths.sort_unstable();
        let only = self.lines.first().map_or(1, |line| line.time_ms);
        widths.get(widths.len() / 2).copied().unwrap_or(only).max(1)
    }
}

/// Maximum number of intervals of a course.
const INTERVALS_MAX: usize = 100_000;

/// Operations that complete in a millisecond, at most.
const COUNTS_PER_MS_MAX: u64 = 1_000_000;

/// Times of operations in buckets.
#[derive(Default)]
struct Times {
    buckets: BTreeMap<usize, u64>,
    count: u64,
    sum_ns: f64,
    min_ns: Option<u64>,
    max_ns: u64,
}

impl Times {
    fn add(&mut self, ns: u64, count: u64) {
        *self.buckets.entry(meter::bucket_of(ns)).or_default() += count;
        self.count += count;
        self.sum_ns += ns as f64 * count as f64;
        self.min_ns = Some(self.min_ns.map_or(ns, |min| min.min(ns)));
        self.max_ns = self.max_ns.max(ns);
    }

    fn stats(self) -> LatencyStats {
        LatencyStats {
            count: self.count,
            min_ns: self.min_ns.unwrap_or(0),
            max_ns: self.max_ns,
            mean_ns: self.sum_ns / self.count.max(1) as f64,
            buckets: self.buckets.into_iter().collect(),
            ..LatencyStats::default()
        }
    }
}

/// Reads a log of histograms (`write_hist_log`): time, kind, size, and the counts of all classes.
fn histogram(text: &InputText, job: &str) -> Result<Input, Problem> {
    let mut made = result(job, 0, 0, &StatedLoad::default());
    let mut times: BTreeMap<DataKind, (Times, u64)> = BTreeMap::new();
    let (mut lines, mut notes) = (Vec::new(), Vec::new());
    let last = text.lines().rposition(|line| !line.trim().is_empty()).unwrap_or(0);
    let mut columns = None;
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let fields = fields(line).filter(|fields| *columns.get_or_insert(fields.len()) == fields.len());
        let parsed = fields
            .as_ref()
            .and_then(|fields| Some((fields[0], kind_of(*fields.get(1)?)?, fields[2], fields.get(3..)?)));
        let Some((time_ms, kind, bytes, counts)) = parsed else {
            if index == last && !times.is_empty() {
                notes.push("the last line is truncated and ignored".to_owned());
                break;
            }
            let what = "this is not a line of a histogram log (time in ms, kind, size, counts)";
            return Err(text.error(index, "", what, "pass the unmodified fio log"));
        };
        // fio 2 has 19 groups of classes in microseconds, fio 3 has 29 in nanoseconds, each halved by `log_hist_coarseness`.
        let Some((joined, scale)) = classes(counts.len()) else {
            let what = format!("{} counts are not a fio histogram", counts.len());
            return Err(text.error(index, "", what, "pass the unmodified fio log"));
        };
        let total = counts.iter().try_fold(0_u64, |sum, count| sum.checked_add(*count));
        if total.is_none_or(|total| total / COUNTS_PER_MS_MAX > time_ms.max(1)) {
            let what = format!("more operations than can complete in {time_ms} ms: the log is damaged");
            return Err(text.error(index, "", what, "remove the line; some fio versions write such counts"));
        }
        lines.push(FioLogLine { time_ms, value: total.unwrap_or(0), kind, bytes });
        let (of, moved) = times.entry(kind).or_default();
        for (at, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            // The middle of the joined classes.
            let class = at * joined + joined / 2;
            of.add(meter::value_of(class).saturating_mul(scale), *count);
            *moved = moved.saturating_add(bytes.saturating_mul(*count));
        }
    }
    let log = FioLog { kind: LogKind::Histogram, lines, notes };
    let (runtime_ns, mut notes) = (log.counted_ms().saturating_mul(MS), log.notes);
    for (kind, (of, bytes)) in times {
        let service = of.stats();
        let ios = service.count;
        *made.result.kind_mut(kind) = DirectionResult { ios, bytes, runtime_ns, service, ..DirectionResult::default() };
    }
    (made.result.runtime_ns, made.untimed) = (runtime_ns, false);
    notes.push(
        "a histogram log contains neither options nor queue depth; it counts from the start of the job".to_owned(),
    );
    Ok(input("fio log", vec![made], &notes))
}

/// Returns how many classes of a full histogram each count joins, and the unit of the classes in nanoseconds.
fn classes(counts: usize) -> Option<(usize, u64)> {
    (0..=6).find_map(|coarseness| {
        let full = counts.checked_shl(coarseness)?;
        match full {
            1_856 => Some((1 << coarseness, 1)),
            1_216 => Some((1 << coarseness, 1_000)),
            _ => None,
        }
    })
}
