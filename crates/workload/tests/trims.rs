//! Tests of `trim_percentage`: what is trimmed before it is verified, and what the verification then requires.

use job::{Job, TrimBacklog, VerifyMethod};
use std::collections::BTreeSet;
use std::sync::Arc;
use units::{Nanos, OpKind};
use workload::{Decision, Issuer, JobLayout, Mismatch, Next, Operations, WorkerIndex, Writers, WrongData};

use crate::common::*;

fn trimming(word: &str, percentage: u32, backlog: u64) -> Job {
    let mut job = rw(word);
    job.verify.method = Some(VerifyMethod::Crc32c);
    job.verify.trims = TrimBacklog { percentage, backlog, any_content: false };
    job
}

/// Files in memory, and the operations on them.
struct Trimmed {
    files: Vec<Vec<u8>>,
    ops: Vec<Decision>,
    /// Operations in flight at most; they complete in the reverse order.
    depth: usize,
}

impl Trimmed {
    fn new(lengths: &[u64], depth: usize) -> Self {
        let files = lengths.iter().map(|&length| vec![0xee; length as usize]).collect();
        Self { files, ops: Vec::new(), depth }
    }

    fn apply(&mut self, issuer: &mut Issuer, op: &Decision) -> Result<(), Mismatch> {
        let place = op.offset as usize..(op.offset + u64::from(op.length)) as usize;
        let block = &mut self.files[op.file as usize][place];
        match op.kind {
            OpKind::Write => issuer.fill(op, block),
            OpKind::Trim => block.fill(0),
            OpKind::Read if op.checked => issuer.check(op, block).map(|_| ())?,
            _ => {}
        }
        issuer.complete(op, Nanos::ZERO);
        self.ops.push(*op);
        Ok(())
    }

