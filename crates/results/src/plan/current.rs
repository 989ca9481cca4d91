//! Plans that start from volumes which exist, and their document.

use plan::current::{CurrentDecision, CurrentStep};
use plan::workload::LoadDoubt;
use plan::{Candidate, Need};
use schemars::JsonSchema;
use serde::Serialize;

use super::document::{MonthlyPrice, PlanConditions, PlanFailure, PlanMachine, PlanPercentile};
use crate::answer::Answer;

/// Plans for volumes that exist, with everything that their formats print.
#[derive(Clone, Debug)]
pub struct CurrentPlanResult {
    /// Need of the options, which holds for volumes without their own.
    pub need: Need,
    /// How that need was derived, one line per element.
    pub derivation: Vec<String>,
    /// The volumes, in the order of the options and files.
    pub volumes: Vec<CurrentVolume>,
    /// Volumes of files that the catalogue does not have.
    pub skipped: Vec<SkippedVolume>,
    /// Seed of the simulations.
    pub seed: u64,
    /// Whether simulations confirmed the volumes.
    pub is_simulated: bool,
}

/// A volume that exists, with what to do.
#[derive(Clone, Debug)]
pub struct CurrentVolume {
    /// Name in its file; `None` for a volume of an option.
    pub name: Option<String>,
    pub source: CurrentSource,
    pub decision: CurrentDecision,
    /// Why the measured load is not its need.
    pub doubt: Option<LoadDoubt>,
}

/// A volume that is not judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SkippedVolume {
    pub name: String,
    /// Why, as a clause.
    pub reason: String,
}

/// Where a volume is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurrentSource {
    Option,
    Table,
    Terraform,
}

impl CurrentVolume {
    /// Returns the monthly price now and after the step in US dollars, if both are known.
    #[must_use]
    pub fn usd(&self) -> Option<(f64, f64)> {
        let now = self.decision.usd_now()?;
        if self.doubt.is_some() { Some((now, now)) } else { Some((now, self.decision.usd_then()?)) }
    }

    /// Reports whether the step is to be carried out: the need is known, and something changes.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.doubt.is_none() && self.decision.change.is_some()
    }
}

impl CurrentPlanResult {
    /// Returns the monthly prices now and after all steps in US dollars, and of how many volumes they are known.
    #[must_use]
    pub fn totals(&self) -> CurrentTotals {
        let mut totals = CurrentTotals::default();
        for volume in &self.volumes {
            match volume.usd() {
                Some((now, then)) => {
                    totals.usd_now += now;
                    totals.usd_then += then;
                }
                None => totals.unpriced += 1,
            }
        }
        totals
    }
}

/// Sums over all priced volumes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct CurrentTotals {
    /// US dollars per month now.
    pub usd_now: f64,
    /// US dollars per month after all steps.
    pub usd_then: f64,
    /// Number of entries whose price is unknown, now or then.
    pub unpriced: usize,
}

/// Plans for volumes that exist, with their sentences.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CurrentPlanDocument<'a> {
    pub answer: Answer,
    /// Version of the document's layout.
    pub fathom_current_plan: u32,
    /// Version of Fathom.
    pub version: &'static str,
    /// Seed of the simulations.
    pub seed: u64,
    /// How the need of the options was derived, one line per element.
    pub arithmetic: &'a [String],
    pub totals: CurrentTotals,
    pub volumes: Vec<CurrentVolumeDocument<'a>>,
    /// Volumes of files that the catalogue does not have.
    pub skipped: &'a [SkippedVolume],
}

impl CurrentPlanDocument<'_> {
    /// Version of the layout.
    pub const SCHEMA: u32 = 1;
}

/// A volume that exists, with what to do.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CurrentVolumeDocument<'a> {
    /// Name in its file.
    pub name: Option<&'a str>,
    /// `keep`, `resize` (in place), `retype` (change its type in place), `replace`, `unmet` if nothing meets the need, or
    /// `unknown` if the need is.
    pub step: &'static str,
    pub need: CurrentNeed<'a>,
    pub current: CurrentCandidate<'a>,
    /// The volume after the step; `null` if it is kept.
    pub change: Option<CurrentCandidate<'a>>,
    /// The change in place that gives a kept volume the planned headroom.
    pub with_headroom: Option<CurrentCandidate<'a>>,
    /// The change in place of a volume that is replaced, if it meets the need too.
    pub in_place: Option<CurrentCandidate<'a>>,
    /// A volume that saves enough, but is slower, of a need without a bound on latency. It is not simulated.
    pub slower: Option<CurrentCandidate<'a>>,
    /// What the step adds to the price in US dollars per month; negative for a saving, `null` if a price is unknown.
    pub usd_more_per_month: Option<f64>,
    /// Commands that carry the step out.
    pub commands: Vec<String>,
    /// Rules of the provider for the step.
    pub rule: Option<String>,
}

