//! Rate and latency of a grid against the varied setting, or beside each other where it has no numbers.

use results::grid::GridPoint;

use super::super::figure::{ChartFigure, LegendKey, SeriesStyle, picture};
use super::super::table::HtmlTable;
use super::rows::{ChartRow, MarkShape, RowMark, picture as row_picture};
use crate::chart::{Axis, Frame, Scale, Svg, bytes_per_second, isolated, short_count, time};
use crate::grid::GridShape;
use crate::words::{LARGE_BYTES, TotalFigures};

/// A quantity of all operations of a point.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GridQuantity {
    Iops,
    Throughput,
    Mean,
    P99,
}

impl GridQuantity {
    fn of(self, figures: &TotalFigures) -> Option<f64> {
        match self {
            Self::Iops => Some(figures.iops),
            Self::Throughput => Some(figures.bytes_per_second),
            Self::Mean => figures.mean_ns,
            Self::P99 => figures.percentile_ns(99.0),
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::Throughput => "Throughput",
            Self::Mean => "Mean latency",
            Self::P99 => "p99 latency",
        }
    }

    const fn note(self) -> &'static str {
        match self {
            Self::Iops => "All operations of all jobs together.",
            Self::Throughput => "Bytes of all jobs together.",
            Self::Mean => "From submission to completion, on a logarithmic scale that it shares with p99.",
            Self::P99 => "One operation in a hundred takes longer.",
        }
    }

    fn words(self, value: f64) -> String {
        match self {
            Self::Iops => short_count(value),
            Self::Throughput => bytes_per_second(value),
            Self::Mean | Self::P99 => time(value),
        }
    }

    const fn is_latency(self) -> bool {
        matches!(self, Self::Mean | Self::P99)
    }
}

/// A curve with the figures of its points.
struct GridCurve<'a> {
    label: &'a str,
    points: Vec<(f64, &'a GridPoint, TotalFigures)>,
}

/// Returns a chart for each quantity, all with the same horizontal axis.
pub(in super::super) fn views(shape: &GridShape<'_>) -> Vec<ChartFigure> {
    let curves: Vec<GridCurve<'_>> = shape
        .curves
        .iter()
        .map(|(label, points)| GridCurve {
            label,
            points: points.iter().map(|(value, point)| (*value, *point, TotalFigures::of(&point.run))).collect(),
        })
        .collect();
    let all = || curves.iter().flat_map(|curve| &curve.points).map(|(_, _, figures)| figures);
    // With one size of operations, throughput is IOPS in another unit.
    let sizes: Vec<f64> = all().filter(|one| one.iops > 0.0).map(|one| one.bytes_per_second / one.iops).collect();
    let (least, most) = sizes.iter().fold((f64::MAX, 0.0_f64), |(low, high), size| (low.min(*size), high.max(*size)));
    let rates: &[GridQuantity] = match () {
        () if most > 1.01 * least => &[GridQuantity::Iops, GridQuantity::Throughput],
        () if least >= LARGE_BYTES => &[GridQuantity::Throughput],
        () => &[GridQuantity::Iops],
    };
    let quantities = rates.iter().copied().chain([GridQuantity::Mean, GridQuantity::P99]);
    let latencies: Vec<f64> = all().flat_map(|one| [one.mean_ns, one.percentile_ns(99.0)]).flatten().collect();
    let is_known = |quantity: &GridQuantity| all().any(|one| quantity.of(one).is_some_and(|value| value > 0.0));
    let view = |quantity: GridQuantity| match shape.is_curve() {
        true => curve_view(quantity, shape, &curves, &latencies),
        false => bar_view(quantity, &curves),
    };
    quantities.filter(is_known).map(view).collect()
}

