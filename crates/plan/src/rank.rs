//! Ranks candidates by price and latency.

use volume::catalogue::LatencyBasis;

use crate::candidate::{Candidate, UnmetNeed};
use crate::need::Need;

/// Ranked candidates, as indices into the ranked slice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// Candidates that meet the need, the cheapest first, in US dollars; then those with unknown prices: by their known part, and
    /// by latency.
    /// Among equals, the better known latency comes first.
    pub meeting: Vec<usize>,
    /// If a latency is bounded: candidates that meet the need by an assumed latency alone, in the same order.
    pub may_meet: Vec<usize>,
    /// Those that no other dominates in price and latency. A less well known latency dominates none.
    pub front: Vec<usize>,
    /// The cheapest of the front.
    pub best: Option<usize>,
    /// The fastest of the front.
    pub fastest: Option<usize>,
    /// The cheapest whose latency is not assumed.
    pub known_best: Option<usize>,
    /// The fastest whose latency is not assumed.
    pub known_fastest: Option<usize>,
    /// Candidates that do not meet the need, the nearest first.
    pub missing: Vec<usize>,
    /// If none meets the need: requirements that no volume meets in any size and with any setting, even alone. Only
    /// [`plan`](crate::plan) looks for them.
    pub impossible: Vec<Nearest>,
    /// If no single volume meets all requirements at once: the candidate nearest to all.
    pub nearest: Option<usize>,
}

impl Ranking {
    /// Returns the best; without a known price the first of those that meet the need, or else of those that may.
    #[must_use]
    pub fn chosen(&self) -> Option<usize> {
        self.best.or_else(|| self.meeting.first().or(self.may_meet.first()).copied())
    }
}

/// The volume nearest to a requirement that none meets.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest {
    /// The unmet requirement.
    pub failure: UnmetNeed,
    /// Name of the volume with keys.
    pub volume: String,
}

/// Latency by which candidates are compared, in seconds.
type Slowness = fn(&Candidate) -> Option<f64>;

/// Ranks candidates for a need by price and mean latency.
#[must_use]
pub fn rank(candidates: &[Candidate], need: &Need) -> Ranking {
    let is_known = |candidate: &Candidate| candidate.latency_is_within(need.mean, need.percentile.is_some());
    rank_by(candidates, &is_known, |candidate| candidate.mean_secs)
}

/// Ranks candidates by price and a latency in seconds; `is_known` says whether what is known of a latency keeps its bound.
#[must_use]
pub fn rank_by(candidates: &[Candidate], is_known: &dyn Fn(&Candidate) -> bool, secs: Slowness) -> Ranking {
    let indices = || 0..candidates.len();
    let mut meeting: Vec<usize> = indices().filter(|index| candidates[*index].meets()).collect();
    meeting.sort_by(|a, b| {
        let (a, b) = (&candidates[*a], &candidates[*b]);
        order(a, secs).partial_cmp(&order(b, secs)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let is_known = |index: &usize| is_known(&candidates[*index]);
    let (meeting, may_meet): (Vec<usize>, Vec<usize>) = meeting.into_iter().partition(is_known);
    let front: Vec<usize> = meeting
        .iter()
        .copied()
        .filter(|index| candidates[*index].known_price().is_some())
        .filter(|index| !meeting.iter().any(|other| dominates(&candidates[*other], &candidates[*index], secs)))
        .collect();
    let best = front.first().copied();
    let slower = |a: &usize, b: &usize| slowness(&candidates[*a], secs).total_cmp(&slowness(&candidates[*b], secs));
    let fastest = front.iter().copied().min_by(slower);
    let known = || front.iter().copied().filter(|index| candidates[*index].has_known_latency());
    let (known_best, known_fastest) = (known().next(), known().min_by(slower));
    let mut missing: Vec<usize> = indices().filter(|index| !candidates[*index].meets()).collect();
    missing.sort_by(|a, b| {
        let order = shortfall(&candidates[*a]).partial_cmp(&shortfall(&candidates[*b]));
        order.unwrap_or(std::cmp::Ordering::Equal)
    });
    let nearest = missing.first().copied().filter(|_| meeting.is_empty() && may_meet.is_empty());
    let impossible = Vec::new();
    Ranking { meeting, may_meet, front, best, fastest, known_best, known_fastest, missing, impossible, nearest }
}

fn slowness(candidate: &Candidate, secs: Slowness) -> f64 {
    secs(candidate).unwrap_or(f64::INFINITY)
}

/// Sort key: known prices first, price, basis of the latency, latency.
fn order(candidate: &Candidate, secs: Slowness) -> (bool, f64, LatencyBasis, f64) {
    let basis = candidate.about.latency_basis;
    match candidate.known_price() {
        Some(price) => (false, price.usd_per_month, basis, slowness(candidate, secs)),
        // The known part of a price is a lower bound.
        None => {
            let least = candidate.price.as_ref().map_or(f64::INFINITY, |price| price.usd_per_month);
            (true, least, basis, slowness(candidate, secs))
        }
    }
}

/// Latencies that differ by a smaller factor are equal: that is how accurate they are.
const EQUAL: f64 = 1.01;

/// Reports whether `one` is at least as good in price and latency, and better in one of them. A less well known latency
/// does not count as better.
fn dominates(one: &Candidate, other: &Candidate, secs: Slowness) -> bool {
    let (Some(price), Some(others)) = (one.known_price(), other.known_price()) else { return false };
    let (cost, time) = ((price.usd_per_month, others.usd_per_month), (slowness(one, secs), slowness(other, secs)));
    let is_as_well_known = one.about.latency_basis <= other.about.latency_basis;
    is_as_well_known && cost.0 <= cost.1 && time.0 <= time.1 * EQUAL && (cost.0 < cost.1 || time.0 * EQUAL < time.1)
}

/// Returns the distance of a candidate from the need: its worst failure, then all together.
fn shortfall(candidate: &Candidate) -> (f64, f64) {
    let short_by = || candidate.own_failures().map(UnmetNeed::short_by);
    (short_by().fold(1.0, f64::max), short_by().product())
}
