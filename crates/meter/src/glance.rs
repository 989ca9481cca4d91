//! A copy of a worker's counters for observers.

use units::Nanos;

use crate::{Histogram, Latency};

/// A copy of a worker's counters: the part of a [`Summary`](crate::Summary) that is cheap to copy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeterSnapshot {
    /// Time of the copy, on the target's clock.
    pub at: Nanos,
    /// Start of counting. It increases when counting restarts after a ramp.
    pub begun: Nanos,
    /// Completed operations: reads, writes, trims.
    pub ios: [u64; 3],
    /// Bytes transferred.
    pub bytes: [u64; 3],
    /// Time for which each kind was in use.
    pub runtime: [Nanos; 3],
    /// Times from submission to completion.
    pub service: [Latency; 3],
    /// Times from the intended instant to completion, under a rate only.
    pub response: [Latency; 3],
    /// Delay until the loop was ready to issue an operation after its intended instant, under a rate only.
    pub lateness: Latency,
    /// Times of `fsync` and `fdatasync`.
    pub sync: Latency,
    /// Failed operations.
    pub errors: u64,
}

impl Latency {
    /// Becomes the sum of `parts`, reusing its memory.
    pub(crate) fn become_sum<'a>(&mut self, parts: impl IntoIterator<Item = &'a Self>) {
        let mut histogram = std::mem::take(&mut self.histogram);
        histogram.clear();
        *self = Self { histogram, ..Self::default() };
        parts.into_iter().for_each(|part| self.merge(part));
    }
}

impl MeterSnapshot {
    /// Adds the counters of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.at = self.at.max(other.at);
        self.begun = self.begun.max(other.begun);
        self.errors += other.errors;
        self.lateness.merge(&other.lateness);
        self.sync.merge(&other.sync);
        for kind in 0..3 {
            self.ios[kind] += other.ios[kind];
            self.bytes[kind] += other.bytes[kind];
            self.runtime[kind] = self.runtime[kind].max(other.runtime[kind]);
            self.service[kind].merge(&other.service[kind]);
            self.response[kind].merge(&other.response[kind]);
        }
    }

    /// Returns the times from the intended instant to completion; without a schedule, the service times.
    #[must_use]
    pub fn latency(&self, kind: usize) -> &Latency {
        if self.response[kind].moments.count() > 0 { &self.response[kind] } else { &self.service[kind] }
    }
}

impl Histogram {
    /// Returns the counts since an earlier state of the histogram.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut grown = Self::default();
        let mut before = earlier.buckets().peekable();
        for (bucket, n) in self.buckets() {
            while before.next_if(|(other, _)| *other < bucket).is_some() {}
            let known = before.next_if(|(other, _)| *other == bucket).map_or(0, |(_, n)| n);
            if n > known {
                grown.add_at(bucket, n - known);
            }
        }
        grown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_returns_the_added_counts() {
        let mut histogram = Histogram::default();
        histogram.add(5, 2);
        histogram.add(900, 1);
        let earlier = histogram.clone();
        histogram.add(900, 3);
        histogram.add(7, 1);
        assert_eq!(histogram.since(&earlier).buckets().map(|(_, n)| n).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(histogram.since(&Histogram::default()), histogram);
        assert_eq!(earlier.since(&histogram).total(), 0);
    }
}
