//! Trims of verified blocks have the numbers that they have in fio.

mod common;

use common::devices::LoopDevice;
use common::json::Json;
use common::{Scratch, fathom, fio, require, run, words};

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
