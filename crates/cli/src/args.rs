//! Fathom's own words, and how they are told from options of jobs.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use engine::gate::WriteGate;

use crate::argv;
use crate::exit::Exit;
use crate::runners;

#[derive(Debug, Parser)]
#[command(name = "fathom", version, about = "What can this volume do, why am I not getting it, what should I change?")]
#[command(max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure real devices and files
    #[command(override_usage = "fathom run [OPTIONS] [JOBFILE]... [--JOBOPTION=VALUE]...", after_help = RUN_HELP)]
    Run(RunCommandOptions),
    /// The same jobs on a modelled volume, in virtual time
    #[command(override_usage = "fathom sim [OPTIONS] --on VOLUME [JOBFILE]... [--JOBOPTION=VALUE]...", after_help = SIM_HELP)]
    Sim(SimOptions),
    /// Latency and IOPS against queue depth: the knee
    #[command(
        override_usage = "fathom sweep [OPTIONS] [--on VOLUME | --filename=PATH] [JOBFILE] [--JOBOPTION=VALUE]...",
        after_help = SWEEP_HELP
    )]
    Sweep(SweepOptions),
    /// fio's own command line, output and exit codes
    #[command(override_usage = "fathom fio ARG...", after_help = FIO_HELP)]
    Fio,
    /// By how much two runs differ, and whether that is more than chance
    #[command(
        override_usage = "fathom compare [OPTIONS] BASELINE CANDIDATE",
        after_help = crate::compare::args::HELP
    )]
    Compare(crate::compare::args::CompareOptions),
    /// A run held against what is expected of it: exit code 1 where that fails
    #[command(
        override_usage = "fathom gate [OPTIONS] RUN --assert EXPECTATION...",
        after_help = crate::gate::args::HELP
    )]
    Gate(crate::gate::args::GateOptions),
    /// Settings of the host that hold a device back
    #[command(override_usage = "fathom doctor [OPTIONS] [PATH|DEVICE]...", after_help = DOCTOR_HELP)]
    Doctor(DoctorOptions),
    /// What limited a result from any source, and what to change
    #[command(override_usage = "fathom explain [OPTIONS] [INPUT]...", after_help = EXPLAIN_HELP)]
    Explain(crate::explain::args::ExplainOptions),
    /// Which volume for this load, at what price
    #[command(override_usage = "fathom plan [OPTIONS]", after_help = crate::plan::args::HELP)]
    Plan(Box<crate::plan::args::PlanOptions>),
    /// Modelled volumes: limits, prices, sources, dates
    #[command(override_usage = "fathom catalog [OPTIONS] [VOLUME]", after_help = CATALOG_HELP)]
    Catalog(CatalogOptions),
    /// Published benchmark procedures, ready to run
    #[command(override_usage = "fathom suite list | show NAME | run NAME [OPTIONS]", after_help = crate::suite::args::HELP)]
    Suite(crate::suite::args::SuiteOptions),
    /// What was measured before
    #[command(override_usage = "fathom runs [list | show RUN | rm RUN... | import FILE... | keep RUN... | prune] [OPTIONS]", after_help = crate::runs::args::HELP)]
    Runs(Box<crate::runs::args::RunsOptions>),
    /// A modelled volume as a disk, over NBD
    #[command(override_usage = "fathom serve [OPTIONS] [VOLUME] [--export NAME=VOLUME]...", after_help = crate::serve::args::HELP)]
    Serve(Box<crate::serve::args::ServeOptions>),
    /// What was measured before, as one page with charts, or as tables and text
    #[command(override_usage = "fathom report RUN... [-o FILE]...", after_help = REPORT_HELP)]
    Report(ReportOptions),
    /// Describe job options: all of them, or one
    Options(OptionsOptions),
    /// Print the completions of a shell
    Completions(CompletionsOptions),
    /// The manual: the page of the program, of a command, or of job options
    #[command(override_usage = "fathom man [PAGE] | --into DIR", after_help = crate::man::args::HELP)]
    Man(crate::man::args::ManOptions),
}

/// The commands that have job files and job options among their words.
pub(crate) const MEASURING: [&str; 3] = ["run", "sim", "sweep"];

const RUN_HELP: &str = "\
Job options are fio's, by fio's names: --name, --rw, --bs, --iodepth, --numjobs, --filename, …
(beside a job file they apply to all its jobs).
`fathom options` lists them all, `fathom options rw` describes one. What fio would read in a way
its writer cannot have meant is refused, with the place and what to write instead; `fathom fio`
reads exactly as fio reads.