fn axis_of(quantity: GridQuantity, curves: &[GridCurve<'_>], latencies: &[f64]) -> Axis {
    let values = curves.iter().flat_map(|curve| &curve.points).filter_map(|(_, _, figures)| quantity.of(figures));
    let most = values.fold(0.0, f64::max);
    match quantity {
        GridQuantity::Iops => Axis::from_zero(most, 1.0, short_count),
        GridQuantity::Throughput => Axis::bytes_from_zero(most),
        GridQuantity::Mean | GridQuantity::P99 => Axis::new(Scale::around(latencies.iter().copied()), 6, time),
    }
}

/// Ratio of the highest to the lowest value from which the horizontal axis is logarithmic.
const LOGARITHMIC: f64 = 6.0;
/// Room beside the first and the last point.
const MARGIN: f64 = 1.06;
/// Number of values up to which each has a label.
const LABELLED: usize = 8;

/// Returns the horizontal axis, labelled with the values as written.
fn setting_axis(shape: &GridShape<'_>) -> Axis {
    let mut values: Vec<(f64, String)> = Vec::new();
    for (value, point) in shape.curves.iter().flat_map(|(_, points)| points) {
        let text = point.settings.iter().find(|(name, _)| name == shape.name).map_or("", |(_, text)| text.as_str());
        if values.iter().all(|(known, _)| known != value) {
            values.push((*value, text.to_owned()));
        }
    }
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (low, high) = (values.first().map_or(0.0, |first| first.0), values.last().map_or(1.0, |last| last.0));
    let scale = match low > 0.0 && high / low >= LOGARITHMIC {
        true => Scale::exact(low / MARGIN, high * MARGIN),
        false => Scale::linear(low - (MARGIN - 1.0) * (high - low), high + (MARGIN - 1.0) * (high - low)),
    };
    let axis = match values.len() <= LABELLED {
        true => Axis { scale, ticks: values, name: String::new() },
        false => Axis::new(scale, 6, short_count),
    };
    axis.named(shape.name)
}

fn curve_view(
    quantity: GridQuantity,
    shape: &GridShape<'_>,
    curves: &[GridCurve<'_>],
    latencies: &[f64],
) -> ChartFigure {
    let (x, y) = (setting_axis(shape), axis_of(quantity, curves, latencies));
    let style = |number: usize| SeriesStyle { colour: number, dash: number };
    let draw = |frame: &Frame<'_>, out: &mut Svg| {
        frame.axes(out);
        for (number, curve) in curves.iter().enumerate() {
            let line = curve.points.iter().filter_map(|(value, _, figures)| Some((*value, quantity.of(figures)?)));
            frame.curve(out, &style(number).line(), &line.collect::<Vec<_>>());
        }
        for (number, curve) in curves.iter().enumerate() {
            for (value, point, figures) in &curve.points {
                if let Some(height) = quantity.of(figures) {
                    let title = format!("{}: {}", point.label(), quantity.words(height));
                    frame.dot(out, &style(number).ring(), (*value, height), 3.5, &title);
                }
            }
        }
    };
    let picture = picture(&format!("{} against {}", quantity.title(), isolated(shape.name)), &x, &y, draw);
    let key = |(number, curve): (usize, &GridCurve<'_>)| LegendKey {
        class: style(number).line(),
        name: curve.label.to_owned(),
    };
    let legend = if curves.len() > 1 { curves.iter().enumerate().map(key).collect() } else { Vec::new() };
    ChartFigure {
        title: quantity.title(),
        note: quantity.note().to_owned(),
        legend,
        picture,
        table: table(quantity, curves),
    }
}

fn bar_view(quantity: GridQuantity, curves: &[GridCurve<'_>]) -> ChartFigure {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let most = points().filter_map(|(_, _, figures)| quantity.of(figures)).fold(0.0, f64::max);
    let x = match quantity {
        GridQuantity::Iops => Axis::from_zero(most, 1.0, short_count),
        GridQuantity::Throughput => Axis::bytes_from_zero(most),
        GridQuantity::Mean | GridQuantity::P99 => Axis::from_zero(most, 1.0, time),
    };
    let row = |(number, (_, point, figures)): (usize, &(f64, &GridPoint, TotalFigures))| {
        // The name of the only setting is in the table.
        let label = match point.settings.as_slice() {
            [(_, value)] => value.clone(),
            _ => point.label(),
        };
        let mark = |value| RowMark {
            style: SeriesStyle { colour: number, dash: 0 },
            shape: MarkShape::Bar(value),
            title: format!("{label}: {}", quantity.words(value)),
        };
        ChartRow { marks: quantity.of(figures).map(mark).into_iter().collect(), label }
    };
    let rows: Vec<ChartRow> = points().enumerate().map(row).collect();
    let picture = row_picture(quantity.title(), &x, &rows, |_, _| {});
    let note = if quantity.is_latency() { "From submission to completion." } else { quantity.note() };
    ChartFigure {
        title: quantity.title(),
        note: note.to_owned(),
        legend: Vec::new(),
        picture,
        table: table(quantity, curves),
    }
}

fn table(quantity: GridQuantity, curves: &[GridCurve<'_>]) -> HtmlTable {
    let mut table = HtmlTable::new(quantity.title(), &["point", quantity.title()], 1);
    let cell = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| quantity.words(value));
    let points = curves.iter().flat_map(|curve| &curve.points);
    table.rows = points.map(|(_, point, figures)| vec![point.label(), cell(quantity.of(figures))]).collect();
    table
}
