//! The state of the zones of a device.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::decision::ZoneTask;
use units::{OpKind, Zone, ZoneCommand, ZoneCondition, ZoneKind, ZoneReport};

/// The zones of a device or file, which the workers of a run share.
#[derive(Debug)]
pub struct ZoneTable {
    pub(super) zone_bytes: u64,
    /// Maximum number of zones that are written in part; zero for no limit.
    pub(super) max_written: u32,
    /// Whether the zones exist in this table alone, so that commands have no effect on the device.
    pub(super) is_emulated: bool,
    state: Mutex<ZoneStates>,
}

#[derive(Debug)]
pub(super) struct ZoneStates {
    pub(super) zones: Vec<ZoneState>,
    /// Number of zones that are written in part and take resources.
    pub(super) written: u32,
    /// Zones with a rest that is smaller than a block, to be finished.
    pub(super) unfinished: Vec<usize>,
    /// Regions of workers that reset zones by the fraction of their bytes that are written.
    pub(super) regions: Vec<WrittenRegion>,
    /// Number of decisions and commands, to find out whether any worker makes progress.
    pub(super) progress: u64,
}

/// Zones of a region with the sum of their written bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenRegion {
    first: usize,
    end: usize,
    pub(super) bytes: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ZoneState {
    pub(super) start: u64,
    /// End of the capacity.
    pub(super) end: u64,
    /// Where the next write begins.
    pub(super) write_pointer: u64,
    /// End of the data that were written before any write in flight.
    pub(super) readable: u64,
    pub(super) is_sequential: bool,
    pub(super) is_usable: bool,
    /// Whether it is one of those counted as written.
    pub(super) is_counted: bool,
    /// Whether a command or a trim is under way.
    pub(super) is_commanded: bool,
    /// Whether a write has failed, so that only the device knows the write pointer.
    pub(super) is_unknown: bool,
    /// Writes in flight.
    pub(super) in_flight: u32,
    /// Worker of the last write.
    pub(super) writer: u32,
    /// A worker that waits for those of another one.
    pub(super) waits: Option<u32>,
}

impl ZoneState {
    fn new(zone: &Zone, counts_closed: bool) -> Self {
        let is_counted = match zone.condition {
            ZoneCondition::Open => true,
            ZoneCondition::Closed => counts_closed,
            _ => false,
        };
        let pointer = match zone.condition {
            ZoneCondition::Empty => zone.start,
            ZoneCondition::Full => zone.end(),
            _ => zone.write_pointer.clamp(zone.start, zone.end()),
        };
        Self {
            start: zone.start,
            end: zone.end(),
            write_pointer: pointer,
            readable: pointer,
            is_sequential: zone.kind == ZoneKind::Sequential,
            is_usable: zone.condition != ZoneCondition::Unusable,
            is_counted: is_counted && zone.kind == ZoneKind::Sequential,
            is_commanded: false,
            is_unknown: false,
            in_flight: 0,
            writer: u32::MAX,
            waits: None,
        }
    }

    /// Returns the bytes that can still be written.
    pub(super) const fn room(&self) -> u64 {
        self.end - self.write_pointer
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.write_pointer == self.start
    }
}

/// What a worker knows of the zones that it writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct ZoneWriter {
    /// Zones that the worker writes, if their number is limited.
    pub(super) written: Vec<usize>,
    /// Writes above the threshold of resets since the last reset.
    pub(super) writes_above: u64,
    /// Whether the next write has been counted.
    pub(super) has_counted: bool,
    /// Whether the next write is preceded by a reset of its zone.
    pub(super) resets_next: bool,
}

impl ZoneTable {
    #[must_use]
    pub fn of_device(report: &ZoneReport) -> Self {
        Self::new(report, false)
    }

