//! How far the figures of a procedure are from what was published of it.

use record::FigureQuantity;

use super::super::figure::{Figure, Key, Look};
use super::super::table::Table;
use super::rows::{Mark, Row, Shape, picture};
use crate::chart::{Axis, Scale};
use crate::suite::{self, Document, NEAR, Published, figure_name, shown};

const MEASURED: Look = Look { colour: 0, dash: 0 };
const MODELLED: Look = Look { colour: 1, dash: 0 };
/// What is further off is drawn at the edge; its title has the figure.
const EDGE: f64 = 1.0;

/// A published figure of a step, and what was found of it.
struct Entry<'a> {
    step: &'a suite::Step,
    row: &'a suite::Row,
    published: &'a Published,
}

/// Which figures make a chart.
type Group = (&'static str, fn(FigureQuantity) -> bool);

const GROUPS: [Group; 3] = [
    ("IOPS", |quantity| quantity == FigureQuantity::Iops),
    ("Throughput", |quantity| quantity == FigureQuantity::BytesPerSecond),
    ("Latency", FigureQuantity::is_latency),
];

/// A chart for IOPS, for throughput and for latency, as far as anything was published of what was done.
pub(in super::super) fn differences(document: &Document) -> Vec<Figure> {
    GROUPS.iter().filter_map(|group| chart(document, group)).collect()
}

fn entries<'a>(document: &'a Document, of: fn(FigureQuantity) -> bool) -> impl Iterator<Item = Entry<'a>> {
    let rows = document.steps.iter().flat_map(|step| step.rows.iter().map(move |row| (step, row)));
    rows.filter(move |(_, row)| of(row.figure.quantity)).filter_map(|(step, row)| {
        let published = row.published.as_ref()?;
        row.measured.or(row.modelled).map(|_| Entry { step, row, published })
    })
}

fn chart(document: &Document, (title, of): &Group) -> Option<Figure> {
    let entries: Vec<Entry<'_>> = entries(document, *of).collect();
    entries.first()?;
    let rows: Vec<Row> = entries.iter().map(Entry::marks).collect();
    let off = rows.iter().flat_map(|row| &row.marks).map(|mark| match mark.shape {
        Shape::Dot(value) => value.abs(),
        Shape::Bar(_) | Shape::Pair(..) => 0.0,
    });
    let most = off.fold(2.0 * NEAR, f64::max).min(EDGE) * 1.1;
    let label = |share: f64| if share == 0.0 { "0 %".to_owned() } else { format!("{:+.0} %", share * 100.0) };
    let x = Axis::new(Scale::linear(-most, most), 5, label);
    let picture =
        picture(&format!("{title} of {} against what was published", document.suite), &x, &rows, |frame, out| {
            let ((left, top), (right, bottom)) = (frame.at((-NEAR, frame.y.scale.high)), frame.at((NEAR, 0.0)));
            out.rect("a s5", (left, top), (right, bottom), "within 5 % of what was published");
            frame.segment(out, "b", (0.0, 0.0), (0.0, frame.y.scale.high));
        });
    let keys = [(document.target.is_some(), MEASURED, "measured"), (document.on.is_some(), MODELLED, "modelled")];
    let legend = keys.iter().filter(|(there, ..)| *there);
    Some(Figure {
        title,
        note: "How far each figure is from the published one, 0 within a published range. The grey strip is ±5 %."
            .to_owned(),
        legend: legend.map(|(_, look, name)| Key { class: look.dot(), name: (*name).to_owned() }).collect(),
        picture,
        table: table(title, &entries),
        wide: false,
    })
}

impl Entry<'_> {
    /// Both figures, where there are both.
    fn found(&self) -> impl Iterator<Item = (f64, Look, &'static str)> {
        let found = [(self.row.measured, MEASURED, "measured"), (self.row.modelled, MODELLED, "modelled")];
        found.into_iter().filter_map(|(value, look, what)| Some((value?, look, what)))
    }

    fn marks(&self) -> Row {
        let figure = figure_name(self.row.figure);
        let mark = |(value, look, what): (f64, Look, &str)| {
            let off = self.published.difference(value);
            let title = format!("{}, {figure}, {what}: {:+.1} %", self.step.name, off * 100.0);
            Mark { look, shape: Shape::Dot(off.clamp(-EDGE, EDGE)), title }
        };
        Row { label: self.step.name.clone(), marks: self.found().map(mark).collect() }
    }
}

fn table(caption: &str, entries: &[Entry<'_>]) -> Table {
    let mut table = Table::new(caption, &["step", "figure", "measured", "modelled", "published"], 2);
    for Entry { step, row, published } in entries {
        let value = |value: Option<f64>| {
            value.map_or_else(|| "-".to_owned(), |value| shown(row.figure, value, Some(published.unit)))
        };
        let cells = [figure_name(row.figure), value(row.measured), value(row.modelled), published.printed()];
        table.rows.push(std::iter::once(step.name.clone()).chain(cells).collect());
    }
    table
}
