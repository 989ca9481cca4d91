//! Short reuse distances, exactly, in a part of the time.
//!
//! A sample of blocks is too coarse for distances of a few blocks, and a hot block in it weighs too much or, outside of
//! it, too little. So all accesses are followed in windows of time. The accesses of the first half of a window fill it;
//! those of the second half have exact distances as far as they are shorter than the first half.

use super::super::histogram::WideHistogram;
use super::{Distances, Recency, SLOTS};

/// Accesses of a window.
const WINDOW: u64 = SLOTS as u64;
/// Slots of the table; a power of two.
const TABLE: usize = 2 * SLOTS;
/// Accesses after which only one window of [`ONE_OF`] is followed.
const ALL_FIRST: u64 = 1 << 20;
const ONE_OF: u64 = 8;
/// Least number of accesses with exact distances.
const ACCESSES_MIN: f64 = 10_000.0;

#[derive(Clone, Copy, Debug, Default)]
struct RecentBlock {
    hash: u64,
    slot: u32,
    window: u32,
}

/// Exact distances in windows. Memory: 1.1 MiB.
#[derive(Clone, Debug)]
pub(super) struct ShortReuse {
    table: Vec<RecentBlock>,
    recency: Recency,
    window: u32,
    /// Accesses of the current window, blocks in it, and accesses until it begins.
    accesses: u64,
    blocks: u64,
    pause: u64,
    seen: u64,
    weight: f64,
    state: u64,
    /// Numbers of blocks that fill windows before distances are counted.
    filled: WideHistogram,
    pub(super) all: Distances,
    pub(super) reads: Distances,
}

impl ShortReuse {
    pub(super) fn new() -> Self {
        Self {
            table: vec![RecentBlock::default(); TABLE],
            recency: Recency::new(),
            window: 1,
            accesses: 0,
            blocks: 0,
            pause: 0,
            seen: 0,
            weight: 1.0,
            state: 0x2545_f491_4f6c_dd1d,
            filled: WideHistogram::default(),
            all: Distances::new(),
            reads: Distances::new(),
        }
    }

    /// Begins a request of some blocks. Returns whether they are followed.
    #[inline]
    pub(super) fn begin_request(&mut self, blocks: u64) -> bool {
        self.seen += blocks;
        let pause = self.pause;
        self.pause = pause.saturating_sub(blocks);
        pause == 0
    }

    #[inline(never)]
    pub(super) fn add(&mut self, hash: u64, is_write: bool) {
        let Some(slot) = self.recency.push() else {
            self.next_window();
            return;
        };
        self.accesses += 1;
        let mut at = hash as usize & (TABLE - 1);
        while self.table[at].window == self.window && self.table[at].hash != hash {
            at = (at + 1) & (TABLE - 1);
        }
        let before = std::mem::replace(&mut self.table[at], RecentBlock { hash, slot, window: self.window });
        let distance = (before.window == self.window).then(|| {
            let distinct = self.recency.after(before.slot) - 1;
            self.recency.clear(before.slot);
            u64::from(distinct)
        });
        self.blocks += u64::from(distance.is_none());
        if self.accesses > WINDOW / 2 {
            self.all.add(distance, self.weight);
            if !is_write {
                self.reads.add(distance, self.weight);
            }
        } else if self.accesses == WINDOW / 2 {
            self.filled.add(self.blocks, 1);
        }
    }

    /// Begins the next window after a pause. Pauses differ, so that periods of the load have no effect.
    fn next_window(&mut self) {
        self.recency.restart(0);
        (self.accesses, self.blocks) = (0, 0);
        self.window = self.window.wrapping_add(1);
        if self.window == 0 {
            self.table.fill(RecentBlock::default());
            self.window = 1;
        }
        if self.seen > ALL_FIRST {
            self.weight = ONE_OF as f64;
            self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            self.pause = (self.state >> 40) % (2 * (ONE_OF - 1) * WINDOW);
        }
    }

    /// Returns the largest cache in blocks of which the miss ratio is exact in nearly all windows; `None` without enough
    /// accesses.
    pub(super) fn blocks_max(&self) -> Option<u64> {
        (self.all.sum() >= ACCESSES_MIN).then(|| self.filled.quantile(0.05))
    }
}
