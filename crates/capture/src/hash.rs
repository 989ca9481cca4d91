//! A hash for sectors and process IDs: tables are looked up several times per request.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Makes hashes with a random key, so that the load cannot choose colliding sectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastState(u64);

impl Default for FastState {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0_u64) | 1)
    }
}

impl BuildHasher for FastState {
    type Hasher = FastHash;

    fn build_hasher(&self) -> FastHash {
        FastHash { key: self.0, hash: self.0 }
    }
}

/// A hash under construction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FastHash {
    key: u64,
    hash: u64,
}

impl Hasher for FastHash {
    fn finish(&self) -> u64 {
        self.hash
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.hash ^ word).wrapping_mul(u128::from(self.key ^ 0x9e37_79b9_7f4a_7c15 | 1));
        self.hash = (product as u64) ^ (product >> 64) as u64;
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}
