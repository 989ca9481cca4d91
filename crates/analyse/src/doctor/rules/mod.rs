//! The rules: each a small function from facts to a finding, or to none where it does not apply.

mod filesystem;
mod host;
mod queue;
mod sizes;
mod spread;
mod stack;

use super::check::Check;
use super::facts::{Filesystem, Host, Known, Layer, LayerKind, Subject};
use super::finding::Finding;

pub(super) use host::all as host;
pub(super) use sizes::read_ahead;

/// A finding from a figure, or that the figure is not known.
fn judge<T>(check: Check, about: &str, figure: &Known<T>, rule: impl FnOnce(&T, Finding) -> Finding) -> Finding {
    match figure {
        Ok(value) => rule(value, Finding::new(check, about)),
        Err(reason) => Finding::unknown(check, about, reason),
    }
}

/// Everything about one device.
pub(super) fn layer(layer: &Layer, subject: &Subject, host: &Host) -> Vec<Finding> {
    let mut findings: Vec<Finding> = stack::limits(layer, host).into_iter().collect();
    match &layer.kind {
        LayerKind::Disk(disk) => {
            findings.extend(queue::all(disk));
            findings.extend(spread::all(disk, host));
            findings.extend(sizes::all(disk));
        }
        LayerKind::Raid(state) => findings.push(stack::raid(&layer.name, state)),
        LayerKind::Loop { direct, offset_bytes, .. } => {
            findings.push(stack::loop_direct(&layer.name, direct));
            findings.push(stack::loop_offset(&layer.name, offset_bytes));
        }
        LayerKind::Partition { disk, first_sector } => {
            findings.extend(stack::partition(&layer.name, disk, first_sector, subject));
        }
        LayerKind::Mapping { .. } => {}
    }
    findings
}

/// Everything about a filesystem.
pub(super) fn filesystem(filesystem: &Filesystem, subject: &Subject) -> Vec<Finding> {
    filesystem::all(filesystem, subject)
}
