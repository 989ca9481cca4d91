//! A chart with its title, note, legend and table.

use super::markup::Markup;
use super::table::HtmlTable;
use crate::chart::{Axis, Frame, LETTER, Svg, series};

/// Width of an image in SVG units; the page scales it.
const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 236.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 31.0;
/// Height of the name of the horizontal axis.
const NAME: f64 = 20.0;

/// A complete chart.
#[derive(Clone, Debug)]
pub(super) struct ChartFigure {
    pub(super) title: &'static str,
    /// How to read the chart, in one or two sentences.
    pub(super) note: String,
    /// Entries of the legend; empty for a single series.
    pub(super) legend: Vec<LegendKey>,
    /// Image as SVG markup.
    pub(super) picture: String,
    /// Values of the chart.
    pub(super) table: HtmlTable,
}

/// An entry of a legend.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LegendKey {
    /// Classes of the mark.
    pub(super) class: String,
    pub(super) name: String,
}

/// Style of a series: numbers of its colour and its dashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SeriesStyle {
    pub(super) colour: usize,
    pub(super) dash: usize,
}

impl SeriesStyle {
    /// Returns the classes of a line.
    pub(super) fn line(self) -> String {
        match self.dash % 3 {
            0 => format!("l {}", series(self.colour)),
            dash => format!("l d{dash} {}", series(self.colour)),
        }
    }

    pub(super) fn area(self) -> String {
        format!("a {}", series(self.colour))
    }

    pub(super) fn dot(self) -> String {
        format!("o {}", series(self.colour))
    }

    pub(super) fn ring(self) -> String {
        format!("ring {}", series(self.colour))
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ChartSize {
    /// Total height.
    pub(super) height: f64,
    /// Width of the labels on the left.
    pub(super) left: f64,
}

impl ChartSize {
    /// Draws a chart with two axes; screen readers read `label`.
    pub(super) fn picture(self, label: &str, x: &Axis, y: &Axis, draw: impl FnOnce(&Frame<'_>, &mut Svg)) -> String {
        let bottom = if x.name.is_empty() { BOTTOM } else { BOTTOM + NAME };
        let mut out = Svg::within(WIDTH, self.height, label);
        let (width, height) = (WIDTH - self.left - RIGHT, self.height - TOP - bottom);
        draw(&Frame { left: self.left, top: TOP, width, height, x, y }, &mut out);
        out.finish()
    }

    /// Returns the size of a chart with a plot area of the given height.
    pub(super) fn around(height: f64, left: f64, x: &Axis) -> Self {
        Self { height: height + TOP + BOTTOM + if x.name.is_empty() { 0.0 } else { NAME }, left }
    }
}

/// Draws a chart of the usual size.
pub(super) fn picture(label: &str, x: &Axis, y: &Axis, draw: impl FnOnce(&Frame<'_>, &mut Svg)) -> String {
    // The width of characters in the narrowest layout decides.
    let longest = y.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0) as f64;
    ChartSize { left: LEFT.max(longest * LETTER + 8.0), height: HEIGHT }.picture(label, x, y, draw)
}

impl ChartFigure {
    /// Writes the chart; `title` is the element of its title, which follows from the heading above it.
    pub(super) fn write(&self, out: &mut Markup, title: &str) {
        self.write_as(out, "half", title);
    }

    /// Writes the chart over the whole width of the page.
    pub(super) fn write_wide(&self, out: &mut Markup) {
        self.write_as(out, "map", "h4");
    }

    fn write_as(&self, out: &mut Markup, class: &str, title: &str) {
        out.class("figure", class, |out| {
            out.inside("figcaption", &[], |out| {
                out.leaf(title, "", self.title);
                out.leaf("p", "", &self.note);
            });
            if !self.legend.is_empty() {
                out.class("ul", "legend", |out| self.legend.iter().for_each(|key| key.write(out)));
            }
            out.raw(&self.picture);
            self.table.folded(out, "Table");
        });
    }
}

impl LegendKey {
    fn write(&self, out: &mut Markup) {
        out.inside("li", &[], |out| {
            let mark = if self.class.starts_with('l') { "M0 5H22" } else { "M5 0h12v10h-12z" };
            out.raw(&format!(
                "<svg viewBox=\"0 0 22 10\" aria-hidden=\"true\"><path class=\"{}\" d=\"{mark}\"/></svg>",
                self.class
            ));
            out.name(&self.name);
        });
    }
}
