//! Sizes of requests.

/// Sizes of the requests of one operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizeProfile {
    /// The most frequent sizes, at most 16, with exact counts.
    pub frequent: Vec<TraceSizeCount>,
    /// All other requests, in ranges of ascending size.
    pub others: Vec<TraceSizeRange>,
}

/// Requests of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceSizeCount {
    /// Size in bytes.
    pub bytes: u32,
    pub requests: u64,
}

/// Requests in a range of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceSizeRange {
    /// Least size in bytes.
    pub bytes_min: u64,
    /// First size in bytes that is too large.
    pub bytes_end: u64,
    pub requests: u64,
}

impl SizeProfile {
    /// Returns sizes in bytes with their numbers of requests, in ascending order. A range counts as its least size.
    #[must_use]
    pub fn ascending(&self) -> Vec<(u64, u64)> {
        let frequent = self.frequent.iter().map(|size| (u64::from(size.bytes), size.requests));
        let others = self.others.iter().map(|range| (range.bytes_min, range.requests));
        let mut sizes: Vec<(u64, u64)> = frequent.chain(others).collect();
        sizes.sort_unstable();
        sizes
    }

    /// Returns the size in bytes that a fraction of the requests does not exceed; `None` without requests.
    #[must_use]
    pub fn quantile(&self, fraction: f64) -> Option<u64> {
        let sizes = self.ascending();
        let all: u64 = sizes.iter().map(|(_, requests)| requests).sum();
        let wanted = (fraction * all as f64).ceil().max(1.0);
        let mut seen = 0.0;
        let reached = sizes.iter().find(|(_, requests)| {
            seen += *requests as f64;
            seen >= wanted
        });
        reached.or(sizes.last()).map(|(bytes, _)| *bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_requests() {
        let profile = SizeProfile {
            frequent: vec![TraceSizeCount { bytes: 8192, requests: 60 }, TraceSizeCount { bytes: 4096, requests: 30 }],
            others: vec![TraceSizeRange { bytes_min: 6144, bytes_end: 7168, requests: 10 }],
        };
        let at = |fraction| profile.quantile(fraction);
        assert_eq!([0.0, 0.3, 0.31, 0.4, 0.41, 1.0].map(at), [4096, 4096, 6144, 6144, 8192, 8192].map(Some));
        assert_eq!(SizeProfile::default().quantile(0.5), None);
    }
}
