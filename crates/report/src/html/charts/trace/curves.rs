//! Percentiles of latency, and peaks by the width of windows.

use trace::{TraceDistribution, WindowProfile};
use units::significant;

use super::super::super::figure::{ChartFigure, LegendKey, SeriesStyle, picture};
use super::super::super::table::HtmlTable;
use super::style;
use crate::chart::{Axis, Scale, elapsed, nines, short_count, time};
use trace::TraceStudy;

/// Percentiles that a distribution has, in the order of the table.
const PERCENTILES: [&str; 8] = ["fastest", "10%", "50%", "90%", "95%", "99%", "99.9%", "slowest"];

struct LatencyCurve {
    name: String,
    style: SeriesStyle,
    times: TraceDistribution,
}

impl LatencyCurve {
    fn values(&self) -> [f64; 8] {
        let TraceDistribution { min, p10, p50, p90, p95, p99, p99_9, max, .. } = self.times;
        [min, p10, p50, p90, p95, p99, p99_9, max].map(|ns| ns as f64)
    }

    /// Returns the points from the median on: nines and nanoseconds.
    fn points(&self) -> Vec<(f64, f64)> {
        let parts = [0.5, 0.9, 0.95, 0.99, 0.999, 1.0 - 1.0 / self.times.weight.max(2) as f64].map(nines);
        let last = parts[5];
        let points = parts.into_iter().zip(self.values().into_iter().skip(2)).enumerate();
        // The slowest request of few comes before the percentiles that they do not have.
        points.filter(|(index, (at, _))| *index == 5 || *at < last).map(|(_, point)| point).collect()
    }
}

/// Draws the time within which a part of the requests completed.
pub(super) fn latency(report: &TraceStudy) -> Option<ChartFigure> {
    let kinds = [(&report.profile.service_ns, "", 0), (&report.profile.queued_ns, ", queued", 1)];
    let curves: Vec<LatencyCurve> = kinds
        .into_iter()
        .flat_map(|(times, what, dash)| {
            report.operations().filter_map(move |(operation, name)| {
                let times = (*times.get(operation))?;
                let style = SeriesStyle { dash, ..style(operation) };
                Some(LatencyCurve { name: format!("{name}{what}"), style, times })
            })
        })
        .filter(|curve| curve.times.max > 0)
        .collect();
    let all = || curves.iter().flat_map(LatencyCurve::points);
    let most = all().map(|(nines, _)| nines).reduce(f64::max)?;
    let x = Axis::nines_to(most).named("share of requests completed within");
    let y = Axis::new(Scale::around(all().map(|(_, ns)| ns).collect::<Vec<_>>().into_iter()), 6, time);
    let picture = picture(&format!("Percentiles of the latency of {}", report.name), &x, &y, |frame, out| {
        frame.axes(out);
        for curve in &curves {
            let points: Vec<(f64, f64)> = curve.points().into_iter().filter(|(_, ns)| *ns > 0.0).collect();
            frame.curve(out, &curve.style.line(), &points);
            for point in points {
                frame.dot(out, &curve.style.dot(), point, 2.6, &format!("{}: {}", curve.name, time(point.1)));
            }
        }
    });
    let names = curves.iter().map(|curve| curve.name.as_str());
    let head: Vec<&str> = std::iter::once("within").chain(names).collect();
    let mut table = HtmlTable::new("Percentiles of latency", &head, 1);
    for (index, name) in PERCENTILES.iter().enumerate() {
        let cells = curves.iter().map(|curve| time(curve.values()[index]));
        table.rows.push(std::iter::once((*name).to_owned()).chain(cells).collect());
    }
    let keys = curves.iter().map(|curve| LegendKey { class: curve.style.line(), name: curve.name.clone() });
    Some(ChartFigure {
        title: "Latency",
        note: "From issue to completion; dashed: in the scheduler queue before that.".to_owned(),
        legend: keys.collect(),
        picture,
        table,
    })
}

