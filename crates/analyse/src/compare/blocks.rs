//! Latency figures with standard errors, from a record's histograms per block of time.
//!
//! Latencies of neighbouring operations are correlated, so runs of neighbouring blocks are resampled, as long as the
//! autocorrelation reaches (circular moving-block bootstrap). In short runs even that underestimates slow variation.
//! The spread of resampled percentiles is therefore widened by the factor by which resampling underestimates the error
//! of the fraction of operations below the percentile. That error follows from the effective number of blocks, which is
//! unbiased (see `knee::steady`).

use std::collections::BTreeSet;

use record::{DataKind, FigureQuantity, JobResult, LatencyBlock, LatencyStats, bucket_range_ns};
use units::random::Random;

use crate::knee::steady::{Mean, mean, squares};

/// Minimum number of blocks for a comparison.
const BLOCKS_MIN: usize = 8;
/// Minimum number of operations on either side of a percentile.
const TAIL_MIN: f64 = 20.0;
/// Number of bootstrap replicates.
const DRAWS: usize = 400;
/// Maximum factor by which the spread of resampled values is widened.
const CORRECTION_MAX: f64 = 4.0;

/// Cumulative histograms of one kind, so that any run of blocks is a difference of two rows.
pub(super) struct ComparedBlocks {
    /// Used buckets in ascending order.
    buckets: Vec<u32>,
    /// One row more than there are blocks: operations in all earlier blocks, in this bucket or a lower one.
    below: Vec<u64>,
    /// Total time of all blocks in seconds.
    pub(super) seconds: f64,
}

