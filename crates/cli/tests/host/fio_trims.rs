//! Trims of verified blocks have the numbers that they have in fio.

use crate::common::devices::LoopDevice;
use crate::common::json::Json;
use crate::common::pair::pair;
use crate::common::{Scratch, fathom, fio, require, run, words};

const FILE_BYTES: u64 = 1 << 20;

/// Returns the numbers of reads, writes and trims of a job on a loop device, and its error.
fn counts(start: fn(Vec<String>) -> std::process::Command, device: &str, line: &str) -> [u64; 4] {
    // Both save the state of the writes in the current directory.
    let scratch = Scratch::new();
    let line = format!("--output-format=json --name=a --filename={device} --bs=4k --verify=crc32c {line}");
    let outcome = run(start(words(&line)).current_dir(&scratch));
    let document = Json::read_after_notes(&outcome.stdout);
    let job = &document.items("jobs")[0];
    let [read, write, trim] = ["read", "write", "trim"].map(|kind| job.whole(&format!("{kind}/total_ios")));
    [read, write, trim, job.whole("error")]
}

fn ours(words: Vec<String>) -> std::process::Command {
    fathom(["fio".to_owned()].into_iter().chain(words))
}

/// fio 3.33 fails with an assertion where `rw` has no trims, so the jobs compared are of `trimwrite`.
#[test]
fn verified_blocks_are_trimmed_as_in_fio() {
    require!(Root, Fio);
    let scratch = Scratch::new();
    scratch.sparse("backing", FILE_BYTES);
    let device = LoopDevice::over(&scratch.path("backing"));
    for line in [
        "--rw=trimwrite --trim_percentage=100 --trim_backlog=64",
        "--rw=trimwrite --trim_percentage=100 --trim_backlog=64 --trim_backlog_batch=7",
        "--rw=trimwrite --trim_percentage=100 --trim_backlog=64 --loops=2",
        "--rw=trimwrite --trim_percentage=100 --trim_backlog=64 --do_verify=0",
        "--rw=write --trim_percentage=100 --trim_backlog=64 --do_verify=0",
        "--rw=write --trim_percentage=100",
    ] {
        assert_eq!(counts(ours, &device.path, line), counts(fio, &device.path, line), "{line}");
    }
    // fio counts a backlog by what it still has to verify, so the numbers differ. Each block is trimmed or read.
    for line in [
        "--rw=trimwrite --trim_percentage=100 --trim_backlog=64 --trim_verify_zero=0",
        "--rw=trimwrite --trim_percentage=50 --trim_backlog=64 --trim_verify_zero=0",
    ] {
        for [reads, writes, trims, error] in [counts(ours, &device.path, line), counts(fio, &device.path, line)] {
            assert_eq!((writes, reads + trims, error), (256, 512, 0), "{line}");
        }
    }
}

#[test]
fn jobs_that_write_trim_what_they_have_written() {
    require!(Root);
    let scratch = Scratch::new();
    scratch.sparse("backing", FILE_BYTES);
    let device = LoopDevice::over(&scratch.path("backing"));
    for engine in ["psync", "libaio --iodepth=8 --direct=1", "io_uring --iodepth=8 --direct=1", "mmap"] {
        let line = format!("--rw=randwrite --trim_percentage=100 --trim_backlog=64 --ioengine={engine}");
        assert_eq!(counts(ours, &device.path, &line), [256, 256, 256, 0], "{line}");
        assert!(std::fs::read(&device.path).expect("root can read it").iter().all(|byte| *byte == 0), "{line}");
    }
}

/// fio aborts if there is more than one block.
#[test]
fn trims_of_a_block_are_counted_as_in_fio() {
    require!(Fio);
    for line in [
        "",
        "--loops=3",
        "--loops=100 --percentile_list=0.5:50:99.9",
        "--loops=12345",
        "--offset=1m --unified_rw_reporting=1",
        "--size=96k --numjobs=2",
        "--description=one --steadystate=iops:50% --ss_dur=1",
    ] {
        let line = format!("--name=a --ioengine=null --rw=trim --bs=64k --size=64k --block_error_percentiles=1 {line}");
        let [fathom, peer] = pair(&line).map(|run| run.json().at("jobs/0/block").clone());
        assert_eq!(fathom, peer, "{line}");
        let printed = |mut command: std::process::Command| lives(&run(&mut command).stdout).join("\n");
        assert_eq!(printed(ours(words(&line))), printed(fio(words(&line))), "{line}");
    }
}

/// Returns the lines of the trims of blocks in fio's normal output.
fn lives(output: &str) -> Vec<&str> {
    let starts = ["  block lifetime percentiles", "   | ", "        states "];
    output.lines().filter(|line| starts.iter().any(|start| line.starts_with(start))).collect()
}