/// Draws the peak rate of windows by their width, above the mean.
pub(super) fn peaks(report: &TraceStudy) -> Option<ChartFigure> {
    let windows = &report.profile.arrivals.windows;
    let mean = report.profile.arrivals.rate_per_s?;
    let rate = |window: &WindowProfile| window.requests_max as f64 / (window.width_ns as f64 / 1e9);
    let x = widths(windows)?;
    let most = windows.iter().map(rate).fold(mean, f64::max);
    let y = Axis::from_zero(most, 1.0, short_count);
    let picture = picture(&format!("Peak rate of {} by window", report.name), &x, &y, |frame, out| {
        frame.axes(out);
        frame.segment(out, "bound", (x.scale.low, mean), (x.scale.high, mean));
        let points: Vec<(f64, f64)> = windows.iter().map(|window| (window.width_ns as f64, rate(window))).collect();
        frame.curve(out, "l s0", &points);
        for (window, point) in windows.iter().zip(points) {
            let ratio = significant(window.peak_to_mean, 3);
            let title = format!("{}: {} IOPS, {ratio} x mean", elapsed(point.0), short_count(point.1));
            frame.dot(out, "o s0", point, 3.5, &title);
        }
    });
    let mut table = HtmlTable::new("Peaks", &["window", "peak IOPS", "peak/mean"], 1);
    table.rows = windows
        .iter()
        .map(|window| {
            let ratio = significant(window.peak_to_mean, 3);
            vec![elapsed(window.width_ns as f64), short_count(rate(window)), ratio]
        })
        .collect();
    let note = format!("IOPS in the busiest window of each width. Dashed: the mean, {} IOPS.", short_count(mean));
    Some(ChartFigure { title: "Peak IOPS by window", note, legend: Vec::new(), picture, table })
}

/// Draws the index of dispersion by the width of windows.
pub(super) fn dispersion(report: &TraceStudy) -> Option<ChartFigure> {
    let windows: Vec<&WindowProfile> = report
        .profile
        .arrivals
        .windows
        .iter()
        .filter(|window| window.index_of_dispersion.is_some_and(|index| index > 0.0))
        .collect();
    let points: Vec<(f64, f64)> =
        windows.iter().map(|window| (window.width_ns as f64, window.index_of_dispersion.unwrap_or(0.0))).collect();
    if points.len() < 2 {
        return None;
    }
    let x = widths(&report.profile.arrivals.windows)?;
    let label = |value: f64| significant(value, 1 + usize::from(value >= 10.0));
    let values: Vec<f64> = points.iter().map(|(_, index)| *index).chain([1.0]).collect();
    let y =
        Axis::new(
            Scale::around(values.into_iter()),
            5,
            |value| if value >= 1e3 { short_count(value) } else { label(value) },
        );
    let picture = picture(&format!("Index of dispersion of {}", report.name), &x, &y, |frame, out| {
        frame.axes(out);
        frame.segment(out, "bound", (x.scale.low, 1.0), (x.scale.high, 1.0));
        frame.curve(out, "l s0", &points);
        for point in &points {
            frame.dot(out, "o s0", *point, 3.5, &format!("{}: {}", elapsed(point.0), significant(point.1, 3)));
        }
    });
    let mut table = HtmlTable::new("Index of dispersion", &["window", "variance/mean"], 1);
    table.rows = points.iter().map(|(width, index)| vec![elapsed(*width), significant(*index, 3)]).collect();
    let note = "Variance over mean of the requests per window. Dashed: random arrivals. A rising line shows bursts of \
                that length or longer.";
    Some(ChartFigure { title: "Burstiness", note: note.to_owned(), legend: Vec::new(), picture, table })
}

/// Returns an axis of the widths of windows; `None` for fewer than two.
fn widths(windows: &[WindowProfile]) -> Option<Axis> {
    let [first, .., last] = windows else { return None };
    let ticks = windows.iter().map(|window| (window.width_ns as f64, elapsed(window.width_ns as f64)));
    let scale = Scale::exact(first.width_ns as f64 / 1.2, last.width_ns as f64 * 1.2);
    Some(Axis { scale, ticks: ticks.collect(), name: "width of the window".to_owned() })
}
