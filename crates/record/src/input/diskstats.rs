//! Reads a series of copies of `/proc/diskstats`, each below a line with its time, as `fathom capture --sample` writes
//! it, as `while sleep 1; do date +%s.%N; cat /proc/diskstats; done` prints it, and as `pt-diskstats` saves it; or each above
//! it, as in old versions of that.
//!
//! Two copies of a device make a report of the interval between them, with the columns of `iostat -x`. Lines of
//! `/proc/stat` may stand beside those of devices.

use std::ops::Range;
use units::Problem;

use super::counters::CounterSeries;
use super::iostat::{BlockTitles, CounterFormat, Iostat, IostatCpu, series};
use super::stated::{StatedDisk, of_disks};
use super::text::{InputText, line_number};
use super::{DEVICES_MAX, InputResult, blocks, of_run};
use crate::{DiskCounters, Run};

/// Remedy for an unreadable series.
const REMEDY: &str = "create it with `fathom capture DEVICE --sample -o FILE`, or with a loop: `while sleep 1; do date \
                      +%s.%N; cat /proc/diskstats; done`";

/// Reports whether a text contains lines of `/proc/diskstats`.
pub(super) fn is_in(text: &InputText) -> bool {
    text.lines().any(|line| DeviceLine::parse(line).is_some())
}

/// Reads all series; of a single copy without a time, what was counted since boot.
pub(super) fn read(text: &InputText) -> Result<Vec<InputResult>, Problem> {
    if let Some(run) = single_copy(text) {
        return Ok(vec![InputResult { line: 1, input: of_run(run) }]);
    }
    blocks(text, all_series(text)?)
}

/// Reads a copy whose lines are all of different devices; `None` if there is a time, or no device had a request.
fn single_copy(text: &InputText) -> Option<Run> {
    let mut disks: Vec<StatedDisk> = Vec::new();
    for (_, line) in text.whole_lines() {
        if time_ns(line.trim()).is_some() {
            return None;
        }
        let Some(device) = DeviceLine::parse(line) else { continue };
        if disks.len() >= DEVICES_MAX || disks.iter().any(|known| known.name == device.name) {
            return None;
        }
        disks.push(StatedDisk { name: device.name.to_owned(), counters: device.counters });
    }
    let note = "counted since boot, without the uptime: rates are unknown. Take two copies with timestamps: `fathom \
                capture DEVICE --sample`";
    let notes: Vec<String> = std::iter::once(note.to_owned()).chain(text.cut_note()).collect();
    Some(of_disks("diskstats", disks.into_iter(), &notes)).filter(|run| !run.jobs.is_empty())
}

fn all_series(text: &InputText) -> Result<Vec<Iostat>, Problem> {
    let titles = BlockTitles::of(text);
    let is_title = |line: &str| line.starts_with(HOST) || is_text(line.trim()) && titles.has(line);
    let lines_with = |is: &dyn Fn(&str) -> bool| -> Vec<usize> {
        text.whole_lines().filter(|(_, line)| is(line)).map(|(index, _)| index).collect()
    };
    let copies = lines_with(&|line| time_ns(line.trim()).is_some());
    series(&lines_with(&is_title), &copies, text.len()).into_iter().map(|lines| one_series(text, lines)).collect()
}

fn one_series(text: &InputText, lines: Range<usize>) -> Result<Iostat, Problem> {
    let mut reader = DiskstatsReader::default();
    let (ordered, left_out) = below_times(text.whole_lines().skip(lines.start).take(lines.len()).collect());
    for (index, line) in ordered {
        reader.line(text, index, line)?;
    }
    let old_partitions = reader.old_partitions;
    let mut iostat = reader.series.finish(CounterFormat::Diskstats);
    let cut_note = text.cut_note().filter(|_| lines.end == text.len());
    let is_cut = cut_note.is_some();
    iostat.notes.extend(cut_note);
    if left_out {
        iostat.notes.push("the last copy has no timestamp below it and is ignored".to_owned());
    }
    if old_partitions {
        iostat.notes.push("partitions have no times here (before Linux 2.6.25) and are ignored".to_owned());
    }
    if iostat.reports.iter().all(|report| report.devices.is_empty()) {
        let what = match is_cut {
            false => "no device has two copies of its counters, so there is no interval",
            true => "the last line has no newline and may be truncated, and no device has two copies before it",
        };
        return Err(text.cut_off(lines.end, what, REMEDY));
    }
    Ok(iostat)
}

/// Moves each time above the copy that it stands below, if the first one does. Also reports whether a last copy without a
/// time is left out.
fn below_times(lines: Vec<(usize, &str)>) -> (Vec<(usize, &str)>, bool) {
    let is_time = |line: &str| time_ns(line.trim()).is_some();
    let is_device = |line: &str| DeviceLine::parse(line).is_some();
    let first = lines.iter().find(|(_, line)| is_time(line) || is_device(line));
    if first.is_none_or(|(_, line)| is_time(line)) || !lines.iter().any(|(_, line)| is_time(line)) {
        return (lines, false);
    }
    let mut ordered = Vec::with_capacity(lines.len());
    let mut copy = 0;
    for (index, line) in lines {
        let at = if is_time(line) { std::mem::replace(&mut copy, ordered.len() + 1) } else { ordered.len() };
        ordered.insert(at, (index, line));
    }
    let left_out = ordered.split_off(copy).iter().any(|(_, line)| is_device(line));
    (ordered, left_out)
}

