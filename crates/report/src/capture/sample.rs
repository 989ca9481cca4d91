//! Result of sampling the counters of a device, which is possible without privileges.

use results::capture::{SampleFile, SampleProgress, SampleResult};
use units::{Bytes, Nanos, count, grouped, percent, significant};

use crate::progress::clock;
use crate::{Sheet, SheetStyle, Tone};

/// Returns the progress line: `24.1k IOPS  94.1 MiB/s  60 samples  0:13 left`.
#[must_use]
pub fn progress_line(progress: &SampleProgress) -> String {
    let time = match progress.remaining_ns {
        Some(remaining) => format!("{} left", clock(units::Nanos::new(remaining))),
        None => format!("{} so far", clock(units::Nanos::new(progress.elapsed_ns))),
    };
    let (iops, bytes) = (units::count(progress.iops), units::Bytes::new(progress.bytes_per_second as u64));
    format!("{iops} IOPS  {bytes}/s  {} samples  {time}", units::grouped(progress.samples))
}

/// Column of the values.
const INDENT: usize = 17;

/// Returns the result as text: the load, how it was measured, what is missing, and the next commands.
#[must_use]
pub fn text(sampled: &SampleResult, style: SheetStyle) -> String {
    let mut sheet = Sheet::new(style.readable(), INDENT);
    let (duration, interval) = (Nanos::new(sampled.duration_ns), interval(sampled));
    let rest = format!(
        " of {} ({}) in {duration}, counted every {interval}; ended {}",
        sampled.device,
        Bytes::new(sampled.device_bytes),
        sampled.ended
    );
    sheet.led(0, &format!("{} requests", grouped(sampled.requests)), Tone::Strong, &rest);
    sampled.notes.iter().for_each(|note| sheet.aside(2, note));
    if sampled.requests > 0 {
        sheet.gap();
        load(sampled, &mut sheet);
    }
    sheet.gap();
    quality(sampled, &mut sheet);
    if let Some(file) = &sampled.file {
        sheet.field("file", &file_text(file));
    }
    sheet.gap();
    next(sampled, &mut sheet);
    sheet.finish()
}

/// Returns the requested interval, such as `1 s`.
fn interval(sampled: &SampleResult) -> String {
    Nanos::new(sampled.interval_ns).to_string().replace(".00 ", " ").replace(".0 ", " ")
}

fn load(sampled: &SampleResult, sheet: &mut Sheet) {
    let secs = (sampled.duration_ns as f64 / 1e9).max(1e-9);
    let over = format!("IOPS over intervals of {}", interval(sampled));
    sheet.line(&format!("{:20}{over:<38}{:>10}{:>9}", "", "mean", "mean"));
    sheet.line(&format!(
        "{:<8}{:>11}{:>7}{:>7}{:>7}{:>7}{:>11}{:>10}{:>9}",
        "", "requests", "mean", "p50", "p95", "max", "per second", "size", "latency"
    ));
    for kind in &sampled.kinds {
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
    let depth = significant(sampled.depth_mean, 3);
    let text = format!("{depth} on average; at most {} at a sample", grouped(sampled.depth_seen_max));
    sheet.field("queue depth", &text);
    sheet.field("busy", &format!("{} of the time", percent(sampled.busy_fraction)));
    let kinds = sampled.kinds.iter().filter(|kind| kind.name != "all" && kind.merges > 0);
    let merges: Vec<String> = kinds.map(|kind| format!("{} {}s", grouped(kind.merges), kind.name)).collect();
    if !merges.is_empty() {
        sheet.field("merged", &format!("{} merged before the device", merges.join(" and ")));
    }
    if sampled.kinds.iter().any(|kind| kind.name == "flush") {
        sheet.field("writes", "include each call that waited for a flush, without data");
    }
}

fn quality(sampled: &SampleResult, sheet: &mut Sheet) {
    let [min, max] = sampled.lengths_ns.map(Nanos::new);
    let lengths = match sampled.intervals {
        0 => "none: sampling ended before the first one".to_owned(),
        1 => format!("1 of {min}"),
        intervals if min.to_string() == max.to_string() => format!("{} of {min}", grouped(intervals)),
        intervals => format!("{} of {min} to {max}", grouped(intervals)),
    };
    let missed = match sampled.missed {
        0 => "no sample missed".to_owned(),
        missed => format!("{} samples missed, so some intervals are longer", grouped(missed)),
    };
    sheet.field("intervals", &format!("{lengths}; {missed}"));
    if sampled.restarts > 0 {
        let text = format!("the counters were reset; intervals left out: {}", grouped(sampled.restarts));
        sheet.toned_field("restarts", &text, Some(Tone::Bad));
    }
    let uncounted: Vec<&str> = [("discards", sampled.counts_discards), ("flushes", sampled.counts_flushes)]
        .into_iter()
        .filter_map(|(name, is_counted)| (!is_counted).then_some(name))
        .collect();
    let uncounted = match uncounted.is_empty() {
        true => String::new(),
        false => format!("; {}, which the kernel does not count here", uncounted.join(" and ")),
    };
    let interval = interval(sampled);
    let text = format!(
        "sizes, offsets and processes of requests; latency percentiles; bursts shorter than {interval}{uncounted}"
    );
    sheet.field("not measured", &text);
    sheet.field("confidence", "low: counters give means over intervals only");
}

fn next(sampled: &SampleResult, sheet: &mut Sheet) {
    let asked = &sampled.asked;
    match &sampled.file {
        Some(SampleFile { path, .. }) if sampled.requests > 0 => {
            sheet.line(&format!("Next: fathom explain {path}"));
            sheet.line(&format!("      fathom plan --from {path}"));
            sheet.line(&format!("      fathom capture {asked} -o FILE.trace    (as root: every request)"));
        }
        _ => {
            sheet.line(&format!("Next: fathom capture {asked} --sample -o FILE    (series for plan and explain)"));
            sheet.line(&format!("      fathom capture {asked} -o FILE.trace       (as root: every request)"));
        }
    }
}

fn file_text(file: &SampleFile) -> String {
    let samples = grouped(file.samples);
    format!("{}, {} for {samples} copies of the counters", file.path, Bytes::new(file.bytes))
}

#[cfg(test)]
mod tests {
    use results::capture::{IntervalRates, SampledKind};

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
        let report = SampleResult {
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
            ..SampleResult::default()
        };
        let text = text(&report, SheetStyle { width: 80, ..SheetStyle::default() });
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for part in [
            "IOPS over intervals of 100 ms",
            "read    987,654,321   123k   123k   988k  1.00M   15.1 GiB   128 KiB   123 ms",
            "12,345,678 reads and 12,345,678 discards merged",
            "80,000 of 99.9 ms to 310 ms; 2 samples missed",
            "the counters were reset; intervals left out: 1",
            "bursts shorter than 100 ms; flushes, which the kernel",
            "low: counters give means over intervals only",
            "Next: fathom explain db.counters\n      fathom plan --from db.counters\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let idle = SampleResult { requests: 0, kinds: Vec::new(), file: None, ..report };
        let text = super::text(&idle, SheetStyle { width: 80, ..SheetStyle::default() });
        assert!(
            !text.contains("IOPS over") && text.contains("fathom capture /dev/nvme0n1p1 --sample -o FILE"),
            "{text}"
        );
    }
}
