//! Reads a series of copies of `/proc/diskstats`, each below a line with its time, as `fathom capture --sample` writes
//! it and as `while sleep 1; do date +%s.%N; cat /proc/diskstats; done` prints it.
//!
//! Two copies of a device make a report of the interval between them, with the columns of `iostat -x`. Lines of
//! `/proc/stat` may stand beside those of devices.

use std::collections::BTreeMap;

use super::iostat::{CounterFormat, Iostat, IostatCpu, IostatDevice, IostatKind, IostatReport};
use super::text::{InputText, line_number};
use super::{DEVICES_MAX, InputError};
use crate::{DiskCounters, KindCounters};

/// Remedy for an unreadable series.
const REMEDY: &str = "make it with `fathom capture DEVICE --sample -o FILE`, or by a loop: `while sleep 1; do date \
                      +%s.%N; cat /proc/diskstats; done`";

/// Decimals to which rates are known: they follow from exact counters and times.
const DECIMALS: u32 = 4;

/// Reports whether a text contains lines of `/proc/diskstats`.
pub(super) fn is_in(text: &InputText) -> bool {
    text.lines().any(|line| DeviceLine::parse(line).is_some())
}

/// Reads a series.
pub(super) fn read(text: &InputText) -> Result<Iostat, InputError> {
    let mut reader = DiskstatsReader {
        iostat: Iostat { format: CounterFormat::Diskstats, ..Iostat::default() },
        ..Default::default()
    };
    for (index, line) in text.lines().enumerate() {
        reader.line(text, index, line)?;
    }
    if !text.ended {
        return Err(text.cut_off(text.len(), "the last line has no end, so that a part may be missing", REMEDY));
    }
    reader.end_sample();
    if reader.iostat.reports.iter().all(|report| report.devices.is_empty()) {
        return Err(text.cut_off(
            text.len(),
            "no device has two copies of its counters, which make an interval",
            REMEDY,
        ));
    }
    Ok(reader.iostat)
}

/// A line of `/proc/diskstats`.
struct DeviceLine<'a> {
    /// Numbers and name.
    key: (u32, u32, &'a str),
    counters: DiskCounters,
}

impl<'a> DeviceLine<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (major, rest) = line.trim_start().split_once(char::is_whitespace)?;
        let (minor, rest) = rest.trim_start().split_once(char::is_whitespace)?;
        let (name, fields) = rest.trim_start().split_once(char::is_whitespace)?;
        let key = (major.parse().ok()?, minor.parse().ok()?, name);
        Some(Self { key, counters: DiskCounters::parse(fields)? })
    }
}

/// Processor time of `/proc/stat`, in any unit.
type CpuTimes = [u64; 8];

#[derive(Default)]
struct DiskstatsReader {
    iostat: Iostat,
    /// Time of the current copy in nanoseconds, and of the one before.
    now_ns: Option<u64>,
    before_ns: Option<u64>,
    report: IostatReport,
    /// The last counters of each device, and the time of their copy.
    devices: BTreeMap<(u32, u32, String), (u64, DiskCounters)>,
    cpu: Option<CpuTimes>,
}

impl DiskstatsReader {
    fn line(&mut self, text: &InputText, index: usize, line: &str) -> Result<(), InputError> {
        let line = line.trim();
        let word = line.split_ascii_whitespace().next().unwrap_or_default();
        if let Some(comment) = line.strip_prefix('#') {
            self.comment(comment.trim());
        } else if let Some(now_ns) = time_ns(line) {
            return self.begin_sample(text, index, now_ns);
        } else if let Some(device) = DeviceLine::parse(line) {
            return self.device(text, index, &device);
        } else if word == "cpu" {
            self.cpu(index, line);
        } else if !word.is_empty() && !is_of_stat(word) {
            let what = match self.iostat.reports.is_empty() && self.now_ns.is_none() {
                true => "this is neither a time nor a line of /proc/diskstats",
                false => "this is no line of /proc/diskstats with its 14, 18 or 20 fields",
            };
            return Err(text.error(index, line, what, REMEDY));
        }
        Ok(())
    }

    /// Takes facts of the host that `fathom capture` writes.
    fn comment(&mut self, comment: &str) {
        match comment.split_once(": ") {
            Some(("host", name)) => self.iostat.host = Some(name.to_owned()),
            Some(("cpus", number)) => self.iostat.cpus = number.parse().ok(),
            _ => {}
        }
    }

    fn begin_sample(&mut self, text: &InputText, index: usize, now_ns: u64) -> Result<(), InputError> {
        self.end_sample();
        let line = text.line(index).trim();
        if self.before_ns.is_some_and(|before| now_ns <= before) {
            return Err(text.error(index, line, "this time is not after the one before", REMEDY));
        }
        self.now_ns = Some(now_ns);
        let seconds = self.before_ns.map(|before| (now_ns - before) as f64 / 1e9);
        let when = Some(line.to_owned());
        self.report = IostatReport { when, seconds, line: line_number(index), ..IostatReport::default() };
        Ok(())
    }

