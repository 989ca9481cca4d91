//! The series of ranks on one time axis.

use std::borrow::Cow;

use crate::{FleetRecord, JobResult, RankRecord, Run, SeriesRecord};

/// Fraction of an interval below which a difference between starts is ignored.
const SKEW: f64 = 0.1;

/// Fraction of a column in which a rank must have been active to have a rate there.
const COVERED: f64 = 0.25;

/// Maximum number of columns: more than the intervals of a rank, because ranks may start one after another.
const COLUMNS_MAX: usize = 160;

/// Operations per second of each rank on one time axis, in at most 160 columns. The axis begins with
/// the first rank, by rank 0's clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlignedSeries {
    /// Width of a column in nanoseconds.
    pub width_ns: f64,
    pub columns: usize,
    /// Rates of each rank in the order of [`FleetRecord::members`], one for each column; `None` while a rank is not
    /// active.
    pub rates: Vec<Vec<Option<f64>>>,
}

impl FleetRecord {
    /// Returns the operations per second of all ranks on one time axis; `None` without series.
    #[must_use]
    pub fn aligned(&self) -> Option<AlignedSeries> {
        let known = self.members.iter().filter(|member| member.has_series());
        let widest = known.clone().map(|member| member.series.width_ns).max()? as f64;
        let first = known.clone().filter_map(|member| member.start_delay_ns).min().unwrap_or(0);
        let begin = |member: &RankRecord| {
            let late = member.start_delay_ns.map_or(0.0, |delay| delay.saturating_sub(first) as f64);
            if late < SKEW * widest { 0.0 } else { late }
        };
        let end = known.map(|member| begin(member) + member.lasted_ns()).fold(0.0, f64::max);
        // A rest that no rank covers is no column.
        let narrow = (end / widest - COVERED).ceil().max(1.0);
        let width = widest * (narrow / COLUMNS_MAX as f64).ceil();
        let columns = ((end / width - COVERED).ceil().max(1.0) as usize).min(COLUMNS_MAX);
        let rates = self.members.iter().map(|member| rates(member, begin(member), width, columns)).collect();
        Some(AlignedSeries { width_ns: width, columns, rates })
    }

    /// Returns the time from its start after which the first of the ranks with a series ended, in nanoseconds.
    fn first_end_ns(&self) -> Option<f64> {
        let ends = self.members.iter().filter(|member| member.has_series()).map(RankRecord::lasted_ns);
        ends.reduce(f64::min)
    }
}

impl RankRecord {
    /// Reports whether it has counts over time.
    fn has_series(&self) -> bool {
        self.series.width_ns > 0 && !self.series.intervals.is_empty()
    }

    /// Returns how long it was active, in nanoseconds; zero without a series. Its last interval may be incomplete, or
    /// no operation may have completed at its end: then operations and their rate determine the time, unless several
    /// jobs of different length add up.
    #[must_use]
    pub fn lasted_ns(&self) -> f64 {
        if !self.has_series() {
            return 0.0;
        }
        let width = self.series.width_ns as f64;
        let recorded = width * self.series.intervals.len() as f64;
        let measured = if self.iops > 0.0 { self.ios() as f64 / self.iops * 1e9 } else { 0.0 };
        if measured.is_finite() && measured > recorded - width { measured } else { recorded }
    }
}

