//! The distribution of latency on a scale of nines, which spreads out its tail.

use record::LatencyStats;

use super::super::figure::{ChartFigure, LegendKey, SeriesStyle, picture};
use super::super::part::SectionPart;
use super::super::table::HtmlTable;
use crate::chart::{Axis, Scale, Step, nines, time};

/// Percentiles in the table.
const PERCENTS: [f64; 9] = [1.0, 10.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999];
/// Minimum distance of drawn points, in nines.
const APART: f64 = 0.015;

struct PercentileCurve<'a> {
    name: String,
    style: SeriesStyle,
    latency: &'a LatencyStats,
    /// Points as nines and nanoseconds.
    points: Vec<(f64, f64)>,
}

/// Draws the time within which a fraction of operations completed, from the median to the slowest.
pub(in super::super) fn curve(part: &SectionPart<'_>) -> Option<ChartFigure> {
    let curves: Vec<PercentileCurve<'_>> = curves(part);
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let most = all().map(|(nines, _)| *nines).reduce(f64::max)?;
    let x = Axis::nines_to(most).named("percentile");
    let y = Axis::new(Scale::around(all().map(|(_, ns)| *ns)), 6, time);
    let picture = picture(&format!("Percentiles of the latency of {}", part.called()), &x, &y, |frame, out| {
        frame.axes(out);
        curves.iter().for_each(|curve| frame.steps(out, &curve.style.line(), curve.steps()));
        for curve in &curves {
            for (percent, ns) in PERCENTS
                .into_iter()
                .filter(|percent| *percent >= 50.0)
                .filter_map(|percent| Some((percent, curve.percentile(percent)?)))
            {
                let title = format!("{}: {percent}% within {}", curve.name, time(ns));
                frame.dot(out, &curve.style.dot(), (nines(percent / 100.0), ns), 2.6, &title);
            }
        }
    });
    let legend = curves.iter().map(|curve| LegendKey { class: curve.style.line(), name: curve.name.clone() });
    let assumed = match part.members.iter().any(|member| crate::words::tail_is_assumed(member.run)) {
        true => " Beyond 99.9% it follows from the assumed distribution of a model.",
        false => "",
    };
    let note = format!("Each step to the right is ten times rarer.{assumed}");
    Some(ChartFigure {
        title: "Percentiles of latency",
        note,
        legend: if curves.len() > 1 { legend.collect() } else { Vec::new() },
        table: table(&curves),
        picture,
    })
}

fn curves<'a>(part: &'a SectionPart<'a>) -> Vec<PercentileCurve<'a>> {
    let mut curves = Vec::new();
    let paced = part.flows().any(|(_, _, result)| result.response.count > 0);
    for (member, kind, result) in part.flows() {
        let style = part.style(member, kind);
        for (what, dash, latency) in [("service", 0, result.with_percentiles()), ("response", 1, &result.response)] {
            let points = thinned(latency);
            if points.len() > 1 {
                let label = part.label(member, kind);
                let name = if paced { format!("{label}, {what}") } else { label };
                curves.push(PercentileCurve {
                    name,
                    style: SeriesStyle { dash: style.dash + dash, ..style },
                    latency,
                    points,
                });
            }
        }
    }
    curves
}

/// Returns the distribution in nines, without points that are indistinguishable in the chart.
fn thinned(latency: &LatencyStats) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let all = latency.distribution();
    let last = all.len().saturating_sub(1);
    for (index, (share, ns)) in all.into_iter().enumerate() {
        let at = nines(share);
        if index == 0 || index == last || points.last().is_none_or(|(before, _)| at - before > APART) {
            points.push((at, ns as f64));
        }
    }
    points
}

impl PercentileCurve<'_> {
    /// Returns the steps of the curve, each at the time of its right end.
    fn steps(&self) -> impl Iterator<Item = Step> + '_ {
        self.points.windows(2).map(|pair| (pair[0].0, pair[1].0, pair[1].1))
    }

    fn percentile(&self, percent: f64) -> Option<f64> {
        let enough = self.latency.count as f64 * (1.0 - percent / 100.0) >= 1.0 || self.latency.buckets.is_empty();
        self.latency.percentile_ns(percent).filter(|_| enough).map(|ns| ns as f64)
    }
}

fn table(curves: &[PercentileCurve<'_>]) -> HtmlTable {
    let names = curves.iter().map(|curve| curve.name.as_str());
    let head: Vec<&str> = std::iter::once("percentile").chain(names).collect();
    let mut table = HtmlTable::new("Percentiles of latency", &head, 1);
    let mut row = |name: String, of: &dyn Fn(&PercentileCurve<'_>) -> Option<f64>| {
        let cells = curves.iter().map(|curve| of(curve).map_or_else(|| "-".to_owned(), time));
        table.rows.push(std::iter::once(name).chain(cells).collect());
    };
    row("fastest".to_owned(), &|curve| Some(curve.latency.min_ns as f64));
    for percent in PERCENTS {
        row(format!("{percent}%"), &|curve| curve.percentile(percent));
    }
    row("slowest".to_owned(), &|curve| Some(curve.latency.max_ns as f64));
    table
}
