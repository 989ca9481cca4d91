//! Checks of jobs that no simulation can run.

use job::{FileLocking, Job, Plan};
use runner::WorkerPlan;
use units::{Nanos, Problem, ProblemCode};
use volume::closed::{Load, predict};
use volume::{RequestKind, Spec, System};

use super::volumes::Volumes;
use crate::Buffered;

/// Reports problems of jobs and volumes that are each well formed.
pub(super) fn check(plan: &Plan, workers: &[WorkerPlan], volumes: &Volumes) -> Vec<Problem> {
    let endless = plan.jobs.iter().filter_map(|job| endless_loop(job, volumes.of(job)?));
    plan.jobs
        .iter()
        .filter_map(spins)
        .chain(plan.jobs.iter().filter_map(locks))
        .chain(endless)
        .chain(too_deep(plan, workers))
        .collect()
}

/// Reports jobs that spend cycles of a CPU, which models do not have.
fn spins(job: &Job) -> Option<Problem> {
    (job.pace.thinkcycles > 0).then(|| {
        let message = format!("job `{}`: models do not simulate CPU cycles", job.name);
        Problem::error(ProblemCode::NotSupported, message)
            .at(job.origin.of("thinkcycles").cloned())
            .help("use a time instead, such as `thinktime=10us`")
    })
}

/// Reports jobs that lock files between workers: those of models have none in common.
fn locks(job: &Job) -> Option<Problem> {
    (job.files.locking != FileLocking::None).then(|| {
        let message = format!("job `{}`: models do not support file locks", job.name);
        Problem::error(ProblemCode::NotSupported, message)
            .at(job.origin.of("lockfile").cloned())
            .help("omit `lockfile`, or run the job on files")
    })
}

/// Reports closed loops whose operations take no time and would never end.
fn endless_loop(job: &Job, spec: &Spec) -> Option<Problem> {
    let paces_itself = job.is_scheduled() || job.pace.thinktime > Nanos::ZERO;
    // A replay ends with its trace.
    if paces_itself || job.replay.is_some() || Buffered::of_job(job).is_some() {
        return None;
    }
    let (direction, sizes) = (job.pattern.direction, &job.pattern.block_sizes);
    let kinds = [
        (direction.reads(), RequestKind::Read, "reads", &sizes.read),
        (direction.writes(), RequestKind::Write, "writes", &sizes.write),
        (direction.trims(), RequestKind::Trim, "trims", &sizes.trim),
    ];
    let takes_no_time = |kind, bytes| {
        predict(spec, &Load::of(kind, bytes, 1.0)).is_some_and(|it| it.caps.is_empty() && it.alone == Nanos::ZERO)
    };
    let (.., name, _) = kinds.into_iter().find(|(done, kind, _, sizes)| *done && takes_no_time(*kind, sizes.min()))?;
    let message = format!("job `{}`: {name} on {} have no latency and no limit", job.name, spec.name);
    let diagnostic = Problem::error(ProblemCode::Volume, message)
        .at(job.origin.of("volume").cloned())
        .help("set `latency=`, `iops=` or `throughput=` on the volume, or `rate_iops=` on the job");
    Some(diagnostic)
}

/// Reports stages with more operations in flight than there are request IDs.
fn too_deep(plan: &Plan, workers: &[WorkerPlan]) -> Option<Problem> {
    let in_flight =
        |stage: &[WorkerPlan]| -> u64 { stage.iter().map(|worker| u64::from(plan.jobs[worker.job].depth())).sum() };
    let stage = workers.chunk_by(|a, b| a.stage == b.stage).find(|stage| in_flight(stage) > IN_FLIGHT_MAX)?;
    let deepest = stage.iter().map(|worker| &plan.jobs[worker.job]).max_by_key(|job| job.depth())?;
    let found = in_flight(stage);
    let message = format!("{found} operations in flight exceed the simulation limit of {IN_FLIGHT_MAX}");
    let diagnostic = Problem::error(ProblemCode::TooManyInFlight, message)
        .at(deepest.origin.of("iodepth").cloned())
        .help(match plan.hosts {
            None => "use a smaller `iodepth` or `numjobs`, or run jobs one after another (`stonewall`)",
            Some(_) => "simulate fewer hosts, or use a smaller `iodepth` or `numjobs`",
        });
    Some(diagnostic)
}

const IN_FLIGHT_MAX: u64 = System::HOST_IDS as u64;
