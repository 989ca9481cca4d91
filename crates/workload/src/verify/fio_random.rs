//! The random data that fio 3.33 writes.
//!
//! Learned from blocks that fio wrote. All follows from the seed in the header: groups of four words of 8 bytes,
//! little-endian, each group from its own seed, which is [`FACTOR`] times that of the group before. Words of a whole group
//! are 1, 2, 3 and 5 times its seed; those of an incomplete last group each have a seed of their own.

/// Quotient of the seeds of two groups.
const FACTOR: u64 = 0x61c8_8646_80b5_83eb;
/// Words of a group, divided by its seed.
const MULTIPLES: [u64; 4] = [1, 2, 3, 5];
const WORD_BYTES: usize = 8;

/// Fills a whole write, of which each header that fio puts into it holds `seed`.
pub(super) fn fill(mut seed: u64, write: &mut [u8]) {
    let (groups, rest) = write.as_chunks_mut::<{ MULTIPLES.len() * WORD_BYTES }>();
    for group in groups {
        for (word, multiple) in group.as_chunks_mut::<WORD_BYTES>().0.iter_mut().zip(MULTIPLES) {
            *word = seed.wrapping_mul(multiple).to_le_bytes();
        }
        seed = seed.wrapping_mul(FACTOR);
    }
    for word in rest.chunks_mut(WORD_BYTES) {
        word.copy_from_slice(&seed.to_le_bytes()[..word.len()]);
        seed = seed.wrapping_mul(FACTOR);
    }
}

#[cfg(test)]
mod tests {
    /// The end of a block of 5023 bytes that fio 3.33 wrote.
    #[test]
    fn bytes_are_those_of_fio() {
        let mut write = [0; 5023];
        super::fill(0xa4_cc01_c509_543c, &mut write);
        let end = [
            0xfc, 0xe4, 0xcb, 0x62, 0xda, 0x33, 0x6d, 0xf4, 0x54, 0x27, 0x84, 0xed, 0x95, 0xab, 0x11, 0x3b, 0x1c, 0x16,
            0xd4, 0x76, 0x3d, 0xf6, 0x21, 0x38, 0xb4, 0x9f, 0xcc, 0x3d, 0xe4, 0x40, 0x7e,
        ];
        assert_eq!(write[4992..], end);
        assert_eq!(write[168..176], 0x8f55_6165_344f_e1a8_u64.to_le_bytes());
    }
}
