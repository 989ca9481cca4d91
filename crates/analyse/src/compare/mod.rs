//! Comparison of two runs, or of two sets of repeated runs: the change of each figure, its confidence interval and
//! whether it exceeds the threshold.
//!
//! Neighbouring seconds of a run are correlated. Tests that assume independence find a difference between equal runs in
//! every second case. So means of two runs are compared by Welch's test with effective sample sizes or, with repeats on
//! both sides, by the means of the runs. Percentiles of single runs get their errors from a bootstrap over blocks of
//! time; records without blocks need repeats.

mod blocks;
mod caution;
mod change;
mod mismatch;
mod series;
mod side;

use record::{Figure, FigureOf, FigureQuantity, FigureStatistic, FigureValue, LatencyStats, Run};
use serde::Serialize;

pub use caution::Caution;
pub use change::{Basis, Change, Judgement, More};
pub use mismatch::{Aspect, ConditionMismatch, MismatchValue, mismatches, pairs};
pub use side::Side;

use crate::knee::steady::Mean;
use side::{AnalysedRun, SideJob};

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ComparisonSettings {
    /// Changes smaller than this are ignored, in per cent.
    pub threshold_percent: f64,
    /// Seed of the bootstrap.
    pub seed: u64,
}

impl Default for ComparisonSettings {
    fn default() -> Self {
        Self { threshold_percent: 2.0, seed: 1 }
    }
}

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// Differences in conditions, blocking ones first. All runs are compared with the first run of the baseline,
    /// including its own repeats.
    pub mismatches: Vec<ConditionMismatch>,
    /// Jobs of both sides, in the order of the baseline.
    pub jobs: Vec<JobComparison>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobComparison {
    /// Name in the baseline.
    pub job: String,
    /// Figures of each kind in use, of all kinds together if there are several, and of syncs.
    pub figures: Vec<FigureComparison>,
    /// Reasons to doubt the comparison.
    pub cautions: Vec<Caution>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FigureComparison {
    /// The compared figure.
    pub figure: Figure,
    /// Value in the baseline: the mean of its runs.
    pub baseline: f64,
    /// Value in the candidate: the mean of its runs.
    pub candidate: f64,
    /// Change with its interval; `None` if it takes repeats to know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// Basis of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// Effective sample size of the side that has fewer values; zero without an interval.
    pub independent: f64,
    /// Verdict on the change.
    #[serde(flatten)]
    pub judgement: Judgement,
}

impl FigureComparison {
    /// Returns the measurement that would distinguish the change from a value this many percent away.
    pub(crate) fn measurement_needed(&self, margin: f64) -> Option<More> {
        self.change
            .zip(self.basis)
            .and_then(|(change, basis)| change.measurement_needed(margin, self.independent, basis))
    }
}

impl Comparison {
    /// Reports whether the figures are comparable.
    #[must_use]
    pub fn is_comparable(&self) -> bool {
        self.mismatches.iter().all(|mismatch| !mismatch.blocking)
    }

    /// Reports whether a figure of any job became worse.
    #[must_use]
    pub fn is_worse(&self) -> bool {
        let figures = self.jobs.iter().flat_map(|job| &job.figures);
        figures.into_iter().any(|figure| figure.judgement == Judgement::Worse)
    }
}

/// A mean of one side and the number of values it was computed from.
#[derive(Clone, Copy)]
struct ComparedSample {
    mean: Mean,
    values: usize,
}

impl ComparedSample {
    /// Returns the sample with another mean, and the same relative uncertainty.
    fn at(self, value: f64) -> Self {
        let mean = if self.mean.value > 0.0 { self.mean.scaled(value / self.mean.value) } else { self.mean };
        Self { mean, ..self }
    }
}

/// Compares the candidate with the baseline: one run each, or repeats of one.
#[must_use]
pub fn compare(baseline: &[&Run], candidate: &[&Run], options: &ComparisonSettings) -> Comparison {
    let Some((&first, others)) = baseline.split_first() else { return Comparison::default() };
    let mismatches = mismatches_with(first, candidate.iter().chain(others));
    let places = |runs: &[&Run]| -> Vec<_> { runs.iter().map(|run| mismatch::pairs(first, run)).collect() };
    let (of_baseline, of_candidate) = (places(baseline), places(candidate));
    let (baseline, candidate) = (AnalysedRun::of(baseline), AnalysedRun::of(candidate));
    let job = |index: usize| {
        let baseline = SideJob::of(&baseline, of_baseline.iter().map(|pairs| partner(pairs, index)));
        let candidate = SideJob::of(&candidate, of_candidate.iter().map(|pairs| partner(pairs, index)));
        (candidate.runs() > 0).then(|| compare_job(&first.jobs[index].name, &baseline, &candidate, options))
    };
    Comparison { mismatches, jobs: (0..first.jobs.len()).filter_map(job).collect() }
}

/// Returns the differences in conditions between repeats of one run, blocking ones first.
#[must_use]
pub fn mismatches_of_repeats(runs: &[&Run]) -> Vec<ConditionMismatch> {
    runs.split_first().map_or_else(Vec::new, |(first, others)| mismatches_with(first, others.iter()))
}

fn mismatches_with<'a>(first: &Run, others: impl Iterator<Item = &'a &'a Run>) -> Vec<ConditionMismatch> {
    in_order(others.flat_map(|run| mismatches(first, run, &pairs(first, run))).collect())
}

