//! Figures of a latency and their errors, by the blocks of time that a record keeps histograms of.
//!
//! Operations of one moment share its luck, so they are not resampled one by one but in stretches of neighbouring
//! blocks (the circular moving-block bootstrap), as long as autocorrelation reaches. Stretches of a short run still
//! show too little of its wandering: the spread of the resampled percentiles is made wider by as much as that of the
//! share of operations below the percentile falls short of its error by the effective number of blocks, which is known
//! to be right (see `knee::steady`).

use std::collections::BTreeSet;

use record::{DataKind, FigureQuantity, JobResult, LatencyBlock, LatencyStats, bucket_range_ns};
use units::random::Random;

use crate::knee::steady::Mean;

/// Of fewer blocks nothing is said.
const BLOCKS_MIN: usize = 8;
/// So many operations have to lie on either side of a percentile.
const TAIL_MIN: f64 = 20.0;
/// Number of bootstrap replicates.
const DRAWS: usize = 400;
/// Resampling is never corrected by more than this factor.
const CORRECTION_MAX: f64 = 4.0;

/// Histograms of one kind over time, added up so that any stretch of them is a difference.
pub(super) struct ComparedBlocks {
    /// The buckets that were used, in rising order.
    buckets: Vec<u32>,
    /// A row for each block and one more: operations in all blocks before it, in this bucket or a lower one.
    below: Vec<u64>,
    /// Seconds over all of them.
    pub(super) seconds: f64,
}

