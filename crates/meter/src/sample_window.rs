//! Windows over which bandwidth and IOPS are sampled.

use units::Nanos;

/// The current window of one kind of samples.
#[derive(Clone, Debug)]
pub(crate) struct SampleWindow {
    /// Length; zero if nothing is sampled.
    length: Nanos,
    end: Nanos,
    /// Counts of reads, writes and trims at the begin.
    before: [u64; 3],
}

pub(crate) struct EndedSamples {
    /// Length of each in seconds.
    pub(crate) seconds: f64,
    /// Counts of the first one, of reads, writes and trims.
    pub(crate) counts: [u64; 3],
    /// Number of windows without completions that follow it: a trace may pause for years.
    pub(crate) idle: u64,
}

impl SampleWindow {
    /// Returns a window that has not begun.
    pub(crate) fn new(length: Nanos) -> Self {
        Self { length, end: Nanos::MAX, before: [0; 3] }
    }

    /// Begins at `now` with these counts.
    pub(crate) fn begin(&mut self, now: Nanos, counts: [u64; 3]) {
        self.end = if self.length == Nanos::ZERO { Nanos::MAX } else { now + self.length };
        self.before = counts;
    }

    /// Returns the end of the current window; the maximum if nothing is sampled.
    pub(crate) const fn end(&self) -> Nanos {
        self.end
    }

    /// Ends all windows that end by `now`. Returns `None` if there are none.
    pub(crate) fn close(&mut self, now: Nanos, counts: [u64; 3]) -> Option<EndedSamples> {
        if now < self.end {
            return None;
        }
        let fresh = std::array::from_fn(|kind| counts[kind] - self.before[kind]);
        let idle = now.since(self.end).get() / self.length.get().max(1);
        self.end += Nanos::new(self.length.get().saturating_mul(idle + 1));
        self.before = counts;
        Some(EndedSamples { seconds: self.length.secs_f64(), counts: fresh, idle })
    }
}
