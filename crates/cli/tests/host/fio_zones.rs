//! Jobs with `zonemode=zbd` do what they do in fio. Each test runs both programs on a regular file, which both divide into
//! zones.

use std::process::Command;

use crate::common;
use crate::common::{Outcome, Scratch, fathom, fio, require, run, words};

/// The outcome of a job, and the operations of its latency log: kind, offset and size.
type Ran = (Outcome, Vec<(u64, u64, u64)>);

/// Runs a job on a file of 16 MiB in either program.
fn both(options: &str) -> [Ran; 2] {
    let start: [fn(Vec<String>) -> Command; 2] = [|words| fathom(["fio".to_owned()].into_iter().chain(words)), fio];
    start.map(|start| {
        let scratch = Scratch::new();
        scratch.write("f", vec![1; 16 << 20]);
        let line = format!(
            "--name=a --filename=f --size=4m --ioengine=psync --zonemode=zbd --zonesize=1m --bs=256k --log_offset=1 \
             --write_lat_log=l {options}"
        );
        let outcome = run(start(words(&line)).current_dir(&scratch));
        let log = std::fs::read_to_string(scratch.path("l_lat.1.log")).unwrap_or_default();
        let entry = |line: &str| {
            let fields: Vec<u64> = line.split(", ").map(|field| field.parse().unwrap()).collect();
            (fields[2], fields[4], fields[3])
        };
        (outcome, log.lines().map(entry).collect())
    })
}

/// Returns reads, writes, trims and syncs; zeros if there was no operation, of which fio prints nothing.
fn counts(outcome: &Outcome) -> String {
    let issued = outcome.stdout.lines().find_map(|line| line.split("issued rwts: total=").nth(1));
    issued.and_then(|rest| rest.split(' ').next()).unwrap_or("0,0,0,0").to_owned()
}

/// Returns the number of resets in the normal output.
fn resets(outcome: &Outcome) -> Option<u64> {
    let before = outcome.stdout.split(" zone resets").next().filter(|before| before.len() < outcome.stdout.len())?;
    before.rsplit(' ').next()?.parse().ok()
}

#[test]
fn sequences_are_those_of_fio() {
    require!(Fio);
    let lines = [
        "--rw=write",
        "--rw=write --io_size=8m",
        "--rw=write --size=2z",
        "--rw=write --size=2z --offset=3z",
        "--rw=write --io_size=3z",
        "--rw=read --read_beyond_wp=1 --size=1z --offset=2z --zonemode=strided --zonerange=2m",
        "--rw=write --zonecapacity=768k",
        "--rw=write --zonecapacity=768k --io_size=8m",
        "--rw=write --offset=100k --size=3m",
        "--rw=write --loops=2 --verify=crc32c",
        "--rw=write --zonecapacity=512k --verify=md5",
        "--rw=write --max_open_zones=1 --job_max_open_zones=1 --io_size=6m",
        "--rw=write --ignore_zone_limits=1 --max_open_zones=2 --zonerange=8m",
        "--rw=read --read_beyond_wp=1",
        "--rw=read",
        "--rw=trim --bs=1m --offset=8m --size=1m --number_ios=0",
    ];
    for line in lines {
        let [ours, theirs] = both(line);
        assert_eq!(ours.0.code(), theirs.0.code(), "{line}: {}", ours.0.stderr);
        if line.contains("trim") {
            // fio 3.33 also trims empty zones; later ones do not.
            continue;
        }
        assert_eq!(ours.1, theirs.1, "{line}");
        assert_eq!(resets(&ours.0), resets(&theirs.0), "{line}");
    }
}

