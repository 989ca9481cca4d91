//! Options of single engines: their effects, counts and errors are fio's.

mod common;

use common::pair::{expect_same, pair, pair_in};
use common::{Scratch, fathom, flat, require, run, words};

/// Creates a file with data that are not in the page cache.
fn with_data(scratch: &Scratch) {
    let path = scratch.write("data", vec![7; 256 << 10]);
    let file = std::fs::File::open(path).expect("it was written");
    file.sync_all().expect("it can be written back");
}

const READS: &str = "--name=j --filename=data --rw=randread --bs=4k";

#[test]
fn operations_are_those_of_fio_with_every_option() {
    require!(Fio);
    for line in [
        "--ioengine=io_uring --force_async=4 --iodepth=4",
        "--ioengine=io_uring --force_async=1",
        "--ioengine=io_uring --nonvectored=0",
        "--ioengine=io_uring --nonvectored=0 --fixedbufs --direct=1 --iodepth=8",
        "--ioengine=io_uring --nonvectored=1",
        "--ioengine=libaio --nowait=1 --direct=1 --iodepth=4",
        "--ioengine=libaio --userspace_reap --iodepth_batch_complete=0",
        "--ioengine=pvsync2 --nowait=0",
        "--ioengine=pvsync2 --hipri=1 --hipri_percentage=30 --direct=1",
        "--ioengine=mmap --thp=1",
        "--ioengine=psync --hugepage-size=4m",
        "--ioengine=vsync",
        "--ioengine=pvsync",
    ] {
        let line = format!("{READS} {line}");
        expect_same(&pair_in(&line, with_data), 0, &line);
    }
}

#[test]
fn reads_that_would_block_end_the_job_as_in_fio() {
    require!(Fio);
    for engine in ["io_uring", "libaio", "pvsync2"] {
        let line = format!("{READS} --ioengine={engine} --nowait=1");
        let [ours, theirs] = pair_in(&line, with_data);
        assert_eq!((ours.outcome.code(), theirs.outcome.code()), (Some(1), Some(1)), "{line}");
        for run in [&ours, &theirs] {
            assert_eq!(run.json().whole("jobs/0/error"), 11, "{line}: EAGAIN");
            assert_eq!(run.json().whole("jobs/0/read/io_bytes"), 0, "{line}");
        }
        assert!(flat(&ours.outcome.stderr).contains("leave nowait=1 out"), "{}", ours.outcome.stderr);
    }
}

#[test]
fn missing_huge_pages_are_an_error_as_in_fio() {
    require!(Fio);
    let reserved = std::fs::read_to_string("/proc/sys/vm/nr_hugepages").unwrap_or_default();
    if reserved.trim() != "0" {
        return eprintln!("skipped: this host has huge pages");
    }
    let [ours, theirs] = pair("--name=j --size=64k --rw=write --ioengine=psync --mem=mmaphuge --hugepage-size=2m");
    assert_eq!((ours.outcome.code(), theirs.outcome.code()), (Some(1), Some(1)));
    assert!(ours.outcome.stderr.contains("vm.nr_hugepages"), "{}", ours.outcome.stderr);
}

#[test]
fn options_without_effect_are_refused() {
    for (line, part) in [
        ("--ioengine=psync --rw=write --atomic=1", "the engine `psync` issues no atomic writes"),
        ("--ioengine=io_uring --rw=read --uncached=1 --direct=1", "`uncached` has no effect on direct operations"),
        ("--ioengine=psync --hugepage-size=3m", "3145728 bytes are no size of a huge page"),
    ] {
        let mut command = fathom(["run", "--name=j", "--size=64k"]);
        let text = flat(&run(command.args(words(line))).expect_code(2).stderr);
        assert!(text.contains(part), "{text}");
    }
}