    fn end_sample(&mut self) {
        let report = std::mem::take(&mut self.report);
        // The first copy begins an interval and ends none.
        if self.before_ns.is_some() {
            self.iostat.reports.push(report);
        }
        self.before_ns = self.now_ns.or(self.before_ns);
    }

    fn device(&mut self, text: &InputText, index: usize, device: &DeviceLine<'_>) -> Result<(), InputError> {
        let Some(now_ns) = self.now_ns else {
            let what = "this copy of /proc/diskstats has no time above it";
            return Err(text.error(index, text.line(index).trim(), what, REMEDY));
        };
        let (major, minor, name) = device.key;
        let before = self.devices.insert((major, minor, name.to_owned()), (now_ns, device.counters));
        if self.devices.len() > DEVICES_MAX {
            let what = format!("there are more than {DEVICES_MAX} devices in it");
            return Err(text.error(index, "", what, "keep the lines of fewer devices: grep"));
        }
        // Counters that began anew, and two lines in one copy, make no interval.
        let increase = before
            .filter(|(before_ns, _)| *before_ns < now_ns)
            .and_then(|(before_ns, before)| Some((now_ns - before_ns, device.counters.since(&before)?)));
        if let Some((passed_ns, increase)) = increase {
            let seconds = passed_ns as f64 / 1e9;
            let of_interval = of_increase(&increase, seconds);
            self.report.devices.push(IostatDevice { name: name.to_owned(), line: line_number(index), ..of_interval });
        }
        Ok(())
    }

    /// Takes the processor time since the line before: `cpu user nice system idle iowait irq softirq steal ...`.
    fn cpu(&mut self, index: usize, line: &str) {
        let mut times = CpuTimes::default();
        let words = line.split_ascii_whitespace().skip(1);
        times.iter_mut().zip(words).for_each(|(time, word)| *time = word.parse().unwrap_or(0));
        let Some(before) = self.cpu.replace(times) else { return };
        let mut passed = CpuTimes::default();
        passed
            .iter_mut()
            .zip(times.iter().zip(&before))
            .for_each(|(one, (now, then))| *one = now.saturating_sub(*then));
        let total = passed.iter().fold(0_u64, |sum, one| sum.saturating_add(*one)) as f64;
        let [user, nice, system, idle, iowait, irq, softirq, steal] = passed.map(|one| one as f64 / total);
        self.report.cpu = (total > 0.0).then(|| IostatCpu {
            line: line_number(index),
            user,
            nice,
            system: system + irq + softirq,
            iowait,
            steal,
            idle,
        });
    }
}

/// Parses a line with seconds since 1970 and nothing else, such as `1764152855.000012345`.
fn time_ns(line: &str) -> Option<u64> {
    let (seconds, fraction) = line.split_once('.').unwrap_or((line, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(seconds) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let ns: u64 = format!("{fraction:0<9}").parse().ok()?;
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(ns)
}

/// Reports whether a line is one of `/proc/stat`.
fn is_of_stat(word: &str) -> bool {
    word.starts_with("cpu")
        || word.starts_with("procs_")
        || matches!(word, "intr" | "ctxt" | "btime" | "processes" | "softirq")
}

/// Returns what `iostat -x` prints of an interval.
fn of_increase(increase: &DiskCounters, seconds: f64) -> IostatDevice {
    let kind = |counters: &KindCounters| {
        let queued = counters.requests.saturating_add(counters.merges);
        IostatKind {
            per_second: Some(counters.requests as f64 / seconds),
            bytes_per_second: Some(counters.bytes() as f64 / seconds),
            merges_per_second: Some(counters.merges as f64 / seconds),
            merged: (queued > 0).then(|| counters.merges as f64 / queued as f64),
            await_ns: Some(counters.await_ns().unwrap_or(0.0)),
            request_bytes: Some(counters.request_bytes().unwrap_or(0.0)),
        }
    };
    let optional = |counters: &Option<KindCounters>| counters.as_ref().map(kind).unwrap_or_default();
    let flush = optional(&increase.flush);
    IostatDevice {
        decimals: DECIMALS,
        read: kind(&increase.read),
        write: kind(&increase.write),
        discard: optional(&increase.discard),
        flush: IostatKind { per_second: flush.per_second, await_ns: flush.await_ns, ..IostatKind::default() },
        in_flight: Some(increase.weighted_ms as f64 / 1e3 / seconds),
        util: Some((increase.busy_ms as f64 / 1e3 / seconds).min(1.0)),
        ..IostatDevice::default()
    }
}
