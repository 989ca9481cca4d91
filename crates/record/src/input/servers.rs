//! The servers of fio's client, whose results are one run: they ran at the same time.

use std::ops::Range;
use units::Problem;

use crate::{Run, RunOutcome};

/// A run on some lines, with the line of the total over all servers that it is a part of.
pub(super) type ServerLines = (Range<usize>, Option<usize>);

/// Assigns runs to the totals below them. A total repeats the results of its servers, and is a run only without them.
pub(super) fn with_totals(runs: Vec<Range<usize>>, is_total: impl Fn(usize) -> bool) -> Vec<ServerLines> {
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

/// Joins the runs of the servers above each total of fio's client.
#[derive(Default)]
pub(super) struct ServerRuns {
    joined: Option<JoinedServers>,
}

struct JoinedServers {
    total_line: usize,
    /// Lines of the first server, which announce the jobs of all.
    first: Range<usize>,
    servers: u32,
    run: Run,
}

impl ServerRuns {
    /// Returns the lines that announce the jobs of a run, if these are lines of another server.
    pub(super) fn first_lines(&self, total: Option<usize>) -> Range<usize> {
        let joined = self.joined.as_ref().filter(|joined| total == Some(joined.total_line));
        joined.map_or_else(Range::default, |joined| joined.first.clone())
    }

    /// Takes the run of a server. Returns runs that are complete, with their lines.
    pub(super) fn push(
        &mut self,
        (lines, total): ServerLines,
        run: Result<Run, Problem>,
    ) -> Vec<(usize, Result<Run, Problem>)> {
        let is_other = self.joined.as_ref().is_some_and(|joined| total != Some(joined.total_line));
        let finished = if is_other { self.finish() } else { None };
        let mut complete: Vec<_> = finished.into_iter().map(|(line, run)| (line, Ok(run))).collect();
        match (run, total) {
            (Ok(run), Some(total_line)) => match &mut self.joined {
                None => self.joined = Some(JoinedServers { total_line, first: lines, servers: 1, run }),
                Some(joined) => joined.add(run),
            },
            (run, _) => complete.push((lines.start, run)),
        }
        complete
    }

    /// Returns the joined run, with its first line.
    pub(super) fn finish(&mut self) -> Option<(usize, Run)> {
        self.joined.take().map(|joined| (joined.first.start, joined.run))
    }
}

impl JoinedServers {
    fn add(&mut self, run: Run) {
        self.servers += 1;
        if self.servers == 2 {
            name_jobs(&mut self.run, 1);
        }
        join(&mut self.run, run, self.servers);
    }
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
