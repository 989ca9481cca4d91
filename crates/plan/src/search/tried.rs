//! The smallest volume of a type by trials.

use volume::catalogue::{About, BuiltinVolume};

use super::{Pairs, PlanSearch, given};
use crate::candidate::Candidate;
use crate::laws::LatencyCache;
use crate::need::Need;

/// Decides by a trial instead of the closed form whether a volume is enough.
pub(super) struct SearchTrial<'a> {
    /// Tries a volume.
    pub(super) is_enough: &'a mut dyn FnMut(&volume::Spec) -> bool,
    /// Volume with values near those that are enough.
    pub(super) near: &'a About,
    /// Fraction of a value up to which it is found; zero to find it exactly.
    pub(super) resolution: f64,
}

/// Returns the smallest volume of a type that is enough by a trial. If none is, returns the largest that was tried.
/// Variants of the type are tried in the order of `candidate`'s prices; the first that is enough is taken.
pub(crate) fn tried(
    need: &Need,
    (listed, keys): (&BuiltinVolume, &str),
    start: &Need,
    laws: &mut LatencyCache,
    (is_enough, resolution): (&mut dyn FnMut(&volume::Spec) -> bool, f64),
) -> Option<Candidate> {
    let mut variants: Vec<(Candidate, Pairs)> = Vec::new();
    let mut search = PlanSearch {
        need: start,
        listed,
        demands: start.demands(),
        given: given(need, listed, keys),
        laws: &mut *laws,
        trial: None,
    };
    for fixed in search.variants() {
        variants.extend(search.smallest(&fixed).map(|found| (found, fixed)));
    }
    // Estimates only order the variants: the cheapest that may be enough comes first.
    variants.sort_by(|(a, _), (b, _)| {
        let price = |one: &Candidate| one.known_price().map_or(f64::INFINITY, |price| price.usd_per_month);
        let order = |one: &Candidate| (!one.failures.is_empty(), price(one));
        order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut last = None;
    for (near, fixed) in &variants {
        let trial = SearchTrial { is_enough: &mut *is_enough, near: &near.about, resolution };
        let mut search = PlanSearch {
            need,
            listed,
            demands: Vec::new(),
            given: given(need, listed, keys),
            laws: &mut *laws,
            trial: Some(trial),
        };
        let Some(found) = search.smallest(fixed) else { continue };
        if is_enough(&found.spec) {
            return Some(found);
        }
        last = Some(found);
    }
    last
}
