//! `fathom plan NEEDS.toml`: plans all needs of a file.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use device::input;
use job::ReplayLoop;
use live::EventLog;
use plan::workload::Derived;
use procedure::needs::{NamedNeed, NeedsSearch};
use procedure::trace_purchase::TraceQuestion;
use procedure::{ProcedureObserver, needs, plan_words};
use report::{ResultDocument, ResultFormat};
use results::plan::TracePlanResult;
use results::plan::needs::{NeedPlan, NeedStatus, NeedsResult, PlannedNeed};
use units::{Problem, ProblemCode, grouped};

use super::{PlanOptions, emit, name, need, question, replayed};
use crate::args::ProgressStyle;
use crate::display::Display;
use crate::exit::Exit;
use crate::outputs::Output;
use crate::signals::Signals;
use crate::{rank, runners};

/// What is planned for a need.
enum NeedQuestion {
    Load(Box<Derived>),
    Trace(String, (bool, ReplayLoop), Box<TraceQuestion>),
}

/// Plans all needs of a file.
pub(super) fn command(options: &PlanOptions, path: &Path) -> Result<Exit, Exit> {
    if rank::joined().is_some() {
        let problem = Problem::error(ProblemCode::Ranks, "a plan of several needs runs on one host");
        return Err(Exit::invalid(problem.help("use `fathom plan`")));
    }
    let file = path.display().to_string();
    let named = read(path, &file, options).map_err(Exit::invalid)?;
    let questions = questions(&named, options.seed).map_err(Exit::invalid)?;
    let mut files = Output::open(&options.output, ResultFormat::OF_NEEDS).map_err(Exit::invalid)?;
    let signals = Signals::listen(Duration::ZERO)?;
    let plans = plans(options, &named, questions, &signals).map_err(Exit::invalid)?;
    if let Some(signal) = signals.end() {
        return Ok(Exit::Signal(signal));
    }
    signals.conclude();
    let needs = named.into_iter().zip(plans).map(|(need, plan)| PlannedNeed { name: need.name, plan });
    let result = NeedsResult { file, needs: needs.collect() };
    // What is known not to suffice matters more than what is unknown.
    let met = match result.needs.iter().map(PlannedNeed::status).min() {
        Some(NeedStatus::Unmet) => Exit::Failed,
        Some(NeedStatus::Unknown) => Exit::Distrust,
        Some(NeedStatus::Met) | None => Exit::Good,
    };
    let document = ResultDocument::Needs(&result, options.words.show_math);
    Ok(emit::deliver(options, &mut files, document).max(met))
}

/// Reads the needs of a file.
fn read(path: &Path, file: &str, options: &PlanOptions) -> Result<Vec<NamedNeed>, Vec<Problem>> {
    let help = "pass a TOML file with a table [need.NAME] for each need";
    let bytes = input::read(path, input::SMALL).map_err(|error| {
        Problem::error(input::code_of(&error, ProblemCode::UnreadableInput), format!("{file}: {error}")).help(help)
    })?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Problem::error(ProblemCode::Encoding, format!("{file} is not UTF-8 text")).help(help))?;
    needs::read(file, &text, &options.given)
}

/// Returns what is planned for each need, or the problems of all.
fn questions(named: &[NamedNeed], seed: Option<u64>) -> Result<Vec<NeedQuestion>, Vec<Problem>> {
    let mut problems: Vec<Problem> = Vec::new();
    let mut questions = Vec::new();
    for one in named {
        let words = &one.words;
        let found = match name(words) {
            Some(trace) => question(words, seed)
                .map(|(question, dependence)| NeedQuestion::Trace(trace, (words.full, dependence), Box::new(question))),
            None => {
                let file =
                    || need::of_file(words.from.as_deref().unwrap_or_else(|| Path::new("")), words.device.as_deref());
                plan_words::of_load(words, file).map(|derived| NeedQuestion::Load(Box::new(derived)))
            }
        };
        match found {
            Ok(question) => questions.push(question),
            Err(found) => {
                // A default or an option is a problem of every need.
                let new = one.located(found).into_iter().filter(|problem| !problems.contains(problem));
                let new: Vec<Problem> = new.collect();
                problems.extend(new);
            }
        }
    }
    if problems.is_empty() { Ok(questions) } else { Err(problems) }
}

/// Plans loads in parallel, and traces one after the other, each in parallel. The plans are incomplete after a signal.
fn plans(
    options: &PlanOptions,
    named: &[NamedNeed],
    questions: Vec<NeedQuestion>,
    signals: &Signals,
) -> Result<Vec<NeedPlan>, Vec<Problem>> {
    let mut loads = Vec::new();
    let mut traces: Vec<Option<TracePlanResult>> = Vec::new();
    for (one, question) in named.iter().zip(questions) {
        match question {
            NeedQuestion::Load(derived) => {
                loads.push(*derived);
                traces.push(None);
            }
            NeedQuestion::Trace(trace, part, question) => {
                let replayed = replayed(&trace, part, *question, signals);
                let Some(plan) = replayed.map_err(|problem| one.located(vec![problem]))? else { return Ok(Vec::new()) };
                traces.push(Some(plan));
            }
        }
    }
    let runner = runners::models();
    let display = Mutex::new(Display::new(ProgressStyle::Auto, EventLog::none()));
    let all = grouped(loads.len() as u64);
    let on_progress = |done: usize| {
        let mut display = display.lock().unwrap_or_else(PoisonError::into_inner);
        display.show_status(&format!("planned {} of {all} needs", grouped(done as u64)));
    };
    let search = NeedsSearch {
        runner: (!options.words.no_simulation).then_some(&runner),
        seed: options.seed.unwrap_or(1),
        control: signals,
        parallel: runners::for_each,
        on_progress: &on_progress,
    };
    let mut planned = search.plan(&loads).into_iter();
    display.into_inner().unwrap_or_else(PoisonError::into_inner).clear();
    let plans = traces.into_iter().filter_map(|trace| match trace {
        Some(plan) => Some(NeedPlan::Trace(Box::new(plan))),
        None => planned.next().map(|plan| NeedPlan::Load(Box::new(plan))),
    });
    Ok(plans.collect())
}
