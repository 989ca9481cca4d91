//! Options of `fathom trace`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use trace::{TraceFormat, TraceWindow};
use volume::catalogue::{QuantityKind, quantity};

use crate::args::PageFormat;

pub(crate) const HELP: &str = "\
FILE is a trace of `fathom capture`, an iolog of fio, output of blktrace (all files, or their base name) or \
blkparse, or a CSV file of a public collection. docs/traces.md explains formats and figures.

Examples:
  fathom trace db.trace -o db.html
  fathom trace sda.blktrace.0 sda.blktrace.1 --from 1h --for 10m -o peak.trace
  fathom trace db.trace --to-job db.fio

Exit codes:
  0 good
  2 usage, or the file is no trace: nothing was written
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
    pub(super) files: Vec<PathBuf>,
    /// Read the trace in this format [default: detected]
    #[arg(long, value_name = "FORMAT", value_parser = formats(), help_heading = "Input")]
    pub(super) trace_format: Option<TraceFormat>,
    /// Begin at this time after the start of the trace
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = crate::signals::duration, hide_default_value = true, help_heading = "Input")]
    pub(super) from: Duration,
    /// Read this much of the trace
    #[arg(long = "for", value_name = "TIME", value_parser = crate::signals::duration, help_heading = "Input")]
    pub(super) length: Option<Duration>,
    /// Memory that a cache may use, for findings
    #[arg(long, value_name = "SIZE", default_value = "64GiB", value_parser = |text: &str| quantity(text, QuantityKind::Size), help_heading = "Input")]
    pub(super) memory: f64,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = PageFormat::Text, help_heading = "Output")]
    pub(super) format: PageFormat,
    /// Format of copies of the trace
    #[arg(long, value_name = "FORMAT", value_parser = formats(), help_heading = "Output")]
    pub(super) export: Option<TraceFormat>,
    /// Write a fio job that behaves like the trace to FILE, and report how far it differs
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) to_job: Option<PathBuf>,
    /// Write additional output to FILE: .json .html .md .txt; .trace is a copy of the trace (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(super) output: Vec<PathBuf>,
}

impl TraceOptions {
    /// Returns the part of the trace to read.
    pub(super) fn window(&self) -> TraceWindow {
        let from_ns = self.from.as_nanos() as u64;
        let end_ns = self.length.map_or(u64::MAX, |length| from_ns.saturating_add(length.as_nanos() as u64));
        TraceWindow { from_ns, end_ns }
    }
}