/// What a volume must sustain.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CurrentNeed<'a> {
    /// Operations per second.
    pub iops: Option<f64>,
    pub bytes_per_sec: Option<f64>,
    /// Bytes per operation.
    pub block_bytes: Option<u32>,
    /// Fraction of reads, from 0 to 1.
    pub read_share: f64,
    /// Maximum latency at a percentile.
    pub percentile: Option<PlanPercentile>,
    #[serde(flatten)]
    pub conditions: PlanConditions<'a>,
    /// Whether the volume's own limits are the need, because no load was given.
    pub implied: bool,
    /// Why the measured load is not the need, which is unknown; `null` if it is known.
    pub unknown: Option<String>,
}

/// A volume as it is or may be.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CurrentCandidate<'a> {
    /// Name with its keys.
    pub volume: &'a str,
    /// Type in the catalogue: `gcp/pd-ssd`.
    #[serde(rename = "type")]
    pub listed: &'a str,
    pub size_bytes: u64,
    /// Whether it meets the need.
    pub meets: bool,
    /// Requirements that it does not meet.
    pub failures: Vec<PlanFailure<'a>>,
    /// Spare capacity of the bottleneck as a fraction of the demand; `null` if nothing limits it.
    pub headroom: Option<f64>,
    /// Bottleneck.
    pub limit: Option<&'a str>,
    /// Mean latency in nanoseconds; `null` without a closed form.
    pub latency_ns: Option<f64>,
    /// Latency at the requested percentile, by default the 99th, in nanoseconds.
    pub percentile_ns: Option<f64>,
    /// Number of volumes.
    pub volumes: u32,
    /// Number of volumes in each RAID 0; 1 without one.
    pub stripe: u32,
    pub machine: Option<PlanMachine<'a>>,
    /// Price of all volumes; `null` if unknown.
    pub price: Option<MonthlyPrice<'a>>,
    /// Price of the volumes in US dollars per month, without machines; `null` if unknown or incomplete.
    pub usd_per_month: Option<f64>,
    /// Whether a simulation confirmed it; `null` if it was not simulated.
    pub confirmed: Option<bool>,
}

impl<'a> CurrentCandidate<'a> {
    /// Returns the document of a candidate; `failures` are its unmet requirements with their sentences.
    #[must_use]
    pub fn new(candidate: &'a Candidate, failures: Vec<PlanFailure<'a>>) -> Self {
        let ns = |secs: f64| (secs * 1e9).round();
        Self {
            volume: &candidate.spec.name,
            listed: &candidate.listed,
            size_bytes: candidate.spec.size.get(),
            meets: candidate.meets(),
            failures,
            headroom: Some(candidate.headroom).filter(|headroom| headroom.is_finite()),
            limit: candidate.limit.as_ref().map(|cap| cap.name.as_str()),
            latency_ns: candidate.mean_secs.map(ns),
            percentile_ns: candidate.percentile_secs.map(ns),
            volumes: candidate.volumes * candidate.members(),
            stripe: candidate.members(),
            machine: candidate.machine.as_ref().map(Into::into),
            price: candidate.price.as_ref().map(Into::into),
            usd_per_month: plan::current::usd(candidate),
            confirmed: candidate.survived,
        }
    }
}

/// Returns the name of a step in documents and tables.
#[must_use]
pub const fn step_name(volume: &CurrentVolume) -> &'static str {
    match volume.decision.step {
        _ if volume.doubt.is_some() => "unknown",
        CurrentStep::Keep => "keep",
        CurrentStep::Resize => "resize",
        CurrentStep::Retype => "retype",
        CurrentStep::Replace => "replace",
        CurrentStep::Unmet => "unmet",
    }
}
