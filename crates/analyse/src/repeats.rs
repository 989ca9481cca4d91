//! Variation between runs of the same jobs.

use record::{Figure, FigureQuantity, JobResult, Run, RunOutcome};
use serde::Serialize;

/// The figures of one job in all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobSpread {
    /// The job's name.
    pub job: String,
    /// Its figures: of each kind in use and, where there are several, throughput of all together.
    pub figures: Vec<Spread>,
}

/// One figure in all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Which.
    pub figure: Figure,
    /// The value in the middle or, of an even number, the mean of the two in the middle.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// The value of each run in their order; `null` where it has none.
    pub values: Vec<Option<f64>>,
}

impl Spread {
    /// Greatest less least, as a share of the median.
    #[must_use]
    pub fn range(&self) -> f64 {
        if self.median > 0.0 { (self.max - self.min) / self.median } else { 0.0 }
    }
}

const QUANTITIES: [FigureQuantity; 5] = [
    FigureQuantity::Iops,
    FigureQuantity::BytesPerSecond,
    FigureQuantity::LatencyMean,
    FigureQuantity::LatencyP50,
    FigureQuantity::LatencyP99,
];

/// How the figures of each job of the first run are spread over all of them. What was interrupted has no say where
/// another run is whole.
#[must_use]
pub fn repeats(runs: &[&Run]) -> Vec<JobSpread> {
    let Some(first) = runs.first() else { return Vec::new() };
    let is_whole = |run: &Run| run.outcome != RunOutcome::Interrupted;
    let any_whole = runs.iter().any(|run| is_whole(run));
    let of = |place: usize, name: &str| -> Vec<Option<&JobResult>> {
        let said = runs.iter().map(|&run| (!any_whole || is_whole(run)).then_some(run));
        said.map(|run| run?.jobs.get(place).filter(|job| job.name == name)).collect()
    };
    let spread = |(place, job): (usize, &JobResult)| JobSpread {
        job: job.name.clone(),
        figures: figures(&of(place, &job.name)),
    };
    first.jobs.iter().enumerate().map(spread).collect()
}

fn figures(jobs: &[Option<&JobResult>]) -> Vec<Spread> {
    let kinds = record::DataKind::ALL.map(Some).into_iter().chain([None]);
    let all = kinds.flat_map(|kind| QUANTITIES.map(|quantity| Figure { kind, quantity }));
    let spreads: Vec<Spread> = all.filter_map(|figure| spread(figure, jobs)).collect();
    let several = spreads
        .iter()
        .filter(|spread| spread.figure.kind.is_some())
        .any(|a| spreads.iter().any(|b| b.figure.kind.is_some() && b.figure.kind != a.figure.kind));
    let says_more = |spread: &Spread| spread.figure.kind.is_some() || several && !spread.figure.quantity.is_latency();
    spreads.into_iter().filter(says_more).collect()
}

fn spread(figure: Figure, jobs: &[Option<&JobResult>]) -> Option<Spread> {
    let values: Vec<Option<f64>> = jobs.iter().map(|job| figure.of_jobs(&[(*job)?])).collect();
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
    fn the_median_is_in_the_middle_of_whole_runs() {
        let iops = |runs: &[Run]| {
            let spreads = repeats(&runs.iter().collect::<Vec<_>>());
            assert!(spreads[0].figures.iter().all(|spread| spread.figure.kind.is_some()), "{spreads:?}");
            spreads[0].figures[0].clone()
        };
        let whole = RunOutcome::Completed;
        let three = iops(&[run(30, whole), run(10, whole), run(20, whole)]);
        assert_eq!((three.median, three.min, three.max, three.range()), (20.0, 10.0, 30.0, 1.0));
        assert_eq!(three.values, [30.0, 10.0, 20.0].map(Some));
        assert_eq!(iops(&[run(30, whole), run(10, whole)]).median, 20.0);
        let cut = iops(&[run(30, whole), run(2, RunOutcome::Interrupted)]);
        assert_eq!((cut.median, cut.values), (30.0, vec![Some(30.0), None]));
        assert_eq!(iops(&[run(2, RunOutcome::Interrupted)]).median, 2.0, "better than nothing");
        assert!(repeats(&[]).is_empty());
    }
}