/// Returns the rates of a rank in the columns of a common axis, on which it begins at `begin`.
fn rates(member: &RankRecord, begin: f64, width: f64, columns: usize) -> Vec<Option<f64>> {
    let mut ios = vec![0.0; columns];
    let step = member.series.width_ns as f64;
    let end = begin + member.lasted_ns();
    let last = columns - 1;
    let column_of = |at: f64| ((at / width) as usize).min(last);
    for (index, interval) in member.series.intervals.iter().enumerate() {
        let count: f64 = interval.ios.iter().map(|&ios| ios as f64).sum();
        let from = begin + index as f64 * step;
        let to = (from + step).min(end).max(from);
        let (first, through) = (column_of(from), column_of(to));
        if first == through || to <= from {
            ios[first] += count;
            continue;
        }
        for (column, sum) in ios.iter_mut().enumerate().take(through + 1).skip(first) {
            let (left, right) = (column as f64 * width, (column + 1) as f64 * width);
            let right = if column == last { f64::INFINITY } else { right };
            *sum += count * ((to.min(right) - from.max(left)).max(0.0) / (to - from));
        }
    }
    let rate = |(column, ios): (usize, f64)| {
        let left = column as f64 * width;
        let right = if column == last { end.max(left + width) } else { left + width };
        let active = end.min(right) - begin.max(left);
        (active >= COVERED * width || active > 0.0 && ios > 0.0 && columns == 1).then(|| ios * 1e9 / active)
    };
    let has_series = member.has_series();
    ios.into_iter().enumerate().map(|cell| rate(cell).filter(|_| has_series)).collect()
}

impl AlignedSeries {
    /// Returns the ranks that are active in a column: indices into [`FleetRecord::members`].
    pub fn active(&self, column: usize) -> impl Iterator<Item = usize> {
        (0..self.rates.len()).filter(move |&rank| self.rates[rank].get(column).is_some_and(Option::is_some))
    }

    /// Returns the operations per second of some ranks together in a column.
    #[must_use]
    pub fn sum(&self, ranks: &[usize], column: usize) -> f64 {
        ranks.iter().filter_map(|&rank| *self.rates.get(rank)?.get(column)?).sum()
    }
}

