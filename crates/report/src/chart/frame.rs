//! The plot area of a chart, and marks in it.

use std::fmt::Write;

use super::svg::Short;
use super::{Axis, Svg};

/// Width of a digit of DejaVu Sans, the widest of the usual fonts, in the narrowest layout.
pub(crate) const LETTER: f64 = 10.5;
/// Least space on the right of a frame.
const EDGE: f64 = 16.0;

/// The plot area between two axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) x: &'a Axis,
    pub(crate) y: &'a Axis,
}

/// A value on an interval of the horizontal axis: start, end, value.
pub(crate) type Step = (f64, f64, f64);

impl Frame<'_> {
    /// Returns the position of a pair of values, clamped to the frame.
    pub(crate) fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let within = |share: f64| if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        let (x, y) = (within(self.x.scale.share(x)), within(self.y.scale.share(y)));
        (self.left + self.width * x, self.top + self.height * (1.0 - y))
    }

    /// Reports whether a pair of values is within both axes.
    pub(crate) fn holds(&self, (x, y): (f64, f64)) -> bool {
        let inside = |share: f64| (-0.001..=1.001).contains(&share);
        inside(self.x.scale.share(x)) && inside(self.y.scale.share(y))
    }

    fn right(&self) -> f64 {
        self.left + self.width
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Draws both axes with grid lines, ticks, labels and names.
    pub(crate) fn axes(&self, out: &mut Svg) {
        for (value, label) in &self.y.ticks {
            let (_, y) = self.at((self.x.scale.low, *value));
            out.line("g", (self.left, y), (self.right(), y));
            out.words((self.left - 7.0, y + 4.0), "t end", label);
        }
        out.line("b", (self.left, self.bottom()), (self.right(), self.bottom()));
        for (value, label) in &self.x.ticks {
            let (x, _) = self.at((*value, self.y.scale.low));
            out.line("b", (x, self.bottom()), (x, self.bottom() + 4.0));
            // A centred label at the right end may extend beyond the edge.
            let half = label.chars().count() as f64 * LETTER / 2.0;
            let class = if x + half > self.right() + EDGE { "t end" } else { "t mid" };
            out.words((if class == "t end" { self.right() + 8.0 } else { x }, self.bottom() + 22.0), class, label);
        }
        if !self.x.name.is_empty() {
            out.words((self.left + self.width / 2.0, self.bottom() + 42.0), "t mid", &self.x.name);
        }
    }

    /// Draws a line through points.
    pub(crate) fn curve(&self, out: &mut Svg, class: &str, points: &[(f64, f64)]) {
        let mut d = String::new();
        for (index, point) in points.iter().enumerate() {
            let (x, y) = self.at(*point);
            let _ = write!(d, "{}{} {}", if index == 0 { 'M' } else { 'L' }, Short(x), Short(y));
        }
        if points.len() > 1 {
            out.path(class, &d, "");
        }
    }

    /// Draws a horizontal line for each interval; adjacent intervals are joined.
    pub(crate) fn steps(&self, out: &mut Svg, class: &str, steps: impl IntoIterator<Item = Step>) {
        let (mut d, mut end) = (String::new(), f64::NAN);
        for (from, to, value) in steps {
            let ((left, y), (right, _)) = (self.at((from, value)), self.at((to, value)));
            let _ = match near(end, from, to - from) {
                true => write!(d, "V{}H{}", Short(y), Short(right)),
                false => write!(d, "M{} {}H{}", Short(left), Short(y), Short(right)),
            };
            end = to;
        }
        if !d.is_empty() {
            out.path(class, &d, "");
        }
    }

    /// Fills the area between two values on each interval; adjacent intervals form one area.
    pub(crate) fn band(&self, out: &mut Svg, class: &str, intervals: &[(f64, f64, [f64; 2])]) {
        let mut d = String::new();
        for area in intervals.chunk_by(touch) {
            let _ = write!(d, "M{}", Short(self.at((area[0].0, 0.0)).0));
            let _ = write!(d, " {}", Short(self.at((area[0].0, area[0].2[1])).1));
            for (from, to, [_, high]) in area {
                let ((_, y), (right, _)) = (self.at((*from, *high)), self.at((*to, *high)));
                let _ = write!(d, "V{}H{}", Short(y), Short(right));
            }
            for (from, _, [low, _]) in area.iter().rev() {
                let (left, y) = self.at((*from, *low));
                let _ = write!(d, "V{}H{}", Short(y), Short(left));
            }
            d.push('z');
        }
        if !d.is_empty() {
            out.path(class, &d, "");
        }
    }

    /// Draws rectangles as one path.
    pub(crate) fn cells(&self, out: &mut Svg, class: &str, cells: &[(f64, f64, [f64; 2])]) {
        let mut d = String::new();
        for (from, to, [low, high]) in cells {
            let ((left, top), (right, bottom)) = (self.at((*from, *high)), self.at((*to, *low)));
            let _ = write!(d, "M{} {}H{}V{}H{}z", Short(left), Short(top), Short(right), Short(bottom), Short(left));
        }
        if !d.is_empty() {
            out.path(class, &d, "");
        }
    }

    /// Draws horizontal bars of equal thickness as one path: start, end, and the value at their middle.
    pub(crate) fn lanes(&self, out: &mut Svg, class: &str, thickness: f64, lanes: &[Step]) {
        let mut d = String::new();
        for (from, to, value) in lanes {
            let ((left, y), (right, _)) = (self.at((*from, *value)), self.at((*to, *value)));
            let _ = write!(d, "M{} {}H{}", Short(left), Short(y), Short(right));
        }
        if !d.is_empty() {
            out.element(&format!("<path class=\"{class}\" stroke-width=\"{}\" d=\"{d}\"/>", Short(thickness)));
        }
    }

    /// Draws a circle at a point, with a tooltip.
    pub(crate) fn dot(&self, out: &mut Svg, class: &str, point: (f64, f64), radius: f64, title: &str) {
        out.circle(class, self.at(point), radius, title);
    }

    /// Draws a line between two points.
    pub(crate) fn segment(&self, out: &mut Svg, class: &str, from: (f64, f64), to: (f64, f64)) {
        out.line(class, self.at(from), self.at(to));
    }

    /// Adds a tooltip to an interval over the whole height of the frame.
    pub(crate) fn column(&self, out: &mut Svg, (from, to): (f64, f64), title: &str) {
        let ((left, _), (right, _)) = (self.at((from, 0.0)), self.at((to, 0.0)));
        out.rect("h", (left, self.top), (right, self.bottom()), title);
    }

    /// Adds a tooltip to an interval of the vertical axis over the whole width of the frame.
    pub(crate) fn row(&self, out: &mut Svg, (low, high): (f64, f64), title: &str) {
        let ((_, bottom), (_, top)) = (self.at((self.x.scale.low, low)), self.at((self.x.scale.low, high)));
        out.rect("h", (self.left, top), (self.right(), bottom), title);
    }
}

