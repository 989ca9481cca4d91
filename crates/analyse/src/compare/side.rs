//! One side of a comparison: a job in one run or in several.

use record::{Figure, FigureOf, FigureValue, JobResult, LatencyStats, Run};
use serde::Serialize;

use super::blocks::ComparedBlocks;
use super::series::time_series;
use crate::{Code, Finding, Verdict, analyse};

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The reference.
    Baseline,
    /// The run that is compared with it.
    Candidate,
}

/// A run and the findings about its jobs.
pub(super) struct AnalysedRun<'a> {
    pub(super) run: &'a Run,
    verdicts: Vec<Verdict>,
}

impl<'a> AnalysedRun<'a> {
    pub(super) fn of(runs: &[&'a Run]) -> Vec<Self> {
        runs.iter().map(|&run| Self { run, verdicts: analyse(run) }).collect()
    }
}

/// One job in all runs of a side.
pub(super) struct SideJob<'a> {
    jobs: Vec<(&'a AnalysedRun<'a>, usize)>,
}

impl<'a> SideJob<'a> {
    /// Selects a job by its index in each run; runs without it are left out.
    pub(super) fn of(runs: &'a [AnalysedRun<'a>], indices: impl Iterator<Item = Option<usize>>) -> Self {
        Self { jobs: runs.iter().zip(indices).filter_map(|(run, index)| Some((run, index?))).collect() }
    }

    pub(super) fn runs(&self) -> usize {
        self.jobs.len()
    }

    fn results(&self) -> impl Iterator<Item = &'a JobResult> {
        self.jobs.iter().map(|&(run, index)| &run.run.jobs[index])
    }

    pub(super) fn uses(&self, operations: FigureOf) -> bool {
        self.results().any(|job| operations.are_in(&job.result))
    }

    /// Returns the figure of each run that has it.
    pub(super) fn of_each_run(&self, figure: Figure) -> Vec<FigureValue> {
        self.results().filter_map(|job| figure.of_result(job)).collect()
    }

    /// Returns the statistics of a latency in the only run of this side; `None` for several runs or kinds, and where intervals
    /// tell more.
    pub(super) fn latency(&self, figure: Figure) -> Option<&'a LatencyStats> {
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
    pub(super) fn time_series(&self, figure: Figure) -> Option<(Vec<f64>, f64)> {
        let series: Vec<Vec<f64>> = self.results().map(|job| time_series(job, figure)).collect::<Option<_>>()?;
        let width_ns = self.results().next()?.result.series.paced().width_ns;
        Some((series.concat(), width_ns as f64 / 1e9))
    }

    /// Returns the figure's latency histograms over time; `None` if a run has none.
    pub(super) fn blocks(&self, figure: Figure) -> Option<ComparedBlocks> {
        ComparedBlocks::of(self.results(), figure.of.kind().filter(|_| figure.quantity.is_latency())?, figure.quantity)
    }

    pub(super) fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.jobs.iter().filter_map(|(run, index)| run.verdicts.get(*index)).flat_map(Verdict::findings)
    }

    /// Reports whether burst credits ran out, by the model's counters or by the shape of the series.
    pub(super) fn credits_ran_out(&self) -> bool {
        let empty = |(run, index): &(&AnalysedRun<'_>, usize)| {
            let model = run.run.model.as_ref();
            let stages = model.into_iter().flat_map(|model| model.stages_of(&run.run.jobs[*index]));
            stages.filter_map(|stage| stage.credits).any(|credits| credits.empty_at_ns.is_some())
        };
        self.jobs.iter().any(empty) || self.findings().any(|finding| finding.code == Code::BurstUsedUp)
    }
}
