//! The servers of fio's client, whose results are one run: they ran at the same time.

use std::ops::Range;

use super::InputError;
use crate::{Run, RunOutcome};

/// Joins the runs of the servers above the total of fio's client.
pub(super) struct ServerRuns {
    total_line: Option<usize>,
    joined: Option<(Range<usize>, Run)>,
    servers: u32,
}

impl ServerRuns {
    pub(super) fn before(total_line: Option<usize>) -> Self {
        Self { total_line, joined: None, servers: 0 }
    }

    /// Returns the lines of the first server, which announce the jobs of all, if the run on these lines is another one's.
    pub(super) fn first_lines(&self, lines: &Range<usize>) -> Range<usize> {
        let first = self.joined.as_ref().filter(|_| self.has_above(lines)).map(|(first, _)| first.clone());
        first.unwrap_or_default()
    }

    /// Takes the run of a server. Returns any other one, with its line.
    pub(super) fn push(
        &mut self,
        lines: Range<usize>,
        run: Result<Run, InputError>,
    ) -> Option<(usize, Result<Run, InputError>)> {
        let run = match run {
            Ok(run) if self.has_above(&lines) => run,
            other => return Some((lines.start, other)),
        };
        self.servers += 1;
        match &mut self.joined {
            None => self.joined = Some((lines, run)),
            Some((_, joined)) => {
                if self.servers == 2 {
                    name_jobs(joined, 1);
                }
                join(joined, run, self.servers);
            }
        }
        None
    }

    pub(super) fn finish(self) -> Option<(usize, Run)> {
        self.joined.map(|(lines, run)| (lines.start, run))
    }

    fn has_above(&self, lines: &Range<usize>) -> bool {
        self.total_line.is_some_and(|total| lines.start < total)
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
