//! `fathom plan`: finds volumes for a load, and ranks them by price.
//!
//! `plan` searches, `procedure::purchase` simulates the candidates, `report::plan` renders. This module parses the
//! need.

mod current;
mod emit;
mod need;
mod needs;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use units::{Problem, ProblemCode};

use clap::Args;
use device::HostTraces;
use job::ReplayLoop;
use live::EventLog;
use plan::Ranking;
use procedure::needs::GivenWords;
use procedure::plan_words::{PlanLoop, PlanWords};
use procedure::purchase::{PurchaseSearch, TrialOutcomes};
use procedure::trace_purchase::{PreparedTrace, TraceQuestion, is_trace};
use procedure::{ProcedureObserver, plan_words};
use report::{ResultDocument, ResultFormat};
use results::plan::{PlanResult, TracePlanResult};
use volume::catalogue;

use crate::args::{Details, JSON, MARKDOWN, OptionWord, ProgressStyle, TEXT, one_of};
use crate::catalog::today;
use crate::diagnostics::warning;
use crate::display::Display;
use crate::exit::Exit;
use crate::outputs::Output;
use crate::signals::Signals;
use crate::{rank, runners};

/// Plans for a need.
pub(crate) fn command(options: &PlanOptions) -> Result<Exit, Exit> {
    add_files(&options.words.catalog).map_err(Exit::invalid)?;
    if let Some(file) = &options.needs {
        return needs::command(options, file);
    }
    if !options.words.current.is_empty() {
        return current::command(options);
    }
    if let Some(name) = name(&options.words) {
        return of_trace(options, &name);
    }
    let words = &options.words;
    let file = || need::of_file(words.from.as_deref().unwrap_or_else(|| Path::new("")), words.device.as_deref());
    let need = plan_words::of_load(words, file).map_err(Exit::invalid)?;
    let mut files = Output::open(&options.output, ResultFormat::OF_PLAN).map_err(Exit::invalid)?;
    let signals = Signals::listen(Duration::ZERO)?;
    let runner = runners::models();
    let search = PurchaseSearch {
        need,
        runner: (!words.no_simulation).then_some(&runner),
        seed: options.seed.unwrap_or(1),
        control: &signals,
    };
    let mut outcomes = TrialOutcomes::default();
    if let Some(fleet) = rank::joined() {
        match fleet.gather(&search.simulate_shard(rank::shard(), runners::for_each)).map_err(Exit::environment)? {
            None => return Ok(Exit::Good),
            Some(all) => {
                for (rank, others) in (0..).zip(all) {
                    match others {
                        Some(others) => outcomes.extend(others),
                        // What has no outcome is simulated below.
                        None => {
                            let what = format!("{} is lost: rank 0 simulates its volumes", fleet.label(rank));
                            warning(&Problem::warning(ProblemCode::Connection, what));
                        }
                    }
                }
            }
        }
    }
    let report = PlanResult { today: Some(today()), ..search.conclude(outcomes) };
    if let Some(signal) = signals.end() {
        return Ok(Exit::Signal(signal));
    }
    signals.conclude();
    let met = match exit(&report.ranking) {
        Exit::Good if report.doubt.is_some() => Exit::Distrust,
        met => met,
    };
    let document = ResultDocument::Plan(&report, words.show_math);
    Ok(emit::deliver(options, &mut files, document).max(met))
}

