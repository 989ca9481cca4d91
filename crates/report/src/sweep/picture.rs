//! Curves as one SVG: IOPS against depth, latency against depth, latency against IOPS. Readable on light and on dark.

use analyse::knee::{Curve, Point};

use super::axis::{Axis, short_count, short_time};
use super::text::headline;
use super::{Document, Sweep};
use crate::paint::wrap;
use crate::svg::Svg;

const WIDTH: f64 = 1200.0;
const PANEL_WIDTH: f64 = 316.0;
const PANEL_HEIGHT: f64 = 270.0;
/// From the left of one panel's frame to the next one's.
const PANEL_EVERY: f64 = 390.0;
const LEFT: f64 = 72.0;
/// Characters of the headline in a line.
const HEADLINE: usize = 118;

/// Readable on white and on near-black.
const COLOURS: [&str; 8] = ["#3b82f6", "#e07b00", "#10a37f", "#e0445c", "#8b5cf6", "#0ea5b7", "#d946a6", "#7c8594"];

const STYLE: &str = "\
svg{--ink:#1b1f24;--soft:#5b6572;--line:#d5dae0;--paper:#ffffff;font-family:system-ui,-apple-system,'Segoe UI',\
'DejaVu Sans',sans-serif;font-size:13px}
@media (prefers-color-scheme:dark){svg{--ink:#e8ebef;--soft:#9aa4b1;--line:#343b45;--paper:#14171c}}
.paper{fill:var(--paper)}.head{fill:var(--ink);font-size:17px;font-weight:600}.title{fill:var(--ink);font-weight:600}
.soft,.tick{fill:var(--soft)}.tick{font-size:11.5px}.mid{text-anchor:middle}.end{text-anchor:end}
.grid{stroke:var(--line);stroke-width:1}.frame{stroke:var(--soft);stroke-width:1;fill:none}
.curve{fill:none;stroke-width:2}.bound{stroke:var(--soft);stroke-width:1;stroke-dasharray:4 4;fill:none}
.knee{stroke:var(--ink);stroke-width:1;stroke-dasharray:2 3}.note{fill:var(--ink);font-size:12px;font-weight:600}
.dot{stroke:var(--paper);stroke-width:1.5}.bar{stroke-width:1.5}";

/// One picture of all curves.
#[must_use]
pub fn svg(document: &Document) -> String {
    let sweeps: Vec<&Sweep> = document.sweeps.iter().filter(|sweep| !sweep.points.is_empty()).collect();
    let several = document.sweeps.len() > 1;
    let mut lines: Vec<(&str, String)> = Vec::new();
    match document.sweeps.as_slice() {
        [only] => {
            lines.extend(wrap(&headline(only), HEADLINE).into_iter().map(|line| ("head", line)));
            let time = if only.virtual_time { ", simulated" } else { "" };
            lines.push(("soft", format!("{}, {}{time}", only.target, only.load)));
        }
        all => {
            let target = all.first().map(|sweep| sweep.target.clone()).unwrap_or_default();
            lines.push(("head", format!("{target}: {} sweeps of the queue depth", all.len())));
        }
    }
    let legend_rows = if several { sweeps.len() } else { 0 };
    let top = 34.0 + 24.0 * lines.len() as f64 + 20.0 * legend_rows as f64 + 26.0;
    let height = top + PANEL_HEIGHT + 66.0;
    let mut out = Svg::new(WIDTH, height, STYLE);
    let mut y = 34.0;
    for (class, line) in &lines {
        out.words((28.0, y), class, line);
        y += 24.0;
    }
    for (index, sweep) in sweeps.iter().take(legend_rows).enumerate() {
        legend(&mut out, y, index, sweep);
        y += 20.0;
    }
    for (index, panel) in panels(&sweeps).iter().enumerate() {
        let frame = Frame { left: LEFT + PANEL_EVERY * index as f64, top, panel };
        frame.draw(&mut out, &sweeps);
    }
    out.finish()
}

fn legend(out: &mut Svg, y: f64, index: usize, sweep: &Sweep) {
    let colour = COLOURS[index % COLOURS.len()];
    out.element(&format!("<circle cx=\"36\" cy=\"{:.1}\" r=\"5\" fill=\"{colour}\"/>", y - 4.5));
    let words = format!("{}: {}", sweep.label(), headline(sweep));
    out.words((50.0, y), "soft", &words);
}

/// What a panel shows of a point.
#[derive(Clone, Copy)]
enum Figure {
    Depth,
    Iops,
    Latency,
}

impl Figure {
    fn of(self, depth: f64, iops: f64, latency_ns: f64) -> f64 {
        match self {
            Self::Depth => depth,
            Self::Iops => iops,
            Self::Latency => latency_ns,
        }
    }

    fn of_point(self, point: &Point) -> f64 {
        self.of(f64::from(point.depth), point.iops, point.latency_ns)
    }

    fn label(self, value: f64) -> String {
        match self {
            Self::Depth | Self::Iops => short_count(value),
            Self::Latency => short_time(value),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Depth => "operations in flight",
            Self::Iops => "operations per second (IOPS)",
            Self::Latency => "mean latency",
        }
    }
}

struct Panel {
    title: &'static str,
    x: Figure,
    y: Figure,
    across: Axis,
    up: Axis,
}

fn panels(sweeps: &[&Sweep]) -> Vec<Panel> {
    let axis = |figure: Figure| {
        Axis::around(sweeps.iter().flat_map(|sweep| &sweep.points).map(move |point| figure.of_point(point)))
    };
    let panel = |title, x: Figure, y: Figure| Panel { title, x, y, across: axis(x), up: axis(y) };
    vec![
        panel("IOPS against depth", Figure::Depth, Figure::Iops),
        panel("Latency against depth", Figure::Depth, Figure::Latency),
        panel("Latency against IOPS", Figure::Iops, Figure::Latency),
    ]
}

/// A panel at its place.
struct Frame<'a> {
    left: f64,
    top: f64,
    panel: &'a Panel,
}

impl Frame<'_> {
    fn x(&self, value: f64) -> f64 {
        self.left + PANEL_WIDTH * self.panel.across.share(value)
    }

    fn y(&self, value: f64) -> f64 {
        self.top + PANEL_HEIGHT * (1.0 - self.panel.up.share(value))
    }

    fn draw(&self, out: &mut Svg, sweeps: &[&Sweep]) {
        self.axes(out);
        if let [only] = sweeps {
            self.bounds(out, only);
        }
        for (index, sweep) in sweeps.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            self.curve(out, sweep, colour);
            sweep.points.iter().for_each(|point| self.point(out, point, colour));
        }
    }

    fn axes(&self, out: &mut Svg) {
        let Panel { title, x, y, across, up } = self.panel;
        let (bottom, right) = (self.top + PANEL_HEIGHT, self.left + PANEL_WIDTH);
        out.words((self.left, self.top - 12.0), "title", title);
        for tick in across.ticks(7) {
            let at = self.x(tick);
            line(out, "grid", (at, self.top), (at, bottom));
            out.words((at, bottom + 18.0), "tick mid", &x.label(tick));
        }
        for tick in up.ticks(7) {
            let at = self.y(tick);
            line(out, "grid", (self.left, at), (right, at));
            out.words((self.left - 8.0, at + 4.0), "tick end", &y.label(tick));
        }
        out.element(&format!(
            "<rect class=\"frame\" x=\"{:.1}\" y=\"{:.1}\" width=\"{PANEL_WIDTH}\" height=\"{PANEL_HEIGHT}\"/>",
            self.left, self.top
        ));
        out.words((self.left + PANEL_WIDTH / 2.0, bottom + 40.0), "soft mid", x.name());
        let (label_x, label_y) = (self.left - 54.0, self.top + PANEL_HEIGHT / 2.0);
        out.element(&format!(
            "<text class=\"soft mid\" x=\"{label_x:.1}\" y=\"{label_y:.1}\" transform=\"rotate(-90 {label_x:.1} \
             {label_y:.1})\">{}</text>",
            y.name()
        ));
    }

    /// The two asymptotes and the knee where they meet.
    fn bounds(&self, out: &mut Svg, sweep: &Sweep) {
        let Curve::Knee(knee) = &sweep.fit.curve else { return };
        let (r0_s, xmax, depth) = (knee.r0_ns.value / 1e9, knee.xmax.value, knee.depth.value);
        let Panel { x, y, across, up, .. } = self.panel;
        let at = |depth: f64, iops: f64| {
            let latency_ns = depth / iops * 1e9;
            (x.of(depth, iops, latency_ns), y.of(depth, iops, latency_ns))
        };
        let inside = |(x, y): &(f64, f64)| {
            (across.low..=across.high * 1.0001).contains(x) && (up.low * 0.999..=up.high * 1.001).contains(y)
        };
        let spread = |step: u32| 2_f64.powf((f64::from(step) - 200.0) / 10.0);
        // Up to twice beyond the corner, so that both lines are seen to cross there.
        let rising =
            (0..=400).map(spread).filter(|share| *share <= 1.7).map(|share| at(depth * share, depth * share / r0_s));
        let flat = (0..=400).map(spread).filter(|share| *share >= 0.6).map(|share| at(depth * share, xmax));
        self.path(out, "bound", "", &rising.filter(inside).collect::<Vec<_>>());
        self.path(out, "bound", "", &flat.filter(inside).collect::<Vec<_>>());
        if matches!(x, Figure::Depth) && across.share(depth) >= 0.0 && across.share(depth) <= 1.0 {
            let across = self.x(depth);
            line(out, "knee", (across, self.top), (across, self.top + PANEL_HEIGHT));
            let words =
                format!("N* = {}", if depth < 9.95 { units::significant(depth, 2) } else { format!("{depth:.0}") });
            let (class, shift) = if self.panel.across.share(depth) > 0.6 { ("note end", -6.0) } else { ("note", 6.0) };
            // Where the curve is not: below it on the right, above it on the left.
            let height = if matches!(y, Figure::Iops) { PANEL_HEIGHT - 12.0 } else { 18.0 };
            out.words((across + shift, self.top + height), class, &words);
        }
    }

    fn curve(&self, out: &mut Svg, sweep: &Sweep, colour: &str) {
        let (Some(first), Some(last)) = (sweep.points.first(), sweep.points.last()) else { return };
        let depths = Axis::exact(f64::from(first.depth), f64::from(last.depth));
        let Panel { x, y, .. } = self.panel;
        let at = |step: u32| {
            let depth = depths.at(f64::from(step) / 160.0);
            let iops = sweep.fit.iops_at(depth)?;
            let latency_ns = depth / iops * 1e9;
            Some((x.of(depth, iops, latency_ns), y.of(depth, iops, latency_ns)))
        };
        let inside = |(x, y): &(f64, f64)| {
            (0.0..=1.0).contains(&self.panel.across.share(*x)) && (0.0..=1.0).contains(&self.panel.up.share(*y))
        };
        let curve: Vec<(f64, f64)> = (0..=160).filter_map(at).filter(inside).collect();
        self.path(out, "curve", colour, &curve);
    }

    fn path(&self, out: &mut Svg, class: &str, colour: &str, points: &[(f64, f64)]) {
        if points.len() < 2 {
            return;
        }
        let steps: Vec<String> = points.iter().map(|(x, y)| format!("{:.1},{:.1}", self.x(*x), self.y(*y))).collect();
        let stroke = if colour.is_empty() { String::new() } else { format!(" stroke=\"{colour}\"") };
        out.element(&format!("<polyline class=\"{class}\"{stroke} points=\"{}\"/>", steps.join(" ")));
    }

    fn point(&self, out: &mut Svg, point: &Point, colour: &str) {
        let Panel { x, y, .. } = self.panel;
        let (across, up) = (self.x(x.of_point(point)), self.y(y.of_point(point)));
        if matches!(y, Figure::Iops) && point.error > 0.01 {
            let spread = 1.96 * point.error;
            let (high, low) = (self.y(point.iops * (1.0 + spread)), self.y(point.iops * (1.0 - spread).max(0.05)));
            out.element(&format!(
                "<line class=\"bar\" stroke=\"{colour}\" x1=\"{across:.1}\" x2=\"{across:.1}\" y1=\"{high:.1}\" \
                 y2=\"{low:.1}\"/>"
            ));
        }
        let title =
            format!("{} in flight: {} IOPS, {}", point.depth, short_count(point.iops), short_time(point.latency_ns));
        out.element(&format!("<circle class=\"dot\" cx=\"{across:.1}\" cy=\"{up:.1}\" r=\"4.5\" fill=\"{colour}\"><title>{title}</title></circle>"
        ));
    }
}

fn line(out: &mut Svg, class: &str, from: (f64, f64), to: (f64, f64)) {
    out.element(&format!(
        "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
        from.0, from.1, to.0, to.1
    ));
}
