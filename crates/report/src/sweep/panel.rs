//! A chart of curves: IOPS or latency against depth, or latency against IOPS.

use analyse::knee::{Curve, Point};
use results::sweep::{Sweep, SweepResult};

use super::text::headline;
use crate::chart::{Axis, Frame, STYLE, Scale, Svg, line, series, short_count, time};
use crate::sheet::wrap;

/// Figure on an axis of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PanelFigure {
    Depth,
    Iops,
    Latency,
}

/// A point of a curve: operations in flight, operations per second.
type Place = (f64, f64);

impl PanelFigure {
    fn of(self, (depth, iops): Place) -> f64 {
        match self {
            Self::Depth => depth,
            Self::Iops => iops,
            Self::Latency => depth / iops * 1e9,
        }
    }

    fn of_point(self, point: &Point) -> f64 {
        match self {
            Self::Latency => point.latency_ns,
            _ => self.of((f64::from(point.depth), point.iops)),
        }
    }

    fn label(self, value: f64) -> String {
        match self {
            Self::Depth | Self::Iops => short_count(value),
            Self::Latency => time(value),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Depth => "operations in flight",
            Self::Iops => "IOPS",
            Self::Latency => "mean latency",
        }
    }
}

/// A chart of curves.
pub(crate) struct Panel {
    pub(crate) title: &'static str,
    x: PanelFigure,
    y: PanelFigure,
    pub(crate) across: Axis,
    pub(crate) up: Axis,
}

/// Returns the charts of IOPS against depth, latency against depth and latency against IOPS.
pub(crate) fn panels(sweeps: &[&Sweep]) -> [Panel; 3] {
    let axis = |figure: PanelFigure| {
        let values = sweeps.iter().flat_map(|sweep| &sweep.points).map(move |point| figure.of_point(point));
        Axis::new(Scale::around(values), 6, |value| figure.label(value))
    };
    let panel = |title, x: PanelFigure, y: PanelFigure| Panel {
        title,
        x,
        y,
        across: axis(x).named(x.name()),
        up: axis(y).named(y.name()),
    };
    [
        panel("IOPS against depth", PanelFigure::Depth, PanelFigure::Iops),
        panel("Latency against depth", PanelFigure::Depth, PanelFigure::Latency),
        panel("Latency against IOPS", PanelFigure::Iops, PanelFigure::Latency),
    ]
}

impl Panel {
    /// Draws the chart into a frame with its axes.
    pub(crate) fn draw(&self, out: &mut Svg, frame: &Frame<'_>, sweeps: &[&Sweep]) {
        frame.axes(out);
        if let [only] = sweeps {
            self.bounds(out, frame, only);
        }
        for (number, sweep) in sweeps.iter().enumerate() {
            self.curve(out, frame, sweep, number);
        }
        for (number, sweep) in sweeps.iter().enumerate() {
            sweep.points.iter().for_each(|point| self.point(out, frame, point, number));
        }
    }

    fn at(&self, place: Place) -> (f64, f64) {
        (self.x.of(place), self.y.of(place))
    }

    /// Draws the two asymptotes, and the knee where they meet.
    fn bounds(&self, out: &mut Svg, frame: &Frame<'_>, sweep: &Sweep) {
        let Curve::Knee(knee) = &sweep.fit.curve else { return };
        let (r0_s, xmax, depth) = (knee.r0_ns.value / 1e9, knee.xmax.value, knee.depth.value);
        // The asymptotes extend beyond their intersection, so that the crossing is visible.
        let spread = |step: u32| 2_f64.powf((f64::from(step) - 200.0) / 10.0);
        let shares = || (0..=400).map(spread);
        let rising = shares().filter(|share| *share <= 1.7).map(|share| self.at((depth * share, depth * share / r0_s)));
        let flat = shares().filter(|share| *share >= 0.6).map(|share| self.at((depth * share, xmax)));
        frame.curve(out, "bound", &rising.filter(|at| frame.holds(*at)).collect::<Vec<_>>());
        frame.curve(out, "bound", &flat.filter(|at| frame.holds(*at)).collect::<Vec<_>>());
        let share = self.across.scale.share(depth);
        if self.x == PanelFigure::Depth && (0.0..=1.0).contains(&share) {
            let scale = self.up.scale;
            frame.segment(out, "knee", (depth, scale.low), (depth, scale.high));
            let words =
                format!("N* = {}", if depth < 9.95 { units::significant(depth, 2) } else { format!("{depth:.0}") });
            let (class, shift) = if share > 0.6 { ("note end", -6.0) } else { ("note", 6.0) };
            // The label avoids the curve: below it on the right, above it on the left.
            let down = if self.y == PanelFigure::Iops { frame.height - 12.0 } else { 18.0 };
            out.words((frame.at((depth, scale.low)).0 + shift, frame.top + down), class, &words);
        }
    }