/// Adds the files of `--catalog` to the catalogue.
fn add_files(paths: &[PathBuf]) -> Result<(), Vec<Problem>> {
    let (mut files, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        let name = path.to_string_lossy();
        if catalogue::file(&name).is_none_or(|file| file != name) {
            let what = format!("--catalog {name}: not the path of a volume file");
            let help = "its name ends in .toml and has no `,` and no `#`";
            problems.push(Problem::error(ProblemCode::Plan, what).help(help));
            continue;
        }
        match runners::read_volumes(&name) {
            Ok(text) => files.push((name.into_owned(), text)),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { catalogue::add_files(&files) } else { Err(problems) }
}

pub(crate) const HELP: &str = "\
Rates and latencies are per machine. For each volume type in the catalogue, the plan finds the smallest \
available size and the lowest provisioned performance that sustain the load, simulates them, and ranks \
them by price in US dollars. Without --bs, IOPS are counted in operations of 4 KiB and throughput in \
operations of 1 MiB. With a bound on latency, arrivals are random (Poisson).

Headroom applies to IOPS, throughput and bounds on latency: with 20%, a volume sustains 1.2 times each \
rate, and its latency at the rate itself is at most the bound divided by 1.2. Capacity has no headroom. \
Unpublished prices stay unknown. A requirement that no volume meets is named. A bound on latency is \
answered by volumes of measured or published latency; those of assumed latency are listed apart.

Several volumes are striped (RAID 0) where they cost at least 1% less than fewer, or where one does not \
meet the need. With --vcpus, --memory, --arch or --family, the cheapest machine is planned together with its \
volumes; machines with processor credits count only with --family burstable.

A trace (of `fathom capture`, fio, blktrace and others) is replayed on every volume: in virtual time, its \
busiest hour unless --full is given. Bounds then apply to the latencies seen by the application, and with \
20% headroom they hold for the trace replayed 1.2 times as fast.

Workloads: oltp, checkpoint-writes, dataloader, model-weights, streaming, boot, each with its keys: \
--workload checkpoint-writes,model=140GiB,interval=30min,share=5%

NEEDS.toml has a table for each need, [need.NAME], and [defaults] for all. Their keys are the options above, \
such as iops = \"15k\". Options on the command line replace those of every need.

Examples:
  fathom plan --iops 15k --capacity 1TiB
  fathom plan --iops 50k --bs 8k --read 70% --latency 1ms --provider aws,gcp
  fathom plan --iops 120k --capacity 8TiB --vcpus 16 --near frankfurt
  fathom plan --from db.trace --p99 2ms -o plan.html
  fathom plan need.toml --region us-east-1 -o plan.html
  fathom plan --iops 15k --provider aws --emit terraform > disk.tf
  fathom plan --current aws/gp3,size=2TiB,iops=9000 --iops 12k
  fathom plan --current terraform.tfstate

Exit codes: 0 volumes meet all needs, 1 none meets one of them, 2 unreadable input, 3 I/O error, 4 \
unknown: the measured load ran at a limit, or only an assumed latency keeps a bound";

/// Options of `fathom plan`.
#[derive(Clone, Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(crate) struct PlanOptions {
    // Before the words, which take the options from the matches.
    #[command(flatten)]
    given: GivenWords,
    #[command(flatten)]
    words: PlanWords,
    /// File with several needs, whose keys are these options; options replace those of each need
    #[arg(value_name = "NEEDS.toml")]
    needs: Option<PathBuf>,
    /// Seed for all random choices [default: 1]
    #[arg(long, value_name = "N", help_heading = "Calculation")]
    seed: Option<u64>,
    /// Format of standard output
    #[arg(long, value_parser = one_of(FORMATS), default_value = "text", help_heading = "Output")]
    format: ResultFormat,
    /// Print declarations of the chosen volumes instead, and the answer on standard error
    #[arg(long, value_parser = one_of(EMITTED), value_name = "LANGUAGE", conflicts_with = "format", help_heading = "Output")]
    emit: Option<ResultFormat>,
    /// Write additional output to FILE: .html .json .csv .md .txt .svg .tf .yaml (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Vec<PathBuf>,
    #[command(flatten)]
    details: Details,
}

const FORMATS: &[OptionWord<ResultFormat>] =
    &[TEXT, MARKDOWN, ("csv", "One line for each volume", ResultFormat::Csv), JSON];

const EMITTED: &[OptionWord<ResultFormat>] = &[
    ("terraform", "Terraform (HCL), for aws, azure and gcp", ResultFormat::Terraform),
    ("kubernetes", "StorageClass, VolumeAttributesClass and PersistentVolumeClaim", ResultFormat::Kubernetes),
];

/// Provisioned values are found to this fraction.
const RESOLUTION: f64 = 0.005;

/// Returns the name of `--from`, if that file is a trace.
fn name(words: &PlanWords) -> Option<String> {
    let name = words.from.as_ref()?.to_str()?;
    is_trace(name, &HostTraces).then(|| name.to_owned())
}

/// Replays the trace on all candidates.
fn of_trace(options: &PlanOptions, name: &str) -> Result<Exit, Exit> {
    if rank::joined().is_some() {
        return Err(Exit::invalid(
            Problem::error(ProblemCode::Ranks, "a plan for a trace runs on one host").help("use `fathom plan`"),
        ));
    }
    let (question, dependence) = question(&options.words, options.seed).map_err(Exit::invalid)?;
    let mut files = Output::open(&options.output, ResultFormat::OF_PLAN).map_err(Exit::invalid)?;
    let signals = Signals::listen(Duration::ZERO)?;
    let read = replayed(name, (options.words.full, dependence), question, &signals).map_err(Exit::invalid)?;
    let Some(report) = read else { return Ok(Exit::Signal(signals.end().unwrap_or(0))) };
    if let Some(signal) = signals.end() {
        return Ok(Exit::Signal(signal));
    }
    signals.conclude();
    let delivered = emit::deliver(options, &mut files, ResultDocument::TracePlan(&report));
    Ok(delivered.max(exit(&report.ranking)))
}

/// Returns what the words ask of a trace, and its loop.
fn question(words: &PlanWords, seed: Option<u64>) -> Result<(TraceQuestion, ReplayLoop), Vec<Problem>> {
    let (need, bounds) = plan_words::of_trace(words)?;
    let dependence = match words.replay_loop {
        PlanLoop::Open => ReplayLoop::Open,
        PlanLoop::Closed => ReplayLoop::Closed,
    };
    if dependence == ReplayLoop::Closed && bounds.tightest().is_none() {
        let what = "--replay-loop closed: a closed loop cannot fall behind";
        let help = "bound its latency, for example with --p99 2ms";
        return Err(vec![Problem::error(ProblemCode::Plan, what).help(help)]);
    }
    Ok((TraceQuestion { need, bounds, seed: seed.unwrap_or(1), resolution: RESOLUTION }, dependence))
}

/// Reads a trace and replays it on all candidates; `None` if a signal ends it.
fn replayed(
    name: &str,
    part: (bool, ReplayLoop),
    question: TraceQuestion,
    signals: &Signals,
) -> Result<Option<TracePlanResult>, Problem> {
    let read = PreparedTrace::read(name, part, Arc::new(HostTraces), |_| signals.end().is_none())?;
    let Some(trace) = read else { return Ok(None) };
    let runner = runners::models().with_traces(trace.traces());
    let display = Mutex::new(Display::new(ProgressStyle::Auto, EventLog::none()));
    let on_progress = |done: usize, all: usize| {
        let mut display = display.lock().unwrap_or_else(PoisonError::into_inner);
        display.show_status(&format!("replayed on {done} of {all} types of volume"));
    };
    let report = trace.plan(question, &runner, signals, (runners::for_each, &on_progress));
    display.into_inner().unwrap_or_else(PoisonError::into_inner).clear();
    Ok(Some(report))
}

/// Returns 1 if no volume meets the need, and 4 if only assumed latencies say that some do.
fn exit(ranking: &Ranking) -> Exit {
    match (ranking.meeting.is_empty(), ranking.may_meet.is_empty()) {
        (false, _) => Exit::Good,
        (true, false) => Exit::Distrust,
        (true, true) => Exit::Failed,
    }
}
