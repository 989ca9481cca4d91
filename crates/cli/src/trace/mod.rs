//! `fathom trace`: what kind of load a trace is, and copies of it in other formats.

pub(crate) mod args;

use args::TraceOptions;
use device::TraceFileError;
use device::trace_copy::open_copies;
use device::trace_files::TraceFiles;
use report::{ResultDocument, ResultFormat};

use crate::diagnostics;
use crate::exit::Exit;
use crate::outputs::{Output, deliver_as};
use crate::signals::{GRACE, Signals};

/// Reads a trace once; all figures and copies come from that.
pub(crate) fn command(options: &TraceOptions) -> Result<Exit, Exit> {
    let files = TraceFiles::open(&options.files, options.trace_format).map_err(refused)?;
    let (reports, copies) = open_copies(&options.output, options.export).map_err(Exit::usage)?;
    let mut outputs = Output::open(&reports, ResultFormat::OF_TRACE).map_err(Exit::usage)?;
    let signals = Signals::listen(GRACE)?;
    let study = files.study(options.window(), options.memory as u64, copies, || signals.end().is_some());
    let Some(study) = study.map_err(refused)? else {
        return Ok(Exit::Signal(signals.end().unwrap_or_default()));
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
