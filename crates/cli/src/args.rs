//! Options that several commands share, and those of small commands.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use engine::gate::{Permissions, Sharing, WriteGate};
use job::SplitKind;
use report::ResultFormat;

use crate::{home, rank};

/// Commands that accept job files and job options.
pub(crate) const MEASURING: [&str; 3] = ["run", "sim", "sweep"];

/// Options of how to measure.
#[derive(Clone, Debug, Args)]
pub(crate) struct CommonOptions {
    /// Print what would be touched, how much and for how long, and do nothing
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
    /// Serve live metrics (OpenMetrics over HTTP); addresses of other hosts need --insecure
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

/// Options of how job files are read.
#[derive(Clone, Debug, Args)]
pub(crate) struct JobFileOptions {
    /// Run only this section of the job files (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Workload")]
    pub(crate) section: Vec<String>,
    /// Print the resolved jobs, and do nothing
    #[arg(long, alias = "explain", help_heading = "Workload")]
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
    pub(crate) split: Option<WorkSplit>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = "Output")]
    pub(crate) format: Format,
    /// Write additional output to FILE: .json .html .csv .md .txt .prom .fio.json (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Vec<PathBuf>,
    /// Write progress to FILE as JSON lines
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) events: Option<PathBuf>,
    /// Show live graphs instead of progress (press ? for keys)
    #[arg(long, conflicts_with = "progress", help_heading = "Output")]
    pub(crate) live: bool,
    /// Run N times, interleaving job files, and report the variation
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Measurement")]
    pub(crate) repeat: Option<u32>,
    /// Find out whether the queue depth or the device is the limit: run for 1 s at twice the depth
    #[arg(long, conflicts_with = "repeat", help_heading = "Measurement")]
    pub(crate) probe: bool,
    #[command(flatten)]
    pub(crate) job_files: JobFileOptions,
    #[command(flatten)]
    pub(crate) common: CommonOptions,
}

/// What is divided among ranks.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum WorkSplit {
    /// The amounts size and io_size
    Size,
    /// The files
    Files,
    /// The region of each file or device
    Offsets,
}

impl From<WorkSplit> for SplitKind {
    fn from(split: WorkSplit) -> Self {
        match split {
            WorkSplit::Size => Self::Size,
            WorkSplit::Files => Self::Files,
            WorkSplit::Offsets => Self::Offsets,
        }
    }
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
    #[arg(long, value_enum, help_heading = "Workload")]
    pub(crate) split: Option<WorkSplit>,
    /// Repeat for each value of a job option or a key of the volume: KEY=A..B, A..BxF, A..B/STEP, V,V,V
    #[arg(long, aliases = ["sweep", "over"], value_name = "KEY=RANGE", help_heading = "Workload")]
    pub(crate) vary: Vec<String>,
    /// Simulate each Nth point only, from the Kth on: K/N, or auto in a job array; `fathom report` merges the shards
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
    /// Use this modelled volume instead of the job's files
    #[arg(long, value_name = "VOLUME", value_parser = clap::builder::NonEmptyStringValueParser::new(), help_heading = "Workload")]
    pub(crate) on: Option<String>,
    /// Highest queue depth [default: 1024, in virtual time 4096]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536), help_heading = "Search")]
    pub(crate) depth_max: Option<u32>,
    /// Target precision of the knee (half-width of its interval)
    #[arg(long, value_name = "SHARE", default_value = "5%", help_heading = "Search")]
    pub(crate) precision: String,
    /// Time limit of all probes of one search [default: 60s; none in virtual time]
    #[arg(long, alias = "budget", value_name = "TIME", help_heading = "Search")]
    pub(crate) time_limit: Option<String>,
    /// Search once for each value of a job option or a key of the volume: KEY=V,V,V or A..B (repeatable)
    #[arg(long, aliases = ["over", "sweep"], value_name = "KEY=LIST", help_heading = "Workload")]
    pub(crate) vary: Vec<String>,
    /// Search for each Nth value only, from the Kth on: K/N, or auto in a job array; `fathom report` merges the shards
    #[arg(long, value_name = "K/N", requires = "vary", help_heading = "Workload")]
    pub(crate) shard: Option<String>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = TextOrJson::Text, help_heading = "Output")]
    pub(crate) format: TextOrJson,
    /// Write additional output to FILE: .json .html .svg .csv .txt (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) job_files: JobFileOptions,
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// Run a model in real time, as if it were a device
    #[arg(long, help_heading = "Search")]
    pub(crate) real_time: bool,
}

