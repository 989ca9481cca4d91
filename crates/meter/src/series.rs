//! Counts per interval, in bounded memory. Intervals begin short and double until they are a second long, so that the
//! length of the run need not be known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

/// Maximum number of intervals. Beyond it, adjacent intervals are merged and the width doubles.
const INTERVALS_MAX: usize = 4096;

/// Maximum number of intervals narrower than [`IntervalWidths::pace`], enough to draw the course of a run.
pub(crate) const FINE_MAX: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntervalWidths {
    /// Initial width.
    pub first: Nanos,
    /// Width in long runs, and the interval over which steadiness is judged: in shorter ones, noise looks like change.
    pub pace: Nanos,
}

impl IntervalWidths {
    /// Returns equal initial and final widths.
    #[must_use]
    pub fn of(width: Nanos) -> Self {
        let width = width.max(Nanos::new(1));
        Self { first: width, pace: width }
    }

    /// Returns a final width of one second. Short runs have half that width or less, down to 1/32, to have over 64
    /// intervals.
    #[must_use]
    pub fn suited() -> Self {
        Self { first: Nanos::from_micros(31_250), pace: Nanos::from_secs(1) }
    }

    /// Returns the maximum number of intervals of a width before they are merged, at most `most`.
    pub(crate) fn room(self, width: Nanos, most: usize) -> usize {
        if width < self.pace { FINE_MAX.min(most) } else { most }
    }
}

/// Counts of one interval, each for reads, writes and trims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Completed operations.
    pub ios: [u64; 3],
    /// Transferred bytes.
    pub bytes: [u64; 3],
    /// Sum of service times in nanoseconds.
    pub service_ns: u64,
    /// Maximum service time in nanoseconds.
    pub service_ns_max: u64,
}

impl Interval {
    /// Adds the counts of another interval.
    pub fn join(&mut self, other: &Self) {
        for kind in 0..3 {
            self.ios[kind] = self.ios[kind].saturating_add(other.ios[kind]);
            self.bytes[kind] = self.bytes[kind].saturating_add(other.bytes[kind]);
        }
        self.service_ns = self.service_ns.saturating_add(other.service_ns);
        self.service_ns_max = self.service_ns_max.max(other.service_ns_max);
    }
}

/// Intervals of equal width since the start of measurement.
#[derive(Clone, Debug)]
pub struct Series {
    widths: IntervalWidths,
    width: Nanos,
    intervals: Vec<Interval>,
    /// Index and beginning of the interval that was used last.
    last: usize,
    last_begin: u64,
}

impl PartialEq for Series {
    fn eq(&self, other: &Self) -> bool {
        self.width == other.width && self.intervals == other.intervals
    }
}

impl Eq for Series {}

impl Default for Series {
    fn default() -> Self {
        Self::new(IntervalWidths::of(Nanos::from_secs(1)))
    }
}

impl Series {
    /// Returns an empty series.
    #[must_use]
    pub fn new(widths: IntervalWidths) -> Self {
        Self { widths, width: widths.first.max(Nanos::new(1)), intervals: Vec::new(), last: 0, last_begin: 0 }
    }

    /// Restores a series from its intervals.
    #[must_use]
    pub fn restored(width: Nanos, pace: Nanos, intervals: Vec<Interval>) -> Self {
        let width = width.max(Nanos::new(1));
        let widths = IntervalWidths { first: width, pace: pace.max(width) };
        Self { widths, width, intervals, last: 0, last_begin: 0 }
    }

    /// Returns the interval over which steadiness is judged: one interval of the series, or several.
    #[must_use]
    pub fn pace(&self) -> Nanos {
        self.widths.pace.max(self.width)
    }

    /// Returns the width of the intervals.
    #[must_use]
    pub const fn width(&self) -> Nanos {
        self.width
    }

