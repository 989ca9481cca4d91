//! Parses the command line and runs the command. Separates Fathom's own options from job options.

use std::ffi::{OsStr, OsString};
use units::Problem;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::args::{DoctorOptions, MEASURING, ReportOptions, RunCommandOptions, SimOptions, SweepOptions};
use crate::exit::Exit;
use crate::{argv, outputs, usage_error};

#[derive(Debug, Parser)]
#[command(
    name = "fathom",
    version,
    about = "Find out what a volume can do, why you do not get it, and what to change or buy"
)]
#[command(max_term_width = 100, subcommand_required = true, arg_required_else_help = true, after_help = TOP_HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure real devices and files
    #[command(override_usage = "fathom run [OPTIONS] [JOBFILE]... [--JOBOPTION=VALUE]...", after_help = RUN_HELP)]
    Run(RunCommandOptions),
    /// Run the same jobs on a modelled volume, in virtual time
    #[command(override_usage = "fathom sim --on VOLUME [OPTIONS] [JOBFILE]... [--JOBOPTION=VALUE]...", after_help = SIM_HELP)]
    Sim(SimOptions),
    /// Measure latency and IOPS against queue depth, and find the knee
    #[command(
        override_usage = "fathom sweep [--on VOLUME] [OPTIONS] [JOBFILE] [--JOBOPTION=VALUE]...",
        after_help = SWEEP_HELP
    )]
    Sweep(SweepOptions),
    /// Accept fio's own command line, with fio's output and exit codes
    #[command(override_usage = "fathom fio ARG...", after_help = FIO_HELP)]
    Fio,
    /// Compare runs, with confidence intervals
    #[command(
        override_usage = "fathom compare [OPTIONS] BASELINE CANDIDATE...",
        after_help = crate::compare::HELP
    )]
    Compare(crate::compare::CompareOptions),
    /// Check a run against expectations, for CI
    #[command(
        override_usage = "fathom gate [OPTIONS] RUN --assert EXPECTATION...",
        after_help = crate::gate::HELP
    )]
    Gate(crate::gate::GateOptions),
    /// Find host settings that limit a device
    #[command(override_usage = "fathom doctor [OPTIONS] [PATH|DEVICE]...", after_help = DOCTOR_HELP)]
    Doctor(DoctorOptions),
    /// Record the requests of a live device, without touching it
    #[command(override_usage = "fathom capture DEVICE|PATH -o FILE [OPTIONS]", after_help = crate::capture::HELP)]
    Capture(crate::capture::CaptureCommandOptions),
    /// Explain what limited a result from any source, and what to change
    #[command(override_usage = "fathom explain [OPTIONS] [INPUT]...", after_help = EXPLAIN_HELP)]
    Explain(crate::explain::ExplainOptions),
    /// Describe the load in a trace, and convert traces
    #[command(override_usage = "fathom trace [OPTIONS] FILE...", after_help = crate::trace::HELP)]
    Trace(crate::trace::TraceOptions),
    /// Find the volume, size and machine for a load, by price
    #[command(override_usage = "fathom plan [OPTIONS] [NEEDS.toml]", after_help = crate::plan::HELP)]
    Plan(Box<crate::plan::PlanOptions>),
    /// List modelled volumes: limits, prices, sources, dates
    #[command(override_usage = "fathom catalog [COMMAND] [OPTIONS] [VOLUME]", after_help = CATALOG_HELP)]
    Catalog(Box<crate::catalog::CatalogOptions>),
    /// Run published benchmark procedures
    #[command(override_usage = "fathom suite list | show NAME | run NAME [OPTIONS]", after_help = crate::suite::HELP)]
    Suite(crate::suite::SuiteOptions),
    /// List, show, import and remove saved runs
    #[command(override_usage = "fathom runs [COMMAND] [OPTIONS]", after_help = crate::runs::HELP)]
    Runs(Box<crate::runs::RunsOptions>),
    /// Serve a modelled volume as a disk, over NBD
    #[command(override_usage = "fathom serve [VOLUME] [--export NAME=VOLUME]... [OPTIONS]", after_help = crate::serve::HELP)]
    Serve(Box<crate::serve::ServeOptions>),
    /// Write saved runs as a page with charts, or as tables and text
    #[command(override_usage = "fathom report RUN... [-o FILE]...", after_help = REPORT_HELP)]
    Report(ReportOptions),
    /// Describe all job options, or one
    #[command(after_help = OPTIONS_HELP)]
    Options(OptionsOptions),
    /// Print the JSON Schema of a command's result, or list the results
    #[command(override_usage = "fathom schema [RESULT]", after_help = crate::schema::HELP)]
    Schema(crate::schema::SchemaOptions),
    /// Print shell completions
    #[command(after_help = COMPLETIONS_HELP)]
    Completions(crate::completions::CompletionsOptions),
    /// Show the manual: program, commands, job options
    #[command(override_usage = "fathom man [PAGE] | --into DIR", after_help = crate::man::HELP)]
    Man(crate::man::ManOptions),
}

