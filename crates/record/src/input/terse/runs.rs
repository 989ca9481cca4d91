//! Assigns terse lines to runs.
//!
//! fio prints the jobs of a run in the order of their groups, which begin at 0, and repeats what the devices did on each of
//! their lines. Clones have lines of one name. Where devices tell nothing, a repeated job begins another run.
//! With `--status-interval`, it repeats the lines with the progress of the jobs.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{TerseLayout, fields, is_total};
use crate::input::text::InputText;

/// What a line says about the run that it belongs to.
#[derive(Debug)]
struct TerseLine<'a> {
    version: &'a str,
    name: &'a str,
    group: u32,
    /// Fields of devices.
    devices: Vec<&'a str>,
    /// Time for which the job ran.
    runtime_ms: f64,
    /// Figures that never fall while a job runs, and then those that never rise.
    rising: Vec<f64>,
    falling: Vec<f64>,
    is_total: bool,
}

impl<'a> TerseLine<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let fields = fields(line);
        let layout = TerseLayout::of(&fields)?;
        let number = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
        let kinds = || (0..layout.printed).map(|kind| layout.kind(kind));
        // Bytes, runtime and the longest service time of each kind; context switches.
        let of_kinds = kinds().flat_map(|at| [at, at + 3, at + 9].map(number));
        let devices = fields.get(layout.fields()..).unwrap_or_default();
        let of_devices = devices.chunks_exact(9).take_while(|device| device[8].ends_with('%')).count() * 9;
        Some(Self {
            version: if layout.head > 4 { fields[1] } else { "" },
            name: fields.get(layout.head - 3).copied().unwrap_or_default(),
            group: fields.get(layout.head - 2).and_then(|group| group.parse().ok()).unwrap_or(0),
            devices: devices[..of_devices].to_vec(),
            runtime_ms: kinds().map(|at| number(at + 3)).fold(0.0, f64::max),
            rising: of_kinds.chain([number(layout.processor() + 2)]).collect(),
            falling: kinds().map(|at| if number(at) > 0.0 { number(at + 8) } else { f64::MAX }).collect(),
            is_total: is_total(line),
        })
    }

    fn is_of_job(&self, other: &Self) -> bool {
        (self.version, self.name, self.group) == (other.version, other.name, other.group)
    }

    /// Reports whether a line may be a later report on this job.
    fn may_become(&self, later: &Self) -> bool {
        self.is_of_job(later)
            && self.rising.iter().zip(&later.rising).all(|(before, after)| before <= after)
            && self.falling.iter().zip(&later.falling).all(|(before, after)| before >= after)
    }

    /// Reports whether devices were busy for so long that they hardly do the same in another run.
    fn has_busy_devices(&self) -> bool {
        const BUSY_MS: f64 = 100.0;
        let times = self.devices.chunks_exact(9).flat_map(|device| &device[5..7]);
        times.filter_map(|ms| ms.parse::<f64>().ok()).sum::<f64>() >= BUSY_MS
    }
}

/// Reports whether a line belongs to the run of the lines above it.
fn belongs(run: &[TerseLine<'_>], line: &TerseLine<'_>) -> bool {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return false };
    if first.is_total || line.is_total || line.version != last.version || line.group < last.group {
        return false;
    }
    // A truncated line may lack its devices.
    if !last.devices.is_empty() && !line.devices.is_empty() {
        if last.devices != line.devices {
            return false;
        }
        if line.has_busy_devices() {
            return true;
        }
    }
    let begins_no_run = line.group > 0 && first.group == 0;
    begins_no_run || !run.iter().any(|known| known.is_of_job(line))
}

/// Returns the number of lines of each report on one run: all of them, unless each line may be a later report on the job of
/// a line above it.
fn lines_of_report(run: &[TerseLine<'_>]) -> usize {
    let repeats = |lines: &usize| {
        run.len().is_multiple_of(*lines)
            && run.iter().zip(&run[*lines..]).all(|(before, later)| before.may_become(later))
    };
    (1..run.len()).find(repeats).unwrap_or(run.len())
}

/// Lines of one run's report.
type TerseReport<'a> = (usize, Vec<TerseLine<'a>>);

/// Reports whether a report may be a later one on the same run.
fn may_follow((begin, before): &TerseReport<'_>, (next, later): &TerseReport<'_>) -> bool {
    let did_more = |a: &TerseLine<'_>, b: &TerseLine<'_>| {
        let numbers =
            |line: &TerseLine<'_>| -> Vec<f64> { line.devices.iter().filter_map(|field| field.parse().ok()).collect() };
        let (devices, later) = (numbers(a), numbers(b));
        a.may_become(b) && devices.len() == later.len() && devices.iter().zip(&later).all(|(a, b)| a <= b)
    };
    let longest_ms = |run: &[TerseLine<'_>]| run.iter().map(|line| line.runtime_ms).fold(0.0, f64::max);
    *next == begin + before.len()
        && before.len() == later.len()
        && before.iter().zip(later).all(|(a, b)| did_more(a, b))
        && longest_ms(before) < longest_ms(later)
}

/// Reports whether reports that may follow each other are of one run: devices did as much until the last one as until the
/// one before, or the times between them are equal except for a shorter one at the end.
fn are_of_one_run(reports: &[TerseReport<'_>]) -> bool {
    const EQUAL: f64 = 0.02;
    const SHORTER: f64 = 0.9;
    let lines = || reports.iter().map(|(_, lines)| &lines[0]);
    let repeats_devices = |(a, b): (&TerseLine<'_>, &TerseLine<'_>)| a.has_busy_devices() && a.devices == b.devices;
    let gaps: Vec<f64> = lines().zip(lines().skip(1)).map(|(a, b)| b.runtime_ms - a.runtime_ms).collect();
    let is_regular = |(last, others): (&f64, &[f64])| {
        let first = others.first().copied().unwrap_or(0.0);
        others.len() > 1 && *last < SHORTER * first && others.iter().all(|gap| (gap / first - 1.0).abs() < EQUAL)
    };
    lines().zip(lines().skip(1)).any(repeats_devices) || gaps.split_last().is_some_and(is_regular)
}

/// Returns the lines of the last report on each run, and how many reports there are on those of several, by their first
/// lines. Lines of one run follow each other.
pub(super) fn of(text: &InputText) -> (Vec<Range<usize>>, BTreeMap<usize, usize>) {
    let mut runs: Vec<TerseReport<'_>> = Vec::new();
    let lines = text.lines().enumerate().filter_map(|(index, line)| Some((index, TerseLine::of(line)?)));
    for (index, line) in lines {
        match runs.last_mut() {
            Some((begin, run)) if *begin + run.len() == index && belongs(run, &line) => run.push(line),
            _ => runs.push((index, vec![line])),
        }
    }
    let mut reports: Vec<TerseReport<'_>> = Vec::new();
    for (mut begin, mut run) in runs {
        let lines = lines_of_report(&run);
        while !run.is_empty() {
            let rest = run.split_off(lines.min(run.len()));
            reports.push((begin, std::mem::replace(&mut run, rest)));
            begin += lines;
        }
    }
    let (mut last, mut counts) = (Vec::new(), BTreeMap::new());
    for chain in reports.chunk_by(may_follow) {
        let read = if are_of_one_run(chain) { &chain[chain.len() - 1..] } else { chain };
        if read.len() < chain.len() {
            counts.insert(read[0].0, chain.len());
        }
        last.extend(read.iter().map(|(begin, run)| *begin..begin + run.len()));
    }
    (last, counts)
}
