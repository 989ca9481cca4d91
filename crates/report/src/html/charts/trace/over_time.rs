//! Rates, queue depth and blocks in use over time.

use trace::TraceInterval;

use super::super::super::figure::{ChartFigure, SeriesStyle};
use super::super::timeline::{TimelineLabels, TimelineLine, TimelinePiece, TimelineQuantity, timeline};
use super::style;
use crate::chart::elapsed;
use trace::TraceStudy;

/// Most points of a line, and rows of a table.
const POINTS: usize = 240;
const ROWS: usize = 40;

/// Draws requests per second, by operation.
pub(super) fn iops(report: &TraceStudy) -> Option<ChartFigure> {
    let note = note(report, "Requests issued per second.");
    let words = TimelineLabels { title: "IOPS", note, quantity: TimelineQuantity::Iops };
    let lines: Vec<TimelineLine> = report
        .operations()
        .map(|(operation, name)| {
            let line = rate(report, |interval| *interval.requests.get(operation) as f64);
            TimelineLine { name: name.to_owned(), style: style(operation), ..line }
        })
        .collect();
    timeline(&report.name, words, &lines)
}

/// Draws bytes per second, by operation.
pub(super) fn bytes(report: &TraceStudy) -> Option<ChartFigure> {
    let note = note(report, "Bytes of the requests issued per second.");
    let words = TimelineLabels { title: "Throughput", note, quantity: TimelineQuantity::BytesPerSecond };
    let with_data = report.operations().filter(|(operation, _)| *report.profile.totals.bytes.get(*operation) > 0);
    let lines: Vec<TimelineLine> = with_data
        .map(|(operation, name)| {
            let line = rate(report, |interval| *interval.bytes.get(operation) as f64);
            TimelineLine { name: name.to_owned(), style: style(operation), ..line }
        })
        .collect();
    timeline(&report.name, words, &lines)
}

/// Draws the number of requests in flight.
pub(super) fn depth(report: &TraceStudy) -> Option<ChartFigure> {
    report.profile.depth?;
    let line = |most| {
        pieces(report, most, |intervals, ns| {
            let sum: f64 = intervals.iter().map(|interval| interval.in_flight_ns as f64).sum();
            let max = intervals.iter().map(|interval| interval.in_flight_max).max().unwrap_or(0) as f64;
            let mean = (sum / ns).min(max);
            (mean, Some([mean, max]))
        })
    };
    let note = "Mean number of requests in flight; the pale band extends to the maximum.".to_owned();
    let words = TimelineLabels { title: "Queue depth", note, quantity: TimelineQuantity::Number };
    let line = TimelineLine { fine: line(POINTS), coarse: line(ROWS), ..named("in flight", 0) };
    timeline(&report.name, words, &[line])
}

/// Draws the size of all blocks that were used until an instant.
pub(super) fn footprint(report: &TraceStudy) -> Option<ChartFigure> {
    let block_bytes = report.profile.reuse.as_ref()?.block_bytes as f64;
    let line = |most| {
        let mut blocks = 0.0;
        pieces(report, most, |intervals, _| {
            blocks += intervals.iter().map(|interval| interval.new_blocks).sum::<f64>();
            (blocks * block_bytes, None)
        })
    };
    let note = "Blocks of 4 KiB read or written at least once so far. A line that levels off shows a working set; a \
                rising line shows new data.";
    let words = TimelineLabels { title: "Blocks in use", note: note.to_owned(), quantity: TimelineQuantity::Bytes };
    let line = TimelineLine { fine: line(POINTS), coarse: line(ROWS), ..named("blocks in use", 0) };
    timeline(&report.name, words, &[line])
}

fn named(name: &str, colour: usize) -> TimelineLine {
    let style = SeriesStyle { colour, dash: 0 };
    TimelineLine { name: name.to_owned(), style, faint: false, fine: Vec::new(), coarse: Vec::new() }
}

fn note(report: &TraceStudy, what: &str) -> String {
    let series = &report.profile.series;
    if series.intervals.len() <= POINTS {
        return what.to_owned();
    }
    let width = elapsed(series.width_ns as f64);
    format!("{what} The pale band spans the minimum and maximum of intervals of {width}.")
}

/// Returns the line of a quantity per second.
fn rate(report: &TraceStudy, of: impl Fn(&TraceInterval) -> f64) -> TimelineLine {
    let width_s = report.profile.series.width_ns.max(1) as f64 / 1e9;
    let line = |most| {
        pieces(report, most, |intervals, ns| {
            let sum: f64 = intervals.iter().map(&of).sum();
            let each = intervals.iter().map(|interval| of(interval) / width_s);
            let ends = [each.clone().fold(f64::INFINITY, f64::min), each.fold(0.0, f64::max)];
            (sum / (ns / 1e9), Some(ends).filter(|_| intervals.len() > 1))
        })
    };
    TimelineLine { fine: line(POINTS), coarse: line(ROWS), ..named("", 0) }
}

/// Divides the trace into at most `most` pieces of whole intervals. `of` gets the intervals of each and its duration in
/// nanoseconds.
fn pieces(
    report: &TraceStudy,
    most: usize,
    mut of: impl FnMut(&[TraceInterval], f64) -> (f64, Option<[f64; 2]>),
) -> Vec<TimelinePiece> {
    let series = &report.profile.series;
    let (width, end) = (series.width_ns.max(1), report.profile.totals.duration_ns);
    let each = series.intervals.len().div_ceil(most).max(1);
    let groups = series.intervals.chunks(each).enumerate().map(|(number, intervals)| {
        let from_ns = (number * each) as u64 * width;
        let to_ns = (from_ns + intervals.len() as u64 * width).min(end.max(from_ns + 1));
        // A rest that is shorter than an interval would have any rate.
        let (value, ends) = of(intervals, (to_ns - from_ns).max(width) as f64);
        TimelinePiece { from_ns, to_ns, value, ends }
    });
    groups.collect()
}
