//! Cautions about a comparison.

use record::Figure;
use serde::Serialize;

use super::change::ENOUGH_RUNS;
use super::side::{Side, SideJob};
use super::{Basis, ComparedSample};
use crate::{Code, Severity};

/// Number of values per independent value from which even corrected intervals are too narrow.
const CORRELATED: f64 = 20.0;

/// A reason to doubt a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "caution")]
pub enum Caution {
    /// A finding says that a side's figures are not trustworthy or not of a steady state.
    Found {
        /// The affected side.
        side: Side,
        /// The finding.
        code: Code,
    },
    /// Burst credits ran out on one side only.
    CreditsRanOut {
        /// The affected side.
        side: Side,
    },
    /// Neighbouring intervals are so correlated that the interval of the change is too narrow even so; repeats avoid
    /// that.
    Correlated {
        /// The affected side.
        side: Side,
        /// The affected figure.
        figure: Figure,
        /// Number of intervals.
        values: usize,
        /// Number of independent values with the same information.
        independent: f64,
    },
    /// Fewer than five repeats, which cannot reveal an atypical pair of runs.
    FewRepeats {
        /// The affected side.
        side: Side,
        runs: usize,
    },
    /// Mean latencies of one run on each side are compared by their spread, which does not show how much runs differ.
    OneRunEach,
    /// Only one side has repeats, whose variation is taken for that of the other side too.
    RepeatsOnOneSide,
}

/// Findings that exclude a steady state.
const UNSTEADY: [Code; 6] =
    [Code::NotSteady, Code::BurstRunning, Code::BurstUsedUp, Code::WarmupCounted, Code::BurstOrDrift, Code::ShortRun];

/// Reports whether a side has no steady state.
pub(super) fn drift(sides: [&SideJob<'_>; 2]) -> bool {
    let is_of_course = |code: Code| UNSTEADY.contains(&code) && code != Code::ShortRun;
    sides.iter().any(|side| side.findings().any(|finding| is_of_course(finding.code)))
}

pub(super) fn of_parts(baseline: &SideJob<'_>, candidate: &SideJob<'_>) -> Vec<Caution> {
    let sides = [(Side::Baseline, baseline), (Side::Candidate, candidate)];
    let mut cautions = Vec::new();
    if baseline.credits_ran_out() != candidate.credits_ran_out() {
        let side = if baseline.credits_ran_out() { Side::Baseline } else { Side::Candidate };
        cautions.push(Caution::CreditsRanOut { side });
    }
    for (side, part) in sides {
        cautions.extend(from_findings(side, part));
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

fn from_findings(side: Side, part: &SideJob<'_>) -> impl Iterator<Item = Caution> {
    let matters = |severity, code| severity == Severity::Distrust || UNSTEADY.contains(&code);
    let mut codes: Vec<Code> =
        part.findings().filter(|one| matters(one.severity, one.code)).map(|one| one.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes.into_iter().map(move |code| Caution::Found { side, code })
}

pub(super) fn of_sample(figure: Figure, side: Side, sample: &ComparedSample, basis: Basis) -> Option<Caution> {
    let ComparedSample { mean, values } = *sample;
    let correlated = values as f64 / mean.effective.max(1.0) >= CORRELATED && matches!(basis, Basis::Intervals { .. });
    correlated.then_some(Caution::Correlated { side, figure, values, independent: mean.effective })
}
