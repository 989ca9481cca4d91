//! The rules: functions from facts to findings, or to `None` if they do not apply.

mod filesystem;
mod host;
mod queue;
mod sizes;
mod spread;
mod stack;

use record::host::Reading;

use super::check::Check;
use super::facts::{DoctorSubject, FactLayerKind, HostFacts, LayerFacts};
use super::finding::{CheckState, DoctorFinding};

pub(super) use filesystem::all as filesystem;
pub(super) use host::all as host;
pub(super) use sizes::read_ahead;

/// Applies a rule to a fact, or reports that the fact is unknown.
fn judge<T>(
    check: Check,
    about: &str,
    figure: &Reading<T>,
    rule: impl FnOnce(&T, DoctorFinding) -> DoctorFinding,
) -> DoctorFinding {
    match figure {
        Ok(value) => rule(value, DoctorFinding::new(check, about)),
        Err(reason) => DoctorFinding::unknown(check, about, reason),
    }
}

/// Returns the state of a setting by two criteria.
fn grade(is_problem: bool, is_improvable: bool) -> CheckState {
    match (is_problem, is_improvable) {
        (true, _) => CheckState::Problem,
        (_, true) => CheckState::CouldBeBetter,
        _ => CheckState::Good,
    }
}
/// Returns all findings about one device.
pub(super) fn layer(layer: &LayerFacts, subject: &DoctorSubject, host: &HostFacts) -> Vec<DoctorFinding> {
    let mut findings: Vec<DoctorFinding> = stack::limits(layer, host).into_iter().collect();
    match &layer.kind {
        FactLayerKind::Disk(disk) => {
            findings.extend(queue::all(disk));
            findings.extend(spread::all(disk, host));
            findings.extend(sizes::all(disk));
        }
        FactLayerKind::Raid(state) => findings.push(stack::raid(&layer.name, state)),
        FactLayerKind::Loop { direct, offset_bytes, .. } => {
            findings.push(stack::loop_direct(&layer.name, direct));
            findings.push(stack::loop_offset(&layer.name, offset_bytes));
        }
        FactLayerKind::Partition { disk, first_sector } => {
            findings.extend(stack::partition(&layer.name, disk, first_sector, subject));
        }
        FactLayerKind::Mapping { .. } => {}
    }
    findings
}
