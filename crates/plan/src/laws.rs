//! Means and percentiles of latency distributions, cached.

use volume::closed::{Load, transit_secs};
use volume::{Behaviour, Law, RequestKind, Spec};

/// Cached means: many volumes share a distribution, and a mean takes thousands of quantiles.
#[derive(Clone, Debug, Default)]
pub struct LatencyCache {
    means: Vec<(Law, f64)>,
}

const KINDS: [RequestKind; 2] = [RequestKind::Read, RequestKind::Write];

impl LatencyCache {
    fn mean_secs(&mut self, law: &Law) -> f64 {
        if let Some((_, mean)) = self.means.iter().find(|(known, _)| known == law) {
            return *mean;
        }
        let mean = law.mean().secs_f64();
        self.means.push((law.clone(), mean));
        mean
    }

    /// Returns the mean latency without queueing, in seconds. `None` without a closed form.
    pub fn alone_secs(&mut self, spec: &Spec, load: &Load) -> Option<f64> {
        match &spec.behaviour {
            Behaviour::Latency(latency) => {
                let shares = KINDS.map(|kind| *load.share.get(kind));
                let mut law = 0.0;
                for (kind, share) in KINDS.into_iter().zip(shares).filter(|(_, share)| *share > 0.0) {
                    law += share * self.mean_secs(latency.law.get(kind));
                }
                Some(law + transit_secs(spec, load))
            }
            Behaviour::Drive(drive) if load.sequential => {
                Some(load.mean_bytes() / drive.inner_bytes_per_sec.max(1) as f64)
            }
            Behaviour::Drive(drive) => Some(1.0 / drive.random_iops(&Load { in_flight: 1.0, ..load.clone() })?),
        }
    }
}

/// Returns the latency without queueing that the fraction `share` of operations does not exceed, in seconds. `None` for
/// drives, which have no latency distribution.
pub(crate) fn quantile_secs(spec: &Spec, load: &Load, share: f64) -> Option<f64> {
    let Behaviour::Latency(latency) = &spec.behaviour else { return None };
    let laws = KINDS.map(|kind| (*load.share.get(kind), latency.law.get(kind)));
    let ends = || laws.iter().filter(|(weight, _)| *weight > 0.0).map(|(_, law)| law.quantile(share).secs_f64());
    let (mut low, mut high) = (ends().fold(f64::INFINITY, f64::min), ends().fold(0.0, f64::max));
    let below = |secs: f64| -> f64 { laws.iter().map(|(weight, law)| weight * share_below(law, secs)).sum() };
    // The percentile of the mixture lies between those of the kinds.
    while high - low > 1e-9 + 1e-4 * high {
        let middle = (low + high) / 2.0;
        if below(middle) < share { low = middle } else { high = middle }
    }
    Some(high + transit_secs(spec, load))
}

/// Returns the fraction of a distribution up to `secs`, by bisection of its quantiles.
fn share_below(law: &Law, secs: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if law.quantile(middle).secs_f64() <= secs { low = middle } else { high = middle }
    }
    low
}
