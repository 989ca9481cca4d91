//! The progress line of a run, in Fathom's and in fio's format.

use job::Direction;
use runner::RunProgress;
use units::{Bytes, Nanos, count};

use crate::fio::{short_count, short_size};

/// Returns Fathom's line: `42.0%  24.1k IOPS  94.1 MiB/s  0:13 left`.
#[must_use]
pub fn line(progress: &RunProgress) -> String {
    let mut parts = Vec::new();
    parts.extend(progress.fraction.map(|fraction| format!("{:5.1}%", 100.0 * fraction.clamp(0.0, 1.0))));
    parts.push(format!("{} IOPS", count(progress.iops.iter().sum())));
    parts.push(format!("{}/s", Bytes::new(progress.bytes_per_second.iter().sum::<f64>() as u64)));
    if progress.errors > 0 {
        parts.push(format!("{} failed", progress.errors));
    }
    parts.push(match progress.eta {
        _ if progress.reads_back => format!("{} elapsed, verifying", clock(progress.elapsed)),
        Some(eta) => format!("{} left", clock(eta)),
        None => format!("{} elapsed", clock(progress.elapsed)),
    });
    parts.join("  ")
}

/// Formats minutes and seconds, and hours if there are any; fractions of a second are rounded up.
pub(crate) fn clock(time: Nanos) -> String {
    let s = time.get().div_ceil(1_000_000_000);
    match s / 3600 {
        0 => format!("{}:{:02}", s / 60, s % 60),
        hours => format!("{hours}:{:02}:{:02}", s / 60 % 60, s % 60),
    }
}

/// Figures of fio's progress line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioProgress {
    /// Number of running workers.
    pub jobs: u32,
    /// Number of open files.
    pub files: u32,
    /// Requested rate over all workers.
    pub rate: Option<FioRate>,
    /// States of workers as fio's letters (`R` for sequential and `r` for random reads, `W` and `w` for writes, `M` and
    /// `m` for both, `D` and `d` for trims, `F` for syncs, `_` for finished, …), each with the number of adjacent
    /// workers.
    pub states: Vec<(char, u32)>,
    /// Completed fraction; `None` if the end is unknown.
    pub fraction: Option<f64>,
    /// Bytes per second in the last interval: reads, writes, trims.
    pub bytes_per_second: [u64; 3],
    /// Operations per second in the last interval: reads, writes, trims.
    pub iops: [u64; 3],
    /// Seconds to the end; `None` if unknown.
    pub eta_s: Option<u64>,
}

/// A requested rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioRate {
    /// Bytes per second.
    Bytes(u64),
    /// Operations per second.
    Iops(u64),
}

/// Returns fio's line: `Jobs: 1 (f=1): [r(1)][100.0%][r=96.0MiB/s][r=24.6k IOPS][eta 00m:00s]`.
#[must_use]
pub fn fio_line(progress: &FioProgress) -> String {
    // The number before the hyphen is fio's minimum rate, an option that Fathom does not have.
    let rate = match progress.rate {
        Some(FioRate::Bytes(rate)) => format!(", 0B/s-{}/s", short_size(rate)),
        Some(FioRate::Iops(rate)) => format!(", 0-{} IOPS", short_count(rate)),
        None => String::new(),
    };
    let states: Vec<String> = progress.states.iter().map(|(letter, n)| format!("{letter}({n})")).collect();
    let fraction = match progress.fraction {
        Some(fraction) => format!("{:3.1}%", 100.0 * fraction),
        None => "-.-%".to_owned(),
    };
    let rates = by_kind(progress.bytes_per_second, |rate| format!("{}/s", short_size(rate)));
    let iops = by_kind(progress.iops, short_count);
    let eta = progress.eta_s.map_or_else(|| "--".to_owned(), fio_clock);
    format!(
        "Jobs: {} (f={}){rate}: [{}][{fraction}][{rates}][{iops} IOPS][eta {eta}]",
        progress.jobs,
        progress.files,
        states.join(",")
    )
}

/// Formats the values that are not zero as `r=…,w=…`; reads if all are zero.
fn by_kind(values: [u64; 3], text: impl Fn(u64) -> String) -> String {
    let used = ["r", "w", "t"].iter().zip(values).filter(|(_, value)| *value > 0);
    let parts: Vec<String> = used.map(|(letter, value)| format!("{letter}={}", text(value))).collect();
    if parts.is_empty() { format!("r={}", text(0)) } else { parts.join(",") }
}

/// Formats `00m:13s`, with hours and days in front if there are any.
fn fio_clock(s: u64) -> String {
    let (days, hours, minutes, seconds) = (s / 86_400, s / 3600 % 24, s / 60 % 60, s % 60);
    let days_text = if days > 0 { format!("{days:02}d:") } else { String::new() };
    let hours_text = if days + hours > 0 { format!("{hours:02}h:") } else { String::new() };
    format!("{days_text}{hours_text}{minutes:02}m:{seconds:02}s")
}

/// Returns the letter of a pattern in fio's progress line.
#[must_use]
pub fn fio_letter(pattern: &job::Pattern) -> char {
    match (pattern.direction, pattern.random) {
        (Direction::Read, false) => 'R',
        (Direction::Read, true) => 'r',
        (Direction::Write, false) => 'W',
        (Direction::Write, true) => 'w',
        (Direction::ReadWrite, false) => 'M',
        (Direction::ReadWrite, true) => 'm',
        (Direction::Trim | Direction::TrimWrite, false) => 'D',
        (Direction::Trim | Direction::TrimWrite, true) => 'd',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_line_has_the_time_left_if_the_end_is_known() {
        let mut progress = RunProgress {
            fraction: Some(0.42),
            elapsed: Nanos::from_secs(9),
            eta: Some(Nanos::from_millis(12_400)),
            iops: [24_000.0, 97.0, 0.0],
            bytes_per_second: [98_701_312.0, 0.0, 0.0],
            ..RunProgress::default()
        };
        assert_eq!(line(&progress), " 42.0%  24.1k IOPS  94.1 MiB/s  0:13 left");
        progress = RunProgress { fraction: None, eta: None, errors: 2, ..progress };
        assert_eq!(line(&progress), "24.1k IOPS  94.1 MiB/s  2 failed  0:09 elapsed");
        progress = RunProgress { reads_back: true, errors: 0, ..progress };
        assert_eq!(line(&progress), "24.1k IOPS  94.1 MiB/s  0:09 elapsed, verifying");
    }

    #[test]
    fn fio_line_has_fios_format() {
        let mut progress = FioProgress {
            jobs: 1,
            files: 1,
            rate: None,
            states: vec![('r', 1)],
            fraction: Some(1.0),
            bytes_per_second: [100_663_296, 0, 0],
            iops: [24_576, 0, 0],
            eta_s: Some(0),
        };
        let text = "Jobs: 1 (f=1): [r(1)][100.0%][r=96.0MiB/s][r=24.6k IOPS][eta 00m:00s]";
        assert_eq!(fio_line(&progress), text);
        progress.bytes_per_second[1] = 4096;
        progress.eta_s = Some(90_061);
        progress.states.push(('W', 3));
        progress.rate = Some(FioRate::Bytes(16 << 20));
        assert_eq!(
            fio_line(&progress),
            "Jobs: 1 (f=1), 0B/s-16.0MiB/s: [r(1),W(3)][100.0%][r=96.0MiB/s,w=4096B/s][r=24.6k IOPS][eta 01d:01h:01m:01s]"
        );
    }
}
