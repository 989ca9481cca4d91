//! `fathom capture`: records the requests of a live device.

use std::path::PathBuf;
use std::time::Duration;

use ::capture::{CaptureHost, CaptureOptions, KeptPart, capture, sample};
use clap::Args;
use procedure::ProcedureObserver;
use report::{ResultFormat, capture as page};
use results::capture::{CaptureProgress, CaptureSource, SampleProgress};
use units::{Problem, ProblemCode};

use crate::args::{Details, ProgressStyle, TEXT_OR_JSON, one_of};
use crate::display::Display;
use crate::exit::Exit;
use crate::outputs::print_text;
use crate::signals::{self, Signals};
use crate::terminal::Terminal;

pub(crate) const HELP: &str = "\
Records the requests of a device from the kernel's block tracepoints, without touching the device. Needs \
root or CAP_SYS_ADMIN. A file or directory selects the device of its filesystem. Lost events are counted, \
and completed requests are compared with the kernel's counters. The file can be read while it grows; \
`fathom trace` describes it. Without privileges, --sample reads only the counters: rates, mean sizes and \
mean latencies per interval, for `fathom explain FILE` and `fathom plan --from FILE`. See docs/capture.md.

Examples:
  fathom capture /dev/nvme0n1 --for 10m -o db.trace
  fathom capture /var/lib/postgresql --for 1h --keep-last 10m -o db.trace
  fathom capture nvme0n1 --sample 100ms --for 30s -o db.counters

Exit codes:
  0 captured
  2 usage, or an unknown device
  3 tracing is not permitted, the file cannot be written, or the device vanished
  4 captured, but events were lost or the kernel's counters differ
  128+n ended by signal n, with the requests so far";

/// Options of `fathom capture`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CaptureCommandOptions {
    /// Block device (/dev/ may be omitted), or a file or directory on its filesystem
    #[arg(value_name = "DEVICE|PATH")]
    device: String,
    /// Write the trace (with --sample, the counters) to FILE, replacing an existing one
    #[arg(short, long, value_name = "FILE", required_unless_present_any = ["summary_only", "sample"], help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    details: Details,
    /// Print only the summary, without writing a file
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    summary_only: bool,
    /// Capture for this long [default: until SIGINT or SIGTERM]
    #[arg(long = "for", value_name = "DURATION", value_parser = signals::duration, help_heading = "Capture")]
    duration: Option<Duration>,
    /// Sample the kernel's counters instead, without privileges: only means per interval [default: 1s]
    #[arg(long, value_name = "INTERVAL", num_args = 0..=1, default_missing_value = "1s", value_parser = interval, help_heading = "Capture")]
    sample: Option<Duration>,
    /// Capture only requests issued by this process; kernel threads issue writeback
    #[arg(long, value_name = "PID", help_heading = "Capture")]
    pid: Option<u32>,
    /// Stop when the file reaches this size
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "output", help_heading = "Output")]
    max_size: Option<u64>,
    /// Keep only the most recent requests, up to this duration or size
    #[arg(long, value_name = "DURATION|SIZE", value_parser = kept, requires = "output", conflicts_with = "max_size", help_heading = "Output")]
    keep_last: Option<KeptPart>,
    /// Drop process names and scramble offsets, in regions of 1 MiB
    #[arg(long, help_heading = "Output")]
    anonymize: bool,
    /// Kernel buffer per CPU [default: 16MiB, less with more than 16 CPUs]
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Capture")]
    buffer: Option<u64>,
    /// Source of requests: bpf (kernel programs) or tracefs (events) [default: bpf if available]
    #[arg(long, value_name = "SOURCE", value_parser = source, help_heading = "Capture")]
    source: Option<CaptureSource>,
    /// Format of standard output
    #[arg(long, value_parser = one_of(TEXT_OR_JSON), default_value = "text", help_heading = "Output")]
    format: ResultFormat,
    /// Show progress on standard error
    #[arg(long, value_enum, default_value_t = ProgressStyle::Auto, help_heading = "Output")]
    progress: ProgressStyle,
}

fn size(text: &str) -> Result<u64, Problem> {
    let bytes = store::size_bytes(text).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| Problem::error(ProblemCode::Arguments, "write a number and a unit, such as 64MiB or 2GiB"))
}

fn source(text: &str) -> Result<CaptureSource, Problem> {
    let known = [CaptureSource::Bpf, CaptureSource::Tracefs].into_iter().find(|source| source.name() == text);
    known.ok_or_else(|| Problem::error(ProblemCode::Arguments, "write bpf or tracefs"))
}

fn interval(text: &str) -> Result<Duration, Problem> {
    signals::duration(text).map_err(|problem| problem.also_help("write DEVICE before --sample"))
}

fn kept(text: &str) -> Result<KeptPart, Problem> {
    let part = signals::duration(text).map(KeptPart::Time).or_else(|_| size(text).map(KeptPart::Bytes));
    part.map_err(|_| Problem::error(ProblemCode::Arguments, "write a duration or a size, such as 10m or 2GiB"))
}

/// The terminal and the signals.
struct Host(Display, Signals);

impl CaptureHost for Host {
    fn is_ended(&self) -> bool {
        self.1.end().is_some()
    }

    fn progress(&mut self, progress: &CaptureProgress) {
        self.0.show_status(&page::progress_line(progress));
    }

    fn sampled(&mut self, progress: &SampleProgress) {
        self.0.show_status(&page::sample_progress_line(progress));
    }

    fn concluding(&mut self) {
        self.1.conclude();
    }

    fn warn(&mut self, warning: &Problem) {
        self.0.warn(warning);
    }
}

/// Captures until the time is over or a signal arrives, and prints what it was.
pub(crate) fn command(options: &CaptureCommandOptions) -> Result<Exit, Exit> {
    let request = CaptureOptions {
        asked: options.device.clone(),
        output: options.output.clone(),
        duration: options.duration,
        bytes_max: options.max_size,
        kept: options.keep_last,
        anonymize: options.anonymize,
        process: options.pid,
        buffer_bytes: options.buffer,
        source: options.source,
    };
    let signals = Signals::listen(signals::GRACE)?;
    let mut host = Host(Display::new(options.progress, live::EventLog::none()), signals);
    if let Some(interval) = options.sample {
        let sampled = sample(&request, interval, &mut host);
        host.0.close();
        let result = sampled.map_err(Exit::refused)?;
        let text = match options.format {
            ResultFormat::Json => result.json(),
            _ => page::sample_text(&result, Terminal::stdout().style(options.details.details)),
        };
        let printed = print_text(&text);
        let failure = result.failure.map(Exit::environment).or_else(|| host.1.end().map(Exit::Signal));
        return Ok(failure.filter(|_| printed == Exit::Good).unwrap_or(printed));
    }
    let captured = capture(&request, &mut host);
    host.0.close();
    let result = captured.map_err(Exit::refused)?;
    let text = match options.format {
        ResultFormat::Json => result.json(),
        _ => page::text(&result, Terminal::stdout().style(options.details.details)),
    };
    let printed = print_text(&text);
    Ok(match host.1.end() {
        _ if printed != Exit::Good => printed,
        _ if !result.is_trustworthy() => Exit::Distrust,
        Some(signal) => Exit::Signal(signal),
        None => Exit::Good,
    })
}
