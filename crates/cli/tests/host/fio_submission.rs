//! Syncs and the submission of operations are fio's. Each test runs both programs.

use std::path::Path;

use crate::common;
use crate::common::host::timed;
use crate::common::json::Json;
use crate::common::pair::{PairedRun, expect_same, pair, pair_in, pair_with_patience};
use crate::common::{Scratch, fathom, flat, require, run, words};

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
    let cases = [("bogus:4", "`bogus` is not a valid value"), ("write:foo", "`foo` is not a number of writes")];
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

/// Each loop but the last ends with the removal of the files, so that reads of the next one find none.
#[test]
fn files_are_removed_after_each_loop_as_in_fio() {
    require!(Fio);
    for (line, code) in [
        ("--filename=f --size=16k --rw=write --loops=3", 0),
        ("--filename=f --size=16k --rw=write --loops=3 --unlink=1", 0),
        ("--filename=f --size=16k --rw=write --loops=2 --verify=crc32c --verify_state_save=0", 0),
        ("--filename=f --size=16k --rw=write --loops=3 --create_on_open=1", 0),
        ("--filename=f --size=16k --rw=randwrite --loops=3 --ioengine=libaio --iodepth=4", 0),
        ("--filename=f --size=16k --rw=write --io_size=64k", 0),
        ("--filename=f --size=16k --rw=write --io_size=64k --ioengine=libaio --iodepth=4", 0),
        ("--nrfiles=2 --size=16k --rw=write --loops=2", 0),
        ("--nrfiles=4 --filesize=4k --ioengine=filecreate --rw=write --loops=3", 0),
        ("--nrfiles=4 --filesize=4k --ioengine=filestat --rw=read --loops=3", 1),
        ("--filename=f --size=16k --rw=read --loops=3", 1),
    ] {
        let line = format!("--name=a --bs=4k --unlink_each_loop=1 {line}");
        expect_same(&pair(&line), code, &line);
    }
}

/// A file of a later loop is another one: what the kernel calls a new inode.
#[test]
fn the_file_of_a_later_loop_is_new() {
    let scratch = common::Scratch::new();
    std::fs::write(scratch.path("f"), vec![1; 64 << 10]).expect("it is written");
    let held = std::fs::File::open(scratch.path("f")).expect("it is there");
    for (permission, is_refused) in [("", true), (" --allow-overwrite=f", false)] {
        let line =
            format!("run --name=a --filename=f --size=64k --rw=write --loops=2 --unlink_each_loop=1{permission}");
        let outcome = run(fathom(words(&line)).current_dir(&scratch));
        assert_eq!(outcome.code() == Some(2), is_refused, "{}", outcome.stderr);
        let is_old = std::fs::read(scratch.path("f")).expect("it is there") == vec![1; 64 << 10];
        assert_eq!(is_old, is_refused);
    }
    let inode = |facts: std::io::Result<std::fs::Metadata>| std::os::unix::fs::MetadataExt::ino(&facts.expect("facts"));
    assert_ne!(inode(held.metadata()), inode(scratch.path("f").metadata()));
    assert_eq!(scratch.path("f").metadata().expect("facts").len(), 64 << 10);
}

/// fio 3.33 has no such option: the documentation of a later version is the reference.
#[test]
fn cycles_are_spent_after_each_operation() {
    let run_time_ms = |options: &str| {
        let line = format!("fio --name=a --filename=f --size=64k --bs=4k --rw=write --output-format=json {options}");
        let scratch = common::Scratch::new();
        let outcome = run(fathom(words(&line)).current_dir(&scratch)).expect_code(0);
        let json = Json::read_after_notes(&outcome.stdout);
        assert_eq!(json.whole("jobs/0/write/total_ios"), 16);
        (json.number("jobs/0/job_runtime"), json.number("jobs/0/usr_cpu"), json.number("jobs/0/write/clat_ns/max"))
    };
    // Twelve times 20 million cycles or more, at 10 GHz at most.
    for options in ["--thinkcycles=20m", "--thinkcycles=20m --ioengine=libaio --iodepth=4"] {
        timed("fio_submission::cycles_are_spent_after_each_operation", || {
            let (ms, user_percent, slowest_ns) = run_time_ms(options);
            assert!(ms >= 12.0 * 2.0, "{ms} ms");
            // The counter advances while other processes run.
            if user_percent <= 1.0 {
                return Err(format!("{options}: {user_percent} %"));
            }
            // Cycles are not part of the latency.
            if slowest_ns < ms * 1e6 / 2.0 { Ok(()) } else { Err(format!("{options}: {slowest_ns} ns of {ms} ms")) }
        });
    }
    // They precede the idle time instead of passing within it.
    let both = run_time_ms("--thinkcycles=20m --thinktime=20ms").0;
    assert!(both >= 15.0 * (20.0 + 2.0), "{both} ms");
    let outcome =
        run(&mut fathom(words("sim --on gcp/hyperdisk-balanced,size=1TiB --name=a --size=1m --thinkcycles=1")));
    assert!(outcome.code() == Some(2) && flat(&outcome.stderr).contains("thinktime=10us"), "{}", outcome.stderr);
}