Examples:
  fathom run --probe examples/first-try.fio
  fathom run --name=reads --filename=/dev/nvme0n1 --rw=randread --direct=1 --ioengine=io_uring
  fathom run job.fio --format json -o result.md --dry-run
  fathom run job.fio --live --metrics 127.0.0.1:9184

Exit codes:
  0 good                                   1 a verification failed
  2 usage or job error, nothing touched    3 I/O or environment error
  4 measured, but not to be trusted        128+n ended by signal n, with the results so far";

const SIM_HELP: &str = "\
A volume is named PROVIDER/TYPE[@EDITION][,key=value]...; `fathom catalog` lists them. Job options
are those of `fathom run`. Nothing is touched: paths under /dev are volumes of their own, other
files lie on one volume, and a job that names neither file nor size uses the volume itself.

Examples:
  fathom sim --on gcp/hyperdisk-balanced,size=1TiB,iops=160000 examples/first-try.fio
  fathom sim --on hdd/7200rpm --name=reads --rw=randread --iodepth=10 --runtime=600
  fathom sim --on gcp/hyperdisk-balanced,size=1TiB --vary iodepth=1..1024 examples/first-try.fio
  fathom sim --on vultr/nvme-block --name=burst --rw=randwrite --iodepth=32 --runtime=900";

const SWEEP_HELP: &str = "\
Finds how many operations in flight a device or a modelled volume needs: a few short probes, then
longer ones where the curve bends, until the knee is known to --precision or --time-limit is used up.
It sets iodepth (numjobs for engines that do one thing at a time) and time; everything else is the
job's. Without a job it reads 4 KiB at random places past the page cache. Files are written only if
the job writes, under the rules of `fathom run`; a model is measured without its burst credits.

Examples:
  fathom sweep --filename=/dev/nvme0n1
  fathom sweep --on gcp/hyperdisk-balanced,size=1TiB,iops=160000,throughput=2400MiB/s
  fathom sweep --on aws/gp3 --vary bs=4k,16k,64k,256k
  fathom sweep --filename=test.bin --size=1g --rw=randrw --time-limit 30s -o knee.svg -o knee.json";

const EXPLAIN_HELP: &str = "\
INPUT is a record of Fathom's (--format json), fio's output (normal, json, json+) or that of
`iostat -x` (text or -o JSON); `-` is standard input. A claim is a set of figures from any source:
iops, lat (or p50, p99, ...), qd, jobs, bs, bw, read, rw, vcpus, time; beside an INPUT it adds what
the input lacks. With --volume the figures are compared with a modelled volume: the limits are
named, and what another depth would give is computed. docs/findings.md describes every finding.

Examples:
  fathom explain fio.json --volume gcp/hyperdisk-balanced,size=1TiB,iops=160000
  fathom explain --claim iops=10000,lat=3ms,qd=4,jobs=4,bs=4k
  iostat -xy -o JSON 1 30 | fathom explain - --claim qd=32,bs=4k
  fathom explain fio.txt --claim iops=160000

Exit codes: 0 explained, 2 something could not be read, 3 I/O error";

const CATALOG_HELP: &str = "\
Without VOLUME it lists them all. With one it shows the limits in force for its size, its machine
and operations of one size, each with its rule, its numbers and where they are from, and which of
them binds. VOLUME may also be a file of your own: ./mydisk.toml

Examples:
  fathom catalog
  fathom catalog gcp/pd-ssd,size=1TiB,machine=n2-standard-8
  fathom catalog aws/gp2,size=100GiB --bs 256k --rw read
  fathom catalog azure/p20 --rw randrw --rwmixread 70 --format json";

const REPORT_HELP: &str = "\
RUN is the id of a run that was kept, its beginning, `last`, the folder of a run, or a file: a record
of Fathom's (--format json), the JSON of `fathom sweep` and `fathom suite run`, or what fio printed.
The page is one file that loads nothing and runs no script: verdict and findings, figures, charts with
their tables, the job, the machine, the command. Several runs are laid over each other. Without -o the
text goes to standard output.

Examples:
  fathom report last -o run.html
  fathom report before.json after.json -o both.html -o both.csv
  fathom report knee.json -o knee.html
  fathom report fio.json -o fio.html

Exit codes: 0 reported, 2 something could not be read: nothing was written, 3 I/O error";

