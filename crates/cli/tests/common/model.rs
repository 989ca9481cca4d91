//! Helpers of tests that simulate.

use record::{DataKind, JobResult, Run};

use super::{Outcome, Scratch, fathom, run, words};

/// Runs `fathom sim --on VOLUME` with more arguments.
pub(crate) fn simulate(volume: &str, text: &str) -> Outcome {
    run(fathom(["sim", "--on", volume]).args(words(text)))
}

/// Returns the record of a simulation.
#[track_caller]
pub(crate) fn record(volume: &str, text: &str) -> Run {
    let outcome = simulate(volume, &format!("{text} --format json")).expect_clean();
    record::from_json(&outcome.stdout).expect("sim prints a record")
}

/// Returns the IOPS and the mean latency, in microseconds, of all jobs and kinds together.
pub(crate) fn pace(run: &Run) -> (f64, f64) {
    let iops = run.jobs.iter().map(|job| job.result.iops()).sum();
    let ios: u64 = run.jobs.iter().map(|job| job.result.ios()).sum();
    let sum: f64 = run.jobs.iter().flat_map(|job| job.result.kinds()).map(|(_, kind)| kind.service.sum_ns()).sum();
    (iops, sum / ios as f64 / 1e3)
}

#[track_caller]
pub(crate) fn assert_near(what: &str, found: f64, expected: f64, tolerance: f64) {
    let error = found / expected - 1.0;
    assert!(error.abs() <= tolerance, "{what}: {found}, expected {expected}, {:+.2} %", error * 100.0);
}

pub(crate) fn read(job: &JobResult) -> &record::DirectionResult {
    job.result.kind(DataKind::Read)
}

/// Simulates the text of a job file.
#[track_caller]
pub(crate) fn record_of_file(volume: &str, text: &str) -> Run {
    let scratch = Scratch::new();
    record(volume, &scratch.write("jobs.fio", text))
}

/// Returns the error of a simulation that is refused.
#[track_caller]
pub(crate) fn refused(volume: &str, text: &str) -> String {
    let outcome = simulate(volume, text).expect_code(2);
    assert_eq!(outcome.stdout, "");
    outcome.stderr
}
