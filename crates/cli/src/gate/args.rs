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
  fathom gate last --expect 'read.iops>=150k' --expect 'read.lat.p99<=2ms'
  fathom gate run.json --expect 'read.iops>=95%' --baseline main.json --junit gate.xml
  fathom gate last --expect-file limits.txt -o gate.md
  fathom gate suite.json --expect 'job(checkpoint).write.bw>=1GiB/s' --expect findings.warnings==0

Exit codes:
  0 all hold                               1 one does not hold, or cannot be told
  2 usage: nothing was judged              3 I/O error
  4 all hold, but the figures are not to be trusted";

/// Options of `fathom gate`.
#[derive(Clone, Debug, Args)]
pub(crate) struct GateOptions {
    /// The run: an id, `last`, a folder, a file, - for standard input; repeats with commas between
    #[arg(value_name = "RUN")]
    pub(super) run: String,
    /// What is expected: read.iops>=150k; may be repeated
    #[arg(long, alias = "assert", value_name = "EXPECTATION")]
    pub(super) expect: Vec<String>,
    /// Expectations of FILE, one on each line, with comments after #; may be repeated
    #[arg(long, alias = "assert-file", value_name = "FILE")]
    pub(super) expect_file: Vec<PathBuf>,
    /// What shares are of: a run, or repeats with commas between
    #[arg(long, value_name = "RUN")]
    pub(super) baseline: Vec<String>,
    /// Hold it against a baseline of another load or device too
    #[arg(long)]
    pub(super) anyway: bool,
    /// Fail what noise leaves open
    #[arg(long)]
    pub(super) strict: bool,
    /// Write FILE as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    /// What standard output carries
    #[arg(long, value_enum, default_value_t = PageFormat::Text)]
    pub(super) format: PageFormat,
    /// Also write FILE, by its ending: .json .md .txt; may be repeated
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Vec<PathBuf>,
}
