//! Numbers of distinct blocks between two uses of a block.

/// Number of slots: twice the number of blocks, so that renumbering is rare.
pub(super) const SLOTS: usize = 32_768;
const WORDS: usize = SLOTS / 64;
/// Words per group of the upper level.
const GROUP: usize = 16;

/// Slots in the order of use, one bit for each block at its last use. Counting takes 16 words and 32 groups at most.
#[derive(Clone, Debug)]
pub(super) struct Recency {
    words: Box<[u64; WORDS]>,
    /// Marked slots of each word: cheaper than counting bits on processors that are not asked for an instruction for it.
    counts: [u8; WORDS],
    groups: [u32; WORDS / GROUP],
    next: usize,
}

impl Recency {
    pub(super) fn new() -> Self {
        Self { words: Box::new([0; WORDS]), counts: [0; WORDS], groups: [0; WORDS / GROUP], next: 0 }
    }

    /// Returns the next slot and marks it; `None` if all are in use, so that blocks have to be renumbered.
    #[inline]
    pub(super) fn push(&mut self) -> Option<u32> {
        let slot = self.next;
        if slot >= SLOTS {
            return None;
        }
        self.next += 1;
        self.words[slot / 64] |= 1 << (slot % 64);
        self.counts[slot / 64] += 1;
        self.groups[slot / 64 / GROUP] += 1;
        Some(slot as u32)
    }

    #[inline]
    pub(super) fn clear(&mut self, slot: u32) {
        let word = slot as usize / 64;
        self.words[word] &= !(1 << (slot % 64));
        self.counts[word] -= 1;
        self.groups[word / GROUP] -= 1;
    }

    /// Returns the number of marked slots after `slot`.
    #[inline]
    pub(super) fn after(&self, slot: u32) -> u32 {
        let word = slot as usize / 64;
        let group = word / GROUP;
        let within = (self.words[word] >> (slot % 64) >> 1).count_ones();
        let words: u32 = self.counts[word + 1..(group + 1) * GROUP].iter().map(|count| u32::from(*count)).sum();
        let groups: u32 = self.groups[group + 1..=(self.next.min(SLOTS - 1) / 64 / GROUP).max(group)].iter().sum();
        within + words + groups
    }

    /// Marks the first `count` slots only.
    pub(super) fn restart(&mut self, count: usize) {
        self.words.fill(0);
        self.counts.fill(0);
        self.groups.fill(0);
        self.next = 0;
        for _ in 0..count.min(SLOTS) {
            let _ = self.push();
        }
    }
}

#[cfg(test)]
mod tests {
    use units::random::Random;

    use super::*;

    #[test]
    fn counts_are_those_of_a_list() {
        let (mut recency, mut list, mut random) = (Recency::new(), vec![false; SLOTS], Random::new(5, 0));
        for slot in 0..SLOTS {
            assert_eq!(recency.push(), Some(slot as u32));
            list[slot] = true;
            let cleared = random.below(slot as u64 + 1) as usize;
            if std::mem::take(&mut list[cleared]) {
                recency.clear(cleared as u32);
            }
            if slot % 997 == 0 || slot == SLOTS - 1 {
                let from = random.below(slot as u64 + 1) as usize;
                let marked = list[from + 1..].iter().filter(|marked| **marked).count();
                assert_eq!(recency.after(from as u32) as usize, marked, "after {from} of {slot}");
            }
        }
        assert_eq!(recency.push(), None);
        recency.restart(100);
        assert_eq!((recency.after(0), recency.push(), recency.after(99)), (99, Some(100), 1));
    }
}
