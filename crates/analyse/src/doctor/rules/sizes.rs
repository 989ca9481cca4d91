//! Rules for the sizes of requests, blocks, discards and readahead.

use super::super::check::Check;
use super::super::facts::{DiskFacts, DoctorSubject, FactLayerKind};
use super::super::finding::{CheckState, DoctorCase, DoctorFinding, DoctorValue, SettingChange, Want};
use super::queue::set;
use super::{grade, judge};

pub(super) fn all(disk: &DiskFacts) -> Vec<DoctorFinding> {
    let mut findings = vec![max_sectors(disk), block_size(disk), device_alignment(disk)];
    findings.extend(discard_support(disk));
    findings
}

/// Throughput is measured with requests of 1 MiB (the Hyperdisk article); half of a page cache flush is 128 KiB.
const REQUEST_WANTED_KB: u64 = 1024;
const REQUEST_LEAST_KB: u64 = 128;

fn max_sectors(disk: &DiskFacts) -> DoctorFinding {
    judge(Check::MaxSectors, &disk.name, &disk.queue.max_sectors_kb, |&kib, finding| {
        let bytes = |kib: u64| DoctorValue::Bytes(kib.saturating_mul(1024));
        let finding = finding.found(bytes(kib));
        if kib >= REQUEST_WANTED_KB {
            return finding;
        }
        let possible = *disk.queue.max_hw_sectors_kb.as_ref().unwrap_or(&kib);
        if possible <= kib {
            return finding.case(DoctorCase::Hardware);
        }
        let state = grade(kib < REQUEST_LEAST_KB, true);
        let best = possible.min(REQUEST_WANTED_KB);
        let finding = finding.throughput(state, Want::AtLeast(bytes(best)));
        finding.change(set(disk, "max_sectors_kb", best.to_string()))
    })
}

/// Block size of filesystems, databases and the page cache.
const PAGE_BYTES: u64 = 4096;

fn block_size(disk: &DiskFacts) -> DoctorFinding {
    judge(Check::BlockSize, &disk.name, &disk.queue.physical_block_bytes, |&physical, finding| {
        let logical = *disk.queue.logical_block_bytes.as_ref().unwrap_or(&physical);
        let finding = finding.and("logical", DoctorValue::Bytes(logical)).and("physical", DoctorValue::Bytes(physical));
        if physical <= PAGE_BYTES {
            return finding;
        }
        finding.case(DoctorCase::Hardware).iops(CheckState::CouldBeBetter, Want::AtMost(DoctorValue::Bytes(PAGE_BYTES)))
    })
}

fn device_alignment(disk: &DiskFacts) -> DoctorFinding {
    judge(Check::Alignment, &disk.name, &disk.queue.alignment_offset_bytes, |&offset, finding| {
        if offset == 0 {
            return finding.found(DoctorValue::Switch(true));
        }
        let finding = finding.and("off", DoctorValue::Bytes(offset.unsigned_abs()));
        finding.case(DoctorCase::Hardware).both(CheckState::Problem, Want::Is(DoctorValue::Bytes(0)))
    })
}

fn discard_support(disk: &DiskFacts) -> Option<DoctorFinding> {
    if disk.is_mechanical() {
        return None;
    }
    Some(judge(Check::DiscardSupport, &disk.name, &disk.queue.discard_max_bytes, |&most, finding| {
        let finding = finding.found(DoctorValue::Bytes(most));
        if most > 0 {
            let unit = disk
                .queue
                .discard_granularity_bytes
                .as_ref()
                .ok()
                .map(|bytes| ("granularity", DoctorValue::Bytes(*bytes)));
            return unit.into_iter().fold(finding, |finding, (name, value)| finding.and(name, value));
        }
        let finding = finding.both(CheckState::CouldBeBetter, Want::AtLeast(DoctorValue::Bytes(1)));
        match disk.queue.discard_max_hw_bytes {
            Ok(possible) if possible > 0 => finding.change(set(disk, "discard_max_bytes", possible.to_string())),
            _ if disk.is_virtual() => finding.case(DoctorCase::Virtual),
            _ => finding.case(DoctorCase::Hardware),
        }
    }))
}

/// The kernel's default; databases need less.
const AHEAD_MOST_IOPS: u64 = 128 << 10;
/// Eight requests of the default size.
const AHEAD_LEAST_THROUGHPUT: u64 = 1 << 20;
/// The example of the persistent-disk documentation.
const AHEAD_EXAMPLE: u64 = 8 << 20;

/// Checks the readahead of the top device for buffered reads.
pub(in super::super) fn read_ahead(subject: &DoctorSubject) -> Option<DoctorFinding> {
    let (highest, figure) = (subject.layers.first()?, subject.read_ahead_bytes.as_ref()?);
    // Partitions use the readahead of their disk.
    let device = if let FactLayerKind::Partition { disk, .. } = &highest.kind { disk } else { &highest.name };
    Some(judge(Check::ReadAhead, device, figure, |&bytes, finding| {
        let finding = finding.found(DoctorValue::Bytes(bytes)).and("sectors", DoctorValue::Count(bytes / 512));
        let finding = finding
            .iops(grade(false, bytes > AHEAD_MOST_IOPS), Want::AtMost(DoctorValue::Bytes(AHEAD_MOST_IOPS)))
            .throughput(
                grade(false, bytes < AHEAD_LEAST_THROUGHPUT),
                Want::AtLeast(DoctorValue::Bytes(AHEAD_LEAST_THROUGHPUT)),
            );
        let set = |bytes: u64| SettingChange::ReadAhead { device: device.clone(), sectors: bytes / 512 };
        finding.change_for_iops(set(AHEAD_MOST_IOPS)).change_for_throughput(set(AHEAD_EXAMPLE))
    }))
}
