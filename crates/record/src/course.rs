//! Time series of a run, resampled for display.

use crate::{DataKind, IntervalRecord, Measured};

/// One or more consecutive intervals of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesSegment {
    /// Start in nanoseconds from the start of measurement.
    pub from_ns: u64,
    /// End in nanoseconds from the start of measurement.
    pub to_ns: u64,
    /// Throughput of reads, writes and trims.
    pub flows: [Flow; 3],
    /// Mean service time over all kinds in nanoseconds; `None` if no operation completed or none was recorded.
    pub service_mean_ns: Option<f64>,
    /// Maximum service time in nanoseconds.
    pub service_max_ns: u64,
}

/// Throughput of one kind in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flow {
    /// Operations per second.
    pub iops: Level,
    /// Bytes per second.
    pub bytes_per_second: Level,
}

/// A rate over several intervals, with the extremes among them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Level {
    pub mean: f64,
    /// Rate of the slowest interval.
    pub min: f64,
    /// Rate of the fastest interval.
    pub max: f64,
}

/// Reciprocal of the fraction of its width that the last interval must have lasted to describe the device.
const CUT: u64 = 4;

impl SeriesSegment {
    /// Returns the throughput of one kind.
    #[must_use]
    pub const fn flow(&self, kind: DataKind) -> &Flow {
        &self.flows[kind as usize]
    }
}

impl Measured {
    /// Returns the series in groups of whole intervals of at least `stretch_ns`; empty without a series.
    #[must_use]
    pub fn course(&self, stretch_ns: u64) -> Vec<SeriesSegment> {
        let width = self.series.width_ns;
        if width == 0 {
            return Vec::new();
        }
        let group_size = stretch_ns.div_ceil(width).max(1) as usize;
        let whole = self.elapsed_ns();
        let lasted: Vec<(IntervalRecord, u64)> = (0..)
            .zip(&self.series.intervals)
            .map(|(index, interval)| (*interval, duration(index * width, width, whole)))
            .collect();
        let short = lasted.len() > 1 && lasted.last().is_some_and(|(_, ns)| *ns < width / CUT);
        let kept = &lasted[..lasted.len() - usize::from(short)];
        let stretch =
            |(number, part): (usize, &[(IntervalRecord, u64)])| stretch((number * group_size) as u64 * width, part);
        kept.chunks(group_size).enumerate().map(stretch).collect()
    }
}

/// Returns the duration of the interval at `from` in a run of `whole`; intervals beyond its end have full width.
fn duration(from: u64, width: u64, whole: u64) -> u64 {
    if whole > from { (whole - from).min(width) } else { width }
}

fn stretch(from_ns: u64, part: &[(IntervalRecord, u64)]) -> SeriesSegment {
    let lasted: u64 = part.iter().map(|(_, ns)| ns).sum();
    let ios: u64 = part.iter().flat_map(|(interval, _)| interval.ios).sum();
    let service: f64 = part.iter().map(|(interval, _)| interval.service_ns as f64).sum();
    let flow = |kind: usize| Flow {
        iops: level(part, lasted, |interval| interval.ios[kind]),
        bytes_per_second: level(part, lasted, |interval| interval.bytes[kind]),
    };
    SeriesSegment {
        from_ns,
        to_ns: from_ns + lasted,
        flows: [flow(0), flow(1), flow(2)],
        service_mean_ns: (ios > 0 && service > 0.0).then(|| service / ios as f64),
        service_max_ns: part.iter().map(|(interval, _)| interval.service_ns_max).max().unwrap_or(0),
    }
}

fn level(part: &[(IntervalRecord, u64)], lasted: u64, of: impl Fn(&IntervalRecord) -> u64) -> Level {
    let rate = |n: u64, ns: u64| if ns == 0 { 0.0 } else { n as f64 * 1e9 / ns as f64 };
    let rates = || part.iter().map(|(interval, ns)| rate(of(interval), *ns));
    Level {
        mean: rate(part.iter().map(|(interval, _)| of(interval)).sum(), lasted),
        min: rates().reduce(f64::min).unwrap_or(0.0),
        max: rates().reduce(f64::max).unwrap_or(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DirectionResult, SeriesRecord};

    fn measured(ios: &[u64], runtime_ns: u64) -> Measured {
        let interval = |&n: &u64| IntervalRecord {
            ios: [n, 0, 0],
            bytes: [n * 4096, 0, 0],
            service_ns: n * 500,
            service_ns_max: n,
        };
        let series =
            SeriesRecord { width_ns: 1_000_000_000, pace_ns: 0, intervals: ios.iter().map(interval).collect() };
        let read = DirectionResult { runtime_ns, ..DirectionResult::default() };
        Measured { read, series, ..Measured::default() }
    }

    #[test]
    fn groups_keep_totals_and_extremes_of_their_intervals() {
        let course = measured(&[100, 300, 200, 0, 50], 4_500_000_000).course(2_000_000_000);
        let read: Vec<Level> = course.iter().map(|stretch| stretch.flow(DataKind::Read).iops).collect();
        assert_eq!(read[0], Level { mean: 200.0, min: 100.0, max: 300.0 });
        assert_eq!(read[1], Level { mean: 100.0, min: 0.0, max: 200.0 });
        // Half a second with fifty operations.
        assert_eq!((read[2].mean, course[2].from_ns, course[2].to_ns), (100.0, 4_000_000_000, 4_500_000_000));
        assert_eq!((course[0].service_mean_ns, course[0].service_max_ns), (Some(500.0), 300));
    }

    #[test]
    fn very_short_last_interval_is_dropped() {
        assert_eq!(measured(&[10, 10, 1], 2_010_000_000).course(1).len(), 2);
        assert_eq!(measured(&[10], 10_000_000).course(1)[0].flow(DataKind::Read).iops.mean, 1_000.0);
        assert!(Measured::default().course(1).is_empty());
    }
}
