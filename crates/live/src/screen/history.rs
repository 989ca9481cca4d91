//! History in bounded memory, resampled to the width of a graph.

use std::collections::VecDeque;

/// p50, p99 and p99.9 in nanoseconds; NaN without operations.
pub(super) type Tail = [f32; 3];

/// Rates and latencies of one short interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HistoryPoint {
    /// End of the interval, in seconds since the screen was turned on.
    pub(super) end_s: f64,
    pub(super) span_s: f64,
    /// IOPS of reads, writes and trims.
    pub(super) iops: [f32; 3],
    /// Bytes per second.
    pub(super) bytes: [f32; 3],
    pub(super) latency: [Tail; 3],
}

impl HistoryPoint {
    /// Joins an interval with the next one: rates are averaged, latencies are the larger ones.
    fn join(&self, next: &Self) -> Self {
        let span_s = self.span_s + next.span_s;
        let mean = |a: f32, b: f32| ((f64::from(a) * self.span_s + f64::from(b) * next.span_s) / span_s) as f32;
        let each = |a: [f32; 3], b: [f32; 3], of: &dyn Fn(f32, f32) -> f32| std::array::from_fn(|i| of(a[i], b[i]));
        Self {
            end_s: next.end_s,
            span_s,
            iops: each(self.iops, next.iops, &mean),
            bytes: each(self.bytes, next.bytes, &mean),
            latency: std::array::from_fn(|kind| each(self.latency[kind], next.latency[kind], &f32::max)),
        }
    }
}

/// Aggregation of several intervals into one dot of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    Mean,
    Greatest,
}

/// Intervals in order of time. When there are too many, neighbours are joined.
#[derive(Clone, Debug)]
pub(super) struct History {
    points: VecDeque<HistoryPoint>,
    points_max: usize,
    /// Number of pushed intervals per stored point.
    each: usize,
    /// Number of pushed intervals in the last point.
    filled: usize,
}

impl History {
    /// Creates a history of at most `points_max` points, at least two.
    pub(super) fn new(points_max: usize) -> Self {
        Self { points: VecDeque::new(), points_max: points_max.max(2), each: 1, filled: 1 }
    }

    pub(super) fn push(&mut self, point: HistoryPoint) {
        match self.points.back_mut().filter(|_| self.filled < self.each) {
            Some(last) => {
                *last = last.join(&point);
                self.filled += 1;
            }
            None => {
                self.points.push_back(point);
                self.filled = 1;
            }
        }
        if self.points.len() > self.points_max {
            self.halve();
        }
    }

    fn halve(&mut self) {
        let points: Vec<HistoryPoint> = self.points.drain(..).collect();
        let odd = points.len() % 2 == 1;
        self.points = points.chunks(2).map(|pair| pair.iter().skip(1).fold(pair[0], |a, b| a.join(b))).collect();
        self.filled = if odd { self.filled } else { self.each + self.filled };
        self.each *= 2;
    }

    /// Returns the end of the last interval.
    pub(super) fn end_s(&self) -> f64 {
        self.points.back().map_or(0.0, |point| point.end_s)
    }

    /// Resamples the last `window_s` seconds to `dots` pieces of equal length, the newest last. Pieces begin at
    /// multiples of their length, so that graphs scroll without flicker. Pieces without data are NaN.
    pub(super) fn dots(&self, window_s: f64, dots: usize, join: Join, pick: impl Fn(&HistoryPoint) -> f32) -> Vec<f32> {
        let width_s = window_s / dots.max(1) as f64;
        let last = (self.end_s() / width_s).ceil();
        let from_s = (last - dots as f64) * width_s;
        let mut joined = vec![(0.0_f64, 0.0_f64); dots];
        for point in self.points.iter().rev().take_while(|point| point.end_s > from_s) {
            let value = f64::from(pick(point));
            let begin_s = (point.end_s - point.span_s).max(from_s);
            let first = ((begin_s - from_s) / width_s).max(0.0) as usize;
            let until = (((point.end_s - from_s) / width_s).ceil() as usize).min(dots);
            for (index, (sum, weight)) in joined.iter_mut().enumerate().take(until).skip(first) {
                let dot_s = from_s + index as f64 * width_s;
                let overlap_s = point.end_s.min(dot_s + width_s) - begin_s.max(dot_s);
                if overlap_s <= 0.0 || value.is_nan() {
                    continue;
                }
                match join {
                    Join::Mean => (*sum, *weight) = (*sum + value * overlap_s, *weight + overlap_s),
                    Join::Greatest => (*sum, *weight) = (sum.max(value), 1.0),
                }
            }
        }
        joined.into_iter().map(|(sum, weight)| if weight > 0.0 { (sum / weight) as f32 } else { f32::NAN }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(second: f64, iops: f32) -> HistoryPoint {
        let latency = [[iops; 3], [f32::NAN; 3], [f32::NAN; 3]];
        HistoryPoint { end_s: second, span_s: 1.0, iops: [iops, 0.0, 0.0], bytes: [0.0; 3], latency }
    }

    fn history(points_max: usize, values: &[f32]) -> History {
        let mut history = History::new(points_max);
        values.iter().zip(1..).for_each(|(&iops, second)| history.push(point(f64::from(second), iops)));
        history
    }

    #[test]
    fn the_newest_dot_is_last_and_missing_data_is_nan() {
        let dots = history(100, &[1.0, 2.0, 3.0]).dots(4.0, 4, Join::Mean, |point| point.iops[0]);
        assert!(dots[0].is_nan());
        assert_eq!(dots[1..], [1.0, 2.0, 3.0]);
        assert_eq!(history(100, &[1.0, 2.0, 3.0, 5.0]).dots(4.0, 2, Join::Mean, |point| point.iops[0]), [1.5, 4.0]);
        assert_eq!(history(9, &[7.0]).dots(1.0, 4, Join::Greatest, |point| point.latency[0][2]), [7.0; 4]);
        assert!(History::new(5).dots(10.0, 3, Join::Mean, |point| point.iops[0]).iter().all(|dot| dot.is_nan()));
    }

    #[test]
    fn drawn_dots_do_not_change_as_time_passes() {
        let values: Vec<f32> = (0..40).map(|n| (n * 7 % 11) as f32).collect();
        let at = |n: usize| history(100, &values[..n]).dots(15.0, 10, Join::Mean, |point| point.iops[0]);
        // Three seconds are two dots.
        assert_eq!(at(30)[2..], at(33)[..8]);
    }

    #[test]
    fn long_histories_are_bounded_and_keep_means_and_maxima() {
        let values: Vec<f32> = (0..1000).map(|n| (n % 10) as f32).collect();
        let long = history(64, &values);
        assert!(long.points.len() <= 64, "{}", long.points.len());
        let mean = long.dots(1000.0, 1, Join::Mean, |point| point.iops[0]);
        assert!((mean[0] - 4.5).abs() < 0.01, "{mean:?}");
        assert_eq!(long.dots(1000.0, 1, Join::Greatest, |point| point.latency[0][0]), [9.0]);
        let spans: f64 = long.points.iter().map(|point| point.span_s).sum();
        assert!((spans - 1000.0).abs() < 1e-6, "no interval is lost");
    }
}
