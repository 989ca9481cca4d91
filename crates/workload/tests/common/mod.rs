//! Jobs with fio's defaults, and a target that completes every operation at once.
#![allow(dead_code, reason = "each test program uses a part of it")]

use job::{BlockSizes, Dialect, EmptySource, Job, parse_file_text};
use units::{Nanos, OpKind, PerKind, Problem};
use workload::{Decision, FileExtent, Issuer, JobLayout, Next, WorkerIndex};

pub(crate) const KIB: u64 = 1024;
pub(crate) const MIB: u64 = 1 << 20;

/// Returns the option that a problem names, after its job.
pub(crate) fn option_of(problem: &Problem) -> &str {
    problem.what.split(": ").nth(1).unwrap_or_default()
}

/// Returns a sequential read of 4 KiB blocks with fio's defaults.
pub(crate) fn job() -> Job {
    rw("read")
}

/// Returns a job with fio's defaults and this `rw`.
pub(crate) fn rw(word: &str) -> Job {
    let text = format!("[job]\nioengine=null\nrw={word}\n");
    let plan = parse_file_text("job.fio", text.as_bytes(), Dialect::Fio, &EmptySource);
    assert!(!plan.has_errors(), "{:?}", plan.diagnostics);
    plan.value.jobs.into_iter().next().expect("one job")
}

pub(crate) fn sizes(job: &mut Job, sizes: &BlockSizes) {
    job.pattern.block_sizes = PerKind { read: sizes.clone(), write: sizes.clone(), trim: sizes.clone() };
}

/// Returns the layout of one file of `length` bytes.
pub(crate) fn one_file(length: u64) -> JobLayout {
    files(&[length])
}

/// Returns the layout of files of these lengths.
pub(crate) fn files(lengths: &[u64]) -> JobLayout {
    let files = lengths.iter().map(|&length| FileExtent { start: 0, length }).collect();
    JobLayout { files, ..JobLayout::default() }
}

pub(crate) fn issuer(job: &Job, layout: &JobLayout, seed: u64) -> Issuer {
    Issuer::new(job, WorkerIndex::default(), layout, seed).expect("the job is sound")
}

/// Returns all decisions of a job whose operations complete at once.
pub(crate) fn run(job: &Job, layout: &JobLayout, seed: u64) -> Vec<Decision> {
    drain(&mut issuer(job, layout, seed), usize::MAX)
}

/// Returns up to `most` decisions, each completed at once; waits are skipped.
pub(crate) fn drain(issuer: &mut Issuer, most: usize) -> Vec<Decision> {
    let (mut ops, mut now) = (Vec::new(), Nanos::ZERO);
    while ops.len() < most {
        match issuer.next(now) {
            Next::Issue(op) | Next::IssueAnew(op) => {
                issuer.complete(&op, now);
                ops.push(op);
            }
            Next::Until(instant) => {
                assert!(instant > now, "Until({instant}) is not later than now ({now})");
                now = instant;
            }
            Next::Blocked => panic!("blocked with nothing in flight"),
            Next::Close(_) | Next::Renew(_) | Next::Spin(_) | Next::Command(_) => {}
            Next::Done => break,
        }
    }
    ops
}

pub(crate) fn count(ops: &[Decision], kind: OpKind) -> usize {
    ops.iter().filter(|op| op.kind == kind).count()
}

pub(crate) fn bytes(ops: &[Decision]) -> u64 {
    ops.iter().map(|op| u64::from(op.length)).sum()
}

/// Asserts that the operations touch no byte of `0..length` twice, and returns how many they touch.
pub(crate) fn disjoint(ops: &[Decision], file: u32, length: u64) -> u64 {
    let mut spans: Vec<_> =
        ops.iter().filter(|op| op.file == file).map(|op| (op.offset, op.offset + u64::from(op.length))).collect();
    spans.sort_unstable();
    for pair in spans.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "{pair:?} overlap");
    }
    assert!(spans.last().is_none_or(|span| span.1 <= length), "beyond the end: {:?}", spans.last());
    spans.iter().map(|(start, end)| end - start).sum()
}
