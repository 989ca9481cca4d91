//! The smallest volume of each type that keeps the bounds under a replay.

use std::collections::BTreeMap;

use volume::Spec;
use volume::catalogue::BuiltinVolume;
use volume::closed::Load;

use super::{ReplayBounds, ReplayResult};
use crate::candidate::{Candidate, Requirement, UnmetNeed};
use crate::laws::{LatencyCache, quantile_secs};
use crate::need::Need;
use crate::search::{self, Members};

/// A replay of a trace on one volume.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayTrial {
    /// Volume name with keys.
    pub volume: String,
    /// Factor on the speed of the trace.
    pub speed: f64,
    /// Bounds that end the replay when they are surely missed; `None` for a complete replay.
    pub until_missed: Option<ReplayBounds>,
}

/// Replays a trial; returns `None` if that is impossible or the search was interrupted.
type Replay<'a> = dyn FnMut(&ReplayTrial) -> Option<ReplayResult> + 'a;

/// A candidate with what replays on it gave.
#[derive(Clone, Debug)]
pub struct ReplayedCandidate {
    /// The candidate. Its latencies come from the replay; it fails the need if the replay missed a bound.
    pub candidate: Candidate,
    /// The replay at the speed of the question, complete if the candidate meets the need; `None` if the candidate was
    /// refused without a replay.
    pub outcome: Option<ReplayResult>,
    /// By how much the load can grow; `None` if the candidate does not meet the need.
    pub margin: Option<SpeedMargin>,
    /// Number of replays on volumes of this type.
    pub replays: u32,
}

/// Greatest speed at which a volume keeps the bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedMargin {
    /// Factor on the speed of the question.
    pub factor: f64,
    /// Whether it keeps them at any speed that was tried, up to that factor.
    pub is_open: bool,
}

/// A search for the smallest volumes on which a trace keeps its bounds.
#[derive(Clone, Copy, Debug)]
pub struct ReplaySearch<'a> {
    /// Requirements beside latencies: capacity, machine, region, budget, headroom. It has no rates.
    pub need: &'a Need,
    /// The same with rates near those that the trace needs: where the search begins.
    pub start: &'a Need,
    /// Bounds on latencies.
    pub bounds: &'a ReplayBounds,
    /// Factor on the speed of the trace. The bounds hold at this speed times 1 + headroom.
    pub speed: f64,
    /// Provisioned values are at most this fraction above the smallest sufficient ones.
    pub resolution: f64,
}

/// Greatest factor that a search for the margin tries.
const MARGIN_MAX: f64 = 16.0;

