//! Service and response time side by side.

use record::LatencyStats;

use super::super::figure::{ChartFigure, LegendKey, SeriesStyle};
use super::super::part::SectionPart;
use super::super::table::HtmlTable;
use super::rows::{ChartRow, MarkShape, RowMark, picture};
use crate::chart::{Axis, Scale, time};

/// Name of a row and the statistic that it shows.
type Statistic = (&'static str, fn(&LatencyStats) -> Option<f64>);

const ROWS: [Statistic; 6] = [
    ("mean", |latency| Some(latency.mean_ns)),
    ("p50", |latency| percentile(latency, 50.0)),
    ("p90", |latency| percentile(latency, 90.0)),
    ("p99", |latency| percentile(latency, 99.0)),
    ("p99.9", |latency| percentile(latency, 99.9)),
    ("slowest", |latency| Some(latency.max_ns as f64)),
];

fn percentile(latency: &LatencyStats, percent: f64) -> Option<f64> {
    latency.percentile_ns(percent).map(|ns| ns as f64)
}

struct Sides<'a> {
    name: String,
    style: SeriesStyle,
    service: &'a LatencyStats,
    response: &'a LatencyStats,
}

/// Draws service and response times; `None` without a schedule.
pub(in super::super) fn bars(part: &SectionPart<'_>) -> Option<ChartFigure> {
    let sides = part.flows().filter(|(_, _, result)| result.response.count > 0 && result.service.count > 0);
    let sides: Vec<Sides<'_>> = sides
        .map(|(member, kind, result)| Sides {
            name: part.label(member, kind),
            style: SeriesStyle { dash: 0, ..part.style(member, kind) },
            service: &result.service,
            response: &result.response,
        })
        .collect();
    let rows: Vec<ChartRow> = ROWS.iter().map(|statistic| row(statistic, &sides)).collect();
    let rows: Vec<ChartRow> = rows.into_iter().filter(|row| !row.marks.is_empty()).collect();
    rows.first()?;
    let values = sides.iter().flat_map(|side| {
        ROWS.iter().flat_map(|(_, of)| [of(side.service), of(side.response)]).flatten().collect::<Vec<f64>>()
    });
    let x = Axis::new(Scale::around(values.collect::<Vec<_>>().into_iter()), 5, time);
    let picture = picture(&format!("Service and response of {}", part.called()), &x, &rows, |_, _| {});
    let legend = sides.iter().flat_map(|side| {
        let key = |class, what: &str| LegendKey { class, name: format!("{} {what}", side.name) };
        [key(side.style.ring(), "service"), key(side.style.dot(), "response")]
    });
    let note = "Service counts from submission, response from the due time of an operation. The difference is the time \
                it waited for submission.";
    let legend = legend.collect();
    let title = "Service and response";
    Some(ChartFigure { title, note: note.to_owned(), legend, picture, table: table(&sides) })
}

fn row((name, of): &Statistic, sides: &[Sides<'_>]) -> ChartRow {
    let mark = |side: &Sides<'_>| {
        let (service, response) = (of(side.service)?, of(side.response)?);
        let title = format!("{}, {name}: service {}, response {}", side.name, time(service), time(response));
        Some(RowMark { style: side.style, shape: MarkShape::Pair(service, response), title })
    };
    ChartRow { label: (*name).to_owned(), marks: sides.iter().filter_map(mark).collect() }
}

fn table(sides: &[Sides<'_>]) -> HtmlTable {
    let names: Vec<String> =
        sides.iter().flat_map(|side| ["service", "response"].map(|what| format!("{} {what}", side.name))).collect();
    let head: Vec<&str> = std::iter::once("statistic").chain(names.iter().map(String::as_str)).collect();
    let mut table = HtmlTable::new("Service and response", &head, 1);
    for (name, of) in ROWS {
        let cell = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), time);
        let cells = sides.iter().flat_map(|side| [cell(of(side.service)), cell(of(side.response))]);
        table.rows.push(std::iter::once(name.to_owned()).chain(cells).collect());
    }
    table
}