    fn curve(&self, out: &mut Svg, frame: &Frame<'_>, sweep: &Sweep, number: usize) {
        let (Some(first), Some(last)) = (sweep.points.first(), sweep.points.last()) else { return };
        let depths = Scale::exact(f64::from(first.depth), f64::from(last.depth));
        let at = |step: u32| {
            let depth = depths.at(f64::from(step) / 160.0);
            Some(self.at((depth, sweep.fit.iops_at(depth)?)))
        };
        let fitted = (0..=160).filter_map(at).filter(|at| frame.holds(*at));
        let measured = sweep.points.iter().map(|point| (self.x.of_point(point), self.y.of_point(point)));
        let curve: Vec<(f64, f64)> = if super::fits(sweep) { fitted.collect() } else { measured.collect() };
        frame.curve(out, &line(number), &curve);
    }

    fn point(&self, out: &mut Svg, frame: &Frame<'_>, point: &Point, number: usize) {
        let (x, y) = (self.x.of_point(point), self.y.of_point(point));
        let colour = series(number);
        if self.y == PanelFigure::Iops && point.error > 0.01 {
            let spread = 1.96 * point.error;
            let ends = [1.0 + spread, (1.0 - spread).max(0.05)].map(|factor| point.iops * factor);
            frame.segment(out, &format!("err {colour}"), (x, ends[0]), (x, ends[1]));
        }
        let title = format!("{} in flight: {} IOPS, {}", point.depth, short_count(point.iops), time(point.latency_ns));
        frame.dot(out, &format!("ring {colour}"), (x, y), 4.0, &title);
    }
}

const WIDTH: f64 = 1200.0;
const PANEL_WIDTH: f64 = 316.0;
const PANEL_HEIGHT: f64 = 270.0;
/// Distance between the left edges of panels.
const PANEL_EVERY: f64 = 390.0;
const LEFT: f64 = 72.0;
/// Maximum number of characters in a line of the headline.
const HEADLINE: usize = 118;
/// Font of a standalone image.
const LETTERS: &str = "svg{font:13px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}.t{font-size:11.5px}";

/// Draws all curves as one image.
#[must_use]
pub fn svg(document: &SweepResult) -> String {
    let sweeps: Vec<&Sweep> = document.sweeps.iter().filter(|sweep| !sweep.points.is_empty()).collect();
    let lines = head(document);
    let legend_rows = if document.sweeps.len() > 1 { sweeps.len() } else { 0 };
    let top = 34.0 + 24.0 * lines.len() as f64 + 20.0 * legend_rows as f64 + 26.0;
    let mut out = Svg::new(WIDTH, top + PANEL_HEIGHT + 56.0, &format!("{STYLE}{LETTERS}"));
    let mut y = 34.0;
    for (class, line) in &lines {
        out.words((28.0, y), class, line);
        y += 24.0;
    }
    for (number, sweep) in sweeps.iter().take(legend_rows).enumerate() {
        out.circle(&format!("o {}", series(number)), (36.0, y - 4.5), 5.0, "");
        out.words((50.0, y), "soft", &format!("{}: {}", sweep.label(), headline(sweep)));
        y += 20.0;
    }
    for (number, panel) in panels(&sweeps).iter().enumerate() {
        let left = LEFT + PANEL_EVERY * number as f64;
        draw(&mut out, panel, (left, top), &sweeps);
    }
    out.finish()
}

/// Returns the lines above the panels, with their classes.
fn head(document: &SweepResult) -> Vec<(&'static str, String)> {
    match document.sweeps.as_slice() {
        [only] => {
            let mut lines: Vec<_> = wrap(&headline(only), HEADLINE).into_iter().map(|line| ("head", line)).collect();
            let time = if only.virtual_time { ", simulated" } else { "" };
            lines.push(("soft", format!("{}, {}{time}", only.target, only.load)));
            lines
        }
        all => {
            let target = all.first().map(|sweep| sweep.target.clone()).unwrap_or_default();
            vec![("head", format!("{target}: {} sweeps of the queue depth", all.len()))]
        }
    }
}

fn draw(out: &mut Svg, panel: &Panel, (left, top): (f64, f64), sweeps: &[&Sweep]) {
    out.words((left, top - 12.0), "title", panel.title);
    let (x, y) = (&panel.across, &panel.up);
    panel.draw(out, &Frame { left, top, width: PANEL_WIDTH, height: PANEL_HEIGHT, x, y }, sweeps);
}
