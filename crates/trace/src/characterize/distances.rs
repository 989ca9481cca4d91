//! Histograms of reuse distances.

use super::histogram::{BUCKETS, bucket_of, value_of};

/// Reuse distances by weight. Memory: 30 KiB.
#[derive(Clone, Debug)]
pub(super) struct Distances {
    weights: Vec<f64>,
    sum: f64,
}

impl Distances {
    pub(super) fn new() -> Self {
        Self { weights: vec![0.0; BUCKETS], sum: 0.0 }
    }

    /// Adds an access; without a distance, it is the first one of its block.
    #[inline]
    pub(super) fn add(&mut self, distance: Option<u64>, weight: f64) {
        self.sum += weight;
        if let Some(distance) = distance {
            self.weights[bucket_of(distance)] += weight;
        }
    }

    pub(super) const fn sum(&self) -> f64 {
        self.sum
    }

    /// Returns the miss ratios of caches of some numbers of blocks, in ascending order, for `all` accesses; zero without
    /// accesses.
    ///
    /// SHARDS-adj: a sample holds too few or too many accesses by chance. Hot blocks cause the difference, and their
    /// distances are short, so it is counted as hits.
    pub(super) fn miss_ratios(&self, blocks: &[u64], all: f64) -> Vec<f64> {
        if all <= 0.0 {
            return vec![0.0; blocks.len()];
        }
        let mut hits = all - self.sum;
        let mut bucket = 0;
        let ratio = |size: &u64| {
            // A distance below the size hits. Sizes are powers of two and one and a half times as much, where buckets end.
            while bucket < BUCKETS && value_of(bucket) < *size {
                hits += self.weights[bucket];
                bucket += 1;
            }
            (1.0 - hits / all).clamp(0.0, 1.0)
        };
        blocks.iter().map(ratio).collect()
    }
}
