//! Options that several commands share, and those of small commands.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use analyse::doctor::Purpose;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use engine::gate::{Permissions, Sharing, WriteGate};
use job::SplitKind;
use procedure::sweep::SweepRequest;
use report::ResultFormat;

use crate::{home, rank};

/// Commands that accept job files and job options.
pub(crate) const MEASURING: [&str; 3] = ["run", "sim", "sweep"];

/// Options of how to measure.
#[derive(Clone, Debug, Args)]
pub(crate) struct CommonOptions {
    /// Print which files would be touched, how much and for how long, and exit
    #[arg(long, help_heading = "Safety")]
    pub(crate) dry_run: bool,
    /// Permit writes to this device, file or export URI even if it holds data or is in use (repeatable)
    #[arg(long, value_name = "TARGET", help_heading = "Safety")]
    pub(crate) allow_destroy: Vec<PathBuf>,
    /// Permit writes to this existing file that Fathom did not create (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Safety")]
    pub(crate) allow_overwrite: Vec<PathBuf>,
    /// Permit a --metrics address that other hosts can reach, and jobs that listen on all addresses
    #[arg(long, help_heading = "Safety")]
    pub(crate) insecure: bool,
    /// Seed for all random choices
    #[arg(long, value_name = "N", help_heading = "Measurement")]
    pub(crate) seed: Option<u64>,
    /// Show progress on standard error
    #[arg(long, value_enum, default_value_t = ProgressStyle::Auto, help_heading = "Output")]
    pub(crate) progress: ProgressStyle,
    /// Wait this long for operations in flight after the runtime or a signal
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = crate::signals::duration, help_heading = "Measurement")]
    pub(crate) grace: Duration,
    /// Serve live metrics (OpenMetrics over HTTP); non-loopback addresses need --insecure
    #[arg(long, value_name = "ADDRESS:PORT", help_heading = "Output")]
    pub(crate) metrics: Option<String>,
    /// Do not save this run
    #[arg(long, help_heading = "Output")]
    pub(crate) no_record: bool,
}

impl CommonOptions {
    /// Creates the write gate of these options. It records what the command writes as data of Fathom.
    pub(crate) fn gate(&self) -> Arc<WriteGate> {
        let sharing = rank::joined().map_or(Sharing::Exclusive, |fleet| Sharing::Ranks(fleet.number()));
        let (destroy, overwrite) = (self.allow_destroy.clone(), self.allow_overwrite.clone());
        let permissions =
            Permissions { destroy, overwrite, any_peer: self.insecure, sharing, ..Permissions::default() };
        device::safety::gate(permissions, home::ledger().as_deref())
    }

    /// Reports whether to save the run. `FATHOM_NO_RECORD` disables saving for all commands.
    pub(crate) fn saves_run(&self) -> bool {
        !self.no_record
            && !rank::is_silent()
            && std::env::var_os("FATHOM_NO_RECORD").is_none_or(|value| value.is_empty())
    }
}

/// How much of a result is printed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Details {
    /// Print all findings with codes and evidence, all devices and all candidates
    #[arg(long, help_heading = "Output")]
    pub(crate) details: bool,
}

/// Options of how job files are read.
#[derive(Clone, Debug, Args)]
pub(crate) struct JobFileOptions {
    /// Run only this section of the job files (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Workload")]
    pub(crate) section: Vec<String>,
    /// Print the resolved jobs and exit
    #[arg(long, help_heading = "Workload")]
    pub(crate) show_jobs: bool,
}

/// Options of `fathom run` and `fathom sim`.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunCommandOptions {
    /// Use this modelled volume instead of the jobs' files
    #[arg(long, value_name = "VOLUME", value_parser = clap::builder::NonEmptyStringValueParser::new(), help_heading = "Workload")]
    pub(crate) on: Option<String>,
    /// Number of simulated hosts; only [`SimOptions`] have it as an option.
    #[arg(skip)]
    pub(crate) hosts: Option<u32>,
    /// What is divided among them; only [`SimOptions`] have it as an option.
    #[arg(skip)]
    pub(crate) split: Option<SplitKind>,
    /// Format of standard output
    #[arg(long, value_parser = one_of(RUNS), default_value = "text", help_heading = "Output")]
    pub(crate) format: ResultFormat,
    /// Write additional output to FILE: .json .html .csv .md .txt .prom .fio.json (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) details: Details,
    /// Write progress to FILE as JSON lines
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) events: Option<PathBuf>,
    /// Show live graphs instead of progress (press ? for keys)
    #[arg(long, conflicts_with = "progress", help_heading = "Output")]
    pub(crate) live: bool,
    /// Run N times, interleaving job files, and report the variation
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Measurement")]
    pub(crate) repeat: Option<u32>,
    /// Determine whether queue depth or the device is the limit, by a 1 s run at twice the depth
    #[arg(long, conflicts_with = "repeat", help_heading = "Measurement")]
    pub(crate) probe: bool,
    #[command(flatten)]
    pub(crate) job_files: JobFileOptions,
    #[command(flatten)]
    pub(crate) common: CommonOptions,
}

/// Options of `fathom sim`.
#[derive(Clone, Debug, Args)]
pub(crate) struct SimOptions {
    #[command(flatten)]
    pub(crate) run: RunCommandOptions,
    /// Simulate N hosts that run the same jobs and share the volumes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(job::PlanHosts::MAX)), help_heading = "Workload")]
    pub(crate) hosts: Option<u32>,
    /// Divide the work of each job among the hosts that run it
    #[arg(long, value_parser = one_of(SPLITS), help_heading = "Workload")]
    pub(crate) split: Option<SplitKind>,
    /// Repeat for each value of a job option or a volume key: KEY=A..B, A..BxF, A..B/STEP, V,V,V
    #[arg(long, value_name = "KEY=RANGE", help_heading = "Workload")]
    pub(crate) vary: Vec<String>,
    /// Simulate only every Nth point, from the Kth on: K/N, or auto in a job array; `fathom report` merges shards
    #[arg(long, value_name = "K/N", requires = "vary", help_heading = "Workload")]
    pub(crate) shard: Option<String>,
}

