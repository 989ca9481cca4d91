//! `fathom plan`: finds volumes for a load, and ranks them by price.
//!
//! `plan` searches, `procedure::purchase` simulates the candidates, `report::plan` renders. This module parses the
//! need.

pub(crate) mod args;
mod need;
mod trace;

use std::path::Path;
use std::time::Duration;

use args::PlanOptions;
use procedure::plan_words;
use procedure::purchase::{PurchaseSearch, TrialOutcomes};
use report::{ResultDocument, ResultFormat};

use crate::diagnostics::warning;
use crate::exit::Exit;
use crate::outputs::{self, Output};
use crate::signals::Signals;
use crate::{parallel, rank, runners};

/// Plans for a need. That no volume meets it is a result, not a failure.
pub(crate) fn command(options: &PlanOptions) -> Result<Exit, Exit> {
    if let Some(name) = trace::name(options) {
        return trace::command(options, &name);
    }
    let words = &options.words;
    let file = || need::of_file(words.from.as_deref().unwrap_or_else(|| Path::new("")), words.device.as_deref());
    let need = plan_words::of_load(words, file).map_err(Exit::invalid)?;
    let mut files = Output::open(&options.output, ResultFormat::OF_PLAN).map_err(Exit::usage)?;
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
        match fleet.gather(&search.simulate_shard(rank::shard(), parallel::for_each)).map_err(Exit::environment)? {
            None => return Ok(Exit::Good),
            Some(all) => {
                for (rank, others) in (0..).zip(all) {
                    match others {
                        Some(others) => outcomes.extend(others),
                        // What has no outcome is simulated below.
                        None => warning(&format!("{} is lost: rank 0 simulates its volumes", fleet.label(rank))),
                    }
                }
            }
        }
    }
    let report = search.conclude(outcomes);
    if let Some(signal) = signals.end() {
        return Ok(Exit::Signal(signal));
    }
    signals.conclude();
    Ok(outputs::deliver_as(&mut files, ResultDocument::Plan(&report, words.show_math), options.format))
}
