//! How a run is getting on, in one line.

use job::Direction;
use units::{Bytes, Nanos, count};

use crate::fio::{short_count, short_size};

/// A moment of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// How much is done, from 0 to 1; `None` where the end is not known.
    pub fraction: Option<f64>,
    /// Time since the start.
    pub elapsed: Nanos,
    /// Time to the end; `None` where it is not known.
    pub eta: Option<Nanos>,
    /// The runtime is over, and what was written is read back.
    pub reads_back: bool,
    /// Operations per second in the last interval.
    pub iops: f64,
    /// Bytes per second in the last interval.
    pub bytes_per_second: f64,
    /// Operations that failed so far.
    pub errors: u64,
}

/// Fathom's own line: `42.0%  24.1k IOPS  94.1 MiB/s  0:13 left`.
#[must_use]
pub fn line(progress: &Progress) -> String {
    let mut parts = Vec::new();
    parts.extend(progress.fraction.map(|fraction| format!("{:5.1}%", 100.0 * fraction.clamp(0.0, 1.0))));
    parts.push(format!("{} IOPS", count(progress.iops)));
    parts.push(format!("{}/s", Bytes::new(progress.bytes_per_second as u64)));
    if progress.errors > 0 {
        parts.push(format!("{} failed", progress.errors));
    }
    parts.push(match progress.eta {
        _ if progress.reads_back => format!("{} so far, reading back what was written", clock(progress.elapsed)),
        Some(eta) => format!("{} left", clock(eta)),
        None => format!("{} so far", clock(progress.elapsed)),
    });
    parts.join("  ")
}

/// Minutes and seconds, with hours where there are any; begun seconds count.
fn clock(time: Nanos) -> String {
    let s = time.get().div_ceil(1_000_000_000);
    match s / 3600 {
        0 => format!("{}:{:02}", s / 60, s % 60),
        hours => format!("{hours}:{:02}:{:02}", s / 60 % 60, s % 60),
    }
}

/// Figures of fio's progress line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioProgress {
    /// Workers that run.
    pub jobs: u32,
    /// Files that are open.
    pub files: u32,
    /// The rate asked for of all workers together.
    pub rate: Option<FioRate>,
    /// What workers do, by fio's letters (`R` reads in sequence, `r` at random; `W` and `w` for writes, `M` and `m`
    /// for both, `D` and `d` for trims, `F` for syncs, `_` for done, …), with the number of neighbours that do the same.
    pub states: Vec<(char, u32)>,
    /// How much is done, from 0 to 1; `None` where the end is not known.
    pub fraction: Option<f64>,
    /// Bytes per second in the last interval: reads, writes, trims.
    pub bytes_per_second: [u64; 3],
    /// Operations per second in the last interval: reads, writes, trims.
    pub iops: [u64; 3],
    /// Seconds to the end; `None` where it is not known.
    pub eta_s: Option<u64>,
}

/// A rate asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioRate {
    /// In bytes per second.
    Bytes(u64),
    /// In operations per second.
    Iops(u64),
}

/// fio's line: `Jobs: 1 (f=1): [r(1)][100.0%][r=96.0MiB/s][r=24.6k IOPS][eta 00m:00s]`.
#[must_use]
pub fn fio_line(progress: &FioProgress) -> String {
    // The least rate to be kept, which stands before the hyphen, is not among the options.
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

/// `r=…,w=…` for the kinds that are in use; reads where none is.
fn by_kind(values: [u64; 3], text: impl Fn(u64) -> String) -> String {
    let used = ["r", "w", "t"].iter().zip(values).filter(|(_, value)| *value > 0);
    let parts: Vec<String> = used.map(|(letter, value)| format!("{letter}={}", text(value))).collect();
    if parts.is_empty() { format!("r={}", text(0)) } else { parts.join(",") }
}

/// `00m:13s`, with hours and days in front where there are any.
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
    fn own_line_counts_down_where_the_end_is_known() {
        let mut progress = Progress {
            fraction: Some(0.42),
            elapsed: Nanos::from_secs(9),
            eta: Some(Nanos::from_millis(12_400)),
            reads_back: false,
            iops: 24_097.0,
            bytes_per_second: 98_701_312.0,
            errors: 0,
        };
        assert_eq!(line(&progress), " 42.0%  24.1k IOPS  94.1 MiB/s  0:13 left");
        progress = Progress { fraction: None, eta: None, errors: 2, ..progress };
        assert_eq!(line(&progress), "24.1k IOPS  94.1 MiB/s  2 failed  0:09 so far");
        progress = Progress { reads_back: true, errors: 0, ..progress };
        assert_eq!(line(&progress), "24.1k IOPS  94.1 MiB/s  0:09 so far, reading back what was written");
    }

    #[test]
    fn fios_line_is_fios() {
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