const DOCTOR_HELP: &str = "\
Looks at the disks under a file, a directory or a device, at the filesystem, and at the host: what
is set, what would be better for IOPS and for throughput, why, and the command that changes it. It
only reads: nothing is changed, no device is opened.

Examples:
  fathom doctor
  fathom doctor /var/lib/postgresql
  fathom doctor nvme0n1 sdb --for iops
  fathom doctor /dev/mapper/data --format json -o doctor.md
  fathom doctor --root ./copied-host sda

Exit codes:
  0 looked at, whatever was found          2 usage, or a name that stands for nothing
  3 the host cannot be read";

const FIO_HELP: &str = "Everything after `fio` is read as fio reads it: `fathom fio --help` lists it.";

/// How everything is measured.
#[derive(Clone, Debug, Args)]
pub(crate) struct Conduct {
    /// Print what would be touched, how much and for how long, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Permit writes to this device, file or export URI even if it holds data or is in use (repeatable)
    #[arg(long, value_name = "TARGET")]
    pub(crate) allow_destroy: Vec<PathBuf>,
    /// Permit writes to this existing file that Fathom did not create (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) allow_overwrite: Vec<PathBuf>,
    /// Seed for all random choices
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Show progress on standard error
    #[arg(long, value_enum, default_value_t = ProgressStyle::Auto)]
    pub(crate) progress: ProgressStyle,
    /// Wait this long for operations in flight after the runtime or a signal
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = crate::signals::duration)]
    pub(crate) grace: Duration,
    /// Do not save this run
    #[arg(long)]
    pub(crate) no_record: bool,
}

impl Conduct {
    /// The write gate, with what is permitted.
    pub(crate) fn gate(&self) -> Arc<WriteGate> {
        runners::gate(&self.allow_destroy, &self.allow_overwrite)
    }

    /// Whether it is kept; `FATHOM_NO_RECORD` says no for all runs.
    pub(crate) fn records(&self) -> bool {
        !self.no_record && std::env::var_os("FATHOM_NO_RECORD").is_none_or(|value| value.is_empty())
    }
}

/// The metrics endpoint.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Scrape {
    /// Serve live metrics (OpenMetrics over HTTP); addresses of other hosts need --insecure
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) metrics: Option<String>,
    /// Permit a --metrics address that other hosts can reach
    #[arg(long, requires = "metrics")]
    pub(crate) insecure: bool,
}

/// How job files are read.
#[derive(Clone, Debug, Args)]
pub(crate) struct OfJobs {
    /// Run only this section of the job files (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) section: Vec<String>,
    /// Print the resolved jobs, and do nothing
    #[arg(long, alias = "explain")]
    pub(crate) show_jobs: bool,
}

/// Options of `fathom run` and `fathom sim`.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunCommandOptions {
    /// Use this modelled volume instead of the jobs' files
    #[arg(long, value_name = "VOLUME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) on: Option<String>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Write additional output to FILE: .json .html .csv .md .txt .prom .fio.json (repeatable)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
    /// Write progress to FILE as JSON lines
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Show live graphs instead of progress (press ? for keys)
    #[arg(long, conflicts_with = "progress")]
    pub(crate) live: bool,
    #[command(flatten)]
    pub(crate) scrape: Scrape,
    /// Run N times, interleaving job files, and report the variation
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeat: Option<u32>,
    /// Find out whether the queue depth or the device is the limit: run for 1 s at twice the depth
    #[arg(long, conflicts_with = "repeat")]
    pub(crate) probe: bool,
    #[command(flatten)]
    pub(crate) of_jobs: OfJobs,
    #[command(flatten)]
    pub(crate) conduct: Conduct,
}

/// Options of `fathom sim`.
#[derive(Clone, Debug, Args)]
pub(crate) struct SimOptions {
    #[command(flatten)]
    pub(crate) run: RunCommandOptions,
    /// Repeat for each value of a job option or a key of the volume: KEY=A..B, A..BxF, A..B/STEP, V,V,V
    #[arg(long, aliases = ["sweep", "over"], value_name = "KEY=RANGE")]
    pub(crate) vary: Vec<String>,
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
    #[arg(long, value_name = "VOLUME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) on: Option<String>,
    /// Highest queue depth [default: 1024, in virtual time 4096]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) depth_max: Option<u32>,
    /// Target precision of the knee (half-width of its interval)
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub(crate) precision: String,
    /// Time limit of all probes of one search [default: 60s; none in virtual time]
    #[arg(long, alias = "budget", value_name = "TIME")]
    pub(crate) time_limit: Option<String>,
    /// Search once for each value of a job option or a key of the volume: KEY=V,V,V or A..B (repeatable)
    #[arg(long, aliases = ["over", "sweep"], value_name = "KEY=LIST")]
    pub(crate) vary: Vec<String>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
    /// Write additional output to FILE: .json .html .svg .csv .txt (repeatable)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) scrape: Scrape,
    #[command(flatten)]
    pub(crate) of_jobs: OfJobs,
    #[command(flatten)]
    pub(crate) conduct: Conduct,
    /// Run a model in real time, as if it were a device
    #[arg(long)]
    pub(crate) real_time: bool,
}

