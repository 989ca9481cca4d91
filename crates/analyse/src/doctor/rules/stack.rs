//! Rules for layers between a filesystem and its disks, and for limits of cgroups.

use record::host::{IoLimit, Reading};

use super::super::check::Check;
use super::super::facts::{DiskFacts, DoctorSubject, FactLayerKind, HostFacts, LayerFacts};
use super::super::finding::{CheckState, DoctorCase, DoctorFinding, DoctorValue, SettingChange, Want, word};
use super::judge;

/// Default weight of a cgroup.
const WEIGHT_DEFAULT: u64 = 100;

/// Checks cgroup limits of a device, the strictest of each kind. Partitions have none of their own.
pub(super) fn limits(layer: &LayerFacts, host: &HostFacts) -> Option<DoctorFinding> {
    if matches!(layer.kind, FactLayerKind::Partition { .. }) {
        return None;
    }
    Some(judge(Check::CgroupLimits, &layer.name, &host.io_limits, |limits, finding| {
        let ours: Vec<&IoLimit> = limits.iter().filter(|limit| limit.is_of(layer.number)).collect();
        let mut finding = finding;
        for IoLimit { key, value, .. } in IoLimit::strictest(limits, layer.number, &IoLimit::RATE_KEYS) {
            let bytes = key.ends_with("bps");
            let value = if bytes { DoctorValue::BytesPerSecond(*value) } else { DoctorValue::PerSecond(*value) };
            finding = finding.and(key, value);
        }
        let capped = !finding.found.is_empty();
        let weight = IoLimit::strictest(limits, layer.number, &["weight"]).map(|limit| limit.value).next();
        let weight = weight.filter(|weight| *weight < WEIGHT_DEFAULT);
        if let Some(weight) = weight {
            finding = finding.and("weight", DoctorValue::Count(weight));
        }
        if capped {
            let finding = finding.both(CheckState::Problem, Want::Is(word("none")));
            return lift(finding, ours.into_iter().filter(|limit| IoLimit::RATE_KEYS.contains(&limit.key.as_str())));
        }
        if weight.is_some() {
            let wanted = Want::AtLeast(DoctorValue::Count(WEIGHT_DEFAULT));
            let finding = finding.case(DoctorCase::Low).both(CheckState::CouldBeBetter, wanted);
            let low = |limit: &&IoLimit| limit.key == "weight" && limit.value < WEIGHT_DEFAULT;
            return lift(finding, ours.into_iter().filter(low));
        }
        finding.found(word("none"))
    }))
}

/// Adds one change for each file that sets limits.
fn lift<'a>(finding: DoctorFinding, limits: impl Iterator<Item = &'a IoLimit>) -> DoctorFinding {
    let mut changes: Vec<SettingChange> = Vec::new();
    for limit in limits {
        let known = changes.iter_mut().find_map(|change| match change {
            SettingChange::LiftLimit { file, device, keys } if (&*file, *device) == (&limit.file, limit.device) => {
                Some(keys)
            }
            _ => None,
        });
        // Files of cgroup version 1 hold one limit each, without a key.
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

pub(super) fn raid(name: &str, state: &Reading<(String, u64)>) -> DoctorFinding {
    judge(Check::Raid, name, state, |(level, missing), finding| {
        let finding = finding.found(word(level));
        if *missing == 0 {
            return finding;
        }
        finding.and("missing", DoctorValue::Count(*missing)).both(CheckState::Problem, Want::Is(DoctorValue::Count(0)))
    })
}

pub(super) fn loop_direct(name: &str, direct: &Reading<bool>) -> DoctorFinding {
    judge(Check::LoopDirect, name, direct, |&direct, finding| {
        let finding = finding.found(DoctorValue::Switch(direct));
        if direct {
            return finding;
        }
        let finding = finding.both(CheckState::CouldBeBetter, Want::Is(DoctorValue::Switch(true)));
        finding.change(SettingChange::LoopDirect { device: name.to_owned() })
    })
}

/// Block size of the filesystem that holds the file of a loop device.
const FILE_BLOCK_BYTES: u64 = 4096;

pub(super) fn loop_offset(name: &str, offset: &Reading<u64>) -> DoctorFinding {
    judge(Check::Alignment, name, offset, |&offset, finding| {
        if offset.is_multiple_of(FILE_BLOCK_BYTES) {
            return finding.found(DoctorValue::Switch(true));
        }
        let finding = finding.and("into its file", DoctorValue::Bytes(offset));
        finding.case(DoctorCase::Low).both(CheckState::Problem, Want::MultipleOf(DoctorValue::Bytes(FILE_BLOCK_BYTES)))
    })
}

const SECTOR_BYTES: u64 = 512;
/// Alignment that current partitioning tools use.
const CUSTOMARY_BYTES: u64 = 1 << 20;
/// Larger optimal sizes are bogus values, as USB bridges report.
const OPTIMAL_MOST_BYTES: u64 = 16 << 20;

/// Returns a disk's stripe size, if its optimal I/O size is a plausible one.
pub(super) fn stripe_bytes(disk: &DiskFacts) -> Option<u64> {
    let (&optimal, &physical) =
        (disk.queue.optimal_io_bytes.as_ref().ok()?, disk.queue.physical_block_bytes.as_ref().ok()?);
    let physical = physical.max(SECTOR_BYTES);
    (optimal > physical && optimal <= OPTIMAL_MOST_BYTES && optimal.is_multiple_of(physical.max(4096)))
        .then_some(optimal)
}

/// Checks whether a partition is aligned to the blocks of its disk.
pub(super) fn partition(
    name: &str,
    disk: &str,
    first: &Reading<u64>,
    subject: &DoctorSubject,
) -> Option<DoctorFinding> {
    let disk = subject.layers.iter().find_map(|layer| match &layer.kind {
        FactLayerKind::Disk(found) if layer.name == disk => Some(found),
        _ => None,
    })?;
    let physical = disk.queue.physical_block_bytes.clone().unwrap_or(SECTOR_BYTES).clamp(SECTOR_BYTES, CUSTOMARY_BYTES);
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
