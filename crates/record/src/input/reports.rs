//! Merges reports on the same run: fio prints one run in several formats, and repeatedly with `--status-interval`.

use super::json::last_of;
use super::{Input, InputResult};
use crate::{DataKind, JobResult, Run};

/// Formats of a report, most detailed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputFormat {
    Json,
    Normal,
    Terse,
    Table,
}

/// The report that represents a run.
#[derive(Debug)]
struct RunReport {
    format: InputFormat,
    part: InputResult,
    /// Number of reports on the run so far, including this one.
    count: usize,
    /// Other formats in which it was found.
    others: Vec<InputFormat>,
}

/// Returns one report for each run: the first format of a report in several formats, and the last of several reports
/// during a run. `found` is grouped by format.
pub(super) fn of_distinct_runs(found: Vec<(InputFormat, InputResult)>) -> Vec<InputResult> {
    let mut kept: Vec<RunReport> = Vec::new();
    for (format, part) in found {
        if let Input::Run(run) = &part.input {
            let is_other_format = |report: &&mut RunReport| {
                let free = report.format != format && !report.others.contains(&format);
                free && matches!(&report.part.input, Input::Run(known) if is_same(known, run))
            };
            if let Some(report) = kept.iter_mut().find(is_other_format) {
                report.others.push(format);
                continue;
            }
            let last = kept.last_mut().filter(|report| report.format == format);
            let is_earlier =
                |report: &&mut RunReport| matches!(&report.part.input, Input::Run(before) if continues(before, run));
            if let Some(report) = last.filter(is_earlier) {
                (report.part, report.count) = (part, report.count + 1);
                continue;
            }
        }
        kept.push(RunReport { format, part, count: 1, others: Vec::new() });
    }
    let with_note = |mut report: RunReport| {
        if let (Input::Run(run), true) = (&mut report.part.input, report.count > 1) {
            run.notes.push(last_of(report.count, report.part.line - 1));
        }
        report.part
    };
    kept.into_iter().map(with_note).collect()
}

/// Reports whether a later JSON report is on the same run: the same jobs, which progressed in the time between.
fn continues(before: &Run, later: &Run) -> bool {
    /// Tolerance, because reports are taken in whole milliseconds after runtimes.
    const APART_MS: f64 = 1000.0;
    let passed_ms = later.taken_unix_ms as f64 - before.taken_unix_ms as f64;
    let same = |a: &JobResult, b: &JobResult| {
        let ran_ms = |job: &JobResult| job.result.elapsed_ns() as f64 / 1e6;
        let more_ms = ran_ms(b) - ran_ms(a);
        let did_more = DataKind::ALL.into_iter().all(|kind| a.result.kind(kind).ios <= b.result.kind(kind).ios);
        a.name == b.name && a.group == b.group && a.echo == b.echo && did_more && more_ms >= 0.0 && {
            // A finished job did not continue.
            more_ms == 0.0 && a.result.ios() == b.result.ios() || (passed_ms - more_ms).abs() <= APART_MS
        }
    };
    let times_known = before.taken_unix_ms > 0 && passed_ms > 0.0;
    times_known
        // Repeats are separate runs, however short.
        && before.repeat == later.repeat
        && before.tool == later.tool
        && before.globals == later.globals
        && before.jobs.len() == later.jobs.len()
        && before.jobs.iter().zip(&later.jobs).all(|(a, b)| same(a, b))
        && before.jobs.iter().map(|job| job.result.ios()).sum::<u64>()
            < later.jobs.iter().map(|job| job.result.ios()).sum()
}

/// Reports whether two reports have the same results, as far as both formats print them.
fn is_same(one: &Run, other: &Run) -> bool {
    /// Relative tolerance for rounded figures.
    const ROUNDED: f64 = 0.01;
    let is_close = |a: f64, b: f64| (a - b).abs() <= ROUNDED * a.abs().max(b.abs()) + 1.0;
    let same_kind = |a: &JobResult, b: &JobResult, kind: DataKind| {
        let (a, b) = (a.result.kind(kind), b.result.kind(kind));
        a.runtime_ns / 1_000_000 == b.runtime_ns / 1_000_000
            && is_close(a.iops(), b.iops())
            && is_close(a.latency.mean_ns / 1e3, b.latency.mean_ns / 1e3)
    };
    let same = |a: &JobResult, b: &JobResult| {
        a.name == b.name && a.group == b.group && DataKind::ALL.into_iter().all(|kind| same_kind(a, b, kind))
    };
    let versions = [&one.tool.version, &other.tool.version];
    (versions[0] == versions[1] || versions.iter().any(|version| version.is_empty()))
        && one.jobs.len() == other.jobs.len()
        && one.jobs.iter().zip(&other.jobs).all(|(a, b)| same(a, b))
}
