//! Charts with a row per item.

use super::super::figure::{ChartSize, SeriesStyle};
use crate::chart::{Axis, Frame, Scale, Svg, isolated};

/// An item with its name and its marks, one below the other.
#[derive(Clone, Debug)]
pub(super) struct ChartRow {
    pub(super) label: String,
    pub(super) marks: Vec<RowMark>,
}

#[derive(Clone, Debug)]
pub(super) struct RowMark {
    pub(super) style: SeriesStyle,
    pub(super) shape: MarkShape,
    /// Tooltip.
    pub(super) title: String,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum MarkShape {
    /// A bar from zero to a value.
    Bar(f64),
    /// A circle at a value.
    Dot(f64),
    /// Two connected circles, the first one hollow.
    Pair(f64, f64),
}

/// Height of a mark.
const LANE: f64 = 13.0;
/// Distance between two rows.
const GAP: f64 = 9.0;
/// Width of the column of names.
const LEFT: f64 = 190.0;
/// Maximum number of characters of a name.
const LETTERS: usize = 18;

/// Draws rows above a horizontal axis, over the marks of `behind`.
pub(super) fn picture(label: &str, x: &Axis, rows: &[ChartRow], behind: impl FnOnce(&Frame<'_>, &mut Svg)) -> String {
    let lanes = rows.iter().map(|row| row.marks.len()).max().unwrap_or(1).max(1) as f64;
    let each = lanes * LANE + GAP;
    let middle = |number: usize| (rows.len() - number) as f64 - 0.5;
    let ticks = rows.iter().enumerate().map(|(number, row)| (middle(number), shortened(&row.label))).collect();
    let y = Axis { scale: Scale::linear(0.0, rows.len() as f64), ticks, name: String::new() };
    ChartSize::around(each * rows.len() as f64, LEFT, x).picture(label, x, &y, |frame, out| {
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
            MarkShape::Bar(0.0) => {}
            MarkShape::Bar(value) => {
                // Even the smallest value is visible.
                let (left, right) = (frame.left, at(value).max(frame.left + 1.0));
                out.rect(&self.style.dot(), (left, y - 5.0), (right, y + 5.0), &self.title);
            }
            MarkShape::Dot(value) => out.circle(&self.style.dot(), (at(value), y), 4.5, &self.title),
            MarkShape::Pair(empty, full) => {
                out.line(&self.style.line(), (at(empty), y), (at(full), y));
                out.circle(&self.style.ring(), (at(empty), y), 4.0, &self.title);
                out.circle(&self.style.dot(), (at(full), y), 4.5, &self.title);
            }
        }
    }
}

/// Truncates a name and isolates its text direction.
pub(super) fn shortened(name: &str) -> String {
    let cut: String = name.chars().take(LETTERS).collect();
    let text = if cut.len() < name.len() { format!("{}…", cut.trim_end()) } else { cut };
    isolated(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_and_non_ascii_names_are_isolated() {
        assert_eq!(shortened("volume IOPS"), "volume IOPS");
        assert_eq!(shortened("a name of more than eighteen letters"), "\u{2068}a name of more tha…\u{2069}");
    }
}