const TOP_HELP: &str = "\
Examples:
  fathom run --probe examples/first-try.fio
  fathom explain fio.json --volume gcp/pd-ssd,size=1TiB
  fathom plan --iops 15k --capacity 1TiB --latency 2ms";

const RUN_HELP: &str = "\
Job options have fio's names: --name, --rw, --bs, --iodepth, --numjobs, --filename, … With a job file, \
they apply to all of its jobs. `fathom options` lists them all. Fathom rejects input that fio would \
silently misread, and suggests the correct spelling. `fathom fio` reads everything exactly as fio does.

Examples:
  fathom run --probe examples/first-try.fio
  fathom run --name=reads --filename=/dev/nvme0n1 --rw=randread --direct=1
  fathom run job.fio --live --format json -o result.html

Exit codes:
  0 success
  1 a verification failed
  2 usage or job error, nothing touched
  3 I/O or environment error
  4 measured, but unreliable
  128+n ended by signal n, with the results so far";

const SIM_HELP: &str = "\
A volume is named PROVIDER/TYPE[@EDITION][,key=value]...; `fathom catalog` lists all volumes. Job options \
are the same as for `fathom run`. A simulation touches no file: each path under /dev is a separate volume, \
all other files share one volume, and a job without a file or size uses the whole volume.

Examples:
  fathom sim --on aws/gp3,size=1TiB,iops=16000 examples/first-try.fio
  fathom sim --on gcp/pd-ssd --hosts 8 examples/first-try.fio
  fathom sim --on gcp/pd-ssd --vary iodepth=1..1024 examples/first-try.fio";

const SWEEP_HELP: &str = "\
A sweep finds the queue depth that a device or a modelled volume needs: short probes first, then longer ones \
near the knee, until the knee is known to --precision or --time-limit has passed. It sets iodepth (numjobs \
for synchronous engines) and runtime; the job sets everything else. Without a job it reads 4 KiB blocks at \
random offsets with direct I/O. Only a job that writes changes files, under the rules of `fathom run`. \
Models are measured without burst credits.

Examples:
  fathom sweep --filename=/dev/nvme0n1
  fathom sweep --on gcp/hyperdisk-balanced,size=1TiB,iops=160000
  fathom sweep --filename=test.bin --size=1g --time-limit 30s -o knee.html";

const EXPLAIN_HELP: &str = "\
INPUT is a Fathom record (--format json), fio's output (normal, json, json+), the output of `iostat -x` \
(text or -o JSON) or the file of `fathom capture --sample`. A claim is a set of figures from any source: \
iops, lat (or p50, p99, ...), qd, jobs, bs, bw, read, rw, vcpus, time. With an INPUT, it adds figures that \
the input lacks. With --volume, the figures are compared with a modelled volume: the answer names the \
limits and computes what another queue depth would give. docs/findings.md describes every finding.

Examples:
  fathom explain fio.json --volume gcp/pd-ssd,size=1TiB,vcpus=32
  fathom explain --claim iops=10000,lat=3ms,qd=4,jobs=4,bs=4k
  iostat -xy -o JSON 1 30 | fathom explain - --claim qd=32,bs=4k

Exit codes: 0 explained, 2 unreadable input, 3 I/O error";

const CATALOG_HELP: &str = "\
Without VOLUME, all volumes are listed. With VOLUME, its limits for its size, its machine and one block \
size are shown: the rule, numbers and sources of each, and which limit binds. VOLUME may also be a custom \
file: ./mydisk.toml

Examples:
  fathom catalog
  fathom catalog gcp/pd-ssd,size=1TiB,machine=n2-standard-8
  fathom catalog aws/gp2,size=100GiB --bs 256k --rw read
  fathom catalog update --from price-list.csv";

const REPORT_HELP: &str = "\
RUN is the ID of a saved run or its prefix, `last`, the directory of a run, or a file: a Fathom record \
(--format json), the JSON of `fathom sweep` or `fathom suite run`, or fio's output. The page is a single \
self-contained file without scripts: verdict, findings, figures, charts with their tables, job, machine \
and command. Several runs share each chart. Without -o, text is printed.