/// Reports whether two positions differ by at most 1 % of `length`.
fn near(one: f64, other: f64, length: f64) -> bool {
    (one - other).abs() <= length * 0.01
}

fn touch(one: &(f64, f64, [f64; 2]), next: &(f64, f64, [f64; 2])) -> bool {
    near(one.1, next.0, next.1 - next.0)
}

#[cfg(test)]
mod tests {
    use super::super::Scale;
    use super::super::short_count;
    use super::*;

    #[test]
    fn positions_are_clamped_to_the_frame() {
        let x = Axis::time_to(10e9);
        let y = Axis::new(Scale::over([1e3, 1e6].into_iter()), 4, short_count);
        let frame = Frame { left: 10.0, top: 20.0, width: 100.0, height: 50.0, x: &x, y: &y };
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e12] {
            let (across, up) = frame.at((value, value));
            assert!((10.0..=110.0).contains(&across) && (20.0..=70.0).contains(&up), "{value}: {across} {up}");
        }
        assert!(frame.holds((5e9, 1e4)) && !frame.holds((5e9, 1e7)) && !frame.holds((5e9, 0.0)));
    }

    /// Labels of six and of nine letters were centred below a tick near the right end, and clipped on a narrow page.
    #[test]
    fn labels_near_the_right_end_stay_within_the_edge() {
        let y = Axis::from_zero(1.0, 1.0, short_count);
        for (value, label, class) in
            [(0.8, "100 MiB/s", "t end"), (0.9, "100 ms", "t end"), (0.8, "5 s", "t mid"), (1.0, "5 s", "t mid")]
        {
            let x =
                Axis { scale: Scale::linear(0.0, 1.0), ticks: vec![(value, label.to_owned())], name: String::new() };
            let frame = Frame { left: 0.0, top: 0.0, width: 100.0, height: 10.0, x: &x, y: &y };
            let mut out = Svg::within(116.0, 40.0, "");
            frame.axes(&mut out);
            let text = out.finish();
            let line = text.lines().find(|line| line.contains(label)).expect("the label");
            assert!(line.contains(&format!("class=\"{class}\"")), "{label}: {text}");
        }
    }

    #[test]
    fn adjacent_steps_are_joined() {
        let (x, y) = (Axis::time_to(4.0), Axis::from_zero(10.0, 1.0, short_count));
        let frame = Frame { left: 0.0, top: 0.0, width: 40.0, height: 10.0, x: &x, y: &y };
        let mut out = Svg::within(40.0, 10.0, "");
        frame.steps(&mut out, "l", [(0.0, 1.0, 5.0), (1.0, 2.0, 10.0), (3.0, 4.0, 0.0)]);
        assert!(out.finish().contains("d=\"M0 5H10V0H20M30 10H40\""));
    }
}
