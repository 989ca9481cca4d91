//! `fathom trace`: what kind of load a trace is, and copies of it in other formats.

use std::path::{Path, PathBuf};
use std::time::Duration;
use units::{Problem, ProblemCode};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use device::trace_copy::open_copies;
use device::trace_files::OpenTrace;
use engine::gate::{Denied, ResultFile};
use procedure::synthesis::JobFile;
use report::{ResultDocument, ResultFormat};
use trace::{SynthesizedJob, TraceFormat, TraceStudy, TraceWindow};
use volume::catalogue::{QuantityKind, quantity};

use crate::args::{Details, PAGES, one_of};
use crate::exit::Exit;
use crate::outputs::{self, Output, deliver_as};
use crate::signals::{GRACE, Signals};
use crate::{diagnostics, runners};

/// Reads a trace once; all figures and copies come from that.
pub(crate) fn command(options: &TraceOptions) -> Result<Exit, Exit> {
    let trace = OpenTrace::open(&options.files, options.trace_format).map_err(Exit::refused)?;
    outputs::claim(&options.output).map_err(Exit::invalid)?;
    let (reports, copies) = open_copies(&options.output, options.export).map_err(Exit::invalid)?;
    let mut outputs = Output::open(&reports, ResultFormat::OF_TRACE).map_err(Exit::invalid)?;
    let job_output = options.to_job.as_deref().map(JobOutput::open).transpose()?;
    let signals = Signals::listen(GRACE)?;
    let (window, memory, stopped) = (options.window(), options.memory as u64, || signals.end().is_some());
    let interrupted = || Exit::Signal(signals.end().unwrap_or_default());
    let study = match job_output {
        None => trace.study(window, memory, copies, stopped).map_err(Exit::refused)?.ok_or_else(interrupted)?,
        Some(output) => {
            let studied = trace.study_with_job(window, memory, copies, stopped).map_err(Exit::refused)?;
            let (study, job) = studied.ok_or_else(interrupted)?;
            let job = job.map_err(|error| Exit::invalid(Problem::from(error)))?;
            let study = output.write(&job, &options.files, study, &signals)?;
            if stopped() {
                return Err(interrupted());
            }
            study
        }
    };
    signals.conclude();
    let exit = deliver_as(&mut outputs, ResultDocument::Trace(&study), options.format, options.details);
    if exit == Exit::Good && study.condition.is_incomplete() {
        let what = format!("{}: requests are missing; the result says which", study.name);
        diagnostics::warning(&Problem::warning(ProblemCode::Trace, what));
        return Ok(Exit::Distrust);
    }
    Ok(exit)
}

/// The file of a job, opened before the trace is read.
struct JobOutput {
    path: PathBuf,
    file: ResultFile,
}

impl JobOutput {
    fn open(path: &Path) -> Result<Self, Exit> {
        outputs::claim_as("--to-job", path).map_err(Exit::invalid)?;
        let denied = |denied: Denied| Exit::invalid(denied.of_output(format_args!("--to-job {}", path.display())));
        Ok(Self { path: path.to_owned(), file: ResultFile::open(path).map_err(denied)? })
    }

    /// Writes the job, and adds its distance from the trace to the study.
    fn write(
        mut self,
        job: &SynthesizedJob,
        traces: &[PathBuf],
        mut study: TraceStudy,
        control: &Signals,
    ) -> Result<TraceStudy, Exit> {
        let name = self.path.display().to_string();
        let file = JobFile { job, name: &name };
        let text = file.write(&mut study, report::job_comment);
        let written = self.file.write(text.as_bytes());
        let subject = format_args!("--to-job {name}");
        written.map_err(|error| Exit::environment(engine::io_problem(ProblemCode::File, subject, &error)))?;
        let incomparable = |why: &str| Problem::error(ProblemCode::Trace, why);
        let path = match traces {
            [one] if one.is_file() => one.to_str().ok_or_else(|| incomparable("its path is not UTF-8")),
            [_] => Err(incomparable("the trace can be read only once; name a file to compare")),
            _ => Err(incomparable("the trace has several files; copy it with -o FILE.trace to compare")),
        };
        let compared = file.compare(&text, path, &mut study, &runners::models(), control);
        compared.map(|()| study).map_err(Exit::refused)
    }
}

pub(crate) const HELP: &str = "\
FILE is a trace of `fathom capture`, a fio iolog, the output of blktrace (all files, or their base name) \
or blkparse, or a CSV file of a public collection. See docs/traces.md for formats and figures.

Examples:
  fathom trace db.trace -o db.html
  fathom trace sda.blktrace.0 sda.blktrace.1 --from 1h --for 10m -o peak.trace
  fathom trace db.trace --to-job db.fio

Exit codes:
  0 success
  2 usage, or the file is not a trace: nothing was written
  3 I/O error
  4 requests are missing: lost, damaged or cut off";

fn formats() -> impl TypedValueParser<Value = TraceFormat> {
    PossibleValuesParser::new(TraceFormat::ALL.map(TraceFormat::name))
        .try_map(|name| TraceFormat::of_name(&name).ok_or("unknown format"))
}

/// Options of `fathom trace`.
#[derive(Clone, Debug, Args)]
pub(crate) struct TraceOptions {
    /// Trace in any format; - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Read the trace in this format [default: detected]
    #[arg(long, value_name = "FORMAT", value_parser = formats(), help_heading = "Input")]
    trace_format: Option<TraceFormat>,
    /// Start at this time after the start of the trace
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = crate::signals::duration, hide_default_value = true, help_heading = "Input")]
    from: Duration,
    /// Read this much of the trace
    #[arg(long = "for", value_name = "TIME", value_parser = crate::signals::duration, help_heading = "Input")]
    length: Option<Duration>,
    /// Cache memory to assume in findings
    #[arg(long, value_name = "SIZE", default_value = "64GiB", value_parser = |text: &str| quantity(text, QuantityKind::Size), help_heading = "Input")]
    memory: f64,
    /// Format of standard output
    #[arg(long, value_parser = one_of(PAGES), default_value = "text", help_heading = "Output")]
    format: ResultFormat,
    /// Format of copies of the trace
    #[arg(long, value_name = "FORMAT", value_parser = formats(), help_heading = "Output")]
    export: Option<TraceFormat>,
    /// Write a fio job with the load of the trace to FILE, and report the differences
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    to_job: Option<PathBuf>,
    /// Write additional output to FILE: .json .html .md .txt; .trace is a copy of the trace (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Vec<PathBuf>,
    #[command(flatten)]
    details: Details,
}

impl TraceOptions {
    /// Returns the part of the trace to read.
    fn window(&self) -> TraceWindow {
        let from_ns = self.from.as_nanos() as u64;
        let end_ns = self.length.map_or(u64::MAX, |length| from_ns.saturating_add(length.as_nanos() as u64));
        TraceWindow { from_ns, end_ns }
    }
}
