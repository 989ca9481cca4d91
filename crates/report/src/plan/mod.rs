//! Purchase plans as text, Markdown, CSV, JSON, an HTML page and a chart.

mod answer;
mod chart;
mod figures;
mod html;
mod tables;
mod text;
pub(crate) mod trace;

use plan::{Candidate, Need, Ranking};

pub(crate) use chart::svg;
pub(crate) use html::page;
pub(crate) use tables::{csv, json};
pub(crate) use text::text;
pub use trace::{PlannedPart, PlannedTrace, TracePlanReport, portion};

/// A plan with everything that its formats print.
#[derive(Clone, Debug)]
pub struct PlanReport {
    /// What the volumes must sustain.
    pub need: Need,
    /// How the need was derived from a workload or a file, one line per element.
    pub derivation: Vec<String>,
    /// All volumes that were considered.
    pub candidates: Vec<Candidate>,
    /// Candidates that meet the need, by price and latency.
    pub ranking: Ranking,
    /// The cheapest volume for twice the rate.
    pub next_step: Option<Candidate>,
    /// The cheapest volume without headroom, if none meets the need with it.
    pub without_headroom: Option<Candidate>,
    /// Machine types that suffice for the best and the fastest candidate, by candidate index.
    pub machines: Vec<(usize, Vec<String>)>,
    /// Seed of the simulations.
    pub seed: u64,
    /// Whether simulations confirmed the candidates.
    pub is_simulated: bool,
}

impl PlanReport {
    /// Returns the candidates that meet the need, in the order of the ranking.
    fn meeting(&self) -> impl Iterator<Item = &Candidate> {
        self.ranking.meeting.iter().map(|index| &self.candidates[*index])
    }

    /// Returns the candidates that do not meet the need, in the order of the ranking.
    fn missing(&self) -> impl Iterator<Item = &Candidate> + Clone {
        self.ranking.missing.iter().map(|index| &self.candidates[*index])
    }

    /// Returns the derivation of the need, its headroom, and a warning about an unknown region.
    fn remarks(&self) -> impl Iterator<Item = String> {
        let figures = figures::headroom(&self.need).into_iter().chain(figures::unknown_region(&self.need));
        self.derivation.iter().cloned().chain(figures)
    }

    fn machines_of(&self, index: usize) -> &[String] {
        self.machines.iter().find(|(known, _)| *known == index).map_or(&[], |(_, machines)| machines)
    }
}
