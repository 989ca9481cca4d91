//! Scrambling of positions.

use trace::TraceRequest;
use units::random::mix;

/// Size of a region whose inside keeps its order.
const REGION_BYTES: u64 = 1 << 20;
/// Number of rounds of the permutation.
const ROUNDS: u64 = 6;

/// A secret permutation of the regions of a device. Distances and runs inside a region stay, as do repetitions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionPermutation {
    key: u64,
    bytes: u64,
    regions: u64,
    /// Bits of each half of a region number.
    half_bits: u32,
}

impl RegionPermutation {
    /// Creates the permutation of a key. The rest of a device that is no whole region stays in its place.
    pub(crate) fn new(bytes: u64, key: u64) -> Self {
        let regions = bytes / REGION_BYTES;
        let bits = 64 - regions.saturating_sub(1).leading_zeros();
        Self { key, bytes, regions, half_bits: bits.div_ceil(2).max(1) }
    }

    /// Moves a request.
    pub(crate) fn apply(&self, request: &mut TraceRequest) {
        let region = request.offset / REGION_BYTES;
        if request.length == 0 || region >= self.regions {
            return;
        }
        let offset = self.image(region) * REGION_BYTES + request.offset % REGION_BYTES;
        // One that reaches into the next region could end behind the device.
        let last = self.bytes.saturating_sub(request.length.into());
        request.offset = offset.min(last);
    }

    /// Returns the image of a region: a Feistel network over a power of four, repeated until the result is a region.
    fn image(&self, region: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let mut number = region;
        loop {
            let (mut left, mut right) = (number >> self.half_bits, number & mask);
            for round in 0..ROUNDS {
                (left, right) = (right, left ^ (mix(self.key.wrapping_add(round), right) & mask));
            }
            number = left << self.half_bits | right;
            if number < self.regions {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn moved(permutation: &RegionPermutation, offset: u64, length: u32) -> u64 {
        let mut request = TraceRequest { offset, length, ..TraceRequest::default() };
        permutation.apply(&mut request);
        request.offset
    }

    #[test]
    fn each_region_has_its_own_place_and_keeps_its_inside() {
        for regions in [1, 2, 3, 100, 1024, 1025] {
            let bytes = regions * REGION_BYTES + 4096;
            let permutation = RegionPermutation::new(bytes, 99);
            let images: BTreeSet<u64> = (0..regions).map(|region| moved(&permutation, region << 20, 4096)).collect();
            assert_eq!(images.len() as u64, regions);
            assert!(images.iter().all(|image| image + REGION_BYTES <= bytes && image % REGION_BYTES == 0));
            let moved_regions = (0..regions).filter(|region| moved(&permutation, region << 20, 512) != region << 20);
            assert!(regions < 100 || moved_regions.count() as u64 > regions * 9 / 10);
            assert_eq!(moved(&permutation, 8192, 512), moved(&permutation, 0, 512) + 8192);
        }
        let other = RegionPermutation::new(1 << 40, 1);
        assert_ne!(moved(&other, 5 << 20, 512), moved(&RegionPermutation::new(1 << 40, 2), 5 << 20, 512));
    }

    #[test]
    fn no_request_leaves_the_device() {
        let bytes = 64 * REGION_BYTES;
        let permutation = RegionPermutation::new(bytes, 5);
        for region in 0..64 {
            let offset = moved(&permutation, (region << 20) + 1_000_000, 1 << 20);
            assert!(offset + (1 << 20) <= bytes);
        }
        assert_eq!(moved(&permutation, u64::MAX, 512), u64::MAX);
        assert_eq!(moved(&permutation, 0, 0), 0);
        assert_eq!(moved(&RegionPermutation::new(0, 5), 0, 512), 0);
        assert_eq!(moved(&RegionPermutation::new(u64::MAX, 5), 0, 512) % REGION_BYTES, 0);
    }
}
