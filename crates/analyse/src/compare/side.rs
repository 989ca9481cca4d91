//! One side of a comparison: a job in one run or in several.

use record::{DataKind, Figure, JobResult, Run};
use serde::Serialize;

use super::blocks::ComparedBlocks;
use super::series::course;
use crate::{Code, Finding, Verdict, analyse};

/// Which side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// What is compared with.
    Baseline,
    /// What is compared.
    Candidate,
}

/// A run and what was found about its jobs.
pub(super) struct JudgedSide<'a> {
    pub(super) run: &'a Run,
    verdicts: Vec<Verdict>,
}

impl<'a> JudgedSide<'a> {
    pub(super) fn of(runs: &[&'a Run]) -> Vec<Self> {
        runs.iter().map(|&run| Self { run, verdicts: analyse(run) }).collect()
    }
}

/// One job in all runs of a side.
pub(super) struct SidePart<'a> {
    jobs: Vec<(&'a JudgedSide<'a>, usize)>,
}

impl<'a> SidePart<'a> {
    /// By the place of the job in each run; runs without it have no part in it.
    pub(super) fn of(runs: &'a [JudgedSide<'a>], places: impl Iterator<Item = Option<usize>>) -> Self {
        Self { jobs: runs.iter().zip(places).filter_map(|(run, place)| Some((run, place?))).collect() }
    }

    pub(super) fn runs(&self) -> usize {
        self.jobs.len()
    }

    fn results(&self) -> impl Iterator<Item = &'a JobResult> {
        self.jobs.iter().map(|&(judged, place)| &judged.run.jobs[place])
    }

    pub(super) fn uses(&self, kind: DataKind) -> bool {
        self.results().any(|job| job.result.kind(kind).ios > 0)
    }

    /// The figure in each run that has it.
    pub(super) fn of_each_run(&self, figure: Figure) -> Vec<f64> {
        self.results().filter_map(|job| figure.of_jobs(&[job])).collect()
    }

    /// The course of the figure in time, one run after the other, and the width of an interval in seconds; `None`
    /// where a run does not keep it.
    pub(super) fn course(&self, figure: Figure) -> Option<(Vec<f64>, f64)> {
        let courses: Vec<Vec<f64>> = self.results().map(|job| course(job, figure)).collect::<Option<_>>()?;
        let width_ns = self.results().next()?.result.series.paced().width_ns;
        Some((courses.concat(), width_ns as f64 / 1e9))
    }

    /// Histograms of the latency that this is a figure of, over time; `None` where a run does not keep them.
    pub(super) fn blocks(&self, figure: Figure) -> Option<ComparedBlocks> {
        ComparedBlocks::of(self.results(), figure.kind.filter(|_| figure.quantity.is_latency())?, figure.quantity)
    }

    pub(super) fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.jobs.iter().filter_map(|(judged, place)| judged.verdicts.get(*place)).flat_map(Verdict::findings)
    }

    /// By the model's own account or by what its course shows.
    pub(super) fn credits_ran_out(&self) -> bool {
        let empty = |(judged, place): &(&JudgedSide<'_>, usize)| {
            let model = judged.run.model.as_ref();
            let stages = model.into_iter().flat_map(|model| model.stages_of(&judged.run.jobs[*place]));
            stages.filter_map(|stage| stage.credits).any(|credits| credits.empty_at_ns.is_some())
        };
        self.jobs.iter().any(empty) || self.findings().any(|finding| finding.code == Code::BurstUsedUp)
    }
}
