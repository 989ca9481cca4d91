//! Plans for several needs, with one total, and their document.

use plan::{Candidate, Currency, Need, Ranking};
use schemars::JsonSchema;
use serde::Serialize;

use super::document::{PlanDocument, PlanExchange, PlanMachine};
use super::trace::TracePlanDocument;
use super::{PlanResult, TracePlanResult};
use crate::answer::Answer;

/// Plans for the needs of a file.
#[derive(Clone, Debug)]
pub struct NeedsResult {
    /// Name of the file.
    pub file: String,
    /// The needs in the order of the file.
    pub needs: Vec<PlannedNeed>,
}

/// A need with its plan.
#[derive(Clone, Debug)]
pub struct PlannedNeed {
    pub name: String,
    pub plan: NeedPlan,
}

/// The plan for a need.
#[derive(Clone, Debug)]
pub enum NeedPlan {
    Load(Box<PlanResult>),
    /// The load is a trace.
    Trace(Box<TracePlanResult>),
}

/// Whether a need can be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NeedStatus {
    /// No volume meets it.
    Unmet,
    /// The measured load is not the need, or only an assumed latency keeps its bound: a volume is chosen all the same.
    Unknown,
    /// A volume meets it.
    Met,
}

impl NeedStatus {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unmet => "unmet",
            Self::Unknown => "unknown",
            Self::Met => "met",
        }
    }
}

/// The cost of all chosen volumes and machines.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NeedsTotal {
    /// US dollars per month.
    pub usd_per_month: f64,
    /// Twelve times that.
    pub usd_per_year: f64,
    /// Whether it is the price of all needs: each is met, and each price is known.
    pub complete: bool,
}

impl PlannedNeed {
    /// Returns what the volumes must sustain.
    #[must_use]
    pub fn need(&self) -> &Need {
        match &self.plan {
            NeedPlan::Load(plan) => &plan.need,
            NeedPlan::Trace(plan) => &plan.need,
        }
    }

    fn ranking(&self) -> &Ranking {
        match &self.plan {
            NeedPlan::Load(plan) => &plan.ranking,
            NeedPlan::Trace(plan) => &plan.ranking,
        }
    }

    /// Returns the chosen volume; `None` if no volume meets the need.
    #[must_use]
    pub fn chosen(&self) -> Option<&Candidate> {
        let index = self.ranking().chosen()?;
        match &self.plan {
            NeedPlan::Load(plan) => plan.candidates.get(index),
            NeedPlan::Trace(plan) => plan.candidates.get(index).map(|one| &one.candidate),
        }
    }

    /// Reports whether the need can be met.
    #[must_use]
    pub fn status(&self) -> NeedStatus {
        match (&self.plan, self.chosen()) {
            (_, None) => NeedStatus::Unmet,
            _ if self.ranking().meeting.is_empty() => NeedStatus::Unknown,
            (NeedPlan::Load(plan), _) if plan.doubt.is_some() => NeedStatus::Unknown,
            _ => NeedStatus::Met,
        }
    }
}

impl NeedsResult {
    /// Returns the needs of a status, in the order of the file.
    pub fn of_status(&self, status: NeedStatus) -> impl Iterator<Item = &PlannedNeed> + Clone {
        self.needs.iter().filter(move |need| need.status() == status)
    }

    /// Returns a need with the currency of totals: US dollars if the needs have different ones.
    #[must_use]
    pub fn in_one_currency(&self) -> Need {
        let mut needs = self.needs.iter().map(PlannedNeed::need);
        let first = needs.next().cloned().unwrap_or_default();
        let is_same = needs.all(|need| need.currency == first.currency && need.exchange == first.exchange);
        if is_same { first } else { Need { currency: Currency::default(), ..first } }
    }

    /// Returns the cost of all chosen volumes and machines, as far as it is known.
    #[must_use]
    pub fn total(&self) -> NeedsTotal {
        let prices = self.needs.iter().filter_map(|need| need.chosen()?.price.as_ref());
        let usd_per_month = prices.map(|price| price.usd_per_month).sum();
        let is_priced = |need: &PlannedNeed| {
            need.status() == NeedStatus::Met && need.chosen().is_some_and(|one| one.known_price().is_some())
        };
        let complete = self.needs.iter().all(is_priced);
        NeedsTotal { usd_per_month, usd_per_year: 12.0 * usd_per_month, complete }
    }
}

/// Plans for several needs with their sentences.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NeedsDocument<'a> {
    pub answer: Answer,
    /// Version of the document's layout.
    pub fathom_needs_plan: u32,
    /// Version of Fathom.
    pub version: &'static str,
    /// Name of the needs file.
    pub file: &'a str,
    pub total: NeedsTotal,
    /// Exchange rate for comparing prices; `null` if all prices are in US dollars.
    pub exchange: Option<PlanExchange<'a>>,
    /// The needs in the order of the file.
    pub needs: Vec<NeedDocument<'a>>,
}

impl NeedsDocument<'_> {
    /// Version of the layout.
    pub const SCHEMA: u32 = 1;
}

/// A need with what is chosen for it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NeedDocument<'a> {
    pub name: &'a str,
    pub status: NeedStatus,
    /// What to buy, or why nothing meets the need.
    pub verdict: String,
    /// Name of the chosen volume with its keys; `null` if the need is unmet.
    pub volume: Option<&'a str>,
    /// Number of volumes to buy.
    pub volumes: Option<u32>,
    pub machine: Option<PlanMachine<'a>>,
    /// Number of machines.
    pub machines: u32,
    /// Region of the price.
    pub region: Option<&'a str>,
    /// Total of volumes and machines in US dollars; `null` if unknown.
    pub usd_per_month: Option<f64>,
    /// Whether that price is complete; `null` without one.
    pub price_complete: Option<bool>,
    /// Spare capacity of the bottleneck as a fraction of the demand; `null` if nothing limits it.
    pub headroom: Option<f64>,
    /// Its plan, unless its load is a trace.
    pub plan: Option<PlanDocument<'a>>,
    /// Its plan, if its load is a trace.
    pub trace_plan: Option<TracePlanDocument<'a>>,
}
