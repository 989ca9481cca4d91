//! Burst credits of a volume at the start of the replayed part.

use std::collections::BTreeMap;

use runner::CreditPolicy;
use trace::TraceSeries;
use volume::Spec;
use volume::closed::{CapPart, Load, caps};

use super::TraceWindow;

/// Rates of the trace before the replayed part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceHistory {
    /// Width of the intervals in seconds.
    width_secs: f64,
    /// Requests of each interval.
    requests: Vec<f64>,
    /// Fraction of reads.
    read_share: f64,
    /// Mean length in bytes.
    block_bytes: u32,
}

impl TraceHistory {
    /// Returns the history of a part of a trace whose series begins at `first_ns`.
    #[must_use]
    pub fn before(window: TraceWindow, series: &TraceSeries, first_ns: u64) -> Self {
        let width_ns = series.width_ns.max(1);
        let intervals = (window.start_ns.saturating_sub(first_ns) / width_ns) as usize;
        let intervals = &series.intervals[..intervals.min(series.intervals.len())];
        let sum = |of: &dyn Fn(&trace::TraceInterval) -> u64| intervals.iter().map(of).sum::<u64>();
        let (all, reads) = (sum(&|one| one.requests.total()), sum(&|one| one.requests.read));
        let bytes = sum(&|one| one.bytes.read.saturating_add(one.bytes.write));
        Self {
            width_secs: width_ns as f64 / 1e9,
            requests: intervals.iter().map(|one| one.requests.total() as f64).collect(),
            read_share: reads as f64 / all.max(1) as f64,
            block_bytes: (bytes / all.max(1)).clamp(512, 1 << 26) as u32,
        }
    }

    /// Returns the credits that a volume has left after the history at a speed, if it began with those of a new one.
    /// Each interval counts by its mean rate.
    pub(super) fn credits_of(&self, spec: &Spec, speed: f64) -> CreditPolicy {
        let load = Load::mixed(self.read_share, self.block_bytes.max(512), f64::INFINITY);
        let left: BTreeMap<String, u64> = caps(spec, &load)
            .into_iter()
            .filter_map(|cap| {
                let (CapPart::Limit(index), Some(bucket)) = (cap.part, cap.bucket) else { return None };
                let gained = cap.iops * self.width_secs / speed;
                let after = |level: f64, requests: &f64| (level + gained - requests).clamp(0.0, bucket.most);
                let level = self.requests.iter().fold(bucket.at_start, after);
                let billionths = 1e9 * level / bucket.most.max(1e-9);
                Some((spec.limits.get(index)?.name.clone(), billionths as u64))
            })
            .collect();
        if left.is_empty() || self.requests.is_empty() { CreditPolicy::AsDefined } else { CreditPolicy::Left(left) }
    }
}

#[cfg(test)]
mod tests {
    use trace::{PerOperation, TraceInterval};
    use volume::catalogue;

    use super::*;

    fn spec(name: &str) -> Spec {
        catalogue::resolve_all(&[name], &catalogue::no_files).unwrap().remove(0).spec
    }

    /// Returns the credits left after `minutes` at a rate, in billionths.
    fn left(volume: &str, minutes: usize, iops: u64, speed: f64) -> Option<u64> {
        let interval = TraceInterval {
            requests: PerOperation { read: 60 * iops, ..PerOperation::default() },
            bytes: PerOperation { read: 60 * iops * 4096, ..PerOperation::default() },
            ..TraceInterval::default()
        };
        let series = TraceSeries { width_ns: 60_000_000_000, intervals: vec![interval; minutes + 60] };
        let window = TraceWindow { start_ns: 7 + minutes as u64 * series.width_ns, end_ns: u64::MAX };
        match TraceHistory::before(window, &series, 7).credits_of(&spec(volume), speed) {
            CreditPolicy::Left(left) => left.into_values().next(),
            _ => None,
        }
    }

    #[test]
    fn credits_are_spent_and_earned_before_the_part_begins() {
        // 5.4 million credits and 300 IOPS: at 1,300 IOPS, 1,000 are spent per second.
        let half = left("aws/gp2,size=100GiB", 45, 1_300, 1.0).unwrap();
        assert!((499_000_000..=501_000_000).contains(&half), "{half}");
        assert_eq!(left("aws/gp2,size=100GiB", 120, 1_300, 1.0), Some(0));
        assert_eq!(left("aws/gp2,size=100GiB", 45, 100, 1.0), Some(1_000_000_000));
        // Twice as fast: 2,300 per second for half the time.
        let faster = left("aws/gp2,size=100GiB", 45, 1_300, 2.0).unwrap();
        assert!((424_000_000..=426_000_000).contains(&faster), "{faster}");
    }

    #[test]
    fn without_history_or_buckets_volumes_begin_as_defined() {
        assert_eq!(left("aws/gp2,size=100GiB", 0, 1_300, 1.0), None);
        assert_eq!(left("aws/gp3", 45, 1_300, 1.0), None);
    }
}
