//! Finds how many operations in flight a device or a modelled volume needs, and what more of them cost.
//!
//! `analyse::knee::search` selects the next depth. [`PreparedSweep`] runs each probe: on a modelled volume in virtual
//! time and in parallel, or on a device one after another.
//!
//! Probes of one search are not divided among ranks: a search on a model takes 0.1 s, and starting ranks takes longer.

mod advice;
mod prepared;
mod question;

use analyse::knee::search::{KneeProbe, KneeSearch, KneeSettings};
use analyse::knee::{Curve, Fit};
use results::events::Event;
use results::sweep::Sweep;
use runner::RunControl;
use units::{Problem, count};

use crate::host::ProcedureObserver;

pub use prepared::PreparedSweep;
pub use question::{SweepQuestion, SweepRequest, UNNAMED};

/// Runs the searches one after another, until an interruption.
///
/// # Errors
///
/// Returns why a probe failed, if there was no result before.
pub fn search_all<'a, 'q: 'a>(
    prepared: impl IntoIterator<Item = &'a mut PreparedSweep<'q>>,
    control: &dyn RunControl,
    observer: &mut dyn ProcedureObserver,
) -> Result<Vec<Sweep>, Vec<Problem>> {
    let mut sweeps = Vec::new();
    for sweep in prepared {
        sweeps.push(search(sweep, control, observer)?);
        if control.end().is_some() || control.is_stuck() {
            break;
        }
    }
    Ok(sweeps)
}

/// Runs the probes that the search requests, until it ends.
fn search(
    prepared: &mut PreparedSweep<'_>,
    control: &dyn RunControl,
    observer: &mut dyn ProcedureObserver,
) -> Result<Sweep, Vec<Problem>> {
    let settings = prepared.settings();
    let budget_s = settings.budget_s;
    let mut search = KneeSearch::new(KneeSettings { step: prepared.workers(), ..settings });
    let begun = control.elapsed();
    loop {
        let probes: Vec<_> = std::iter::from_fn(|| search.next_probe()).take(prepared.parallel_probes()).collect();
        if probes.is_empty() {
            break;
        }
        observer.show_status(&progress(&search, &probes, budget_s));
        let readings = match prepared.measure(&probes, control, observer) {
            // Earlier results remain valid.
            Err(problems) if (control.end().is_some() || control.is_stuck()) && !search.taken().is_empty() => {
                problems.iter().for_each(|problem| observer.warn(problem));
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
    let known = so_far(&search.fit());
    format!("{:.0} s{most}, depth {}{known}", search.spent_s(), depths.join(", "))
}

/// Describes a search in progress for the progress line: `, knee at 205 to 218 so far`.
fn so_far(fit: &Fit) -> String {
    match &fit.curve {
        Curve::Knee(knee) => format!(", knee at {} to {} so far", count(knee.depth.low), count(knee.depth.high)),
        Curve::Flat { xmax, .. } => format!(", flat at {} IOPS so far", count(xmax.value)),
        Curve::Unsaturated { iops, .. } => format!(", {} IOPS and rising so far", count(*iops)),
        Curve::PowerLaw { .. } => ", no knee so far".to_owned(),
        Curve::Unknown => String::new(),
    }
}
