//! Bounds of a key of a volume.

/// Values are compared with this relative tolerance: a third of a TiB is not a whole number of bytes.
const HAIR: f64 = 1e-9;

/// Bounds of a key, in its unit; they follow from the keys before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    /// How the unit is written behind a number; empty for what is counted.
    pub unit: String,
    /// What it is now.
    pub value: Option<f64>,
    /// The least it may be.
    pub least: Option<f64>,
    /// The most it may be.
    pub most: Option<f64>,
    /// The only numbers there are, if not all between them.
    pub one_of: Vec<f64>,
    /// The values that are sold, up to the last of them; empty where only `step` says what is sold.
    pub sold: Vec<f64>,
    /// Sold in multiples of this, above the last of `sold`; `None` where the catalogue does not say.
    pub step: Option<f64>,
    /// Values up to which one price and one set of limits hold: a smaller one costs as much as the next of these.
    pub tiers: Vec<f64>,
    /// The only words there are, where it is a word.
    pub choices: Vec<String>,
    /// It must not be given.
    pub fixed: bool,
}

impl Bounds {
    /// The least value that is sold and is no less than `least`; `None` where the largest is smaller. Of values that
    /// one price covers it is the largest. Without a published step whole units are assumed.
    #[must_use]
    pub fn sold_from(&self, least: f64) -> Option<f64> {
        let least = least.max(self.least.unwrap_or(0.0)) * (1.0 - HAIR);
        let listed = self.sold.iter().copied().find(|sold| *sold >= least);
        let stepped = || {
            let step = if self.sold.is_empty() { Some(self.step.unwrap_or(1.0)) } else { self.step };
            step.map(|step| (least / step).ceil().max(1.0) * step)
        };
        let sold = listed.or_else(stepped)?;
        let tiered = self.tiers.iter().copied().find(|tier| *tier >= sold * (1.0 - HAIR)).unwrap_or(sold);
        self.most.is_none_or(|most| tiered <= most * (1.0 + HAIR)).then_some(tiered)
    }

    /// The largest value that is sold; `None` where the catalogue states no bound.
    #[must_use]
    pub fn largest_sold(&self) -> Option<f64> {
        let most = self.most? * (1.0 + HAIR);
        let listed = self.sold.iter().copied().rfind(|sold| *sold <= most);
        let step = if self.sold.is_empty() { Some(self.step.unwrap_or(1.0)) } else { self.step };
        let stepped = step.map(|step| (most / step).floor() * step);
        listed.into_iter().chain(stepped).reduce(f64::max)
    }

    /// Whether a volume with this value can be bought, as far as the catalogue says.
    #[must_use]
    pub fn is_sold(&self, value: f64) -> bool {
        let is = |sold: f64| (value / sold - 1.0).abs() <= HAIR;
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
    /// It was asked for.
    Asked,
    /// It follows from another key or from the name.
    Implied,
    /// Unknown.
    #[default]
    Default,
}
