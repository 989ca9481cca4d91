//! Devices with known formats are refused, and Fathom's own data is not mistaken for one.

use std::process::{Command, Stdio};

use crate::common::devices::{LoopDevice, tool};
use crate::common::{Scratch, fathom, require, run, words};

fn measure(scratch: &Scratch, line: &str) -> Command {
    let mut command = fathom(["run"]);
    command.args(words(line)).current_dir(scratch).stdin(Stdio::null());
    command
}

/// Checks that a write to a device with a format is refused, names the format, and changes nothing.
#[track_caller]
fn refuses(name: &str, program: &str, arguments: &[&str]) {
    let scratch = Scratch::new();
    scratch.sparse("backing", 4 << 20);
    let device = LoopDevice::over(&scratch.path("backing"));
    tool(program, &[arguments, &[&device.path]].concat());
    let before = std::fs::read(&device.path).expect("root can read it");
    let line = format!("--name=x --filename={} --rw=write --size=1m --ioengine=psync", device.path);
    let outcome = run(&mut measure(&scratch, &line));
    assert!(std::fs::read(&device.path).expect("root can read it") == before, "{program} {arguments:?}: overwritten");
    assert!(outcome.expect_code(2).stderr.contains(name), "{program} {arguments:?}");
}

/// f52613e overwrote such devices.
#[test]
fn devices_with_formats_beyond_the_common_ones_were_overwritten() {
    require!(Root);
    refuses("Minix filesystem", "mkfs.minix", &["-1", "-n", "14"]);
    refuses("Minix filesystem", "mkfs.minix", &["-3"]);
    refuses("BFS filesystem", "mkfs.bfs", &[]);
    for page in ["8192", "16384", "32768"] {
        refuses("swap area", "mkswap", &["-p", page]);
    }
}

#[test]
fn data_of_verifying_jobs_has_no_signature() {
    let scratch = Scratch::new();
    let fills = [
        "--verify=crc32c",
        "--verify=md5",
        "--verify=xxhash --verify_interval=512",
        "--verify=pattern --verify_pattern=0x55aa",
        "--verify=pattern --verify_pattern=0x53ef",
        "--zero_buffers=1",
        "--refill_buffers=1",
    ];
    for (seed, fill) in fills.into_iter().enumerate() {
        for bs in ["512", "4k", "64k"] {
            let line = format!(
                "--name=x --filename=data --rw=write --size=4m --bs={bs} --ioengine=psync --do_verify=0 \
                 --randseed={seed} {fill}"
            );
            let outcome = run(&mut measure(&scratch, &line));
            assert!(matches!(outcome.code(), Some(0 | 4)), "{line}: {outcome:#?}");
            let mut file = std::fs::File::open(scratch.path("data")).expect("it was written");
            let bytes = file.metadata().expect("it was written").len();
            assert_eq!(
                (bytes, probe::examine(&mut file, bytes).expect("it can be read").signatures),
                (4 << 20, vec![]),
                "{line}"
            );
            std::fs::remove_file(scratch.path("data")).expect("it was written");
        }
    }
}
