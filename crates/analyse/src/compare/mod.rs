//! Comparison of two runs, or of two sets of repeated runs: the change of each figure, its confidence interval and
//! whether it exceeds the threshold.
//!
//! Neighbouring seconds of a run are correlated. Tests that assume independence find a difference between equal runs in
//! every second case. So means of two runs are compared by Welch's test with effective sample sizes or, with repeats on
//! both sides, by the means of the runs. Percentiles of single runs get their errors from a bootstrap over blocks of
//! time; records without blocks need repeats.

mod blocks;
mod change;
mod mismatch;

use record::{
    DataKind, Figure, FigureOf, FigureQuantity, FigureStatistic, FigureValue, IntervalRecord, JobResult, LatencyStats,
    Run,
};
use schemars::JsonSchema;
use serde::Serialize;

pub use change::{Basis, Change, Judgement, More};
pub use mismatch::{Aspect, ConditionMismatch, MismatchValue, differing, mismatches, pairs};

use crate::knee::steady::Mean;
use crate::{Code, Finding, Severity, Verdict, analyse};
use blocks::ComparedBlocks;
use change::ENOUGH_RUNS;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Differences in conditions, blocking ones first. All runs are compared with the first run of the baseline,
    /// including its own repeats.
    pub mismatches: Vec<ConditionMismatch>,
    /// Jobs of both sides, in the order of the baseline.
    pub jobs: Vec<JobComparison>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobComparison {
    /// Name in the baseline.
    pub job: String,
    /// Figures of each kind in use, of all kinds together if there are several, and of syncs.
    pub figures: Vec<FigureComparison>,
    /// Reasons to doubt the comparison.
    pub cautions: Vec<Caution>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
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

    /// Reports whether the figures are comparable if runs may differ in what stores their data.
    #[must_use]
    pub fn is_of_one_load(&self) -> bool {
        self.mismatches.iter().all(|mismatch| !mismatch.blocking || mismatch.is_of_storage())
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
    let mut cautions = of_parts(baseline, candidate);
    let mut figures = Vec::new();
    for figure in figures_of(baseline, candidate) {
        let Some((row, samples)) = compare_figure(figure, baseline, candidate, options) else { continue };
        figures.push(row);
        if let Some(([a, b], basis)) = samples.zip(row.basis) {
            cautions.extend(of_sample(figure, Side::Baseline, &a, basis));
            cautions.extend(of_sample(figure, Side::Candidate, &b, basis));
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
        Judgement::Undecided { more: Some(More::Seconds(_)) } if drift([baseline, candidate]) => {
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

/// Returns the figure's value in each whole interval in use. `None` if the record has no such series: for percentiles,
/// and for the latency of one kind among several, because intervals sum the time of all kinds.
fn time_series(job: &JobResult, figure: Figure) -> Option<Vec<f64>> {
    let (series, kind) = (job.result.series.paced(), figure.of.kind());
    if figure.of == FigureOf::Sync {
        return None;
    }
    // The last interval may be incomplete.
    let whole = &series.intervals[..series.intervals.len().saturating_sub(1)];
    let used = in_use(whole, kind);
    let seconds = series.width_ns as f64 / 1e9;
    if used.len() < 2 || seconds <= 0.0 {
        return None;
    }
    match figure.quantity {
        FigureQuantity::Iops => Some(used.iter().map(|one| sum(&one.ios, kind) / seconds).collect()),
        FigureQuantity::BytesPerSecond => Some(used.iter().map(|one| sum(&one.bytes, kind) / seconds).collect()),
        FigureQuantity::Latency(FigureStatistic::Mean) => latency(used).filter(|_| is_alone(job, kind)),
        _ => None,
    }
}

/// Strips the intervals before the first operation and after the last one.
fn in_use(intervals: &[IntervalRecord], kind: Option<DataKind>) -> &[IntervalRecord] {
    let busy = |one: &IntervalRecord| sum(&one.ios, kind) > 0.0;
    let Some(first) = intervals.iter().position(busy) else { return &[] };
    let last = intervals.iter().rposition(busy).unwrap_or(first);
    &intervals[first..=last]
}

fn sum(counts: &[u64; 3], kind: Option<DataKind>) -> f64 {
    match kind {
        Some(kind) => counts[kind as usize] as f64,
        None => counts.iter().sum::<u64>() as f64,
    }
}

/// Reports whether the kind is the only one in use.
fn is_alone(job: &JobResult, kind: Option<DataKind>) -> bool {
    kind.is_none_or(|kind| job.result.kinds().all(|(other, result)| other == kind || result.ios == 0))
}

/// Returns values whose mean is the mean over all operations and whose deviation is that of this mean (a linearised
/// ratio of sums): intervals weigh by their number of operations.
fn latency(intervals: &[IntervalRecord]) -> Option<Vec<f64>> {
    let count = |one: &IntervalRecord| one.ios.iter().sum::<u64>() as f64;
    let ios: f64 = intervals.iter().map(count).sum();
    let time: f64 = intervals.iter().map(|one| one.service_ns as f64).sum();
    let (mean, each) = (time / ios, ios / intervals.len() as f64);
    let value = |one: &IntervalRecord| mean + (one.service_ns as f64 - mean * count(one)) / each;
    (time > 0.0).then(|| intervals.iter().map(value).collect())
}

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The reference.
    Baseline,
    /// The run that is compared with it.
    Candidate,
}

/// A run and the findings about its jobs.
struct AnalysedRun<'a> {
    run: &'a Run,
    verdicts: Vec<Verdict>,
}

impl<'a> AnalysedRun<'a> {
    fn of(runs: &[&'a Run]) -> Vec<Self> {
        runs.iter().map(|&run| Self { run, verdicts: analyse(run) }).collect()
    }
}

/// One job in all runs of a side.
struct SideJob<'a> {
    jobs: Vec<(&'a AnalysedRun<'a>, usize)>,
}

impl<'a> SideJob<'a> {
    /// Selects a job by its index in each run; runs without it are left out.
    fn of(runs: &'a [AnalysedRun<'a>], indices: impl Iterator<Item = Option<usize>>) -> Self {
        Self { jobs: runs.iter().zip(indices).filter_map(|(run, index)| Some((run, index?))).collect() }
    }

    fn runs(&self) -> usize {
        self.jobs.len()
    }

    fn results(&self) -> impl Iterator<Item = &'a JobResult> {
        self.jobs.iter().map(|&(run, index)| &run.run.jobs[index])
    }

    fn uses(&self, operations: FigureOf) -> bool {
        self.results().any(|job| operations.are_in(&job.result))
    }

    /// Returns the figure of each run that has it.
    fn of_each_run(&self, figure: Figure) -> Vec<FigureValue> {
        self.results().filter_map(|job| figure.of_result(job)).collect()
    }

    /// Returns the statistics of a latency in the only run of this side; `None` for several runs or kinds, and where intervals
    /// tell more.
    fn latency(&self, figure: Figure) -> Option<&'a LatencyStats> {
        let (job, None) = (self.results().next()?, self.results().nth(1)) else { return None };
        match figure.of {
            FigureOf::Sync => Some(&job.result.sync),
            FigureOf::Kind(kind) if job.result.series.intervals.is_empty() => {
                Some(figure.quantity.latency(job.result.kind(kind)))
            }
            FigureOf::Kind(_) | FigureOf::All => None,
        }
    }

    /// Returns the figure's concatenated time series and the width of an interval in seconds; `None` if a run has no
    /// series.
    fn time_series(&self, figure: Figure) -> Option<(Vec<f64>, f64)> {
        let series: Vec<Vec<f64>> = self.results().map(|job| time_series(job, figure)).collect::<Option<_>>()?;
        let width_ns = self.results().next()?.result.series.paced().width_ns;
        Some((series.concat(), width_ns as f64 / 1e9))
    }

    /// Returns the figure's latency histograms over time; `None` if a run has none.
    fn blocks(&self, figure: Figure) -> Option<ComparedBlocks> {
        ComparedBlocks::of(self.results(), figure.of.kind().filter(|_| figure.quantity.is_latency())?, figure.quantity)
    }

    fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.jobs.iter().filter_map(|(run, index)| run.verdicts.get(*index)).flat_map(Verdict::findings)
    }

    /// Reports whether burst credits ran out, by the model's counters or by the shape of the series.
    fn credits_ran_out(&self) -> bool {
        let empty = |(run, index): &(&AnalysedRun<'_>, usize)| {
            let model = run.run.model.as_ref();
            let stages = model.into_iter().flat_map(|model| model.stages_of(&run.run.jobs[*index]));
            stages.filter_map(|stage| stage.credits).any(|credits| credits.empty_at_ns.is_some())
        };
        self.jobs.iter().any(empty) || self.findings().any(|finding| finding.code == Code::BurstUsedUp)
    }
}

/// Number of values per independent value from which even corrected intervals are too narrow.
const CORRELATED: f64 = 20.0;

/// A reason to doubt a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
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
fn drift(sides: [&SideJob<'_>; 2]) -> bool {
    let is_of_course = |code: Code| UNSTEADY.contains(&code) && code != Code::ShortRun;
    sides.iter().any(|side| side.findings().any(|finding| is_of_course(finding.code)))
}

fn of_parts(baseline: &SideJob<'_>, candidate: &SideJob<'_>) -> Vec<Caution> {
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

fn of_sample(figure: Figure, side: Side, sample: &ComparedSample, basis: Basis) -> Option<Caution> {
    let ComparedSample { mean, values } = *sample;
    let correlated = values as f64 / mean.effective.max(1.0) >= CORRELATED && matches!(basis, Basis::Intervals { .. });
    correlated.then_some(Caution::Correlated { side, figure, values, independent: mean.effective })
}
