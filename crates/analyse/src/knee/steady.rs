//! Steadiness of a series, and the precision of its mean.
//!
//! Neighbouring intervals of a measurement are correlated, so sixty of them carry less information than sixty
//! independent values. All errors here are based on the effective number of values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::student::student;

/// A mean with its standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
    /// Effective number of independent values.
    pub effective: f64,
}

impl Mean {
    /// Returns the mean of a time series.
    #[must_use]
    pub fn of(series: &[f64]) -> Self {
        let value = mean(series);
        let effective = effective(series);
        let error = (squares(series, value) / (series.len() as f64 - 1.0).max(1.0) / effective.max(1.0)).sqrt();
        Self { value, error, effective }
    }

    /// Returns half the width of the 95 % confidence interval.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        student(self.effective - 1.0) * self.error
    }

    /// Returns the mean of independent values, such as repeated runs.
    #[must_use]
    pub(crate) fn of_independent(values: &[f64]) -> Self {
        let (value, n) = (mean(values), values.len() as f64);
        Self { value, error: (squares(values, value) / (n - 1.0).max(1.0) / n.max(1.0)).sqrt(), effective: n }
    }

    /// Returns the mean of values that are all multiplied by `factor`.
    #[must_use]
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        Self { value: self.value * factor, error: self.error * factor.abs(), ..*self }
    }

    /// Returns half the width of the 95 % confidence interval of a difference of means (Welch, with effective numbers
    /// of values).
    #[must_use]
    pub(crate) fn difference_half_width(&self, other: &Self) -> f64 {
        let (a, b) = (self.error.powi(2), other.error.powi(2));
        if a + b == 0.0 {
            return 0.0;
        }
        let free =
            (a + b).powi(2) / (a * a / (self.effective - 1.0).max(1.0) + b * b / (other.effective - 1.0).max(1.0));
        student(free) * (a + b).sqrt()
    }
}

/// A sudden change to another level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyStep {
    /// First interval of the new level.
    pub at: usize,
    /// Mean before the change.
    pub before: f64,
    /// Mean after the change.
    pub after: f64,
}

impl SteadyStep {
    /// Returns the new level relative to the old one.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.after / self.before
    }
}

/// A gradual change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// Change over the whole series, relative to its mean.
    pub change: f64,
    /// Half the width of its 95 % confidence interval.
    pub half_width: f64,
}

/// Statistics of a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// First interval that counts, after warm-up and step.
    pub from: usize,
    /// Mean of the intervals that count.
    pub mean: Mean,
    /// Sudden change, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<SteadyStep>,
    /// Drift of the intervals that count, if it is statistically significant and more than a twentieth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
}

/// Relative change below which a change is ignored.
const SMALL: f64 = 0.05;
/// Number of standard errors that make a step: many, because its place is chosen among many.
const STEP_ERRORS: f64 = 6.0;
/// Minimum number of intervals on either side of a step.
const SIDE: usize = 2;

/// Analyses a series: a step first, then the warm-up after it, then mean and drift of the rest.
#[must_use]
pub fn judge(series: &[f64]) -> Steady {
    let found = step(series);
    // A step up early in the series is warm-up.
    let warming = |step: &SteadyStep| step.ratio() > 1.0 && step.at * 4 <= series.len();
    // The interval of the step belongs to both levels.
    let after = found.map_or(0, |step| (step.at + 1).min(series.len() - SIDE));
    let from = after + warm_up(&series[after..]);
    let kept = &series[from..];
    let drift = drift(kept).filter(|drift| drift.change.abs() > SMALL.max(drift.half_width));
    Steady { from, mean: Mean::of(kept), step: found.filter(|step| !warming(step)), drift }
}

/// Returns the effective number of independent values: their number over the sum of autocorrelations, cut where they
/// fall below 0.05.
#[must_use]
pub fn effective(series: &[f64]) -> f64 {
    let n = series.len();
    let mean = mean(series);
    let all = squares(series, mean);
    if n < 4 || all <= 1e-24 * mean * mean * n as f64 {
        return n as f64;
    }
    let correlation = |lag: usize| {
        let pairs = series.iter().zip(&series[lag..]);
        pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / all
    };
    let sum: f64 = (1..n / 2).map(correlation).take_while(|&correlation| correlation > 0.05).sum();
    (n as f64 / (1.0 + 2.0 * sum)).max(1.0)
}

/// Returns the number of leading values to discard so that the mean of the rest has the least error (MSER). At least
/// half are kept. With enough values, groups of five are used.
#[must_use]
pub fn warm_up(series: &[f64]) -> usize {
    let group = if series.len() >= 50 { 5 } else { 1 };
    let groups: Vec<f64> = series.chunks_exact(group).map(mean).collect();
    let score = |skip: usize| {
        let kept = &groups[skip..];
        squares(kept, mean(kept)) / (kept.len() as f64).powi(2)
    };
    let best = (0..=groups.len() / 2).filter(|skip| skip + 3 <= groups.len());
    group * best.min_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap_or(0)
}

