//! How many operations in flight a device or a modelled volume needs, and what more of them cost.
//!
//! `analyse::knee::search` decides which depth is probed next. [`PreparedSweep`] makes each probe a run: on a modelled volume
//! in virtual time, several side by side, or on a device one after the other.

mod advice;
mod prepared;
mod question;

use analyse::knee::search::{KneeProbe, KneeSearch, KneeSettings};
use report::Event;
use report::sweep::Sweep;
use runner::RunControl;

use crate::host::ProcedureObserver;

pub use prepared::PreparedSweep;
pub use question::{SweepQuestion, SweepRequest, UNNAMED};

/// Makes one search after the other, as many as begin before an interruption.
///
/// # Errors
///
/// Why a probe could not be made, where nothing was found before.
pub fn search_all(
    prepared: &mut [PreparedSweep<'_>],
    control: &dyn RunControl,
    observer: &mut dyn ProcedureObserver,
) -> Result<Vec<Sweep>, String> {
    let mut sweeps = Vec::new();
    for sweep in prepared {
        sweeps.push(search(sweep, control, observer)?);
        if control.end().is_some() || control.is_stuck() {
            break;
        }
    }
    Ok(sweeps)
}

/// Asks the search for probes and makes them, until it has seen enough.
fn search(
    prepared: &mut PreparedSweep<'_>,
    control: &dyn RunControl,
    observer: &mut dyn ProcedureObserver,
) -> Result<Sweep, String> {
    let settings = prepared.settings();
    let budget_s = settings.budget_s;
    let mut search = KneeSearch::new(KneeSettings { step: prepared.workers(), ..settings });
    let begun = control.elapsed();
    loop {
        let probes: Vec<_> = std::iter::from_fn(|| search.next_probe()).take(prepared.side_by_side()).collect();
        if probes.is_empty() {
            break;
        }
        observer.show_status(&progress(&search, &probes, budget_s));
        let readings = match prepared.measure(&probes, control, observer) {
            // What was found before stands.
            Err(problem) if (control.end().is_some() || control.is_stuck()) && !search.taken().is_empty() => {
                observer.warn(&problem);
                break;
            }
            readings => readings?,
        };
        for (name, run) in prepared.latest(probes.len()) {
            Event::parts(&name, run, control.elapsed().saturating_sub(begun).as_secs_f64())
                .for_each(|event| observer.event(&event));
        }
        if control.end().is_some() {
            break;
        }
        for (probe, reading) in probes.iter().zip(readings) {
            search.observe(probe, reading);
        }
    }
    prepared.conclude(&search, control)
}

fn progress(search: &KneeSearch, probes: &[KneeProbe], budget_s: f64) -> String {
    let depths: Vec<String> = probes.iter().map(|probe| probe.depth.to_string()).collect();
    let most = if budget_s.is_finite() { format!(" of at most {budget_s:.0} s") } else { String::new() };
    let known = report::sweep::so_far(&search.fit());
    format!("{:.0} s{most}, at depth {}{known}", search.spent_s(), depths.join(", "))
}
