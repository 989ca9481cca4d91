//! Restores the statistics of a record, so that results of several hosts merge as those of several workers do. The same
//! code merges what arrives by MPI and what lies in files.

use meter::{Block, Blocks, DepthMap, DirectionSummary, Histogram, Latency, Moments, Samples, Series, Summary};
use units::Nanos;

use crate::{DataKind, DirectionResult, LatencyBlock, LatencyStats, Measured, SampleRecord, SeriesRecord};

/// Counts, buckets and extremes are restored exactly, sums and deviations to the digits of a double.
impl From<&Measured> for Summary {
    fn from(measured: &Measured) -> Self {
        let width_ns = measured.series.width_ns;
        Self {
            directions: DataKind::ALL.map(|kind| measured.kind(kind).into()),
            sync: (&measured.sync).into(),
            depth: DepthMap(measured.depth.counts),
            submit: DepthMap(measured.submit.counts),
            complete: DepthMap(measured.complete.counts),
            lateness: (&measured.lateness).into(),
            series: (&measured.series).into(),
            trimmed: measured.trimmed.clone(),
            blocks: blocks(&measured.blocks, width_ns, measured.series.pace_ns),
            runtime: Nanos::new(measured.runtime_ns),
            cpu: measured.cpu,
            errors: measured.errors,
            first_error: measured.first_error,
            workers: measured.workers,
        }
    }
}

impl From<&DirectionResult> for DirectionSummary {
    fn from(result: &DirectionResult) -> Self {
        Self {
            ios: result.ios,
            bytes: result.bytes,
            short_ios: result.short_ios,
            drop_ios: result.drop_ios,
            runtime: Nanos::new(result.runtime_ns),
            submission: (&result.submission).into(),
            service: (&result.service).into(),
            latency: (&result.latency).into(),
            response: (&result.response).into(),
            priorities: result.priorities.iter().map(|one| (one.priority, (&one.latency).into())).collect(),
            bandwidth: result.bandwidth_kib.into(),
            iops: result.iops_samples.into(),
        }
    }
}

impl From<&LatencyStats> for Latency {
    fn from(stats: &LatencyStats) -> Self {
        let mut histogram = Histogram::default();
        stats.buckets.iter().for_each(|&(bucket, count)| histogram.add_at(bucket, count));
        let extremes = (Nanos::new(stats.min_ns), Nanos::new(stats.max_ns));
        Self { moments: Moments::restored(stats.count, extremes, stats.mean_ns, stats.stddev_ns), histogram }
    }
}

impl From<SampleRecord> for Samples {
    fn from(record: SampleRecord) -> Self {
        let SampleRecord { count, min, max, mean, stddev } = record;
        Self { count, min, max, mean, spread: stddev * stddev * count.saturating_sub(1) as f64 }
    }
}

impl From<&SeriesRecord> for Series {
    fn from(record: &SeriesRecord) -> Self {
        Self::restored(Nanos::new(record.width_ns), Nanos::new(record.pace_ns), record.intervals.clone())
    }
}

fn blocks(records: &[LatencyBlock], series_width_ns: u64, pace_ns: u64) -> Blocks {
    let block = |record: &LatencyBlock| Block {
        end: Nanos::new(record.end_ns),
        latency: DataKind::ALL
            .map(|kind| record.of(kind).iter().map(|&(bucket, count)| (bucket as usize, count)).collect()),
    };
    // A single block is the beginning of an interval that was not over.
    let width_ns = match records {
        [] => series_width_ns,
        [only] => only.end_ns.max(series_width_ns),
        [first, ..] => first.end_ns,
    };
    Blocks::restored(Nanos::new(width_ns), Nanos::new(pace_ns), records.iter().map(block))
}

#[cfg(test)]
mod tests {
    use meter::{IntervalWidths, Meter, MeterOptions, Sample};
    use units::DataKind;

    use super::*;

    /// What a meter counts of pseudo-random operations in `run_ms` milliseconds.
    fn summary(salt: u64, run_ms: u64) -> Summary {
        let mut meter = Meter::new(MeterOptions { intervals: IntervalWidths::suited(), ..MeterOptions::default() });
        meter.begin(Nanos::ZERO);
        let mut state = salt;
        for step in 0..run_ms * 5 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let started = Nanos::from_micros(step * 200);
            meter.record(&Sample {
                direction: DataKind::ALL[(state >> 60) as usize % 3],
                priority: 0,
                bytes: 4096,
                offset: 0,
                intended: started,
                started,
                submitted: started + Nanos::new(200),
                completed: started + Nanos::new(1_000 + (state >> 40) % 190_000),
            });
        }
        Summary { workers: 1, errors: salt % 3, ..meter.summary(Nanos::from_millis(run_ms)) }
    }

    #[test]
    fn a_restored_summary_gives_the_same_record() {
        for salt in 1..20 {
            let record = Measured::from(&summary(salt, 1_500));
            let again = Measured::from(&Summary::from(&record));
            assert_eq!(again.series, record.series, "salt {salt}");
            for (kind, result) in record.kinds() {
                let restored = again.kind(kind);
                assert_eq!(restored.service.buckets, result.service.buckets, "salt {salt}");
                assert_eq!(restored.service.mean_ns, result.service.mean_ns, "salt {salt}");
                assert!((restored.service.stddev_ns / result.service.stddev_ns - 1.0).abs() < 1e-9, "salt {salt}");
                assert_eq!(
                    (restored.ios, restored.bytes, restored.runtime_ns),
                    (result.ios, result.bytes, result.runtime_ns)
                );
            }
            assert_eq!((again.depth, again.errors, again.workers), (record.depth, record.errors, record.workers));
        }
    }

    #[test]
    fn records_merge_to_the_percentiles_of_the_merged_summaries() {
        for salt in 1..20 {
            let (one, two) = (summary(salt, 1_500), summary(salt + 1_000, 4_700));
            let mut from_records = Summary::from(&Measured::from(&one));
            from_records.merge(&Summary::from(&Measured::from(&two)));
            let mut exact = one;
            exact.merge(&two);
            let (merged, exact) = (Measured::from(&from_records), Measured::from(&exact));
            for kind in DataKind::ALL {
                let (ours, theirs) = (&merged.kind(kind).service, &exact.kind(kind).service);
                assert_eq!((ours.count, &ours.buckets, ours.mean_ns), (theirs.count, &theirs.buckets, theirs.mean_ns));
                for percent in [1.0, 50.0, 99.0, 99.9, 99.99] {
                    assert_eq!(ours.percentile_ns(percent), theirs.percentile_ns(percent), "salt {salt}");
                }
            }
            assert_eq!((merged.series, merged.blocks), (exact.series, exact.blocks));
        }
    }

    #[test]
    fn blocks_are_restored_with_their_widths() {
        for run_ms in [20, 90, 700, 5_000] {
            let record = Measured::from(&summary(run_ms, run_ms));
            assert!(!record.blocks.is_empty());
            assert_eq!(Measured::from(&Summary::from(&record)).blocks, record.blocks, "{run_ms} ms");
        }
    }
}
