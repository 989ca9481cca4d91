//! Results of replays, and the bounds that they keep or miss.

use units::Nanos;

use crate::candidate::{Requirement, UnmetNeed};

/// Upper bounds on the latencies of a replay, from the intended instant of a request to its completion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayBounds {
    /// Bound on the mean.
    pub mean: Option<Nanos>,
    /// Bounds on percentiles: the fraction of requests, and the latency that they do not exceed.
    pub percentiles: Vec<(f64, Nanos)>,
}

impl ReplayBounds {
    /// Returns the tightest bound and the fraction of requests that may exceed it; `None` without bounds.
    #[must_use]
    pub fn tightest(&self) -> Option<(Nanos, f64)> {
        let percentiles = self.percentiles.iter().map(|(share, bound)| (*bound, 1.0 - share));
        percentiles.chain(self.mean.map(|mean| (mean, 0.3))).min_by_key(|(bound, _)| *bound)
    }
}

/// What a replay gave, or gave so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayResult {
    /// Completed requests.
    pub requests: u64,
    /// Requests of the trace.
    pub planned: u64,
    /// Whether it was stopped because it had missed a bound.
    pub was_stopped: bool,
    /// Time from the first to the last intended instant, in seconds.
    pub intended_secs: f64,
    /// Time from the first instant to the last completion, in seconds.
    pub elapsed_secs: f64,
    /// Mean latency in seconds.
    pub mean_secs: f64,
    /// Percentiles of the latency: fractions in ascending order, and seconds.
    pub percentiles: Vec<(f64, f64)>,
    /// Greatest latency in seconds.
    pub max_secs: f64,
    /// Limits and queues in the order in which requests pass them.
    pub limits: Vec<ReplayLimit>,
    /// Rates and latencies over time.
    pub course: Vec<ReplayInterval>,
}

/// What a limit or queue did in a replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayLimit {
    /// Name, such as `volume IOPS`.
    pub name: String,
    /// Fraction of the requests that it delayed.
    pub delayed: f64,
    /// Sum of its delays in seconds.
    pub delay_secs: f64,
    /// Fraction of the time in which it delayed requests.
    pub throttled: f64,
    /// Used fraction of its capacity; more than 1 while credits are spent.
    pub utilisation: f64,
    /// Burst credits, if it has any.
    pub credits: Option<ReplayCredits>,
}

/// Burst credits of a limit in a replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayCredits {
    /// Whether credits count bytes instead of operations.
    pub in_bytes: bool,
    /// Capacity of the bucket.
    pub capacity: f64,
    /// Lowest level, and its instant in seconds.
    pub low: (f64, f64),
    /// Level at the end.
    pub left: f64,
    /// Instant in seconds at which they first ran out; `None` if they never did.
    pub empty_at_secs: Option<f64>,
    /// Levels over time: seconds, and credits.
    pub levels: Vec<(f64, f64)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReplayInterval {
    /// Start in seconds.
    pub from_secs: f64,
    /// End in seconds.
    pub to_secs: f64,
    /// Completions per second.
    pub iops: f64,
    /// Median latency in seconds.
    pub p50_secs: f64,
    /// 99th percentile of the latency in seconds.
    pub p99_secs: f64,
}

/// A replay may end this fraction of its duration later than the trace.
const BEHIND_FRACTION: f64 = 0.01;
/// Limits of that delay, in seconds.
const BEHIND_SECS: (f64, f64) = (0.1, 1.0);

impl ReplayResult {
    /// Returns the delay at the end up to which a volume keeps up with a load of `secs`: 1 % of it, at least 0.1 s and
    /// at most 1 s.
    #[must_use]
    pub fn slack_secs(secs: f64) -> f64 {
        (BEHIND_FRACTION * secs).clamp(BEHIND_SECS.0, BEHIND_SECS.1)
    }

    /// Returns a percentile in seconds; `None` if it is unknown.
    #[must_use]
    pub fn percentile_secs(&self, share: f64) -> Option<f64> {
        self.percentiles.iter().find(|(known, _)| (known - share).abs() < 1e-9).map(|(_, secs)| *secs)
    }

