//! Rules for filesystems: access times, journals, discards.

use super::super::check::Check;
use super::super::facts::{DiskFacts, DoctorSubject, FactLayerKind, FilesystemFacts};
use super::super::finding::{CheckState, DoctorCase, DoctorFinding, DoctorValue, SettingChange, Want, word};
use super::stack::stripe_bytes;
use super::{grade, judge};

pub(in super::super) fn all(filesystem: &FilesystemFacts, subject: &DoctorSubject) -> Vec<DoctorFinding> {
    let mut findings: Vec<DoctorFinding> = fullness(filesystem).into_iter().collect();
    // The remaining checks mean nothing for memory, network and read-only filesystems.
    if subject.layers.is_empty() || filesystem.has("ro") {
        return findings;
    }
    findings.extend([access_times(filesystem), synchronous(filesystem)]);
    findings.extend(barrier(filesystem));
    findings.extend(lazy_init(filesystem));
    findings.extend(discard(filesystem, subject));
    findings.extend(stripe(filesystem, subject));
    findings
}

impl FilesystemFacts {
    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|known| known == option)
    }

    fn remount(&self, options: &str) -> SettingChange {
        SettingChange::Remount { at: self.at.clone(), options: options.to_owned() }
    }

    fn finding(&self, check: Check) -> DoctorFinding {
        DoctorFinding::new(check, &self.at)
    }
}

/// Iterates over the disks of a stack.
pub(super) fn disks(subject: &DoctorSubject) -> impl Iterator<Item = &DiskFacts> {
    subject.layers.iter().filter_map(|layer| match &layer.kind {
        FactLayerKind::Disk(disk) => Some(&**disk),
        _ => None,
    })
}

fn access_times(filesystem: &FilesystemFacts) -> DoctorFinding {
    let finding = filesystem.finding(Check::AccessTimes);
    match ["noatime", "relatime"].into_iter().find(|option| filesystem.has(option)) {
        Some(option) => finding.found(word(option)),
        None => {
            let wanted = Want::OneOf(vec!["noatime", "relatime"]);
            let finding = finding.found(word("strictatime")).both(CheckState::CouldBeBetter, wanted);
            finding.change(filesystem.remount("noatime"))
        }
    }
}

fn synchronous(filesystem: &FilesystemFacts) -> DoctorFinding {
    let finding = filesystem.finding(Check::SyncOption);
    if filesystem.has("sync") {
        let finding = finding.found(word("sync")).both(CheckState::Problem, Want::Is(word("async")));
        return finding.change(filesystem.remount("async"));
    }
    if filesystem.has("data=journal") {
        // A remount cannot change it.
        let wanted = Want::Is(word("data=ordered"));
        let finding = finding.case(DoctorCase::Low).found(word("data=journal"));
        return finding.iops(CheckState::CouldBeBetter, wanted.clone()).throughput(CheckState::Problem, wanted);
    }
    finding.found(word("async"))
}

fn barrier(filesystem: &FilesystemFacts) -> Option<DoctorFinding> {
    if !["ext3", "ext4", "xfs", "btrfs", "reiserfs", "jfs", "nilfs2"].contains(&filesystem.kind.as_str()) {
        return None;
    }
    let finding = filesystem.finding(Check::Barrier);
    let off = ["nobarrier", "barrier=0"].into_iter().find(|option| filesystem.has(option));
    let Some(off) = off else { return Some(finding.found(word("on"))) };
    let finding = finding.found(word(off)).both(CheckState::CouldBeBetter, Want::Is(word("barrier")));
    Some(finding.change(filesystem.remount("barrier")))
}

fn lazy_init(filesystem: &FilesystemFacts) -> Option<DoctorFinding> {
    if filesystem.kind != "ext4" {
        return None;
    }
    let options = filesystem.ext4_options.as_ref().and_then(|options| options.as_ref().ok());
    let never = filesystem.has("noinit_itable")
        || options.is_some_and(|options| !options.iter().any(|option| option.starts_with("init_itable")));
    Some(judge(Check::LazyInit, &filesystem.at, &filesystem.initialising, |&running, finding| {
        if !running || never {
            return finding.found(word("done"));
        }
        let finding = finding.found(word("running")).both(CheckState::CouldBeBetter, Want::Is(word("done")));
        finding.change(filesystem.remount("init_itable=0"))
    }))
}

fn discard(filesystem: &FilesystemFacts, subject: &DoctorSubject) -> Option<DoctorFinding> {
    let takes = |disk: &DiskFacts| disk.queue.discard_max_bytes.as_ref().is_ok_and(|most| *most > 0);
    if !disks(subject).any(takes) {
        return None;
    }
    let finding = filesystem.finding(Check::DiscardOption);
    if let Some(option) =
        filesystem.options.iter().find(|option| *option == "discard" || option.starts_with("discard="))
    {
        return Some(finding.found(word(option)));
    }
    if filesystem.trimmed_regularly {
        return Some(finding.found(word("fstrim.timer")));
    }
    let finding = finding.found(word("none")).both(CheckState::CouldBeBetter, Want::OneOf(vec!["discard", "fstrim"]));
    let finding = finding.change(filesystem.remount("discard"));
    Some(finding.change(SettingChange::Trim { at: filesystem.at.clone() }))
}

fn stripe(filesystem: &FilesystemFacts, subject: &DoctorSubject) -> Option<DoctorFinding> {
    const BLOCK_BYTES: u64 = 4096;
    let bytes = disks(subject).find_map(stripe_bytes)?;
    let options = filesystem.ext4_options.as_ref()?;
    Some(judge(Check::Stripe, &filesystem.at, options, |options, finding| {
        let set = options.iter().find_map(|option| option.strip_prefix("stripe=")?.parse::<u64>().ok()).unwrap_or(0);
        let finding = finding.found(DoctorValue::Bytes(set.saturating_mul(BLOCK_BYTES)));
        if set > 0 {
            return finding;
        }
        let finding = finding.throughput(CheckState::CouldBeBetter, Want::Is(DoctorValue::Bytes(bytes)));
        finding.change(filesystem.remount(&format!("stripe={}", bytes / BLOCK_BYTES)))
    }))
}

/// Utilization from which allocators find only fragmented space.
const FULL: f64 = 0.9;
const OVERFULL: f64 = 0.97;

fn fullness(filesystem: &FilesystemFacts) -> Option<DoctorFinding> {
    if matches!(filesystem.capacity_bytes, Ok((0, _))) {
        return None;
    }
    Some(judge(Check::Fullness, &filesystem.at, &filesystem.capacity_bytes, |&(all, free), finding| {
        let used = 1.0 - free.min(all) as f64 / all as f64;
        let finding = finding.found(DoctorValue::Share(used)).and("free", DoctorValue::Bytes(free));
        finding.both(grade(used >= OVERFULL, used >= FULL), Want::AtMost(DoctorValue::Share(FULL)))
    }))
}
