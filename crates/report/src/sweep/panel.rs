//! A chart of curves: IOPS or latency against depth, or latency against IOPS.

use analyse::knee::{Curve, Point};

use super::Sweep;
use crate::chart::{Axis, Frame, Scale, Svg, series, short_count, time};

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
            Self::Iops => "operations a second",
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
        let curve: Vec<(f64, f64)> = (0..=160).filter_map(at).filter(|at| frame.holds(*at)).collect();
        frame.curve(out, &format!("l {}", series(number)), &curve);
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