#[test]
fn random_jobs_do_as_much_as_in_fio() {
    require!(Fio);
    let lines = [
        "--rw=randwrite",
        "--rw=randwrite --io_size=8m --max_open_zones=1",
        "--rw=randwrite --io_size=8m --bs=64k --max_open_zones=2",
        "--rw=randwrite --zonecapacity=768k --verify=crc32c",
        "--rw=randread --read_beyond_wp=1",
        "--rw=randread",
    ];
    for line in lines {
        let [ours, theirs] = both(line);
        assert_eq!(counts(&ours.0), counts(&theirs.0), "{line}: {}", ours.0.stderr);
        // All of a zone is written from its start, in order.
        let mut pointers = [0; 4];
        for &(_, offset, bytes) in ours.1.iter().filter(|(kind, ..)| *kind == 1) {
            let zone = (offset >> 20) as usize;
            let at = offset % (1 << 20);
            assert!(at == 0 || at == pointers[zone], "{line}: a write at {offset}");
            pointers[zone] = at + bytes;
        }
    }
}

#[test]
fn resets_above_a_threshold_are_as_frequent_as_in_fio() {
    require!(Fio);
    let [ours, theirs] = both("--rw=write --io_size=12m --zone_reset_threshold=0.5 --zone_reset_frequency=0.25");
    assert_eq!(counts(&ours.0), counts(&theirs.0));
    // The first reset is at the same write. The following ones depend on how fio counts writes to full zones.
    assert_eq!(ours.1[..14], theirs.1[..14]);
    let [ours, theirs] = [&ours, &theirs].map(|ran| resets(&ran.0).unwrap() as f64);
    assert!((ours - theirs).abs() <= 0.4 * theirs, "{ours} and {theirs} resets");
}

#[test]
fn both_refuse_the_same_jobs() {
    require!(Fio);
    let lines = [
        "--rw=write --zonesize=0",
        "--rw=write --zonecapacity=2m",
        "--rw=trim --bs=64k",
        "--rw=write --bs=2m",
        "--rw=write --size=512k",
        "--rw=write --zone_reset_threshold=1.5",
        "--rw=write --max_open_zones=5000",
    ];
    for line in lines {
        let [ours, theirs] = both(line);
        assert_eq!((ours.0.code(), theirs.0.code()), (Some(1), Some(1)), "{line}: {}", ours.0.stderr);
    }
}

#[test]
fn modelled_volumes_have_no_zones() {
    let model = "custom,size=64GiB,iops=5000,latency=1ms";
    let line = format!("run --on {model} --name=a --zonemode=zbd --rw=randwrite --bs=64k --size=1g");
    let outcome = run(&mut fathom(words(&line)));
    assert_eq!(outcome.code(), Some(2), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("zonemode: modelled volumes have no zones"), "{}", outcome.stderr);
}

#[test]
fn workers_that_share_verified_zones_are_refused() {
    let scratch = Scratch::new();
    let line =
        "fio --name=a --filename=f --size=4m --zonemode=zbd --zonesize=1m --rw=write --verify=crc32c --numjobs=2";
    let outcome = run(fathom(words(line)).current_dir(&scratch));
    assert_eq!(outcome.code(), Some(1), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("job a verifies zones of"), "{}", outcome.stderr);
    assert!(!scratch.path("f").exists(), "a refused job has created its file");
}

#[test]
fn sizes_in_zones_need_zones() {
    for (options, reason) in [
        ("--size=2z", "a size in zones needs a `zonemode`"),
        ("--size=2z --zonemode=zbd", "f has no zones, so size cannot be given in zones"),
        ("--size=1m --offset=1z --zonemode=zbd", "f has no zones, so offset cannot be given in zones"),
        ("--size=1.5z --zonemode=zbd --zonesize=64k", "`1.5` is not a number of zones"),
        ("--size=99999999999z --zonemode=zbd --zonesize=64k", "is not a number of zones"),
    ] {
        let scratch = Scratch::new();
        scratch.write("f", vec![0; 1 << 20]);
        let line = format!("run --name=a --filename=f --bs=4k --rw=read {options}");
        let outcome = run(fathom(words(&line)).current_dir(&scratch));
        assert_eq!(outcome.code(), Some(2), "{options}: {}", outcome.stderr);
        assert!(common::flat(&outcome.stderr).contains(reason), "{options}: {}", outcome.stderr);
    }
}
