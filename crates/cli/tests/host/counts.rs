//! `fathom fio` does as many operations as fio and leaves the same files.

use std::io::{Seek, SeekFrom, Write};
use std::process::Command;

use crate::common::host::timed;
use crate::common::json::Json;
use crate::common::pair::{pair_at_once, pair_at_once_in};
use crate::common::{Outcome, Scratch, at_once, fathom, fio, require, run, words};

type Program = fn(Vec<String>) -> Command;
const FATHOM: Program = |words| fathom(std::iter::once("fio".to_owned()).chain(words));
const FIO: Program = |words| fio(words);

/// The exit code, and for each job the operations and bytes of each direction and the syncs.
type Counts = (Option<i32>, Vec<[u64; 7]>);

fn counts(program: Program, scratch: &Scratch, line: &str) -> Counts {
    let words = words(&format!("--output-format=json --thread {line}"));
    counts_of(&run(program(words).current_dir(scratch)))
}

/// Runs both programs at the same time, each in a directory of its own.
fn both(jobs: &[String]) -> [Counts; 2] {
    pair_at_once(&format!("--thread {}", jobs.join(" "))).map(|ran| counts_of(&ran.outcome))
}

fn counts_of(outcome: &Outcome) -> Counts {
    let document = Json::read_after_notes(&outcome.stdout);
    let keys = ["read", "write", "trim"].map(|kind| ["total_ios", "io_bytes"].map(|key| format!("{kind}/{key}")));
    let of = |job: usize| {
        let mut keys = keys.iter().flatten();
        let mut counts = [0; 7].map(|_: u64| keys.next().map_or(0, |key| document.whole(&format!("jobs/{job}/{key}"))));
        counts[6] = document.whole(&format!("jobs/{job}/sync/total_ios"));
        counts
    };
    let jobs = (0..).take_while(|job| document.find(&format!("jobs/{job}")).is_some());
    (outcome.code(), jobs.map(of).collect())
}

/// Compares jobs with one start of each program.
#[track_caller]
fn same_counts(jobs: &[String]) {
    let [ours, theirs] = both(jobs);
    assert!(theirs.1.len() >= jobs.len(), "{theirs:?}");
    let first = ours.1.iter().zip(&theirs.1).position(|(ours, theirs)| ours != theirs);
    assert_eq!(ours, theirs, "the first difference is that of entry {first:?} of {jobs:#?}");
}

/// Compares jobs that end with their runtime. Each has to do the same once: the last operation before the end depends on
/// the host within 10 ms.
fn same_counts_in_time(mut jobs: Vec<String>) {
    timed("counts::same_counts_in_time", || {
        let [ours, theirs] = both(&jobs);
        assert_eq!((ours.0, ours.1.len(), theirs.1.len()), (theirs.0, jobs.len(), jobs.len()));
        let mut unequal = Vec::new();
        for ((ours, theirs), job) in ours.1.iter().zip(&theirs.1).zip(std::mem::take(&mut jobs)) {
            if ours != theirs {
                unequal.push(format!("{ours:?} for {theirs:?}: {job}"));
                jobs.push(job);
            }
        }
        if unequal.is_empty() { Ok(()) } else { Err(unequal.join("\n")) }
    });
}

