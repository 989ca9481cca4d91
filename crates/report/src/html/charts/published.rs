//! Deviations of figures from published ones.

use record::FigureQuantity;
use results::suite::{Published, SuiteResult, SuiteRow, SuiteStep};

use super::super::figure::{ChartFigure, LegendKey, SeriesStyle};
use super::super::table::HtmlTable;
use super::rows::{ChartRow, MarkShape, RowMark, picture};
use crate::chart::{Axis, Scale};
use crate::suite::{NEAR, figure_name, printed, shown};

const MEASURED: SeriesStyle = SeriesStyle { colour: 0, dash: 0 };
const MODELLED: SeriesStyle = SeriesStyle { colour: 1, dash: 0 };
/// Deviation from which a mark is drawn at the edge of the chart; its tooltip has the exact figure.
const EDGE: f64 = 1.0;

/// A published figure of a step, with its measured and modelled values.
struct PublishedEntry<'a> {
    step: &'a SuiteStep,
    row: &'a SuiteRow,
    published: &'a Published,
}

/// Title and figures of a chart.
type Group = (&'static str, fn(FigureQuantity) -> bool);

const GROUPS: [Group; 3] = [
    ("IOPS", |quantity| quantity == FigureQuantity::Iops),
    ("Throughput", |quantity| quantity == FigureQuantity::BytesPerSecond),
    ("Latency", FigureQuantity::is_latency),
];

/// Draws a chart each for IOPS, throughput and latency, if such figures were published for completed steps.
pub(in super::super) fn differences(document: &SuiteResult) -> Vec<ChartFigure> {
    GROUPS.iter().filter_map(|group| chart(document, group)).collect()
}

fn entries<'a>(document: &'a SuiteResult, of: fn(FigureQuantity) -> bool) -> impl Iterator<Item = PublishedEntry<'a>> {
    let rows = document.steps.iter().flat_map(|step| step.rows.iter().map(move |row| (step, row)));
    rows.filter(move |(_, row)| of(row.figure.quantity)).filter_map(|(step, row)| {
        let published = row.published.as_ref()?;
        row.measured.or(row.modelled).map(|_| PublishedEntry { step, row, published })
    })
}

fn chart(document: &SuiteResult, (title, of): &Group) -> Option<ChartFigure> {
    let entries: Vec<PublishedEntry<'_>> = entries(document, *of).collect();
    entries.first()?;
    let rows: Vec<ChartRow> = entries.iter().map(PublishedEntry::marks).collect();
    let off = rows.iter().flat_map(|row| &row.marks).map(|mark| match mark.shape {
        MarkShape::Dot(value) => value.abs(),
        MarkShape::Bar(_) | MarkShape::Pair(..) => 0.0,
    });
    let most = off.fold(2.0 * NEAR, f64::max).min(EDGE) * 1.1;
    let label = |share: f64| if share == 0.0 { "0%".to_owned() } else { format!("{:+.0}%", share * 100.0) };
    let x = Axis::new(Scale::linear(-most, most), 5, label);
    let picture =
        picture(&format!("{title} of {} against what was published", document.suite), &x, &rows, |frame, out| {
            let ((left, top), (right, bottom)) = (frame.at((-NEAR, frame.y.scale.high)), frame.at((NEAR, 0.0)));
            out.rect("a s5", (left, top), (right, bottom), "within 5% of what was published");
            frame.segment(out, "b", (0.0, 0.0), (0.0, frame.y.scale.high));
        });
    let keys = [(document.target.is_some(), MEASURED, "measured"), (document.on.is_some(), MODELLED, "modelled")];
    let legend = keys.iter().filter(|(there, ..)| *there);
    Some(ChartFigure {
        title,
        note: "How far each figure is from the published one, 0 within a published range. The grey strip is ±5%."
            .to_owned(),
        legend: legend.map(|(_, style, name)| LegendKey { class: style.dot(), name: (*name).to_owned() }).collect(),
        picture,
        table: table(title, &entries),
    })
}

impl PublishedEntry<'_> {
    /// Returns the measured and the modelled value, as far as they exist.
    fn found(&self) -> impl Iterator<Item = (f64, SeriesStyle, &'static str)> {
        let found = [(self.row.measured, MEASURED, "measured"), (self.row.modelled, MODELLED, "modelled")];
        found.into_iter().filter_map(|(value, style, what)| Some((value?, style, what)))
    }

    fn marks(&self) -> ChartRow {
        let figure = figure_name(self.row.figure);
        let mark = |(value, style, what): (f64, SeriesStyle, &str)| {
            let off = self.published.difference(value);
            let title = format!("{}, {figure}, {what}: {:+.1}%", self.step.name, off * 100.0);
            RowMark { style, shape: MarkShape::Dot(off.clamp(-EDGE, EDGE)), title }
        };
        ChartRow { label: self.step.name.clone(), marks: self.found().map(mark).collect() }
    }
}

fn table(caption: &str, entries: &[PublishedEntry<'_>]) -> HtmlTable {
    let mut table = HtmlTable::new(caption, &["step", "figure", "measured", "modelled", "published"], 2);
    for PublishedEntry { step, row, published } in entries {
        let value = |value: Option<f64>| {
            value.map_or_else(|| "-".to_owned(), |value| shown(row.figure, value, Some(published.unit)))
        };
        let cells = [figure_name(row.figure), value(row.measured), value(row.modelled), printed(published)];
        table.rows.push(std::iter::once(step.name.clone()).chain(cells).collect());
    }
    table
}
