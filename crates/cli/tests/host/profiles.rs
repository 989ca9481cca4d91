//! fio's profiles (`--profile`), beside fio 3.33.

use crate::common::host::timed;
use crate::common::json::Json;
use crate::common::pair::{expect_same, pair_in, run_at_once};
use crate::common::{Scratch, at_once, fathom, require, run, words};

/// Returns what both programs print, each in a directory of its own.
fn both(line: &str, prepare: impl Fn(&Scratch)) -> [String; 2] {
    run_at_once(line, prepare).map(|run| run.outcome.expect_code(0).stdout)
}

/// Without options: fio 3.33 takes no notice of those of `tiobench`.
#[test]
fn tiobench_runs_the_jobs_of_fio() {
    require!(Fio);
    let found = both("--profile=tiobench --output-format=json", |_| {}).map(|text| Json::read_after_notes(&text));
    let jobs = found.each_ref().map(|found| {
        let of = |job: &Json| {
            let counts = ["read", "write"].map(|kind| job.whole(&format!("{kind}/total_ios")));
            (job.text("jobname").to_owned(), job.whole("groupid"), format!("{:?}", job.at("job options")), counts)
        };
        (format!("{:?}", found.at("global options")), found.items("jobs").iter().map(of).collect::<Vec<_>>())
    });
    assert_eq!(jobs[0], jobs[1]);
    assert_eq!(jobs[0].1.len(), 4);
}

#[test]
fn tiobench_has_the_options_that_fio_documents() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("below")).expect("a directory");
    let line = "fio --profile=tiobench --size=1 --block=8192 --numruns=2 --dir=below --threads=2 --output-format=json";
    let outcome = run(fathom(words(line)).current_dir(scratch.path(""))).expect_code(0);
    let found = Json::read_after_notes(&outcome.stdout);
    let of = |job: &Json| (job.text("jobname").to_owned(), job.whole("read/io_bytes") + job.whole("write/io_bytes"));
    let jobs: Vec<_> = found.items("jobs").iter().map(of).collect();
    let expected = ["seqwrite", "randwrite", "seqread", "randread"].map(|name| (name.to_owned(), 2 << 20));
    assert_eq!(jobs, expected.iter().flat_map(|job| [job.clone(), job.clone()]).collect::<Vec<_>>());
    assert_eq!(std::fs::read_dir(scratch.path("below")).expect("files").count(), 4);
}

/// The rates are those of fio: 2,000 reads per second for a load of one, and the bytes of half of them in large blocks.
#[test]
fn act_runs_the_jobs_of_fio() {
    require!(Fio);
    let device = |scratch: &Scratch| drop(scratch.write("dev", vec![1; 16 << 20]));
    let cases = ["", "--load=2 --threads-per-queue=4", "--large-block-op-kbytes=262144 --read-req-num-512-blocks=8"];
    at_once(&cases, |options| {
        let line = format!("--profile=act --device-names=dev --test-duration=1 {options}");
        // Each counts what it has issued by then, which a busy host delays.
        timed(&format!("profiles::act_runs_the_jobs_of_fio {options}"), || {
            let found = both(&line, device);
            let jobs = found.each_ref().map(|text| -> Vec<String> {
                let lines =
                    text.lines().filter(|line| line.contains("(g=") || line.starts_with("Starting") || *line == "...");
                lines.map(str::to_owned).collect()
            });
            assert_eq!(jobs[0], jobs[1], "{options}");
            let issued = found.each_ref().map(|text| {
                let line = text.lines().find(|line| line.contains("issued rwts")).expect("a line of counts");
                let counts = line.split("total=").nth(1).and_then(|rest| rest.split(' ').next()).expect("counts");
                counts.split(',').take(2).map(|count| count.parse::<f64>().expect("a count")).collect::<Vec<_>>()
            });
            let is_near = |(ours, theirs): (&f64, &f64)| (ours - theirs).abs() <= 2.0 + theirs * 0.1;
            if issued[0].iter().zip(&issued[1]).all(is_near) { Ok(()) } else { Err(format!("{options}: {issued:?}")) }
        });
    });
}

const ACT_PREPARES: &str = "--profile=act --device-names=dev --prep --output-format=json";

fn act_device(scratch: &Scratch) {
    scratch.write("dev", vec![1; 4 << 20]);
}

/// Returns name, group, options and writes of each job.
fn act_jobs(text: &str) -> Vec<(String, u64, String, u64)> {
    let found = Json::read_after_notes(text);
    let of = |job: &Json| {
        let name = job.text("jobname").to_owned();
        (name, job.whole("groupid"), format!("{:?}", job.at("job options")), job.whole("write/total_ios"))
    };
    found.items("jobs").iter().map(of).collect()
}

/// The counts are those of fio 3.33.
#[test]
fn act_prepares_devices() {
    let scratch = Scratch::new();
    act_device(&scratch);
    let mut command = fathom(["fio"]);
    let found = run(command.args(words(ACT_PREPARES)).current_dir(&scratch)).expect_code(0);
    let jobs = act_jobs(&found.stdout);
    let counts: Vec<_> = jobs.iter().map(|(name, group, _, writes)| (name.as_str(), *group, *writes)).collect();
    assert_eq!(counts, [("act-prep-zeroes-dev", 0, 4), ("act-prep-salt-dev", 1, 1024)]);
}

#[test]
#[ignore = "fio takes most of a minute for any size: .ci/nightly runs it"]
fn act_prepares_devices_as_fio_does() {
    require!(Fio);
    let [ours, theirs] = both(ACT_PREPARES, act_device);
    assert_eq!(act_jobs(&ours), act_jobs(&theirs));
}

#[test]
fn unknown_profiles_and_values_are_refused() {
    for (line, message) in [
        ("fio --profile=postmark", "unknown profile `postmark`"),
        ("fio --profile=act", "needs device names"),
        ("fio --profile=act --device-names=a,,b", "needs device names"),
        ("fio --profile=act --device-names=a --load=0", "load: `0` is not a number of at least 1"),
        ("fio --profile=act --device-names=a --test-duration=1ms", "less than a second"),
        ("fio --profile=tiobench --threads=x", "threads"),
    ] {
        let refused = run(&mut fathom(words(line))).expect_code(1);
        assert!(refused.stderr.contains(message), "{line}: {}", refused.stderr);
    }
}

#[test]
fn a_profile_in_a_job_changes_nothing_as_in_fio() {
    require!(Fio);
    let job = |scratch: &Scratch| scratch.write("job", "[a]\nprofile=act\nioengine=null\nsize=64k\nrw=randread\n");
    expect_same(&pair_in("job", |scratch| drop(job(scratch))), 0, "profile=act in a job");
}
