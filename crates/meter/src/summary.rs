//! The statistics of a worker, or of several together.

use units::{CpuUse, DataKind, Nanos};

use crate::{Blocks, Latency, Samples, Series, TrimmedBlockCounts};

/// Statistics of reads, writes or trims.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionSummary {
    /// Completed operations.
    pub ios: u64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Operations whose first transfer was short.
    pub short_ios: u64,
    /// Dropped operations.
    pub drop_ios: u64,
    /// Time for which this direction was in use.
    pub runtime: Nanos,
    /// Times from the start of an operation to its submission (fio's `slat`).
    pub submission: Latency,
    /// Times from submission to completion (fio's `clat`).
    pub service: Latency,
    /// Times from the start of an operation to its completion (fio's `lat`).
    pub latency: Latency,
    /// Times from the intended instant to completion, under a rate only. Without one they equal [`Self::latency`].
    pub response: Latency,
    /// Latencies of operations of each I/O priority, as the kernel encodes it; empty if operations have none.
    pub priorities: Vec<(u16, Latency)>,
    /// Bandwidth in KiB/s, one sample per window (fio's `bw`).
    pub bandwidth: Samples,
    /// Operations per second, one sample per window (fio's `iops`).
    pub iops: Samples,
}

impl DirectionSummary {
    /// Adds the statistics of a worker that ran at the same time.
    pub fn merge(&mut self, other: &Self) {
        // Figures of other programs may be any numbers.
        self.ios = self.ios.saturating_add(other.ios);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.short_ios = self.short_ios.saturating_add(other.short_ios);
        self.drop_ios = self.drop_ios.saturating_add(other.drop_ios);
        self.runtime = self.runtime.max(other.runtime);
        self.submission.merge(&other.submission);
        self.service.merge(&other.service);
        self.latency.merge(&other.latency);
        self.response.merge(&other.response);
        for (priority, latency) in &other.priorities {
            self.add_priority(*priority, latency);
        }
        self.bandwidth.merge_beside(&other.bandwidth);
        self.iops.merge_beside(&other.iops);
    }

    /// Adds latencies of operations with this priority.
    pub fn add_priority(&mut self, priority: u16, latency: &Latency) {
        match self.priorities.iter_mut().find(|(known, _)| *known == priority) {
            Some((_, known)) => known.merge(latency),
            None => self.priorities.push((priority, latency.clone())),
        }
    }

    /// Returns the operations per second over the whole runtime.
    #[must_use]
    pub fn iops_mean(&self) -> f64 {
        per_second(self.ios, self.runtime)
    }

    /// Returns the bytes per second over the whole runtime.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        per_second(self.bytes, self.runtime)
    }
}

fn per_second(n: u64, runtime: Nanos) -> f64 {
    if runtime == Nanos::ZERO { 0.0 } else { n as f64 / runtime.secs_f64() }
}

/// Counts of powers of two, in fio's seven classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DepthMap(pub [u64; 7]);

impl DepthMap {
    /// Counts `n` operations that were submitted together and raised the number in flight to `depth`, in the classes 1,
    /// 2–3, 4–7, …, 64 and more.
    #[inline]
    pub fn add_depth(&mut self, depth: u32, n: u32) {
        let class = (31 - (depth | 1).leading_zeros()).min(6);
        self.0[class as usize] += u64::from(n);
    }

    /// Counts a batch of `n` operations, in the classes 0, 1–4, 5–8, …, 33–64, more than 64.
    #[inline]
    pub fn add_batch(&mut self, n: u32) {
        let class = match n {
            0 => 0,
            1..=4 => 1,
            _ => (32 - (n - 1).leading_zeros()).saturating_sub(1).min(6) as usize,
        };
        self.0[class] += 1;
    }

    /// Returns the sum of all classes.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a = a.saturating_add(b));
    }
}

