//! Reads `vmstat -d`: counters of each device since boot, once or in intervals. The length of an interval is known from
//! the times of `-t`, or from a command line above: `$ vmstat -d 5 3`.

use std::ops::Range;
use units::Problem;

use super::counters::CounterSeries;
use super::iostat::{BlockTitles, CounterFormat, Iostat, series};
use super::stated::{StatedDisk, of_disks};
use super::text::InputText;
use super::{Input, InputResult, iostat::columns, of_run};
use crate::{DiskCounters, KindCounters};

/// Reports whether a text contains a table of devices of `vmstat`.
pub(super) fn is_in(text: &InputText) -> bool {
    text.lines().any(is_head)
}

fn is_head(line: &str) -> bool {
    line.trim_start().starts_with("disk-") && line.contains("-reads-")
}

struct VmstatRow<'a> {
    name: &'a str,
    counters: DiskCounters,
    /// Second of the day, with `-t`.
    second: Option<f64>,
}

impl<'a> VmstatRow<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (name, rest) = line.trim().split_once(char::is_whitespace)?;
        // Rows of processors and memory, which `vmstat` prints without `-d`, are numbers only.
        name.contains(|c: char| !c.is_ascii_digit()).then_some(())?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let fields: Vec<u64> = words.get(..10)?.iter().map(|word| word.parse().ok()).collect::<Option<_>>()?;
        let kind = |of: &[u64]| KindCounters { requests: of[0], merges: of[1], sectors: of[2], wait_ms: of[3] };
        let counters = DiskCounters {
            read: kind(&fields[..4]),
            write: kind(&fields[4..8]),
            in_flight: fields[8],
            busy_ms: fields[9].saturating_mul(1000),
            ..DiskCounters::default()
        };
        Some(Self { name, counters, second: columns::second_of_day(&words[10..].join(" ")) })
    }
}

/// Returns the interval of a command line such as `$ vmstat -d 5 3`.
fn interval_s(line: &str) -> Option<f64> {
    let (_, options) = line.split_once("vmstat ")?;
    let numbers: Vec<f64> = options.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.first().copied().filter(|seconds| options.contains("-") && (1.0..1e6).contains(seconds))
}

/// A copy of the counters: rows with their lines.
type VmstatCopy<'a> = Vec<(usize, VmstatRow<'a>)>;

/// Reads the outputs of one or several calls.
pub(super) fn read(text: &InputText) -> Result<Vec<InputResult>, Problem> {
    // A copy begins when a device stands there again.
    let mut copies: Vec<VmstatCopy<'_>> = Vec::new();
    let (titles, mut title_lines) = (BlockTitles::of(text), Vec::new());
    for (index, line) in text.whole_lines() {
        let Some(row) = VmstatRow::parse(line) else {
            let is_names = is_head(line) || line.trim_start().starts_with("total merged");
            title_lines.extend((!is_names && titles.has(line)).then_some(index));
            continue;
        };
        let begins = copies.last().is_none_or(|copy| copy.iter().any(|(_, known)| known.name == row.name));
        if begins {
            copies.push(Vec::new());
        }
        if let Some(copy) = copies.last_mut() {
            copy.push((index, row));
        }
    }
    let begins: Vec<usize> = copies.iter().filter_map(|copy| Some(copy.first()?.0)).collect();
    let mut copies = copies.into_iter().peekable();
    let mut results = Vec::new();
    for lines in series(&title_lines, &begins, text.len()) {
        let own = std::iter::from_fn(|| copies.next_if(|copy| copy.first().is_some_and(|(line, _)| *line < lines.end)));
        let own: Vec<VmstatCopy<'_>> = own.collect();
        let line = own.first().and_then(|copy| copy.first()).map_or(0, |(line, _)| *line) + 1;
        results.push(InputResult { line, input: one_series(text, lines, own)? });
    }
    Ok(results)
}

fn one_series(text: &InputText, lines: Range<usize>, mut copies: Vec<VmstatCopy<'_>>) -> Result<Input, Problem> {
    // The last copy is left out if it is cut off.
    if copies.len() > 1 && copies[copies.len() - 1].len() < copies[copies.len() - 2].len() {
        copies.pop();
    }
    let Some(last) = copies.last() else {
        let remedy = "pass the whole output: `vmstat -d -t 1 30`";
        return Err(text.cut_off(lines.end, "no device follows the column header", remedy));
    };
    let cut_note = text.cut_note().filter(|_| lines.end == text.len());
    let given_s = text.lines().skip(lines.start).take(lines.len()).find_map(interval_s);
    match times_ns(&copies, given_s) {
        Some(times) if copies.len() > 1 => {
            let iostat = intervals(&copies, &times);
            Ok(Input::Iostat(Iostat { notes: cut_note.into_iter().collect(), ..iostat }))
        }
        _ => {
            let before = |name: &str| {
                let copy = copies.first().filter(|_| copies.len() > 1)?;
                copy.iter().find(|(_, row)| row.name == name).map(|(_, row)| row.counters)
            };
            let disk = |(_, row): &(usize, VmstatRow<'_>)| StatedDisk {
                name: row.name.to_owned(),
                counters: before(row.name).and_then(|before| row.counters.since(&before)).unwrap_or(row.counters),
            };
            let since = match copies.len() {
                1 => "since boot, without the uptime: rates are unknown. Use `vmstat -d -t 1 30`",
                _ => "over intervals of unknown length: rates are unknown. Use `vmstat -d -t 1 30`",
            };
            let notes: Vec<String> = std::iter::once(format!("counted {since}")).chain(cut_note).collect();
            let run = of_disks("vmstat", last.iter().map(disk), &notes);
            if run.jobs.is_empty() {
                let remedy = "run it while the load runs: `vmstat -d -t 1 30`";
                return Err(text.cut_off(lines.end, "no device had a request", remedy));
            }
            Ok(of_run(run))
        }
    }
}

/// Returns the times of the copies, the first at one day, which wraps around at no interval.
fn times_ns(copies: &[VmstatCopy<'_>], given_s: Option<f64>) -> Option<Vec<u64>> {
    const DAY_S: f64 = 86_400.0;
    let mut now_s = DAY_S;
    let mut times = Vec::new();
    let mut before: Option<f64> = None;
    for copy in copies {
        let second = copy.first().and_then(|(_, row)| row.second);
        if !times.is_empty() {
            now_s += second.zip(before).map(|(now, before)| (now - before).rem_euclid(DAY_S)).or(given_s)?;
        }
        before = second;
        times.push((now_s * 1e9) as u64);
    }
    Some(times)
}

fn intervals(copies: &[VmstatCopy<'_>], times: &[u64]) -> Iostat {
    let mut series = CounterSeries::default();
    for (copy, &now_ns) in copies.iter().zip(times) {
        series.begin(now_ns, "", copy.first().map_or(0, |(line, _)| *line));
        for (line, row) in copy {
            series.add(row.name, &row.counters, *line);
        }
    }
    let mut iostat = series.finish(CounterFormat::Vmstat);
    for report in &mut iostat.reports {
        report.when = None;
        // Whole seconds of activity are too coarse for a share, and the queue is not counted.
        for device in &mut report.devices {
            (device.util, device.in_flight) = (None, None);
        }
    }
    iostat
}