impl ComparedBlocks {
    /// Reads the blocks of one kind from consecutive runs; `None` if there are too few, or if a run's blocks do not
    /// count the latency of this figure.
    pub(super) fn of<'a>(
        jobs: impl Iterator<Item = &'a JobResult>,
        kind: DataKind,
        quantity: FigureQuantity,
    ) -> Option<Self> {
        let (mut blocks, mut end_ns): (Vec<&[LatencyBlock]>, u64) = (Vec::new(), 0);
        for job in jobs {
            let (result, own) = (job.result.kind(kind), &job.result.blocks);
            let wanted = quantity.latency(result);
            // Blocks count another latency than means, except for a constant offset.
            let counted = if quantity.percent().is_some() { wanted.count } else { result.in_blocks().count };
            let in_blocks: u64 = own.iter().flat_map(|block| block.of(kind)).map(|(_, count)| count).sum();
            if in_blocks == 0 || in_blocks != counted || quantity.is_response() != (result.response.count > 0) {
                return None;
            }
            end_ns += own.last()?.end_ns;
            blocks.extend(paced(in_use(own, kind), job.result.series.pace_ns));
        }
        (blocks.len() >= BLOCKS_MIN).then(|| Self::summed(&blocks, kind, end_ns as f64 / 1e9))
    }

    fn summed(groups: &[&[LatencyBlock]], kind: DataKind, seconds: f64) -> Self {
        let counts = |group: &&[LatencyBlock]| LatencyStats::of_blocks(group, &[kind]).buckets;
        let groups: Vec<Vec<(usize, u64)>> = groups.iter().map(counts).collect();
        let buckets: BTreeSet<usize> = groups.iter().flatten().map(|(bucket, _)| *bucket).collect();
        let buckets: Vec<u32> = buckets.into_iter().map(|bucket| bucket as u32).collect();
        let mut below = vec![0; buckets.len()];
        for group in &groups {
            let (mut entries, mut in_group) = (group.iter().peekable(), 0);
            for (column, bucket) in buckets.iter().enumerate() {
                in_group += entries.next_if(|(own, _)| *own == *bucket as usize).map_or(0, |(_, count)| *count);
                below.push(below[below.len() - buckets.len()] + in_group);
                debug_assert_eq!(below.len() % buckets.len(), (column + 1) % buckets.len());
            }
        }
        Self { buckets, below, seconds }
    }

    pub(super) fn len(&self) -> usize {
        self.below.len() / self.buckets.len() - 1
    }

    /// Counts operations in `length` blocks from `first`, wrapping at the end, in buckets up to and including this
    /// column.
    fn operations_in(&self, first: usize, length: usize, column: usize) -> u64 {
        let row = |row: usize| self.below[row * self.buckets.len() + column];
        let last = first + length;
        if last <= self.len() { row(last) - row(first) } else { row(self.len()) - row(first) + row(last - self.len()) }
    }

    fn total(&self) -> u64 {
        self.operations_in(0, self.len(), self.buckets.len() - 1)
    }

    /// Returns how many times as many operations a percentile needs; `None` if there are enough.
    pub(super) fn missing_factor(&self, percent: f64) -> Option<f64> {
        let beyond = self.total() as f64 * (1.0 - percent / 100.0).min(percent / 100.0);
        (beyond < TAIL_MIN).then(|| TAIL_MIN / beyond)
    }

    /// Returns a percentile with its standard error.
    pub(super) fn percentile(&self, percent: f64, seed: u64) -> Mean {
        let fraction = percent / 100.0;
        let whole = self.quantile(&[(0, self.len())], fraction);
        let course = Mean::of(&self.per_block(|block| self.excess(&[(block, 1)], whole, fraction)));
        let samples = self.resample(course.effective, seed);
        let values: Vec<f64> = samples.iter().map(|sample| self.quantile(sample, fraction).value).collect();
        let excesses: Vec<f64> = samples.iter().map(|sample| self.excess(sample, whole, fraction)).collect();
        let known = course.error * self.len() as f64;
        let correction = (known / deviation(&excesses)).clamp(1.0, CORRECTION_MAX);
        let chance = deviation(&values) * if correction.is_nan() { 1.0 } else { correction };
        Mean { value: whole.value, error: chance.hypot(self.bucket_error(whole)), effective: course.effective }
    }

    /// Returns the mean with its standard error, as a linearised ratio of sums.
    pub(super) fn mean(&self) -> Mean {
        let middle = |bucket: &u32| {
            let (first, next) = bucket_range_ns(*bucket);
            (first + next) as f64 / 2.0
        };
        let middles: Vec<f64> = self.buckets.iter().map(middle).collect();
        let time = |first, length| -> f64 {
            let below: Vec<u64> =
                (0..self.buckets.len()).map(|column| self.operations_in(first, length, column)).collect();
            let before = std::iter::once(&0).chain(&below);
            below.iter().zip(before).zip(&middles).map(|((to, from), middle)| (to - from) as f64 * middle).sum()
        };
        let (blocks, total) = (self.len() as f64, self.total() as f64);
        let mean = time(0, self.len()) / total;
        let count = |block| self.operations_in(block, 1, self.buckets.len() - 1) as f64;
        Mean::of(&self.per_block(|block| mean + (time(block, 1) - mean * count(block)) * blocks / total))
    }

    fn per_block(&self, of_block: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..self.len()).map(of_block).collect()
    }

    /// Draws bootstrap samples: runs of neighbouring blocks, as many blocks in all as there are.
    fn resample(&self, effective: f64, seed: u64) -> Vec<Vec<(usize, usize)>> {
        let blocks = self.len();
        let reach = (2.0 * blocks as f64 / effective).max((blocks as f64).sqrt());
        let length = (reach.ceil() as usize).clamp(1, blocks.div_ceil(4));
        let mut random = Random::new(seed, 0);
        let mut draw = || -> Vec<(usize, usize)> {
            let rest = |from: usize| length.min(blocks - from);
            (0..blocks).step_by(length).map(|from| (random.below(blocks as u64) as usize, rest(from))).collect()
        };
        (0..DRAWS).map(|_| draw()).collect()
    }

    /// Counts operations of a sample in buckets up to and including a column.
    fn sampled(&self, sample: &[(usize, usize)], column: usize) -> u64 {
        sample.iter().map(|&(first, length)| self.operations_in(first, length, column)).sum()
    }

    /// Returns the value below which this fraction of a sample lies, assuming that operations fill their bucket evenly.
    fn quantile(&self, sample: &[(usize, usize)], fraction: f64) -> Quantile {
        let last = self.buckets.len() - 1;
        let wanted = fraction * self.sampled(sample, last) as f64;
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = (low + high) / 2;
            if (self.sampled(sample, middle) as f64) < wanted { low = middle + 1 } else { high = middle }
        }
        let below = if low == 0 { 0 } else { self.sampled(sample, low - 1) };
        let within = (self.sampled(sample, low) - below).max(1);
        let part = ((wanted - below as f64) / within as f64).clamp(0.0, 1.0);
        let (first, next) = bucket_range_ns(self.buckets[low]);
        Quantile { value: first as f64 + part * (next - first) as f64, column: low, part }
    }

    /// Returns how many more operations a sample has below a value than this fraction of its operations.
    fn excess(&self, sample: &[(usize, usize)], at: Quantile, fraction: f64) -> f64 {
        let with = self.sampled(sample, at.column) as f64;
        let below = if at.column == 0 { 0.0 } else { self.sampled(sample, at.column - 1) as f64 };
        below + at.part * (with - below) - fraction * self.sampled(sample, self.buckets.len() - 1) as f64
    }

    /// Returns the error of the assumption that a bucket is filled evenly, which grows with its fraction of operations.
    fn bucket_error(&self, at: Quantile) -> f64 {
        let whole = [(0, self.len())];
        let below = if at.column == 0 { 0 } else { self.sampled(&whole, at.column - 1) };
        let fraction = (self.sampled(&whole, at.column) - below) as f64 / self.total() as f64;
        let (first, next) = bucket_range_ns(self.buckets[at.column]);
        fraction * (next - first) as f64 / 2.0
    }
}

/// A quantile: its value in nanoseconds, the column of its bucket and the fraction of the bucket below it.
#[derive(Clone, Copy)]
struct Quantile {
    value: f64,
    column: usize,
    part: f64,
}

/// Groups blocks that are shorter than the interval for judging steadiness.
fn paced(blocks: &[LatencyBlock], pace_ns: u64) -> impl Iterator<Item = &[LatencyBlock]> {
    let pace_of = move |block: &LatencyBlock| block.end_ns.saturating_sub(1).checked_div(pace_ns);
    blocks.chunk_by(move |one, next| pace_of(one).is_some() && pace_of(one) == pace_of(next))
}

/// Strips the blocks before the first operation and after the last one.
fn in_use(blocks: &[LatencyBlock], kind: DataKind) -> &[LatencyBlock] {
    let busy = |block: &LatencyBlock| !block.of(kind).is_empty();
    let first = blocks.iter().position(busy).unwrap_or(0);
    let end = blocks.iter().rposition(busy).map_or(first, |last| last + 1);
    &blocks[first..end]
}

fn deviation(values: &[f64]) -> f64 {
    (squares(values, mean(values)) / (values.len() as f64 - 1.0).max(1.0)).sqrt()
}