/// Returns the place where a series changes its level, if the change is sudden, statistically significant and more than
/// a twentieth.
#[must_use]
pub fn step(series: &[f64]) -> Option<SteadyStep> {
    let n = series.len();
    if n < 4 * SIDE {
        return None;
    }
    let sums = Sums::of(series);
    let rest = |at: usize| sums.squares(0, at) + sums.squares(at, n);
    let at = (SIDE..=n - SIDE).min_by(|&a, &b| rest(a).total_cmp(&rest(b)))?;
    let (before, after) = series.split_at(at);
    let found = SteadyStep { at, before: mean(before), after: mean(after) };
    let slow = line(series).1;
    if (found.ratio() - 1.0).abs() < SMALL || rest(at) > slow {
        return None;
    }
    let level = |part: &[f64], mean: f64| part.iter().map(|value| value - mean).collect::<Vec<_>>();
    let residuals = [level(before, found.before), level(after, found.after)].concat();
    let effective_fraction = effective(&residuals) / n as f64;
    let variance = rest(at) / (n as f64 - 2.0);
    let error = (variance * (1.0 / before.len() as f64 + 1.0 / after.len() as f64) / effective_fraction).sqrt();
    ((found.after - found.before).abs() > STEP_ERRORS * error).then_some(found)
}

/// Returns the trend over the whole series; `None` for fewer than five values.
#[must_use]
pub fn drift(series: &[f64]) -> Option<Drift> {
    let n = series.len();
    let mean = mean(series);
    if n < 5 || mean <= 0.0 {
        return None;
    }
    let (slope, rest) = line(series);
    let middle = (n as f64 - 1.0) / 2.0;
    let residuals: Vec<f64> =
        series.iter().enumerate().map(|(at, value)| value - mean - slope * (at as f64 - middle)).collect();
    let effective = effective(&residuals);
    let spread = (n as f64).powi(3) / 12.0;
    let error = (rest / (n as f64 - 2.0) / spread * (n as f64 / effective)).sqrt();
    let whole = (n as f64 - 1.0) / mean;
    Some(Drift { change: slope * whole, half_width: student(effective - 2.0) * error * whole })
}

/// The last five rounds, as evaluated by SNIA's Performance Test Specification (2.0.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyWindow {
    /// Range relative to the mean.
    pub spread: f64,
    /// Change of the fitted line over the five rounds, relative to the mean; negative if it falls.
    pub slope: f64,
}

impl SteadyWindow {
    /// Returns the last five rounds; `None` for fewer.
    #[must_use]
    pub fn of(rounds: &[f64]) -> Option<Self> {
        const ROUNDS: usize = 5;
        let window = &rounds[rounds.len().checked_sub(ROUNDS)?..];
        let (least, most) = window.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &v| (a.min(v), b.max(v)));
        let mean = mean(window);
        let relative = |value: f64| if mean > 0.0 { value / mean } else { 0.0 };
        Some(Self { spread: relative(most - least), slope: relative(line(window).0 * (ROUNDS as f64 - 1.0)) })
    }

    /// Reports whether the range is at most 20 % of the mean and the change of the line at most 10 %.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.spread <= 0.2 && self.slope.abs() <= 0.1
    }
}

/// Running sums of a series, from which the squares about the mean of any part follow in constant time.
struct Sums {
    /// Sums of the values less the overall mean, which preserves precision, and of their squares.
    before: Vec<(f64, f64)>,
}

impl Sums {
    fn of(series: &[f64]) -> Self {
        let middle = mean(series);
        let mut before = vec![(0.0, 0.0)];
        for value in series {
            let ((sum, squares), off) = (before[before.len() - 1], value - middle);
            before.push((sum + off, squares + off * off));
        }
        Self { before }
    }