    /// Runs one phase of the job.
    fn phase(&mut self, issuer: &mut Issuer) -> Result<(), Mismatch> {
        let mut flying: Vec<Decision> = Vec::new();
        loop {
            let next = if flying.len() < self.depth { issuer.next(Nanos::ZERO) } else { Next::Blocked };
            match next {
                Next::Issue(op) | Next::IssueAnew(op) => flying.push(op),
                Next::Close(_) | Next::Renew(_) | Next::Spin(_) | Next::Command(_) => {}
                Next::Until(_) => panic!("the job has no rate"),
                Next::Blocked | Next::Done => {
                    if let Some(op) = flying.pop() {
                        self.apply(issuer, &op)?;
                    } else {
                        assert_eq!(next, Next::Done, "blocked with nothing in flight");
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Runs the whole job with its read-backs.
    fn run(&mut self, issuer: &mut Issuer) -> Result<(), Mismatch> {
        loop {
            self.phase(issuer)?;
            let reader = match issuer.verify_pass() {
                Some(mut reader) => {
                    let left = reader.to_read_back();
                    let before = count(&self.ops, OpKind::Read);
                    self.phase(&mut reader)?;
                    assert_eq!(count(&self.ops, OpKind::Read) - before, left as usize);
                    assert_eq!(reader.to_read_back(), 0);
                    Some(reader)
                }
                None => None,
            };
            if !issuer.resume(reader.as_ref()) {
                return Ok(());
            }
        }
    }
}

/// Runs a job that only writes and returns the number of its reads, writes and trims.
fn counts(job: &Job, lengths: &[u64], depth: usize) -> [usize; 3] {
    let mut disk = Trimmed::new(lengths, depth);
    disk.run(&mut issuer(job, &files(lengths), 5)).unwrap_or_else(|mismatch| panic!("{mismatch}"));
    let mut trimmed = BTreeSet::new();
    for op in disk.ops.iter().filter(|op| op.kind == OpKind::Trim) {
        assert!(trimmed.insert((op.file, op.offset, op.pass)) || job.pattern.direction.trims(), "{op:?} again");
    }
    [OpKind::Read, OpKind::Write, OpKind::Trim].map(|kind| count(&disk.ops, kind))
}

#[test]
fn blocks_are_trimmed_after_each_backlog_and_read_as_zeroes() {
    for depth in [1, 3, 16] {
        for word in ["write", "randwrite"] {
            assert_eq!(counts(&trimming(word, 100, 16), &[256 * KIB], depth), [64, 64, 64], "{word}");
            // The last two writes fill no backlog.
            assert_eq!(counts(&trimming(word, 100, 31), &[256 * KIB], depth), [64, 64, 62], "{word}");
            assert_eq!(counts(&trimming(word, 100, 65), &[256 * KIB], depth), [64, 64, 0], "{word}");
            assert_eq!(counts(&trimming(word, 100, 0), &[256 * KIB], depth), [64, 64, 0], "{word}");
            assert_eq!(counts(&trimming(word, 0, 1), &[256 * KIB], depth), [64, 64, 0], "{word}");
            assert_eq!(counts(&trimming(word, 100, 1), &[40 * KIB, 4 * KIB, 12 * KIB], depth), [14, 14, 14]);
        }
        assert_eq!(counts(&trimming("trimwrite", 100, 16), &[256 * KIB], depth), [64, 64, 128]);
        let [reads, writes, trims] = counts(&trimming("write", 30, 8), &[4 * MIB], depth);
        assert_eq!((reads, writes), (1024, 1024));
        assert!((250..370).contains(&trims), "{trims}");
    }
}

#[test]
fn loops_backlogs_and_sizes_go_with_trims() {
    let mut job = trimming("randwrite", 50, 7);
    job.extent.loops = 3;
    for depth in [1, 5] {
        let [reads, writes, trims] = counts(&job, &[128 * KIB, 60 * KIB], depth);
        assert_eq!((reads, writes), (141, 141));
        assert!((40..100).contains(&trims), "{trims}");
        // A block that has been verified is not trimmed.
        let mut early = trimming("write", 100, 16);
        early.verify.backlog = Some(24);
        assert_eq!(counts(&early, &[256 * KIB], depth), [64, 64, 32 + 16]);
        early.verify.backlog = Some(8);
        assert_eq!(counts(&early, &[256 * KIB], depth), [64, 64, 0]);
    }
    job.files.openfiles = Some(1);
    assert_eq!(counts(&job, &[128 * KIB, 60 * KIB], 4)[1], 141);
}

#[test]
fn trimmed_blocks_of_any_content_are_not_read() {
    for depth in [1, 4] {
        let mut job = trimming("randwrite", 50, 8);
        job.verify.trims.any_content = true;
        let [reads, writes, trims] = counts(&job, &[256 * KIB], depth);
        assert_eq!((reads + trims, writes), (64, 64));
    }
}

#[test]
fn data_in_a_trimmed_block_is_found() {
    let job = trimming("write", 100, 16);
    let mut disk = Trimmed::new(&[64 * KIB], 1);
    let mut writer = issuer(&job, &one_file(64 * KIB), 5);
    disk.phase(&mut writer).expect("nothing is read");
    disk.files[0][3 * 4096 + 17] = 1;
    let mut reader = writer.verify_pass().expect("16 writes");
    let mismatch = disk.phase(&mut reader).expect_err("one byte is not zero");
    assert_eq!((mismatch.wrong, mismatch.block, mismatch.offset), (WrongData::Trimmed, 3 * 4096, 3 * 4096 + 17));
    let mut expected = vec![7; 4096];
    let op = disk.ops.iter().find(|op| op.offset == 3 * 4096).expect("it was written");
    reader.fill(&Decision { kind: OpKind::Read, ..*op }, &mut expected);
    assert_eq!(expected, vec![0; 4096], "the expected content of a trimmed block is zeroes");
}

#[test]
fn a_runtime_ends_trims_too() {
    let job = trimming("write", 100, 8);
    let (mut disk, mut writer) = (Trimmed::new(&[64 * KIB], 1), issuer(&job, &one_file(64 * KIB), 5));
    for _ in 0..10 {
        let Next::Issue(op) = writer.next(Nanos::ZERO) else { panic!("ten operations are possible") };
        disk.apply(&mut writer, &op).expect("nothing is read");
    }
    writer.finish();
    disk.phase(&mut writer).expect("nothing is read");
    assert_eq!([OpKind::Write, OpKind::Trim].map(|kind| count(&disk.ops, kind)), [8, 2]);
    let mut reader = writer.verify_pass().expect("8 writes");
    disk.phase(&mut reader).expect("two blocks are zero, six are not");
}

#[test]
fn jobs_without_verification_trim_nothing() {
    let mut job = trimming("write", 100, 8);
    assert!(Operations::of(&job).trim);
    job.verify.do_verify = false;
    assert!(!Operations::of(&job).trim);
    assert_eq!(count(&run(&job, &one_file(64 * KIB), 5), OpKind::Trim), 0);
    assert!(!Operations::of(&trimming("read", 100, 8)).trim);
    assert!(!Operations::of(&trimming("write", 100, 0)).trim);
}

#[test]
fn jobs_whose_trims_could_not_be_verified_are_refused() {
    let refusal = |job: &Job, layout: &JobLayout| {
        let error = Issuer::new(job, WorkerIndex::default(), layout, 5).expect_err("it is refused");
        error.to_string()
    };
    let mut job = trimming("randwrite", 100, 8);
    job.pattern.norandommap = true;
    assert!(refusal(&job, &one_file(64 * KIB)).contains("norandommap"));
    let mut job = trimming("write", 100, 8);
    job.verify.only = true;
    assert!(refusal(&job, &one_file(64 * KIB)).contains("verify_only"));
    let mut layout = one_file(64 * KIB);
    let mut writers = Writers::default();
    (0..2).for_each(|worker| writers.add(worker, 0, layout.files[0]));
    layout.writers = Some(Arc::new(writers));
    assert!(refusal(&trimming("write", 100, 8), &layout).contains("other workers"));
}

/// `num_range`: each trim has several ranges, and all of them together are the region.
#[test]
fn trims_of_several_ranges_cover_the_region_once() {
    for word in ["trim", "randtrim"] {
        let mut job = rw(word);
        job.engine.nvme.ranges = 8;
        let mut issuer = issuer(&job, &one_file(100 * 4096), 7);
        let (mut trims, mut blocks) = (0, Vec::new());
        while let Next::Issue(op) = issuer.next(Nanos::ZERO) {
            let ranges = issuer.trim_ranges();
            assert_eq!(op.offset, ranges[0].0);
            assert_eq!(op.length, ranges.iter().map(|(_, length)| length).sum::<u32>());
            blocks.extend(ranges.iter().map(|(offset, _)| offset / 4096));
            trims += 1;
            issuer.complete(&op, Nanos::ZERO);
        }
        assert_eq!(trims, 13, "twelve of eight ranges and one of four");
        let in_order = blocks.windows(2).all(|pair| pair[0] < pair[1]);
        assert_eq!(in_order, word == "trim");
        blocks.sort_unstable();
        assert_eq!(blocks, (0..100).collect::<Vec<u64>>());
    }
}