#[test]
fn verification_reads_as_often_as_fio() {
    require!(Fio);
    let jobs = [
        "--rw=write --loops=3",
        "--rw=randwrite --loops=2",
        "--rw=write --io_size=32k --loops=3",
        "--rw=randwrite --io_size=160k",
        "--rw=write --io_size=160k --loops=2",
        "--rw=write --number_ios=4 --loops=3",
        "--rw=write --runtime=1010ms --rate_iops=50 --loops=5",
        "--rw=write --runtime=1050ms --rate_iops=10",
        "--rw=write --runtime=1010ms --rate_iops=50 --time_based",
        "--rw=write --runtime=1025ms --rate_iops=20 --time_based --ioengine=libaio",
        "--rw=randwrite --runtime=1025ms --rate_iops=20 --time_based --ioengine=io_uring",
        "--rw=write --runtime=1025ms --rate_iops=20 --time_based --loops=2 --ioengine=libaio",
        "--rw=write --runtime=1025ms --rate_iops=20 --time_based --io_size=32k --ioengine=libaio",
        "--rw=write --runtime=1025ms --rate_iops=20 --time_based --io_size=160k --ioengine=libaio",
        "--rw=write --runtime=1025ms --rate_iops=20 --time_based --number_ios=4 --ioengine=libaio",
        "--rw=write --runtime=1025ms --rate_iops=20 --time_based --do_verify=0 --ioengine=libaio",
        "--rw=write --runtime=900",
        "--rw=write --verify_backlog=4",
        "--rw=write --verify_backlog=4 --verify_backlog_batch=2 --verify_async=2",
        "--rw=write --verify_backlog=5 --do_verify=0",
        "--rw=randwrite --verify_backlog=3 --loops=2",
        "--rw=write --experimental_verify=1",
        "--rw=write --verify_backlog=100",
        "--rw=write --verify_backlog=4 --io_size=48k",
        "--rw=randwrite --verify_backlog=1 --ioengine=libaio --iodepth=4",
        "--rw=write --loops=2 --do_verify=0",
        "--rw=randwrite --loops=2 --ioengine=null",
    ];
    let job = |(number, options): (usize, &str)| {
        format!("--name=x{number} --filename=x{number} --size=64k --verify=crc32c {options}")
    };
    let jobs = jobs.into_iter().enumerate().map(job);
    let (in_time, others): (Vec<_>, Vec<_>) = jobs.partition(|job| job.contains("--rate_iops"));
    same_counts(&others);
    same_counts_in_time(in_time);
}

/// These jobs were refused.
#[test]
fn files_smaller_than_a_block_are_left_alone() {
    require!(Fio);
    same_counts(
        &[
            "--name=x --rw=write --size=4k --filesize=4k --filename=x --numjobs=2 --offset_increment=4k",
            "--name=y --rw=write --size=8k --nrfiles=4 --end_fsync=1",
            "--name=z --rw=randwrite --size=8k --nrfiles=4 --verify=crc32c --loops=2",
        ]
        .map(str::to_owned),
    );
    let [ours, theirs] = pair_at_once_in("--thread --name=x --filename=small:large --offset=4k --rw=read", |scratch| {
        scratch.write("small", [0; 4096]);
        scratch.write("large", [0; 65536]);
    })
    .map(|ran| counts_of(&ran.outcome));
    assert_eq!(ours, theirs);
    let scratch = Scratch::new();
    let strict = run(fathom(words("run --name=x --size=8k --nrfiles=4 --rw=write")).current_dir(&scratch));
    assert!(strict.expect_code(2).stderr.contains("less than the smallest block"));
}

#[test]
fn dumps_of_damaged_blocks_are_named_as_by_fio() {
    require!(Fio);
    let dumps = |program: Program, options: &str| {
        let scratch = Scratch::new();
        let line = format!("--name=x --filename=x --size=64k --bs=4k --verify=crc32c {options}");
        counts(program, &scratch, &format!("{line} --rw=write --do_verify=0"));
        let mut file = std::fs::OpenOptions::new().write(true).open(scratch.path("x")).expect("it was written");
        for at in [3 * 4096 + 1500, 7 * 4096] {
            file.seek(SeekFrom::Start(at)).expect("a seek");
            file.write_all(b"torn").expect("a write");
        }
        let (code, _) = counts(program, &scratch, &format!("{line} --rw=read --verify_dump=1"));
        let size = |name: &String| std::fs::metadata(scratch.path(name)).expect("the dump exists").len();
        let names = scratch.names().into_iter().filter(|name| name.starts_with("x."));
        (code, names.map(|name| (size(&name), name)).collect::<Vec<_>>())
    };
    at_once(&["", "--verify_interval=1k"].map(|options| format!("{options} --continue_on_error=verify")), |options| {
        let [ours, theirs] = [FATHOM, FIO].map(|program| dumps(program, options));
        assert_eq!(ours, theirs, "{options}");
        assert!(theirs.1.iter().any(|(_, name)| name.ends_with(".hdr_fail")), "{theirs:?}");
    });
}
