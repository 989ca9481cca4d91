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
/// Variants of the type are tried in the order of their estimated prices, as long as one may be cheaper than the best.
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
    // The cheapest that may be enough comes first. The trial may need more of it than estimated, at a higher price than
    // that of another variant.
    let price = |one: &Candidate| one.known_price().map_or(f64::INFINITY, |price| price.usd_per_month);
    variants.sort_by(|(a, _), (b, _)| {
        let order = |one: &Candidate| (!one.failures.is_empty(), price(one));
        order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let (mut best, mut last): (Option<Candidate>, Option<Candidate>) = (None, None);
    for (near, fixed) in &variants {
        if best.as_ref().is_some_and(|best| price(near) >= price(best)) {
            continue;
        }
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
        if !is_enough(&found.spec) {
            last = Some(found);
        } else if best.as_ref().is_none_or(|best| price(&found) < price(best)) {
            best = Some(found);
        }
    }
    best.or(last)
}
