//! The change of a figure, its uncertainty and its verdict.

use record::FigureQuantity;
use schemars::JsonSchema;
use serde::Serialize;

use crate::knee::steady::Mean;

/// Below this many independent values their autocorrelation is so uncertain that intervals come out too narrow.
pub(super) const FEW: f64 = 20.0;
/// Factor by which such intervals are widened.
const WIDER: f64 = 2.0;
/// If an interval is narrower than its margin by this factor, it lies within the margin in four cases out of five.
const POWER: f64 = 1.43;
/// Number of repeated runs that make a comparison trustworthy.
pub(super) const ENOUGH_RUNS: usize = 5;
/// Maximum factor of additional measurement to recommend; beyond it the change is at the threshold.
const FACTOR_MAX: f64 = 100.0;

/// The change from baseline to candidate, in percent of the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// Estimated change; positive if the candidate has more.
    pub percent: f64,
    /// Lower bound of the 95 % confidence interval.
    pub low_percent: f64,
    /// Upper bound of the interval.
    pub high_percent: f64,
    /// Whether the interval is twice as wide as Student's because a side has fewer than 20 independent values.
    pub widened: bool,
}

/// The judgement of a change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Judgement {
    /// A statistically significant improvement of at least the threshold.
    Better,
    /// A statistically significant degradation of at least the threshold.
    Worse,
    /// The whole interval is within the threshold.
    Same,
    /// The measurement decides none of these.
    Undecided {
        /// Measurement that would decide; `None` if the change is too near to the threshold for any reasonable amount.
        #[serde(skip_serializing_if = "Option::is_none")]
        more: Option<More>,
    },
}

/// Additional measurement on each side that would decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum More {
    /// Additional seconds in one run.
    Seconds(u64),
    /// Additional repeated runs.
    Repeats(u64),
}

/// The samples that a figure's means are computed from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "of")]
pub enum Basis {
    /// Intervals of one run, which are correlated with their neighbours.
    Intervals {
        /// Seconds of the shorter side.
        seconds: f64,
    },
    /// The spread of latencies within one run, of which nothing says how they are correlated: 20 are taken as independent.
    Spread,
    /// Independent repeated runs.
    Repeats {
        /// Number of runs on the side that has fewer.
        runs: usize,
    },
}

impl Change {
    /// Returns `None` if the baseline is zero.
    pub(super) fn between(baseline: &Mean, candidate: &Mean, basis: Basis) -> Option<Self> {
        if baseline.value <= 0.0 {
            return None;
        }
        let ratio = candidate.value / baseline.value;
        // The uncertainty of the baseline also affects every fraction of it.
        let half = baseline.scaled(ratio).difference_half_width(candidate) / baseline.value;
        let correlated = matches!(basis, Basis::Intervals { .. });
        let widened = correlated && baseline.effective.min(candidate.effective) < FEW;
        let half = half * if widened { WIDER } else { 1.0 };
        let percent = 100.0 * (ratio - 1.0);
        Some(Self { percent, low_percent: percent - 100.0 * half, high_percent: percent + 100.0 * half, widened })
    }

    /// Returns half the width of the interval.
    fn half(&self) -> f64 {
        (self.high_percent - self.low_percent) / 2.0
    }

    /// Reports whether the change is statistically significant.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.low_percent > 0.0 || self.high_percent < 0.0
    }

    pub(super) fn judge(
        &self,
        quantity: FigureQuantity,
        threshold_percent: f64,
        independent: f64,
        basis: Basis,
    ) -> Judgement {
        let within = self.low_percent >= -threshold_percent && self.high_percent <= threshold_percent;
        if within {
            return Judgement::Same;
        }
        if self.is_real() && self.percent.abs() >= threshold_percent {
            let more = self.percent > 0.0;
            return if more == quantity.is_latency() { Judgement::Worse } else { Judgement::Better };
        }
        // What would decide if the estimate stayed the same: intervals shrink with the root of the measured time.
        let size = self.percent.abs();
        let margin = if size >= threshold_percent { size } else { threshold_percent - size };
        Judgement::Undecided { more: self.measurement_needed(margin, independent, basis) }
    }

    /// Returns the measurement that narrows the interval to within this margin in percent.
    pub(super) fn measurement_needed(&self, margin: f64, independent: f64, basis: Basis) -> Option<More> {
        let half = self.half() / if self.widened { WIDER } else { 1.0 };
        let enough = if self.widened { FEW / independent } else { 1.0 };
        let factor = (POWER * half / margin.abs()).powi(2).max(enough);
        if factor.is_nan() || factor > FACTOR_MAX {
            return None;
        }
        Some(match basis {
            Basis::Intervals { seconds } => More::Seconds(((factor - 1.0) * seconds).ceil().max(1.0) as u64),
            Basis::Repeats { runs } => More::Repeats(((factor - 1.0) * runs as f64).ceil().max(1.0) as u64),
            Basis::Spread => More::Repeats(ENOUGH_RUNS.saturating_sub(1) as u64),
        })
    }
}
