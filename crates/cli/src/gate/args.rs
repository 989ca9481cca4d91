//! Options of `fathom gate`.

use std::path::PathBuf;

use clap::Args;

use crate::args::PageFormat;

pub(crate) const HELP: &str = "\
An expectation is FIGURE RELATION BOUND.

FIGURE is read, write, trim or all, a point, and iops, bw, lat (the mean), lat.p50, lat.p90, lat.p99 or \
lat.p99.9. `response` instead of `lat` counts from the instant an operation was due, and needs a rate.

findings.warnings, findings.distrusts and findings.NAME count findings (docs/findings.md).

`job(NAME).` before a figure selects one job, one probe of a sweep or one step of a suite.

RELATION is one of >= <= > < == !=. BOUND is a number with its unit, or a fraction of --baseline: `95%` or \
`0.95*baseline`. A fraction fails only where the difference is statistically significant.

RUN is what `fathom compare` accepts.

Examples:
  fathom gate last --assert 'read.iops>=150k' --assert 'read.lat.p99<=2ms'
  fathom gate run.json --assert 'read.iops>=95%' --baseline main.json
  fathom gate last --assert-file limits.txt -o gate.md

Exit codes:
  0 all expectations hold
  1 one does not hold, or cannot be decided
  2 usage: nothing was judged
  3 I/O error
  4 all hold, but the figures are not to be trusted";

/// Options of `fathom gate`.
#[derive(Clone, Debug, Args)]
pub(crate) struct GateOptions {
    /// Run: an ID, `last`, a directory, a file, - for standard input; repeats separated by commas
    #[arg(value_name = "RUN")]
    pub(super) run: String,
    /// Require this: read.iops>=150k (repeatable)
    #[arg(long, alias = "expect", value_name = "EXPECTATION", help_heading = "Assertions")]
    pub(super) assert: Vec<String>,
    /// Read expectations from FILE, one per line, with comments after # (repeatable)
    #[arg(long, alias = "expect-file", value_name = "FILE", help_heading = "Assertions")]
    pub(super) assert_file: Vec<PathBuf>,
    /// Baseline for percentage expectations: a run, or repeats separated by commas
    #[arg(long, value_name = "RUN", help_heading = "Assertions")]
    pub(super) baseline: Vec<String>,
    /// Accept repeats and a baseline of other workloads or devices
    #[arg(long, alias = "anyway", help_heading = "Assertions")]
    pub(super) force: bool,
    /// Fail where noise leaves the answer open
    #[arg(long, help_heading = "Assertions")]
    pub(super) strict: bool,
    /// Write JUnit XML to FILE
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) junit: Option<PathBuf>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = PageFormat::Text, help_heading = "Output")]
    pub(super) format: PageFormat,
    /// Write additional output to FILE: .json .md .txt (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(super) output: Vec<PathBuf>,
}
