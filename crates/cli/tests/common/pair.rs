//! Runs of one job by `fathom fio` and by the installed fio, each in a directory of its own.

use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::time::Duration;

use super::json::Json;
use super::{FIO_CLOCK, Outcome, Running, Scratch, fathom, fio_with_exactly, run, words};

/// Directions of operations in fio's JSON.
pub(crate) const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];

/// One program's run of a job.
pub(crate) struct PairedRun {
    pub(crate) scratch: Scratch,
    pub(crate) outcome: Outcome,
}

impl PairedRun {
    /// Returns the result as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Json {
        Json::read_after_notes(&self.outcome.stdout)
    }

    /// Returns, for each direction of a job, operations, bytes and samples of completion and total latency.
    #[track_caller]
    pub(crate) fn counts(&self, job: usize) -> Vec<[u64; 4]> {
        let json = self.json();
        let fields = ["total_ios", "io_bytes", "clat_ns/N", "lat_ns/N"];
        let of = |direction: &str| fields.map(|field| json.whole(&format!("jobs/{job}/{direction}/{field}")));
        DIRECTIONS.map(of).to_vec()
    }

    /// Returns names and sizes of what the run left in its directory, and how many blocks of 512 bytes of their content
    /// are allocated. A filesystem may allocate more for its own structures.
    pub(crate) fn left(&self) -> Vec<(String, u64, u64)> {
        let facts = |name: String| {
            let metadata = self.scratch.path(&name).symlink_metadata().expect("it is there");
            let (size, blocks) =
                if metadata.is_file() { (metadata.len(), metadata.blocks().min(metadata.len() / 512)) } else { (0, 0) };
            (name, size, blocks)
        };
        self.scratch.names().into_iter().map(facts).collect()
    }
}

/// Runs a job by Fathom, then by fio, after `prepare` on the directory of each.
pub(crate) fn pair_in(line: &str, prepare: impl Fn(&Scratch)) -> [PairedRun; 2] {
    programs(&format!("--output-format=json {line}")).map(|command| run_alone(command, &prepare))
}

/// Returns `fathom fio` and fio with the same command line.
fn programs(line: &str) -> [Command; 2] {
    let words = words(&format!("{FIO_CLOCK} {line}"));
    [fathom(std::iter::once("fio".to_owned()).chain(words.clone())), fio_with_exactly(&words)]
}

/// Runs both programs at the same time, which need no processor for themselves, each in a directory that `prepare` fills.
pub(crate) fn run_at_once(line: &str, prepare: impl Fn(&Scratch)) -> [PairedRun; 2] {
    let running = programs(line).map(|mut command| {
        let scratch = Scratch::new();
        prepare(&scratch);
        let running = Running::start(command.current_dir(&scratch));
        (scratch, running)
    });
    running.map(|(scratch, running)| PairedRun { scratch, outcome: running.end() })
}

/// Runs a job by both programs at the same time, after `prepare` on the directory of each.
pub(crate) fn pair_at_once_in(line: &str, prepare: impl Fn(&Scratch)) -> [PairedRun; 2] {
    run_at_once(&format!("--output-format=json {line}"), prepare)
}

/// Runs a job by both programs at the same time, each in an empty directory.
pub(crate) fn pair_at_once(line: &str) -> [PairedRun; 2] {
    pair_at_once_in(line, |_| {})
}

/// Runs a command in a directory of its own, which `prepare` fills.
fn run_alone(mut command: Command, prepare: impl Fn(&Scratch)) -> PairedRun {
    let scratch = Scratch::new();
    prepare(&scratch);
    let outcome = run(command.current_dir(&scratch));
    PairedRun { scratch, outcome }
}

/// Runs a job by Fathom, then by fio, each in an empty directory.
pub(crate) fn pair(line: &str) -> [PairedRun; 2] {
    pair_in(line, |_| {})
}

/// How much longer than Fathom fio may take before it counts as hanging, and the time that it has at least.
const PATIENCE_FACTOR: u32 = 20;
const PATIENCE_MIN: Duration = Duration::from_secs(5);

/// Runs of fio that may hang before it cannot be compared.
const HANGS_MAX: usize = 5;

/// Runs a job by Fathom, then by fio as often as it hangs, which is killed. Each run has more time than the one before.
/// Returns no run of fio if none ended, which depends on the host.
pub(crate) fn pair_with_patience(line: &str) -> (PairedRun, Option<PairedRun>) {
    let line = format!("--output-format=json {line}");
    let [ours, _] = programs(&line);
    let ours = run_alone(ours, |_| {});
    let mut patience = (PATIENCE_FACTOR * ours.outcome.took).max(PATIENCE_MIN);
    let theirs = || {
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL", &patience.as_secs_f64().to_string(), "fio", FIO_CLOCK]).args(words(&line));
        patience = patience.mul_f64(1.5);
        Some(run_alone(command, |_| {}))
    };
    let is_done = |paired: &PairedRun| paired.outcome.code().is_some_and(|code| code != 137);
    (ours, std::iter::from_fn(theirs).take(HANGS_MAX).find(is_done))
}

/// Fails the test unless both programs ended with this exit code, and counted and left the same.
#[track_caller]
pub(crate) fn expect_same([ours, theirs]: &[PairedRun; 2], code: i32, line: &str) {
    let codes = (ours.outcome.code(), theirs.outcome.code());
    assert_eq!(codes, (Some(code), Some(code)), "{line}\n{}\n{}", ours.outcome.stderr, theirs.outcome.stderr);
    let jobs = theirs.json().items("jobs").len();
    assert_eq!(ours.json().items("jobs").len(), jobs, "{line}");
    for job in 0..jobs {
        assert_eq!(ours.counts(job), theirs.counts(job), "job {job} of {line}");
        let error = format!("jobs/{job}/error");
        assert_eq!(ours.json().whole(&error), theirs.json().whole(&error), "job {job} of {line}");
    }
    assert_eq!(ours.left(), theirs.left(), "{line}");
}

/// Returns a command for `fathom fio` in a scratch directory.
pub(crate) fn ours(scratch: &Scratch, line: &str) -> Command {
    let mut command = fathom(["fio"]);
    command.args(words(line)).current_dir(scratch);
    command
}

/// Returns the same command for fio.
pub(crate) fn theirs(scratch: &Scratch, line: &str) -> Command {
    let mut command = fio_with_exactly(words(line));
    command.current_dir(scratch);
    command
}