/// Runs two jobs at once on a file under these names. Returns the sum of the times of their operations, as a share of the
/// time from the start of the first to the end of the last: 1 at most if no two of them overlap, and almost 2 if
/// nothing waits.
fn overlap(options: &str, names: [&str; 2]) -> f64 {
    let scratch = common::Scratch::new();
    scratch.write("f", vec![0; 1 << 20]);
    std::os::unix::fs::symlink("f", scratch.path("link")).expect("a new link");
    let all = "--size=1m --bs=256k --time_based --runtime=500ms --ioengine=psync --job_start_clock_id=1";
    let [first, second] = names;
    let [a, b] =
        [("a", first), ("b", second)].map(|(name, file)| format!("--name={name} --filename={file} {all} {options}"));
    let line = format!("fio --output-format=json {a} {b}");
    let outcome = run(fathom(words(&line)).current_dir(&scratch)).expect_code(0);
    let json = Json::read_after_notes(&outcome.stdout);
    let busy_ns = |job: usize, direction: &str| {
        let of = |field: &str| json.number(&format!("jobs/{job}/{direction}/clat_ns/{field}"));
        of("mean") * of("N")
    };
    let sum: f64 = [0, 1].iter().map(|&job| busy_ns(job, "read") + busy_ns(job, "write")).sum();
    let of = |field: &str| [0, 1].map(|job| json.number(&format!("jobs/{job}/{field}")));
    let (starts_ms, runtimes_ms) = (of("job_start"), of("job_runtime"));
    let end_ms = (starts_ms[0] + runtimes_ms[0]).max(starts_ms[1] + runtimes_ms[1]);
    sum / 1e6 / (end_ms - starts_ms[0].min(starts_ms[1]))
}

/// fio 3.33 locks nothing that jobs share: its documentation is the reference.
#[test]
fn operations_on_a_locked_file_exclude_each_other() {
    let same = ["f", "f"];
    for (options, names, is_exclusive) in [
        ("--rw=randrw", same, false),
        ("--rw=randrw --lockfile=exclusive", same, true),
        ("--rw=randrw --lockfile=exclusive", ["f", "link"], true),
        ("--rw=randread --lockfile=exclusive", same, true),
        ("--rw=randread --lockfile=readwrite", same, false),
        ("--rw=randwrite --lockfile=readwrite", same, true),
    ] {
        if is_exclusive {
            let share = overlap(options, names);
            assert!(share < 1.1, "{options} on {names:?}: {share}");
            continue;
        }
        // Jobs that share a processor with others overlap less.
        timed("fio_submission::operations_on_a_locked_file", || {
            let share = overlap(options, names);
            if share > 1.3 { Ok(()) } else { Err(format!("{options} on {names:?}: {share}")) }
        });
    }
}