    /// Returns zones of `zone_bytes` each, of which `capacity` can be written, that divide a file of `bytes`.
    #[must_use]
    pub fn emulated(bytes: u64, zone_bytes: u64, capacity: u64) -> Self {
        let zone = |index: u64| {
            let start = index * zone_bytes;
            let (kind, condition) = (ZoneKind::Sequential, ZoneCondition::Empty);
            Zone { start, capacity, write_pointer: start, kind, condition }
        };
        let zones = (0..bytes / zone_bytes.max(1)).map(zone).collect();
        Self::new(&ZoneReport { zone_bytes, zones, ..ZoneReport::default() }, true)
    }

    fn new(report: &ZoneReport, is_emulated: bool) -> Self {
        let zones: Vec<ZoneState> =
            report.zones.iter().map(|zone| ZoneState::new(zone, report.max_active > 0)).collect();
        let written = zones.iter().filter(|zone| zone.is_counted).count() as u32;
        let state = ZoneStates { zones, written, unfinished: Vec::new(), regions: Vec::new(), progress: 0 };
        Self {
            zone_bytes: report.zone_bytes.max(1),
            max_written: report.max_written(),
            is_emulated,
            state: Mutex::new(state),
        }
    }

    /// Reports whether the zones exist in this table alone.
    #[must_use]
    pub const fn is_emulated(&self) -> bool {
        self.is_emulated
    }

    /// Returns the maximum number of zones that are written in part; zero for no limit.
    pub(crate) const fn max_written(&self) -> u32 {
        self.max_written
    }

    /// Returns the size of a zone.
    #[must_use]
    pub const fn zone_bytes(&self) -> u64 {
        self.zone_bytes
    }

    /// Returns the indices of the zones of a region: of the first, and after the last.
    pub(crate) fn range(&self, start: u64, length: u64) -> (usize, usize) {
        let most = self.lock().zones.len();
        (self.index(start).min(most), self.index(start + length).min(most))
    }

    /// Returns the offset of the zone with this offset.
    pub(crate) const fn start_of(&self, offset: u64) -> u64 {
        offset / self.zone_bytes * self.zone_bytes
    }

    /// Locks the state. It is valid even if a worker has panicked, because it is changed by assignments only.
    pub(super) fn lock(&self) -> MutexGuard<'_, ZoneStates> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the index of the zone with this offset.
    pub(super) const fn index(&self, offset: u64) -> usize {
        (offset / self.zone_bytes) as usize
    }

    /// Counts the written bytes of a region from now on. Returns the number of the region.
    pub(crate) fn watch(&self, first: usize, end: usize) -> usize {
        let mut state = self.lock();
        if let Some(known) = state.regions.iter().position(|region| (region.first, region.end) == (first, end)) {
            return known;
        }
        let zones = state.zones.get(first..end).unwrap_or_default();
        let bytes = zones.iter().filter(|zone| zone.is_sequential).map(|zone| zone.write_pointer - zone.start).sum();
        state.regions.push(WrittenRegion { first, end, bytes });
        state.regions.len() - 1
    }

    /// Returns a number that changes whenever a worker makes progress.
    pub(crate) fn progress(&self) -> u64 {
        self.lock().progress
    }

    /// Returns the offset from which a sequence of writes continues at `offset`, and the bytes of the zone that are
    /// skipped because they cannot be written. `is_known` tells whether the sequence has written in the zone before.
    pub(crate) fn next_write(&self, offset: u64, is_known: bool, least: u64) -> (u64, u64) {
        let state = self.lock();
        let Some(zone) = state.zones.get(self.index(offset)).filter(|zone| zone.is_sequential) else {
            return (offset, 0);
        };
        if zone.room() >= least && zone.is_usable {
            return (zone.write_pointer, 0);
        }
        if !is_known && zone.is_usable {
            return (zone.start, 0);
        }
        let next = zone.start + self.zone_bytes;
        (next, next - zone.end.min(zone.write_pointer.max(offset)))
    }

