//! Results of a worker, a job or a host: one type with one merge.

use units::CpuUse;
use units::Nanos;

use crate::{Blocks, Latency, Samples, Series};

/// The kinds of operation that transfer data, as indices into per-direction tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SummaryDirection {
    /// Reads.
    Read = 0,
    /// Writes.
    Write = 1,
    /// Trims.
    Trim = 2,
}

impl SummaryDirection {
    /// All of them, in the order of tables and of fio's log files.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Trim];

    /// The lower-case name that fio uses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
        }
    }
}

/// Results of reads, writes or trims.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionSummary {
    /// Operations completed.
    pub ios: u64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Operations that transferred less than they asked for at first.
    pub short_ios: u64,
    /// Operations that were given up.
    pub drop_ios: u64,
    /// How long this direction was in use.
    pub runtime: Nanos,
    /// From the start of an operation to its submission (fio's `slat`).
    pub submission: Latency,
    /// From submission to completion (fio's `clat`).
    pub service: Latency,
    /// From the start of an operation to its completion (fio's `lat`).
    pub latency: Latency,
    /// From the intended instant to completion; counted under a rate only, for without one it is [`Self::latency`].
    pub response: Latency,
    /// Bandwidth in KiB/s, a sample for each window (fio's `bw`).
    pub bandwidth: Samples,
    /// Operations per second, a sample for each window (fio's `iops`).
    pub iops: Samples,
}

impl DirectionSummary {
    /// Adds the results of a worker that ran beside this one.
    pub fn merge(&mut self, other: &Self) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.short_ios += other.short_ios;
        self.drop_ios += other.drop_ios;
        self.runtime = self.runtime.max(other.runtime);
        self.submission.merge(&other.submission);
        self.service.merge(&other.service);
        self.latency.merge(&other.latency);
        self.response.merge(&other.response);
        self.bandwidth.merge_beside(&other.bandwidth);
        self.iops.merge_beside(&other.iops);
    }

    /// Operations per second over the whole runtime.
    #[must_use]
    pub fn iops_mean(&self) -> f64 {
        per_second(self.ios, self.runtime)
    }

    /// Bytes per second over the whole runtime.
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
    /// Counts `n` operations that were handed over together and made `depth` in flight, in the classes 1, 2–3,
    /// 4–7, …, 64 and more.
    #[inline]
    pub fn add_depth(&mut self, depth: u32, n: u32) {
        let class = (31 - (depth | 1).leading_zeros()).min(6);
        self.0[class as usize] += u64::from(n);
    }

    /// Counts a batch of `n` in the classes 0, 1–4, 5–8, …, 33–64, more than 64.
    #[inline]
    pub fn add_batch(&mut self, n: u32) {
        let class = match n {
            0 => 0,
            1..=4 => 1,
            _ => (32 - (n - 1).leading_zeros()).saturating_sub(1).min(6) as usize,
        };
        self.0[class] += 1;
    }

    /// How many were counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Adds what another has counted.
    pub fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a += b);
    }
}

/// Everything that was measured by a worker, or by several together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Reads, writes and trims, indexed by [`SummaryDirection`].
    pub directions: [DirectionSummary; 3],
    /// `fsync` and `fdatasync`.
    pub sync: Latency,
    /// Operations in flight, seen by each operation as it was submitted.
    pub depth: DepthMap,
    /// How many operations each submission handed over.
    pub submit: DepthMap,
    /// How many completions each look brought.
    pub complete: DepthMap,
    /// How much later than intended the loop itself was ready to issue, under a rate.
    pub lateness: Latency,
    /// Counts of each interval.
    pub series: Series,
    /// Responses of each stretch of time: from the intended instant under a rate, without one service times.
    pub blocks: Blocks,
    /// Time from the first to the last operation, added up over workers.
    pub runtime: Nanos,
    /// What the processor did.
    pub cpu: CpuUse,
    /// How many operations failed.
    pub errors: u64,
    /// The error number of the first failure, zero for none.
    pub first_error: i32,
    /// How many workers are in here.
    pub workers: u32,
}

impl Summary {
    /// Adds the results of workers that ran beside these.
    pub fn merge(&mut self, other: &Self) {
        self.directions.iter_mut().zip(&other.directions).for_each(|(ours, theirs)| ours.merge(theirs));
        self.sync.merge(&other.sync);
        self.depth.merge(&other.depth);
        self.submit.merge(&other.submit);
        self.complete.merge(&other.complete);
        self.lateness.merge(&other.lateness);
        self.series.merge(&other.series);
        self.blocks.merge(&other.blocks);
        self.runtime += other.runtime;
        self.cpu.merge(&other.cpu);
        self.errors += other.errors;
        if self.first_error == 0 {
            self.first_error = other.first_error;
        }
        self.workers += other.workers;
    }

    /// The results of one direction.
    #[must_use]
    pub const fn direction(&self, direction: SummaryDirection) -> &DirectionSummary {
        &self.directions[direction as usize]
    }

    /// Operations of all directions.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.directions.iter().map(|direction| direction.ios).sum()
    }

    /// Bytes of all directions.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.directions.iter().map(|direction| direction.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_fall_into_powers_of_two() {
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
    fn batches_fall_into_fios_classes() {
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
    fn the_first_error_stays_the_first() {
        let mut all = Summary::default();
        all.merge(&Summary { errors: 1, first_error: 5, workers: 1, ..Summary::default() });
        all.merge(&Summary { errors: 2, first_error: 28, workers: 1, ..Summary::default() });
        assert_eq!((all.errors, all.first_error, all.workers), (3, 5, 2));
    }
}
