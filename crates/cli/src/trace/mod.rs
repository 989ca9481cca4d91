//! `fathom trace`: what kind of load a trace is, and copies of it in other formats.

pub(crate) mod args;
mod job;

use args::TraceOptions;
use device::TraceFileError;
use device::trace_copy::open_copies;
use device::trace_files::OpenTrace;
use job::JobOutput;
use report::{ResultDocument, ResultFormat};

use crate::diagnostics;
use crate::exit::Exit;
use crate::outputs::{self, Output, deliver_as};
use crate::signals::{GRACE, Signals};

/// Reads a trace once; all figures and copies come from that.
pub(crate) fn command(options: &TraceOptions) -> Result<Exit, Exit> {
    let trace = OpenTrace::open(&options.files, options.trace_format).map_err(refused)?;
    outputs::claim(&options.output).map_err(Exit::usage)?;
    let (reports, copies) = open_copies(&options.output, options.export).map_err(Exit::usage)?;
    let mut outputs = Output::open(&reports, ResultFormat::OF_TRACE).map_err(Exit::usage)?;
    let job_output = options.to_job.as_deref().map(JobOutput::open).transpose()?;
    let signals = Signals::listen(GRACE)?;
    let (window, memory, stopped) = (options.window(), options.memory as u64, || signals.end().is_some());
    let interrupted = || Exit::Signal(signals.end().unwrap_or_default());
    let study = match job_output {
        None => trace.study(window, memory, copies, stopped).map_err(refused)?.ok_or_else(interrupted)?,
        Some(output) => {
            let studied = trace.study_with_job(window, memory, copies, stopped).map_err(refused)?;
            let (study, job) = studied.ok_or_else(interrupted)?;
            let job = job.map_err(|error| Exit::usage(error.to_string()))?;
            let study = output.write(&job, &options.files, study, &signals)?;
            if stopped() {
                return Err(interrupted());
            }
            study
        }
    };
    signals.conclude();
    let exit = deliver_as(&mut outputs, ResultDocument::Trace(&study), options.format);
    if exit == Exit::Good && study.condition.is_incomplete() {
        diagnostics::warning(&format!("{}: requests are missing; the result says which", study.name));
        return Ok(Exit::Distrust);
    }
    Ok(exit)
}

fn refused(error: TraceFileError) -> Exit {
    let exit = Exit::invalid([*error.diagnostic]);
    if error.is_usage { exit } else { Exit::Environment }
}
