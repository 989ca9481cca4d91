//! Zones at regular distances (`zonemode=strided`).

use job::StridedZones;
use units::random::{Random, mix};

use super::permutation::Permutation;

/// The position in zones: some bytes are transferred in each, then the next zone follows.
#[derive(Clone, Debug)]
pub(super) struct Strides {
    zones: StridedZones,
    /// Bytes of the region.
    length: u64,
    /// Start of the current zone, from the start of the region.
    start: u64,
    /// Bytes left to transfer in this zone.
    left: u64,
    /// Next sequential position in this zone.
    head: u64,
    /// Order of the blocks of this zone, for random offsets.
    order: Option<Permutation>,
    key: u64,
}

impl Strides {
    pub(super) fn new(zones: StridedZones, length: u64, key: u64) -> Self {
        Self { zones, length, start: 0, left: zones.size.get(), head: 0, order: None, key }
    }

    /// Begins the next pass, in which all blocks are unused.
    ///
    /// As in fio, it continues where the previous one ended, unless that is the end of the region or the pass `restarts`.
    pub(super) fn next_pass(&mut self, is_random: bool, restarts: bool, unit: u32, key: u64) {
        let unit_bytes = u64::from(unit);
        if restarts || (self.left >= unit_bytes && !self.has_room(is_random, unit_bytes)) {
            *self = Self::new(self.zones, self.length, key);
        }
        (self.order, self.key) = (None, key);
    }

    /// Returns offset and length of the next operation of at most `length` bytes; `unit` is the smallest block.
    ///
    /// Returns `None`, which ends the pass, in a zone without room for a block, and where a sequence reaches the end of
    /// the region within a zone, as in fio.
    pub(super) fn next(&mut self, is_random: bool, length: u32, unit: u32, random: &mut Random) -> Option<(u64, u32)> {
        let unit_bytes = u64::from(unit);
        if self.left < unit_bytes {
            self.next_zone();
        }
        if !self.has_room(is_random, unit_bytes) {
            return None;
        }
        let extent = self.extent();
        let at = if is_random {
            self.block(extent / unit_bytes, random) * unit_bytes
        } else {
            self.sequential(extent, unit_bytes)
        };
        let room = (extent - at).min(self.left.max(unit_bytes)) / unit_bytes * unit_bytes;
        let length = length.min(u32::try_from(room).unwrap_or(u32::MAX)).max(unit);
        self.head = at + u64::from(length);
        self.left = self.left.saturating_sub(u64::from(length));
        Some((self.start + at, length))
    }

    /// Reports whether the current zone has room for another block.
    ///
    /// Zones that the end of the region does not cut begin again, and so does the order of random blocks.
    fn has_room(&self, is_random: bool, unit_bytes: u64) -> bool {
        let extent = self.extent();
        let begins_again = is_random || extent == self.zones.range.get();
        extent >= unit_bytes && (begins_again || self.head + unit_bytes <= extent)
    }

    /// Returns the usable bytes of the current zone.
    fn extent(&self) -> u64 {
        self.zones.range.get().min(self.length.saturating_sub(self.start))
    }

    /// Goes to the next zone, or the first one at the end of the region.
    fn next_zone(&mut self) {
        self.start = self.start.saturating_add(self.zones.range.get()).saturating_add(self.zones.skip.get());
        if self.start >= self.length {
            self.start = 0;
        }
        (self.left, self.head, self.order) = (self.zones.size.get(), 0, None);
    }

    /// Returns the next position in the zone, which begins again at its end.
    fn sequential(&self, extent: u64, unit_bytes: u64) -> u64 {
        if self.head + unit_bytes <= extent { self.head } else { 0 }
    }

    /// Returns a block that was not used since the zone was entered or all its blocks were used.
    fn block(&mut self, blocks: u64, random: &mut Random) -> u64 {
        if let Some(block) = self.order.as_mut().and_then(Permutation::next) {
            return block;
        }
        let mut order = Permutation::new(blocks, mix(self.key, random.below(u64::MAX)));
        let block = order.next().unwrap_or(0);
        self.order = Some(order);
        block
    }
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;

