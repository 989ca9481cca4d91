//! Content of writes.

use job::Job;
use units::random::mix;

use crate::decision::Decision;
use crate::filling::{fill_random, repeat};
use crate::reducible::ReduciblePayload;

/// Bytes between stamps of a scrambled buffer: the smallest unit that a device may deduplicate.
const SECTOR: usize = 512;

/// Content of writes that are not verified.
#[derive(Clone, Debug)]
pub(crate) enum Payload {
    /// Zeroes, written once.
    Zeroes,
    /// A repeated pattern, written once.
    Pattern(Vec<u8>),
    /// Random bytes, written once.
    Random { seed: u64 },
    /// Random bytes, written once and changed slightly before each write.
    Scrambled { seed: u64 },
    /// New random bytes before each write.
    Refilled { seed: u64 },
    /// Compressible or duplicate buffers, new before each write.
    Reducible(Box<ReduciblePayload>),
}

impl Payload {
    /// `seed` is that of the worker, and `blocks` the number of blocks of its files.
    pub(crate) fn new(job: &Job, seed: u64, blocks: u64) -> Self {
        let payload = &job.payload;
        if let Some(reducible) = ReduciblePayload::new(job, seed, blocks) {
            return Self::Reducible(Box::new(reducible));
        }
        match &payload.pattern {
            Some(pattern) if !pattern.bytes.is_empty() => Self::Pattern(pattern.bytes.clone()),
            _ if payload.zero_buffers => Self::Zeroes,
            _ if payload.refill_buffers => Self::Refilled { seed },
            _ if payload.scramble_buffers => Self::Scrambled { seed },
            _ => Self::Random { seed },
        }
    }

    /// Fills a new buffer. Buffers with different numbers get different random bytes.
    pub(crate) fn prepare(&self, number: u64, buffer: &mut [u8]) {
        match self {
            Self::Zeroes => buffer.fill(0),
            Self::Pattern(pattern) => repeat(pattern, buffer),
            Self::Random { seed } | Self::Scrambled { seed } | Self::Refilled { seed } => {
                fill_random(mix(*seed, number), buffer);
            }
            // Filled before each write.
            Self::Reducible(_) => {}
        }
    }

    /// Fills a prepared buffer for this write.
    #[inline]
    pub(crate) fn fill(&self, op: &Decision, buffer: &mut [u8]) {
        match self {
            Self::Zeroes | Self::Pattern(_) | Self::Random { .. } => {}
            Self::Scrambled { seed } => scramble(seed ^ op.sequence, op.offset, buffer),
            Self::Refilled { seed } => fill_random(mix(*seed, op.sequence), buffer),
            Self::Reducible(reducible) => reducible.fill(op, buffer),
        }
    }
}

/// Stamps each sector with its offset and a number unique to the write, so that no two written sectors are equal.
#[inline]
fn scramble(stamp: u64, offset: u64, buffer: &mut [u8]) {
    let stamp = stamp.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for (index, sector) in buffer.chunks_exact_mut(SECTOR).enumerate() {
        let place = (offset + (index * SECTOR) as u64) ^ stamp.rotate_left(32);
        sector[..8].copy_from_slice(&stamp.to_le_bytes());
        sector[SECTOR - 8..].copy_from_slice(&place.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrambled_sectors_are_distinct() {
        let mut seen = std::collections::BTreeSet::new();
        for sequence in 0..50u64 {
            let mut buffer = vec![7; 8192];
            scramble(sequence, (sequence % 5) * 8192, &mut buffer);
            for sector in buffer.chunks(SECTOR) {
                assert!(seen.insert(sector.to_vec()), "write {sequence}");
            }
        }
    }
}