/// Formats of pages on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageFormat {
    /// Text
    Text,
    /// JSON
    Json,
    /// Markdown
    Md,
}

impl From<PageFormat> for ResultFormat {
    fn from(format: PageFormat) -> Self {
        match format {
            PageFormat::Text => Self::Text,
            PageFormat::Json => Self::Json,
            PageFormat::Md => Self::Markdown,
        }
    }
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
}

/// Options of `fathom catalog`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CatalogOptions {
    /// Volume to describe: PROVIDER/TYPE[@EDITION][,key=value]...
    pub(crate) volume: Option<String>,
    /// Block size
    #[arg(long, value_name = "SIZE", default_value = "4k", help_heading = "Workload")]
    pub(crate) bs: String,
    /// I/O pattern: read, write, randread, randwrite, rw, randrw
    #[arg(long, value_name = "KIND", default_value = "randread", help_heading = "Workload")]
    pub(crate) rw: String,
    /// Percentage of reads in a mix
    #[arg(long, value_name = "PERCENT", default_value_t = 50, value_parser = clap::value_parser!(u8).range(0..=100), help_heading = "Workload")]
    pub(crate) rwmixread: u8,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = TextOrJson::Text, help_heading = "Output")]
    pub(crate) format: TextOrJson,
}

/// Text or JSON on standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrJson {
    /// Text
    #[default]
    Text,
    /// JSON
    Json,
}

/// Options of `fathom doctor`.
#[derive(Clone, Debug, Args)]
pub(crate) struct DoctorOptions {
    /// Files, directories and block devices (/dev/ may be left out) [default: the mounted disks]
    #[arg(value_name = "PATH|DEVICE")]
    pub(crate) things: Vec<String>,
    /// Check for this purpose only [default: both]
    #[arg(long = "for", value_enum, value_name = "PURPOSE", help_heading = "Checks")]
    purpose: Option<TuningGoal>,
    /// Report passed checks too
    #[arg(short = 'v', long, visible_alias = "verbose", help_heading = "Checks")]
    pub(crate) all: bool,
    /// Read /sys, /proc and /dev below this directory, and nothing outside of it
    #[arg(long, value_name = "DIR", help_heading = "Checks")]
    pub(crate) root: Option<PathBuf>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = PageFormat::Text, help_heading = "Output")]
    pub(crate) format: PageFormat,
    /// Write additional output to FILE: .json .md .txt (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Vec<PathBuf>,
    /// Describe all checks in Markdown
    #[arg(long, help_heading = "Checks")]
    pub(crate) checks: bool,
}

impl From<TextOrJson> for ResultFormat {
    fn from(format: TextOrJson) -> Self {
        match format {
            TextOrJson::Text => Self::Text,
            TextOrJson::Json => Self::Json,
        }
    }
}

impl DoctorOptions {
    /// Returns the tuning goal, if one is given.
    pub(crate) fn purpose(&self) -> Option<analyse::doctor::Purpose> {
        self.purpose.map(|purpose| match purpose {
            TuningGoal::Iops => analyse::doctor::Purpose::Iops,
            TuningGoal::Throughput => analyse::doctor::Purpose::Throughput,
        })
    }
}

/// Tuning goals of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TuningGoal {
    /// Many small operations
    Iops,
    /// Large and sequential ones
    Throughput,
}

/// Formats of results on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text, with a verdict at the end
    Text,
    /// Fathom's JSON
    Json,
    /// fio's text
    Fio,
    /// fio's JSON
    FioJson,
    /// fio's JSON with histograms
    #[value(name = "fio-json+")]
    FioJsonPlus,
    /// fio's terse format
    FioTerse,
}

impl From<Format> for ResultFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Json => Self::Json,
            Format::Fio => Self::FioText,
            Format::FioJson => Self::FioJson,
            Format::FioJsonPlus => Self::FioJsonPlus,
            Format::FioTerse => Self::FioTerse,
        }
    }
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
