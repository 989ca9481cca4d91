//! Cached pages, with clock eviction.

/// No page, no transfer, no waiter.
pub(super) const NONE: u32 = u32::MAX;

/// Its bytes are those of the file; until then it is being read by the transfer in its lower bits.
pub(super) const UPTODATE: u32 = 1 << 24;
/// It was written to since it was last handed to the volume.
pub(super) const DIRTY: u32 = 1 << 25;
/// It is on its way to the volume.
pub(super) const WRITEBACK: u32 = 1 << 26;
/// A read that reaches it starts the next window.
pub(super) const MARK: u32 = 1 << 27;
/// It was used once.
const USED: u32 = 1 << 28;
/// It was used again, and is passed over once when pages are given up.
const HOT: u32 = 1 << 29;
/// The place holds no page.
const FREE: u32 = 1 << 30;
/// The transfer that reads a page.
pub(super) const TRANSFER: u32 = (1 << 24) - 1;

/// Pages of a run of 16 share a cache line of buckets.
const RUN_BITS: u32 = 4;

#[derive(Clone, Copy, Debug)]
struct CachedPage {
    key: u64,
    /// The next page of the same bucket, or the next free place.
    chain: u32,
    state: u32,
}

/// A table of pages: places in the order in which they were filled, and buckets of places by key.
#[derive(Debug)]
pub(super) struct PageTable {
    places: Vec<CachedPage>,
    buckets: Vec<u32>,
    free: u32,
    /// Pages at most, but for those that cannot be given up.
    most: usize,
    used: usize,
    /// Those that cannot be given up: being read, dirty, on their way.
    bound: usize,
    hand: usize,
}

impl PageTable {
    pub(super) fn new(most: usize) -> Self {
        Self {
            places: Vec::new(),
            buckets: vec![NONE; 1024],
            free: NONE,
            most: most.max(1),
            used: 0,
            bound: 0,
            hand: 0,
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.used
    }

    fn bucket(&self, key: u64) -> usize {
        let run = (key >> RUN_BITS).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        ((run << RUN_BITS | key & ((1 << RUN_BITS) - 1)) as usize) & (self.buckets.len() - 1)
    }

    /// The place of a page.
    #[inline]
    pub(super) fn find(&self, key: u64) -> Option<u32> {
        let mut at = self.buckets[self.bucket(key)];
        while at != NONE {
            let page = &self.places[at as usize];
            if page.key == key {
                return Some(at);
            }
            at = page.chain;
        }
        None
    }

    /// What a page is.
    #[inline]
    pub(super) fn state(&self, at: u32) -> u32 {
        self.places[at as usize].state
    }

    /// Which transfer reads it.
    pub(super) fn transfer(&self, at: u32) -> u32 {
        self.places[at as usize].state & TRANSFER
    }

    /// Takes flags from a page and gives it others.
    pub(super) fn change(&mut self, at: u32, without: u32, with: u32) {
        let page = &mut self.places[at as usize];
        let before = is_bound(page.state);
        page.state = page.state & !without | with;
        let after = is_bound(page.state);
        self.bound = self.bound + usize::from(after) - usize::from(before);
    }

    /// Notes that a page was used.
    #[inline]
    pub(super) fn touch(&mut self, at: u32) {
        let state = &mut self.places[at as usize].state;
        *state |= if *state & USED == 0 { USED } else { HOT };
    }

    /// Puts a page in that is not there. Where all places are taken, another is given up.
    pub(super) fn insert(&mut self, key: u64, state: u32) -> u32 {
        while self.used >= self.most {
            let Some(victim) = self.sweep() else { break };
            self.remove(victim);
        }
        let at = if self.free == NONE {
            self.grow();
            self.places.push(CachedPage { key, chain: NONE, state });
            (self.places.len() - 1) as u32
        } else {
            let at = self.free;
            self.free = self.places[at as usize].chain;
            at
        };
        let bucket = self.bucket(key);
        let chain = std::mem::replace(&mut self.buckets[bucket], at);
        self.places[at as usize] = CachedPage { key, chain, state };
        self.used += 1;
        self.bound += usize::from(is_bound(state));
        at
    }

    /// Forgets a page.
    pub(super) fn remove(&mut self, at: u32) {
        let CachedPage { key, chain, state } = self.places[at as usize];
        let bucket = self.bucket(key);
        if self.buckets[bucket] == at {
            self.buckets[bucket] = chain;
        } else {
            let mut before = self.buckets[bucket];
            while self.places[before as usize].chain != at {
                before = self.places[before as usize].chain;
            }
            self.places[before as usize].chain = chain;
        }
        self.places[at as usize] = CachedPage { key, chain: self.free, state: FREE };
        self.free = at;
        self.used -= 1;
        self.bound -= usize::from(is_bound(state));
    }

    /// Forgets all pages of a range that nothing binds.
    pub(super) fn drop_clean(&mut self, from: u64, to: u64) {
        if to - from < self.places.len() as u64 {
            for key in from..to {
                if let Some(at) = self.find(key).filter(|&at| !is_bound(self.state(at))) {
                    self.remove(at);
                }
            }
            return;
        }
        for at in 0..self.places.len() as u32 {
            let CachedPage { key, state, .. } = self.places[at as usize];
            if state & FREE == 0 && !is_bound(state) && (from..to).contains(&key) {
                self.remove(at);
            }
        }
    }

    /// The page to be given up next: pages are passed in the order in which they came, those in frequent use once more.
    fn sweep(&mut self) -> Option<u32> {
        if self.bound >= self.used {
            return None;
        }
        loop {
            let at = if self.hand < self.places.len() { self.hand } else { 0 };
            self.hand = at + 1;
            let page = &mut self.places[at];
            if page.state & FREE != 0 || is_bound(page.state) {
                continue;
            }
            if page.state & HOT == 0 {
                return Some(at as u32);
            }
            page.state &= !HOT;
        }
    }

    /// Makes sure that there are as many buckets as places.
    fn grow(&mut self) {
        if self.places.len() < self.buckets.len() {
            return;
        }
        self.buckets = vec![NONE; self.buckets.len() * 2];
        for at in 0..self.places.len() {
            let bucket = self.bucket(self.places[at].key);
            self.places[at].chain = std::mem::replace(&mut self.buckets[bucket], at as u32);
        }
    }
}

const fn is_bound(state: u32) -> bool {
    state & UPTODATE == 0 && state & FREE == 0 || state & (DIRTY | WRITEBACK) != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use units::random::Random;

    #[test]
    fn agrees_with_a_set_and_never_holds_more_than_it_may() {
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
        assert_eq!(pages.bound, 0);
    }

    #[test]
    fn pages_in_use_outlive_a_stream_and_bound_ones_stay() {
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
    fn where_nothing_can_be_given_up_there_are_more_for_a_while() {
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
