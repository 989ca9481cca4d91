//! Readahead of a drive.

use std::ops::RangeInclusive;

use units::Nanos;

use super::geometry::Geometry;
use super::queue::DiskCommand;

/// One segment of readahead.
///
/// After a read the head stays in place, and the drive keeps the bytes that pass under it: from `from` to the byte
/// under the head, at most to `limit`. The head position follows from an earlier one and the time, so this needs no
/// events.
#[derive(Clone, Debug)]
pub(super) struct DiskStream {
    readahead: u64,
    from: u64,
    limit: u64,
    offset: u64,
    at: Nanos,
    ns_per_byte: f64,
}

impl DiskStream {
    pub(super) fn new(readahead: u64) -> Self {
        Self { readahead, from: u64::MAX, limit: u64::MAX, offset: u64::MAX, at: Nanos::ZERO, ns_per_byte: 1.0 }
    }

    /// Restarts the segment after a command has passed under the head. Earlier bytes are dropped unless the command
    /// continued the segment.
    pub(super) fn restart(&mut self, command: &DiskCommand, continues: bool, now: Nanos, geometry: &Geometry) {
        let end = command.end();
        self.offset = end;
        self.at = now;
        self.ns_per_byte = geometry.position(end).ns_per_byte;
        let readahead = if command.write { 0 } else { self.readahead };
        self.limit = end.saturating_add(readahead).min(geometry.size());
        self.from = match (command.write, continues) {
            (true, _) => end,
            (false, true) => self.from.max(end.saturating_sub(self.readahead)),
            (false, false) => command.offset,
        };
    }

    /// Ends the segment at the current byte, because the head moves away.
    pub(super) fn freeze(&mut self, now: Nanos) {
        self.limit = self.reached(now);
    }

    /// Returns the byte under the head.
    fn reached(&self, now: Nanos) -> u64 {
        let passed = (now.since(self.at).get() as f64 / self.ns_per_byte) as u64;
        self.offset.saturating_add(passed).min(self.limit)
    }

    /// Returns when all of a command has passed under the head.
    pub(super) fn passes(&self, command: &DiskCommand) -> Nanos {
        let ahead = command.end().saturating_sub(self.offset);
        self.at + Nanos::new((ahead as f64 * self.ns_per_byte + 0.5) as u64)
    }

    /// Reports whether all bytes of a read are buffered.
    #[inline]
    pub(super) fn holds(&self, command: &DiskCommand, now: Nanos) -> bool {
        command.offset >= self.from && command.offset < self.limit && command.end() <= self.reached(now)
    }

    /// Returns the range of offsets that can be served without a seek.
    #[inline]
    pub(super) fn range(&self) -> RangeInclusive<u64> {
        self.from..=self.limit
    }

    /// Reports whether a command is served by the rotation alone: a read within the readahead, or a read or write that
    /// begins under the head.
    #[inline]
    pub(super) fn can_serve(&self, command: &DiskCommand, now: Nanos) -> bool {
        if !self.range().contains(&command.offset) {
            return false;
        }
        if command.offset == self.offset && now == self.at {
            return true;
        }
        let reached = self.reached(now);
        !command.write && (reached < self.limit || command.end() <= reached)
    }

    /// Extends the segment after a read from the buffer, if the head is still reading.
    pub(super) fn used(&mut self, command: &DiskCommand, now: Nanos, geometry: &Geometry) {
        let reached = self.reached(now);
        if reached < self.limit {
            self.limit = self.limit.max(command.end().saturating_add(self.readahead).min(geometry.size()));
            self.from = self.from.max(command.offset.saturating_sub(self.readahead));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hard_disk::HardDisk;

    const KIB: u64 = 1024;

    fn read(offset: u64, length: u64) -> DiskCommand {
        DiskCommand { offset, length: length as u32, ..DiskCommand::default() }
    }

    #[test]
    fn readahead_fills_the_segment_and_then_needs_a_turn() {
        let geometry = Geometry::new(&HardDisk::sata_7200rpm(), 1 << 40);
        let mut stream = DiskStream::new(64 * KIB);
        assert!(!stream.can_serve(&read(0, 4096), Nanos::ZERO));
        let start = Nanos::from_millis(5);
        stream.restart(&read(0, 4 * KIB), false, start, &geometry);
        let next = read(4 * KIB, 4 * KIB);
        assert!(stream.can_serve(&next, start) && !stream.holds(&next, start));
        // 4 KiB at 150 MB/s.
        assert_eq!(stream.passes(&next).since(start).micros(), 27);
        let soon = start + Nanos::from_micros(100);
        assert!(stream.holds(&next, soon));
        assert!(stream.can_serve(&read(60 * KIB, 128 * KIB), soon), "the head is approaching it");
        let late = start + Nanos::from_millis(50);
        assert!(stream.holds(&read(64 * KIB, 4 * KIB), late));
        assert!(!stream.can_serve(&read(64 * KIB, 8 * KIB), late), "the head has stopped before its end");
        assert!(!stream.can_serve(&read(1 << 30, 4 * KIB), soon));
    }

    #[test]
    fn a_write_continues_only_at_the_head() {
        let geometry = Geometry::new(&HardDisk::sata_7200rpm(), 1 << 40);
        let mut stream = DiskStream::new(64 * KIB);
        let write = |offset| DiskCommand { write: true, ..read(offset, 4 * KIB) };
        let now = Nanos::from_millis(1);
        stream.restart(&write(0), false, now, &geometry);
        assert!(stream.can_serve(&write(4 * KIB), now));
        assert!(!stream.can_serve(&write(8 * KIB), now));
        assert!(!stream.can_serve(&write(4 * KIB), now + Nanos::new(1)));
        assert!(!stream.holds(&read(0, 4 * KIB), now), "written data are not buffered");
    }
}