Examples:
  fathom report last -o run.html
  fathom report before.json after.json -o both.html -o both.csv
  fathom report fio.json -o fio.html

Exit codes: 0 reported, 2 unreadable input: nothing was written, 3 I/O error";

const DOCTOR_HELP: &str = "\
Checks the disks under a file, a directory or a device, the filesystem and the host: the current setting, \
the better one for IOPS and for throughput, the reason, and the command that changes it. It only reads: it \
changes no setting and opens no device.

Examples:
  fathom doctor
  fathom doctor /var/lib/postgresql --for iops
  fathom doctor /dev/mapper/data --format json -o doctor.md

Exit codes:
  0 checked, with or without findings
  2 usage, or an unknown path or device
  3 the host cannot be read";

const FIO_HELP: &str = "\
Everything after `fio` is parsed as fio parses it; `fathom fio --help` lists the options.

Examples:
  fathom fio job.fio
  fathom fio --name=reads --filename=data.bin --size=1g --rw=randread --bs=4k
  fathom fio --output-format=json --output=result.json job.fio";

const OPTIONS_HELP: &str = "\
Examples:
  fathom options
  fathom options rw
  fathom options iodepth";

const COMPLETIONS_HELP: &str = "\
Examples:
  fathom completions bash > /etc/bash_completion.d/fathom
  fathom completions zsh fathom-fleet > ~/.zfunc/_fathom-fleet
  fathom completions fish > ~/.config/fish/completions/fathom.fish";

#[derive(Clone, Debug, Args)]
struct OptionsOptions {
    /// Job option to describe
    name: Option<String>,
}

/// Why the command line is not carried out.
pub(crate) enum NoCommand {
    /// A request for help or the version, or a usage error.
    Clap(clap::Error),
    /// A word is not text.
    Word(Problem),
}

impl NoCommand {
    /// Prints it.
    pub(crate) fn report(self, words: &[OsString]) -> Exit {
        match self {
            Self::Word(problem) => Exit::invalid(problem),
            // Help and version: success if requested, otherwise a usage error.
            Self::Clap(error)
                if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
            {
                let printed = outputs::print_help(&error);
                match printed {
                    _ if error.use_stderr() => Exit::Usage,
                    Ok(()) => Exit::Good,
                    Err(error) => Exit::environment(outputs::unprinted(&error)),
                }
            }
            Self::Clap(error) => Exit::invalid([usage_error::diagnostic(&error, &shown(words))]),
        }
    }
}

/// Returns the words as results show them.
pub(crate) fn shown(words: &[OsString]) -> Vec<String> {
    words.iter().map(|word| argv::shown(word)).collect()
}

/// Parses a program's own options, and returns them with the job files and job options.
pub(crate) fn parse<C: Parser>(program: &OsStr, words: &[OsString]) -> Result<(C, Vec<String>), NoCommand> {
    let (own, jobs) = split(words, &C::command());
    let jobs = argv::as_text(&jobs).map_err(NoCommand::Word)?;
    let cli = C::try_parse_from(std::iter::once(program.to_owned()).chain(own)).map_err(NoCommand::Clap)?;
    Ok((cli, jobs))
}

/// Parses and runs any command except `fathom fio`.
pub(crate) fn command(program: &OsStr, words: &[OsString]) -> Exit {
    let (cli, jobs) = match parse::<Cli>(program, words) {
        Ok(parsed) => parsed,
        Err(none) => return none.report(words),
    };
    let words = &shown(words);
    let (Ok(exit) | Err(exit)) = match cli.command {
        Command::Run(options) => crate::run::command(&options, &jobs, words, false),
        Command::Sim(options) => crate::sim::command(&options, &jobs, words),
        Command::Capture(options) => crate::capture::command(&options),
        Command::Doctor(options) => crate::doctor::command(&options),
        Command::Compare(options) => crate::compare::command(&options),
        Command::Gate(options) => crate::gate::command(&options),
        Command::Sweep(options) => crate::sweep::command(&options, &jobs, words),
        Command::Explain(options) => crate::explain::command(&options),
        Command::Trace(options) => crate::trace::command(&options),
        Command::Plan(options) => crate::plan::command(&options),
        Command::Catalog(options) => crate::catalog::command(&options),
        Command::Suite(options) => crate::suite::command(&options, words),
        Command::Runs(options) => crate::runs::command(&options),
        Command::Serve(options) => crate::serve::command(&options),
        Command::Report(options) => crate::report::command(&options),
        Command::Options(options) => Ok(crate::options::command(options.name.as_deref())),
        Command::Schema(options) => crate::schema::command(&options),
        Command::Completions(options) => Ok(crate::completions::command(Cli::command(), &options)),
        Command::Man(options) => crate::man::command(Cli::command(), &options),
        Command::Fio => Ok(crate::fio::command(&[])),
    };
    exit
}

