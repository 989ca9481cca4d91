//! Result of sampling the counters of a device, which is possible without privileges.

use serde_json::{Map, Value, json};
use units::{Bytes, Nanos, Problem, count, grouped, percent, significant};

use crate::progress::clock;
use crate::{Sheet, SheetStyle, Tone};

/// What the counters of a device counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleReport {
    /// What the user named.
    pub asked: String,
    pub device: String,
    /// Its size in bytes.
    pub device_bytes: u64,
    /// What the user should know, a sentence each.
    pub notes: Vec<String>,
    /// Requested time between samples, in nanoseconds.
    pub interval_ns: u64,
    /// Time from the first sample to the last one, in nanoseconds.
    pub duration_ns: u64,
    /// Why it ended, such as `after the requested time`.
    pub ended: &'static str,
    /// Number of measured intervals.
    pub intervals: u64,
    /// The shortest and the longest of them, in nanoseconds.
    pub lengths_ns: [u64; 2],
    /// Number of samples that were not taken in time, so that an interval is longer.
    pub missed: u64,
    /// Number of intervals without figures, because the counters began anew.
    pub restarts: u64,
    /// Kinds of requests that were counted, and all together if there are several.
    pub kinds: Vec<SampledKind>,
    /// Requests of all kinds.
    pub requests: u64,
    /// Whether the kernel counts discards and flushes.
    pub counts_discards: bool,
    /// See [`Self::counts_discards`]. Flushes of a partition are counted for its disk.
    pub counts_flushes: bool,
    /// Mean number of requests in flight, over time.
    pub depth_mean: f64,
    /// The largest number of requests in flight at a sample.
    pub depth_seen_max: u64,
    /// Fraction of time with requests in flight.
    pub busy_fraction: f64,
    /// Why sampling ended early: an error with its remedy.
    pub failure: Option<Problem>,
    /// The file, if one was written.
    pub file: Option<SampleFile>,
}

/// Requests of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampledKind {
    /// Its name; `all` for all kinds together.
    pub name: &'static str,
    /// Completed requests.
    pub requests: u64,
    /// Requests that were merged into others before.
    pub merges: u64,
    /// Bytes of the requests.
    pub bytes: u64,
    /// Mean time from queueing to completion in nanoseconds, if there were requests.
    pub latency_ns: Option<f64>,
    /// Requests per second.
    pub iops: IntervalRates,
}

/// A rate over intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IntervalRates {
    /// Mean over the whole time.
    pub mean: f64,
    /// Median of the intervals.
    pub p50: f64,
    /// 95th percentile of the intervals.
    pub p95: f64,
    /// Rate of the busiest interval.
    pub max: f64,
}

/// File with a series of samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleFile {
    pub path: String,
    /// Its length in bytes.
    pub bytes: u64,
    pub samples: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampleProgress {
    /// Time since the start, in nanoseconds.
    pub elapsed_ns: u64,
    /// Time to the end, in nanoseconds; `None` if it is unknown.
    pub remaining_ns: Option<u64>,
    /// Requests per second in the last interval.
    pub iops: f64,
    /// Bytes per second in the last interval.
    pub bytes_per_second: f64,
    /// Number of samples so far.
    pub samples: u64,
}

impl SampleProgress {
    /// Returns the progress line: `24.1k IOPS  94.1 MiB/s  60 samples  0:13 left`.
    #[must_use]
    pub fn line(&self) -> String {
        let time = match self.remaining_ns {
            Some(remaining) => format!("{} left", clock(units::Nanos::new(remaining))),
            None => format!("{} so far", clock(units::Nanos::new(self.elapsed_ns))),
        };
        let (iops, bytes) = (units::count(self.iops), units::Bytes::new(self.bytes_per_second as u64));
        format!("{iops} IOPS  {bytes}/s  {} samples  {time}", units::grouped(self.samples))
    }
}

impl SampledKind {
    /// Returns the mean size of a request in bytes.
    #[must_use]
    pub fn mean_bytes(&self) -> u64 {
        self.bytes / self.requests.max(1)
    }
}

/// Version of the document.
const VERSION: u32 = 1;

