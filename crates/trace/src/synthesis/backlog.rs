//! Waits in queues with constant drain rates.
//!
//! What a limit of some IOPS makes of arrivals depends on all their bursts together. So loads are compared by the 99th
//! percentile of the wait before limits of several rates, whatever the shape of the bursts.

/// Limits in requests and in bytes per second: powers of two from the first ones.
const REQUESTS_FIRST: u64 = 500;
const BYTES_FIRST: u64 = 16 << 20;
const LIMITS: usize = 9;
/// Classes of waits in a power of two, as a power of two.
const CLASS_BITS: u32 = 5;
/// Longest wait, as a power of two of microseconds.
const WAIT_BITS: usize = 42;

/// What a limit admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BacklogLimit {
    /// Requests per second.
    Requests(u64),
    /// Bytes per second.
    Bytes(u64),
}

/// Wait before a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    pub limit: BacklogLimit,
    /// 99th percentile of the wait and of the time of the request itself, in nanoseconds.
    pub p99_ns: u64,
}

/// A queue and its waits.
#[derive(Clone, Debug)]
struct DrainQueue {
    limit: BacklogLimit,
    request_ns: u64,
    byte_ns: f64,
    free_ns: u64,
    counts: Vec<u64>,
}

/// Waits of arrivals before limits. Memory: 200 KiB.
#[derive(Clone, Debug)]
pub struct BacklogCounts {
    queues: Vec<DrainQueue>,
    arrivals: u64,
}

impl Default for BacklogCounts {
    fn default() -> Self {
        Self::new()
    }
}

impl BacklogCounts {
    /// Creates counts of no arrivals.
    #[must_use]
    pub fn new() -> Self {
        let queue = |limit| {
            let (request_ns, byte_ns) = match limit {
                BacklogLimit::Requests(per_s) => (1_000_000_000 / per_s, 0.0),
                BacklogLimit::Bytes(per_s) => (0, 1e9 / per_s as f64),
            };
            DrainQueue { limit, request_ns, byte_ns, free_ns: 0, counts: vec![0; (WAIT_BITS + 1) << CLASS_BITS] }
        };
        let requests = (0..LIMITS).map(|number| queue(BacklogLimit::Requests(REQUESTS_FIRST << number)));
        let bytes = (0..LIMITS).map(|number| queue(BacklogLimit::Bytes(BYTES_FIRST << number)));
        Self { queues: requests.chain(bytes).collect(), arrivals: 0 }
    }

    /// Adds an arrival of some bytes at `at`, in nanoseconds, which is not before the last one.
    #[inline]
    pub fn add(&mut self, at: u64, bytes: u32) {
        self.arrivals += 1;
        for queue in &mut self.queues {
            let own_ns = queue.request_ns + (queue.byte_ns * f64::from(bytes)) as u64;
            queue.free_ns = queue.free_ns.max(at).saturating_add(own_ns);
            queue.counts[class(queue.free_ns.saturating_sub(at))] += 1;
        }
    }

    /// Returns the waits before all limits, the lowest of each kind first; none if there are no arrivals.
    #[must_use]
    pub fn finish(&self) -> Vec<Backlog> {
        let wanted = self.arrivals - self.arrivals / 100;
        let of_queue = |queue: &DrainQueue| {
            let mut sum = 0;
            let at = queue.counts.iter().position(|count| {
                sum += count;
                sum >= wanted
            });
            Backlog { limit: queue.limit, p99_ns: class_end(at.unwrap_or(0)) }
        };
        if self.arrivals == 0 { Vec::new() } else { self.queues.iter().map(of_queue).collect() }
    }
}

/// A mean load, against which limits are held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MeanRates {
    pub(super) requests_per_s: f64,
    pub(super) bytes_per_s: f64,
}

impl Backlog {
    /// Least ratio of a limit to the mean rate: below it, waits grow with the duration.
    const LIMIT_MIN: f64 = 1.1;
    /// Wait in nanoseconds that volumes add to those before limits: differences far below it cannot be seen.
    pub(super) const LATENCY_NS: f64 = 200_000.0;

    /// Reports whether a load stays below the limit on average.
    pub(super) fn is_above(&self, mean: MeanRates) -> bool {
        match self.limit {
            BacklogLimit::Requests(per_s) => per_s as f64 >= Self::LIMIT_MIN * mean.requests_per_s,
            BacklogLimit::Bytes(per_s) => per_s as f64 >= Self::LIMIT_MIN * mean.bytes_per_s,
        }
    }

    /// Returns the logarithm of the ratio of the wait of another load to this one.
    pub(super) fn log_ratio(&self, other: &Self) -> f64 {
        ((other.p99_ns as f64 + Self::LATENCY_NS) / (self.p99_ns as f64 + Self::LATENCY_NS)).ln()
    }
}

/// Returns the class of a wait: 32 for each power of two of microseconds.
#[inline]
fn class(ns: u64) -> usize {
    let us = (ns / 1000).clamp(1, (1 << WAIT_BITS) - 1);
    let bits = us.ilog2();
    let fraction = if bits >= CLASS_BITS { us >> (bits - CLASS_BITS) } else { us << (CLASS_BITS - bits) };
    ((bits as usize) << CLASS_BITS) + (fraction as usize - (1 << CLASS_BITS))
}

/// Returns the end of a class in nanoseconds.
fn class_end(class: usize) -> u64 {
    let (bits, fraction) = (class >> CLASS_BITS, class & ((1 << CLASS_BITS) - 1));
    ((1u64 << bits) * 1000 / (1 << CLASS_BITS)).saturating_mul((1 << CLASS_BITS) + fraction as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_waits_as_long_as_it_is_drained() {
        let mut counts = BacklogCounts::new();
        // 1,000 bursts of 100 at once, each in 10 s: the 99th request of each waits 99 drains.
        (0..1000u64).for_each(|burst| (0..100).for_each(|_| counts.add(burst * 10_000_000_000, 1 << 20)));
        for backlog in counts.finish() {
            let wanted = match backlog.limit {
                BacklogLimit::Requests(per_s) => 99e9 / per_s as f64,
                BacklogLimit::Bytes(per_s) => 99e9 * f64::from(1 << 20) / per_s as f64,
            };
            assert!((backlog.p99_ns as f64 / wanted - 1.0).abs() < 0.04, "{backlog:?}, not {wanted}");
        }
        assert_eq!(BacklogCounts::new().finish(), []);
    }

    #[test]
    fn classes_ascend() {
        let mut last = 0;
        for us in (0..1 << 16).map(|n| n * 37) {
            let at = class(us * 1000);
            assert!(at >= last && class_end(at) >= us * 1000, "{us}");
            last = at;
        }
        assert!(class(u64::MAX) < (WAIT_BITS + 1) << CLASS_BITS);
    }
}
