//! Positions of values on a scale.

/// A linear or logarithmic scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    /// Value at the lower end.
    pub(crate) low: f64,
    /// Value at the upper end.
    pub(crate) high: f64,
    logarithmic: bool,
}

const ROUND: [f64; 3] = [1.0, 2.0, 5.0];
/// Minimum number of labels on a logarithmic scale.
const FEW: usize = 3;

/// Returns the least and the greatest of the positive finite values.
fn ends(values: impl Iterator<Item = f64> + Clone) -> Option<(f64, f64)> {
    let usable = values.filter(|value| value.is_finite() && *value > 0.0);
    let low = usable.clone().reduce(f64::min)?;
    Some((low, usable.fold(low, f64::max)))
}

impl Scale {
    const OF_NOTHING: Self = Self { low: 1.0, high: 10.0, logarithmic: true };

    /// Returns a linear scale.
    pub(crate) fn linear(low: f64, high: f64) -> Self {
        Self { low, high: if high > low { high } else { low + 1.0 }, logarithmic: false }
    }

    /// Returns a logarithmic scale from a round number below the least value to one above the greatest.
    pub(crate) fn over(values: impl Iterator<Item = f64> + Clone) -> Self {
        let Some((low, high)) = ends(values) else { return Self::OF_NOTHING };
        let numbers: Vec<f64> = round_numbers(low / 10.0, high * 10.0);
        let below = numbers.iter().rev().find(|number| **number <= low * 1.001).copied().unwrap_or(low);
        let above = numbers.iter().find(|number| **number >= high * 0.999).copied().unwrap_or(high);
        Self { low: below, high: if above > below { above } else { below * 2.0 }, logarithmic: true }
    }

    /// Returns a logarithmic scale with a margin on both sides of the values.
    pub(crate) fn around(values: impl Iterator<Item = f64> + Clone) -> Self {
        let Some((low, high)) = ends(values) else { return Self::OF_NOTHING };
        // Equal margins on both sides, wider if all values are similar.
        let margin = (high / low).powf(0.06).max(1.2);
        Self { low: low / margin, high: high * margin, logarithmic: true }
    }

    /// Returns a logarithmic scale with exact ends.
    pub(crate) fn exact(low: f64, high: f64) -> Self {
        Self { low, high: high.max(low * 1.1), logarithmic: true }
    }

    /// Returns the position of a value, from 0 to 1.
    pub(crate) fn share(self, value: f64) -> f64 {
        if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// Returns the value at a position.
    pub(crate) fn at(self, share: f64) -> f64 {
        if self.logarithmic {
            self.low * (self.high / self.low).powf(share)
        } else {
            self.low + share * (self.high - self.low)
        }
    }

    /// Returns round values on the scale, about `most` of them.
    pub(crate) fn ticks(self, most: usize) -> Vec<f64> {
        if self.logarithmic {
            self.powers(most)
        } else {
            self.steps(round_step((self.high - self.low) / most.max(1) as f64))
        }
    }

    /// Returns the multiples of a step, as on a linear scale.
    pub(crate) fn steps(self, step: f64) -> Vec<f64> {
        let (first, last) = ((self.low / step - 1e-6).ceil() as i64, (self.high / step + 1e-6).floor() as i64);
        (first..=last).map(|number| number as f64 * step).collect()
    }

    /// Returns round values on a logarithmic scale: only powers of ten if there are many, linear steps if there are
    /// few.
    fn powers(self, most: usize) -> Vec<f64> {
        let inside = |number: &f64| *number >= self.low * 0.999 && *number <= self.high * 1.001;
        let all: Vec<f64> = round_numbers(self.low, self.high).into_iter().filter(inside).collect();
        let power = |number: &f64| (number.log10() - number.log10().round()).abs() < 1e-9;
        let powers: Vec<f64> = all.iter().copied().filter(power).collect();
        if all.len() < FEW {
            let step = round_step((self.high - self.low) / most.max(FEW) as f64);
            return Self { logarithmic: false, ..self }.steps(step);
        }
        if all.len() <= most {
            return all;
        }
        let step = powers.len().div_ceil(most.max(1)).max(1);
        powers.into_iter().step_by(step).collect()
    }
}

/// Returns the least of 1, 2 and 5 times a power of ten that is at least `least`.
pub(super) fn round_step(least: f64) -> f64 {
    let least = if least.is_finite() && least > 0.0 { least } else { 1.0 };
    round_numbers(least, least * 10.0).into_iter().find(|step| *step >= least * 0.999_999).unwrap_or(least)
}

/// Returns 1, 2 and 5 times powers of ten, from below `low` to above `high`.
fn round_numbers(low: f64, high: f64) -> Vec<f64> {
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    powers.flat_map(|power| ROUND.map(|digit| digit * 10_f64.powi(power))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::short_count;
    use super::*;

    #[test]
    fn logarithmic_scales_end_at_round_numbers_and_hold_every_value() {
        let axis = Scale::over([763.0, 160_000.0].into_iter());
        assert!((axis.low - 500.0).abs() < 1e-6 && (axis.high - 200_000.0).abs() < 1e-6, "{axis:?}");
        assert!((axis.at(axis.share(4_000.0)) - 4_000.0).abs() < 1e-6);
        let labels: Vec<String> = axis.ticks(4).into_iter().map(short_count).collect();
        assert_eq!(labels, ["1k", "10k", "100k"]);
        assert_eq!(Scale::over(std::iter::empty()).ticks(9).len(), 4);
        let one = Scale::over([5.0].into_iter());
        assert!(one.high > one.low);
    }

    #[test]
    fn linear_scales_have_round_steps() {
        let scale = Scale::linear(0.0, 24_000.0);
        assert_eq!(scale.ticks(5), [0.0, 5_000.0, 10_000.0, 15_000.0, 20_000.0]);
        assert_eq!((scale.share(6_000.0), scale.at(0.5)), (0.25, 12_000.0));
        assert_eq!(Scale::linear(-0.3, 0.3).ticks(4), [-0.2, 0.0, 0.2]);
        assert_eq!([0.03, 2.0, 0.0, f64::NAN].map(round_step), [0.05, 2.0, 1.0, 1.0]);
        assert!(Scale::linear(1.0, 1.0).share(1.0).is_finite());
        assert_eq!(Scale::exact(1.08, 4.7).ticks(5), [2.0, 3.0, 4.0]);
    }
}
