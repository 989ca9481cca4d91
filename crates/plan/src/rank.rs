//! Ranks candidates by price and latency.

use volume::catalogue::LatencyBasis;

use crate::candidate::{Candidate, Requirement, UnmetNeed};

/// The candidates in order, as indices into the slice that was ranked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// Those that meet the need, the cheapest first, all prices in US dollars; those whose price is not known behind
    /// them, by latency. Of equals the one whose latency is better known comes first.
    pub meeting: Vec<usize>,
    /// Of those the ones that no other beats: cheaper and no slower, or faster and no dearer. One whose latency is less
    /// well known beats none.
    pub front: Vec<usize>,
    /// The cheapest of the front: the smallest that meets the need.
    pub best: Option<usize>,
    /// The fastest of the front.
    pub fastest: Option<usize>,
    /// The cheapest whose latency is not assumed.
    pub known_best: Option<usize>,
    /// The fastest whose latency is not assumed.
    pub known_fastest: Option<usize>,
    /// Those that do not, the nearest first.
    pub missing: Vec<usize>,
    /// Where none meets the need: wishes that nothing fulfils, and what comes nearest to each.
    pub impossible: Vec<Nearest>,
    /// Where each wish could be fulfilled, but not all at once: what comes nearest to all.
    pub nearest: Option<usize>,
}

/// The volume that comes nearest to a wish that none fulfils.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest {
    /// The wish, what was wanted and what there is.
    pub failure: UnmetNeed,
    /// Whose it is.
    pub candidate: usize,
}

/// Ranks candidates.
#[must_use]
pub fn rank(candidates: &[Candidate]) -> Ranking {
    let indices = || 0..candidates.len();
    let mut meeting: Vec<usize> = indices().filter(|index| candidates[*index].meets()).collect();
    meeting.sort_by(|a, b| {
        let (a, b) = (&candidates[*a], &candidates[*b]);
        order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let front: Vec<usize> = meeting
        .iter()
        .copied()
        .filter(|index| candidates[*index].known_price().is_some())
        .filter(|index| !meeting.iter().any(|other| dominates(&candidates[*other], &candidates[*index])))
        .collect();
    let best = front.first().copied();
    let slower = |a: &usize, b: &usize| slowness(&candidates[*a]).total_cmp(&slowness(&candidates[*b]));
    let fastest = front.iter().copied().min_by(slower);
    let known = || front.iter().copied().filter(|index| candidates[*index].has_known_latency());
    let (known_best, known_fastest) = (known().next(), known().min_by(slower));
    let mut missing: Vec<usize> = indices().filter(|index| !candidates[*index].meets()).collect();
    missing.sort_by(|a, b| shortfall(&candidates[*a]).total_cmp(&shortfall(&candidates[*b])));
    let (mut impossible, mut nearest) = (Vec::new(), None);
    if meeting.is_empty() {
        impossible = out_of_reach(candidates);
        nearest = missing.first().copied();
    }
    Ranking { meeting, front, best, fastest, known_best, known_fastest, missing, impossible, nearest }
}

fn slowness(candidate: &Candidate) -> f64 {
    candidate.mean_secs.unwrap_or(f64::INFINITY)
}

/// Known prices first, the price, then how well the latency is known, then the latency.
fn order(candidate: &Candidate) -> (bool, f64, LatencyBasis, f64) {
    let basis = candidate.about.latency_basis;
    match candidate.known_price() {
        Some(price) => (false, price.usd_per_month, basis, slowness(candidate)),
        None => (true, 0.0, basis, slowness(candidate)),
    }
}

/// Whether one is at least as good in price and in latency, and better in one of them. A latency that is less well known
/// does not count as better.
fn dominates(one: &Candidate, other: &Candidate) -> bool {
    let (Some(price), Some(others)) = (one.known_price(), other.known_price()) else { return false };
    let (cost, time) = ((price.usd_per_month, others.usd_per_month), (slowness(one), slowness(other)));
    let is_as_well_known = one.about.latency_basis <= other.about.latency_basis;
    is_as_well_known && cost.0 <= cost.1 && time.0 <= time.1 && (cost.0 < cost.1 || time.0 < time.1)
}

/// Distance of a candidate from the need, by its worst failure and then by their number.
fn shortfall(candidate: &Candidate) -> f64 {
    let worst = candidate.failures.iter().map(UnmetNeed::short_by).fold(1.0, f64::max);
    worst + 1e-6 * candidate.failures.len() as f64
}

/// Wishes that every candidate leaves unfulfilled, each with the candidate that comes nearest.
fn out_of_reach(candidates: &[Candidate]) -> Vec<Nearest> {
    use Requirement::{Budget, Capacity, Iops, Machine, Mean, Percentile, Sharing, Throughput};
    let wishes = [Iops, Throughput, Capacity, Mean, Percentile, Sharing, Requirement::Size, Machine, Budget];
    let nearest = |wish: Requirement| {
        let of = |candidate: &Candidate| candidate.failures.iter().find(|failure| failure.requirement == wish).cloned();
        // Nothing is known of the others' figures where their machine or their load is out of the question.
        let unasked = |candidate: &Candidate| {
            let unknown = |failure: &UnmetNeed| matches!(failure.requirement, Machine | Requirement::Unknown);
            wish != Machine && of(candidate).is_none() && candidate.failures.iter().any(unknown)
        };
        let asked: Vec<usize> = (0..candidates.len()).filter(|index| !unasked(&candidates[*index])).collect();
        let failing: Option<Vec<(usize, UnmetNeed)>> =
            asked.into_iter().map(|index| Some((index, of(&candidates[index])?))).collect();
        let by_less = |a: &(usize, UnmetNeed), b: &(usize, UnmetNeed)| a.1.short_by().total_cmp(&b.1.short_by());
        let (candidate, failure) = failing?.into_iter().min_by(by_less)?;
        Some(Nearest { failure, candidate })
    };
    wishes.into_iter().filter_map(nearest).collect()
}
