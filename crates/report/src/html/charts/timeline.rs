//! Line charts over time, with a table of their values.

use record::SeriesSegment;
use units::Bytes;

use super::super::figure::{ChartFigure, LegendKey, SeriesStyle, picture};
use super::super::part::PageBudget;
use super::super::table::HtmlTable;
use crate::chart::{Axis, Scale, bytes_per_second, short_count, time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimelineQuantity {
    Iops,
    BytesPerSecond,
    Latency,
    /// A fraction.
    Share,
    Bytes,
    Number,
}

impl TimelineQuantity {
    pub(super) fn words(self, value: f64) -> String {
        match self {
            Self::Iops => short_count(value),
            Self::BytesPerSecond => bytes_per_second(value),
            Self::Latency => time(value),
            Self::Share => crate::chart::share(value),
            Self::Bytes => Bytes::new(value as u64).to_string(),
            Self::Number => short_count(value),
        }
    }

    /// Returns an axis: from zero for rates, logarithmic for latencies, whose range is large.
    fn axis(self, values: &[f64]) -> Axis {
        let most = values.iter().copied().fold(0.0, f64::max);
        match self {
            Self::Iops => Axis::from_zero(most, 1.0, short_count),
            Self::BytesPerSecond => Axis::bytes_from_zero(most),
            Self::Latency => Axis::new(Scale::around(values.iter().copied()), 6, time),
            Self::Share => Axis::from_zero(1.0, 1.0, crate::chart::share),
            Self::Bytes => Axis::bytes_from_zero(most).relabelled(|bytes| Bytes::new(bytes as u64).to_string()),
            Self::Number => Axis::from_zero(most, 1.0, short_count),
        }
    }
}

/// A value over an interval, with the least and the greatest value within it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TimelinePiece {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    pub(super) value: f64,
    pub(super) ends: Option<[f64; 2]>,
}

/// A line, at high resolution for the chart and at low resolution for the table.
#[derive(Clone, Debug)]
pub(super) struct TimelineLine {
    pub(super) name: String,
    pub(super) style: SeriesStyle,
    /// Whether the line is drawn pale.
    pub(super) faint: bool,
    pub(super) fine: Vec<TimelinePiece>,
    pub(super) coarse: Vec<TimelinePiece>,
}

impl TimelineLine {
    /// Returns the line of the values that `of` reads from each interval of a course.
    pub(super) fn of(
        course: impl Fn(u64) -> Vec<SeriesSegment>,
        (lasted_ns, budget): (u64, PageBudget),
        of: impl Fn(&SeriesSegment) -> Option<(f64, Option<[f64; 2]>)>,
    ) -> Self {
        let piece = |stretch: &SeriesSegment| {
            let (value, ends) = of(stretch)?;
            Some(TimelinePiece { from_ns: stretch.from_ns, to_ns: stretch.to_ns, value, ends })
        };
        let pieces = |most| course(round_stretch(lasted_ns, most)).iter().filter_map(piece).collect();
        let (fine, coarse) = (pieces(budget.points), pieces(budget.rows));
        Self { name: String::new(), style: SeriesStyle::default(), faint: false, fine, coarse }
    }

    fn class(&self) -> String {
        if self.faint { format!("{} faint", self.style.line()) } else { self.style.line() }
    }
}

/// Round intervals in milliseconds; longer ones are whole hours.
const STRETCHES_MS: [u64; 21] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
    900_000, 1_800_000,
];
const HOUR_NS: u64 = 3_600_000_000_000;

/// Returns the shortest round interval that divides the duration into at most `most` parts.
pub(super) fn round_stretch(lasted_ns: u64, most: u64) -> u64 {
    let least = lasted_ns.div_ceil(most.max(1));
    let known = STRETCHES_MS.map(|ms| ms * 1_000_000).into_iter().find(|stretch| *stretch >= least);
    known.unwrap_or_else(|| least.div_ceil(HOUR_NS) * HOUR_NS)
}

pub(super) struct TimelineLabels {
    pub(super) title: &'static str,
    pub(super) note: String,
    pub(super) quantity: TimelineQuantity,
}