impl SampleReport {
    /// Returns the result as JSON: keys end with their units.
    #[must_use]
    pub fn json(&self) -> String {
        let seconds = self.duration_ns as f64 / 1e9;
        let kind = |kind: &SampledKind| {
            let [mean, p50, p95, max] = [kind.iops.mean, kind.iops.p50, kind.iops.p95, kind.iops.max];
            json!({
                "requests": kind.requests,
                "bytes": kind.bytes,
                "merges": kind.merges,
                "iops": { "mean": mean, "p50": p50, "p95": p95, "max": max },
                "bytes_per_second": if seconds > 0.0 { kind.bytes as f64 / seconds } else { 0.0 },
                "mean_bytes": kind.mean_bytes(),
                "mean_latency_ns": kind.latency_ns,
            })
        };
        let kinds: Map<String, Value> = self.kinds.iter().map(|one| (one.name.to_owned(), kind(one))).collect();
        let document = json!({
            "fathom_capture_sample": VERSION,
            "asked": self.asked,
            "device": self.device,
            "device_bytes": self.device_bytes,
            "notes": self.notes,
            "interval_ns": self.interval_ns,
            "duration_ns": self.duration_ns,
            "ended": self.ended,
            "intervals": self.intervals,
            "interval_min_ns": self.lengths_ns[0],
            "interval_max_ns": self.lengths_ns[1],
            "missed_samples": self.missed,
            "counter_restarts": self.restarts,
            "requests": self.requests,
            "kinds": kinds,
            "counts_discards": self.counts_discards,
            "counts_flushes": self.counts_flushes,
            "queue_depth": { "mean": self.depth_mean, "max_at_samples": self.depth_seen_max },
            "busy_fraction": self.busy_fraction,
            "confidence": "low",
            "failure": self.failure.as_ref().map(Problem::to_string),
            "file": self.file.as_ref().map(|file| {
                json!({ "path": file.path, "bytes": file.bytes, "samples": file.samples })
            }),
        });
        format!("{document:#}\n")
    }
}

/// Column of the values.
const INDENT: usize = 17;

impl SampleReport {
    /// Returns the result as text: the load, how it was measured, what is missing, and the next commands.
    #[must_use]
    pub fn text(&self, style: SheetStyle) -> String {
        let mut sheet = Sheet::new(style.readable(), INDENT);
        let (duration, interval) = (Nanos::new(self.duration_ns), self.interval());
        let rest = format!(
            " of {} ({}) in {duration}, counted every {interval}; ended {}",
            self.device,
            Bytes::new(self.device_bytes),
            self.ended
        );
        sheet.led(0, &format!("{} requests", grouped(self.requests)), Tone::Strong, &rest);
        self.notes.iter().for_each(|note| sheet.aside(2, note));
        if self.requests > 0 {
            sheet.gap();
            self.load(&mut sheet);
        }
        sheet.gap();
        self.quality(&mut sheet);
        if let Some(file) = &self.file {
            sheet.field("file", &file_text(file));
        }
        sheet.gap();
        self.next(&mut sheet);
        sheet.finish()
    }

    /// Returns the requested interval, such as `1 s`.
    fn interval(&self) -> String {
        Nanos::new(self.interval_ns).to_string().replace(".00 ", " ").replace(".0 ", " ")
    }

    fn load(&self, sheet: &mut Sheet) {
        let secs = (self.duration_ns as f64 / 1e9).max(1e-9);
        let over = format!("IOPS over intervals of {}", self.interval());
        sheet.line(&format!("{:20}{over:<38}{:>10}{:>9}", "", "mean", "mean"));
        sheet.line(&format!(
            "{:<8}{:>11}{:>7}{:>7}{:>7}{:>7}{:>11}{:>10}{:>9}",
            "", "requests", "mean", "p50", "p95", "max", "per second", "size", "latency"
        ));
        for kind in &self.kinds {
            let dash = || "-".to_owned();
            let has_bytes = kind.bytes > 0;
            let [mean, p50, p95, max] = [kind.iops.mean, kind.iops.p50, kind.iops.p95, kind.iops.max].map(count);
            let rate = Bytes::new((kind.bytes as f64 / secs) as u64).to_string();
            let size = Bytes::new(kind.mean_bytes()).to_string();
            let latency = kind.latency_ns.map_or_else(dash, |ns| Nanos::new(ns.round() as u64).to_string());
            sheet.line(&format!(
                "{:<8}{:>11}{mean:>7}{p50:>7}{p95:>7}{max:>7}{:>11}{:>10}{latency:>9}",
                kind.name,
                grouped(kind.requests),
                if has_bytes { rate } else { dash() },
                if has_bytes { size } else { dash() },
            ));
        }
        sheet.gap();
        let depth = significant(self.depth_mean, 3);
        let text = format!("{depth} on average; at most {} at a sample", grouped(self.depth_seen_max));
        sheet.field("queue depth", &text);
        sheet.field("busy", &format!("{} of the time", percent(self.busy_fraction)));
        let kinds = self.kinds.iter().filter(|kind| kind.name != "all" && kind.merges > 0);
        let merges: Vec<String> = kinds.map(|kind| format!("{} {}s", grouped(kind.merges), kind.name)).collect();
        if !merges.is_empty() {
            sheet.field("merged", &format!("{} joined others before the device", merges.join(" and ")));
        }
        if self.kinds.iter().any(|kind| kind.name == "flush") {
            sheet.field("writes", "include each call that waited for a flush, without data");
        }
    }

