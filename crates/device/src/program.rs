//! Programs of jobs (`exec`).

use std::path::Path;
use std::sync::Arc;

use engine::ProgramSetup;
use engine::gate::{Existing, create_output};
use job::{Dialect, Engine, Job};
use runner::{WorkerError, WorkerPlan};

/// Returns the path of the file for an output of a worker's program, as fio names it; clones have files of their own.
pub(crate) fn output_path(worker_plan: &WorkerPlan, job: &Job, stream: &str) -> String {
    let name = job.name.replace('/', "_");
    match worker_plan.clone {
        0 => format!("{name}.{stream}"),
        clone => format!("{name}.{clone}.{stream}"),
    }
}

/// Returns the program of a worker; none for any other engine.
pub(crate) fn setup(
    worker_plan: &WorkerPlan,
    job: &Job,
    dialect: Dialect,
) -> Result<Option<ProgramSetup>, WorkerError> {
    if job.engine.engine != Engine::Exec {
        return Ok(None);
    }
    let options = &job.engine.program;
    let open = |stream: &str| {
        create_output(Path::new(&output_path(worker_plan, job, stream)), Existing::Replace)
            .map_err(|denied| WorkerError::new(format!("std_redirect: {denied}")))
    };
    let output = if options.redirects { Some(Arc::new((open("stdout")?, open("stderr")?))) } else { None };
    Ok(Some(ProgramSetup {
        path: options.path.clone(),
        arguments: options.words(&job.name, job.extent.runtime),
        output,
        grace: options.grace,
        is_outlasted: options.outlasts_program,
        // fio ignores it.
        checks_exit: dialect == Dialect::Strict,
        failure: Arc::default(),
    }))
}