impl SweepOptions {
    /// Whether programs read it.
    pub(crate) fn json(&self) -> bool {
        self.format == TextOrJson::Json
    }
}

/// What standard output carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageFormat {
    /// Text
    Text,
    /// JSON
    Json,
    /// Markdown
    Md,
}

/// Options of `fathom report`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReportOptions {
    /// Run: an ID, `last`, a directory, a file; - for standard input
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<String>,
    /// Write output to FILE: .html .csv .md .txt .prom .json .fio.json .svg (repeatable)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
}

/// Options of `fathom catalog`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CatalogOptions {
    /// Volume to describe: PROVIDER/TYPE[@EDITION][,key=value]...
    pub(crate) volume: Option<String>,
    /// Block size
    #[arg(long, value_name = "SIZE", default_value = "4k")]
    pub(crate) bs: String,
    /// I/O pattern: read, write, randread, randwrite, rw, randrw
    #[arg(long, value_name = "KIND", default_value = "randread")]
    pub(crate) rw: String,
    /// Percentage of reads in a mix
    #[arg(long, value_name = "PERCENT", default_value_t = 50, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) rwmixread: u8,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
}

impl CatalogOptions {
    /// Whether programs read it.
    pub(crate) fn json(&self) -> bool {
        self.format == TextOrJson::Json
    }
}

/// What standard output carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TextOrJson {
    /// Text
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
    #[arg(long = "for", value_enum, value_name = "PURPOSE")]
    purpose: Option<TuningGoal>,
    /// Report passed checks too
    #[arg(short = 'v', long, visible_alias = "verbose")]
    pub(crate) all: bool,
    /// Read /sys, /proc and /dev below this directory, and nothing outside of it
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Format of standard output
    #[arg(long, value_enum, default_value_t = PageFormat::Text)]
    pub(crate) format: PageFormat,
    /// Write additional output to FILE: .json .md .txt (repeatable)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
    /// Describe all checks in Markdown
    #[arg(long)]
    pub(crate) checks: bool,
}

impl DoctorOptions {
    /// What is wanted of the devices.
    pub(crate) fn purpose(&self) -> Option<analyse::doctor::Purpose> {
        self.purpose.map(|purpose| match purpose {
            TuningGoal::Iops => analyse::doctor::Purpose::Iops,
            TuningGoal::Throughput => analyse::doctor::Purpose::Throughput,
        })
    }
}

/// What is wanted of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TuningGoal {
    /// Many small operations
    Iops,
    /// Large and sequential ones
    Throughput,
}

#[derive(Clone, Debug, Args)]
struct OptionsOptions {
    /// Job option to describe
    name: Option<String>,
}

#[derive(Clone, Debug, Args)]
struct CompletionsOptions {
    /// Shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// What standard output carries.
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

/// Carries out everything but `fathom fio`.
pub(crate) fn command(program: &OsStr, words: &[OsString]) -> Exit {
    let (own, jobs) = split(words);
    let jobs = match argv::as_text(&jobs) {
        Ok(jobs) => jobs,
        Err(problem) => return Exit::usage(&format!("{problem}\nfathom: nothing was touched")),
    };
    // As results repeat them.
    let words = &words.iter().map(|word| argv::shown(word)).collect::<Vec<_>>();
    let cli = match Cli::try_parse_from(std::iter::once(program.to_owned()).chain(own)) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output and are a success; the rest is usage.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage } else { Exit::Good };
        }
    };
    let (Ok(exit) | Err(exit)) = match cli.command {
        Command::Run(options) => crate::run::command(&options, &jobs, words),
        Command::Sim(options) => crate::sim::command(&options, &jobs, words),
        Command::Doctor(options) => crate::doctor::command(&options),
        Command::Compare(options) => crate::compare::command(&options),
        Command::Gate(options) => crate::gate::command(&options),
        Command::Sweep(options) => crate::sweep::command(&options, &jobs, words),
        Command::Explain(options) => crate::explain::command(&options),
        Command::Plan(options) => crate::plan::command(&options),
        Command::Catalog(options) => Ok(crate::catalog::command(&options)),
        Command::Suite(options) => crate::suite::command(&options, words),
        Command::Runs(options) => crate::runs::command(&options),
        Command::Serve(options) => crate::serve::command(&options),
        Command::Report(options) => crate::report::command(&options),
        Command::Options(options) => Ok(crate::options::command(options.name.as_deref())),
        Command::Completions(options) => Ok(crate::completions::command(Cli::command(), options.shell)),
        Command::Man(options) => crate::man::command(Cli::command(), &options),
        Command::Fio => Ok(crate::fio::command(&[])),
    };
    exit
}

