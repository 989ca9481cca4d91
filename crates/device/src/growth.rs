//! Files that a run would create or extend.

use engine::files::{self, FileLayout};
use engine::gate::{Denied, WriteGate};
use job::Plan;
use runner::{FileGrowth, WorkerPlan};
use units::{Problem, ProblemCode};
use workload::PlannedFile;

/// Returns the growth of files by their layouts, and the error if there is not enough free space for the files and
/// their writes.
pub fn of(layouts: &[FileLayout]) -> (Vec<FileGrowth>, Option<Problem>) {
    let growths = files::growths(layouts);
    let refusal = files::check_room(layouts, &growths).err().map(Problem::from);
    let growth = |(layout, growth): (&FileLayout, &Result<files::Growth, engine::Error>)| {
        let from = growth.as_ref().ok().and_then(|growth| growth.from);
        let grows = from.is_none_or(|from| from < layout.bytes);
        grows.then(|| FileGrowth { path: layout.path.clone(), from, to: layout.bytes, written: layout.writes > 0 })
    };
    let mut grown: Vec<_> = layouts.iter().zip(&growths).filter_map(growth).collect();
    grown.shrink_to_fit();
    (grown, refusal)
}

/// Returns the refusals for growths that `--readonly` forbids, which are all of them.
pub fn readonly_refusals(growths: &[FileGrowth]) -> Vec<Problem> {
    let forbidden = |growth: &FileGrowth| format!("{}, which --readonly forbids", growth.description());
    growths.iter().map(|growth| Problem::error(ProblemCode::Unfit, forbidden(growth))).collect()
}

/// Returns the refusals for files that `allow_file_create=0` forbids to create or extend.
pub fn creation_refusals(plan: &Plan, workers: &[WorkerPlan]) -> Vec<Problem> {
    let forbids = |worker: &&WorkerPlan| {
        let job = &plan.jobs[worker.job];
        let engine = job.engine.kind;
        !job.files.allow_file_create && !engine.has_no_storage() && !engine.is_of_objects()
    };
    let refusals = |worker: &WorkerPlan| {
        let name = plan.jobs[worker.job].name.clone();
        let refusal = move |file: &PlannedFile| {
            let (path, needed) = (&file.path, file.needed);
            let what = match file.existing {
                None => format!("{path} does not exist, and allow_file_create=0 forbids creating it"),
                Some(fact) if !fact.block_device && fact.size < needed => {
                    let size = fact.size;
                    format!("{path} has {size} of {needed} bytes, and allow_file_create=0 forbids extending it")
                }
                Some(_) => return None,
            };
            Some(Problem::error(ProblemCode::Unfit, format!("{name}: {what}")))
        };
        worker.files.files.iter().filter_map(refusal).collect::<Vec<_>>()
    };
    workers.iter().filter(forbids).flat_map(refusals).collect()
}

/// Returns the refusals for growths that `fathom run` requires permission for: extending a file with data that is only
/// read, and creating a file in place of a missing device.
pub fn permission_refusals(growths: &[FileGrowth], gate: &WriteGate) -> Vec<Problem> {
    growths.iter().filter_map(|growth| permission_refusal(growth, gate)).collect()
}

fn permission_refusal(growth: &FileGrowth, gate: &WriteGate) -> Option<Problem> {
    let path = growth.path.display();
    match growth.from {
        None => match gate.check(&growth.path) {
            Err(denied @ Denied::Refused(_)) => Some(denied.into()),
            // The worker with this file reports the system's error.
            _ => None,
        },
        Some(1..) if !growth.written && !gate.permits_overwrite(&growth.path) => Some(
            Problem::error(ProblemCode::Overwrite, format!("{}, although the job only reads it", growth.description()))
                .help(format!("reduce size to the file's size, use another file, or add --allow-overwrite={path}")),
        ),
        // The file is extended before the run, which is a write like any other.
        Some(_) if !growth.written => gate.admit(&growth.path).err().map(Problem::from),
        Some(_) => None,
    }
}
