//! `fathom plan`: finds volumes for a load, and ranks them by price.
//!
//! `plan` searches, `procedure::purchase` simulates the candidates, `report::plan` renders. This module parses the
//! need.

pub(crate) mod args;
mod need;

use std::time::Duration;

use args::PlanOptions;
use procedure::purchase;
use report::{ResultDocument, ResultFormat};
use runner::Runner;

use crate::exit::Exit;
use crate::outputs::{self, Output};
use crate::runners;
use crate::signals::Signals;

/// Plans for a need. That no volume meets it is a result, not a failure.
pub(crate) fn command(options: &PlanOptions) -> Result<Exit, Exit> {
    let need = need::parse(options).map_err(Exit::invalid)?;
    let mut files = Output::open(&options.output, ResultFormat::OF_PLAN).map_err(Exit::usage)?;
    let signals = Signals::listen(Duration::ZERO)?;
    let runner = runners::model();
    let runner: Option<&dyn Runner> = if options.no_simulation { None } else { Some(&runner) };
    let report = purchase::search(need, runner, options.seed.unwrap_or(1), &signals);
    if let Some(signal) = signals.end() {
        return Ok(Exit::Signal(signal));
    }
    signals.conclude();
    Ok(outputs::deliver_as(&mut files, ResultDocument::Plan(&report, options.show_math), options.format))
}
