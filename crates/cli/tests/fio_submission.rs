//! Syncs and the submission of operations are fio's. Each test runs both programs.

mod common;

use std::path::Path;

use common::json::Json;
use common::pair::{PairedRun, expect_same, pair, pair_in};
use common::{fathom, flat, require, run, words};

/// Returns the number of measured syncs of a run.
fn measured_syncs(run: &PairedRun) -> u64 {
    run.json().whole("jobs/0/sync/lat_ns/N")
}

#[test]
fn sync_file_range_follows_as_many_writes_as_in_fio() {
    require!(Fio);
    for line in [
        "--rw=write --sync_file_range=write:8",
        "--rw=randwrite --sync_file_range=wait_before,write,wait_after:5",
        "--rw=write --sync_file_range=write",
        "--rw=write --sync_file_range=write:0",
        "--rw=write --sync_file_range=write:6 --fsync=4 --fdatasync=3",
        "--rw=write --sync_file_range=wait_after:4 --ioengine=mmap",
        "--rw=write --sync_file_range=write:4 --ioengine=libaio",
    ] {
        let line = format!("--name=a --filename=f --size=256k --bs=4k {line}");
        let both = pair(&line);
        expect_same(&both, 0, &line);
        let [ours, theirs] = &both;
        assert_eq!(measured_syncs(ours), measured_syncs(theirs), "{line}");
        // fio counts calls of fsync only.
        if !line.contains("--fsync") {
            let counted = "jobs/0/sync/total_ios";
            assert_eq!((ours.json().whole(counted), theirs.json().whole(counted)), (0, 0), "{line}");
        }
    }
}

#[test]
fn phases_of_sync_file_range_that_fio_does_not_know_are_refused() {
    let cases =
        [("bogus:4", "`bogus` is not a value of this option"), ("write:foo", "`foo` is not a number of writes")];
    for (value, reason) in cases {
        let line = format!("run --name=a --filename=f --size=256k --rw=write --sync_file_range={value}");
        let outcome = run(&mut fathom(words(&line)));
        assert_eq!(outcome.code(), Some(2), "{value}");
        assert!(flat(&outcome.stderr).contains(reason), "{}", outcome.stderr);
    }
}

/// Linux has no barrier writes.
#[test]
fn write_barrier_changes_nothing_as_in_fio() {
    require!(Fio);
    let line = "--name=a --filename=f --size=256k --bs=4k --rw=write --write_barrier=4";
    expect_same(&pair(line), 0, line);
}

/// fio 3.33 has no such option: the documentation of a later version is the reference.
#[test]
fn starts_of_jobs_are_times_of_the_given_clock() {
    let job = "fio --name=a --ioengine=null --size=64k --output-format=json";
    let up_ms = || {
        let uptime = std::fs::read_to_string("/proc/uptime").expect("it is readable");
        let seconds = uptime.split(' ').next().and_then(|seconds| seconds.parse::<f64>().ok());
        (seconds.expect("a number") * 1000.0) as u64
    };
    let before = up_ms();
    // CLOCK_BOOTTIME, of which /proc/uptime shows hundredths of a second.
    let outcome = run(&mut fathom(words(&format!("{job} --job_start_clock_id=7")))).expect_code(0);
    let start = Json::read_after_notes(&outcome.stdout).whole("jobs/0/job_start");
    assert!((before..=up_ms() + 10).contains(&start), "{start} after {before}");
    let outcome = run(&mut fathom(words(&format!("{job} --job_start_clock_id=77777")))).expect_code(1);
    assert!(outcome.stderr.contains("cannot read this clock"), "{}", outcome.stderr);
}

/// Where the controller of block I/O is mounted, if it is one of version 1.
fn blkio_mount() -> Option<String> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("it is readable");
    let is_blkio = |line: &&str| line.contains(" cgroup ") && line.contains("blkio");
    mounts.lines().find(is_blkio).and_then(|line| line.split(' ').nth(1)).map(str::to_owned)
}

#[test]
fn workers_are_in_their_control_group_while_they_run_as_in_fio() {
    require!(Fio, Root);
    let name = format!("fathom-test-{}", std::process::id());
    let job = format!("[a]\nfilename=f\nsize=64k\nrw=write\nnumjobs=2\ncgroup={name}\n");
    let Some(mount) = blkio_mount() else {
        let line = format!("run --name=a --filename=f --size=64k --rw=write --cgroup={name}");
        let outcome = run(&mut fathom(words(&line)));
        assert!(outcome.code() == Some(2) && flat(&outcome.stderr).contains("systemd-run"), "{}", outcome.stderr);
        return;
    };
    let group = Path::new(&mount).join(&name);
    for is_kept in [0, 1] {
        let job = format!("{job}cgroup_nodelete={is_kept}\nexec_prerun=cat /proc/self/cgroup\n");
        // fio runs second, in the group that Fathom has kept.
        for paired in pair_in("job", |scratch| {
            scratch.write("job", &job);
        }) {
            assert_eq!(paired.outcome.code(), Some(0), "{job}\n{}", paired.outcome.stderr);
            assert!(paired.scratch.read("a.prerun.txt").contains(&format!("blkio:/{name}\n")), "{job}");
        }
        assert_eq!(group.exists(), is_kept == 1, "{job}");
    }
    std::fs::remove_dir(&group).expect("it was kept");
}
