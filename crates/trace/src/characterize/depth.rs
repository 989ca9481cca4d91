//! Requests in flight over time, from the instants of issue and completion.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::histogram::WideHistogram;
use super::processes::Processes;
use super::profile::DepthProfile;
use super::series::RateSeries;

/// Maximum number of requests that are tracked in flight. Beyond it, the one that completes first is dropped.
const IN_FLIGHT_MAX: usize = 65_536;

/// Requests in flight. Memory: 1.1 MiB.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight {
    now: u64,
    /// Completion and process, the earliest first.
    due: BinaryHeap<Reverse<(u64, u16)>>,
    /// Time at each depth.
    times: WideHistogram,
    /// Depth that each request finds, including itself.
    found: WideHistogram,
    dropped: u64,
}

impl InFlight {
    /// Completes what is due until `to`, and counts the time.
    #[inline]
    pub(super) fn advance(&mut self, to: u64, processes: &mut Processes, series: &mut RateSeries) {
        while let Some(&Reverse((at, process))) = self.due.peek() {
            if at > to {
                break;
            }
            self.pass(at, series);
            self.due.pop();
            processes.complete(process, at);
        }
        self.pass(to, series);
    }

    #[inline]
    fn pass(&mut self, to: u64, series: &mut RateSeries) {
        if to > self.now {
            let depth = self.due.len() as u64;
            self.times.add(depth, to - self.now);
            series.add_in_flight(self.now, to, depth);
            self.now = to;
        }
    }

    /// Adds a request that is issued now and completes at `completion`.
    #[inline]
    pub(super) fn issue(&mut self, completion: u64, process: u16, processes: &mut Processes) {
        if self.due.len() >= IN_FLIGHT_MAX
            && let Some(Reverse((_, first))) = self.due.pop()
        {
            self.dropped += 1;
            processes.complete(first, self.now);
        }
        self.due.push(Reverse((completion, process)));
        self.found.add(self.due.len() as u64, 1);
    }

    /// Completes all requests. Returns the instant of the last completion, or `end` if that is later.
    pub(super) fn drain(&mut self, end: u64, processes: &mut Processes, series: &mut RateSeries) -> u64 {
        while let Some(&Reverse((at, _))) = self.due.peek() {
            self.advance(at, processes, series);
        }
        self.pass(end, series);
        self.now
    }

    pub(super) fn profile(&self) -> Option<DepthProfile> {
        let found = self.found.distribution()?;
        let busy = self.times.total().saturating_sub(self.times.weight_to(0));
        let deep = self.times.total().saturating_sub(self.times.weight_to(1));
        let of_time = |part: u64| part as f64 / self.times.total().max(1) as f64;
        Some(DepthProfile {
            depth: self.times.distribution(),
            depth_at_issue: found,
            busy_time_fraction: of_time(busy),
            above_one_time_fraction: of_time(deep),
            dropped: self.dropped,
        })
    }
}