impl Run {
    /// Returns the series of a job in the interval in which all ranks were active. When ranks end, throughput falls
    /// without any change of the storage.
    #[must_use]
    pub fn common_series<'a>(&self, job: &'a JobResult) -> Cow<'a, SeriesRecord> {
        let series = &job.result.series;
        let end = self.fleet.as_ref().filter(|fleet| fleet.members.len() > 1).and_then(FleetRecord::first_end_ns);
        let Some(end) = end.filter(|_| series.width_ns > 0) else { return Cow::Borrowed(series) };
        let kept = (end / series.width_ns as f64).ceil();
        if kept >= series.intervals.len() as f64 {
            return Cow::Borrowed(series);
        }
        let intervals = series.intervals[..kept as usize].to_vec();
        Cow::Owned(SeriesRecord { width_ns: series.width_ns, pace_ns: series.pace_ns, intervals })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IntervalRecord;

    const SECOND_NS: u64 = 1_000_000_000;

    fn member(rank: u32, width_ns: u64, ios: &[u64]) -> RankRecord {
        let interval = |&ios: &u64| IntervalRecord { ios: [ios, 0, 0], ..IntervalRecord::default() };
        let series = SeriesRecord { width_ns, pace_ns: 0, intervals: ios.iter().map(interval).collect() };
        let (sum, seconds) =
            (ios.iter().fold(0_u64, |sum, ios| sum.saturating_add(*ios)), ios.len() as f64 * width_ns as f64 / 1e9);
        let iops = if seconds > 0.0 { sum as f64 / seconds } else { 0.0 };
        RankRecord { rank, ios: [sum, 0, 0], iops, series, ..RankRecord::default() }
    }

    fn aligned(members: Vec<RankRecord>) -> AlignedSeries {
        FleetRecord { ranks: members.len() as u32, members, ..FleetRecord::default() }.aligned().unwrap()
    }

    #[test]
    fn ranks_have_rates_while_they_are_active() {
        let series = aligned(vec![
            member(0, SECOND_NS, &[100, 0, 100, 100]),
            member(1, SECOND_NS, &[50, 50]),
            member(2, SECOND_NS, &[]),
        ]);
        assert_eq!((series.columns, series.width_ns), (4, 1e9));
        assert_eq!(series.rates[0], [100.0, 0.0, 100.0, 100.0].map(Some));
        assert_eq!(series.rates[1], [Some(50.0), Some(50.0), None, None]);
        assert_eq!(series.rates[2], [None; 4]);
        assert_eq!(series.active(1).collect::<Vec<_>>(), [0, 1]);
        assert_eq!((series.sum(&[0, 1], 0), series.sum(&[0, 1], 3)), (150.0, 100.0));
    }

    #[test]
    fn unequal_widths_and_late_starts_are_brought_onto_one_axis() {
        let mut late = member(1, SECOND_NS, &[10, 10]);
        late.start_delay_ns = Some(2 * SECOND_NS + 1_000);
        let mut first = member(0, 2 * SECOND_NS, &[200, 200]);
        first.start_delay_ns = Some(1_000);
        let series = aligned(vec![first, late]);
        assert_eq!(series.rates, [vec![Some(100.0), Some(100.0)], vec![None, Some(10.0)]]);
        // A skew of a millisecond moves nothing.
        let mut skewed = member(1, SECOND_NS, &[10, 10]);
        skewed.start_delay_ns = Some(1_000_000);
        let mut first = member(0, SECOND_NS, &[10, 10]);
        first.start_delay_ns = Some(0);
        assert_eq!(aligned(vec![first, skewed]).rates[1], [Some(10.0), Some(10.0)]);
    }

    #[test]
    fn an_incomplete_last_interval_counts_for_the_time_that_it_lasted() {
        let mut half = member(0, SECOND_NS, &[100, 100, 50]);
        half.iops = 100.0;
        assert_eq!(half.lasted_ns(), 2.5e9);
        assert_eq!(aligned(vec![half.clone()]).rates[0], [100.0; 3].map(Some));
        // Nothing completed in the last second.
        half.iops = 250.0 / 3.9;
        assert_eq!(aligned(vec![half]).rates[0], [Some(100.0), Some(100.0), Some(50.0), Some(0.0)]);
    }

    #[test]
    fn counts_are_kept_whatever_the_widths_and_numbers() {
        for (width_ns, delay_ns) in [(1, 0), (u64::MAX, u64::MAX), (SECOND_NS, u64::MAX), (7, 3)] {
            let mut odd = member(1, width_ns, &[u64::MAX, 1, 0]);
            odd.start_delay_ns = Some(delay_ns);
            odd.ios = [u64::MAX; 3];
            let series = aligned(vec![member(0, 3, &[5; 2_000]), odd]);
            assert!((1..=COLUMNS_MAX).contains(&series.columns));
            assert!(series.rates.iter().flatten().flatten().all(|rate| rate.is_finite()), "{width_ns} {delay_ns}");
        }
        let series = aligned(vec![member(0, SECOND_NS, &[3; 1_000])]);
        assert_eq!((series.columns, series.width_ns), (143, 7e9));
        assert!(series.rates[0].iter().all(|rate| rate.is_some_and(|rate| (rate - 3.0).abs() < 1e-9)));
        assert_eq!(FleetRecord::default().aligned(), None);
    }

    #[test]
    fn the_common_series_ends_with_the_first_rank() {
        let whole = member(0, SECOND_NS, &[100; 30]).series;
        let mut run = Run { jobs: vec![JobResult::default()], ..Run::default() };
        run.jobs[0].result.series = whole;
        let length = |run: &Run| run.common_series(&run.jobs[0]).intervals.len();
        assert_eq!(length(&run), 30);
        let members = vec![member(0, SECOND_NS, &[50; 30]), member(1, SECOND_NS, &[50; 12])];
        run.fleet = Some(FleetRecord { ranks: 2, members, ..FleetRecord::default() });
        assert_eq!(length(&run), 12);
        run.fleet.as_mut().unwrap().members.pop();
        assert_eq!(length(&run), 30);
    }
}
