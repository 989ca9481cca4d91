//! The rules: functions from facts to findings.

mod figures;
pub(crate) mod fleet;
mod limit;
mod model;
mod pace;
mod printed;
mod shape;
mod trust;
mod volume;

use crate::facts::Facts;
use crate::{Code, Expectation, Finding, Observation, Remedy};

pub(crate) use limit::limit;
pub(crate) use shape::of_time;

/// Rules for runs.
pub(crate) const ALL: [fn(Facts<'_>) -> Option<Finding>; 15] = [
    trust::errors,
    trust::not_verified,
    trust::several_runs,
    trust::page_cache,
    trust::buffered_writes,
    trust::holes,
    trust::drift,
    shape::throttled,
    printed::bytes,
    printed::latency,
    trust::short_run,
    trust::interrupted,
    pace::lateness,
    limit::engine_not_asynchronous,
    |facts| figures::syncs(&facts.seen()),
];

/// Returns the change that gives each worker `iodepth` operations in flight.
fn deeper(facts: Facts<'_>, iodepth: u64) -> Remedy {
    if facts.declared().queues { Remedy::RaiseDepth { iodepth } } else { Remedy::QueueingEngine { iodepth } }
}

/// Rules that compare the figures of an observation with each other.
const FIGURES: [fn(&Observation) -> Option<Finding>; 16] = [
    figures::little,
    figures::little_of_percentile,
    figures::little_of_device,
    figures::depth_needed,
    figures::product,
    figures::odd_block,
    figures::split,
    figures::mean_alone,
    figures::mechanical,
    figures::busy,
    figures::busy_beyond,
    figures::one_at_a_time,
    figures::not_kept,
    figures::small_region,
    figures::since_boot,
    figures::syncs,
];

/// Rules that compare an observation with a volume.
const VOLUME: [fn(&volume::VolumeCase<'_, '_>) -> Option<Finding>; 12] = [
    volume::cap,
    volume::size,
    volume::bytes_first,
    volume::shared,
    volume::too_shallow,
    volume::uneven,
    volume::beyond_knee,
    volume::burst_running,
    volume::above,
    volume::below,
    volume::too_fast,
    volume::cpus,
];

/// Returns all findings about an observation, by itself and relative to the volume it should be of.
pub(crate) fn observed(seen: &Observation, volume: Option<&Expectation<'_>>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = FIGURES.iter().filter_map(|rule| rule(seen)).collect();
    // The latency of a drive depends on the depth; the volumes of a provider are on a network.
    if volume.is_some_and(|volume| volume.alone_ns.is_some()) {
        findings.retain(|finding| finding.code != Code::MechanicalDisk);
    }
    findings.extend(volume.into_iter().flat_map(|volume| against(seen, volume)));
    findings
}

/// Returns the findings relative to the volume.
pub(crate) fn against(seen: &Observation, volume: &Expectation<'_>) -> Vec<Finding> {
    let case = volume::VolumeCase::of(seen, volume);
    case.map_or_else(Vec::new, |case| VOLUME.iter().filter_map(|rule| rule(&case)).collect())
}