impl ReplaySearch<'_> {
    /// Returns the smallest volume of a type that keeps the bounds, or the largest with the bounds that it misses.
    /// `None` if the type has no such volume.
    pub fn find(
        &self,
        origin: &(BuiltinVolume, String),
        laws: &mut LatencyCache,
        replay: &mut Replay<'_>,
    ) -> Option<ReplayedCandidate> {
        let refused = search::candidate(self.need, origin, Members::One, 1.0, laws)?;
        if !refused.failures.is_empty() {
            return Some(ReplayedCandidate { candidate: refused, outcome: None, margin: None, replays: 0 });
        }
        let mut trials = Trials { search: self, replay, known: BTreeMap::new(), replays: 0 };
        let speed = self.speed * (1.0 + self.need.headroom);
        let mut is_enough = |spec: &Spec| self.unreachable(spec).is_none() && trials.keeps_bounds(&spec.name, speed);
        let found = search::tried(self.need, origin, self.start, laws, &mut is_enough, self.resolution)?;
        // The smallest represents a type whose latency alone is too long at any size.
        let is_too_slow = |candidate: &Candidate| self.unreachable(&candidate.spec).is_some();
        let found = if is_too_slow(&found) && is_too_slow(&refused) { refused } else { found };
        Some(trials.concluded(found))
    }

    /// Returns a bound that a volume misses even without queueing, which no replay has to show.
    fn unreachable(&self, spec: &Spec) -> Option<UnmetNeed> {
        /// The fraction of reads of the trace may differ a little, and percentiles of few requests vary.
        const TOLERANCE: f64 = 1.02;
        let load = Load::mixed(self.start.read_share, self.start.block.unwrap_or(4096), f64::INFINITY);
        let over = |requirement: Requirement, wanted: f64, reached: Option<f64>| {
            let reached = reached.filter(|reached| *reached > TOLERANCE * wanted)?;
            Some(UnmetNeed { requirement, limit: "latency without queueing".to_owned(), wanted, reached })
        };
        let percentiles = self.bounds.percentiles.iter();
        let mut missed = percentiles.filter_map(|(share, bound)| {
            over(Requirement::Percentile, bound.secs_f64(), quantile_secs(spec, &load, *share))
        });
        missed.next().or_else(|| {
            let mean = self.bounds.mean?;
            over(Requirement::Mean, mean.secs_f64(), LatencyCache::default().alone_secs(spec, &load))
        })
    }

    /// Returns by how much faster than at `from` the trace can be replayed on a volume until it misses a bound, within
    /// 5 %.
    fn margin(&self, volume: &str, from: f64, trials: &mut Trials<'_, '_>) -> SpeedMargin {
        let (mut low, mut high, mut growth) = (from, None, 1.15);
        while high.is_none() && low < MARGIN_MAX * self.speed {
            let next = low * growth;
            if trials.keeps_bounds(volume, next) {
                low = next;
            } else {
                high = Some(next);
            }
            growth *= growth;
        }
        let Some(mut high) = high else { return SpeedMargin { factor: low / self.speed, is_open: true } };
        while high > low * 1.05 {
            let middle = (low * high).sqrt();
            if trials.keeps_bounds(volume, middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        SpeedMargin { factor: low / self.speed, is_open: false }
    }
}

/// Replays with known verdicts.
struct Trials<'a, 'r> {
    search: &'a ReplaySearch<'a>,
    replay: &'a mut Replay<'r>,
    /// Verdicts by volume and speed.
    known: BTreeMap<String, bool>,
    replays: u32,
}

impl Trials<'_, '_> {
    fn run(&mut self, volume: &str, speed: f64, until_missed: Option<ReplayBounds>) -> Option<ReplayResult> {
        self.replays += 1;
        (self.replay)(&ReplayTrial { volume: volume.to_owned(), speed, until_missed })
    }

    /// Reports whether a volume keeps the bounds at a speed.
    fn keeps_bounds(&mut self, volume: &str, speed: f64) -> bool {
        let key = format!("{volume} {speed}");
        if let Some(verdict) = self.known.get(&key) {
            return *verdict;
        }
        let bounds = self.search.bounds;
        let outcome = self.run(volume, speed, Some(bounds.clone()));
        let verdict = outcome.is_some_and(|outcome| outcome.shortfalls(bounds).is_empty());
        self.known.insert(key, verdict);
        verdict
    }

    /// Replays once more at the speed of the question, for the figures.
    fn concluded(mut self, mut candidate: Candidate) -> ReplayedCandidate {
        let search = self.search;
        let volume = candidate.spec.name.clone();
        if let Some(missed) = search.unreachable(&candidate.spec) {
            candidate.percentile_secs = (missed.requirement == Requirement::Percentile).then_some(missed.reached);
            candidate.survived = Some(false);
            candidate.failures.push(missed);
            return ReplayedCandidate { candidate, outcome: None, margin: None, replays: self.replays };
        }
        let planned = search.speed * (1.0 + search.need.headroom);
        let meets = self.keeps_bounds(&volume, planned);
        let until_missed = (!meets).then(|| search.bounds.clone());
        // A volume that misses a bound only with headroom is told by the replay with it.
        let speed = if meets { search.speed } else { planned };
        let outcome = self.run(&volume, speed, until_missed);
        let mut failures = outcome.as_ref().map_or_else(Vec::new, |outcome| outcome.shortfalls(search.bounds));
        if failures.is_empty() && (!meets || outcome.is_none()) {
            failures.push(UnmetNeed::absolute(Requirement::Unknown, "cannot replay the trace on it".to_owned()));
        }
        candidate.failures.extend(failures);
        candidate.survived = Some(meets && outcome.is_some());
        let Some(outcome) = outcome else {
            return ReplayedCandidate { candidate, outcome: None, margin: None, replays: self.replays };
        };
        candidate.mean_secs = Some(outcome.mean_secs);
        let share = search.bounds.percentiles.first().map_or(0.99, |(share, _)| *share);
        candidate.percentile_secs = outcome.percentile_secs(share);
        candidate.rate = outcome.planned as f64 / outcome.intended_secs.max(1e-9);
        candidate.in_flight = Some(outcome.requests as f64 * outcome.mean_secs / outcome.elapsed_secs.max(1e-9));
        let margin = candidate.failures.is_empty().then(|| search.margin(&volume, planned, &mut self));
        ReplayedCandidate { candidate, outcome: Some(outcome), margin, replays: self.replays }
    }
}

/// Numbers of requests in intervals of equal width.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadCurve {
    /// Width of the intervals in nanoseconds.
    pub width_ns: u64,
    /// Requests of each interval.
    pub requests: Vec<u32>,
}

