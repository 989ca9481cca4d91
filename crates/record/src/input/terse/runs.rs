//! Assigns terse lines to runs.
//!
//! fio prints the jobs of a run in the order of their groups, which begin at 0, and repeats what the devices did on each of
//! their lines. Clones have lines of one name. Where devices tell nothing, a repeated job begins another run.

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

/// Returns the lines of each run. Lines of one run follow each other.
pub(super) fn of(text: &InputText) -> Vec<Range<usize>> {
    let mut runs: Vec<(usize, Vec<TerseLine<'_>>)> = Vec::new();
    let lines = text.lines().enumerate().filter_map(|(index, line)| Some((index, TerseLine::of(line)?)));
    for (index, line) in lines {
        match runs.last_mut() {
            Some((begin, run)) if *begin + run.len() == index && belongs(run, &line) => run.push(line),
            _ => runs.push((index, vec![line])),
        }
    }
    let reports = |(begin, run): (usize, Vec<TerseLine<'_>>)| {
        let lines = lines_of_report(&run);
        (0..run.len() / lines).map(move |report| begin + report * lines..begin + (report + 1) * lines)
    };
    runs.into_iter().flat_map(reports).collect()
}
