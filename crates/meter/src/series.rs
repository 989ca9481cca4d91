//! Counts per interval of time, in bounded memory.

use units::Nanos;

/// The most intervals that are kept; beyond it neighbours are joined and intervals become twice as long.
const INTERVALS_MAX: usize = 4096;

/// So many intervals show the course of a run; as long as they are shorter than their [`IntervalWidths::pace`], more are joined.
pub(crate) const FINE_MAX: usize = 128;

/// Lengths of intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntervalWidths {
    /// At first.
    pub first: Nanos,
    /// Where a run is long enough, and what its steadiness is judged by: in shorter ones chance would be taken for change.
    pub pace: Nanos,
}

impl IntervalWidths {
    /// All of one length.
    #[must_use]
    pub fn of(width: Nanos) -> Self {
        let width = width.max(Nanos::new(1));
        Self { first: width, pace: width }
    }

    /// A second, for short runs halved until there are more than 64, at most five times.
    #[must_use]
    pub fn suited() -> Self {
        Self { first: Nanos::from_micros(31_250), pace: Nanos::from_secs(1) }
    }

    /// The most intervals of a width before neighbours are joined, where there is room for `most`.
    pub(crate) fn room(self, width: Nanos, most: usize) -> usize {
        if width < self.pace { FINE_MAX.min(most) } else { most }
    }
}

/// Counts of one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// Operations completed: reads, writes, trims.
    pub ios: [u64; 3],
    /// Bytes transferred: reads, writes, trims.
    pub bytes: [u64; 3],
    /// Sum of service times in nanoseconds.
    pub service_ns: u64,
    /// The longest service time in nanoseconds.
    pub service_ns_max: u64,
}

impl Interval {
    fn join(&mut self, other: &Self) {
        for kind in 0..3 {
            self.ios[kind] += other.ios[kind];
            self.bytes[kind] += other.bytes[kind];
        }
        self.service_ns += other.service_ns;
        self.service_ns_max = self.service_ns_max.max(other.service_ns_max);
    }
}

/// Intervals of equal length from the start of measurement on.
#[derive(Clone, Debug)]
pub struct Series {
    widths: IntervalWidths,
    width: Nanos,
    intervals: Vec<Interval>,
    /// The interval that was used last, and when it began.
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
    /// An empty series.
    #[must_use]
    pub fn new(widths: IntervalWidths) -> Self {
        Self { widths, width: widths.first.max(Nanos::new(1)), intervals: Vec::new(), last: 0, last_begin: 0 }
    }

    /// What steadiness is judged by: an interval, or several together.
    #[must_use]
    pub fn pace(&self) -> Nanos {
        self.widths.pace.max(self.width)
    }

    /// How long each interval is.
    #[must_use]
    pub const fn width(&self) -> Nanos {
        self.width
    }

    /// The intervals in order; the last one may not be over.
    #[must_use]
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// The interval that holds `at`, counted from the start of measurement.
    #[inline]
    pub fn at(&mut self, at: Nanos) -> &mut Interval {
        let index = self.last;
        // Time goes on slowly: a division for each operation would cost more than all else here.
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

    /// Adds the series of a worker that ran beside this one.
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
    fn memory_is_bounded_and_nothing_is_lost() {
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
    fn fine_intervals_stay_fine_beside_one_that_has_seen_nothing() {
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
