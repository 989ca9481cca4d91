//! Options of the program, as opposed to options of jobs.

use units::{Nanos, ProblemCode};

use crate::debug::{self, DebugOptions};
use crate::read::Findings;
use crate::read::number::{self, NumberUnit};

/// A format of fio's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutputFormat {
    /// Fields separated by `;`.
    Terse,
    Json,
    /// JSON with histograms.
    JsonPlus,
    /// Human-readable text.
    Normal,
}

/// When to show the estimated time left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eta {
    /// On a terminal.
    #[default]
    Auto,
    Always,
    Never,
}

/// What `--idle-prof` reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleProfile {
    /// The unit of work, without a run.
    Calibrate,
    /// All CPUs together.
    System,
    /// Each CPU too.
    Processors,
}

/// fio's options of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostOptions {
    /// `--output`: a file for the results, `None` for standard output.
    pub output: Option<String>,
    /// `--output-format` and `--minimal`, without duplicates and in the order in which fio prints them.
    pub output_formats: Vec<OutputFormat>,
    /// `--terse-version`, from 2 to 5.
    pub terse_version: u32,
    /// `--bandwidth-log`: prefix of logs of the total bandwidth of all jobs.
    pub bandwidth_log: Option<String>,
    /// `--inflate-log`: compressed log to print.
    pub inflate_log: Option<String>,
    /// `--status-interval`: interval between intermediate results.
    pub status_interval: Option<Nanos>,
    /// `--eta`.
    pub eta: Eta,
    /// `--eta-newline`: interval after which the estimate starts a new line.
    pub eta_newline: Option<Nanos>,
    /// `--eta-interval`: interval between estimates.
    pub eta_interval: Nanos,
    /// `--parse-only`.
    pub parse_only: bool,
    /// `--showcmd`.
    pub showcmd: bool,
    /// `--readonly`: refuse jobs that write.
    pub readonly: bool,
    /// `--section`: names of the sections to run; empty for all.
    pub sections: Vec<String>,
    /// `--aux-path`: directory for the files that a run leaves behind.
    pub aux_path: Option<String>,
    /// `--cmdhelp`: name of the job option to describe, or `all`.
    pub cmdhelp: Option<String>,
    /// `--enghelp`: engine to describe, or `engine,option`; empty to list the engines.
    pub enghelp: Option<String>,
    /// `--merge-blktrace-only`: write the merged traces, and run nothing.
    pub merge_blktrace_only: bool,
    /// `--warnings-fatal`.
    pub warnings_fatal: bool,
    /// `--profile`: name of the profile whose jobs run.
    pub profile: Option<String>,
    /// `--idle-prof`.
    pub idle_prof: Option<IdleProfile>,
    /// `--debug`.
    pub debug: DebugOptions,
    /// `--version`.
    pub version: bool,
    /// `--help`.
    pub help: bool,
}

/// Whether a host option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arity {
    None,
    Required,
    Optional,
}

/// Applies a value to the host options; the text is empty if no value was given.
type Set = fn(&mut HostOptions, &str, &mut Findings);

/// Effect of a host option.
pub(crate) enum Effect {
    /// Applies the value.
    Set(Set),
    /// None: fio uses the option, Fathom has no need of it.
    Nothing,
    /// None: not supported yet, so an error.
    NotYet,
}

/// A host option.
pub(crate) struct HostSpec {
    pub(crate) name: &'static str,
    /// Placeholder of the value in help; empty if the option takes none.
    pub(crate) argument: &'static str,
    /// Description of one sentence.
    pub(crate) doc: &'static str,
    pub(crate) arity: Arity,
    pub(crate) effect: Effect,
}

const fn flag(name: &'static str, doc: &'static str, set: Set) -> HostSpec {
    HostSpec { name, argument: "", doc, arity: Arity::None, effect: Effect::Set(set) }
}

const fn value(name: &'static str, argument: &'static str, doc: &'static str, set: Set) -> HostSpec {
    HostSpec { name, argument, doc, arity: Arity::Required, effect: Effect::Set(set) }
}

const fn optional(name: &'static str, argument: &'static str, doc: &'static str, set: Set) -> HostSpec {
    HostSpec { name, argument, doc, arity: Arity::Optional, effect: Effect::Set(set) }
}

const fn idle(name: &'static str, argument: &'static str, doc: &'static str, arity: Arity) -> HostSpec {
    HostSpec { name, argument, doc, arity, effect: Effect::Nothing }
}

const fn later(name: &'static str, arity: Arity) -> HostSpec {
    HostSpec { name, argument: "", doc: "Not supported yet.", arity, effect: Effect::NotYet }
}

