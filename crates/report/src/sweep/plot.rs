//! Plots of curves for terminals, drawn with braille characters.

use results::sweep::Sweep;

use crate::chart::{Scale, short_count, short_time};
use crate::sheet::{Paint, Tone};

/// Rows of a plot.
const ROWS: usize = 8;
/// Columns for the labels of the y axis.
const LABELS: usize = 6;
/// Columns between two plots.
const GAP: usize = 2;

/// A plot for a terminal.
struct Plot {
    title: &'static str,
    x: Scale,
    y: Scale,
    curve: Vec<(f64, f64)>,
    points: Vec<(f64, f64)>,
    x_label: fn(f64) -> String,
    y_label: fn(f64) -> String,
    mark: Option<f64>,
}

/// Draws IOPS against depth, latency against depth and latency against IOPS side by side.
pub(super) fn plots(sweep: &Sweep, width: usize, paint: Paint) -> Vec<String> {
    let Some(plots) = of(sweep) else { return Vec::new() };
    let cells = (width.saturating_sub(2 * GAP) / 3).saturating_sub(LABELS + 1).clamp(8, 34);
    let drawn: Vec<Vec<String>> = plots.iter().map(|plot| plot.draw(cells, paint)).collect();
    (0..ROWS + 3)
        .map(|row| drawn.iter().map(|lines| lines[row].as_str()).collect::<Vec<_>>().join(&" ".repeat(GAP)))
        .collect()
}

fn of(sweep: &Sweep) -> Option<[Plot; 3]> {
    let (first, last) = (sweep.points.first()?, sweep.points.last()?);
    let depths = Scale::exact(f64::from(first.depth), f64::from(last.depth));
    let curve: Vec<(f64, f64)> = (0..=200)
        .filter_map(|step| {
            let depth = depths.at(f64::from(step) / 200.0);
            Some((depth, sweep.fit.iops_at(depth)?))
        })
        .filter(|_| super::fits(sweep))
        .collect();
    let all = |of: fn(&analyse::knee::Point) -> f64| sweep.points.iter().map(of);
    let (iops, latencies) = (Scale::over(all(|point| point.iops)), Scale::over(all(|point| point.latency_ns)));
    let points = |x: fn(&analyse::knee::Point) -> f64, y: fn(&analyse::knee::Point) -> f64| {
        sweep.points.iter().map(|point| (x(point), y(point))).collect()
    };
    let latency = |(depth, iops): &(f64, f64)| depth / iops * 1e9;
    let depth = |point: &analyse::knee::Point| f64::from(point.depth);
    Some([
        Plot {
            title: "IOPS / depth",
            x: depths,
            y: iops,
            points: points(depth, |point| point.iops),
            x_label: short_count,
            y_label: short_count,
            mark: sweep.knee(),
            curve: curve.clone(),
        },
        Plot {
            title: "latency / depth",
            x: depths,
            y: latencies,
            points: points(depth, |point| point.latency_ns),
            x_label: short_count,
            y_label: short_time,
            mark: sweep.knee(),
            curve: curve.iter().map(|at| (at.0, latency(at))).collect(),
        },
        Plot {
            title: "latency / IOPS",
            x: iops,
            y: latencies,
            points: points(|point| point.iops, |point| point.latency_ns),
            x_label: short_count,
            y_label: short_time,
            mark: None,
            curve: curve.iter().map(|at| (at.1, latency(at))).collect(),
        },
    ])
}