fn partner(pairs: &[(usize, usize)], index: usize) -> Option<usize> {
    pairs.iter().find(|(first, _)| *first == index).map(|(_, other)| *other)
}

/// Sorts blocking mismatches first and removes duplicates.
fn in_order(mut mismatches: Vec<ConditionMismatch>) -> Vec<ConditionMismatch> {
    mismatches.sort_by_key(|mismatch| !mismatch.blocking);
    let mut once: Vec<ConditionMismatch> = Vec::new();
    for mismatch in mismatches {
        if !once.contains(&mismatch) {
            once.push(mismatch);
        }
    }
    once
}

fn compare_job(
    name: &str,
    baseline: &SideJob<'_>,
    candidate: &SideJob<'_>,
    options: &ComparisonSettings,
) -> JobComparison {
    let mut cautions = caution::of_parts(baseline, candidate);
    let mut figures = Vec::new();
    for figure in figures_of(baseline, candidate) {
        let Some((row, samples)) = compare_figure(figure, baseline, candidate, options) else { continue };
        figures.push(row);
        if let Some(([a, b], basis)) = samples.zip(row.basis) {
            cautions.extend(caution::of_sample(figure, Side::Baseline, &a, basis));
            cautions.extend(caution::of_sample(figure, Side::Candidate, &b, basis));
        }
    }
    if figures.iter().any(|row| row.basis == Some(Basis::Spread)) {
        cautions.push(Caution::OneRunEach);
    }
    JobComparison { job: name.to_owned(), figures, cautions }
}

fn figures_of(baseline: &SideJob<'_>, candidate: &SideJob<'_>) -> impl Iterator<Item = Figure> {
    let used = |of: &FigureOf| baseline.uses(*of) && candidate.uses(*of);
    let mut all: Vec<FigureOf> = FigureOf::ALL.into_iter().filter(used).collect();
    if all.iter().filter(|of| of.kind().is_some()).count() <= 1 {
        all.retain(|of| *of != FigureOf::All);
    }
    let of_each = |of| FigureQuantity::STANDARD.map(|quantity| Figure { of, quantity });
    // A percentile over several kinds is that of the worst kind, which has its own row. The rate of syncs is that of writes.
    let has_row = |figure: &Figure| match figure.of {
        FigureOf::Kind(_) => true,
        FigureOf::All => figure.quantity.percent().is_none(),
        FigureOf::Sync => matches!(figure.quantity, FigureQuantity::Latency(_)),
    };
    all.into_iter().flat_map(of_each).filter(has_row)
}

/// Returns `None` if a side lacks the figure.
fn compare_figure(
    figure: Figure,
    baseline: &SideJob<'_>,
    candidate: &SideJob<'_>,
    options: &ComparisonSettings,
) -> Option<(FigureComparison, Option<[ComparedSample; 2]>)> {
    let (a, b) = (baseline.of_each_run(figure), candidate.of_each_run(figure));
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let is_open = a.iter().chain(&b).any(|one| one.at_least);
    let (a, b) = (values(&a), values(&b));
    let samples = if is_open {
        Err(None)
    } else if a.len() > 1 || b.len() > 1 {
        Ok(of_runs(&a, &b))
    } else {
        of_courses(figure, baseline, candidate, options.seed)
            .or_else(|more| of_spreads(figure, baseline, candidate).ok_or(more))
    };
    let missing_runs = change::ENOUGH_RUNS.saturating_sub(a.len().min(b.len())).max(1);
    let more = samples.err().flatten().or(Some(More::Repeats(missing_runs as u64))).filter(|_| !is_open);
    let shown = [Mean::of_independent(&a).value, Mean::of_independent(&b).value];
    let known = samples.ok().and_then(|([a, b], basis)| {
        // The change is that of the figures which are shown; their uncertainty is that of the course. Percentiles of
        // whole runs are rounded to the classes of a histogram, which those of its blocks are not.
        let is_rounded = figure.quantity.percent().is_some() && matches!(basis, Basis::Intervals { .. });
        let [a, b] = if is_rounded { [a, b] } else { [a.at(shown[0]), b.at(shown[1])] };
        Some((Change::between(&a.mean, &b.mean, basis)?, a, b, basis))
    });
    let independent = known.map_or(0.0, |(_, a, b, _)| a.mean.effective.min(b.mean.effective));
    let judgement = match &known {
        Some((change, _, _, basis)) => change.judge(figure.quantity, options.threshold_percent, independent, *basis),
        None => Judgement::Undecided { more },
    };
    let judgement = match judgement {
        // More of a course that drifts only drifts further.
        Judgement::Undecided { more: Some(More::Seconds(_)) } if caution::drift([baseline, candidate]) => {
            Judgement::Undecided { more: Some(More::Repeats(missing_runs as u64)) }
        }
        judgement => judgement,
    };
    let row = FigureComparison {
        figure,
        baseline: shown[0],
        candidate: shown[1],
        change: known.map(|(change, ..)| change),
        basis: known.map(|(_, _, _, basis)| basis),
        independent,
        judgement,
    };
    Some((row, known.map(|(_, a, b, _)| [a, b])))
}

