//! Files that a run would create or extend.

use engine::files::FileLayout;
use engine::gate::{Denied, WriteGate};
use job::{Engine, Plan};
use runner::{FileGrowth, WorkerPlan};

/// Growth of files by their layouts.
pub fn of(layouts: &[FileLayout]) -> Vec<FileGrowth> {
    let growth = |layout: &FileLayout| {
        let from = engine::files::look(&layout.path).ok().flatten().map(|seen| seen.bytes);
        let grows = from.is_none_or(|from| from < layout.bytes);
        grows.then(|| FileGrowth { path: layout.path.clone(), from, to: layout.bytes, written: layout.writes > 0 })
    };
    layouts.iter().filter_map(growth).collect()
}

/// Growths that `--readonly` forbids: all of them.
pub fn against_readonly(growths: &[FileGrowth]) -> Vec<String> {
    growths.iter().map(|growth| format!("{}, and --readonly forbids it", growth.description())).collect()
}

/// Files that `allow_file_create=0` forbids.
pub fn against_no_creation(plan: &Plan, workers: &[WorkerPlan]) -> Vec<String> {
    let forbids = |worker: &&WorkerPlan| {
        let job = &plan.jobs[worker.job];
        !job.files.allow_file_create && job.engine.engine != Engine::Null
    };
    let missing = |worker: &WorkerPlan| {
        let name = plan.jobs[worker.job].name.clone();
        let files = worker.files.files.iter().filter(|file| file.existing.is_none());
        let tell = |path: &str| format!("{name}: {path} does not exist, and allow_file_create=0 forbids to make it");
        files.map(|file| tell(&file.path)).collect::<Vec<_>>()
    };
    workers.iter().filter(forbids).flat_map(missing).collect()
}

/// What `fathom run` does not do unasked: extend a file that holds data and is only read, and make a file where a
/// device was meant.
pub fn against_surprise(growths: &[FileGrowth], gate: &WriteGate) -> Vec<String> {
    growths.iter().filter_map(|growth| surprise(growth, gate)).collect()
}

fn surprise(growth: &FileGrowth, gate: &WriteGate) -> Option<String> {
    let path = growth.path.display();
    match growth.from {
        None => match gate.check(&growth.path) {
            Err(denied @ Denied::Refused(_)) => Some(denied.to_string()),
            // The job that names it says what the system has against it.
            _ => None,
        },
        Some(1..) if !growth.written && !gate.permits_overwrite(&growth.path) => Some(format!(
            "{}, although the job only reads it\nhelp: give a size of at most what it has, name another file, or add \
             --allow-overwrite={path}",
            growth.description()
        )),
        // It is extended before the run, which is a write like any other.
        Some(_) if !growth.written => gate.admit(&growth.path).err().map(|denied| denied.to_string()),
        Some(_) => None,
    }
}