    /// Returns the squares about their own mean of the values in `from..to`.
    fn squares(&self, from: usize, to: usize) -> f64 {
        let ((sum, squares), (sum_before, squares_before)) = (self.before[to], self.before[from]);
        let sum = sum - sum_before;
        (squares - squares_before - sum * sum / (to - from).max(1) as f64).max(0.0)
    }
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

pub(crate) fn squares(values: &[f64], mean: f64) -> f64 {
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// Returns the slope of the line through values at 0, 1, 2, …, and the residual sum of squares.
fn line(values: &[f64]) -> (f64, f64) {
    let (mean, middle) = (mean(values), (values.len() as f64 - 1.0) / 2.0);
    let (mut covariance, mut spread) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        covariance += (at as f64 - middle) * (value - mean);
        spread += (at as f64 - middle).powi(2);
    }
    let slope = covariance / spread.max(1e-12);
    (slope, (squares(values, mean) - slope * covariance).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knee::fit::normal;
    use units::random::Random;

    /// 1000 with a deviation of 5 % and an autocorrelation of `phi`.
    fn series(n: usize, phi: f64, random: &mut Random) -> Vec<f64> {
        let mut last = normal(random);
        let mut next = || {
            last = phi * last + (1.0 - phi * phi).sqrt() * normal(random);
            1000.0 + 50.0 * last
        };
        (0..n).map(|_| next()).collect()
    }

    /// Fractions of equal pairs that differ, and of series with a step or a drift.
    fn false_alarms(n: usize, phi: f64, seed: u64) -> (f64, f64, f64) {
        let mut random = Random::new(seed, 2);
        let (mut apart, mut stepped, mut drifted) = (0, 0, 0);
        for _ in 0..1000 {
            let (a, b) = (series(n, phi, &mut random), series(n, phi, &mut random));
            let (one, other) = (Mean::of(&a), Mean::of(&b));
            apart += u32::from((one.value - other.value).abs() > one.difference_half_width(&other));
            stepped += u32::from(step(&a).is_some());
            drifted += u32::from(judge(&b).drift.is_some());
        }
        (f64::from(apart) / 1e3, f64::from(stepped) / 1e3, f64::from(drifted) / 1e3)
    }

    #[test]
    fn false_alarms_stay_below_the_stated_rates() {
        let seed = 21;
        for (n, phi, most) in [(60, 0.0, 0.07), (60, 0.5, 0.11), (300, 0.0, 0.07), (300, 0.5, 0.09), (300, 0.8, 0.09)] {
            let (apart, stepped, drifted) = false_alarms(n, phi, seed);
            assert!(apart <= most, "seed {seed}, n {n}, phi {phi}: {apart}");
            assert!(stepped <= 0.02, "seed {seed}, n {n}, phi {phi}: steps in {stepped}");
            assert!(drifted <= 0.09, "seed {seed}, n {n}, phi {phi}: drifts in {drifted}");
        }
    }

    #[test]
    fn correlated_values_count_for_less() {
        let mut random = Random::new(4, 0);
        let even: f64 = (0..50).map(|_| effective(&series(300, 0.0, &mut random))).sum::<f64>() / 50.0;
        let alike: f64 = (0..50).map(|_| effective(&series(300, 0.8, &mut random))).sum::<f64>() / 50.0;
        assert!(even > 250.0, "{even}");
        // (1 - 0.8) / (1 + 0.8) of 300.
        assert!((25.0..60.0).contains(&alike), "{alike}");
    }

    #[test]
    fn end_of_a_burst_is_a_step() {
        let seed = 5;
        let mut random = Random::new(seed, 0);
        for (n, at) in [(20, 12), (40, 3), (120, 60), (40, 34)] {
            let mut values = series(n, 0.3, &mut random);
            values[..at].iter_mut().for_each(|value| *value *= 1.5);
            let judged = judge(&values);
            let step = judged.step.unwrap_or_else(|| panic!("seed {seed}: no step at {at} of {n}"));
            assert!(step.at.abs_diff(at) <= 1, "seed {seed}: {step:?} for {at}");
            assert!((step.ratio() - 1.0 / 1.5).abs() < 0.05, "seed {seed}: {step:?}");
            assert!((judged.mean.value / 1000.0 - 1.0).abs() < 0.06, "seed {seed}: averaged across: {judged:?}");
        }
    }

    #[test]
    fn warm_up_is_discarded_and_not_a_step() {
        let mut random = Random::new(6, 0);
        let mut values = series(100, 0.0, &mut random);
        values[..12].iter_mut().enumerate().for_each(|(at, value)| *value *= 0.3 + 0.05 * at as f64);
        let judged = judge(&values);
        assert!(judged.step.is_none() && (10..=30).contains(&judged.from), "{judged:?}");
        assert!((judged.mean.value / 1000.0 - 1.0).abs() < 0.02, "{judged:?}");
    }

    #[test]
    fn slow_decline_is_a_drift() {
        let mut random = Random::new(7, 0);
        let mut values = series(60, 0.2, &mut random);
        values.iter_mut().enumerate().for_each(|(at, value)| *value *= 1.0 - 0.3 * at as f64 / 59.0);
        let drift = drift(&values).unwrap();
        assert!((drift.change + 0.35).abs() < 2.0 * drift.half_width && drift.half_width < 0.12, "{drift:?}");
        assert!(step(&values).is_none());
    }

    fn snia_window(rounds: &[f64]) -> bool {
        SteadyWindow::of(rounds).is_some_and(|window| window.is_steady())
    }

    #[test]
    fn snia_window_uses_the_last_five_rounds() {
        assert!(snia_window(&[500.0, 100.0, 104.0, 97.0, 101.0, 99.0]));
        assert!(!snia_window(&[100.0, 104.0, 97.0, 101.0]));
        assert!(!snia_window(&[100.0, 100.0, 100.0, 125.0, 100.0]));
        assert!(snia_window(&[104.5, 102.25, 100.0, 97.75, 95.5]), "a decline of 9 % counts as steady");
        assert!(!snia_window(&[106.0, 103.0, 100.0, 97.0, 94.0]));
    }

    #[test]
    fn short_series_have_means() {
        for values in [&[][..], &[5.0], &[5.0, 6.0], &[5.0, 5.0, 5.0, 5.0]] {
            let judged = judge(values);
            assert!(judged.mean.value.is_finite() && judged.step.is_none(), "{judged:?}");
        }
    }
}