/// Separates Fathom's own options from job files and job options, which the job language parses.
///
/// Only the commands of [`MEASURING`] accept both. An own option that needs a value and has no `=` takes the next
/// argument.
fn split(words: &[OsString], command: &clap::Command) -> (Vec<OsString>, Vec<OsString>) {
    let measuring = words.first().and_then(|word| word.to_str()).filter(|word| MEASURING.contains(word));
    let Some((name, run)) = measuring.and_then(|name| Some((name, command.find_subcommand(name)?))) else {
        return (words.to_vec(), Vec::new());
    };
    let (mut own, mut jobs) = (vec![OsString::from(name)], Vec::new());
    let mut rest = words[1..].iter();
    while let Some(word) = rest.next() {
        match own_option(run, command, word) {
            None => jobs.push(word.clone()),
            Some(takes_next) => {
                own.push(word.clone());
                own.extend(takes_next.then(|| rest.next().cloned()).flatten());
            }
        }
    }
    (own, jobs)
}

/// Reports whether the value of an option is the next argument; `None` if the argument is neither an option of `command`
/// nor a global one of `program`.
fn own_option(command: &clap::Command, program: &clap::Command, word: &OsStr) -> Option<bool> {
    let (name, has_value) = argv::name_of(word)?;
    if matches!(name, "-h" | "--help") {
        return Some(false);
    }
    let global = program.get_arguments().filter(|argument| argument.is_global_set());
    let argument = command.get_arguments().chain(global).find(|argument| {
        let mut longs = argument.get_long_and_visible_aliases().unwrap_or_default();
        longs.extend(argument.get_all_aliases().unwrap_or_default());
        let long = name.strip_prefix("--").is_some_and(|name| longs.contains(&name));
        let short =
            name.strip_prefix('-').is_some_and(|name| argument.get_short().is_some_and(|c| name.chars().eq([c])));
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
    fn the_command_definitions_are_valid() {
        Cli::command().debug_assert();
    }

    /// Returns all commands and subcommands: name, text after the help, and help of a width.
    fn pages(width: usize) -> Vec<(String, Option<String>, String)> {
        let mut program = Cli::command().term_width(width);
        program.build();
        let mut pages = Vec::new();
        let mut rest = vec![program];
        while let Some(command) = rest.pop() {
            rest.extend(command.get_subcommands().filter(|command| command.get_name() != "help").cloned());
            let after = command.get_after_help().map(ToString::to_string);
            let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
            let text = command.term_width(width).render_long_help().to_string();
            pages.push((name, after, text));
        }
        pages
    }

    #[test]
    fn help_fits_80_and_100_columns_and_breaks_no_example() {
        for width in [80, 100] {
            for (name, after, text) in pages(width) {
                let wide = text.lines().find(|line| line.chars().count() > width);
                assert_eq!(wide, None, "{name} at {width} columns");
                for line in after.iter().flat_map(|after| after.lines()).filter(|line| line.starts_with("  ")) {
                    assert!(text.lines().any(|shown| shown == line), "{name} at {width} columns breaks: {line}");
                }
            }
        }
    }

    #[test]
    fn every_command_has_examples() {
        for (name, after, _) in pages(100) {
            let depth = name.split_whitespace().count();
            let Some(after) = after else {
                assert!(depth > 2, "{name} has no examples");
                continue;
            };
            let examples = after.split("Examples:\n").nth(1).unwrap_or_default();
            let count = examples.lines().take_while(|line| line.starts_with("  ")).count();
            let least = if depth > 2 { 1 } else { 3 };
            assert!((least..=8).contains(&count), "{name} has {count} examples");
        }
    }

    #[test]
    fn own_options_and_job_options_may_be_mixed() {
        let (own, jobs) = split(
            &words("run --format json a.fio --rw=read -o x.md --seed=3 --bs 4k --dry-run --name j"),
            &Cli::command(),
        );
        assert_eq!(own, words("run --format json -o x.md --seed=3 --dry-run"));
        assert_eq!(jobs, words("a.fio --rw=read --bs 4k --name j"));
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
