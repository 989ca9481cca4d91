//! Reservations about a comparison.

use record::Figure;
use serde::Serialize;

use super::side::{Side, SidePart};
use super::{Basis, ComparedSample};
use crate::{Code, Severity};

/// With so many values for each independent one, even intervals that allow for it are too narrow.
const CORRELATED: f64 = 20.0;
/// So many repeated runs make a trustworthy comparison.
pub(super) const ENOUGH_RUNS: usize = 5;

/// A reservation about a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "caution")]
pub enum Caution {
    /// A finding says that the numbers of this side are not those of a steady state, or not to be trusted.
    Found {
        /// Where.
        side: Side,
        /// The finding.
        code: Code,
    },
    /// Burst credits ran out on this side alone.
    CreditsRanOut {
        /// Where.
        side: Side,
    },
    /// Neighbouring intervals are so alike that the interval of the change is still too narrow: measure in repeats.
    Correlated {
        /// Where.
        side: Side,
        /// Of which figure.
        figure: Figure,
        /// Intervals.
        values: usize,
        /// How many independent ones would tell as much.
        independent: f64,
    },
    /// Fewer than five repeats: an unlike pair of runs goes unnoticed.
    FewRepeats {
        /// Where.
        side: Side,
        /// How many there are.
        runs: usize,
    },
    /// Repeats on one side alone: how much runs differ among themselves is not allowed for.
    RepeatsOnOneSide,
}

/// Findings after which a mean is not that of a steady state.
const UNSTEADY: [Code; 6] =
    [Code::NotSteady, Code::BurstRunning, Code::BurstUsedUp, Code::WarmupCounted, Code::BurstOrDrift, Code::ShortRun];

pub(super) fn of_parts(baseline: &SidePart<'_>, candidate: &SidePart<'_>) -> Vec<Caution> {
    let sides = [(Side::Baseline, baseline), (Side::Candidate, candidate)];
    let mut cautions = Vec::new();
    if baseline.credits_ran_out() != candidate.credits_ran_out() {
        let side = if baseline.credits_ran_out() { Side::Baseline } else { Side::Candidate };
        cautions.push(Caution::CreditsRanOut { side });
    }
    for (side, part) in sides {
        cautions.extend(found(side, part));
    }
    let runs = sides.map(|(side, part)| (side, part.runs()));
    if runs.iter().all(|(_, runs)| *runs > 1) {
        let few = runs.into_iter().filter(|(_, runs)| *runs < ENOUGH_RUNS);
        cautions.extend(few.map(|(side, runs)| Caution::FewRepeats { side, runs }));
    } else if runs[0].1 != runs[1].1 {
        cautions.push(Caution::RepeatsOnOneSide);
    }
    cautions
}

fn found(side: Side, part: &SidePart<'_>) -> impl Iterator<Item = Caution> {
    let matters = |severity, code| severity == Severity::Distrust || UNSTEADY.contains(&code);
    let mut codes: Vec<Code> =
        part.findings().filter(|one| matters(one.severity, one.code)).map(|one| one.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes.into_iter().map(move |code| Caution::Found { side, code })
}

pub(super) fn of_sample(figure: Figure, side: Side, sample: &ComparedSample, basis: Basis) -> Option<Caution> {
    let ComparedSample { mean, values } = *sample;
    let alike = values as f64 / mean.effective.max(1.0) >= CORRELATED;
    let told = alike && matches!(basis, Basis::Intervals { .. });
    told.then_some(Caution::Correlated { side, figure, values, independent: mean.effective })
}