impl LoadCurve {
    /// Returns the number of requests.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.requests.iter().map(|count| u64::from(*count)).sum()
    }

    /// Returns the duration in seconds.
    #[must_use]
    pub fn secs(&self) -> f64 {
        self.requests.len() as f64 * self.width_ns as f64 / 1e9
    }

    /// Returns the lowest rate, in requests per second, at which at most the fraction `late` of the requests waits
    /// longer than `wait_secs` in a queue with that rate. Requests of an interval count as evenly spread, so bursts
    /// within one are not seen.
    #[must_use]
    pub fn sufficient_rate(&self, wait_secs: f64, late: f64) -> f64 {
        let total = self.total();
        if total == 0 || self.width_ns == 0 {
            return 0.0;
        }
        let width_secs = self.width_ns as f64 / 1e9;
        let mut low = total as f64 / self.secs();
        let mut high = self.requests.iter().map(|count| f64::from(*count)).fold(0.0, f64::max) / width_secs;
        let allowed = late * total as f64;
        // Below the mean rate the queue grows, but few requests may be late in a short trace.
        if self.late_requests(low, wait_secs) <= allowed {
            return low;
        }
        while high > low * 1.002 {
            let middle = low.midpoint(high);
            if self.late_requests(middle, wait_secs) <= allowed { high = middle } else { low = middle }
        }
        high
    }

    /// Returns how many requests wait longer than `wait_secs` for a limit of `rate`.
    fn late_requests(&self, rate: f64, wait_secs: f64) -> f64 {
        let served = rate * self.width_ns as f64 / 1e9;
        let bearable = rate * wait_secs;
        let (mut backlog, mut late) = (0.0_f64, 0.0);
        for count in &self.requests {
            let count = f64::from(*count);
            backlog = (backlog + count - served).max(0.0);
            if backlog > bearable {
                late += count;
            }
        }
        late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_load_needs_its_rate_and_bursts_need_more() {
        let steady = LoadCurve { width_ns: 10_000_000, requests: vec![100; 1_000] };
        assert!((steady.sufficient_rate(0.001, 0.01) / 10_000.0 - 1.0).abs() < 0.01);
        // A tenth of the time has twice the mean of the rest.
        let mut bursts = steady.clone();
        bursts.requests.iter_mut().step_by(10).for_each(|count| *count = 1_000);
        let exact = bursts.sufficient_rate(0.0, 0.0);
        assert!((exact / 100_000.0 - 1.0).abs() < 0.01, "{exact}");
        let patient = bursts.sufficient_rate(0.05, 0.0);
        assert!((19_000.0..25_000.0).contains(&patient), "{patient}");
        // If the requests of bursts may be late, a rate that ends their backlog before half of the others is enough.
        let half = bursts.sufficient_rate(0.0, 0.53 + 0.47 / 2.0);
        assert!(half > 19_000.0 && half < 0.4 * exact, "{half}");
    }

    #[test]
    fn an_empty_curve_needs_nothing() {
        assert_eq!(LoadCurve::default().sufficient_rate(0.0, 0.0), 0.0);
        assert_eq!(LoadCurve { width_ns: 1, requests: vec![0; 3] }.sufficient_rate(0.0, 0.0), 0.0);
    }
}
