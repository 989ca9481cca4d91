//! The words of `fathom compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::PageFormat;

pub(crate) const HELP: &str = "\
A RUN is the id of one that was kept, the beginning of an id, `last`, a folder, a file (a record of
Fathom's or fio's output), or - for standard input; the name of a series means all of its repeats.
Several runs of a side are given with commas between.

Each figure comes with the interval that holds its change at 95%: of single runs by how alike their
seconds are, of repeats by how much they differ. It is better or worse where that is more than
chance and at least --threshold, the same where the whole interval lies within it, and otherwise
undecided, with what would decide. Runs of different loads or devices are refused.

Examples:
  fathom compare last-week.json last
  fathom compare before.json after.json --threshold 5% -o change.md
  fathom compare --baseline a1.json,a2.json,a3.json --candidate b1.json,b2.json,b3.json
  fathom compare main.json branch.json --fail-on worse --format json

Exit codes:
  0 compared, whatever came of it          1 what --fail-on names came of it
  2 usage, or runs that are not comparable 3 I/O error";

/// Options of `fathom compare`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CompareOptions {
    /// Baseline, then candidate
    #[arg(value_name = "RUN", num_args = 0..=2)]
    pub(super) runs: Vec<String>,
    /// Baseline runs, separated by commas (repeatable)
    #[arg(long, value_name = "RUN")]
    pub(super) baseline: Vec<String>,
    /// Candidate runs, separated by commas (repeatable)
    #[arg(long, value_name = "RUN")]
    pub(super) candidate: Vec<String>,
    /// Ignore changes smaller than this
    #[arg(long, value_name = "SHARE", default_value = "2%")]
    pub(super) threshold: String,
    /// Compare runs of different workloads or devices too
    #[arg(long, alias = "anyway")]
    pub(super) force: bool,
    /// Exit with 1 if the verdict of any figure is this or worse
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub(super) fail_on: Option<FailOn>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = PageFormat::Text)]
    pub(super) format: PageFormat,
    /// Write additional output to FILE: .json .md .csv .txt, .html with the charts of both (repeatable)
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Vec<PathBuf>,
}

/// What makes a comparison a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FailOn {
    /// A figure became worse
    Worse,
    /// A figure became worse, or the data cannot tell
    Undecided,
}
