//! Searches the highest queue depth at which a latency target is met.

use units::Nanos;

use crate::rules::{FoundDepth, LatencyTarget};

/// The search: windows of one depth each, by doubling and bisection.
#[derive(Debug)]
pub(super) struct DepthSearch {
    target: LatencyTarget,
    depth: u32,
    /// Highest depth that has met the target; zero for none.
    met: u32,
    /// Lowest depth that has missed it, or one more than the job's depth.
    missed: u32,
    window_start: Nanos,
    operations: u64,
    late: u64,
    is_over: bool,
}

/// What follows from the end of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchStep {
    /// The next window begins, at another depth perhaps.
    Continue,
    /// The depth was found and the job ends.
    End,
}

impl DepthSearch {
    /// Begins at the job's depth.
    pub(super) fn new(target: LatencyTarget, depth: u32) -> Self {
        Self {
            target,
            depth,
            met: 0,
            missed: depth + 1,
            window_start: Nanos::MAX,
            operations: 0,
            late: 0,
            is_over: false,
        }
    }

    pub(super) fn begin(&mut self, start: Nanos) {
        self.window_start = start;
    }

    /// Returns the number of operations to keep in flight.
    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    pub(super) fn found(&self) -> FoundDepth {
        let is_met = self.met > 0;
        FoundDepth { depth: if is_met { self.met } else { self.depth }, is_met }
    }

    /// Counts an operation.
    pub(super) fn count(&mut self, latency: Nanos) {
        self.operations += 1;
        self.late += u64::from(latency > self.target.latency);
    }

    /// Ends the window if it is over. Returns what follows then.
    pub(super) fn end_window(&mut self, now: Nanos) -> Option<SearchStep> {
        if self.window_start == Nanos::MAX || now < self.window_start + self.target.window || self.operations == 0 {
            return None;
        }
        let is_met = (self.operations - self.late) as f64 >= self.target.fraction * self.operations as f64;
        (self.operations, self.late, self.window_start) = (0, 0, now);
        if self.is_over {
            // The load may have changed: the search continues around the depth.
            if !is_met {
                (self.missed, self.met, self.is_over) = (self.depth, 0, false);
                self.depth = (self.depth / 2).max(1);
            }
            return Some(SearchStep::Continue);
        }
        if is_met {
            self.met = self.depth;
        } else {
            self.missed = self.depth;
            // It was met before, and is not any more.
            self.met = if self.met < self.missed { self.met } else { 0 };
        }
        if self.met + 1 >= self.missed && self.met > 0 {
            // The last window was perhaps another depth's, whose results do not count.
            let has_results = self.depth == self.met;
            self.depth = self.met;
            self.is_over = self.target.continues || has_results;
            return Some(if has_results && !self.target.continues { SearchStep::End } else { SearchStep::Continue });
        }
        let doubled = self.met.saturating_mul(2).max(1);
        self.depth = if doubled < self.missed { doubled } else { self.met + (self.missed - self.met) / 2 }.max(1);
        Some(SearchStep::Continue)
    }
}