    /// Returns the intervals in chronological order; the last one may be incomplete.
    #[must_use]
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// Returns the interval that contains `at`, measured from the start of measurement.
    #[inline]
    pub fn at(&mut self, at: Nanos) -> &mut Interval {
        let index = self.last;
        // Most operations are in the same interval as the previous one; a division would cost more than all else here.
        if at.get().wrapping_sub(self.last_begin) < self.width.get() && index < self.intervals.len() {
            return &mut self.intervals[index];
        }
        self.find(at)
    }

    fn find(&mut self, at: Nanos) -> &mut Interval {
        while at.get() / self.width.get() >= self.widths.room(self.width, INTERVALS_MAX) as u64 {
            self.double();
        }
        let index = (at.get() / self.width.get()) as usize;
        if index >= self.intervals.len() {
            self.intervals.resize(index + 1, Interval::default());
        }
        (self.last, self.last_begin) = (index, index as u64 * self.width.get());
        &mut self.intervals[index]
    }

    /// Adds the series of a worker that ran at the same time.
    pub fn merge(&mut self, other: &Self) {
        if self.intervals.is_empty() {
            *self = other.clone();
            return;
        }
        let mut other = other.clone();
        while self.width < other.width {
            self.double();
        }
        while other.width < self.width {
            other.double();
        }
        if self.intervals.len() < other.intervals.len() {
            self.intervals.resize(other.intervals.len(), Interval::default());
        }
        self.intervals.iter_mut().zip(&other.intervals).for_each(|(ours, theirs)| ours.join(theirs));
    }

    fn double(&mut self) {
        self.width = self.width + self.width;
        self.intervals = self
            .intervals
            .chunks(2)
            .map(|pair| {
                let mut first = pair[0];
                pair[1..].iter().for_each(|second| first.join(second));
                first
            })
            .collect();
        (self.last, self.last_begin) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_and_no_count_is_lost() {
        let mut series = Series::new(IntervalWidths::of(Nanos::from_millis(1)));
        for ms in 0..100_000 {
            series.at(Nanos::from_millis(ms)).ios[0] += 1;
        }
        assert!(series.intervals().len() <= INTERVALS_MAX);
        assert_eq!(series.intervals().iter().map(|i| i.ios[0]).sum::<u64>(), 100_000);
        assert_eq!(series.width(), Nanos::from_millis(32));
    }

    #[test]
    fn intervals_suit_the_length_of_the_run() {
        let of_run = |s: u64| {
            let mut series = Series::new(IntervalWidths::suited());
            (0..s * 100).for_each(|at| series.at(Nanos::from_millis(10 * at)).ios[0] += 1);
            assert_eq!(series.intervals().iter().map(|interval| interval.ios[0]).sum::<u64>(), s * 100);
            (series.width(), series.intervals().len(), series.pace())
        };
        let pace = Nanos::from_secs(1);
        assert_eq!(of_run(3), (Nanos::from_micros(31_250), 96, pace));
        assert_eq!(of_run(10), (Nanos::from_millis(125), 80, pace));
        assert_eq!(of_run(60), (Nanos::from_millis(500), 120, pace));
        assert_eq!(of_run(300), (pace, 300, pace));
    }

    #[test]
    fn fine_intervals_stay_fine_when_merged_into_an_empty_series() {
        let mut fine = Series::new(IntervalWidths::of(Nanos::from_millis(30)));
        fine.at(Nanos::from_millis(100)).ios[0] += 7;
        let mut together = Series::default();
        together.merge(&fine);
        assert_eq!(together, fine);
    }

    #[test]
    fn series_of_different_widths_merge() {
        let (mut a, mut b) = (Series::default(), Series::new(IntervalWidths::of(Nanos::from_secs(2))));
        for s in 0..5 {
            a.at(Nanos::from_secs(s)).ios[1] += 1;
        }
        b.at(Nanos::from_secs(9)).ios[1] += 1;
        a.merge(&b);
        assert_eq!(a.width(), Nanos::from_secs(2));
        assert_eq!(a.intervals().iter().map(|i| i.ios[1]).collect::<Vec<_>>(), [2, 2, 1, 0, 1]);
    }
}
