//! Figures of a run by name: `read.iops`, `all.latency_p99`, `sync.latency_mean`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Problem, ProblemCode};

use crate::measured::per_second;
use crate::{DataKind, DirectionResult, JobResult, LatencyStats, Measured, Percentile, Run};

/// The name of a figure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
pub struct Figure {
    /// Operations that it is about.
    pub of: FigureOf,
    pub quantity: FigureQuantity,
}

/// Operations that a figure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureOf {
    Kind(DataKind),
    /// Reads, writes and trims together.
    All,
    /// Syncs, which have a rate and a latency.
    Sync,
}

impl FigureOf {
    /// All operations, each kind first.
    pub const ALL: [Self; 5] =
        [Self::Kind(DataKind::Read), Self::Kind(DataKind::Write), Self::Kind(DataKind::Trim), Self::All, Self::Sync];

    /// Returns the name: `read`, `write`, `trim`, `all` or `sync`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kind(kind) => kind.name(),
            Self::All => "all",
            Self::Sync => "sync",
        }
    }

    /// Returns the kind; `None` for all kinds together and for syncs.
    #[must_use]
    pub const fn kind(self) -> Option<DataKind> {
        if let Self::Kind(kind) = self { Some(kind) } else { None }
    }

    /// Returns the latencies of these operations in a result, those without operations left out.
    fn latencies(self, quantity: FigureQuantity, result: &Measured) -> Vec<&LatencyStats> {
        match self {
            Self::Sync => Some(&result.sync).filter(|sync| sync.count > 0).into_iter().collect(),
            _ => self.used(result).map(|kind| quantity.latency(kind)).collect(),
        }
    }

    /// Iterates over the kinds of a result that have operations.
    fn used(self, result: &Measured) -> impl Iterator<Item = &DirectionResult> {
        let wanted = move |kind: DataKind| self == Self::All || self == Self::Kind(kind);
        // Another program may state only bytes.
        let is_used = |result: &DirectionResult| result.ios > 0 || result.bytes > 0;
        result.kinds().filter(move |(kind, result)| wanted(*kind) && is_used(result)).map(|(_, result)| result)
    }

    /// Reports whether a result has such operations.
    #[must_use]
    pub fn are_in(self, result: &Measured) -> bool {
        if self == Self::Sync { result.sync.count > 0 } else { self.used(result).next().is_some() }
    }
}

/// Quantities of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FigureQuantity {
    /// Operations per second.
    Iops,
    /// Bytes per second.
    BytesPerSecond,
    /// Latency in nanoseconds.
    Latency(FigureStatistic),
    /// Response time from the scheduled start of an operation, in nanoseconds.
    Response(FigureStatistic),
}

/// Statistics of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FigureStatistic {
    Mean,
    /// The percentile at this percentage, above 0 and below 100.
    Percentile(f64),
}

impl FigureStatistic {
    /// Parses `mean` or a percentile such as `p99.9`.
    fn named(name: &str) -> Option<Self> {
        if name == "mean" {
            return Some(Self::Mean);
        }
        let digits = name.strip_prefix('p').filter(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))?;
        let percent = digits.parse().ok().filter(|percent: &f64| *percent > 0.0 && *percent < 100.0)?;
        Some(Self::Percentile(percent))
    }
}

impl FigureQuantity {
    /// The quantities that tables show, throughput first.
    pub const STANDARD: [Self; 12] = {
        use FigureStatistic::{Mean, Percentile};
        [
            Self::Iops,
            Self::BytesPerSecond,
            Self::Latency(Mean),
            Self::Latency(Percentile(50.0)),
            Self::Latency(Percentile(90.0)),
            Self::Latency(Percentile(99.0)),
            Self::Latency(Percentile(99.9)),
            Self::Response(Mean),
            Self::Response(Percentile(50.0)),
            Self::Response(Percentile(90.0)),
            Self::Response(Percentile(99.0)),
            Self::Response(Percentile(99.9)),
        ]
    };

    /// Parses a name such as `iops`, `bw`, `lat`, `lat.p99`, `latency_p99` or `response.mean`.
    fn named(name: &str) -> Option<Self> {
        match name {
            "iops" => return Some(Self::Iops),
            "bw" | "bytes_per_second" => return Some(Self::BytesPerSecond),
            _ => {}
        }
        let (of, which) = name.split_once(['.', '_']).unwrap_or((name, "mean"));
        let which = FigureStatistic::named(which)?;
        match of {
            "lat" | "latency" => Some(Self::Latency(which)),
            "response" => Some(Self::Response(which)),
            _ => None,
        }
    }

    /// Returns the percent of a percentile; `None` for other quantities.
    #[must_use]
    pub const fn percent(self) -> Option<f64> {
        match self {
            Self::Latency(FigureStatistic::Percentile(percent))
            | Self::Response(FigureStatistic::Percentile(percent)) => Some(percent),
            _ => None,
        }
    }

