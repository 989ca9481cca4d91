//! Bounds of a key of a volume.

/// Relative tolerance of comparisons: a third of a TiB is not a whole number of bytes.
const TOLERANCE: f64 = 1e-9;

/// Bounds of a key, in its unit; they may depend on preceding keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    /// Suffix of the unit; empty for counted things.
    pub unit: String,
    /// Current value.
    pub value: Option<f64>,
    /// Minimum.
    pub least: Option<f64>,
    /// Maximum.
    pub most: Option<f64>,
    /// The only valid numbers; empty if all between the bounds are.
    pub one_of: Vec<f64>,
    /// Values on sale, up to the last of them; empty if only `step` determines them.
    pub sold: Vec<f64>,
    /// Step of the values on sale above the last of `sold`; `None` if the catalogue does not state it.
    pub step: Option<f64>,
    /// Maximum sizes of tiers with one price and one set of limits: a smaller size costs as much as the next of these.
    pub tiers: Vec<f64>,
    /// The only valid words, for a key with words.
    pub choices: Vec<String>,
    /// Whether the key must not be given.
    pub fixed: bool,
}

impl Bounds {
    /// Returns the smallest value on sale that is at least `least`; within a tier, the largest of its price. `None` if
    /// the maximum is smaller. Without a published step, whole units are assumed.
    #[must_use]
    pub fn sold_from(&self, least: f64) -> Option<f64> {
        let least = least.max(self.least.unwrap_or(0.0)) * (1.0 - TOLERANCE);
        let listed = self.sold.iter().copied().find(|sold| *sold >= least);
        let stepped = || {
            let step = if self.sold.is_empty() { Some(self.step.unwrap_or(1.0)) } else { self.step };
            step.map(|step| (least / step).ceil().max(1.0) * step)
        };
        let sold = listed.or_else(stepped)?;
        let tiered = self.tiers.iter().copied().find(|tier| *tier >= sold * (1.0 - TOLERANCE)).unwrap_or(sold);
        self.most.is_none_or(|most| tiered <= most * (1.0 + TOLERANCE)).then_some(tiered)
    }

    /// Returns the largest value on sale; `None` if the catalogue states no maximum.
    #[must_use]
    pub fn largest_sold(&self) -> Option<f64> {
        let most = self.most? * (1.0 + TOLERANCE);
        let listed = self.sold.iter().copied().rfind(|sold| *sold <= most);
        let step = if self.sold.is_empty() { Some(self.step.unwrap_or(1.0)) } else { self.step };
        let stepped = step.map(|step| (most / step).floor() * step);
        listed.into_iter().chain(stepped).reduce(f64::max)
    }

    /// Reports whether a volume with this value is on sale, as far as the catalogue states it.
    #[must_use]
    pub fn is_sold(&self, value: f64) -> bool {
        let is = |sold: f64| (value / sold - 1.0).abs() <= TOLERANCE;
        let last = self.sold.last().copied().unwrap_or(0.0);
        match self.step {
            _ if self.sold.iter().any(|sold| is(*sold)) => true,
            Some(step) => value > last && is((value / step).round().max(1.0) * step),
            None => self.sold.is_empty(),
        }
    }
}

/// Origin of a key's value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FigureOrigin {
    /// Specified by the user.
    Asked,
    /// Follows from another key or from the name.
    Implied,
    /// Default of the catalogue.
    #[default]
    Default,
}