fn values(figures: &[FigureValue]) -> Vec<f64> {
    figures.iter().map(|figure| figure.value).collect()
}

/// Compares mean latencies of single runs by the spread within each.
fn of_spreads(figure: Figure, baseline: &SideJob<'_>, candidate: &SideJob<'_>) -> Option<([ComparedSample; 2], Basis)> {
    let is_mean = |statistic| statistic == FigureStatistic::Mean;
    let (FigureQuantity::Latency(statistic) | FigureQuantity::Response(statistic)) = figure.quantity else {
        return None;
    };
    let sample = |latency: &LatencyStats| {
        let effective = (latency.count as f64).min(change::FEW);
        let mean = Mean { value: latency.mean_ns, error: latency.stddev_ns / effective.sqrt(), effective };
        (latency.count > 1 && latency.stddev_ns > 0.0)
            .then_some(ComparedSample { mean, values: latency.count as usize })
    };
    let (a, b) = baseline.latency(figure).zip(candidate.latency(figure)).filter(|_| is_mean(statistic))?;
    Some(([sample(a)?, sample(b)?], Basis::Spread))
}

/// Compares repeated runs. A single run on one side varies as those of the other do.
fn of_runs(a: &[f64], b: &[f64]) -> ([ComparedSample; 2], Basis) {
    let sample = |values: &[f64], others: &[f64]| {
        let mean = match (values, Mean::of_independent(others)) {
            // The whole uncertainty of the difference, which has the degrees of freedom of the repeats.
            (&[value], others) => {
                let n = others.effective;
                Mean { value, error: others.error * (n + 1.0).sqrt() * value / others.value.max(1e-300), effective: n }
            }
            (values, _) if others.len() == 1 => Mean { error: 0.0, ..Mean::of_independent(values) },
            (values, _) => Mean::of_independent(values),
        };
        ComparedSample { mean, values: values.len() }
    };
    ([sample(a, b), sample(b, a)], Basis::Repeats { runs: a.len().min(b.len()) })
}

/// Compares the time series of single runs; without them, returns the measurement that would decide.
fn of_courses(
    figure: Figure,
    baseline: &SideJob<'_>,
    candidate: &SideJob<'_>,
    seed: u64,
) -> Result<([ComparedSample; 2], Basis), Option<More>> {
    let Some(((a, a_seconds), (b, b_seconds))) = baseline.time_series(figure).zip(candidate.time_series(figure)) else {
        return of_blocks(figure, baseline, candidate, seed);
    };
    let seconds = (a.len() as f64 * a_seconds).min(b.len() as f64 * b_seconds);
    let sample = |values: &[f64]| ComparedSample { mean: Mean::of(values), values: values.len() };
    Ok(([sample(&a), sample(&b)], Basis::Intervals { seconds }))
}

fn of_blocks(
    figure: Figure,
    baseline: &SideJob<'_>,
    candidate: &SideJob<'_>,
    seed: u64,
) -> Result<([ComparedSample; 2], Basis), Option<More>> {
    let (a, b) = baseline.blocks(figure).zip(candidate.blocks(figure)).ok_or(None)?;
    let seconds = a.seconds.min(b.seconds);
    let percent = figure.quantity.percent();
    let missing = percent
        .and_then(|percent| a.missing_factor(percent).into_iter().chain(b.missing_factor(percent)).reduce(f64::max));
    if let Some(times) = missing {
        return Err(Some(More::Seconds(((times - 1.0) * seconds).ceil().max(1.0) as u64)));
    }
    let sample = |blocks: &blocks::ComparedBlocks, seed| ComparedSample {
        mean: percent.map_or_else(|| blocks.mean(), |percent| blocks.percentile(percent, seed)),
        values: blocks.len(),
    };
    Ok(([sample(&a, seed), sample(&b, seed.wrapping_add(1))], Basis::Intervals { seconds }))
}