/// All options of the program.
pub(crate) static HOST_OPTIONS: &[HostSpec] = &[
    value("output", "FILE", "Write results to FILE.", |h, text, _| h.output = Some(text.to_owned())),
    value("output-format", "LIST", "Output formats: normal, json, json+, terse.", output_format),
    flag("minimal", "The same as --output-format=terse.", |h, _, _| h.output_formats = vec![OutputFormat::Terse]),
    flag("append-terse", "Add terse output.", |h, _, _| add_format(h, OutputFormat::Terse)),
    value("terse-version", "N", "Version of the terse format, from 2 to 5.", terse_version),
    optional(
        "bandwidth-log",
        "PREFIX",
        "Write aggregate bandwidth logs of all jobs (default prefix: agg).",
        |h, text, _| {
            h.bandwidth_log = Some(if text.is_empty() { "agg" } else { text }.to_owned());
        },
    ),
    value("inflate-log", "FILE", "Print a compressed log.", |h, text, _| h.inflate_log = Some(text.to_owned())),
    value("status-interval", "TIME", "Interval between status outputs.", status_interval),
    value("eta", "WHEN", "Show the ETA: always, never, auto.", |h, text, _| {
        h.eta = match text {
            "always" => Eta::Always,
            "never" => Eta::Never,
            _ => Eta::Auto,
        };
    }),
    value("eta-newline", "TIME", "Interval between new ETA lines.", |h, text, findings| {
        h.eta_newline = time(text, findings);
    }),
    value("eta-interval", "TIME", "Interval between ETA updates.", eta_interval),
    flag("parse-only", "Parse the jobs without running them.", |h, _, _| h.parse_only = true),
    flag("showcmd", "Print job files as command lines.", |h, _, _| h.showcmd = true),
    flag("readonly", "Refuse jobs that write.", |h, _, _| h.readonly = true),
    value("section", "NAME", "Run only this section (repeatable).", |h, text, _| h.sections.push(text.to_owned())),
    value("aux-path", "DIR", "Directory for files that a run creates.", |h, text, _| {
        h.aux_path = Some(text.to_owned());
    }),
    optional("cmdhelp", "OPTION", "Describe one job option, or all.", |h, text, _| {
        h.cmdhelp = Some(if text.is_empty() { "all" } else { text }.to_owned());
    }),
    optional("enghelp", "ENGINE", "Describe an engine, or engine,option.", |h, text, _| {
        h.enghelp = Some(text.to_owned());
    }),
    flag("warnings-fatal", "Treat warnings as errors.", |h, _, _| h.warnings_fatal = true),
    value("idle-prof", "MODE", "Report CPU idleness: system, percpu, calibrate.", idle_prof),
    flag("version", "Print the version.", |h, _, _| h.version = true),
    flag("help", "Print this help.", |h, _, _| h.help = true),
    idle("max-jobs", "N", "No effect: there is no limit.", Arity::Required),
    idle("alloc-size", "KB", "No effect: memory is allocated as needed.", Arity::Required),
    value(
        "debug",
        "LIST",
        "Print debug messages: process, file, io, verify, parse, rate, all; job:N for one job.",
        |h, text, _| {
            debug::read(&mut h.debug, text);
        },
    ),
    value("profile", "NAME", "Run the jobs of a profile: tiobench, act.", |h, text, _| {
        h.profile = Some(text.to_owned());
    }),
    later("latency-log", Arity::Required),
    flag("merge-blktrace-only", "Write merged traces without running jobs.", |h, _, _| h.merge_blktrace_only = true),
    later("cpuclock-test", Arity::None),
    later("crctest", Arity::Optional),
    later("server", Arity::Optional),
    later("daemonize", Arity::Required),
    later("client", Arity::Required),
    later("remote-config", Arity::Required),
    later("trigger-file", Arity::Required),
    later("trigger-timeout", Arity::Required),
    later("trigger", Arity::Required),
    later("trigger-remote", Arity::Required),
];

fn add_format(host: &mut HostOptions, format: OutputFormat) {
    host.output_formats.push(format);
    host.output_formats.sort_unstable();
    host.output_formats.dedup();
}

fn output_format(host: &mut HostOptions, text: &str, findings: &mut Findings) {
    host.output_formats.clear();
    for word in text.split(',') {
        match word {
            "terse" | "minimal" => add_format(host, OutputFormat::Terse),
            "json" => add_format(host, OutputFormat::Json),
            "json+" => add_format(host, OutputFormat::JsonPlus),
            "normal" => add_format(host, OutputFormat::Normal),
            _ => {
                findings
                    .fault(0..text.len(), ProblemCode::UnknownValue, format!("`{word}` is not an output format"))
                    .help("one or more of normal, json, json+, terse, separated by `,`");
            }
        }
    }
}

fn terse_version(host: &mut HostOptions, text: &str, findings: &mut Findings) {
    match text.trim().parse() {
        Ok(version @ 2..=5) => host.terse_version = version,
        _ => {
            findings
                .fault(0..text.len(), ProblemCode::UnknownValue, format!("unknown terse version `{text}`"))
                .help("from 2 to 5");
        }
    }
}

fn time(text: &str, findings: &mut Findings) -> Option<Nanos> {
    number::read(text, NumberUnit::Seconds, findings).map(number::micros)
}

fn status_interval(host: &mut HostOptions, text: &str, findings: &mut Findings) {
    host.status_interval = time(text, findings);
    if host.status_interval.is_some_and(|interval| interval < Nanos::from_millis(1)) {
        findings
            .fault(0..text.len(), ProblemCode::OutOfRange, "the interval is shorter than 1 ms")
            .help("write for example `5s`");
    }
}

fn eta_interval(host: &mut HostOptions, text: &str, findings: &mut Findings) {
    let Some(interval) = time(text, findings) else { return };
    if interval < Nanos::from_millis(250) {
        findings
            .fault(0..text.len(), ProblemCode::OutOfRange, "the interval is shorter than 250 ms")
            .help("write for example `1s`");
    }
    host.eta_interval = interval;
}

fn idle_prof(host: &mut HostOptions, text: &str, findings: &mut Findings) {
    host.idle_prof = match text {
        "calibrate" => Some(IdleProfile::Calibrate),
        "system" => Some(IdleProfile::System),
        "percpu" => Some(IdleProfile::Processors),
        _ => {
            findings
                .fault(0..text.len(), ProblemCode::UnknownValue, format!("`{text}` is not a valid value"))
                .help("one of system, percpu, calibrate");
            None
        }
    };
}