#[test]
fn workers_with_full_queues_take_turns() {
    for locking in ["exclusive", "readwrite"] {
        let line = format!(
            "fio --filename=f --size=1m --bs=4k --rw=randwrite --time_based --runtime=500ms --ioengine=io_uring \
             --iodepth=8 --lockfile={locking} --output-format=json --name=a --name=b"
        );
        // One of the workers may run first on a busy host.
        timed("fio_submission::workers_with_full_queues_take_turns", || {
            let scratch = common::Scratch::new();
            let outcome = run(fathom(words(&line)).current_dir(&scratch)).expect_code(0);
            let json = Json::read_after_notes(&outcome.stdout);
            let counts = [0, 1].map(|job| json.whole(&format!("jobs/{job}/write/total_ios")));
            if counts[0].min(counts[1]) * 10 > counts[0].max(counts[1]) { Ok(()) } else { Err(format!("{counts:?}")) }
        });
    }
    let outcome =
        run(&mut fathom(words("sim --on gcp/hyperdisk-balanced,size=1TiB --name=a --size=1m --lockfile=exclusive")));
    assert!(
        outcome.code() == Some(2) && flat(&outcome.stderr).contains("models do not support file locks"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn helper_threads_verify_and_sync_files_that_close_and_change() {
    let scratch = Scratch::new();
    for line in [
        "--ioengine=libaio --iodepth=16 --rw=randwrite --fsync=5 --direct=1 --verify=crc32c",
        "--ioengine=sync --iodepth=8 --rw=write --nrfiles=8 --openfiles=2 --verify=md5 --loops=2",
        "--ioengine=io_uring --iodepth=4 --rw=randwrite --unlink_each_loop=1 --loops=3 --verify=crc32c",
        "--ioengine=pvsync2 --iodepth=8 --rw=write --verify=xxhash --verify_backlog=8",
        "--ioengine=falloc --iodepth=4 --rw=randwrite",
        "--ioengine=psync --iodepth=8 --rw=write --zonemode=zbd --zonesize=64k --max_open_zones=2 --verify=crc32c",
    ] {
        let line = format!("fio --name=a --size=256k --bs=4k --verify_state_save=0 --io_submit_mode=offload {line}");
        let outcome = run(fathom(words(&line)).current_dir(&scratch));
        assert_eq!(outcome.code(), Some(0), "{line}\n{}", outcome.stderr);
    }
}

/// In this mode fio 3.33 may wait forever: as a thread now and then, with `sync`, with syncs or as a process nearly always.
/// With several files or `io_uring` it fails.
#[test]
fn helper_threads_do_what_they_do_in_fio() {
    require!(Fio);
    for line in [
        "--ioengine=psync --iodepth=8 --rw=randread",
        "--ioengine=psync --iodepth=8 --rw=write --verify=crc32c --verify_state_save=0",
        "--ioengine=pvsync2 --iodepth=4 --rw=randwrite --loops=2 --norandommap",
        "--ioengine=libaio --iodepth=16 --rw=randwrite --direct=1",
        "--ioengine=psync --iodepth=8 --rw=randread --rate_iops=500 --number_ios=100",
        "--ioengine=null --iodepth=8 --rw=randtrim --numjobs=2",
        "--ioengine=psync --rw=randread --norandommap",
    ] {
        let line = format!("--name=a --thread --size=256k --bs=4k --io_submit_mode=offload {line}");
        let (ours, theirs) = pair_with_patience(&line);
        assert_eq!(ours.outcome.code(), Some(0), "{line}\n{}", ours.outcome.stderr);
        let Some(theirs) = theirs else {
            eprintln!("fio did not end: {line}");
            continue;
        };
        let both = [ours, theirs];
        expect_same(&both, 0, &line);
        // fio counts the sync before verification, if it is in this mode.
        let is_counted = |key: &String| !key.contains("job options") && !key.contains("sync/lat_ns/percentile");
        let [ours, theirs] = both.each_ref().map(|run| run.json().shape().into_iter().filter(is_counted));
        assert_eq!(ours.collect::<Vec<_>>(), theirs.collect::<Vec<_>>(), "{line}");
    }
}

#[test]
fn helper_threads_keep_blocking_calls_in_flight() {
    timed("fio_submission::helper_threads_keep_blocking_calls_in_flight", || {
        let scratch = Scratch::new();
        let line = "fio --name=a --filename=f --size=64m --bs=4k --direct=1 --rw=randread --ioengine=psync --iodepth=8 \
                    --io_submit_mode=offload --time_based --runtime=1 --output-format=json";
        let outcome = run(fathom(words(line)).current_dir(&scratch)).expect_code(0);
        assert!(!outcome.stderr.contains("has no effect"), "{}", outcome.stderr);
        let json = Json::read_after_notes(&outcome.stdout);
        let job = &json.items("jobs")[0];
        // Little's law: operations in flight are their rate times their latency.
        let in_flight = job.number("read/iops") * job.number("read/lat_ns/mean") / 1e9;
        if !(6.0..8.5).contains(&in_flight) {
            return Err(format!("{in_flight} operations were in flight"));
        }
        // Each helper uses the processor for its share of the operations.
        if job.number("usr_cpu") + job.number("sys_cpu") > 5.0 { Ok(()) } else { Err(outcome.stdout) }
    });
}

/// A helper that waits for the page cache of a modelled host held up the others.
#[test]
fn helper_threads_of_a_modelled_host_wait_one_by_one() {
    let line = "sim --on aws/gp3,size=1TiB,iops=16000 --seed 1 --name=a --rw=randread --bs=4k --ioengine=psync \
                --iodepth=8 --time_based --runtime=5";
    let line = format!("{line} --io_submit_mode=offload --format fio-json");
    let outcome = run(&mut fathom(words(&line))).expect_code(0);
    let json = Json::read_after_notes(&outcome.stdout);
    let read = json.items("jobs")[0].at("read");
    let in_flight = read.number("iops") * read.number("lat_ns/mean") / 1e9;
    assert!((7.9..8.1).contains(&in_flight), "{in_flight}");
}

#[test]
fn engines_that_helper_threads_cannot_use_are_refused() {
    for dialect in ["fio", "run"] {
        let line =
            format!("{dialect} --name=a --filename=f --size=64k --rw=read --ioengine=mmap --io_submit_mode=offload");
        let outcome = run(&mut fathom(words(&line)));
        assert_ne!(outcome.code(), Some(0), "{line}");
        let reason = "helper threads cannot execute operations of the engine `mmap`";
        assert!(flat(&outcome.stderr).contains(reason), "{}", outcome.stderr);
    }
}