impl Plot {
    /// Draws the title, the rows, the axis and its labels, as lines of equal width.
    fn draw(&self, cells: usize, paint: Paint) -> Vec<String> {
        let width = LABELS + 1 + cells;
        // On a narrow terminal the title names only the y axis.
        let title = if self.title.len() <= cells { self.title } else { self.title.split(' ').next().unwrap_or("") };
        let title = format!("{:>LABELS$} {title:<cells$}", "");
        let mut lines = vec![paint.tone(Tone::Strong, &title)];
        let dots = self.dots(cells);
        let labels = self.y_labels();
        for (row, dots) in dots.iter().enumerate() {
            let label = labels.iter().find(|(at, _)| *at == row).map_or("", |(_, label)| label);
            let mark = if label.is_empty() { '│' } else { '┤' };
            let axis = paint.tone(Tone::Faint, &format!("{label:>LABELS$}{mark}"));
            let cells: String = (0..cells).map(|column| self.cell(dots[column], row, column, cells, paint)).collect();
            lines.push(format!("{axis}{cells}"));
        }
        let mark = self.mark.map(|mark| self.x.share(mark)).filter(|share| (0.0..=1.0).contains(share));
        let marked = mark.map(|share| (share * (cells - 1) as f64).round() as usize);
        let rule: String = (0..cells).map(|column| if Some(column) == marked { '┴' } else { '─' }).collect();
        lines.push(paint.tone(Tone::Faint, &format!("{:LABELS$}└{rule}", "")));
        lines.push(paint.tone(Tone::Faint, &format!("{:<width$}", self.x_labels(cells, marked))));
        lines
    }

    fn cell(&self, dots: u8, row: usize, column: usize, cells: usize, paint: Paint) -> String {
        let here = |(x, y): &(f64, f64)| {
            let column_of = (self.x.share(*x) * (cells - 1) as f64).round();
            let row_of = ((1.0 - self.y.share(*y)) * (ROWS - 1) as f64).round();
            column_of == column as f64 && row_of == row as f64
        };
        if self.points.iter().any(here) {
            return paint.tone(Tone::Good, "●");
        }
        match dots {
            0 => " ".to_owned(),
            dots => paint.tone(Tone::Faint, &char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' ').to_string()),
        }
    }

    /// Returns, for each cell, the braille dots that the curve passes through.
    fn dots(&self, cells: usize) -> Vec<Vec<u8>> {
        // Unicode numbers the dots of the left column, then of the right one; the fourth row was added later.
        const DOT: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let mut dots = vec![vec![0_u8; cells]; ROWS];
        for (x, y) in &self.curve {
            // Centred like the points, so that the curve runs through them.
            let across = (self.x.share(*x) * (cells - 1) as f64 + 0.5) * 2.0;
            let down = ((1.0 - self.y.share(*y)) * (ROWS - 1) as f64 + 0.5) * 4.0;
            if across >= 0.0 && down >= 0.0 && across < (cells * 2) as f64 && down < (ROWS * 4) as f64 {
                let (across, down) = (across as usize, down as usize);
                dots[down / 4][across / 2] |= DOT[down % 4][across % 2];
            }
        }
        dots
    }

    fn y_labels(&self) -> Vec<(usize, String)> {
        let mut labels: Vec<(usize, String)> = Vec::new();
        let mut ticks = self.y.ticks(4);
        ticks.extend([self.y.low, self.y.high]);
        for tick in ticks {
            let row = ((1.0 - self.y.share(tick)) * (ROWS - 1) as f64).round() as usize;
            if row < ROWS && labels.iter().all(|(known, _)| known.abs_diff(row) > 1) {
                labels.push((row, (self.y_label)(tick)));
            }
        }
        labels
    }

    /// Returns the labels of the x axis: its ends, and its mark if there is space.
    fn x_labels(&self, cells: usize, marked: Option<usize>) -> String {
        let (low, high) = ((self.x_label)(self.x.low), (self.x_label)(self.x.high));
        let mut line: Vec<char> = " ".repeat(LABELS + 1 + cells).chars().collect();
        let mut put = |at: usize, text: &str| {
            let fits = at + text.chars().count() <= line.len();
            let free =
                fits && line[at.saturating_sub(1)..(at + text.len() + 1).min(line.len())].iter().all(|c| *c == ' ');
            if free {
                line.splice(at..at + text.chars().count(), text.chars());
            }
        };
        if let (Some(marked), Some(mark)) = (marked, self.mark) {
            let text = short_count(mark);
            put((LABELS + 1 + marked).saturating_sub(text.len() / 2).min(LABELS + 1 + cells - text.len()), &text);
        }
        put(LABELS + 1, &low);
        put(LABELS + 1 + cells - high.len(), &high);
        line.into_iter().collect()
    }
}
