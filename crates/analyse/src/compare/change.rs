//! The change of a figure, its uncertainty and its verdict.

use record::FigureQuantity;
use serde::Serialize;

use crate::knee::steady::Mean;

/// Of fewer independent values the correlation of neighbours is itself so uncertain that intervals are too narrow.
pub(super) const FEW: f64 = 20.0;
/// Factor by which intervals are widened then.
const WIDER: f64 = 2.0;
/// So much narrower than the room there is, an interval lies within it four times out of five wherever chance puts it.
const POWER: f64 = 1.43;
/// More measuring than this is never advised: the change is at the threshold.
const TOO_MUCH: f64 = 100.0;

/// The change from baseline to candidate, in per cent of the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The change; above zero where the candidate has more.
    pub percent: f64,
    /// The least that it may be, at 95 %.
    pub low_percent: f64,
    /// The most.
    pub high_percent: f64,
    /// The interval is twice as wide as Student's, for there were fewer than 20 independent values on a side.
    pub widened: bool,
}

/// The judgement of a change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Judgement {
    /// More than chance and at least the threshold, for the better.
    Better,
    /// The same for the worse.
    Worse,
    /// The whole interval lies within the threshold.
    Same,
    /// None of these can be said yet.
    Undecided {
        /// What would decide; `None` where the change is so near to the threshold that nothing reasonable does.
        #[serde(skip_serializing_if = "Option::is_none")]
        more: Option<More>,
    },
}

/// Additional measurement that would decide, on each side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum More {
    /// Seconds in one run.
    Seconds(u64),
    /// Repeated runs.
    Repeats(u64),
}

/// The basis of the means of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "of")]
pub enum Basis {
    /// Intervals of one run, which are alike to their neighbours.
    Intervals {
        /// Seconds of the shorter side.
        seconds: f64,
    },
    /// Repeated runs, which know nothing of each other.
    Repeats {
        /// Runs of the side that has fewer.
        runs: usize,
    },
}

impl Change {
    /// `None` where the baseline is nothing.
    pub(super) fn between(baseline: &Mean, candidate: &Mean, basis: Basis) -> Option<Self> {
        if baseline.value <= 0.0 {
            return None;
        }
        let ratio = candidate.value / baseline.value;
        // What is uncertain in the baseline is uncertain in all that is a share of it.
        let half = baseline.scaled(ratio).difference_half_width(candidate) / baseline.value;
        let correlated = matches!(basis, Basis::Intervals { .. });
        let widened = correlated && baseline.effective.min(candidate.effective) < FEW;
        let half = half * if widened { WIDER } else { 1.0 };
        let percent = 100.0 * (ratio - 1.0);
        Some(Self { percent, low_percent: percent - 100.0 * half, high_percent: percent + 100.0 * half, widened })
    }

    /// Half the width of its interval.
    fn half(&self) -> f64 {
        (self.high_percent - self.low_percent) / 2.0
    }

    /// Whether it is more than chance allows.
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
        Judgement::Undecided { more: self.more(threshold_percent, independent, basis) }
    }

    /// What would decide if the change stayed what it is: intervals shrink by the root of what is measured.
    fn more(&self, threshold_percent: f64, independent: f64, basis: Basis) -> Option<More> {
        let size = self.percent.abs();
        let room = if size >= threshold_percent { size } else { threshold_percent - size };
        self.what_tells(room, independent, basis)
    }

    /// What would make the interval so narrow that it has room within this many per cent.
    pub(super) fn what_tells(&self, room: f64, independent: f64, basis: Basis) -> Option<More> {
        let half = self.half() / if self.widened { WIDER } else { 1.0 };
        let enough = if self.widened { FEW / independent } else { 1.0 };
        let factor = (POWER * half / room.abs()).powi(2).max(enough);
        if factor.is_nan() || factor > TOO_MUCH {
            return None;
        }
        Some(match basis {
            Basis::Intervals { seconds } => More::Seconds(((factor - 1.0) * seconds).ceil().max(1.0) as u64),
            Basis::Repeats { runs } => More::Repeats(((factor - 1.0) * runs as f64).ceil().max(1.0) as u64),
        })
    }
}