    /// Returns how much later than the trace it ended, in seconds.
    #[must_use]
    pub fn behind_secs(&self) -> f64 {
        (self.elapsed_secs - self.intended_secs).max(0.0)
    }

    /// Returns the limit that delayed requests for the longest time; `None` if none did.
    #[must_use]
    pub fn bottleneck(&self) -> Option<&ReplayLimit> {
        let delaying = self.limits.iter().filter(|limit| limit.delay_secs > 0.0);
        delaying.max_by(|a, b| a.delay_secs.total_cmp(&b.delay_secs))
    }

    /// Returns the greatest fraction of time in which one limit delayed requests.
    #[must_use]
    pub fn throttled(&self) -> f64 {
        self.limits.iter().map(|limit| limit.throttled).fold(0.0, f64::max)
    }

    /// Returns the bounds that it misses; none if it keeps all and the volume keeps up.
    #[must_use]
    pub fn shortfalls(&self, bounds: &ReplayBounds) -> Vec<UnmetNeed> {
        let limit = match self.bottleneck() {
            Some(limit) => limit.name.clone(),
            None => "latency without queueing".to_owned(),
        };
        let over = |requirement: Requirement, bound: Nanos, reached: f64| {
            let (wanted, limit) = (bound.secs_f64(), limit.clone());
            (reached > wanted).then_some(UnmetNeed { requirement, limit, wanted, reached })
        };
        let mean = bounds.mean.and_then(|bound| over(Requirement::Mean, bound, self.mean_secs));
        let percentiles = bounds
            .percentiles
            .iter()
            .filter_map(|(share, bound)| over(Requirement::Percentile, *bound, self.percentile_secs(*share)?));
        let mut short: Vec<UnmetNeed> = mean.into_iter().chain(percentiles).collect();
        // A volume that catches up by the end was too small before. A longer trace never makes it large enough.
        let is_unbounded = bounds.mean.is_none() && bounds.percentiles.is_empty();
        let was_behind = is_unbounded && self.max_secs > BEHIND_SECS.1;
        let is_behind = was_behind || self.behind_secs() > Self::slack_secs(self.intended_secs);
        if is_behind && short.is_empty() || self.was_stopped && short.is_empty() {
            let wanted = self.planned as f64 / self.intended_secs.max(1e-9);
            let reached = (self.requests as f64 / self.elapsed_secs.max(1e-9)).min(wanted);
            short.push(UnmetNeed { requirement: Requirement::Iops, limit, wanted, reached });
        }
        short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(p99: f64) -> ReplayResult {
        ReplayResult {
            requests: 1_000,
            planned: 1_000,
            intended_secs: 10.0,
            elapsed_secs: 10.05,
            mean_secs: 0.001,
            percentiles: vec![(0.5, 0.0008), (0.99, p99)],
            ..ReplayResult::default()
        }
    }

    #[test]
    fn a_bound_is_missed_by_its_own_percentile() {
        let bounds = ReplayBounds { mean: None, percentiles: vec![(0.99, Nanos::from_millis(2))] };
        assert!(outcome(0.002).shortfalls(&bounds).is_empty());
        let short = outcome(0.0021).shortfalls(&bounds);
        assert_eq!((short[0].requirement, short[0].reached), (Requirement::Percentile, 0.0021));
        let mean = ReplayBounds { mean: Some(Nanos::from_micros(900)), percentiles: Vec::new() };
        assert_eq!(outcome(0.0).shortfalls(&mean)[0].requirement, Requirement::Mean);
    }

    #[test]
    fn a_volume_that_falls_behind_does_not_keep_up() {
        let mut late = outcome(0.001);
        late.elapsed_secs = 10.2;
        let short = late.shortfalls(&ReplayBounds::default());
        assert_eq!(short[0].requirement, Requirement::Iops);
        assert!((short[0].wanted - 100.0).abs() < 1e-9 && short[0].reached < 98.1);
        assert_eq!([5.0, 50.0, 3_600.0].map(ReplayResult::slack_secs), [0.1, 0.5, 1.0]);
    }

    #[test]
    fn a_stopped_replay_never_passes() {
        let stopped = ReplayResult { was_stopped: true, requests: 10, ..outcome(0.001) };
        assert!(!stopped.shortfalls(&ReplayBounds::default()).is_empty());
    }
}
