//! Time series of one figure of one job.

use record::{DataKind, Figure, FigureOf, FigureQuantity, FigureStatistic, IntervalRecord, JobResult};

/// Returns the figure's value in each whole interval in use. `None` if the record has no such series: for percentiles,
/// and for the latency of one kind among several, because intervals sum the time of all kinds.
pub(super) fn time_series(job: &JobResult, figure: Figure) -> Option<Vec<f64>> {
    let (series, kind) = (job.result.series.paced(), figure.of.kind());
    if figure.of == FigureOf::Sync {
        return None;
    }
    // The last interval may be incomplete.
    let whole = &series.intervals[..series.intervals.len().saturating_sub(1)];
    let used = in_use(whole, kind);
    let seconds = series.width_ns as f64 / 1e9;
    if used.len() < 2 || seconds <= 0.0 {
        return None;
    }
    match figure.quantity {
        FigureQuantity::Iops => Some(used.iter().map(|one| sum(&one.ios, kind) / seconds).collect()),
        FigureQuantity::BytesPerSecond => Some(used.iter().map(|one| sum(&one.bytes, kind) / seconds).collect()),
        FigureQuantity::Latency(FigureStatistic::Mean) => latency(used).filter(|_| is_alone(job, kind)),
        _ => None,
    }
}

/// Strips the intervals before the first operation and after the last one.
fn in_use(intervals: &[IntervalRecord], kind: Option<DataKind>) -> &[IntervalRecord] {
    let busy = |one: &IntervalRecord| sum(&one.ios, kind) > 0.0;
    let Some(first) = intervals.iter().position(busy) else { return &[] };
    let last = intervals.iter().rposition(busy).unwrap_or(first);
    &intervals[first..=last]
}

fn sum(counts: &[u64; 3], kind: Option<DataKind>) -> f64 {
    match kind {
        Some(kind) => counts[kind as usize] as f64,
        None => counts.iter().sum::<u64>() as f64,
    }
}

/// Reports whether the kind is the only one in use.
fn is_alone(job: &JobResult, kind: Option<DataKind>) -> bool {
    kind.is_none_or(|kind| job.result.kinds().all(|(other, result)| other == kind || result.ios == 0))
}

/// Returns values whose mean is the mean over all operations and whose deviation is that of this mean (a linearised
/// ratio of sums): intervals weigh by their number of operations.
fn latency(intervals: &[IntervalRecord]) -> Option<Vec<f64>> {
    let count = |one: &IntervalRecord| one.ios.iter().sum::<u64>() as f64;
    let ios: f64 = intervals.iter().map(count).sum();
    let time: f64 = intervals.iter().map(|one| one.service_ns as f64).sum();
    let (mean, each) = (time / ios, ios / intervals.len() as f64);
    let value = |one: &IntervalRecord| mean + (one.service_ns as f64 - mean * count(one)) / each;
    (time > 0.0).then(|| intervals.iter().map(value).collect())
}
