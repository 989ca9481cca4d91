//! `fathom plan`: the volume for a load, by price.
//!
//! `plan` searches and `report::plan` renders; `procedure::purchase` simulates the candidates; this module reads the need.

pub(crate) mod args;
mod ask;

use std::time::Duration;

use args::PlanOptions;
use procedure::purchase;
use report::{ResultDocument, ResultFormat};
use runner::{Refusal, Runner};

use crate::exit::Exit;
use crate::outputs::{self, Output};
use crate::refusal::Refused;
use crate::runners;
use crate::signals::Signals;

/// Plans for the need that the options state. A need that no volume meets is a result, not a failure.
pub(crate) fn command(options: &PlanOptions) -> Result<Exit, Exit> {
    let need = ask::read(options).map_err(|problems| Refusal::Jobs(problems).report())?;
    let mut files = Output::open(&options.output, ResultFormat::OF_PLAN).map_err(|problem| Exit::usage(&problem))?;
    let signals = Signals::listen()?.with_grace(Duration::ZERO);
    let runner = runners::model();
    let runner: Option<&dyn Runner> = if options.no_simulation { None } else { Some(&runner) };
    let report = purchase::search(need, runner, options.seed.unwrap_or(1), &signals);
    if let Some(signal) = signals.end() {
        return Ok(Exit::Signal(signal));
    }
    signals.conclude();
    Ok(outputs::deliver_as(&mut files, ResultDocument::Plan(&report, options.show_math), options.format))
}