/// Draws lines over the duration of a `subject`; `None` if no line has a point.
pub(super) fn timeline(subject: &str, words: TimelineLabels, lines: &[TimelineLine]) -> Option<ChartFigure> {
    let lines: Vec<&TimelineLine> = lines.iter().filter(|line| !line.fine.is_empty()).collect();
    let end = lines.iter().flat_map(|line| &line.fine).map(|piece| piece.to_ns).max()?;
    let (x, y) = (Axis::time_to(end as f64), words.quantity.axis(&values(&lines)));
    let table = table(&words, &lines);
    let label = format!("{} of {subject}", words.title);
    let picture = picture(&label, &x, &y, |frame, out| {
        frame.axes(out);
        for line in &lines {
            let area = |piece: &TimelinePiece| piece.ends.map(|ends| (piece.from_ns as f64, piece.to_ns as f64, ends));
            frame.band(out, &line.style.area(), &line.fine.iter().filter_map(area).collect::<Vec<_>>());
        }
        for line in &lines {
            let step = |piece: &TimelinePiece| (piece.from_ns as f64, piece.to_ns as f64, piece.value);
            frame.steps(out, &line.class(), line.fine.iter().map(step));
        }
        for row in rows(&lines) {
            frame.column(out, (row.from_ns as f64, row.to_ns as f64), &title(&words, &lines, row));
        }
    });
    let several = lines.len() > 1;
    let keys = lines.iter().map(|line| LegendKey { class: line.class(), name: line.name.clone() });
    let legend = if several { keys.collect() } else { Vec::new() };
    Some(ChartFigure { title: words.title, note: words.note, legend, picture, table })
}

fn values(lines: &[&TimelineLine]) -> Vec<f64> {
    let each = |piece: &TimelinePiece| [piece.value, piece.ends.map_or(piece.value, |ends| ends[1])];
    lines.iter().flat_map(|line| line.fine.iter().flat_map(each)).collect()
}

/// Returns the intervals of the line that has the most.
fn rows<'a>(lines: &[&'a TimelineLine]) -> &'a [TimelinePiece] {
    lines.iter().map(|line| line.coarse.as_slice()).max_by_key(|pieces| pieces.len()).unwrap_or_default()
}

/// Returns the value of a line at the start of an interval.
fn value(line: &TimelineLine, row: &TimelinePiece) -> Option<f64> {
    line.coarse.iter().find(|piece| piece.from_ns <= row.from_ns && row.from_ns < piece.to_ns).map(|piece| piece.value)
}

fn title(words: &TimelineLabels, lines: &[&TimelineLine], row: &TimelinePiece) -> String {
    let mut title = span(row);
    for line in lines {
        if let Some(value) = value(line, row) {
            let name = if lines.len() > 1 { format!("{}: ", line.name) } else { String::new() };
            title.push_str(&format!("\n{name}{}", words.quantity.words(value)));
        }
    }
    title
}

fn table(words: &TimelineLabels, lines: &[&TimelineLine]) -> HtmlTable {
    let names = lines.iter().map(|line| line.name.as_str());
    let head: Vec<&str> = std::iter::once("time").chain(names).collect();
    let mut table = HtmlTable::new(words.title, &head, 1);
    for row in rows(lines) {
        let cell =
            |line: &&TimelineLine| value(line, row).map_or_else(|| "-".to_owned(), |value| words.quantity.words(value));
        table.rows.push(std::iter::once(span(row)).chain(lines.iter().map(cell)).collect());
    }
    table
}

/// Formats an interval: `0:10 to 0:20`, `1:30:00 to 1:40:00`, `0:01.5 to 0:02`.
fn span(piece: &TimelinePiece) -> String {
    format!("{} to {}", clock(piece.from_ns), clock(piece.to_ns))
}

/// Formats an instant as a clock: `1:30`, `1:30:00`.
pub(super) fn clock(ns: u64) -> String {
    let ms = (ns + 500_000) / 1_000_000;
    let seconds = ms / 1_000;
    let fraction = format!(".{:03}", ms % 1_000);
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    match seconds {
        0..3_600 => format!("{}:{:02}{fraction}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}{fraction}", seconds / 3_600, seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_round() {
        let s = 1_000_000_000;
        assert_eq!([3 * s, 300 * s, 36_000 * s].map(|lasted| round_stretch(lasted, 60)), [50_000_000, 5 * s, 600 * s]);
        assert_eq!(round_stretch(u64::MAX / 2, 60) % HOUR_NS, 0);
    }

    #[test]
    fn instants_are_formatted_as_a_clock() {
        assert_eq!(
            [0, 90_000_000_000, 5_400_000_000_000, 1_500_000_000, 31_250_000].map(clock),
            ["0:00", "1:30", "1:30:00", "0:01.5", "0:00.031"]
        );
    }
}
