//! Plans for a load that is known as a trace.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use device::HostTraces;
use job::ReplayLoop;
use live::EventLog;
use procedure::ProcedureObserver;
use procedure::plan_words::{self, PlanLoop};
use procedure::trace_purchase::{PreparedTrace, TraceQuestion, is_trace};
use report::{ResultDocument, ResultFormat};

use super::args::PlanOptions;
use crate::args::ProgressStyle;
use crate::display::Display;
use crate::exit::Exit;
use crate::outputs::{self, Output};
use crate::signals::Signals;
use crate::{parallel, rank, runners};

/// Provisioned values are found to this fraction.
const RESOLUTION: f64 = 0.005;

/// Returns the name of `--from`, if that file is a trace.
pub(super) fn name(options: &PlanOptions) -> Option<String> {
    let name = options.words.from.as_ref()?.to_str()?;
    is_trace(name, &HostTraces).then(|| name.to_owned())
}

/// Replays the trace on all candidates.
pub(super) fn command(options: &PlanOptions, name: &str) -> Result<Exit, Exit> {
    if rank::joined().is_some() {
        return Err(Exit::usage("a plan for a trace runs on one host\nhelp: use `fathom plan`"));
    }
    let (need, bounds) = plan_words::of_trace(&options.words).map_err(Exit::invalid)?;
    let dependence = match options.words.replay_loop {
        PlanLoop::Open => ReplayLoop::Open,
        PlanLoop::Closed => ReplayLoop::Closed,
    };
    if dependence == ReplayLoop::Closed && bounds.tightest().is_none() {
        let remedy = "help: bound its latency, for example with --p99 2ms";
        return Err(Exit::usage(format!("--replay-loop closed: a closed loop never falls behind\n{remedy}")));
    }
    let mut files = Output::open(&options.output, ResultFormat::OF_PLAN).map_err(Exit::usage)?;
    let signals = Signals::listen(Duration::ZERO)?;
    let read =
        PreparedTrace::read(name, (options.words.full, dependence), Arc::new(HostTraces), |_| signals.end().is_none());
    let Some(trace) = read.map_err(Exit::usage)? else { return Ok(Exit::Signal(signals.end().unwrap_or(0))) };
    let seed = options.seed.unwrap_or(1);
    let question = TraceQuestion { need, bounds, seed, resolution: RESOLUTION };
    let runner = runners::models().with_traces(trace.traces());
    let display = Mutex::new(Display::new(ProgressStyle::Auto, EventLog::none()));
    let on_progress = |done: usize, all: usize| {
        let mut display = display.lock().unwrap_or_else(PoisonError::into_inner);
        display.show_status(&format!("replayed on {done} of {all} types of volume"));
    };
    let report = trace.plan(question, &runner, &signals, (parallel::for_each, &on_progress));
    display.into_inner().unwrap_or_else(PoisonError::into_inner).clear();
    if let Some(signal) = signals.end() {
        return Ok(Exit::Signal(signal));
    }
    signals.conclude();
    Ok(outputs::deliver_as(&mut files, ResultDocument::TracePlan(&report), options.format))
}
