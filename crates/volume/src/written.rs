//! Written blocks of a volume.

use std::collections::BTreeMap;

use units::random::mix;

use crate::request::{Request, RequestKind};

/// Bytes per block; the map has one bit per block.
const BLOCK: u64 = 64 << 10;
/// Blocks per page of the map; a page is allocated when one of its blocks is written or trimmed.
const PAGE_BLOCKS: u64 = 4096;

/// A map of written blocks. A hash selects the fraction that is written at the start.
#[derive(Clone, Debug)]
pub(crate) struct WrittenRanges {
    pages: BTreeMap<u64, Box<[u64]>>,
    /// Blocks with a hash below this are written at the start.
    threshold: u64,
    key: u64,
    blocks: u64,
}

impl WrittenRanges {
    pub(crate) fn new(size: u64, share: f64, key: u64) -> Self {
        let threshold = (share.clamp(0.0, 1.0) * u64::MAX as f64) as u64;
        Self { pages: BTreeMap::new(), threshold, key, blocks: size.div_ceil(BLOCK).max(1) }
    }

    /// Reports whether all blocks of a request are written. Then marks those of a write, and clears those of a trim.
    pub(crate) fn update(&mut self, request: &Request) -> bool {
        let first = (request.offset / BLOCK) % self.blocks;
        let last = ((request.offset + u64::from(request.length.max(1)) - 1) / BLOCK) % self.blocks;
        match request.kind {
            RequestKind::Flush => true,
            RequestKind::Read => (first..=last).all(|block| self.is_written(block)),
            RequestKind::Write | RequestKind::Trim => {
                for block in first..=last {
                    self.set(block, request.kind == RequestKind::Write);
                }
                true
            }
        }
    }

    fn is_written(&self, block: u64) -> bool {
        match self.pages.get(&(block / PAGE_BLOCKS)) {
            Some(page) => page[(block % PAGE_BLOCKS / 64) as usize] >> (block % 64) & 1 == 1,
            None => self.at_start(block),
        }
    }

    fn at_start(&self, block: u64) -> bool {
        self.threshold == u64::MAX || mix(self.key, block) < self.threshold
    }

    fn set(&mut self, block: u64, written: bool) {
        let number = block / PAGE_BLOCKS;
        if !self.pages.contains_key(&number) {
            let word = |word: u64| {
                (0..64)
                    .fold(0, |bits, bit| bits | u64::from(self.at_start(number * PAGE_BLOCKS + word * 64 + bit)) << bit)
            };
            let page = (0..PAGE_BLOCKS / 64).map(word).collect();
            self.pages.insert(number, page);
        }
        if let Some(page) = self.pages.get_mut(&number) {
            let (word, bit) = ((block % PAGE_BLOCKS / 64) as usize, 1 << (block % 64));
            page[word] = if written { page[word] | bit } else { page[word] & !bit };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(kind: RequestKind, offset: u64) -> Request {
        Request { id: 0, kind, offset, length: 4096 }
    }

    #[test]
    fn writes_and_trims_are_remembered() {
        let mut written = WrittenRanges::new(1 << 40, 0.0, 1);
        assert!(!written.update(&request(RequestKind::Read, 5 << 30)));
        written.update(&request(RequestKind::Write, 5 << 30));
        assert!(written.update(&request(RequestKind::Read, 5 << 30)));
        assert!(!written.update(&request(RequestKind::Read, (5 << 30) + BLOCK)));
        written.update(&request(RequestKind::Trim, 5 << 30));
        assert!(!written.update(&request(RequestKind::Read, 5 << 30)));
    }

    #[test]
    fn a_fraction_of_the_blocks_is_written_at_the_start() {
        let mut written = WrittenRanges::new(1 << 40, 0.25, 7);
        let found = (0..100_000).filter(|block| written.update(&request(RequestKind::Read, block * BLOCK))).count();
        assert!((24_000..26_000).contains(&found), "{found}");
        written.update(&request(RequestKind::Write, 0));
        let again = (1..100_000).filter(|block| written.update(&request(RequestKind::Read, block * BLOCK))).count();
        assert!(again.abs_diff(found) <= 1, "allocating a page changed its other blocks");
    }
}
