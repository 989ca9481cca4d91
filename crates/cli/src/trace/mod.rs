//! `fathom trace`: what kind of load a trace is, and copies of it in other formats.

pub(crate) mod args;

use args::TraceOptions;
use device::trace_copy::TraceCopyFile;
use device::trace_files::{TraceFileError, TraceFiles};
use report::trace::TraceReport;
use report::{ResultDocument, ResultFormat};
use trace::{Characterizer, TraceFormat, TraceWindow, trace_findings};

use crate::diagnostics;
use crate::exit::Exit;
use crate::outputs::{Output, deliver_as};
use crate::signals::{GRACE, Signals};

/// Reads a trace once; all figures and copies come from that.
pub(crate) fn command(options: &TraceOptions) -> Result<Exit, Exit> {
    let files = TraceFiles::open(&options.files, options.trace_format).map_err(refused)?;
    let (mut outputs, mut copies) = open(options)?;
    let signals = Signals::listen(GRACE)?;
    let from_ns = options.from.as_nanos() as u64;
    let end_ns = options.length.map_or(u64::MAX, |length| from_ns.saturating_add(length.as_nanos() as u64));
    let (name, window) = (files.name().to_owned(), TraceWindow { from_ns, end_ns });
    let mut characterizer = Characterizer::new();
    let scanned = files.scan(
        window,
        || signals.end().is_some(),
        |requests, info| {
            requests.iter().for_each(|request| characterizer.add(request));
            copies.iter_mut().try_for_each(|copy| copy.push(requests, info))
        },
    );
    let Some(condition) = scanned.map_err(refused)? else {
        return Ok(Exit::Signal(signals.end().unwrap_or_default()));
    };
    signals.conclude();
    let profile = characterizer.finish();
    let findings = trace_findings(&profile, options.memory as u64);
    let copies = copies.into_iter().map(|copy| copy.finish(&condition)).collect::<Result<_, _>>().map_err(refused)?;
    let report = TraceReport { name, window, condition, profile, findings, copies };
    let exit = deliver_as(&mut outputs, ResultDocument::Trace(&report), options.format);
    if exit == Exit::Good && report.condition.is_incomplete() {
        diagnostics::warning(&format!("{}: requests are missing; the result says which", report.name));
        return Ok(Exit::Distrust);
    }
    Ok(exit)
}

/// Opens reports and copies, by the endings of their names.
fn open(options: &TraceOptions) -> Result<(Vec<Output>, Vec<TraceCopyFile>), Exit> {
    let (mut reports, mut copies) = (Vec::new(), Vec::new());
    for path in &options.output {
        let format = match options.export {
            _ if path.extension().is_some_and(|ending| ending == "trace") => Some(TraceFormat::Fathom),
            export => export.filter(|_| ResultFormat::of_file(path, ResultFormat::OF_TRACE).is_err()),
        };
        match format {
            Some(format) => copies.push(TraceCopyFile::open(path, format).map_err(Exit::usage)?),
            None => reports.push(path.clone()),
        }
    }
    if let Some(format) = options.export.filter(|format| !copies.iter().any(|copy| copy.format() == *format)) {
        let help = "add -o FILE, with an ending other than .json .html .md .txt .trace";
        return Err(Exit::usage(format!("--export {}: there is no output for it\nhelp: {help}", format.name())));
    }
    let reports = Output::open(&reports, ResultFormat::OF_TRACE).map_err(|problem| {
        let more = if options.export.is_none() { ", .trace for a copy, or --export FORMAT" } else { "" };
        Exit::usage(format!("{problem}{more}"))
    })?;
    Ok((reports, copies))
}

fn refused(error: TraceFileError) -> Exit {
    let exit = Exit::invalid([*error.diagnostic]);
    if error.is_usage { exit } else { Exit::Environment }
}
