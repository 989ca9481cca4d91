//! Graphs over time, and the latency distribution.

use meter::{Histogram, value_of};
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use units::{Nanos, count};

use super::canvas::{BOLD, Canvas, DIM, beside, columns, fitting, rows, stacked};
use super::graph::{self, GraphScale, dots, step};
use super::{KINDS, ScreenView, TAILS, latency as latency_text, rate, span, trim_zeros};
use crate::screen::history::{HistoryPoint, Join};

/// Draws bandwidth or IOPS over time: a graph for each kind of operation, one above the other.
pub(super) fn rates(canvas: &mut Canvas<'_>, area: Rect, view: &ScreenView<'_>, bandwidth: bool) {
    let inside = framed(canvas, area, view, if bandwidth { "bandwidth" } else { "IOPS" });
    let text = if bandwidth { rate } else { count };
    let now = if bandwidth { view.now().bytes } else { view.now().iops.map(f64::round) };
    let pick = |point: &HistoryPoint, kind: usize| if bandwidth { point.bytes[kind] } else { point.iops[kind] };
    let kinds = view.kinds();
    for (kind, part) in kinds.iter().copied().zip(stacked(inside, kinds.len() as u16)) {
        let (label, plot) = (rows(part, 0, 1), rows(part, 1, part.height.saturating_sub(1)));
        let history = &view.track().history;
        let values = history.dots(view.window.as_secs_f64(), dots(plot), Join::Mean, |point| pick(point, kind));
        let largest = values.iter().copied().fold(0.0, f32::max);
        let top = scale_top(f64::from(largest), bandwidth);
        let style = canvas.colours.kind(kind);
        let strong = style.patch(BOLD);
        let column =
            canvas.line(label, 0, &[(" ", style), (KINDS[kind], style), (" ", style), (&text(now[kind]), strong)]);
        canvas.right(label, column + 1, 0, &format!("0 to {} ", trim_zeros(&text(top))), DIM);
        graph::filled(canvas, plot, &values, top, style);
    }
}

/// Returns a round value at or above the largest one; bytes are rounded in units of powers of 1024.
fn scale_top(largest: f64, bytes: bool) -> f64 {
    if !bytes {
        return step(largest, true);
    }
    let unit = (0..6).map(|power| 1024_f64.powi(power)).take_while(|unit| *unit <= largest).last().unwrap_or(1.0);
    step(largest / unit, true) * unit
}

fn framed(canvas: &mut Canvas<'_>, area: Rect, view: &ScreenView<'_>, title: &str) -> Rect {
    let inside = canvas.frame(area, title);
    canvas.foot(area, &format!("{} ago", span(view.window)), "now");
    inside
}

/// Width of the values beside a graph.
const AXIS: u16 = 8;

/// Draws latency percentiles over time, on a logarithmic scale.
pub(super) fn latency(canvas: &mut Canvas<'_>, area: Rect, view: &ScreenView<'_>) {
    let inside = framed(canvas, area, view, view.latency_name());
    let kinds = view.kinds();
    for (kind, part) in kinds.iter().copied().zip(stacked(inside, kinds.len() as u16)) {
        percentiles(canvas, rows(part, 0, 1), view, kind);
        lines(canvas, rows(part, 1, part.height.saturating_sub(1)), view, kind);
    }
}

fn percentiles(canvas: &mut Canvas<'_>, label: Rect, view: &ScreenView<'_>, kind: usize) {
    let mut column = canvas.text(label, 0, 0, &format!(" {} ", KINDS[kind]), canvas.colours.kind(kind));
    for (index, (name, value)) in TAILS.iter().zip(view.now().tail(kind)).enumerate() {
        let (style, text) = (canvas.colours.tail(index), latency_text(value));
        if usize::from(label.width.saturating_sub(column)) < name.len() + text.len() + 1 {
            break;
        }
        column = canvas.text(label, column, 0, &format!("{name} "), style);
        column = canvas.text(label, column, 0, &text, style.patch(BOLD)) + 2;
    }
}

fn lines(canvas: &mut Canvas<'_>, area: Rect, view: &ScreenView<'_>, kind: usize) {
    let plot = columns(area, AXIS, area.width.saturating_sub(AXIS));
    let window_s = view.window.as_secs_f64();
    let track = view.track();
    let series: [Vec<f32>; 3] = std::array::from_fn(|index| {
        track.history.dots(window_s, dots(plot), Join::Greatest, |point| point.latency[kind][index])
    });
    let Some(scale) = GraphScale::of(series.iter().flatten()) else {
        canvas.text(area, 1, area.height / 2, "no data", DIM);
        return;
    };
    axis(canvas, area, scale);
    // The median is drawn last, over the others.
    for (index, values) in series.iter().enumerate().rev() {
        graph::line(canvas, plot, values, scale, canvas.colours.tail(index));
    }
}

fn axis(canvas: &mut Canvas<'_>, area: Rect, scale: GraphScale) {
    let mut tick = |row: u16, value: f64| {
        let text = trim_zeros(&Nanos::new(value as u64).to_string());
        canvas.text(area, 0, row, &format!("{text:>7}"), DIM);
    };
    tick(0, scale.high);
    if area.height >= 2 {
        tick(area.height - 1, scale.low);
    }
    if area.height >= 5 {
        // The middle of a logarithmic scale is the geometric mean, shown with two digits.
        let middle = (scale.low * scale.high).sqrt();
        let digit = 10_f64.powf(middle.log10().floor() - 1.0);
        tick((area.height - 1) / 2, (middle / digit).round() * digit);
    }
}