/// Separates Fathom's own options from job files and job options, which the job language reads.
///
/// Only those of [`MEASURING`] have both. An own option takes the word after it where it needs a value and brings none.
fn split(words: &[OsString]) -> (Vec<OsString>, Vec<OsString>) {
    let command = Cli::command();
    let measuring = words.first().and_then(|word| word.to_str()).filter(|word| MEASURING.contains(word));
    let Some((name, run)) = measuring.and_then(|name| Some((name, command.find_subcommand(name)?))) else {
        return (words.to_vec(), Vec::new());
    };
    let (mut own, mut jobs) = (vec![OsString::from(name)], Vec::new());
    let mut rest = words[1..].iter();
    while let Some(word) = rest.next() {
        match own_option(run, word) {
            None => jobs.push(word.clone()),
            Some(takes_next) => {
                own.push(word.clone());
                own.extend(takes_next.then(|| rest.next().cloned()).flatten());
            }
        }
    }
    (own, jobs)
}

/// Whether a word is an option of `command`, and whether its value is the word after it.
fn own_option(command: &clap::Command, word: &OsStr) -> Option<bool> {
    let (name, has_value) = argv::name_of(word)?;
    if matches!(name, "-h" | "--help") {
        return Some(false);
    }
    let argument = command.get_arguments().find(|argument| {
        let mut longs = argument.get_long_and_visible_aliases().unwrap_or_default();
        longs.extend(argument.get_all_aliases().unwrap_or_default());
        let long = name.strip_prefix("--").is_some_and(|name| longs.contains(&name));
        let short = argument.get_short().is_some_and(|short| {
            name.strip_prefix('-')
                .is_some_and(|rest| rest.starts_with(short) && !rest.starts_with('-') && rest.len() == 1)
        });
        long || short
    })?;
    let needs_value = matches!(argument.get_action(), clap::ArgAction::Set | clap::ArgAction::Append);
    Some(needs_value && !has_value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn the_words_of_the_program_are_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn own_options_and_job_options_may_be_mixed() {
        let (own, jobs) =
            split(&words("run --format json a.fio --rw=read -o x.md --seed=3 --bs 4k --dry-run --name j"));
        assert_eq!(own, words("run --format json -o x.md --seed=3 --dry-run"));
        assert_eq!(jobs, words("a.fio --rw=read --bs 4k --name j"));
    }

    #[test]
    fn options_keep_their_former_names() {
        for line in [
            "run --explain a.fio",
            "sim --sweep iodepth=1,2 --explain a.fio",
            "sweep --over bs=4k,8k --budget 5s --explain a.fio",
            "explain a.json --expect aws/gp3",
            "gate last --expect read.iops>=1 --expect-file a --anyway",
            "compare a b --anyway",
            "plan --iops 1 --size 1TiB --explain",
            "suite run vultr --volume vultr/nvme-block --capacity 1g",
            "serve aws/gp3 --store memory --way 0us --capacity 1g",
        ] {
            let (own, jobs) = split(&words(line));
            let parsed = Cli::try_parse_from(std::iter::once("fathom".into()).chain(own));
            assert!(
                parsed.is_ok() && !jobs.iter().any(|job| job.to_string_lossy().starts_with("--")),
                "{line}: {jobs:?}"
            );
        }
    }

    #[test]
    fn no_own_option_has_the_name_of_a_job_option() {
        let command = Cli::command();
        let both = MEASURING.map(|name| command.find_subcommand(name).unwrap());
        for argument in both.iter().flat_map(|command| command.get_arguments()) {
            let long = argument.get_long().unwrap_or_default();
            assert!(job::table::find_all(long).is_empty(), "--{long} is a job option too");
        }
    }
}
