//! `fathom explain`: explains what limited a result from any source, and what to change.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use device::HostTraces;
use job::ReplayLoop;
use procedure::expected::ExpectedVolume;
use procedure::explanation::ExplanationQuestion;
use procedure::trace_explanation::explain_trace;
use procedure::trace_purchase::{PreparedTrace, is_trace, read_trace};
use record::{Claim, Input, InputResults};
use report::{ResultDocument, ResultFormat};
use runner::Seeds;

use crate::args::{Details, OptionWord, PAGES, one_of};
use crate::exit::Exit;
use crate::outputs::{Output, deliver_as, print_text};
use crate::run_argument::{is_file, resolve_all};
use crate::signals::Signals;
use crate::{diagnostics, runners};
use analyse::Database;
use clap::Args;
use device::input_file;
use units::{Place, Problem, ProblemCode, ProblemLevel};

/// Reads all inputs, explains them, and reports unreadable parts as warnings.
pub(crate) fn command(options: &ExplainOptions) -> Result<Exit, Exit> {
    if options.findings {
        return Ok(print_text(&report::findings_markdown()));
    }
    if let (Some(from), Some(volume)) = (&options.from, &options.volume) {
        return replayed(options, &from.to_string_lossy(), volume);
    }
    let (traces, inputs): (Vec<PathBuf>, Vec<PathBuf>) = options
        .inputs
        .iter()
        .cloned()
        .partition(|path| path.is_file() && is_trace(&path.to_string_lossy(), &HostTraces));
    if let ([trace], [], Some(volume)) = (&traces[..], &inputs[..], &options.volume) {
        return replayed(options, &trace.to_string_lossy(), volume);
    }
    let (question, unreadable) = read(options, &inputs, !traces.is_empty())?;
    let mut files = Output::open(&options.output, ResultFormat::OF_FINDINGS).map_err(Exit::invalid)?;
    let signals = Signals::listen(Duration::ZERO)?;
    let mut explained = question.explain(&runners::models(), &signals);
    for name in traces.iter().map(|path| path.to_string_lossy()) {
        let read = read_trace(&name, &HostTraces, |_| signals.end().is_none()).map_err(Exit::invalid)?;
        explained.extend(read.map(|read| explain_trace(&name, &read)));
    }
    if let Some(signal) = signals.end() {
        return Ok(Exit::Signal(signal));
    }
    signals.conclude();
    diagnostics::print(&unreadable);
    Ok(deliver_as(&mut files, ResultDocument::Explanations(&explained), options.format, options.details))
}

/// Explains what limits a trace on a volume, by a replay.
fn replayed(options: &ExplainOptions, name: &str, volume: &str) -> Result<Exit, Exit> {
    let expected = ExpectedVolume::look_up(volume, volume::catalogue::no_files).map_err(Exit::invalid)?;
    let mut files = Output::open(&options.output, ResultFormat::OF_FINDINGS).map_err(Exit::invalid)?;
    let signals = Signals::listen(Duration::ZERO)?;
    let how = (options.full, ReplayLoop::Open);
    let read = PreparedTrace::read(name, how, Arc::new(HostTraces), |_| signals.end().is_none());
    let trace = read.map_err(Exit::invalid)?;
    let explained = trace.and_then(|trace| {
        let runner = runners::models().with_traces(trace.traces());
        trace.explain(expected.words(), &runner, Seeds::REPEATED, &signals)
    });
    match (signals.end(), explained) {
        (Some(signal), _) => Ok(Exit::Signal(signal)),
        (None, Some(explained)) => {
            signals.conclude();
            Ok(deliver_as(&mut files, ResultDocument::Explanations(&[explained]), options.format, options.details))
        }
        (None, None) => Err(Exit::invalid(
            Problem::error(ProblemCode::Trace, format!("{name} cannot be replayed on {volume}"))
                .help("give the volume the size that the trace needs: size=SIZE"),
        )),
    }
}

/// Returns an error about a record without results, of which nothing can be said.
fn without_results((name, input): &NamedInput) -> Option<Problem> {
    let Input::Run(run) = input else { return None };
    run.jobs.is_empty().then(|| {
        Problem::error(ProblemCode::NoResults, format!("{name}: no result: the run ended before any job finished"))
            .help("give another run")
    })
}

/// Reads inputs, claims and the volume. Also returns warnings about unreadable parts. Prints all errors together.
fn read(
    options: &ExplainOptions,
    paths: &[PathBuf],
    has_traces: bool,
) -> Result<(ExplanationQuestion, Vec<Problem>), Exit> {
    let mut problems = Vec::new();
    if paths.is_empty() && options.claim.is_empty() && !has_traces {
        let remedy = "give a record, the output of fio or `iostat -x`, or figures: --claim iops=10000,lat=3ms,qd=32";
        problems.push(Problem::error(ProblemCode::MissingArgument, "nothing to explain").help(remedy));
    }
    let (mut inputs, mut unreadable) = (Vec::new(), Vec::new());
    for path in paths {
        match read_inputs(path) {
            Ok((read, warnings)) => {
                problems.extend(read.iter().filter_map(without_results));
                inputs.extend(read);
                unreadable.extend(warnings);
            }
            Err(problem) => problems.push(problem),
        }
    }
    let mut claims = Vec::new();
    for text in &options.claim {
        match Claim::parse(text) {
            Ok(claim) => claims.push((text.clone(), claim)),
            Err(found) => problems.extend(found),
        }
    }
    let mut expected = None;
    if let Some(words) = &options.volume {
        match ExpectedVolume::look_up(words, runners::read_volumes) {
            Ok(volume) => expected = Some(volume),
            Err(found) => problems.extend(found),
        }
    }
    problems.extend(options.device.iter().filter_map(|device| unknown_device(&inputs, device)));
    if problems.is_empty() {
        let (database, device) = (options.database, options.device.clone());
        return Ok((ExplanationQuestion { inputs, claims, expected, device, database }, unreadable));
    }
    Err(Exit::refused(problems))
}

