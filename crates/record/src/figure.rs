//! Figures of a run by name: `read.iops`, `all.latency_p99`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{DataKind, DirectionResult, JobResult, LatencyStats, Measured, Run};

/// The name of a figure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Figure {
    /// Kind of operation; `None` for all kinds together.
    pub kind: Option<DataKind>,
    /// Quantity.
    pub quantity: FigureQuantity,
}

/// Quantities of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureQuantity {
    /// Operations per second.
    Iops,
    /// Bytes per second.
    BytesPerSecond,
    /// Mean latency in nanoseconds.
    LatencyMean,
    /// Median latency in nanoseconds.
    LatencyP50,
    /// 90th percentile of latency in nanoseconds.
    LatencyP90,
    /// 99th percentile of latency in nanoseconds.
    LatencyP99,
    /// 99.9th percentile of latency in nanoseconds.
    LatencyP999,
    /// Mean response time from the scheduled start of an operation, in nanoseconds.
    ResponseMean,
    /// Median response time in nanoseconds.
    ResponseP50,
    /// 90th percentile of response time in nanoseconds.
    ResponseP90,
    /// 99th percentile of response time in nanoseconds.
    ResponseP99,
    /// 99.9th percentile of response time in nanoseconds.
    ResponseP999,
}

const QUANTITIES: [(&str, FigureQuantity); 12] = [
    ("iops", FigureQuantity::Iops),
    ("bytes_per_second", FigureQuantity::BytesPerSecond),
    ("latency_mean", FigureQuantity::LatencyMean),
    ("latency_p50", FigureQuantity::LatencyP50),
    ("latency_p90", FigureQuantity::LatencyP90),
    ("latency_p99", FigureQuantity::LatencyP99),
    ("latency_p99.9", FigureQuantity::LatencyP999),
    ("response_mean", FigureQuantity::ResponseMean),
    ("response_p50", FigureQuantity::ResponseP50),
    ("response_p90", FigureQuantity::ResponseP90),
    ("response_p99", FigureQuantity::ResponseP99),
    ("response_p99.9", FigureQuantity::ResponseP999),
];

/// Shorter names that are easier to type.
const SHORT: [(&str, FigureQuantity); 13] = [
    ("bw", FigureQuantity::BytesPerSecond),
    ("lat", FigureQuantity::LatencyMean),
    ("lat.mean", FigureQuantity::LatencyMean),
    ("lat.p50", FigureQuantity::LatencyP50),
    ("lat.p90", FigureQuantity::LatencyP90),
    ("lat.p99", FigureQuantity::LatencyP99),
    ("lat.p99.9", FigureQuantity::LatencyP999),
    ("response", FigureQuantity::ResponseMean),
    ("response.mean", FigureQuantity::ResponseMean),
    ("response.p50", FigureQuantity::ResponseP50),
    ("response.p90", FigureQuantity::ResponseP90),
    ("response.p99", FigureQuantity::ResponseP99),
    ("response.p99.9", FigureQuantity::ResponseP999),
];

impl FigureQuantity {
    /// All quantities, throughput first.
    pub const ALL: [Self; QUANTITIES.len()] = {
        let mut all = [Self::Iops; QUANTITIES.len()];
        let mut index = 0;
        while index < all.len() {
            all[index] = QUANTITIES[index].1;
            index += 1;
        }
        all
    };

    /// Returns the percent of a percentile; `None` for other quantities.
    #[must_use]
    pub const fn percent(self) -> Option<f64> {
        match self {
            Self::Iops | Self::BytesPerSecond | Self::LatencyMean | Self::ResponseMean => None,
            Self::LatencyP50 | Self::ResponseP50 => Some(50.0),
            Self::LatencyP90 | Self::ResponseP90 => Some(90.0),
            Self::LatencyP99 | Self::ResponseP99 => Some(99.0),
            Self::LatencyP999 | Self::ResponseP999 => Some(99.9),
        }
    }

