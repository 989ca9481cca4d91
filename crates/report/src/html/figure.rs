//! A chart with title, note, legend and table.

use super::markup::Markup;
use super::table::HtmlTable;
use crate::chart::{Axis, Frame, Svg, series};

/// Units of a picture; the page makes it as wide as there is room.
const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 236.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 18.0;
/// Maximum width of a character of a label.
const LETTER: f64 = 8.2;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 31.0;
/// Height of the name of the horizontal axis.
const NAME: f64 = 20.0;

/// A chart that is drawn.
#[derive(Clone, Debug)]
pub(super) struct ChartFigure {
    /// What it shows, in a few words.
    pub(super) title: &'static str,
    /// How to read it, a sentence.
    pub(super) note: String,
    /// The marks of its series and what they stand for; empty where there is one.
    pub(super) legend: Vec<LegendKey>,
    /// The picture.
    pub(super) picture: String,
    /// The same in numbers.
    pub(super) table: HtmlTable,
    /// It takes the width of the page.
    pub(super) wide: bool,
}

/// An entry of a legend.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LegendKey {
    /// The classes of its mark.
    pub(super) class: String,
    /// What it stands for.
    pub(super) name: String,
}

/// Style of a series: colour and dashes, by numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) colour: usize,
    pub(super) dash: usize,
}

impl Look {
    /// The classes of its line.
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

/// Size of a chart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paper {
    /// Its height, axes included.
    pub(super) height: f64,
    /// What the labels on the left take.
    pub(super) left: f64,
}

impl Default for Paper {
    fn default() -> Self {
        Self { height: HEIGHT, left: LEFT }
    }
}

impl Paper {
    /// Two axes and what `draw` puts between them; `label` is read to those who cannot see it.
    pub(super) fn picture(self, label: &str, x: &Axis, y: &Axis, draw: impl FnOnce(&Frame<'_>, &mut Svg)) -> String {
        let bottom = if x.name.is_empty() { BOTTOM } else { BOTTOM + NAME };
        let mut out = Svg::within(WIDTH, self.height, label);
        let (width, height) = (WIDTH - self.left - RIGHT, self.height - TOP - bottom);
        draw(&Frame { left: self.left, top: TOP, width, height, x, y }, &mut out);
        out.finish()
    }

    /// As high as a frame of this height needs it.
    pub(super) fn around(height: f64, left: f64, x: &Axis) -> Self {
        Self { height: height + TOP + BOTTOM + if x.name.is_empty() { 0.0 } else { NAME }, left }
    }
}

/// Paper of the usual size.
pub(super) fn picture(label: &str, x: &Axis, y: &Axis, draw: impl FnOnce(&Frame<'_>, &mut Svg)) -> String {
    // At the size that letters have in the narrowest figures.
    let longest = y.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0) as f64;
    Paper { left: LEFT.max(longest * LETTER + 8.0), ..Paper::default() }.picture(label, x, y, draw)
}

impl ChartFigure {
    pub(super) fn write(&self, out: &mut Markup) {
        out.class("figure", if self.wide { "wide" } else { "half" }, |out| {
            out.inside("figcaption", &[], |out| {
                out.leaf("h4", "", self.title);
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
