//! `fathom plan --current`: what to do with volumes that exist.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use live::EventLog;
use plan::current::CurrentStep;
use procedure::current::{CurrentSearch, CurrentVolumes};
use procedure::fleet_file::{self, FleetFile};
use procedure::{ProcedureObserver as _, plan_words};
use report::{ResultDocument, ResultFormat};
use results::plan::current::CurrentPlanResult;
use units::{Place, Problem, ProblemCode};

use super::{PlanOptions, name, need};
use crate::args::ProgressStyle;
use crate::display::Display;
use crate::exit::Exit;
use crate::outputs::{self, Output};
use crate::signals::Signals;
use crate::{rank, runners};

/// Number of volumes that are judged in about a second.
const FEW: usize = 50;

/// Decides about the volumes of `--current`.
pub(super) fn command(options: &PlanOptions) -> Result<Exit, Exit> {
    let words = &options.words;
    if rank::joined().is_some() {
        let problem = Problem::error(ProblemCode::Ranks, "--current runs on one host").help("use `fathom plan`");
        return Err(Exit::invalid(problem));
    }
    if let Some(trace) = name(&options.words) {
        let problem = Problem::error(ProblemCode::Plan, "--current does not replay traces")
            .at(Place::in_option("--from", &trace, 0..trace.len()))
            .help("replay it on the volume with `fathom explain --from TRACE --volume VOLUME`, or set the rate with --iops");
        return Err(Exit::invalid(problem));
    }
    let file = || need::of_file(words.from.as_deref().unwrap_or_else(|| Path::new("")), words.device.as_deref());
    let need = plan_words::of_load(words, file);
    let base = need.as_ref().map(|derived| derived.need.clone()).unwrap_or_default();
    let volumes = CurrentVolumes::of_words(words, &base, read);
    let (need, volumes) = match (need, volumes) {
        (Ok(need), Ok(volumes)) => (need, volumes),
        (need, volumes) => {
            let problems = need.err().into_iter().chain(volumes.err()).flatten().collect::<Vec<_>>();
            return Err(Exit::invalid(problems));
        }
    };
    let mut files = Output::open(&options.output, ResultFormat::OF_CURRENT_PLAN).map_err(Exit::invalid)?;
    let signals = Signals::listen(Duration::ZERO)?;
    let runner = runners::models();
    let display = Mutex::new(Display::new(ProgressStyle::Auto, EventLog::none()));
    let on_progress = |done: usize, all: usize| {
        // A status of each volume takes longer than to judge it.
        if all > FEW && done.is_multiple_of(FEW) {
            let mut display = display.lock().unwrap_or_else(PoisonError::into_inner);
            display.show_status(&format!("judged {done} of {all} different volumes"));
        }
    };
    let search = CurrentSearch {
        need,
        volumes,
        runner: (!words.no_simulation).then_some(&runner),
        seed: options.seed.unwrap_or(1),
        control: &signals,
        on_progress: &on_progress,
    };
    let plan = search.decide(runners::for_each);
    display.into_inner().unwrap_or_else(PoisonError::into_inner).clear();
    if let Some(signal) = signals.end() {
        return Ok(Exit::Signal(signal));
    }
    signals.conclude();
    let met = exit(&plan);
    let document = ResultDocument::CurrentPlan(&plan);
    Ok(outputs::deliver_as(&mut files, document, options.format, options.details).max(met))
}

/// Reads a file of volumes.
fn read(name: &str) -> Result<FleetFile, Vec<Problem>> {
    let bytes = device::input::read(Path::new(name), device::input::RECORD).map_err(|error| {
        let place = Place::in_option("--current", name, 0..name.len());
        let help =
            "give a table (.csv) or the state of Terraform (.tfstate), or name a volume, such as aws/gp3,size=2TiB";
        vec![Problem::error(ProblemCode::UnreadableInput, error.to_string()).at(place).help(help)]
    })?;
    fleet_file::read(name, &bytes)
}

/// Returns 1 if a need cannot be met, and 4 if one is unknown.
fn exit(plan: &CurrentPlanResult) -> Exit {
    let is_unmet = |step: CurrentStep| step == CurrentStep::Unmet;
    if plan.volumes.iter().any(|volume| volume.doubt.is_none() && is_unmet(volume.decision.step)) {
        Exit::Failed
    } else if plan.volumes.is_empty() || plan.volumes.iter().any(|volume| volume.doubt.is_some()) {
        Exit::Distrust
    } else {
        Exit::Good
    }
}