/// Fact of the host above a series of `fathom capture`.
const HOST: &str = "# host: ";

/// A line of `/proc/diskstats`.
struct DeviceLine<'a> {
    name: &'a str,
    counters: DiskCounters,
}

impl<'a> DeviceLine<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (major, rest) = line.trim_start().split_once(char::is_whitespace)?;
        let (minor, rest) = rest.trim_start().split_once(char::is_whitespace)?;
        let (name, fields) = rest.trim_start().split_once(char::is_whitespace)?;
        let (_, _): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
        // A table of other numbers, such as that of vmstat.
        let is_name = name.contains(|c: char| !c.is_ascii_digit());
        is_name.then_some(())?;
        Some(Self { name, counters: DiskCounters::parse(fields)? })
    }
}

/// Processor time of `/proc/stat`, in any unit.
type CpuTimes = [u64; 8];

#[derive(Default)]
struct DiskstatsReader {
    series: CounterSeries,
    cpu: Option<CpuTimes>,
    /// Whether lines of partitions were left out.
    old_partitions: bool,
}

impl DiskstatsReader {
    fn line(&mut self, text: &InputText, index: usize, line: &str) -> Result<(), Problem> {
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
        } else if is_old_partition(line) {
            self.old_partitions = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            let what = match self.series.now_ns.is_none() {
                true => "this is neither a time nor a line of /proc/diskstats",
                false => "this is not a line of /proc/diskstats, which has 14, 18 or 20 fields",
            };
            return Err(text.error(index, line, what, REMEDY));
        }
        Ok(())
    }

    /// Takes facts of the host that `fathom capture` writes.
    fn comment(&mut self, comment: &str) {
        match comment.split_once(": ") {
            Some(("host", name)) => self.series.iostat.host = Some(name.to_owned()),
            Some(("cpus", number)) => self.series.iostat.cpus = number.parse().ok(),
            _ => {}
        }
    }

    fn begin_sample(&mut self, text: &InputText, index: usize, now_ns: u64) -> Result<(), Problem> {
        let line = text.line(index).trim();
        if self.series.now_ns.is_some_and(|before| now_ns <= before) {
            return Err(text.error(index, line, "this timestamp is not later than the previous one", REMEDY));
        }
        self.series.begin(now_ns, line, index);
        Ok(())
    }

    fn device(&mut self, text: &InputText, index: usize, device: &DeviceLine<'_>) -> Result<(), Problem> {
        if self.series.now_ns.is_none() {
            let what = "this copy of /proc/diskstats has no timestamp above it";
            return Err(text.error(index, text.line(index).trim(), what, REMEDY));
        }
        if !self.series.add(device.name, &device.counters, index) {
            let what = format!("more than {DEVICES_MAX} devices");
            return Err(text.error(index, "", what, "select fewer devices with grep"));
        }
        Ok(())
    }

    /// Takes the CPU time since the line before: `cpu user nice system idle iowait irq softirq steal ...`.
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
        self.series.report.cpu = (total > 0.0).then(|| IostatCpu {
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

/// Parses a line with seconds since 1970 and nothing else, such as `1764152855.000012345`. `pt-diskstats` saves them as
/// `TS 1764152855.000012345 2025-11-26T10:27:35`.
fn time_ns(line: &str) -> Option<u64> {
    let line = line.strip_prefix("TS ").map_or(line, |rest| rest.trim().split(' ').next().unwrap_or_default());
    let (seconds, fraction) = line.split_once('.').unwrap_or((line, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(seconds) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let ns: u64 = format!("{fraction:0<9}").parse().ok()?;
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(ns)
}

/// Reports whether a line is that of a partition before Linux 2.6.25, with four counters.
fn is_old_partition(line: &str) -> bool {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let is_partition = words.get(2).is_some_and(|name| name.ends_with(|c: char| c.is_ascii_digit()));
    words.len() == 7
        && is_partition
        && words.iter().enumerate().all(|(at, word)| at == 2 || word.parse::<u64>().is_ok())
}

/// Reports whether a line is neither of the counters nor of `/proc/stat`.
fn is_text(line: &str) -> bool {
    let word = line.split_ascii_whitespace().next().unwrap_or_default();
    let is_of_stat = word.starts_with("cpu")
        || word.starts_with("procs_")
        || matches!(word, "intr" | "ctxt" | "btime" | "processes" | "softirq");
    !is_of_stat && !word.starts_with(|c: char| c.is_ascii_digit() || c == '#') && time_ns(line).is_none()
}
