//! The rules: each a small function from facts to a finding, or to none where it does not apply.

mod filesystem;
mod host;
mod queue;
mod sizes;
mod spread;
mod stack;

use super::check::Check;
use super::facts::{DoctorSubject, FactLayerKind, FilesystemFacts, HostFacts, Known, LayerFacts};
use super::finding::DoctorFinding;

pub(super) use host::all as host;
pub(super) use sizes::read_ahead;

/// A finding from a figure, or that the figure is not known.
fn judge<T>(
    check: Check,
    about: &str,
    figure: &Known<T>,
    rule: impl FnOnce(&T, DoctorFinding) -> DoctorFinding,
) -> DoctorFinding {
    match figure {
        Ok(value) => rule(value, DoctorFinding::new(check, about)),
        Err(reason) => DoctorFinding::unknown(check, about, reason),
    }
}

/// Everything about one device.
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

/// Everything about a filesystem.
pub(super) fn filesystem(filesystem: &FilesystemFacts, subject: &DoctorSubject) -> Vec<DoctorFinding> {
    filesystem::all(filesystem, subject)
}
