//! Sizes of requests.

use super::profile::{SizeProfile, TraceSizeCount, TraceSizeRange};

/// Unit of sizes that are always counted exactly, in bytes: every block device's sector.
const SECTOR_BYTES: u32 = 512;
/// Number of multiples of [`SECTOR_BYTES`] that are counted exactly: up to 2 MiB.
const SECTORS_MAX: usize = 4096;
/// Maximum number of other sizes that are counted exactly. Later ones are counted in ranges only.
const ODD_SIZES_MAX: usize = 256;
/// Number of ranges: zero and the powers of two.
const RANGES: usize = 33;
/// Maximum number of sizes in a profile.
const SIZES_SHOWN: usize = 16;

/// Counts of sizes of one operation. Memory: 42 KiB, allocated with the first request.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    /// Counts of multiples of a sector.
    sectors: Vec<u64>,
    /// Other sizes in ascending order, with their counts.
    odd: Vec<(u32, u64)>,
    /// Counts of the remaining sizes per power of two.
    ranges: [u64; RANGES],
}

impl Default for Sizes {
    fn default() -> Self {
        Self { sectors: Vec::new(), odd: Vec::new(), ranges: [0; RANGES] }
    }
}

impl Sizes {
    #[inline]
    pub(super) fn add(&mut self, bytes: u32) {
        let sectors = (bytes / SECTOR_BYTES) as usize;
        if bytes.is_multiple_of(SECTOR_BYTES) && sectors <= SECTORS_MAX {
            if self.sectors.is_empty() {
                self.sectors.resize(SECTORS_MAX + 1, 0);
            }
            self.sectors[sectors] += 1;
            return;
        }
        self.add_odd(bytes);
    }

    fn add_odd(&mut self, bytes: u32) {
        match self.odd.binary_search_by_key(&bytes, |(size, _)| *size) {
            Ok(at) => self.odd[at].1 += 1,
            Err(at) if self.odd.len() < ODD_SIZES_MAX => self.odd.insert(at, (bytes, 1)),
            Err(_) => self.ranges[range_of(bytes)] += 1,
        }
    }

    /// Returns the most frequent sizes, and ranges of the others.
    pub(super) fn profile(&self) -> SizeProfile {
        let sectors = self.sectors.iter().enumerate().map(|(at, count)| (at as u32 * SECTOR_BYTES, *count));
        let mut exact: Vec<(u32, u64)> =
            sectors.chain(self.odd.iter().copied()).filter(|(_, count)| *count > 0).collect();
        exact.sort_by_key(|&(bytes, count)| (std::cmp::Reverse(count), bytes));
        let mut ranges = self.ranges;
        for (bytes, count) in exact.iter().skip(SIZES_SHOWN) {
            ranges[range_of(*bytes)] += count;
        }
        exact.truncate(SIZES_SHOWN);
        let frequent = exact.into_iter().map(|(bytes, requests)| TraceSizeCount { bytes, requests }).collect();
        let others = ranges.iter().enumerate().filter(|(_, count)| **count > 0);
        let others = others.map(|(at, requests)| {
            let (bytes_min, bytes_end) = if at == 0 { (0, 1) } else { (1 << (at - 1), 1u64 << at) };
            TraceSizeRange { bytes_min, bytes_end, requests: *requests }
        });
        SizeProfile { frequent, others: others.collect() }
    }
}

/// Returns the index of the range of a size: zero for zero, `n + 1` for sizes from `2^n` on.
fn range_of(bytes: u32) -> usize {
    (32 - bytes.leading_zeros()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_sizes_are_exact_and_every_request_is_counted() {
        let mut sizes = Sizes::default();
        (1..=1000u32).for_each(|n| sizes.add(n * 3));
        (0..5000).for_each(|_| sizes.add(8192));
        (0..70).for_each(|_| sizes.add(0));
        sizes.add(u32::MAX);
        let profile = sizes.profile();
        assert_eq!(profile.frequent[0], TraceSizeCount { bytes: 8192, requests: 5000 });
        assert_eq!(profile.frequent[1], TraceSizeCount { bytes: 0, requests: 70 });
        let all: u64 = profile.frequent.iter().map(|size| size.requests).sum::<u64>()
            + profile.others.iter().map(|range| range.requests).sum::<u64>();
        assert_eq!(all, 6071);
        let last = profile.others.last().unwrap();
        assert_eq!((last.bytes_min, last.bytes_end, last.requests), (1 << 31, 1 << 32, 1));
    }
}