    fn quality(&self, sheet: &mut Sheet) {
        let [min, max] = self.lengths_ns.map(Nanos::new);
        let lengths = match self.intervals {
            0 => "none: sampling ended before the first one".to_owned(),
            1 => format!("1 of {min}"),
            intervals if min.to_string() == max.to_string() => format!("{} of {min}", grouped(intervals)),
            intervals => format!("{} of {min} to {max}", grouped(intervals)),
        };
        let missed = match self.missed {
            0 => "no sample missed".to_owned(),
            missed => format!("{} samples missed, so that intervals are longer", grouped(missed)),
        };
        sheet.field("intervals", &format!("{lengths}; {missed}"));
        if self.restarts > 0 {
            let text = format!("the counters were reset; intervals left out: {}", grouped(self.restarts));
            sheet.toned_field("restarts", &text, Some(Tone::Bad));
        }
        let uncounted: Vec<&str> = [("discards", self.counts_discards), ("flushes", self.counts_flushes)]
            .into_iter()
            .filter_map(|(name, is_counted)| (!is_counted).then_some(name))
            .collect();
        let uncounted = match uncounted.is_empty() {
            true => String::new(),
            false => format!("; {}, which the kernel does not count here", uncounted.join(" and ")),
        };
        let interval = self.interval();
        let text = format!(
            "sizes, positions and processes of requests; percentiles of latency; bursts shorter than {interval}{uncounted}"
        );
        sheet.field("not measured", &text);
        sheet.field("confidence", "low: counters give means over intervals only");
    }

    fn next(&self, sheet: &mut Sheet) {
        let asked = &self.asked;
        match &self.file {
            Some(SampleFile { path, .. }) if self.requests > 0 => {
                sheet.line(&format!("Next: fathom explain {path}"));
                sheet.line(&format!("      fathom plan --from {path}"));
                sheet.line(&format!("      fathom capture {asked} -o FILE.trace    (as root: each request)"));
            }
            _ => {
                sheet.line(&format!("Next: fathom capture {asked} --sample -o FILE    (series for plan and explain)"));
                sheet.line(&format!("      fathom capture {asked} -o FILE.trace       (as root: each request)"));
            }
        }
    }
}

fn file_text(file: &SampleFile) -> String {
    let samples = grouped(file.samples);
    format!("{}, {} for {samples} copies of the counters", file.path, Bytes::new(file.bytes))
}

#[cfg(test)]
mod tests {
    use super::super::{IntervalRates, SampledKind};
    use super::*;

    #[test]
    fn the_text_fits_a_terminal_and_says_what_is_missing() {
        let iops = IntervalRates { mean: 123_456.0, p50: 123_456.0, p95: 987_654.0, max: 999_999.0 };
        let kind = |name| SampledKind {
            name,
            requests: 987_654_321,
            bytes: 987_654_321 * 131_072,
            latency_ns: Some(123_456_789.0),
            merges: 12_345_678,
            iops,
        };
        let report = SampleReport {
            asked: "/dev/nvme0n1p1".to_owned(),
            device: "nvme0n1p1".to_owned(),
            device_bytes: 2 << 40,
            interval_ns: 100_000_000,
            duration_ns: 8_000_000_000_000,
            ended: "because the device vanished",
            intervals: 80_000,
            lengths_ns: [99_900_000, 310_000_000],
            missed: 2,
            restarts: 1,
            kinds: vec![kind("read"), kind("discard"), kind("all")],
            requests: 1_975_308_642,
            counts_discards: true,
            file: Some(SampleFile { path: "db.counters".to_owned(), bytes: 12 << 20, samples: 80_001 }),
            ..SampleReport::default()
        };
        let text = report.text(crate::SheetStyle { width: 80, ..crate::SheetStyle::default() });
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for part in [
            "IOPS over intervals of 100 ms",
            "read    987,654,321   123k   123k   988k  1.00M   15.1 GiB   128 KiB   123 ms",
            "12,345,678 reads and 12,345,678 discards joined others",
            "80,000 of 99.9 ms to 310 ms; 2 samples missed",
            "the counters began anew; intervals left out: 1",
            "bursts shorter than 100 ms; flushes, which the kernel",
            "low: counters give means over intervals only",
            "Next: fathom explain db.counters\n      fathom plan --from db.counters\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let idle = SampleReport { requests: 0, kinds: Vec::new(), file: None, ..report };
        let text = idle.text(crate::SheetStyle { width: 80, ..crate::SheetStyle::default() });
        assert!(
            !text.contains("IOPS over") && text.contains("fathom capture /dev/nvme0n1p1 --sample -o FILE"),
            "{text}"
        );
    }
}
