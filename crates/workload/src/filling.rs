//! Fills buffers with random bytes and patterns.

use job::VerifyPattern;
use units::random::mix;

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
}