    /// Returns the unit of [`Figure::of`], as written in text.
    #[must_use]
    pub const fn base_unit(self) -> &'static str {
        match self {
            Self::Iops => "",
            Self::BytesPerSecond => "B",
            Self::Latency(_) | Self::Response(_) => "ns",
        }
    }

    /// Reports whether the quantity is a response time, which requires a rate.
    #[must_use]
    pub const fn is_response(self) -> bool {
        matches!(self, Self::Response(_))
    }

    /// Returns the latency statistics that the quantity belongs to.
    #[must_use]
    pub fn latency(self, of: &DirectionResult) -> &LatencyStats {
        match self {
            Self::Response(_) => &of.response,
            Self::Latency(FigureStatistic::Mean) => &of.latency,
            Self::Latency(FigureStatistic::Percentile(_)) => of.with_percentiles(),
            _ => &of.service,
        }
    }

    /// Reports whether the quantity is a time, of which less is better.
    #[must_use]
    pub const fn is_latency(self) -> bool {
        matches!(self, Self::Latency(_) | Self::Response(_))
    }
}

impl fmt::Display for FigureQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (of, which) = match self {
            Self::Iops => return f.write_str("iops"),
            Self::BytesPerSecond => return f.write_str("bytes_per_second"),
            Self::Latency(which) => ("latency", which),
            Self::Response(which) => ("response", which),
        };
        match which {
            FigureStatistic::Mean => write!(f, "{of}_mean"),
            FigureStatistic::Percentile(percent) => write!(f, "{of}_p{percent}"),
        }
    }
}

/// The value of a figure: per second, in bytes per second or in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureValue {
    pub value: f64,
    /// Whether it is a lower bound (see [`Percentile`]).
    pub at_least: bool,
}

/// Why a run has no value of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFigure {
    /// No such operations, or a result that has them lacks the figure.
    Absent,
    /// Results that ran one after another, or are unknown to have run at the same time, have no rate together.
    NotTogether,
}

impl Figure {
    /// Returns names to suggest.
    #[must_use]
    pub fn names() -> Vec<String> {
        const QUANTITIES: [&str; 14] = [
            "iops",
            "bw",
            "bytes_per_second",
            "lat",
            "lat.mean",
            "lat.p50",
            "lat.p90",
            "lat.p95",
            "lat.p99",
            "lat.p99.9",
            "lat.p99.99",
            "response.mean",
            "response.p99",
            "response.p99.9",
        ];
        let of_each = |of: FigureOf| QUANTITIES.map(|quantity| format!("{}.{quantity}", of.name()));
        FigureOf::ALL.into_iter().flat_map(of_each).filter(|name| Self::named(name).is_some()).collect()
    }

    /// Returns the figure with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let (of, quantity) = name.split_once('.')?;
        let of = FigureOf::ALL.into_iter().find(|known| known.name() == of)?;
        let quantity = FigureQuantity::named(quantity)?;
        let has_it = of != FigureOf::Sync || matches!(quantity, FigureQuantity::Iops | FigureQuantity::Latency(_));
        has_it.then_some(Self { of, quantity })
    }

    /// Returns the value over all results of a run. A percentile over several results is the worst of them.
    ///
    /// # Errors
    ///
    /// [`NoFigure`] is the reason why there is none.
    pub fn of(&self, run: &Run) -> Result<FigureValue, NoFigure> {
        self.of_jobs(run, &(0..run.jobs.len()).collect::<Vec<_>>())
    }

    /// Returns the value over some results of a run, given by their indices.
    ///
    /// # Errors
    ///
    /// [`NoFigure`] is the reason why there is none.
    pub fn of_jobs(&self, run: &Run, jobs: &[usize]) -> Result<FigureValue, NoFigure> {
        let used: Vec<usize> = jobs.iter().copied().filter(|&job| self.of.are_in(&run.jobs[job].result)).collect();
        let value = self.of_results(used.iter().map(|&job| &run.jobs[job])).ok_or(NoFigure::Absent)?;
        if !self.quantity.is_latency() && used.len() > 1 {
            let phases = run.phases();
            let phase = phases.iter().find(|phase| phase.contains(&used[0]));
            if !phase.is_some_and(|phase| used.iter().all(|job| phase.contains(job))) {
                return Err(NoFigure::NotTogether);
            }
        }
        Ok(value)
    }

    /// Returns the value of one result; `None` if it has none.
    #[must_use]
    pub fn of_result(&self, job: &JobResult) -> Option<FigureValue> {
        self.of_results(std::iter::once(job))
    }

    /// Returns the value over results that ran at the same time. A rate counts over the time of the longest, as fio adds
    /// up a group.
    fn of_results<'a>(&self, jobs: impl Iterator<Item = &'a JobResult>) -> Option<FigureValue> {
        let used: Vec<&Measured> = jobs.map(|job| &job.result).filter(|result| self.of.are_in(result)).collect();
        let percent = match self.quantity {
            FigureQuantity::Iops | FigureQuantity::BytesPerSecond => return self.rate(&used).map(FigureValue::exact),
            FigureQuantity::Latency(which) | FigureQuantity::Response(which) => which,
        };
        let latencies: Vec<&LatencyStats> =
            used.iter().flat_map(|result| self.of.latencies(self.quantity, result)).collect();
        match percent {
            FigureStatistic::Mean => {
                let count: u64 = latencies.iter().map(|latency| latency.count).fold(0, u64::saturating_add);
                let sum: f64 = latencies.iter().map(|latency| latency.sum_ns()).sum();
                // A histogram may have percentiles without a sum.
                let all_known = latencies.iter().all(|latency| latency.count > 0 && latency.mean_ns > 0.0);
                (count > 0 && all_known).then(|| FigureValue::exact(sum / count as f64))
            }
            FigureStatistic::Percentile(percent) => {
                let each: Vec<Percentile> =
                    latencies.iter().map(|latency| latency.percentile(percent)).collect::<Option<_>>()?;
                let worst = each.into_iter().max_by_key(|one| one.ns)?;
                Some(FigureValue { value: worst.ns as f64, at_least: worst.at_least })
            }
        }
    }

    fn rate(&self, used: &[&Measured]) -> Option<f64> {
        let time_ns = |result: &Measured| match self.of {
            FigureOf::Kind(kind) => result.kind(kind).runtime_ns,
            FigureOf::All | FigureOf::Sync => result.elapsed_ns(),
        };
        let amount = |result: &Measured| match (self.of, self.quantity) {
            (FigureOf::Sync, _) => result.sync.count,
            (of, FigureQuantity::Iops) => of.used(result).map(|kind| kind.ios).fold(0, u64::saturating_add),
            (of, _) => of.used(result).map(|kind| kind.bytes).fold(0, u64::saturating_add),
        };
        // Counts without a time have no rate.
        let longest_ns = used.iter().map(|result| time_ns(result)).max().filter(|longest_ns| *longest_ns > 0)?;
        let sum = used.iter().map(|result| amount(result)).fold(0, u64::saturating_add);
        (sum > 0).then(|| per_second(sum, longest_ns))
    }
}

