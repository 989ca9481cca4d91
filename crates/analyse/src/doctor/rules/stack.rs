//! Layers between a filesystem and its disks, and the limits of each.

use super::super::check::Check;
use super::super::facts::{DiskFacts, DoctorSubject, FactLayerKind, HostFacts, IoLimitFacts, Known, LayerFacts};
use super::super::finding::{CheckState, DoctorCase, DoctorFinding, DoctorValue, SettingChange, Want, word};
use super::judge;

/// The default weight of a cgroup.
const WEIGHT_DEFAULT: u64 = 100;

/// Limits that cgroups set on a device, the strictest of each kind. Partitions have none: their disks do.
pub(super) fn limits(layer: &LayerFacts, host: &HostFacts) -> Option<DoctorFinding> {
    if matches!(layer.kind, FactLayerKind::Partition { .. }) {
        return None;
    }
    Some(judge(Check::CgroupLimits, &layer.name, &host.io_limits, |limits, finding| {
        let ours: Vec<&IoLimitFacts> =
            limits.iter().filter(|limit| limit.device.is_none_or(|device| device == layer.number)).collect();
        let caps = |limit: &&&IoLimitFacts| ["rbps", "wbps", "riops", "wiops"].contains(&limit.key.as_str());
        let mut finding = finding;
        for key in ["riops", "wiops", "rbps", "wbps"] {
            let strictest = ours.iter().filter(|limit| limit.key == key).map(|limit| limit.value).min();
            let value = strictest.map(|value| {
                if key.ends_with("bps") { DoctorValue::BytesPerSecond(value) } else { DoctorValue::PerSecond(value) }
            });
            finding = value.into_iter().fold(finding, |finding, value| finding.and(key, value));
        }
        let capped = !finding.found.is_empty();
        let weight = ours.iter().filter(|limit| limit.key == "weight").map(|limit| limit.value).min();
        if let Some(weight) = weight.filter(|weight| *weight < WEIGHT_DEFAULT) {
            finding = finding.and("weight", DoctorValue::Count(weight));
        }
        if capped {
            let finding = finding.both(CheckState::Problem, Want::Is(word("none")));
            return lifted(finding, ours.iter().filter(caps).copied());
        }
        if !finding.found.is_empty() {
            let finding = finding
                .case(DoctorCase::Low)
                .both(CheckState::CouldBeBetter, Want::AtLeast(DoctorValue::Count(WEIGHT_DEFAULT)));
            return lifted(
                finding,
                ours.iter().filter(|limit| limit.key == "weight" && limit.value < WEIGHT_DEFAULT).copied(),
            );
        }
        finding.found(word("none"))
    }))
}

/// With one change for each file that sets limits.
fn lifted<'a>(finding: DoctorFinding, limits: impl Iterator<Item = &'a IoLimitFacts>) -> DoctorFinding {
    let mut changes: Vec<SettingChange> = Vec::new();
    for limit in limits {
        let known = changes.iter_mut().find_map(|change| match change {
            SettingChange::LiftLimit { file, device, keys } if (&*file, *device) == (&limit.file, limit.device) => {
                Some(keys)
            }
            _ => None,
        });
        // Files of version 1 hold one limit each, without a key.
        let key = (!limit.file.contains("blkio.throttle")).then(|| limit.key.clone());
        match known {
            Some(keys) => keys.extend(key),
            None => {
                let (file, device) = (limit.file.clone(), limit.device);
                changes.push(SettingChange::LiftLimit { file, device, keys: key.into_iter().collect() });
            }
        }
    }
    changes.into_iter().fold(finding, DoctorFinding::change)
}

pub(super) fn raid(name: &str, state: &Known<(String, u64)>) -> DoctorFinding {
    judge(Check::Raid, name, state, |(level, missing), finding| {
        let finding = finding.found(word(level));
        if *missing == 0 {
            return finding;
        }
        finding.and("missing", DoctorValue::Count(*missing)).both(CheckState::Problem, Want::Is(DoctorValue::Count(0)))
    })
}

pub(super) fn loop_direct(name: &str, direct: &Known<bool>) -> DoctorFinding {
    judge(Check::LoopDirect, name, direct, |&direct, finding| {
        let finding = finding.found(DoctorValue::Switch(direct));
        if direct {
            return finding;
        }
        let finding = finding.both(CheckState::CouldBeBetter, Want::Is(DoctorValue::Switch(true)));
        finding.change(SettingChange::LoopDirect { device: name.to_owned() })
    })
}

/// The block of the filesystem that the file of a loop device is in.
const FILE_BLOCK_BYTES: u64 = 4096;

pub(super) fn loop_offset(name: &str, offset: &Known<u64>) -> DoctorFinding {
    judge(Check::Alignment, name, offset, |&offset, finding| {
        if offset.is_multiple_of(FILE_BLOCK_BYTES) {
            return finding.found(DoctorValue::Switch(true));
        }
        let finding = finding.and("into its file", DoctorValue::Bytes(offset));
        finding.case(DoctorCase::Low).both(CheckState::Problem, Want::MultipleOf(DoctorValue::Bytes(FILE_BLOCK_BYTES)))
    })
}

const SECTOR_BYTES: u64 = 512;
/// Partitions are made at multiples of this by today's tools.
const CUSTOMARY_BYTES: u64 = 1 << 20;
/// USB bridges and the like tell sizes that are none.
const OPTIMAL_MOST_BYTES: u64 = 16 << 20;

/// The size of a disk's stripes, where what it tells can be one.
pub(super) fn stripe_bytes(disk: &DiskFacts) -> Option<u64> {
    let (&optimal, &physical) = (disk.optimal_io_bytes.as_ref().ok()?, disk.physical_block_bytes.as_ref().ok()?);
    let physical = physical.max(SECTOR_BYTES);
    (optimal > physical && optimal <= OPTIMAL_MOST_BYTES && optimal.is_multiple_of(physical.max(4096)))
        .then_some(optimal)
}

/// Whether a partition begins where a block of its disk does.
pub(super) fn partition(name: &str, disk: &str, first: &Known<u64>, subject: &DoctorSubject) -> Option<DoctorFinding> {
    let disk = subject.layers.iter().find_map(|layer| match &layer.kind {
        FactLayerKind::Disk(found) if layer.name == disk => Some(found),
        _ => None,
    })?;
    let physical = disk.physical_block_bytes.clone().unwrap_or(SECTOR_BYTES).clamp(SECTOR_BYTES, CUSTOMARY_BYTES);
    Some(judge(Check::Alignment, name, first, |&first, finding| {
        let start = first.saturating_mul(SECTOR_BYTES);
        let stripe = stripe_bytes(disk);
        let (state, unit) = match stripe {
            _ if !start.is_multiple_of(physical) => (CheckState::Problem, physical),
            Some(stripe) if !start.is_multiple_of(stripe) => (CheckState::CouldBeBetter, stripe),
            _ => return finding.found(DoctorValue::Switch(true)),
        };
        let finding = finding.and("sectors into the disk", DoctorValue::Count(first));
        let finding = finding.both(state, Want::MultipleOf(DoctorValue::Count(unit / SECTOR_BYTES)));
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let Ok(partition) = name[name.len() - digits..].parse() else { return finding };
        let step = stripe.unwrap_or(physical).max(CUSTOMARY_BYTES);
        let Some(sector) = start.checked_next_multiple_of(step).map(|bytes| bytes / SECTOR_BYTES) else {
            return finding;
        };
        finding.change(SettingChange::MovePartition { disk: disk.name.clone(), partition, sector })
    }))
}
