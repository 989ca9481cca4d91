//! The engine `cpuio` loads the processor as fio does. Numbers of bursts have wide bounds, because other programs may use
//! the processors meanwhile.

use crate::common::host::timed;
use crate::common::json::Json;
use crate::common::{Outcome, fathom, fio, require, run, words};

/// By how much the bursts of fio and of Fathom may be too short, in nanoseconds. Those of fio are by up to a microsecond.
const EARLY_NS: [f64; 2] = [1000.0, 0.0];

#[track_caller]
fn expect_bursts_of(least_ns: f64, job: &Json) {
    let shortest_ns = job.number("read/clat_ns/min");
    assert!(shortest_ns >= least_ns, "{shortest_ns} ns");
}

/// Runs a job by fio and by Fathom.
fn both(line: &str) -> [Outcome; 2] {
    let ours = run(&mut fathom(["fio".to_owned()].into_iter().chain(words(line))));
    [run(&mut fio(words(line))), ours]
}

/// Runs a job by both and returns its results. fio prints lines before its JSON.
fn results(line: &str) -> [Json; 2] {
    both(&format!("--output-format=json {line}")).map(|outcome| {
        let begin = outcome.stdout.find('{').unwrap_or_else(|| panic!("{line}: {}", outcome.stderr));
        Json::read_after_notes(&outcome.stdout[begin..]).items("jobs")[0].clone()
    })
}

/// Checks the number of bursts of a job: no more than fit into its runtime. A busy host may have too few of them.
fn expect_bursts(job: &Json, least: u64, most: u64) -> Result<(), String> {
    let bursts = job.whole("read/total_ios");
    assert!((1..=most).contains(&bursts), "{bursts} bursts");
    if bursts >= least { Ok(()) } else { Err(format!("{bursts} bursts instead of {least} or more")) }
}

#[test]
fn bursts_are_reads_without_data() {
    require!(Fio);
    timed("processor::bursts_are_reads_without_data", || {
        let line = "--name=a --ioengine=cpuio --cpuload=50 --runtime=1 --rw=write --bs=64k";
        for (job, early_ns) in results(line).into_iter().zip(EARLY_NS) {
            let nothing = ["read/io_bytes", "read/runtime", "read/bw_bytes", "write/total_ios", "error"];
            assert_eq!(nothing.map(|path| job.whole(path)), [0; 5]);
            expect_bursts_of(50e6 - early_ns, &job);
            assert_eq!(job.number("read/iops"), 0.0);
            // Ten on an idle host.
            expect_bursts(&job, 3, 11)?;
        }
        Ok::<_, String>(())
    });
}

#[test]
fn a_load_of_more_than_100_percent_never_pauses() {
    require!(Fio);
    timed("processor::a_load_of_more_than_100_percent_never_pauses", || {
        let line = "--name=a --ioengine=cpuio --cpuload=150 --cpuchunks=100000 --runtime=1";
        for (job, early_ns) in results(line).into_iter().zip(EARLY_NS) {
            expect_bursts_of(100e6 - early_ns, &job);
            expect_bursts(&job, 4, 10)?;
        }
        Ok::<_, String>(())
    });
}

#[test]
fn a_number_of_bursts_ends_the_job() {
    require!(Fio);
    for work in ["noop", "qsort"] {
        let line = format!(
            "--name=a --ioengine=cpuio --cpuload=100 --cpuchunks=1000 --cpumode={work} --number_ios=3 --runtime=3000"
        );
        assert_eq!(results(&line).map(|job| job.whole("read/total_ios")), [3, 3], "{work}");
    }
}

#[test]
fn a_load_ends_with_the_other_jobs() {
    require!(Fio);
    let load = "--name=a --ioengine=cpuio --cpuload=30 --cpuchunks=10000 --exit_on_io_done=1 --runtime=3600";
    let line = format!("{load} --name=b --ioengine=null --size=1m --runtime=1 --time_based --rate_iops=10");
    for job in results(&line) {
        assert!(job.whole("job_runtime") < 3_600_000, "{}", job.whole("job_runtime"));
        assert_eq!(job.whole("error"), 0);
    }
}

/// The lines that have no times, and the one of the load.
#[test]
fn the_normal_output_is_that_of_fio() {
    require!(Fio);
    let line = "--name=a --ioengine=cpuio --cpuload=250 --cpuchunks=2000 --cpumode=qsort --number_ios=2 --numjobs=2";
    let kept = |outcome: Outcome| {
        let is_timeless =
            |line: &&str| !["a: (groupid", "  lat (", "  cpu "].iter().any(|start| line.starts_with(start));
        outcome.stdout.lines().filter(is_timeless).map(str::to_owned).collect::<Vec<_>>()
    };
    let [theirs, ours] = both(line).map(kept);
    assert_eq!(ours, theirs);
}

#[test]
fn a_load_must_be_given() {
    require!(Fio);
    let [theirs, ours] = both("--name=a --ioengine=cpuio --runtime=1");
    assert!(!theirs.status.success() && !ours.status.success(), "{}", theirs.stderr);
    assert!(ours.stderr.contains("write for example `cpuload=50`"), "{}", ours.stderr);
}
