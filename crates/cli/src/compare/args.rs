//! Options of `fathom compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::PageFormat;

pub(crate) const HELP: &str = "\
A RUN is the ID of a saved run or its beginning, `last`, a directory, a file (a record of Fathom's or fio's \
output), or - for standard input. The name of a series stands for all of its repeats. Separate several runs \
of one side with commas.

Each figure has a 95% confidence interval of its change: from the variation between seconds for single runs, \
from the variation between runs for repeats. A figure is better or worse where the change is statistically \
significant and at least --threshold; the same where the whole interval lies within the threshold; otherwise \
undecided, with what would decide it. Runs of different workloads or devices are refused.

Examples:
  fathom compare last-week.json last
  fathom compare --baseline a1.json,a2.json --candidate b1.json,b2.json
  fathom compare main.json branch.json --fail-on worse -o change.md

Exit codes:
  0 compared, whatever the verdict
  1 the verdict is what --fail-on names, or worse
  2 usage, or runs that are not comparable
  3 I/O error";

/// Options of `fathom compare`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CompareOptions {
    /// Baseline, then candidate
    #[arg(value_name = "RUN", num_args = 0..=2)]
    pub(super) runs: Vec<String>,
    /// Baseline runs, separated by commas (repeatable)
    #[arg(long, value_name = "RUN", help_heading = "Runs")]
    pub(super) baseline: Vec<String>,
    /// Candidate runs, separated by commas (repeatable)
    #[arg(long, value_name = "RUN", help_heading = "Runs")]
    pub(super) candidate: Vec<String>,
    /// Ignore changes smaller than this
    #[arg(long, value_name = "SHARE", default_value = "2%", help_heading = "Verdict")]
    pub(super) threshold: String,
    /// Compare runs of different workloads or devices too
    #[arg(long, alias = "anyway", help_heading = "Runs")]
    pub(super) force: bool,
    /// Exit with 1 if the verdict of any figure is this or worse
    #[arg(long, value_enum, value_name = "VERDICT", help_heading = "Verdict")]
    pub(super) fail_on: Option<FailOn>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = PageFormat::Text, help_heading = "Output")]
    pub(super) format: PageFormat,
    /// Write additional output to FILE: .json .md .csv .txt, .html with the charts of both (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(super) output: Vec<PathBuf>,
}

/// Verdicts that make a comparison fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FailOn {
    /// A figure became worse
    Worse,
    /// A figure became worse, or the data cannot tell
    Undecided,
}
