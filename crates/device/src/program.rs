//! Programs of jobs (`exec`).

use std::path::Path;
use std::sync::Arc;

use engine::ProgramSetup;
use engine::gate::{Existing, create_output};
use job::{Dialect, Engine, Job};
use runner::{WorkerError, WorkerPlan};

/// Returns the program of a worker; none for any other engine. Its output goes to files as fio names them; clones have
/// files of their own.
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
        let name = job.name.replace('/', "_");
        let path = match worker_plan.clone {
            0 => format!("{name}.{stream}"),
            clone => format!("{name}.{clone}.{stream}"),
        };
        create_output(Path::new(&path), Existing::Replace)
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