impl FigureValue {
    const fn exact(value: f64) -> Self {
        Self { value, at_least: false }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.of.name(), self.quantity)
    }
}

impl From<Figure> for String {
    fn from(figure: Figure) -> Self {
        figure.to_string()
    }
}

impl TryFrom<String> for Figure {
    type Error = Problem;

    fn try_from(name: String) -> Result<Self, Problem> {
        Self::named(&name)
            .ok_or_else(|| Problem::error(ProblemCode::UnreadableInput, format!("unknown figure `{name}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_round_trip() {
        let names = ["sync.lat.p99", "all.latency_p99.99", "write.response_p0.5", "trim.lat"].map(str::to_owned);
        for name in Figure::names().into_iter().chain(names) {
            let figure = Figure::named(&name).unwrap_or_else(|| panic!("{name} is not accepted"));
            assert_eq!(Figure::named(&figure.to_string()), Some(figure));
            let base = figure.quantity.base_unit();
            assert!(figure.quantity.units().contains(&(base, 1.0)), "{name} in {base}");
        }
        assert_eq!(Figure::named("read.lat.p99.9"), Figure::named("read.latency_p99.9"));
        assert_eq!(
            (Figure::named("iops"), Figure::named("read.speed"), Figure::named("some.iops")),
            (None, None, None)
        );
        for name in ["read.lat.p100", "read.lat.p0", "read.lat.p-1", "read.lat.pNaN", "sync.bw", "sync.response.p99"] {
            assert_eq!(Figure::named(name), None, "{name}");
        }
    }

    #[test]
    fn figures_combine_all_results() {
        let kind = |ios, mean_ns| DirectionResult {
            ios,
            bytes: ios * 4096,
            runtime_ns: 2_000_000_000,
            latency: LatencyStats { count: ios, mean_ns, ..LatencyStats::default() },
            ..DirectionResult::default()
        };
        let job =
            |read, write| JobResult { result: Measured { read, write, ..Measured::default() }, ..JobResult::default() };
        let jobs = vec![job(kind(100, 10.0), kind(300, 20.0)), job(kind(200, 40.0), DirectionResult::default())];
        let run = Run { jobs, ..Run::default() };
        let value = |name: &str| Figure::named(name).unwrap().of(&run).ok().map(|value| value.value);
        assert_eq!(
            (value("read.iops"), value("write.iops"), value("all.iops")),
            (Some(150.0), Some(150.0), Some(300.0))
        );
        assert_eq!(value("read.bytes_per_second"), Some(150.0 * 4096.0));
        assert_eq!(value("read.latency_mean"), Some(30.0));
        assert_eq!(value("read.response"), None, "there was no rate");
        assert_eq!((value("trim.iops"), value("read.latency_p99")), (None, None));
    }
}
