//! Content of writes.

use job::{Job, VerifyPattern};
use units::random::mix;

use crate::decision::Decision;
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

/// Repeats `pattern` over the buffer.
pub(crate) fn repeat(pattern: &[u8], buffer: &mut [u8]) {
    for chunk in buffer.chunks_mut(pattern.len().max(1)) {
        chunk.copy_from_slice(&pattern[..chunk.len()]);
    }
}

/// Repeats the pattern of verification over the buffer, which begins at `offset` of its file.
pub(crate) fn fill_pattern(pattern: &VerifyPattern, offset: u64, buffer: &mut [u8]) {
    let (length, all) = (pattern.bytes.len().max(1), buffer.len().max(1));
    let interval = if pattern.interval == 0 { all } else { pattern.interval as usize };
    for (index, chunk) in buffer.chunks_mut(interval).enumerate() {
        repeat(&pattern.bytes, chunk);
        let offset = (offset + (index * interval) as u64).to_le_bytes();
        for &place in &pattern.offsets {
            for part in chunk.chunks_mut(length) {
                let end = (place + offset.len()).min(part.len());
                if place < end {
                    part[place..end].copy_from_slice(&offset[..end - place]);
                }
            }
        }
    }
}

/// Number of parallel xorshift generators.
const LANES: usize = 8;

/// Fills the buffer with random bytes that depend on the key alone.
///
/// The compiler vectorizes eight xorshift generators side by side. Payload only has to be incompressible and differ
/// between blocks, and must keep up with fast devices.
pub(crate) fn fill_random(key: u64, buffer: &mut [u8]) {
    let mut lanes = [0u64; LANES];
    for (n, lane) in lanes.iter_mut().enumerate() {
        // A xorshift generator never leaves the state zero.
        *lane = mix(key, n as u64) | 1;
    }
    let mut chunks = buffer.chunks_exact_mut(LANES * 8);
    for chunk in &mut chunks {
        step(&mut lanes);
        for (bytes, lane) in chunk.chunks_exact_mut(8).zip(&lanes) {
            bytes.copy_from_slice(&lane.to_le_bytes());
        }
    }
    step(&mut lanes);
    for (bytes, lane) in chunks.into_remainder().chunks_mut(8).zip(&lanes) {
        bytes.copy_from_slice(&lane.to_le_bytes()[..bytes.len()]);
    }
}

#[inline]
fn step(lanes: &mut [u64; LANES]) {
    for lane in lanes {
        *lane ^= *lane << 7;
        *lane ^= *lane >> 9;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_bytes_depend_on_the_key_and_not_on_the_length() {
        let (mut long, mut short, mut other) = ([0; 4096], [0; 1000], [0; 4096]);
        fill_random(1, &mut long);
        fill_random(1, &mut short);
        fill_random(2, &mut other);
        assert_eq!(long[..960], short[..960]);
        let equal = long.iter().zip(&other).filter(|(a, b)| a == b).count();
        assert!(equal < 60, "{equal} of 4096 bytes are equal; 16 are by chance");
        let ones: u32 = long.iter().map(|byte| byte.count_ones()).sum();
        assert!((16_000..16_800).contains(&ones), "{ones}");
    }

    #[test]
    fn patterns_repeat_and_are_cut_off() {
        let mut buffer = [0; 7];
        repeat(b"abc", &mut buffer);
        assert_eq!(&buffer, b"abcabca");
    }

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
