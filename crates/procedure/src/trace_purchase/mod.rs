//! Plans a purchase for a load that is known as a trace: every candidate is replayed.
//!
//! `plan::replay` searches one type of volume; this module replays, chooses the part of the trace, and compares the
//! types.

mod early_stop;
mod explain;
mod load;
mod outcome;
mod part;
mod question;
mod trial;

use std::sync::atomic::{AtomicUsize, Ordering};

use plan::replay::{ReplayBounds, ReplayResult, ReplaySearch, ReplayTrial, ReplayedCandidate};
use plan::{Candidate, LatencyCache, Need, rank_by};
use results::plan::{PlannedTrace, TracePlanResult};

pub use load::TraceLoad;
pub use load::TraceWindow;
pub use outcome::TraceHistory;
pub use part::{ReadTrace, TracePart, is_trace, read_trace};
pub use question::{PreparedTrace, TraceQuestion};
pub use trial::TraceReplayer;

use crate::host::{Parallel, map};

/// A function that replays a trial; `None` if that is impossible or the search was interrupted.
pub type ReplayTrace<'a> = &'a (dyn Fn(&ReplayTrial) -> Option<ReplayResult> + Sync);

/// The search for the volumes on which a trace keeps its bounds.
pub struct TracePurchase<'a> {
    /// Requirements beside latencies, without rates.
    pub need: Need,
    /// Bounds on latencies.
    pub bounds: ReplayBounds,
    /// What is replayed.
    pub load: &'a TraceLoad,
    /// Whether requests that follow each other are at consecutive offsets, for the most part.
    pub is_sequential: bool,
    /// Provisioned values are at most this fraction above the smallest sufficient ones.
    pub resolution: f64,
    /// Replays a trial.
    pub replay: ReplayTrace<'a>,
    /// Searches types of volumes in parallel.
    pub parallel: Parallel,
    /// Receives the number of types that have been searched, and of all.
    pub on_progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// A queue that lasts longer than this misses no bound, without bounds: the volume still keeps up.
const PATIENCE_SECS: f64 = 1.0;
/// How much of the tightest bound a request may wait for a limit, in the estimate with which a search begins.
const WAIT_SHARE: f64 = 0.5;
/// Maximum number of types that are searched for the next step.
const NEXT_STEPS_MAX: usize = 4;

impl TracePurchase<'_> {
    /// Searches all volumes of the need, and looks for the next step.
    #[must_use]
    pub fn conclude(self, trace: PlannedTrace, seed: u64) -> TracePlanResult {
        let volumes = plan::named(&self.need).unwrap_or_default();
        let done = AtomicUsize::new(0);
        let found = map(self.parallel, &volumes, |origin| {
            let found = self.find(origin, 1.0);
            (self.on_progress)(1 + done.fetch_add(1, Ordering::Relaxed), volumes.len());
            found
        });
        let candidates: Vec<ReplayedCandidate> = found.into_iter().flatten().collect();
        let plain: Vec<Candidate> = candidates.iter().map(|one| one.candidate.clone()).collect();
        let is_known =
            |candidate: &Candidate| candidate.latency_is_within(self.bounds.mean, !self.bounds.percentiles.is_empty());
        let ranking = rank_by(&plain, &is_known, |candidate| candidate.percentile_secs);
        let next_step = if ranking.meeting.is_empty() && ranking.may_meet.is_empty() { None } else { self.next_step() };
        TracePlanResult {
            trace,
            need: self.need,
            bounds: self.bounds,
            candidates,
            ranking,
            next_step,
            resolution: self.resolution,
            seed,
        }
    }

    /// Searches one type of volume, for the load times `factor`.
    fn find(&self, origin: &(volume::catalogue::BuiltinVolume, String), factor: f64) -> Option<ReplayedCandidate> {
        let need = self.need_of(factor);
        let speed = factor * (1.0 + need.growth);
        let start = self.start(&need, speed * (1.0 + need.headroom));
        let search =
            ReplaySearch { need: &need, start: &start, bounds: &self.bounds, speed, resolution: self.resolution };
        let mut replay = |trial: &ReplayTrial| (self.replay)(trial);
        search.find(origin, &mut LatencyCache::default(), &mut replay)
    }

    /// Returns the need of the load times `factor`. A budget applies to the current load only.
    fn need_of(&self, factor: f64) -> Need {
        Need { budget: self.need.budget.filter(|_| factor <= 1.0), ..self.need.clone() }
    }

    /// Returns the need with the rates at which a search begins.
    fn start(&self, need: &Need, speed: f64) -> Need {
        let (wait_secs, late) = match self.bounds.tightest() {
            Some((bound, late)) => (WAIT_SHARE * bound.secs_f64(), late),
            None => (PATIENCE_SECS, 0.0),
        };
        // At twice the speed all rates double, and a wait of one second is one of two seconds of the trace.
        let rate = self.load.curve.sufficient_rate(wait_secs * speed, late) * speed;
        Need {
            iops: (rate > 0.0).then_some(rate),
            block: Some(self.load.block_bytes()),
            read_share: self.load.read_share(),
            sequential: self.is_sequential,
            growth: 0.0,
            headroom: 0.0,
            // After growth, as in the need.
            capacity: Some(need.bytes()),
            ..need.clone()
        }
    }

    /// Returns the cheapest volume for twice the load. Types are searched in the order of their estimated prices.
    fn next_step(&self) -> Option<ReplayedCandidate> {
        let need = self.need_of(2.0);
        let start = self.start(&need, 2.0 * (1.0 + need.growth) * (1.0 + need.headroom));
        let mut laws = LatencyCache::default();
        let mut open: Vec<(f64, Candidate)> = plan::candidates(&start, &mut laws)
            .into_iter()
            .filter_map(|candidate| Some((candidate.known_price()?.usd_per_month, candidate)))
            .filter(|(_, candidate)| candidate.failures.is_empty())
            .collect();
        open.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let volumes = plan::named(&need).unwrap_or_default();
        let mut best: Option<(f64, ReplayedCandidate)> = None;
        for (estimate, candidate) in open.into_iter().take(NEXT_STEPS_MAX) {
            if best.as_ref().is_some_and(|(price, _)| *price <= estimate) {
                break;
            }
            let origin = volumes.iter().find(|(listed, _)| listed.name == candidate.listed);
            let Some(found) = origin.and_then(|origin| self.find(origin, 2.0)) else { continue };
            let price = found.candidate.known_price().map(|price| price.usd_per_month);
            if let Some(price) = price.filter(|_| found.candidate.meets())
                && best.as_ref().is_none_or(|(known, _)| price < *known)
            {
                best = Some((price, found));
            }
        }
        best.map(|(_, found)| found)
    }
}
