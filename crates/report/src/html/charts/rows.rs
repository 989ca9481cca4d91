//! Bar charts with a row per item.

use super::super::figure::{Look, Paper};
use crate::chart::{Axis, Frame, Scale, Svg, isolated};

/// One thing: its name and its marks, one below the other.
#[derive(Clone, Debug)]
pub(super) struct ChartRow {
    pub(super) label: String,
    pub(super) marks: Vec<RowMark>,
}

/// Content of a row.
#[derive(Clone, Debug)]
pub(super) struct RowMark {
    pub(super) look: Look,
    pub(super) shape: MarkShape,
    /// What is said of it.
    pub(super) title: String,
}

/// Shapes of marks.
#[derive(Clone, Copy, Debug)]
pub(super) enum MarkShape {
    /// From nothing to a value.
    Bar(f64),
    /// A value.
    Dot(f64),
    /// Two values, the first one empty, the second one full.
    Pair(f64, f64),
}

/// Height of a mark in a row.
const LANE: f64 = 13.0;
/// The air between two rows.
const AIR: f64 = 9.0;
/// Width of row names.
const LEFT: f64 = 168.0;
/// Letters of a name that fit there.
const LETTERS: usize = 18;

/// The picture of rows above a horizontal axis; `behind` is drawn before them.
pub(super) fn picture(label: &str, x: &Axis, rows: &[ChartRow], behind: impl FnOnce(&Frame<'_>, &mut Svg)) -> String {
    let lanes = rows.iter().map(|row| row.marks.len()).max().unwrap_or(1).max(1) as f64;
    let each = lanes * LANE + AIR;
    let middle = |number: usize| (rows.len() - number) as f64 - 0.5;
    let ticks = rows.iter().enumerate().map(|(number, row)| (middle(number), shortened(&row.label))).collect();
    let y = Axis { scale: Scale::linear(0.0, rows.len() as f64), ticks, name: "" };
    Paper::around(each * rows.len() as f64, LEFT, x).picture(label, x, &y, |frame, out| {
        behind(frame, out);
        frame.axes(out);
        for (number, row) in rows.iter().enumerate() {
            let (_, centre) = frame.at((x.scale.low, middle(number)));
            let first = centre - (row.marks.len() as f64 - 1.0) / 2.0 * LANE;
            for (lane, mark) in row.marks.iter().enumerate() {
                mark.draw(out, frame, first + lane as f64 * LANE);
            }
        }
    })
}

impl RowMark {
    fn draw(&self, out: &mut Svg, frame: &Frame<'_>, y: f64) {
        let at = |value: f64| frame.at((value, 0.0)).0;
        match self.shape {
            MarkShape::Bar(value) => {
                // What is there at all is seen.
                let (left, right) = (frame.left, at(value).max(frame.left + 1.0));
                out.rect(&self.look.dot(), (left, y - 5.0), (right, y + 5.0), &self.title);
            }
            MarkShape::Dot(value) => out.circle(&self.look.dot(), (at(value), y), 4.5, &self.title),
            MarkShape::Pair(empty, full) => {
                out.line(&self.look.line(), (at(empty), y), (at(full), y));
                out.circle(&self.look.ring(), (at(empty), y), 4.0, &self.title);
                out.circle(&self.look.dot(), (at(full), y), 4.5, &self.title);
            }
        }
    }
}

/// A name that fits, kept from changing the order of what is around it.
fn shortened(name: &str) -> String {
    let cut: String = name.chars().take(LETTERS).collect();
    let text = if cut.len() < name.len() { format!("{}…", cut.trim_end()) } else { cut };
    isolated(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_and_foreign_ones_are_isolated() {
        assert_eq!(shortened("volume IOPS"), "volume IOPS");
        assert_eq!(shortened("a name of more than eighteen letters"), "\u{2068}a name of more tha…\u{2069}");
    }
}
