//! Searches the highest queue depth at which a latency target is met.

use meter::Histogram;
use units::Nanos;

use crate::rules::{FoundDepth, LatencyTarget};

/// The search: windows of one depth each, by doubling and bisection.
#[derive(Debug)]
pub(super) struct DepthSearch {
    target: LatencyTarget,
    depth: u32,
    /// Since when the worker has kept to this depth.
    depth_since: Nanos,
    /// Highest depth that has met the target.
    met: Option<Tried>,
    /// Lowest depth that has missed it, or one more than the job's depth.
    missed: Tried,
    /// `None` while operations of another depth are in flight.
    window_start: Option<Nanos>,
    latencies: Histogram,
    operations: u64,
    late: u64,
    is_over: bool,
}

/// A depth and the target's percentile of the latencies there; `None` if it was not tried.
#[derive(Clone, Copy, Debug)]
struct Tried {
    depth: u32,
    latency: Option<Nanos>,
}

/// What follows from the end of a window, or of the wait before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchStep {
    /// Results count from now on: all operations in flight are of this depth.
    Measure,
    /// The depth was found and the job ends.
    End,
}

impl DepthSearch {
    /// Begins at the job's depth.
    pub(super) fn new(target: LatencyTarget, depth: u32) -> Self {
        Self {
            target,
            depth,
            depth_since: Nanos::ZERO,
            met: None,
            missed: Tried { depth: depth + 1, latency: None },
            window_start: None,
            latencies: Histogram::default(),
            operations: 0,
            late: 0,
            is_over: false,
        }
    }

    pub(super) fn begin(&mut self, start: Nanos) {
        self.window_start = Some(start);
    }

    /// Returns the number of operations to keep in flight.
    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    pub(super) fn found(&self) -> FoundDepth {
        let missed_at = |depth| self.missed.latency.filter(|_| self.missed.depth == depth);
        match self.met {
            Some(Tried { depth, latency }) => FoundDepth { depth, is_met: true, latency, above: missed_at(depth + 1) },
            None => FoundDepth { depth: self.depth, is_met: false, latency: missed_at(self.depth), above: None },
        }
    }

    /// Counts an operation. Reports whether it makes the target impossible: all had to meet it, and no depth is lower.
    pub(super) fn count(&mut self, latency: Nanos) -> bool {
        if self.window_start.is_none() {
            return false;
        }
        let is_late = latency > self.target.latency;
        self.operations += 1;
        self.late += u64::from(is_late);
        self.latencies.add(latency.get(), 1);
        is_late && self.depth == 1 && self.target.fraction >= 1.0
    }

    /// Begins the window once no operation of another depth is in flight, of which `oldest` is the earliest start, and
    /// ends it when it is over.
    pub(super) fn step(&mut self, now: Nanos, oldest: impl FnOnce() -> Option<Nanos>) -> Option<SearchStep> {
        let Some(start) = self.window_start else {
            if oldest().is_some_and(|started| started <= self.depth_since) {
                return None;
            }
            self.window_start = Some(now);
            return Some(SearchStep::Measure);
        };
        // Each place of the queue has to be used once, or a window shorter than a latency would judge by the fastest.
        if now < start + self.target.window || self.operations < u64::from(self.depth) {
            return None;
        }
        let before = self.depth;
        self.window_start = Some(now);
        let ends = self.end_window();
        if self.depth != before {
            (self.depth_since, self.window_start) = (now, None);
        }
        ends.then_some(SearchStep::End)
    }

    /// Chooses the depth of the next window. Reports whether none has to follow.
    fn end_window(&mut self) -> bool {
        let is_met = (self.operations - self.late) as f64 >= self.target.fraction * self.operations as f64;
        // The values of a histogram are approximate, but not on which side of the target they are.
        let latency = self.latencies.percentile(self.target.fraction * 100.0);
        let latency = latency.map(|it| if is_met { it.min(self.target.latency) } else { it.max(self.target.latency) });
        let tried = Tried { depth: self.depth, latency };
        (self.operations, self.late) = (0, 0);
        self.latencies.clear();
        if is_met {
            self.met = Some(tried);
        } else {
            self.missed = tried;
            // It was met before, and is not any more.
            self.met = self.met.filter(|met| met.depth < tried.depth);
        }
        if self.is_over {
            // The load may have changed: the search continues around the depth.
            if !is_met {
                (self.met, self.is_over) = (None, false);
                self.depth = (self.depth / 2).max(1);
            }
            return false;
        }
        let met = self.met.map_or(0, |met| met.depth);
        if met > 0 && met + 1 >= self.missed.depth {
            // The last window was perhaps another depth's, whose results do not count.
            let has_results = self.depth == met;
            self.depth = met;
            self.is_over = self.target.continues || has_results;
            return has_results && !self.target.continues;
        }
        let doubled = met.saturating_mul(2).max(1);
        self.depth = if doubled < self.missed.depth { doubled } else { met + (self.missed.depth - met) / 2 }.max(1);
        false
    }
}
