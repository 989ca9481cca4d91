//! Options of `fathom runs`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::TextOrJson;

pub(crate) const HELP: &str = "\
Every run, sim, sweep and suite is saved in $FATHOM_HOME/runs or, where that is not set, in \
$XDG_DATA_HOME/fathom/runs (~/.local/share/fathom/runs). RUN is the ID of a run, its beginning or its last \
four digits, `last`, the name of a series of repeats, or the directory of a run. Patterns match whole names \
and may contain * and ?. WHEN is a date, a date and time, or an age: 2026-11-21, 2026-11-21T20:53, 12h, 7d. \
docs/runs.md says what is saved, and for how long.

Examples:
  fathom runs list --kind sweep --target 'nvme*' --since 7d
  fathom runs show last
  fathom runs prune --older-than 90d --larger-than 1GiB --dry-run

Exit codes: 0 done, 2 usage, or no such run: nothing was changed, 3 I/O or environment error";

/// Options of `fathom runs`.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunsOptions {
    #[command(subcommand)]
    pub(super) command: Option<RunsCommand>,
}

#[derive(Clone, Debug, Subcommand)]
pub(super) enum RunsCommand {
    /// List saved runs, the latest last
    List(RunsListOptions),
    /// Show a run: its output, host, job, and the command that repeats it
    Show(RunsShowOptions),
    /// Remove runs
    Rm(NamedRuns),
    /// Save fio's output, or records from other hosts
    Import(ImportOptions),
    /// Exempt runs from retention
    Keep(KeepOptions),
    /// Remove runs by age or total size
    Prune(PruneOptions),
}

#[derive(Clone, Debug, Default, Args)]
pub(super) struct RunsListOptions {
    /// Only runs with this text in a name, a target or the command
    pub(super) text: Option<String>,
    /// Only runs of this kind
    #[arg(long, value_enum, help_heading = "Filters")]
    pub(super) kind: Option<KindFilter>,
    /// Only runs whose name, ID or job matches
    #[arg(long, value_name = "PATTERN", help_heading = "Filters")]
    pub(super) name: Option<String>,
    /// Only runs whose file, device or volume matches
    #[arg(long, value_name = "PATTERN", help_heading = "Filters")]
    pub(super) target: Option<String>,
    /// Only runs whose host matches
    #[arg(long, value_name = "PATTERN", help_heading = "Filters")]
    pub(super) host: Option<String>,
    /// Only runs whose program matches: fathom, fio-3.*
    #[arg(long, value_name = "PATTERN", help_heading = "Filters")]
    pub(super) tool: Option<String>,
    /// Only runs that started at this time or later
    #[arg(long, value_name = "WHEN", help_heading = "Filters")]
    pub(super) since: Option<String>,
    /// Only runs that started before this time
    #[arg(long, value_name = "WHEN", help_heading = "Filters")]
    pub(super) until: Option<String>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = TextOrJson::Text, help_heading = "Output")]
    pub(super) format: TextOrJson,
}

/// Kinds of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum KindFilter {
    /// A measurement
    Run,
    /// A simulation
    Sim,
    /// A search for the knee, or a grid
    Sweep,
    /// A published benchmark
    Suite,
}

impl From<KindFilter> for store::RunKind {
    fn from(kind: KindFilter) -> Self {
        match kind {
            KindFilter::Run => Self::Run,
            KindFilter::Sim => Self::Sim,
            KindFilter::Sweep => Self::Sweep,
            KindFilter::Suite => Self::Suite,
        }
    }
}

#[derive(Clone, Debug, Args)]
pub(super) struct RunsShowOptions {
    /// Run: an ID, a part of one, `last`, or a directory
    pub(super) run: String,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub(super) format: TextOrJson,
}

#[derive(Clone, Debug, Args)]
pub(super) struct NamedRuns {
    /// Runs: IDs, parts of them, `last`, series
    #[arg(value_name = "RUN", required = true)]
    pub(super) runs: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub(super) struct ImportOptions {
    /// Output of fio (normal, json, json+), or a record; - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(super) struct KeepOptions {
    #[command(flatten)]
    pub(super) named: NamedRuns,
    /// Make them subject to retention again
    #[arg(long)]
    pub(super) release: bool,
}

#[derive(Clone, Debug, Args)]
pub(super) struct PruneOptions {
    /// Remove runs older than this [default: FATHOM_KEEP_FOR, or a year]
    #[arg(long, value_name = "AGE")]
    pub(super) older_than: Option<String>,
    /// Remove the oldest until no more than this is left [default: FATHOM_KEEP_SIZE, or 4GiB]
    #[arg(long, value_name = "SIZE")]
    pub(super) larger_than: Option<String>,
    /// Print what would be removed, and do nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}
