//! Variation between repeated runs.

use record::{Figure, FigureOf, FigureQuantity, FigureStatistic, JobResult, Run, RunOutcome};
use schemars::JsonSchema;
use serde::Serialize;

/// The figures of one job over all runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobSpread {
    pub job: String,
    /// Figures of each kind in use and, if there are several, throughput of all kinds together.
    pub figures: Vec<Spread>,
}

/// One figure over all runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    pub figure: Figure,
    pub median: f64,
    /// Minimum.
    pub min: f64,
    /// Maximum.
    pub max: f64,
    /// Value of each run in order; `null` if it has none.
    pub values: Vec<Option<f64>>,
}

impl Spread {
    /// Returns the range relative to the median.
    #[must_use]
    pub fn range(&self) -> f64 {
        if self.median > 0.0 { (self.max - self.min) / self.median } else { 0.0 }
    }
}

const QUANTITIES: [FigureQuantity; 5] = [
    FigureQuantity::Iops,
    FigureQuantity::BytesPerSecond,
    FigureQuantity::Latency(FigureStatistic::Mean),
    FigureQuantity::Latency(FigureStatistic::Percentile(50.0)),
    FigureQuantity::Latency(FigureStatistic::Percentile(99.0)),
];

/// Returns the variation of each job of the first run over all runs. Interrupted runs are ignored if another run is
/// complete.
#[must_use]
pub fn repeats<'a>(runs: &[&'a Run]) -> Vec<JobSpread> {
    let Some(first) = runs.first() else { return Vec::new() };
    let is_complete = |run: &Run| run.outcome != RunOutcome::Interrupted;
    let any_complete = runs.iter().any(|run| is_complete(run));
    let spread = |(index, first): (usize, &JobResult)| {
        let of_run = |run: &&'a Run| if any_complete && !is_complete(run) { None } else { run.jobs.get(index) };
        let jobs: Vec<_> = runs.iter().map(|run| of_run(run).filter(|job| job.name == first.name)).collect();
        JobSpread { job: first.name.clone(), figures: figures(&jobs) }
    };
    first.jobs.iter().enumerate().map(spread).collect()
}

fn figures(jobs: &[Option<&JobResult>]) -> Vec<Spread> {
    let all = FigureOf::ALL.into_iter().flat_map(|of| QUANTITIES.map(|quantity| Figure { of, quantity }));
    let spreads: Vec<Spread> = all.filter_map(|figure| spread(figure, jobs)).collect();
    let mut kinds: Vec<_> = spreads.iter().filter_map(|spread| spread.figure.of.kind()).collect();
    kinds.dedup();
    let adds = |figure: Figure| match figure.of {
        FigureOf::Kind(_) => true,
        FigureOf::All => kinds.len() > 1 && !figure.quantity.is_latency(),
        FigureOf::Sync => figure.quantity.is_latency(),
    };
    spreads.into_iter().filter(|spread| adds(spread.figure)).collect()
}

fn spread(figure: Figure, jobs: &[Option<&JobResult>]) -> Option<Spread> {
    let values: Vec<Option<f64>> = jobs.iter().map(|job| Some(figure.of_result((*job)?)?.value)).collect();
    let mut known: Vec<f64> = values.iter().flatten().copied().collect();
    known.sort_by(f64::total_cmp);
    let (min, max) = (*known.first()?, *known.last()?);
    let median = f64::midpoint(known[(known.len() - 1) / 2], known[known.len() / 2]);
    Some(Spread { figure, median, min, max, values })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{DirectionResult, Measured};

    fn run(reads: u64, outcome: RunOutcome) -> Run {
        let read = DirectionResult { ios: reads, bytes: reads * 4096, runtime_ns: 1_000_000_000, ..Default::default() };
        let result = Measured { read, ..Measured::default() };
        let job = JobResult { name: "a".to_owned(), result, ..JobResult::default() };
        Run { jobs: vec![job], outcome, ..Run::default() }
    }

    #[test]
    fn median_ignores_interrupted_runs() {
        let iops = |runs: &[Run]| {
            let spreads = repeats(&runs.iter().collect::<Vec<_>>());
            assert!(spreads[0].figures.iter().all(|spread| spread.figure.of.kind().is_some()), "{spreads:?}");
            spreads[0].figures[0].clone()
        };
        let whole = RunOutcome::Completed;
        let three = iops(&[run(30, whole), run(10, whole), run(20, whole)]);
        assert_eq!((three.median, three.min, three.max, three.range()), (20.0, 10.0, 30.0, 1.0));
        assert_eq!(three.values, [30.0, 10.0, 20.0].map(Some));
        assert_eq!(iops(&[run(30, whole), run(10, whole)]).median, 20.0);
        let cut = iops(&[run(30, whole), run(2, RunOutcome::Interrupted)]);
        assert_eq!((cut.median, cut.values), (30.0, vec![Some(30.0), None]));
        assert_eq!(iops(&[run(2, RunOutcome::Interrupted)]).median, 2.0, "the only run counts");
        assert!(repeats(&[]).is_empty());
    }
}
