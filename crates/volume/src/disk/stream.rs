//! Readahead of a drive.

use std::ops::RangeInclusive;

use units::Nanos;

use super::geometry::Geometry;
use super::queue::DiskCommand;

/// One segment of read-ahead.
///
/// After a read the head stays where it is, bytes pass under it, and the drive keeps them: from `from` to the byte under
/// the head, which never gets beyond `limit`. Where it is follows from where it was at an instant, so nothing has to
/// happen while it goes on.
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
    /// Nothing has been read.
    pub(super) fn new(readahead: u64) -> Self {
        Self { readahead, from: u64::MAX, limit: u64::MAX, offset: u64::MAX, at: Nanos::ZERO, ns_per_byte: 1.0 }
    }

    /// A command has ended under the head. Those before it are forgotten, unless this one went on where they were.
    pub(super) fn restart(&mut self, command: &DiskCommand, goes_on: bool, now: Nanos, geometry: &Geometry) {
        let end = command.end();
        self.offset = end;
        self.at = now;
        self.ns_per_byte = geometry.spot(end).ns_per_byte;
        let readahead = if command.write { 0 } else { self.readahead };
        self.limit = end.saturating_add(readahead).min(geometry.size());
        self.from = match (command.write, goes_on) {
            (true, _) => end,
            (false, true) => self.from.max(end.saturating_sub(self.readahead)),
            (false, false) => command.offset,
        };
    }

    /// The head goes away: there will be no more than there is.
    pub(super) fn freeze(&mut self, now: Nanos) {
        self.limit = self.reached(now);
    }

    /// The byte under the head.
    fn reached(&self, now: Nanos) -> u64 {
        let passed = (now.since(self.at).get() as f64 / self.ns_per_byte) as u64;
        self.offset.saturating_add(passed).min(self.limit)
    }

    /// When all of a command has passed the head.
    pub(super) fn passes(&self, command: &DiskCommand) -> Nanos {
        let ahead = command.end().saturating_sub(self.offset);
        self.at + Nanos::new((ahead as f64 * self.ns_per_byte + 0.5) as u64)
    }

    /// Whether the drive has all of a read already.
    #[inline]
    pub(super) fn holds(&self, command: &DiskCommand, now: Nanos) -> bool {
        command.offset >= self.from && command.offset < self.limit && command.end() <= self.reached(now)
    }

    /// Between which offsets begins what is served without the arm.
    #[inline]
    pub(super) fn range(&self) -> RangeInclusive<u64> {
        self.from..=self.limit
    }

    /// Whether a command is served by letting the platters turn on: a read within what is read ahead, a read or a
    /// write that begins under the head.
    #[inline]
    pub(super) fn leads_to(&self, command: &DiskCommand, now: Nanos) -> bool {
        if !self.range().contains(&command.offset) {
            return false;
        }
        if command.offset == self.offset && now == self.at {
            return true;
        }
        let reached = self.reached(now);
        !command.write && (reached < self.limit || command.end() <= reached)
    }

    /// A read has been answered out of what is there: its place is free for what comes, if the head still goes on.
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
    fn the_head_reads_on_until_the_segment_is_full_and_then_needs_a_turn() {
        let geometry = Geometry::new(&HardDisk::sata_7200rpm(), 1 << 40);
        let mut stream = DiskStream::new(64 * KIB);
        assert!(!stream.leads_to(&read(0, 4096), Nanos::ZERO));
        let start = Nanos::from_millis(5);
        stream.restart(&read(0, 4 * KIB), false, start, &geometry);
        let next = read(4 * KIB, 4 * KIB);
        assert!(stream.leads_to(&next, start) && !stream.holds(&next, start));
        // 4 KiB at 150 MB/s.
        assert_eq!(stream.passes(&next).since(start).micros(), 27);
        let soon = start + Nanos::from_micros(100);
        assert!(stream.holds(&next, soon));
        assert!(stream.leads_to(&read(60 * KIB, 128 * KIB), soon), "the head is on its way to it");
        let late = start + Nanos::from_millis(50);
        assert!(stream.holds(&read(64 * KIB, 4 * KIB), late));
        assert!(!stream.leads_to(&read(64 * KIB, 8 * KIB), late), "the head has stopped before its end");
        assert!(!stream.leads_to(&read(1 << 30, 4 * KIB), soon));
    }

    #[test]
    fn a_write_goes_on_only_where_the_head_is() {
        let geometry = Geometry::new(&HardDisk::sata_7200rpm(), 1 << 40);
        let mut stream = DiskStream::new(64 * KIB);
        let write = |offset| DiskCommand { write: true, ..read(offset, 4 * KIB) };
        let now = Nanos::from_millis(1);
        stream.restart(&write(0), false, now, &geometry);
        assert!(stream.leads_to(&write(4 * KIB), now));
        assert!(!stream.leads_to(&write(8 * KIB), now));
        assert!(!stream.leads_to(&write(4 * KIB), now + Nanos::new(1)));
        assert!(!stream.holds(&read(0, 4 * KIB), now), "what was written is not kept");
    }
}
