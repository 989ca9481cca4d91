//! Matches accounts of the same run: fio prints one run in several formats, and repeatedly with `--status-interval`.

use super::json::last_of;
use super::{Input, InputResult};
use crate::{DataKind, JobResult, Run};

/// Formats of the same result, the most detailed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClaimFormat {
    Json,
    Normal,
    Terse,
    Iostat,
}

/// An account that is kept.
#[derive(Debug)]
struct ClaimedAccount {
    format: ClaimFormat,
    part: InputResult,
    /// How many accounts of its run there were before it, and itself.
    count: usize,
    /// The other formats in which it was found.
    others: Vec<ClaimFormat>,
}

/// The accounts of different runs, which were found format by format: of one run in several formats the first, of several
/// accounts while it ran the last.
pub(super) fn of_their_own(found: Vec<(ClaimFormat, InputResult)>) -> Vec<InputResult> {
    let mut kept: Vec<ClaimedAccount> = Vec::new();
    for (format, part) in found {
        if let Input::Run(run) = &part.input {
            let is_other_format = |account: &&mut ClaimedAccount| {
                let free = account.format != format && !account.others.contains(&format);
                free && matches!(&account.part.input, Input::Run(known) if is_same(known, run))
            };
            if let Some(account) = kept.iter_mut().find(is_other_format) {
                account.others.push(format);
                continue;
            }
            let before = kept.last_mut().filter(|account| account.format == format);
            let earlier = |account: &&mut ClaimedAccount| matches!(&account.part.input, Input::Run(before) if goes_on(before, run));
            if let Some(account) = before.filter(earlier) {
                (account.part, account.count) = (part, account.count + 1);
                continue;
            }
        }
        kept.push(ClaimedAccount { format, part, count: 1, others: Vec::new() });
    }
    let told = |mut account: ClaimedAccount| {
        if let (Input::Run(run), true) = (&mut account.part.input, account.count > 1) {
            run.notes.push(last_of(account.count, account.part.line - 1));
        }
        account.part
    };
    kept.into_iter().map(told).collect()
}

/// Whether a later account in JSON is of the same run: the same jobs, which did more in the time between the two.
fn goes_on(before: &Run, later: &Run) -> bool {
    /// Accounts are taken in whole milliseconds, after runtimes.
    const APART_MS: f64 = 1000.0;
    let passed_ms = later.taken_unix_ms as f64 - before.taken_unix_ms as f64;
    let same = |a: &JobResult, b: &JobResult| {
        let ran_ms = |job: &JobResult| job.result.wall_ns() / 1e6;
        let more_ms = ran_ms(b) - ran_ms(a);
        let did_more = DataKind::ALL.into_iter().all(|kind| a.result.kind(kind).ios <= b.result.kind(kind).ios);
        a.name == b.name && a.group == b.group && a.echo == b.echo && did_more && more_ms >= 0.0 && {
            // A job that was over by then did not run on.
            more_ms == 0.0 && a.result.ios() == b.result.ios() || (passed_ms - more_ms).abs() <= APART_MS
        }
    };
    let times_known = before.taken_unix_ms > 0 && passed_ms > 0.0;
    times_known
        // Repeats are runs of their own, however short.
        && before.repeat == later.repeat
        && before.tool == later.tool
        && before.globals == later.globals
        && before.jobs.len() == later.jobs.len()
        && before.jobs.iter().zip(&later.jobs).all(|(a, b)| same(a, b))
        && before.jobs.iter().map(|job| job.result.ios()).sum::<u64>()
            < later.jobs.iter().map(|job| job.result.ios()).sum()
}

/// Whether two accounts are of the same results, as far as both formats print them.
fn is_same(one: &Run, other: &Run) -> bool {
    /// Digits that formats print of a figure.
    const ROUNDED: f64 = 0.01;
    let alike = |a: f64, b: f64| (a - b).abs() <= ROUNDED * a.abs().max(b.abs()) + 1.0;
    let same_kind = |a: &JobResult, b: &JobResult, kind: DataKind| {
        let (a, b) = (a.result.kind(kind), b.result.kind(kind));
        a.runtime_ns / 1_000_000 == b.runtime_ns / 1_000_000
            && alike(a.iops(), b.iops())
            && alike(a.latency.mean_ns / 1e3, b.latency.mean_ns / 1e3)
    };
    let same = |a: &JobResult, b: &JobResult| {
        a.name == b.name && a.group == b.group && DataKind::ALL.into_iter().all(|kind| same_kind(a, b, kind))
    };
    let versions = [&one.tool.version, &other.tool.version];
    (versions[0] == versions[1] || versions.iter().any(|version| version.is_empty()))
        && one.jobs.len() == other.jobs.len()
        && one.jobs.iter().zip(&other.jobs).all(|(a, b)| same(a, b))
}
