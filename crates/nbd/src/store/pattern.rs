//! A read-only store whose content is computed from the offset.

use units::random::{Random, mix};

use super::scratch::ScratchBuffer;
use super::{Footprint, Operation, Pieces, Pool, Store, StoreCapabilities, StoreProgress};
use nbd_wire::{Errno, Extent};

/// Content of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Zeroes,
    /// The offset in every eight aligned bytes, big-endian, as in `nbdkit pattern`:
    /// <https://libguestfs.org/nbdkit-pattern-plugin.1.html>.
    Offsets,
    /// Incompressible bytes that depend on the seed.
    Random {
        seed: u64,
    },
}

/// A read-only store computed from offsets, which takes memory only for reads in flight.
#[derive(Debug)]
pub struct PatternStore {
    content: Content,
    size: u64,
    scratch: ScratchBuffer,
}

impl PatternStore {
    /// Creates a store of `size` bytes.
    #[must_use]
    pub fn new(content: Content, size: u64) -> Self {
        Self { content, size, scratch: ScratchBuffer::default() }
    }
}

impl Store for PatternStore {
    fn size(&self) -> u64 {
        self.size
    }

    fn abilities(&self) -> StoreCapabilities {
        StoreCapabilities::default()
    }

    fn footprint(&self) -> Footprint {
        Footprint { copies: self.content != Content::Zeroes, ..Footprint::default() }
    }

    fn keep_within(&mut self, pool: &Pool) {
        self.scratch.keep_within(pool);
    }

    fn start(&mut self, slot: u32, operation: Operation<&[u8]>) -> StoreProgress {
        StoreProgress::Ended(match (operation, self.content) {
            (Operation::Read { .. }, Content::Zeroes) | (Operation::Flush | Operation::Cache { .. }, _) => Ok(()),
            (Operation::Read { offset, length }, Content::Offsets) => {
                fill_offsets(offset, self.scratch.get_mut(slot, length as usize));
                Ok(())
            }
            (Operation::Read { offset, length }, Content::Random { seed }) => {
                fill_random(seed, offset, self.scratch.get_mut(slot, length as usize));
                Ok(())
            }
            _ => Err(Errno::NotPermitted),
        })
    }

    fn lend<'a>(&'a self, slot: u32, _offset: u64, length: u32, from: u32, pieces: &mut Pieces<'_, 'a>) {
        match self.content {
            Content::Zeroes => {
                pieces.push_zeroes(u64::from(length - from));
            }
            _ => {
                pieces.push(&self.scratch.get(slot)[from as usize..length as usize]);
            }
        }
    }

    fn release(&mut self, slot: u32) {
        self.scratch.release(slot);
    }

    fn extents(&mut self, _offset: u64, length: u64, _most: usize) -> Result<Vec<Extent>, Errno> {
        let nothing = self.content == Content::Zeroes;
        Ok(vec![Extent { length, hole: nothing, zero: nothing }])
    }
}

fn fill_offsets(offset: u64, buffer: &mut [u8]) {
    fill_units::<8>(offset, buffer, |at, unit| *unit = at.to_be_bytes());
}

/// Each sector has its own generator, so that it can be computed without those before it.
const SECTOR_BYTES: usize = 512;

fn fill_random(seed: u64, offset: u64, buffer: &mut [u8]) {
    let seed = mix(seed, RANDOM_CONTENT);
    fill_units::<SECTOR_BYTES>(offset, buffer, |at, sector| Random::new(seed, at / SECTOR_BYTES as u64).fill(sector));
}

/// Separates content from other random choices under the same seed.
const RANDOM_CONTENT: u64 = 0x636f_6e74_656e_7421;

/// Fills a buffer that begins at `offset` with aligned units of `N` bytes; the first and the last may be cut.
fn fill_units<const N: usize>(offset: u64, buffer: &mut [u8], mut make: impl FnMut(u64, &mut [u8; N])) {
    let (mut at, mut rest) = (offset, buffer);
    while !rest.is_empty() {
        let skip = (at % N as u64) as usize;
        let take = (N - skip).min(rest.len());
        let (part, after) = rest.split_at_mut(take);
        match <&mut [u8; N]>::try_from(&mut *part) {
            Ok(whole) => make(at, whole),
            Err(_) => {
                let mut unit = [0; N];
                make(at - skip as u64, &mut unit);
                part.copy_from_slice(&unit[skip..skip + take]);
            }
        }
        (at, rest) = (at + take as u64, after);
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::{self, TestedStore};
    use super::*;

    fn whole(content: Content, size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        match content {
            Content::Zeroes => {}
            Content::Offsets => fill_offsets(0, &mut bytes),
            Content::Random { seed } => fill_random(seed, 0, &mut bytes),
        }
        bytes
    }

    #[test]
    fn any_part_equals_that_part_of_the_whole() {
        for content in [Content::Zeroes, Content::Offsets, Content::Random { seed: 5 }] {
            for size in [3, 5000, 150_000] {
                let make = |_| Box::new(PatternStore::new(content, size as u64)) as Box<dyn Store>;
                conformance::check(make, &TestedStore { content: whole(content, size), ..TestedStore::default() });
            }
        }
    }

    #[test]
    fn offsets_are_big_endian() {
        let mut bytes = [0; 10];
        fill_offsets(0x0102_0304_0506_0707, &mut bytes);
        assert_eq!(bytes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 1]);
    }

    #[test]
    fn random_content_depends_on_its_seed_and_never_repeats() {
        let bytes = whole(Content::Random { seed: 1 }, 1 << 20);
        assert_ne!(bytes, whole(Content::Random { seed: 2 }, 1 << 20));
        let sectors: std::collections::HashSet<&[u8]> = bytes.chunks(SECTOR_BYTES).collect();
        assert_eq!(sectors.len(), (1 << 20) / SECTOR_BYTES);
        let ones: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
        assert!((ones as f64 / f64::from(8u32 << 20) - 0.5).abs() < 0.001, "{ones}");
    }
}