/// All statistics of a worker, or of several together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Reads, writes and trims, indexed by [`DataKind`].
    pub directions: [DirectionSummary; 3],
    /// Times of `fsync` and `fdatasync`.
    pub sync: Latency,
    /// Number in flight to which the queue was filled up with each operation.
    pub depth: DepthMap,
    /// Number of operations per submission.
    pub submit: DepthMap,
    /// Number of completions per poll.
    pub complete: DepthMap,
    /// Delay until the loop was ready to issue an operation after its intended instant, under a rate only.
    pub lateness: Latency,
    /// Counts per interval.
    pub series: Series,
    /// Latencies over time: responses under a rate, otherwise service times.
    pub blocks: Blocks,
    /// Trims of blocks, if they are counted; known at the end.
    pub trimmed: Option<TrimmedBlockCounts>,
    /// Time from the first to the last operation, summed over workers.
    pub runtime: Nanos,
    /// CPU time and related counters.
    pub cpu: CpuUse,
    /// Failed operations.
    pub errors: u64,
    /// Error number of the first failure; zero if none failed.
    pub first_error: i32,
    pub workers: u32,
}

impl Summary {
    /// Adds the statistics of workers that ran at the same time.
    pub fn merge(&mut self, other: &Self) {
        self.directions.iter_mut().zip(&other.directions).for_each(|(ours, theirs)| ours.merge(theirs));
        self.sync.merge(&other.sync);
        self.depth.merge(&other.depth);
        self.submit.merge(&other.submit);
        self.complete.merge(&other.complete);
        self.lateness.merge(&other.lateness);
        self.series.merge(&other.series);
        self.blocks.merge(&other.blocks);
        if let Some(trimmed) = &other.trimmed {
            self.trimmed.get_or_insert_default().merge(trimmed);
        }
        self.runtime = Nanos::new(self.runtime.get().saturating_add(other.runtime.get()));
        self.cpu.merge(&other.cpu);
        self.errors = self.errors.saturating_add(other.errors);
        if self.first_error == 0 {
            self.first_error = other.first_error;
        }
        self.workers = self.workers.saturating_add(other.workers);
    }

    /// Returns the statistics of one direction.
    #[must_use]
    pub const fn direction(&self, direction: DataKind) -> &DirectionSummary {
        &self.directions[direction as usize]
    }

    /// Returns the operations of all directions.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.directions.iter().map(|direction| direction.ios).fold(0, u64::saturating_add)
    }

    /// Returns the bytes of all directions.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.directions.iter().map(|direction| direction.bytes).fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_classified_by_powers_of_two() {
        let mut map = DepthMap::default();
        for depth in 1..=100 {
            map.add_depth(depth, 1);
        }
        assert_eq!(map.0, [1, 2, 4, 8, 16, 32, 37]);
        map.add_depth(32, 8);
        assert_eq!(map.0[5], 40);
        assert_eq!(map.total(), 108);
    }

    #[test]
    fn batches_are_classified_as_in_fio() {
        let cases = [
            (0, 0),
            (1, 1),
            (4, 1),
            (5, 2),
            (8, 2),
            (9, 3),
            (16, 3),
            (17, 4),
            (32, 4),
            (33, 5),
            (64, 5),
            (65, 6),
            (1000, 6),
        ];
        for (n, class) in cases {
            let mut map = DepthMap::default();
            map.add_batch(n);
            assert_eq!(map.0[class], 1, "a batch of {n}");
        }
    }

    #[test]
    fn merging_takes_the_longest_runtime_and_adds_bandwidths() {
        let mut one = DirectionSummary { ios: 10, runtime: Nanos::from_secs(2), ..DirectionSummary::default() };
        one.bandwidth.add(100.0);
        let mut two = DirectionSummary { ios: 30, runtime: Nanos::from_secs(4), ..DirectionSummary::default() };
        two.bandwidth.add(50.0);
        one.merge(&two);
        assert_eq!((one.ios, one.runtime), (40, Nanos::from_secs(4)));
        assert!((one.iops_mean() - 10.0).abs() < 1e-12);
        assert_eq!((one.bandwidth.min, one.bandwidth.mean, one.bandwidth.count), (150.0, 150.0, 2));
    }

    #[test]
    fn merging_keeps_the_first_error() {
        let mut all = Summary::default();
        all.merge(&Summary { errors: 1, first_error: 5, workers: 1, ..Summary::default() });
        all.merge(&Summary { errors: 2, first_error: 28, workers: 1, ..Summary::default() });
        assert_eq!((all.errors, all.first_error, all.workers), (3, 5, 2));
    }
}
