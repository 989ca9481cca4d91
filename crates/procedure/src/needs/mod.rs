//! Several needs in one TOML file (docs/plan.md), planned together.
//!
//! The keys of a need are the options of `fathom plan`, by the definitions of the options themselves.

mod given;
mod keys;
mod named;
mod read;

pub use given::GivenWords;
pub use named::NamedNeed;
pub use read::read;

use std::sync::atomic::{AtomicUsize, Ordering};

use plan::workload::Derived;
use results::plan::PlanResult;
use runner::{RunControl, Runner};

use crate::host::{Parallel, map};
use crate::purchase::{PurchaseSearch, TrialOutcomes};

/// How several needs are planned.
#[derive(Clone, Copy)]
pub struct NeedsSearch<'a> {
    /// Runs the simulations; without it nothing is simulated.
    pub runner: Option<&'a dyn Runner>,
    /// Seed of the simulations.
    pub seed: u64,
    /// Ends the search early.
    pub control: &'a dyn RunControl,
    /// Plans needs in parallel.
    pub parallel: Parallel,
    /// Receives the number of planned needs.
    pub on_progress: &'a (dyn Fn(usize) + Sync),
}

impl NeedsSearch<'_> {
    /// Plans each need as if it were alone. Equal needs are planned once.
    #[must_use]
    pub fn plan(&self, needs: &[Derived]) -> Vec<PlanResult> {
        let first_of = |need: &Derived| needs.iter().position(|other| other == need).unwrap_or_default();
        let firsts: Vec<usize> = needs.iter().map(first_of).collect();
        let different: Vec<usize> = (0..needs.len()).filter(|index| firsts[*index] == *index).collect();
        let done = AtomicUsize::new(0);
        let plans = map(self.parallel, &different, |index| {
            let need = needs[*index].clone();
            let search = PurchaseSearch { need, runner: self.runner, seed: self.seed, control: self.control };
            let plan = search.conclude(TrialOutcomes::default());
            let equal = firsts.iter().filter(|first| *first == index).count();
            (self.on_progress)(equal + done.fetch_add(equal, Ordering::Relaxed));
            plan
        });
        let plan_of = |first: &usize| plans[different.binary_search(first).unwrap_or_default()].clone();
        firsts.iter().map(plan_of).collect()
    }
}
