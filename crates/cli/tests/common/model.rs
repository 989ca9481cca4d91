//! What tests of whole simulations share.

use record::{DataKind, JobResult, Run};

use super::{Outcome, Scratch, fathom, run, words};

/// The words of `fathom sim --on VOLUME`, to their end.
pub(crate) fn simulate(volume: &str, text: &str) -> Outcome {
    run(fathom(["sim", "--on", volume]).args(words(text)))
}

/// The record of a simulation.
#[track_caller]
pub(crate) fn record(volume: &str, text: &str) -> Run {
    let outcome = simulate(volume, &format!("{text} --format json")).expect_clean();
    record::from_json(&outcome.stdout).expect("sim prints a record")
}

/// IOPS of all jobs and kinds together, and their mean latency in microseconds.
pub(crate) fn pace(run: &Run) -> (f64, f64) {
    let iops = run.jobs.iter().map(|job| job.result.iops()).sum();
    let ios: u64 = run.jobs.iter().map(|job| job.result.ios()).sum();
    let sum: f64 = run.jobs.iter().flat_map(|job| job.result.kinds()).map(|(_, kind)| kind.service.sum_ns()).sum();
    (iops, sum / ios as f64 / 1e3)
}

#[track_caller]
pub(crate) fn assert_near(what: &str, found: f64, wanted: f64, share: f64) {
    let error = found / wanted - 1.0;
    assert!(error.abs() <= share, "{what}: {found} for {wanted}, {:+.2} %", error * 100.0);
}

pub(crate) fn read(job: &JobResult) -> &record::DirectionResult {
    job.result.kind(DataKind::Read)
}

/// Runs the text of a job file.
#[track_caller]
pub(crate) fn record_of_file(volume: &str, text: &str) -> Run {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("jobs.fio"), text).expect("the scratch directory is writable");
    record(volume, &scratch.path("jobs.fio").display().to_string())
}

/// The error that the words of a simulation meet before it begins.
#[track_caller]
pub(crate) fn refused(volume: &str, text: &str) -> String {
    let outcome = simulate(volume, text).expect_code(2);
    assert_eq!(outcome.stdout, "");
    outcome.stderr
}
