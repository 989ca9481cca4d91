//! A copy of counters for observers of a run.

use units::Nanos;

use crate::{Histogram, Latency};

/// A worker's counters so far: the part of a [`Summary`](crate::Summary) that is cheap to copy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Glance {
    /// When it was copied, on the clock of the target.
    pub at: Nanos,
    /// When counting began: later than before where it began anew, as after a ramp.
    pub begun: Nanos,
    /// Operations completed: reads, writes, trims.
    pub ios: [u64; 3],
    /// Bytes transferred.
    pub bytes: [u64; 3],
    /// How long each kind was in use.
    pub runtime: [Nanos; 3],
    /// From submission to completion.
    pub service: [Latency; 3],
    /// From the intended instant to completion; counted under a rate only.
    pub response: [Latency; 3],
    /// How much later than intended the loop itself was ready to issue, under a rate.
    pub lateness: Latency,
    /// How many operations failed.
    pub errors: u64,
}

impl Latency {
    /// Becomes the same as others that were counted apart, in the memory that is there.
    pub(crate) fn become_sum<'a>(&mut self, parts: impl IntoIterator<Item = &'a Self>) {
        let mut histogram = std::mem::take(&mut self.histogram);
        histogram.clear();
        *self = Self { histogram, ..Self::default() };
        parts.into_iter().for_each(|part| self.merge(part));
    }
}

impl Glance {
    /// Adds what another worker has counted.
    pub fn merge(&mut self, other: &Self) {
        self.at = self.at.max(other.at);
        self.begun = self.begun.max(other.begun);
        self.errors += other.errors;
        self.lateness.merge(&other.lateness);
        for kind in 0..3 {
            self.ios[kind] += other.ios[kind];
            self.bytes[kind] += other.bytes[kind];
            self.runtime[kind] = self.runtime[kind].max(other.runtime[kind]);
            self.service[kind].merge(&other.service[kind]);
            self.response[kind].merge(&other.response[kind]);
        }
    }

    /// From the intended instant to completion, which is the service time where there is no schedule.
    #[must_use]
    pub fn latency(&self, kind: usize) -> &Latency {
        if self.response[kind].moments.count() > 0 { &self.response[kind] } else { &self.service[kind] }
    }
}

impl Histogram {
    /// What was counted since an earlier state of it.
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
    fn what_has_grown_is_what_was_added() {
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
