//! Dirty pages, by offset.

use std::collections::BTreeMap;

const WORD_BITS: u32 = 6;

/// A sparse bit map in words of 64 pages: its size depends on the dirty pages, not on the device.
#[derive(Debug, Default)]
pub(super) struct DirtyPages {
    words: BTreeMap<u64, u64>,
}

impl DirtyPages {
    pub(super) fn insert(&mut self, key: u64) {
        *self.words.entry(key >> WORD_BITS).or_default() |= bit(key);
    }

    pub(super) fn remove(&mut self, key: u64) {
        let word = key >> WORD_BITS;
        if let Some(bits) = self.words.get_mut(&word) {
            *bits &= !bit(key);
            if *bits == 0 {
                self.words.remove(&word);
            }
        }
    }

    pub(super) fn first(&self, from: u64, to: u64) -> Option<u64> {
        if from >= to {
            return None;
        }
        let word = from >> WORD_BITS;
        self.words.range(word..=(to - 1) >> WORD_BITS).find_map(|(&at, &bits)| {
            let bits = if at == word { bits & (u64::MAX << (from & 63)) } else { bits };
            let key = at << WORD_BITS | u64::from(bits.trailing_zeros());
            (bits != 0 && key < to).then_some(key)
        })
    }
}

const fn bit(key: u64) -> u64 {
    1 << (key & 63)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use units::random::Random;

    #[test]
    fn agrees_with_a_set() {
        let seed = 11;
        let mut random = Random::new(seed, 0);
        let (mut dirty, mut set) = (DirtyPages::default(), BTreeSet::new());
        for step in 0..100_000 {
            let key = random.below(2000);
            if random.below(2) == 0 {
                dirty.insert(key);
                set.insert(key);
            } else {
                dirty.remove(key);
                set.remove(&key);
            }
            let (from, to) = (random.below(2100), random.below(2100));
            let expected = if from < to { set.range(from..to).next().copied() } else { None };
            assert_eq!(dirty.first(from, to), expected, "seed {seed}, step {step}");
        }
        assert_eq!(dirty.words.values().map(|bits| bits.count_ones() as usize).sum::<usize>(), set.len());
    }
}
