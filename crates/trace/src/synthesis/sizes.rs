//! Sizes of requests with whole percentages, as `bssplit` takes them.

use crate::characterize::{PerOperation, SizeProfile};

/// Greatest size of a request of a job in bytes: each request in flight has a buffer.
pub(super) const SIZE_MAX: u32 = 16 << 20;
/// Least unit of sizes in bytes.
const SECTOR_BYTES: u64 = 512;
/// Maximum number of different sizes.
const SIZES_MAX: usize = 32;

/// Sizes in bytes with percentages, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SizePercentages(pub(super) Vec<(u32, u32)>);

impl SizePercentages {
    pub(super) fn new(sizes: &PerOperation<SizeProfile>) -> Self {
        let mut counts: Vec<(u32, u64)> = Vec::new();
        for profile in sizes.all() {
            let exact = profile.frequent.iter().map(|size| (u64::from(size.bytes), size.requests));
            let ranges = profile.others.iter().map(|range| {
                // The last size of a narrow range is a whole number of pages where that is possible.
                let middle = u64::midpoint(range.bytes_min, range.bytes_end);
                let unit = if range.bytes_end - range.bytes_min > 8192 { 4096 } else { SECTOR_BYTES };
                (middle / unit * unit, range.requests)
            });
            for (bytes, requests) in exact.chain(ranges).filter(|(_, requests)| *requests > 0) {
                let bytes = bytes.next_multiple_of(SECTOR_BYTES).clamp(SECTOR_BYTES, u64::from(SIZE_MAX)) as u32;
                match counts.binary_search_by_key(&bytes, |(bytes, _)| *bytes) {
                    Ok(at) => counts[at].1 += requests,
                    Err(at) => counts.insert(at, (bytes, requests)),
                }
            }
        }
        Self(percentages(&counts))
    }

    /// Returns the greatest size in bytes.
    pub(super) fn max_bytes(&self) -> u32 {
        self.0.last().map_or(SECTOR_BYTES as u32, |size| size.0)
    }

    /// Returns the mean size in bytes.
    pub(super) fn mean_bytes(&self) -> f64 {
        let sum: f64 = self.0.iter().map(|(bytes, percent)| f64::from(*bytes) * f64::from(*percent)).sum();
        sum / 100.0
    }

    /// Returns the same sizes with percentages by which the mean is as wanted, as far as the sizes permit: those of each
    /// size are multiplied by a power of it.
    pub(super) fn with_mean(&self, wanted: f64) -> Self {
        /// Greatest relative difference of means that are equal.
        const EQUAL: f64 = 0.01;
        let weighted = |exponent: f64| -> Vec<(u32, f64)> {
            let largest = f64::from(self.max_bytes());
            let weight = |(bytes, percent): &(u32, u32)| {
                (*bytes, f64::from(*percent) * (f64::from(*bytes) / largest).powf(exponent))
            };
            self.0.iter().map(weight).collect()
        };
        let mean = |weights: &[(u32, f64)]| {
            let sum = weights.iter().map(|size| size.1).sum::<f64>();
            weights.iter().map(|(bytes, weight)| f64::from(*bytes) * weight).sum::<f64>() / sum.max(f64::MIN_POSITIVE)
        };
        if self.0.len() < 2 || (self.mean_bytes() / wanted.max(1.0) - 1.0).abs() <= EQUAL {
            return self.clone();
        }
        let (mut low, mut high) = (-16.0, 16.0);
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            if mean(&weighted(middle)) < wanted { low = middle } else { high = middle }
        }
        let weights = weighted(low);
        let sum = weights.iter().map(|size| size.1).sum::<f64>().max(f64::MIN_POSITIVE);
        let counts: Vec<(u32, u64)> =
            weights.iter().map(|(bytes, weight)| (*bytes, (weight / sum * 1e9) as u64)).collect();
        Self(percentages(&counts))
    }
}

/// Returns whole percentages that add up to 100. Sizes with less than half a percent are counted with the next one, the
/// others get the remainder by the method of the largest remainder.
fn percentages(counts: &[(u32, u64)]) -> Vec<(u32, u32)> {
    let all: f64 = counts.iter().map(|(_, requests)| *requests as f64).sum();
    let mut kept: Vec<(u32, f64)> =
        counts.iter().map(|(bytes, n)| (*bytes, *n as f64 * 100.0 / all.max(1.0))).collect();
    while kept.len() > 1 {
        let least = (0..kept.len()).min_by(|a, b| kept[*a].1.total_cmp(&kept[*b].1)).unwrap_or(0);
        if kept[least].1 >= 0.5 && kept.len() <= SIZES_MAX {
            break;
        }
        let (bytes, percent) = kept.remove(least);
        let nearest = (0..kept.len()).min_by_key(|at| kept[*at].0.abs_diff(bytes)).unwrap_or(0);
        kept[nearest].1 += percent;
    }
    let mut whole: Vec<(u32, u32, f64)> =
        kept.iter().map(|(bytes, percent)| (*bytes, *percent as u32, percent.fract())).collect();
    let sum: u32 = whole.iter().map(|size| size.1).sum();
    let mut order: Vec<usize> = (0..whole.len()).collect();
    order.sort_by(|a, b| whole[*b].2.total_cmp(&whole[*a].2));
    for at in order.into_iter().cycle().take(100usize.saturating_sub(sum as usize)) {
        whole[at].1 += 1;
    }
    whole.retain(|size| size.1 > 0);
    whole.into_iter().map(|(bytes, percent, _)| (bytes, percent)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_follow_a_mean() {
        let sizes = SizePercentages(vec![(4096, 20), (8192, 60), (16_384, 15), (65_536, 5)]);
        for wanted in [5000.0, 8000.0, 10_000.0, 20_000.0, 50_000.0] {
            let found = sizes.with_mean(wanted);
            assert_eq!(found.0.iter().map(|size| size.1).sum::<u32>(), 100);
            assert!((found.mean_bytes() / wanted - 1.0).abs() < 0.06, "{wanted}: {found:?}");
        }
        assert_eq!(sizes.with_mean(1.0).0, [(4096, 100)]);
        assert_eq!(sizes.with_mean(1e9).0, [(65_536, 100)]);
        assert_eq!(sizes.with_mean(sizes.mean_bytes() * 1.005), sizes);
    }

    #[test]
    fn percentages_add_up_to_100() {
        assert_eq!(percentages(&[(4096, 1)]), [(4096, 100)]);
        assert_eq!(percentages(&[(4096, 1), (8192, 1), (16_384, 1)]), [(4096, 34), (8192, 33), (16_384, 33)]);
        assert_eq!(percentages(&[(4096, 899), (8192, 1), (65_536, 100)]), [(4096, 90), (65_536, 10)]);
        let many: Vec<(u32, u64)> = (1..=200).map(|step| (step * 512, u64::from(step))).collect();
        let found = percentages(&many);
        assert!(found.len() <= SIZES_MAX);
        assert_eq!(found.iter().map(|size| size.1).sum::<u32>(), 100);
    }
}