/// Options of `fathom sweep`.
#[derive(Clone, Debug, Args)]
#[command(
    mut_arg("section", |section| section.help("Use this section of a job file")),
    mut_arg("show_jobs", |show_jobs| show_jobs.help("Print the resolved job, and do nothing")),
    mut_arg("dry_run", |dry_run| dry_run.help("Print what would be touched and for how long, and do nothing")),
)]
pub(crate) struct SweepOptions {
    #[command(flatten)]
    pub(crate) request: SweepRequest,
    /// Sweep only every Nth value, from the Kth on: K/N, or auto in a job array; `fathom report` merges shards
    #[arg(long, value_name = "K/N", requires = "vary", help_heading = "Workload")]
    pub(crate) shard: Option<String>,
    /// Format of standard output
    #[arg(long, value_parser = one_of(TEXT_OR_JSON), default_value = "text", help_heading = "Output")]
    pub(crate) format: ResultFormat,
    /// Write additional output to FILE: .json .html .svg .csv .txt (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) details: Details,
    #[command(flatten)]
    pub(crate) job_files: JobFileOptions,
    #[command(flatten)]
    pub(crate) common: CommonOptions,
}

/// Options of `fathom report`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReportOptions {
    /// Run: an ID, `last`, a directory, a file; - for standard input
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<String>,
    /// Write output to FILE: .html .csv .md .txt .prom .json .fio.json .svg (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) details: Details,
}

/// Options of `fathom doctor`.
#[derive(Clone, Debug, Args)]
pub(crate) struct DoctorOptions {
    /// Files, directories and block devices (/dev/ may be left out) [default: the mounted disks]
    #[arg(value_name = "PATH|DEVICE")]
    pub(crate) things: Vec<String>,
    /// Check for this purpose only [default: both]
    #[arg(long = "for", value_parser = one_of(PURPOSES), value_name = "PURPOSE", help_heading = "Checks")]
    pub(crate) purpose: Option<Purpose>,
    /// Report passed checks too
    #[arg(short = 'v', long, visible_alias = "verbose", help_heading = "Checks")]
    pub(crate) all: bool,
    /// Read /sys, /proc and /dev only below this directory
    #[arg(long, value_name = "DIR", help_heading = "Checks")]
    pub(crate) root: Option<PathBuf>,
    /// Format of standard output
    #[arg(long, value_parser = one_of(PAGES), default_value = "text", help_heading = "Output")]
    pub(crate) format: ResultFormat,
    /// Write additional output to FILE: .json .md .txt (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) details: Details,
    /// Describe all checks in Markdown
    #[arg(long, help_heading = "Checks")]
    pub(crate) checks: bool,
}

/// A word of an option: the word, with aliases behind it, its help and its value.
pub(crate) type OptionWord<T> = (&'static str, &'static str, T);

/// What is divided among ranks.
pub(crate) const SPLITS: &[OptionWord<SplitKind>] = &[
    ("size", "The amounts size and io_size", SplitKind::Size),
    ("files", "The files", SplitKind::Files),
    ("offsets", "The region of each file or device", SplitKind::Offsets),
];

/// Purposes for which settings are checked.
const PURPOSES: &[OptionWord<Purpose>] = &[
    ("iops", "Many small operations", Purpose::Iops),
    ("throughput", "Large sequential operations", Purpose::Throughput),
];

pub(crate) const TEXT: OptionWord<ResultFormat> = ("text", "Text", ResultFormat::Text);
pub(crate) const JSON: OptionWord<ResultFormat> = ("json", "JSON", ResultFormat::Json);
pub(crate) const MARKDOWN: OptionWord<ResultFormat> = ("md", "Markdown", ResultFormat::Markdown);
pub(crate) const TEXT_OR_JSON: &[OptionWord<ResultFormat>] = &[TEXT, JSON];
/// Formats of pages.
pub(crate) const PAGES: &[OptionWord<ResultFormat>] = &[TEXT, JSON, MARKDOWN];
/// Formats of runs.
const RUNS: &[OptionWord<ResultFormat>] = &[
    TEXT,
    JSON,
    ("fio", "fio's text", ResultFormat::FioText),
    ("fio-json", "fio's JSON", ResultFormat::FioJson),
    ("fio-json+", "fio's JSON with histograms", ResultFormat::FioJsonPlus),
    ("fio-terse", "fio's terse format", ResultFormat::FioTerse),
];

/// Parses one of some words.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    words: &'static [OptionWord<T>],
) -> impl TypedValueParser<Value = T> {
    let values = words.iter().map(|(word, help, _)| {
        let mut names = word.split(' ');
        let value = PossibleValue::new(names.next().unwrap_or_default()).aliases(names);
        if help.is_empty() { value } else { value.help(*help) }
    });
    PossibleValuesParser::new(values).try_map(|given| {
        let found = words.iter().find(|(word, ..)| word.split(' ').any(|name| name == given));
        found.map(|(.., value)| *value).ok_or("unknown word")
    })
}

/// Whether progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressStyle {
    /// A progress line on a terminal, a line every 10 s elsewhere
    Auto,
    /// A line every 10 s
    Plain,
    /// None
    Off,
}