impl ComparedBlocks {
    /// Those of one kind in some runs, one run after the other; `None` where a run has none that count the latency of
    /// this figure, or too few.
    pub(super) fn of<'a>(
        jobs: impl Iterator<Item = &'a JobResult>,
        kind: DataKind,
        quantity: FigureQuantity,
    ) -> Option<Self> {
        let (mut blocks, mut end_ns): (Vec<&[LatencyBlock]>, u64) = (Vec::new(), 0);
        for job in jobs {
            let (result, own) = (job.result.kind(kind), &job.result.blocks);
            let wanted = quantity.latency(result);
            // A mean is that of another latency than blocks count, but for a part that neither varies with.
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

    /// Operations in `length` blocks from `first` on, round the end, up to and with the bucket of this column.
    fn stretch(&self, first: usize, length: usize, column: usize) -> u64 {
        let row = |row: usize| self.below[row * self.buckets.len() + column];
        let last = first + length;
        if last <= self.len() { row(last) - row(first) } else { row(self.len()) - row(first) + row(last - self.len()) }
    }

    fn total(&self) -> u64 {
        self.stretch(0, self.len(), self.buckets.len() - 1)
    }

    /// Whether enough operations are counted to speak of a percentile; otherwise how many times as many it takes.
    pub(super) fn lacking(&self, percent: f64) -> Option<f64> {
        let beyond = self.total() as f64 * (1.0 - percent / 100.0).min(percent / 100.0);
        (beyond < TAIL_MIN).then(|| TAIL_MIN / beyond)
    }

    /// A percentile with its error.
    pub(super) fn percentile(&self, percent: f64, seed: u64) -> Mean {
        let share = percent / 100.0;
        let whole = self.quantile(&[(0, self.len())], share);
        let course = Mean::of(&self.course(|block| self.excess(&[(block, 1)], whole, share)));
        let draws = self.draws(course.effective, seed);
        let values: Vec<f64> = draws.iter().map(|draw| self.quantile(draw, share).value).collect();
        let excesses: Vec<f64> = draws.iter().map(|draw| self.excess(draw, whole, share)).collect();
        let known = course.error * self.len() as f64;
        let correction = (known / deviation(&excesses)).clamp(1.0, CORRECTION_MAX);
        let chance = deviation(&values) * if correction.is_nan() { 1.0 } else { correction };
        Mean { value: whole.value, error: chance.hypot(self.unseen(whole)), effective: course.effective }
    }

    /// The mean with its error: a ratio of sums, linearised.
    pub(super) fn mean(&self) -> Mean {
        let middle = |bucket: &u32| {
            let (first, next) = bucket_range_ns(*bucket);
            (first + next) as f64 / 2.0
        };
        let middles: Vec<f64> = self.buckets.iter().map(middle).collect();
        let time = |first, length| -> f64 {
            let below: Vec<u64> = (0..self.buckets.len()).map(|column| self.stretch(first, length, column)).collect();
            let before = std::iter::once(&0).chain(&below);
            below.iter().zip(before).zip(&middles).map(|((to, from), middle)| (to - from) as f64 * middle).sum()
        };
        let (blocks, total) = (self.len() as f64, self.total() as f64);
        let mean = time(0, self.len()) / total;
        let count = |block| self.stretch(block, 1, self.buckets.len() - 1) as f64;
        Mean::of(&self.course(|block| mean + (time(block, 1) - mean * count(block)) * blocks / total))
    }

    fn course(&self, of_block: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..self.len()).map(of_block).collect()
    }

    /// Stretches of neighbouring blocks, as many blocks as there are each time.
    fn draws(&self, effective: f64, seed: u64) -> Vec<Vec<(usize, usize)>> {
        let blocks = self.len();
        let reach = (2.0 * blocks as f64 / effective).max((blocks as f64).sqrt());
        let length = (reach.ceil() as usize).clamp(1, blocks.div_ceil(4));
        let mut random = Random::new(seed, 0);
        let mut draw = || -> Vec<(usize, usize)> {
            let stretch = |from: usize| length.min(blocks - from);
            (0..blocks).step_by(length).map(|from| (random.below(blocks as u64) as usize, stretch(from))).collect()
        };
        (0..DRAWS).map(|_| draw()).collect()
    }

    /// Operations in all stretches of a draw up to and with a column.
    fn drawn(&self, draw: &[(usize, usize)], column: usize) -> u64 {
        draw.iter().map(|&(first, length)| self.stretch(first, length, column)).sum()
    }

    /// The value below which this share of a draw lies; within its bucket operations are taken to be spread evenly.
    fn quantile(&self, draw: &[(usize, usize)], share: f64) -> Quantile {
        let last = self.buckets.len() - 1;
        let wanted = share * self.drawn(draw, last) as f64;
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = (low + high) / 2;
            if (self.drawn(draw, middle) as f64) < wanted { low = middle + 1 } else { high = middle }
        }
        let below = if low == 0 { 0 } else { self.drawn(draw, low - 1) };
        let within = (self.drawn(draw, low) - below).max(1);
        let part = ((wanted - below as f64) / within as f64).clamp(0.0, 1.0);
        let (first, next) = bucket_range_ns(self.buckets[low]);
        Quantile { value: first as f64 + part * (next - first) as f64, column: low, part }
    }

    /// By how many operations more than the share of all a draw has below a value.
    fn excess(&self, draw: &[(usize, usize)], at: Quantile, share: f64) -> f64 {
        let with = self.drawn(draw, at.column) as f64;
        let below = if at.column == 0 { 0.0 } else { self.drawn(draw, at.column - 1) as f64 };
        below + at.part * (with - below) - share * self.drawn(draw, self.buckets.len() - 1) as f64
    }

    /// The error of taking a bucket for evenly filled: the more of all operations it holds, the less is seen of where in
    /// it they lie.
    fn unseen(&self, at: Quantile) -> f64 {
        let whole = [(0, self.len())];
        let below = if at.column == 0 { 0 } else { self.drawn(&whole, at.column - 1) };
        let share = (self.drawn(&whole, at.column) - below) as f64 / self.total() as f64;
        let (first, next) = bucket_range_ns(self.buckets[at.column]);
        share * (next - first) as f64 / 2.0
    }
}

/// The end of a percentile: its value in nanoseconds, the column of its bucket and the count below.
#[derive(Clone, Copy)]
struct Quantile {
    value: f64,
    column: usize,
    part: f64,
}

/// Blocks shorter than the interval by which steadiness is judged, in groups of that length.
fn paced(blocks: &[LatencyBlock], pace_ns: u64) -> impl Iterator<Item = &[LatencyBlock]> {
    let pace_of = move |block: &LatencyBlock| block.end_ns.saturating_sub(1).checked_div(pace_ns);
    blocks.chunk_by(move |one, next| pace_of(one).is_some() && pace_of(one) == pace_of(next))
}

/// Without the blocks before the first operation and after the last one.
fn in_use(blocks: &[LatencyBlock], kind: DataKind) -> &[LatencyBlock] {
    let busy = |block: &LatencyBlock| !block.of(kind).is_empty();
    let first = blocks.iter().position(busy).unwrap_or(0);
    let end = blocks.iter().rposition(busy).map_or(first, |last| last + 1);
    &blocks[first..end]
}

fn deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt()
}