    /// Returns the unit of [`Figure::of`], as written in text.
    #[must_use]
    pub const fn base_unit(self) -> &'static str {
        match self {
            Self::Iops => "",
            Self::BytesPerSecond => "B",
            _ => "ns",
        }
    }

    /// Reports whether the quantity is a response time, which requires a rate.
    #[must_use]
    pub const fn is_response(self) -> bool {
        matches!(
            self,
            Self::ResponseMean | Self::ResponseP50 | Self::ResponseP90 | Self::ResponseP99 | Self::ResponseP999
        )
    }

    /// Returns the latency statistics that the quantity belongs to.
    #[must_use]
    pub const fn latency(self, of: &DirectionResult) -> &LatencyStats {
        match self {
            _ if self.is_response() => &of.response,
            Self::LatencyMean => &of.latency,
            _ => &of.service,
        }
    }

    /// Reports whether the quantity is a time, of which less is better.
    #[must_use]
    pub const fn is_latency(self) -> bool {
        !matches!(self, Self::Iops | Self::BytesPerSecond)
    }
}

impl Figure {
    /// Returns all accepted names, including the shorter ones.
    #[must_use]
    pub fn names() -> Vec<String> {
        let kinds = ["read", "write", "trim", "all"];
        let quantities = || QUANTITIES.iter().chain(&SHORT).map(|(name, _)| name);
        kinds.iter().flat_map(|kind| quantities().map(move |name| format!("{kind}.{name}"))).collect()
    }

    /// Returns the figure with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let (kind, quantity) = name.split_once('.')?;
        let (_, quantity) = *QUANTITIES.iter().chain(&SHORT).find(|(known, _)| *known == quantity)?;
        let kind = match DataKind::ALL.into_iter().find(|known| known.name() == kind) {
            None if kind != "all" => return None,
            kind => kind,
        };
        Some(Self { kind, quantity })
    }

    /// Returns the value over all results of a run, per second, in bytes per second or in nanoseconds; `None` without
    /// operations of the kind. A percentile over several results is the worst of them.
    #[must_use]
    pub fn of(&self, run: &Run) -> Option<f64> {
        self.of_jobs(&run.jobs.iter().collect::<Vec<_>>())
    }

    /// Returns the value over some results of a run.
    #[must_use]
    pub fn of_jobs(&self, jobs: &[&JobResult]) -> Option<f64> {
        let wanted = |kind: DataKind| self.kind.is_none_or(|only| only == kind);
        let results = || jobs.iter().flat_map(|job| job.result.kinds());
        let used = || results().filter(|(kind, result)| wanted(*kind) && result.ios > 0).map(|(_, result)| result);
        used().next()?;
        let over_jobs = |of_job: fn(&Measured) -> f64, of_kind: fn(&DirectionResult) -> f64| match self.kind {
            None => jobs.iter().map(|job| of_job(&job.result)).sum(),
            Some(_) => used().map(of_kind).sum::<f64>(),
        };
        match self.quantity {
            FigureQuantity::Iops => Some(over_jobs(Measured::iops, DirectionResult::iops)),
            FigureQuantity::BytesPerSecond => {
                Some(over_jobs(Measured::bytes_per_second, DirectionResult::bytes_per_second))
            }
            time => {
                let latencies = || used().map(|result| time.latency(result));
                let Some(percent) = time.percent() else {
                    let count: u64 = latencies().map(|latency| latency.count).sum();
                    let sum: f64 = latencies().map(LatencyStats::sum_ns).sum();
                    return (count > 0).then(|| sum / count as f64);
                };
                latencies().filter_map(|latency| latency.percentile_ns(percent)).max().map(|ns| ns as f64)
            }
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.map_or("all", DataKind::name);
        let name = QUANTITIES.iter().find(|(_, quantity)| *quantity == self.quantity).map_or("", |(name, _)| name);
        write!(f, "{kind}.{name}")
    }
}

impl From<Figure> for String {
    fn from(figure: Figure) -> Self {
        figure.to_string()
    }
}

impl TryFrom<String> for Figure {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::named(&name).ok_or_else(|| format!("there is no figure `{name}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_round_trip() {
        for name in Figure::names() {
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
        let value = |name: &str| Figure::named(name).and_then(|figure| figure.of(&run));
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
