//! Files of verification: damaged blocks (`verify_dump`), and the state of writes (`verify_state_save`,
//! `verify_state_load`).

use std::io::{Read, Write};
use std::path::Path;

use drive::FailureCause;
use engine::gate::{Existing, create_output};
use engine::io_problem;
use job::{Job, Plan};
use runner::{WorkerPlan, WorkerResult, policy};
use units::{Problem, ProblemCode};
use workload::VerifyState;

use crate::input;

/// Maximum size of a state that is read: a queue of the greatest depth for each of 100,000 files fits.
const STATE_MAX_BYTES: u64 = 256 << 20;

/// Writes the damaged blocks that workers recorded and the states of their writes to `directory`. Returns errors.
#[must_use]
pub fn write(directory: &Path, plan: &Plan, workers: &[WorkerPlan], finished: &[WorkerResult]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for one in finished {
        let worker = &workers[one.number];
        problems.extend(dump(directory, worker, one));
        problems.extend(save(directory, &plan.jobs[worker.job], worker, one).err());
    }
    problems
}

/// Writes `FILE.OFFSET.received` and `FILE.OFFSET.expected` for each recorded damaged block, or only
/// `FILE.OFFSET.hdr_fail` if its header is invalid, as fio does. Returns errors.
fn dump(directory: &Path, worker: &WorkerPlan, finished: &WorkerResult) -> Vec<Problem> {
    let mut problems = Vec::new();
    for failure in &finished.failures {
        let (Some(damaged), FailureCause::Mismatch(mismatch)) = (&failure.damaged, &failure.cause) else {
            continue;
        };
        let path = worker.files.files.get(failure.decision.file as usize).map(|file| &file.path);
        let name = path.and_then(|path| Path::new(path).file_name()).unwrap_or_default().to_string_lossy();
        let both = [("received", &damaged.found), ("expected", &damaged.expected)];
        let header = [("hdr_fail", &damaged.found)];
        for (extension, bytes) in if mismatch.wrong.is_in_header() { &header[..] } else { &both } {
            let path = directory.join(format!("{name}.{}.{extension}", mismatch.block));
            problems.extend(replace(&path, bytes).err().map(|problem| problem.of("verify_dump")));
        }
    }
    problems
}

/// Returns the path of the state that a worker may save; `None` if its job saves none.
pub(crate) fn state_path(directory: &Path, worker: &WorkerPlan, job: &Job) -> Option<String> {
    let path = || directory.join(VerifyState::file_name(&job.name, worker.number)).to_string_lossy().into_owned();
    policy::saves_state(job).then(path)
}

/// Writes the state of a worker that has written verified blocks.
fn save(directory: &Path, job: &Job, worker: &WorkerPlan, finished: &WorkerResult) -> Result<(), Problem> {
    let Some(progress) = &finished.write_progress else { return Ok(()) };
    let state = VerifyState {
        name: job.name.clone(),
        worker: worker.number as u32,
        depth: job.depth(),
        files: worker.files.files.len() as u32,
        issued: progress.issued,
        completed: progress.completed.clone(),
        origin: Some(progress.origin),
        synced: progress.synced.clone(),
        synced_only: false,
    };
    let path = directory.join(VerifyState::file_name(&job.name, worker.number));
    replace(&path, &state.encode()).map_err(|problem| problem.of("verify_state_save"))
}

fn replace(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    let mut file = create_output(path, Existing::Replace).map_err(|denied| Problem::from(denied).of(path.display()))?;
    file.write_all(bytes).map_err(|error| io_problem(ProblemCode::File, path.display(), &error))
}

/// Reads the state that a job with `verify_state_load` names.
pub(crate) fn load(directory: &Path, job: &Job, worker: &WorkerPlan) -> Result<VerifyState, Problem> {
    let path = directory.join(VerifyState::file_name(&job.name, worker.number));
    let mut bytes = Vec::new();
    let read = input::open_file(&path).and_then(|file| file.take(STATE_MAX_BYTES).read_to_end(&mut bytes));
    let unreadable = |what: String| Problem::error(ProblemCode::UnreadableInput, what);
    let state = read.map_err(|error| unreadable(error.to_string())).and_then(|_| VerifyState::decode(&bytes));
    let synced_only = job.verify.synced_only;
    let state = state.and_then(|state| match state.origin {
        None if synced_only => {
            Err(unreadable("it was written by fio 3.33 and does not record which writes were synced".to_owned()))
        }
        _ => Ok(VerifyState { synced_only, ..state }),
    });
    state.map_err(|problem| {
        problem
            .of(format_args!("verify_state_load: {}", path.display()))
            .help("run the writing job with verify_state_save=1 under this name, or omit verify_state_load")
    })
}
