//! The servers of fio's client, whose results are one run: they ran at the same time.

use std::ops::Range;
use units::Problem;

use crate::{Run, RunOutcome};

/// A run on some lines, with the line of the total over all servers that it is a part of.
type ServerLines = (Range<usize>, Option<usize>);

/// Assigns runs to the totals below them. A total repeats the results of its servers, and is a run only without them.
fn with_totals(runs: Vec<Range<usize>>, is_total: impl Fn(usize) -> bool) -> Vec<ServerLines> {
    let mut found: Vec<ServerLines> = Vec::new();
    let mut first_server = 0;
    for run in runs {
        if !is_total(run.start) {
            found.push((run, None));
            continue;
        }
        if first_server == found.len() {
            found.push((run, None));
        } else {
            found[first_server..].iter_mut().for_each(|(_, total)| *total = Some(run.start));
        }
        first_server = found.len();
    }
    found
}

/// Reads the runs on some lines with `read`, which also gets the lines that announce the jobs of a run, if these are others.
/// Runs of servers above a total are joined. Each has its first line.
pub(super) fn read_joined(
    lines: Vec<Range<usize>>,
    is_total: impl Fn(usize) -> bool,
    mut read: impl FnMut(Range<usize>, Range<usize>) -> Result<Run, Problem>,
) -> Vec<(usize, Result<Run, Problem>)> {
    let mut runs: Vec<(usize, Result<Run, Problem>)> = Vec::new();
    // The last total, the lines of its first server, and its run.
    let mut joined: Option<(usize, Range<usize>, Run)> = None;
    let mut servers = 0;
    for (lines, total) in with_totals(lines, is_total) {
        if joined.as_ref().is_some_and(|(known, ..)| total != Some(*known)) {
            runs.extend(joined.take().map(|(_, first, run)| (first.start, Ok(run))));
        }
        let announced = joined.as_ref().map_or_else(Range::default, |(_, first, _)| first.clone());
        match (read(announced, lines.clone()), total, &mut joined) {
            (Ok(run), Some(_), Some((.., first))) => {
                servers += 1;
                if servers == 2 {
                    name_jobs(first, 1);
                }
                join(first, run, servers);
            }
            (Ok(run), Some(total), None) => (joined, servers) = (Some((total, lines, run)), 1),
            (run, ..) => runs.push((lines.start, run)),
        }
    }
    runs.extend(joined.map(|(_, first, run)| (first.start, Ok(run))));
    runs
}

fn name_jobs(run: &mut Run, server: u32) {
    let named = |name: &str| format!("server {server}/{name}");
    run.jobs.iter_mut().for_each(|job| job.name = named(&job.name));
    run.asked.iter_mut().for_each(|asked| asked.name = named(&asked.name));
    run.notes.iter_mut().filter_map(|note| note.job.as_mut()).for_each(|job| *job = named(job));
    run.disks.iter_mut().for_each(|disk| disk.name = format!("server {server}:{}", disk.name));
}

fn join(run: &mut Run, mut other: Run, server: u32) {
    name_jobs(&mut other, server);
    let known = run.jobs.len() as u32;
    other.jobs.iter_mut().for_each(|job| job.number += known);
    other.notes.iter_mut().filter_map(|note| note.result.as_mut()).for_each(|number| *number += known);
    run.jobs.append(&mut other.jobs);
    run.asked.append(&mut other.asked);
    run.disks.append(&mut other.disks);
    run.notes.append(&mut other.notes);
    // Printed figures of groups and devices are those of one server.
    run.quotes.clear();
    if other.outcome == RunOutcome::Failed {
        run.outcome = RunOutcome::Failed;
    }
}