/// Returns an error about a device that the counters do not have.
fn unknown_device(inputs: &[NamedInput], device: &str) -> Option<Problem> {
    let counters =
        inputs.iter().filter_map(|(_, input)| if let Input::Iostat(iostat) = input { Some(iostat) } else { None });
    let mut known: Vec<&str> = counters
        .flat_map(|iostat| &iostat.reports)
        .flat_map(|report| &report.devices)
        .map(|of| of.name.as_str())
        .collect();
    if known.contains(&device) {
        return None;
    }
    known.sort_unstable();
    known.dedup();
    let remedy = match known.is_empty() {
        true => "omit --device: only device counters have names".to_owned(),
        false => format!("choose one of {}", known.join(", ")),
    };
    let message = format!("--device {device}: no such device in the input");
    Some(Problem::error(ProblemCode::NoSuchDevice, message).help(remedy))
}

/// An input and its name.
type NamedInput = (String, Input);

/// Reads all inputs in a file, with warnings about its unreadable parts; or a saved run, or all runs of a series.
fn read_inputs(path: &Path) -> Result<(Vec<NamedInput>, Vec<Problem>), Problem> {
    // A path that is not UTF-8 cannot name a saved run.
    if let Some(which) = path.to_str().filter(|which| !is_file(which)) {
        let unknown = |problem: Problem| {
            let place = Place::on_command_line(which, 1, which.chars().count());
            Problem { code: ProblemCode::UnreadableInput, ..problem }.at(place).help("give a file or a saved run")
        };
        let resolved = resolve_all(which).map_err(unknown)?;
        let runs = resolved.into_iter().map(|one| (one.name, Input::Run(Box::new(one.run))));
        return Ok((runs.collect(), Vec::new()));
    }
    let (file, number) = input_file::numbered(path);
    let (name, bytes) = (input_file::name(file), input_file::bytes(file)?);
    if number.is_some() {
        let input = record::read_input(&name, &bytes, number)?;
        return Ok((vec![(input_file::name(path), input)], Vec::new()));
    }
    let InputResults { parts, unreadable } = record::read_inputs(&name, &bytes)?;
    let is_only = parts.len() == 1;
    let named = parts.into_iter().enumerate().map(|(index, part)| {
        let numbered = || match &part.input {
            Input::Run(run) if run.repeat.is_some() => format!("{name}#{}", index + 1),
            _ => format!("{name}#{} (line {})", index + 1, part.line),
        };
        (if is_only { name.clone() } else { numbered() }, part.input)
    });
    let warning = |problem: Problem| Problem { level: ProblemLevel::Warning, ..problem };
    Ok((named.collect(), unreadable.into_iter().map(warning).collect()))
}

/// Options of `fathom explain`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ExplainOptions {
    /// Result: a record, a trace, sampled counters, Prometheus metrics, fio logs, or the output of fio, iostat, sar,
    /// vmstat -d, SPDK's perf, kbench or PostgreSQL's pg_stat_io; - for standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Describe all findings in Markdown
    #[arg(long, help_heading = "Advice")]
    findings: bool,
    /// Figures from another source: iops=10000,lat=3ms,qd=4,jobs=4,bs=4k, or iostat's columns: r/s=3500,r_await=1.00,aqu-sz=3.5
    /// (repeatable)
    #[arg(long, value_name = "FIGURES", help_heading = "Evidence")]
    claim: Vec<String>,
    /// Replay this trace on the volume, in virtual time
    #[arg(long, value_name = "TRACE", requires = "volume", conflicts_with_all = ["inputs", "claim"], help_heading = "Evidence")]
    from: Option<PathBuf>,
    /// Replay all of the trace instead of its busiest hour
    #[arg(long, requires = "from", help_heading = "Evidence")]
    full: bool,
    /// Volume that was measured: PROVIDER/TYPE[@EDITION][,key=value]...
    #[arg(long, value_name = "VOLUME", value_parser = clap::builder::NonEmptyStringValueParser::new(), help_heading = "Evidence")]
    volume: Option<String>,
    /// Explain this device of the input, on the volume of --volume [default: the busiest disk]
    #[arg(long, value_name = "NAME", help_heading = "Evidence")]
    device: Option<String>,
    /// Print the settings of this database that determine its queue depth
    #[arg(long, value_parser = one_of(DATABASES), value_name = "NAME", help_heading = "Advice")]
    database: Option<Database>,
    /// Format of standard output
    #[arg(long, value_parser = one_of(PAGES), default_value = "text", help_heading = "Output")]
    format: ResultFormat,
    /// Write additional output to FILE: .json .md .txt (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Vec<PathBuf>,
    #[command(flatten)]
    details: Details,
}

const DATABASES: &[OptionWord<Database>] = &[
    ("postgresql postgres", "", Database::PostgreSql),
    ("mysql innodb", "", Database::MySql),
    ("rocksdb", "", Database::RocksDb),
    ("etcd", "", Database::Etcd),
];
