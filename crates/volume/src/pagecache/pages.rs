//! Cached pages, with clock eviction.

/// No page, transfer or operation.
pub(super) const NONE: u32 = u32::MAX;

/// The content is valid; before that, the transfer in the lower bits reads the page.
pub(super) const UPTODATE: u32 = 1 << 24;
/// The page was written to since its last write-back.
pub(super) const DIRTY: u32 = 1 << 25;
/// The page is being written to the volume.
pub(super) const WRITEBACK: u32 = 1 << 26;
/// A read that reaches the page starts the next readahead window.
pub(super) const MARK: u32 = 1 << 27;
/// The page was used once.
const REFERENCED: u32 = 1 << 28;
/// The page was used again; eviction passes it over once.
const ACTIVE: u32 = 1 << 29;
/// The slot holds no page.
const FREE: u32 = 1 << 30;
/// Mask of the transfer that reads a page.
pub(super) const TRANSFER: u32 = (1 << 24) - 1;

/// Runs of 16 pages share a cache line of buckets.
const RUN_BITS: u32 = 4;

#[derive(Clone, Copy, Debug)]
struct CachedPage {
    key: u64,
    /// Next page of the same bucket, or next free slot.
    chain: u32,
    state: u32,
}

/// A hash table of pages: slots in order of insertion, and buckets of slots by key.
#[derive(Debug)]
pub(super) struct PageTable {
    slots: Vec<CachedPage>,
    buckets: Vec<u32>,
    free: u32,
    /// Maximum number of pages, except for pinned ones.
    most: usize,
    used: usize,
    /// Pages that cannot be evicted: being read, dirty, or under write-back.
    pinned: usize,
    hand: usize,
}

