//! Outputs of jobs: no two of them share a file.

use std::path::Path;
use std::sync::Arc;
use units::{Problem, ProblemCode};

use device::DeviceRunner;
use engine::gate::{Permissions, claim_output};
use job::{Dialect, EmptySource, InjectedOptions};
use runner::{LogPlan, LogSink, Runner, Seeds, WorkerLog};

struct NoLogs;

impl LogSink for NoLogs {
    fn create(&self, _: &LogPlan) -> Result<Box<dyn WorkerLog>, Problem> {
        Err(Problem::error(ProblemCode::File, "there are no logs"))
    }
}

/// Returns the refusals of jobs on a new file `data` in a directory, which `@` stands for.
fn refusals(folder: &Path, words: &str) -> Vec<String> {
    let words = format!("--ioengine=psync --size=64k --filename=@/data --rw=write {words}");
    let words: Vec<String> = words.split(' ').map(|word| word.replace('@', &folder.to_string_lossy())).collect();
    let around = InjectedOptions::default();
    let (plan, _) =
        job::parse_job_arguments(&words, &[], &around, Dialect::Strict, &EmptySource).into_result().unwrap();
    let gate = device::safety::gate(Permissions::default(), None);
    let runner = DeviceRunner::strict(gate, Arc::new(NoLogs)).with_aux_path(folder);
    let prepared = runner.prepare(&plan, Seeds::fixed(1)).unwrap();
    prepared.refusals().iter().map(Problem::to_string).collect()
}

#[track_caller]
fn assert_refused(words: &str, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let refused = refusals(folder.path(), words);
    let help = "; use a separate file for each output";
    assert_eq!(refused, [format!("{expected}{help}")], "{words}");
}

/// Revision 5aa1e091 destroyed the log of the first job.
#[test]
fn jobs_wrote_over_the_operation_logs_of_others() {
    let same = |one: &str, other: &str| format!("{one}: {other} also writes to this file");
    let (a, b) = ("write_iolog of job `a`", "write_iolog of job `b`");
    assert_refused("--name=a --write_iolog=@/log --name=b --write_iolog=@/./log", &same(b, a));
    let (first, second) = ("write_iolog of job 1 `a`", "write_iolog of job 2 `a`");
    assert_refused("--name=a --write_iolog=@/log --name=a --write_iolog=@/log", &same(second, first));
    assert_refused("--name=a --numjobs=2 --write_iolog=@/log --name=b --write_iolog=@/log.1", &same(b, a));
    assert_refused("--name=a --write_bw_log=@/log --write_iolog=@/log_bw.1.log", &same(a, "write_bw_log of job `a`"));
    assert_refused(
        "--name=a --verify=crc32c --verify_state_save=1 --write_iolog=@/local-a-0-verify.state",
        &same("verify_state_save of job `a`", a),
    );
}

#[test]
fn outputs_of_jobs_that_have_files_of_their_own_or_share_them_are_admitted() {
    let folder = tempfile::tempdir().unwrap();
    for words in [
        "--name=a --numjobs=3 --write_bw_log=@/log --write_lat_log=@/log --name=b --write_bw_log=@/log",
        "--name=a --numjobs=3 --write_bw_log=@/shared --per_job_logs=0 --name=b --write_bw_log=@/shared --per_job_logs=0",
        "--name=a --write_iolog=/dev/null --name=b --write_iolog=/dev/null",
        "--name=c --exec_prerun=true --name=c --exec_prerun=true",
    ] {
        for _ in 0..2 {
            assert_eq!(refusals(folder.path(), words), [""; 0], "{words}");
        }
    }
}

#[test]
fn a_job_wrote_over_an_output_of_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    claim_output(&place("data"), "--output data").unwrap();
    let refused = refusals(folder.path(), "--name=a");
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].contains("file of a job, but --output data writes to it; "), "{refused:?}");
    claim_output(&place("events"), "--events events").unwrap();
    let refused = refusals(folder.path(), "--name=a --write_iolog=@/events");
    assert!(refused.iter().any(|line| line.starts_with("write_iolog of job `a`: --events")));
}