    /// Returns the offset from which a sequence of reads continues at `offset`; `None` if there are no further data
    /// before `end`.
    pub(crate) fn next_read(&self, offset: u64, end: u64, least: u64) -> Option<u64> {
        let state = self.lock();
        let mut at = offset;
        while at < end {
            let zone = state.zones.get(self.index(at))?;
            if !zone.is_sequential || (zone.is_usable && at + least <= zone.readable) {
                return Some(at);
            }
            at = zone.start + self.zone_bytes;
        }
        None
    }

    /// Records the end of a write or trim.
    pub(crate) fn completed(&self, kind: OpKind, offset: u64, length: u32) {
        let mut state = self.lock();
        let index = self.index(offset);
        let Some(zone) = state.zones.get_mut(index).filter(|zone| zone.is_sequential) else { return };
        match kind {
            OpKind::Write => {
                zone.in_flight = zone.in_flight.saturating_sub(1);
                let is_idle = zone.in_flight == 0;
                if is_idle && !zone.is_unknown {
                    zone.readable = zone.write_pointer;
                } else if offset == zone.readable && !zone.is_unknown {
                    zone.readable += u64::from(length);
                }
                if is_idle && zone.room() == 0 {
                    state.uncount(index);
                }
            }
            OpKind::Trim if !zone.is_unknown => state.reset(index),
            _ => zone.is_commanded = false,
        }
    }

    /// Records that a write or trim has failed; a call of [`ZoneTable::completed`] follows.
    pub(crate) fn failed(&self, offset: u64) {
        let mut state = self.lock();
        if let Some(zone) = state.zones.get_mut(self.index(offset)).filter(|zone| zone.is_sequential) {
            zone.is_unknown = true;
        }
    }

    /// Records the result of a command: the write pointer that the device reports, or `None` if the command has failed.
    pub(crate) fn commanded(&self, task: &ZoneTask, pointer: Option<u64>) {
        let mut state = self.lock();
        let index = self.index(task.start);
        let Some(zone) = state.zones.get_mut(index) else { return };
        zone.is_commanded = false;
        let Some(pointer) = pointer else { return };
        match task.command {
            ZoneCommand::Reset => state.reset(index),
            ZoneCommand::Finish => state.finish(index),
            ZoneCommand::Report => {
                zone.is_unknown = false;
                let (pointer, old) = (pointer.clamp(zone.start, zone.end), zone.write_pointer);
                (zone.write_pointer, zone.readable) = (pointer, pointer);
                let is_partial = !zone.is_empty() && zone.room() > 0;
                state.moved(index, old);
                if !is_partial {
                    state.uncount(index);
                }
            }
        }
        state.progress += 1;
    }
}

impl ZoneStates {
    /// Counts a zone as written.
    pub(super) fn count(&mut self, index: usize) {
        if !std::mem::replace(&mut self.zones[index].is_counted, true) {
            self.written += 1;
        }
    }

    pub(super) fn uncount(&mut self, index: usize) {
        if std::mem::take(&mut self.zones[index].is_counted) {
            self.written -= 1;
        }
        self.unfinished.retain(|zone| *zone != index);
    }

    /// Adjusts the written bytes of the regions after a write pointer has moved from `old`.
    pub(super) fn moved(&mut self, index: usize, old: u64) {
        let new = self.zones[index].write_pointer;
        for region in self.regions.iter_mut().filter(|region| (region.first..region.end).contains(&index)) {
            region.bytes = (region.bytes + new).saturating_sub(old);
        }
    }

    pub(super) fn reset(&mut self, index: usize) {
        let zone = &mut self.zones[index];
        let old = zone.write_pointer;
        (zone.write_pointer, zone.readable) = (zone.start, zone.start);
        (zone.is_commanded, zone.is_unknown) = (false, false);
        self.moved(index, old);
        self.uncount(index);
    }

    pub(super) fn finish(&mut self, index: usize) {
        let zone = &mut self.zones[index];
        let old = zone.write_pointer;
        (zone.write_pointer, zone.is_commanded) = (zone.end, false);
        self.moved(index, old);
        self.uncount(index);
    }
}