impl PageTable {
    pub(super) fn new(most: usize) -> Self {
        Self {
            slots: Vec::new(),
            buckets: vec![NONE; 1024],
            free: NONE,
            most: most.max(1),
            used: 0,
            pinned: 0,
            hand: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.used
    }

    fn bucket(&self, key: u64) -> usize {
        let run = (key >> RUN_BITS).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        ((run << RUN_BITS | key & ((1 << RUN_BITS) - 1)) as usize) & (self.buckets.len() - 1)
    }

    /// Returns the slot of a page.
    #[inline]
    pub(super) fn find(&self, key: u64) -> Option<u32> {
        let mut at = self.buckets[self.bucket(key)];
        while at != NONE {
            let page = &self.slots[at as usize];
            if page.key == key {
                return Some(at);
            }
            at = page.chain;
        }
        None
    }

    #[inline]
    pub(super) fn state(&self, at: u32) -> u32 {
        self.slots[at as usize].state
    }

    pub(super) fn transfer(&self, at: u32) -> u32 {
        self.slots[at as usize].state & TRANSFER
    }

    /// Clears and sets flags of a page.
    pub(super) fn change(&mut self, at: u32, without: u32, with: u32) {
        let page = &mut self.slots[at as usize];
        let before = is_pinned(page.state);
        page.state = page.state & !without | with;
        let after = is_pinned(page.state);
        self.pinned = self.pinned + usize::from(after) - usize::from(before);
    }

    /// Records that a page was used.
    #[inline]
    pub(super) fn touch(&mut self, at: u32) {
        let state = &mut self.slots[at as usize].state;
        *state |= if *state & REFERENCED == 0 { REFERENCED } else { ACTIVE };
    }

    /// Inserts a page that is not present, evicting another if the table is full.
    pub(super) fn insert(&mut self, key: u64, state: u32) -> u32 {
        while self.used >= self.most {
            let Some(victim) = self.find_victim() else { break };
            self.remove(victim);
        }
        let at = if self.free == NONE {
            self.grow();
            self.slots.push(CachedPage { key, chain: NONE, state });
            (self.slots.len() - 1) as u32
        } else {
            let at = self.free;
            self.free = self.slots[at as usize].chain;
            at
        };
        let bucket = self.bucket(key);
        let chain = std::mem::replace(&mut self.buckets[bucket], at);
        self.slots[at as usize] = CachedPage { key, chain, state };
        self.used += 1;
        self.pinned += usize::from(is_pinned(state));
        at
    }

    pub(super) fn remove(&mut self, at: u32) {
        let CachedPage { key, chain, state } = self.slots[at as usize];
        let bucket = self.bucket(key);
        if self.buckets[bucket] == at {
            self.buckets[bucket] = chain;
        } else {
            let mut before = self.buckets[bucket];
            while self.slots[before as usize].chain != at {
                before = self.slots[before as usize].chain;
            }
            self.slots[before as usize].chain = chain;
        }
        self.slots[at as usize] = CachedPage { key, chain: self.free, state: FREE };
        self.free = at;
        self.used -= 1;
        self.pinned -= usize::from(is_pinned(state));
    }

    /// Removes all pages of a range that are not pinned.
    pub(super) fn drop_clean(&mut self, from: u64, to: u64) {
        if to - from < self.slots.len() as u64 {
            for key in from..to {
                if let Some(at) = self.find(key).filter(|&at| !is_pinned(self.state(at))) {
                    self.remove(at);
                }
            }
            return;
        }
        for at in 0..self.slots.len() as u32 {
            let CachedPage { key, state, .. } = self.slots[at as usize];
            if state & FREE == 0 && !is_pinned(state) && (from..to).contains(&key) {
                self.remove(at);
            }
        }
    }

    /// Returns the next page to evict, in order of insertion; active pages get a second chance.
    fn find_victim(&mut self) -> Option<u32> {
        if self.pinned >= self.used {
            return None;
        }
        loop {
            let at = if self.hand < self.slots.len() { self.hand } else { 0 };
            self.hand = at + 1;
            let page = &mut self.slots[at];
            if page.state & FREE != 0 || is_pinned(page.state) {
                continue;
            }
            if page.state & ACTIVE == 0 {
                return Some(at as u32);
            }
            page.state &= !ACTIVE;
        }
    }

    /// Keeps at least as many buckets as slots.
    fn grow(&mut self) {
        if self.slots.len() < self.buckets.len() {
            return;
        }
        self.buckets = vec![NONE; self.buckets.len() * 2];
        for at in 0..self.slots.len() {
            let bucket = self.bucket(self.slots[at].key);
            self.slots[at].chain = std::mem::replace(&mut self.buckets[bucket], at as u32);
        }
    }
}

const fn is_pinned(state: u32) -> bool {
    state & UPTODATE == 0 && state & FREE == 0 || state & (DIRTY | WRITEBACK) != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use units::random::Random;

    #[test]
    fn agrees_with_a_set_and_never_exceeds_its_capacity() {
        let seed = 5;
        let mut random = Random::new(seed, 0);
        let (mut pages, mut present) = (PageTable::new(500), BTreeSet::new());
        for step in 0..20_000_u64 {
            let key = (random.below(3) << 48) | (random.below(400) * 256);
            match pages.find(key) {
                Some(at) if random.below(3) == 0 => {
                    pages.remove(at);
                    present.remove(&key);
                }
                Some(_) => assert!(present.contains(&key), "seed {seed}, step {step}"),
                None => {
                    let full = pages.len() == 500;
                    assert!(full || !present.contains(&key), "seed {seed}, step {step}");
                    pages.insert(key, UPTODATE);
                    present.insert(key);
                    present.retain(|&key| !full || pages.find(key).is_some());
                }
            }
            assert!(pages.len() <= 500 && pages.len() == present.len(), "seed {seed}, step {step}");
        }
        assert_eq!(pages.pinned, 0);
    }

    #[test]
    fn active_pages_survive_a_stream_and_pinned_ones_stay() {
        let mut pages = PageTable::new(100);
        let dirty = pages.insert(1, UPTODATE | DIRTY);
        let hot = pages.insert(2, UPTODATE);
        for key in 1000..1150 {
            pages.touch(hot);
            let at = pages.insert(key, UPTODATE);
            pages.touch(at);
        }
        assert_eq!((pages.find(1), pages.find(2), pages.len()), (Some(dirty), Some(hot), 100));
        assert!(pages.find(1000).is_none() && pages.find(1149).is_some());
    }

    #[test]
    fn pinned_pages_may_exceed_the_capacity_temporarily() {
        let mut pages = PageTable::new(10);
        for key in 0..20 {
            pages.insert(key, 0);
        }
        assert_eq!(pages.len(), 20);
        for key in 0..20 {
            let at = pages.find(key).unwrap();
            pages.change(at, 0, UPTODATE);
        }
        pages.insert(100, UPTODATE);
        assert_eq!(pages.len(), 10);
    }
}
