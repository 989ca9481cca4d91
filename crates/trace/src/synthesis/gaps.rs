//! Regularity of the times between requests.

/// Maximum gap within a batch, in nanoseconds.
const BATCH_GAP_NS: u64 = 100_000;

/// Gaps between the requests of a class.
///
/// The local variation compares each gap with the one before (Shinomoto, Shima and Tanji, "Differences in spiking
/// patterns among cortical neurons", Neural Computation 15(12), 2003): 0 for even arrivals, 1 for Poisson arrivals and up
/// to 3 for batches. Slow changes of the rate have no effect on it, unlike on the variance of gaps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gaps {
    last: Option<u64>,
    gap: Option<u64>,
    sum: f64,
    pairs: u64,
    batches: u64,
    requests: u64,
}

impl Gaps {
    /// Adds a request that is issued at `at`, in nanoseconds.
    #[inline]
    pub(super) fn add(&mut self, at: u64) {
        self.requests += 1;
        let Some(last) = self.last.replace(at) else {
            self.batches = 1;
            return;
        };
        let gap = at - last;
        self.batches += u64::from(gap > BATCH_GAP_NS);
        if let Some(before) = self.gap.replace(gap) {
            let (a, b) = (before as f64, gap as f64);
            let sum = a + b;
            // Equal instants tell nothing: they count as Poisson arrivals do on average.
            self.sum += if sum > 0.0 { (a - b) * (a - b) / (sum * sum) } else { 1.0 / 3.0 };
            self.pairs += 1;
        }
    }

    /// Returns the local variation; `None` for fewer than three requests.
    pub(super) fn local_variation(&self) -> Option<f64> {
        (self.pairs > 0).then(|| 3.0 * self.sum / self.pairs as f64)
    }

    /// Returns the mean number of requests in a row without a gap of over 100 µs.
    pub(super) fn batch_requests(&self) -> f64 {
        self.requests as f64 / self.batches.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use units::random::Random;

    use super::*;

    fn gaps(seed: u64, mut gap: impl FnMut(&mut Random) -> u64) -> Gaps {
        let (mut random, mut at, mut gaps) = (Random::new(seed, 0), 0, Gaps::default());
        for _ in 0..20_000 {
            at += gap(&mut random);
            gaps.add(at);
        }
        gaps
    }

    #[test]
    fn local_variation_tells_even_random_and_batched_arrivals_apart() {
        let even = gaps(1, |_| 1_000_000).local_variation().unwrap();
        assert!(even < 1e-9, "{even}");
        let poisson = |random: &mut Random| (-(1.0 - random.unit()).ln() * 1e6) as u64;
        let random = gaps(2, poisson).local_variation().unwrap();
        assert!((random - 1.0).abs() < 0.05, "{random}");
        let mut number = 0;
        let batched = gaps(3, |_| {
            number += 1;
            if number % 20 == 0 { 10_000_000 } else { 1_000 }
        });
        assert!((batched.batch_requests() - 20.0).abs() < 0.1, "{}", batched.batch_requests());
        assert_eq!(Gaps::default().local_variation(), None);
    }

    #[test]
    fn a_slow_change_of_the_rate_does_not_count() {
        let mut number = 0u64;
        let slow = gaps(4, |_| {
            number += 1;
            100_000 + number * 100
        });
        assert!(slow.local_variation().unwrap() < 0.01);
    }
}
