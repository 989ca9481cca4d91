//! The commands, and how Fathom's own words are told from options of jobs.

use std::ffi::{OsStr, OsString};

use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::args::{
    CatalogOptions, DoctorOptions, MEASURING, ReportOptions, RunCommandOptions, SimOptions, SweepOptions,
};
use crate::argv;
use crate::exit::Exit;

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