/// Draws the latency histogram of the last seconds.
pub(super) fn histogram(canvas: &mut Canvas<'_>, area: Rect, view: &ScreenView<'_>) {
    let inside = canvas.frame(area, &format!("{}, last 2 s", view.latency_name()));
    let kinds = view.kinds();
    for (kind, part) in kinds.iter().copied().zip(beside(inside, kinds.len() as u16)) {
        let style = canvas.colours.kind(kind);
        bars(canvas, part, KINDS[kind], &view.now().latency[kind], style);
    }
}

fn bars(canvas: &mut Canvas<'_>, area: Rect, name: &str, histogram: &Histogram, style: Style) {
    let column = canvas.text(area, 0, 0, &format!(" {name} "), style);
    let total = histogram.total();
    if total == 0 {
        canvas.text(area, 1, 1, "no data", DIM);
        return;
    }
    let total_text = count(total as f64);
    let forms = [format!("{total_text} operations"), format!("{total_text} ops"), total_text];
    let width = usize::from(area.width.saturating_sub(column + 1));
    canvas.text(area, column, 0, &fitting(width, &forms), DIM);
    let classes = classes(histogram, usize::from(area.height.saturating_sub(1)));
    let largest = classes.iter().map(|(_, n)| *n).max().unwrap_or(1).max(1);
    for (row, (bound, n)) in (1..).zip(&classes) {
        let text = format!(" ≤{:>7} ", trim_zeros(&Nanos::new(*bound).to_string()));
        let column = canvas.text(area, 0, row, &text, DIM);
        let percent = match 100.0 * *n as f64 / total as f64 {
            0.0 => String::new(),
            percent if percent < 0.1 => "<0.1%".to_owned(),
            percent => format!("{percent:.1}%"),
        };
        let width = area.width.saturating_sub(column + 9);
        canvas.bar(area, column, row, width, *n as f64 / largest as f64, style);
        canvas.right(columns(area, 0, area.width.saturating_sub(1)), column, row, &percent, Style::new());
    }
}

/// Returns at most `rows` classes with round bounds on a logarithmic scale: the upper bound of each, and the number of
/// values in it. Together they hold all values.
fn classes(histogram: &Histogram, rows: usize) -> Vec<(u64, u64)> {
    let values: Vec<(u64, u64)> = histogram.buckets().map(|(bucket, n)| (value_of(bucket), n)).collect();
    let (Some((min, _)), Some((max, _))) = (values.first(), values.last()) else { return Vec::new() };
    let forms = STEPS.map(|steps| bounds(*min, *max, steps));
    let [.., coarsest] = &forms;
    let all = forms.iter().find(|bounds| bounds.len() <= rows).unwrap_or(coarsest);
    // If there are too many classes, the fastest are merged: the slowest matter most.
    let shown = &all[all.len().saturating_sub(rows)..];
    let mut classes: Vec<(u64, u64)> = shown.iter().map(|bound| (*bound, 0)).collect();
    for (value, n) in values {
        if let Some(class) = classes.iter_mut().find(|(bound, _)| value <= *bound) {
            class.1 += n;
        }
    }
    classes
}

/// Divisions of a decade, the finest first.
const STEPS: [&[f64]; 4] = [&[1.0, 1.5, 2.0, 3.0, 5.0, 7.0], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];

/// Returns the powers of ten times `steps` that cover a range.
fn bounds(min: u64, max: u64, steps: &[f64]) -> Vec<u64> {
    let powers = (0..11).map(|power| 10_f64.powi(power));
    let all: Vec<u64> = powers.flat_map(|power| steps.iter().map(move |step| (step * power).ceil() as u64)).collect();
    let first = all.iter().position(|bound| *bound >= min).unwrap_or(all.len() - 1);
    let last = all.iter().position(|bound| *bound >= max).unwrap_or(all.len() - 1);
    let mut bounds = all[first..=last.max(first)].to_vec();
    bounds.dedup();
    if let Some(last) = bounds.last_mut() {
        *last = (*last).max(max);
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_all_values_and_keep_the_slowest_apart() {
        let mut histogram = Histogram::default();
        for (value, n) in [(200_000, 90), (260_000, 9), (9_000_000, 1)] {
            histogram.add(value, n);
        }
        for rows in [1, 2, 5, 40] {
            let classes = classes(&histogram, rows);
            assert!(classes.len() <= rows);
            assert_eq!(classes.iter().map(|(_, n)| n).sum::<u64>(), 100, "{rows} rows: {classes:?}");
        }
        assert_eq!(classes(&histogram, 40).last(), Some(&(10_000_000, 1)));
        assert_eq!(classes(&histogram, 4), [(300_000, 99), (1_000_000, 0), (3_000_000, 0), (10_000_000, 1)]);
        assert_eq!(classes(&Histogram::default(), 9), []);
        let mut slow = Histogram::default();
        slow.add(u64::MAX, 3);
        assert_eq!(classes(&slow, 3).iter().map(|(_, n)| n).sum::<u64>(), 3);
    }

    #[test]
    fn byte_scales_are_round_in_their_unit() {
        assert_eq!(rate(scale_top(486.0 * 1024.0 * 1024.0, true)), "500 MiB/s");
        assert_eq!(rate(scale_top(1000.0 * 1024.0, true)), "1000 KiB/s");
        assert_eq!((scale_top(0.0, true), scale_top(124_000.0, false)), (1.0, 200_000.0));
    }
}
