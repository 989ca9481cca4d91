//! Logarithmic axes with round ends.

/// A logarithmic axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
}

const ROUND: [f64; 3] = [1.0, 2.0, 5.0];

/// The least and the greatest of the values that such an axis can show.
fn ends(values: impl Iterator<Item = f64> + Clone) -> Option<(f64, f64)> {
    let usable = values.filter(|value| value.is_finite() && *value > 0.0);
    let low = usable.clone().reduce(f64::min)?;
    Some((low, usable.fold(low, f64::max)))
}

impl Axis {
    const OF_NOTHING: Self = Self { low: 1.0, high: 10.0 };

    /// From the round number below the least value to the round number above the greatest.
    pub(super) fn over(values: impl Iterator<Item = f64> + Clone) -> Self {
        let Some((low, high)) = ends(values) else { return Self::OF_NOTHING };
        let numbers: Vec<f64> = round_numbers(low / 10.0, high * 10.0);
        let below = numbers.iter().rev().find(|number| **number <= low * 1.001).copied().unwrap_or(low);
        let above = numbers.iter().find(|number| **number >= high * 0.999).copied().unwrap_or(high);
        Self { low: below, high: if above > below { above } else { below * 2.0 } }
    }

    /// From a little below the least value to a little above the greatest.
    pub(super) fn around(values: impl Iterator<Item = f64> + Clone) -> Self {
        let Some((low, high)) = ends(values) else { return Self::OF_NOTHING };
        // The same air on both sides; more where all are alike.
        let air = (high / low).powf(0.06).max(1.2);
        Self { low: low / air, high: high * air }
    }

    /// Exactly from one value to another.
    pub(super) fn exact(low: f64, high: f64) -> Self {
        Self { low, high: high.max(low * 1.1) }
    }

    /// Where a value lies, from 0 to 1.
    pub(super) fn share(self, value: f64) -> f64 {
        (value / self.low).ln() / (self.high / self.low).ln()
    }

    /// What lies at a share.
    pub(super) fn at(self, share: f64) -> f64 {
        self.low * (self.high / self.low).powf(share)
    }

    /// Round numbers on it: only powers of ten where there are many.
    pub(super) fn ticks(self, most: usize) -> Vec<f64> {
        let inside = |number: &f64| *number >= self.low * 0.999 && *number <= self.high * 1.001;
        let all: Vec<f64> = round_numbers(self.low, self.high).into_iter().filter(inside).collect();
        let power = |number: &f64| (number.log10() - number.log10().round()).abs() < 1e-9;
        let powers: Vec<f64> = all.iter().copied().filter(power).collect();
        if all.len() <= most {
            return all;
        }
        let step = powers.len().div_ceil(most.max(1)).max(1);
        powers.into_iter().step_by(step).collect()
    }
}

/// 1, 2 and 5 times powers of ten, from below `low` to above `high`.
fn round_numbers(low: f64, high: f64) -> Vec<f64> {
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    powers.flat_map(|power| ROUND.map(|digit| digit * 10_f64.powi(power))).collect()
}

/// A latency for an axis: `1.3ms`, `20us`.
pub(super) fn short_time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 999.5 => (ns, "ns"),
        ns if ns < 999.5e3 => (ns / 1e3, "us"),
        ns if ns < 999.5e6 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{}{unit}", plain(value))
}

/// A count for an axis: `160k`, `5`.
pub(super) fn short_count(value: f64) -> String {
    let (value, unit) = match value {
        v if v < 999.5 => (v, ""),
        v if v < 999.5e3 => (v / 1e3, "k"),
        v => (v / 1e6, "M"),
    };
    format!("{}{unit}", plain(value))
}

/// Up to three figures, without zeros that say nothing.
fn plain(value: f64) -> String {
    let text = units::significant(value, 3);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers_and_hold_every_value() {
        let axis = Axis::over([763.0, 160_000.0].into_iter());
        assert!((axis.low - 500.0).abs() < 1e-6 && (axis.high - 200_000.0).abs() < 1e-6, "{axis:?}");
        assert!((axis.at(axis.share(4_000.0)) - 4_000.0).abs() < 1e-6);
        let labels: Vec<String> = axis.ticks(4).into_iter().map(short_count).collect();
        assert_eq!(labels, ["1k", "10k", "100k"]);
        assert_eq!(Axis::over(std::iter::empty()).ticks(9).len(), 4);
        let one = Axis::over([5.0].into_iter());
        assert!(one.high > one.low);
    }

    #[test]
    fn labels_are_short() {
        assert_eq!([20e3, 1.3e6, 500.0, 2e9].map(short_time), ["20us", "1.3ms", "500ns", "2s"]);
        assert_eq!([5.0, 160e3, 2e6].map(short_count), ["5", "160k", "2M"]);
    }
}