    /// Returns the blocks of operations of one block each.
    fn blocks(zones: (u64, u64, u64), length: u64, is_random: bool, count: usize) -> Vec<u64> {
        let (size, range, skip) = zones;
        let zones = StridedZones { size: Bytes::new(size), range: Bytes::new(range), skip: Bytes::new(skip) };
        let (mut strides, mut random) = (Strides::new(zones, length, 1), Random::new(1, 0));
        (0..count)
            .map(|_| strides.next(is_random, 4096, 4096, &mut random))
            .map_while(|next| Some(next?.0 / 4096))
            .collect()
    }

    #[test]
    fn zones_are_as_in_fio() {
        // The offsets of fio 3.33 for the same zones (write_iolog).
        let some = blocks((16 << 10, 64 << 10, 32 << 10), 1 << 20, false, 50);
        assert_eq!(some[..12], [0, 1, 2, 3, 24, 25, 26, 27, 48, 49, 50, 51]);
        assert_eq!(some[36..], [216, 217, 218, 219, 240, 241, 242, 243, 0, 1, 2, 3, 24, 25]);
        let repeated = blocks((64 << 10, 16 << 10, 32 << 10), 1 << 20, false, 20);
        assert_eq!(repeated, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 12, 13, 14, 15]);
    }

    #[test]
    fn a_sequence_ends_with_the_region_within_a_zone() {
        let all: Vec<u64> = (0..16).chain(32..43).collect();
        assert_eq!(blocks((64 << 10, 64 << 10, 64 << 10), 172 << 10, false, 99), all);
    }

    #[test]
    fn a_zone_without_room_for_a_block_ends_the_pass() {
        // As in fio 3.33; the seventh zone begins at 768 KiB.
        let all: Vec<u64> = (0..6).flat_map(|zone| zone * 32..zone * 32 + 16).collect();
        for is_random in [false, true] {
            let mut found = blocks((64 << 10, 64 << 10, 64 << 10), 771 << 10, is_random, 999);
            found.sort_unstable();
            assert_eq!(found, all);
        }
    }

    #[test]
    fn a_pass_continues_in_the_zone_of_the_one_before_unless_that_ended_the_region() {
        let zones = {
            let bytes = Bytes::new(8 << 10);
            StridedZones { size: bytes, range: bytes, skip: bytes }
        };
        let mut random = Random::new(1, 0);
        let mut starts = |restarts, length, count| {
            let mut strides = Strides::new(zones, length, 1);
            let mut next = || strides.next(false, 4096, 4096, &mut random).map(|(at, _)| at / 4096);
            let first: Vec<u64> = std::iter::from_fn(&mut next).take(count).collect();
            strides.next_pass(false, restarts, 4096, 2);
            (first, strides.next(false, 4096, 4096, &mut random).map(|(at, _)| at / 4096))
        };
        assert_eq!(starts(false, 64 << 10, 4), (vec![0, 1, 4, 5], Some(8)));
        assert_eq!(starts(true, 64 << 10, 4), (vec![0, 1, 4, 5], Some(0)));
        for count in [3, 4] {
            assert_eq!(starts(false, 20 << 10, count), (vec![0, 1, 4], Some(0)));
        }
    }

    #[test]
    fn random_blocks_of_a_zone_do_not_repeat_before_all_were_used() {
        let mut all = blocks((64 << 10, 16 << 10, 32 << 10), 1 << 20, true, 32);
        for visit in all.chunks_mut(4) {
            visit.sort_unstable();
        }
        assert_eq!(all[..16], [[0, 1, 2, 3]; 4].concat());
        assert_eq!(all[16..], [[12, 13, 14, 15]; 4].concat());
    }
}
