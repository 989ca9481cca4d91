//! The words of `fathom gate`.

use std::path::PathBuf;

use clap::Args;

use crate::args::PageFormat;

pub(crate) const HELP: &str = "\
An expectation is FIGURE RELATION BOUND. Figures are read, write, trim or all, a point, and iops,
bw, lat (its mean), lat.p50, lat.p90, lat.p99, lat.p99.9, or the same of `response`, which is
counted from the instant an operation was due and takes a rate; `findings.warnings`,
`findings.distrusts`, and `findings.` with the name of a finding (docs/findings.md). `job(NAME).`
before it means one job, a probe of a sweep or a step of a suite. Relations are >= <= > < == !=.
Bounds are numbers with their units, and `95%` or `0.95*baseline`: shares of --baseline, which fail
only where chance does not explain it. RUN is what `fathom compare` takes.

Examples:
  fathom gate last --assert 'read.iops>=150k' --assert 'read.lat.p99<=2ms'
  fathom gate run.json --assert 'read.iops>=95%' --baseline main.json --junit gate.xml
  fathom gate last --assert-file limits.txt -o gate.md
  fathom gate suite.json --assert 'job(checkpoint).write.bw>=1GiB/s' --assert findings.warnings==0

Exit codes:
  0 all hold                               1 one does not hold, or cannot be told
  2 usage: nothing was judged              3 I/O error
  4 all hold, but the figures are not to be trusted";

/// Options of `fathom gate`.
#[derive(Clone, Debug, Args)]
pub(crate) struct GateOptions {
    /// Run: an ID, `last`, a directory, a file, - for standard input; repeats separated by commas
    #[arg(value_name = "RUN")]
    pub(super) run: String,
    /// Require this: read.iops>=150k (repeatable)
    #[arg(long, alias = "expect", value_name = "EXPECTATION")]
    pub(super) assert: Vec<String>,
    /// Read expectations from FILE, one per line, with comments after # (repeatable)
    #[arg(long, alias = "expect-file", value_name = "FILE")]
    pub(super) assert_file: Vec<PathBuf>,
    /// Baseline for percentage expectations: a run, or repeats separated by commas
    #[arg(long, value_name = "RUN")]
    pub(super) baseline: Vec<String>,
    /// Compare with a baseline of another workload or device too
    #[arg(long, alias = "anyway")]
    pub(super) force: bool,
    /// Fail where noise leaves the answer open
    #[arg(long)]
    pub(super) strict: bool,
    /// Write JUnit XML to FILE
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = PageFormat::Text)]
    pub(super) format: PageFormat,
    /// Write additional output to FILE: .json .md .txt (repeatable)
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Vec<PathBuf>,
}
