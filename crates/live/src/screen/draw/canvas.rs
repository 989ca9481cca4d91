//! A cell buffer with clipping.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};

use crate::screen::Colours;

pub(super) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
pub(super) const DIM: Style = Style::new().add_modifier(Modifier::DIM);
pub(super) const REVERSED: Style = Style::new().add_modifier(Modifier::REVERSED);

/// Styles by meaning. All are readable on light and on dark backgrounds.
impl Colours {
    fn colour(self, sixteen: Color, many: u8) -> Style {
        match self {
            Self::None => Style::new(),
            Self::Sixteen => Style::new().fg(sixteen),
            Self::Many => Style::new().fg(Color::Indexed(many)),
        }
    }

    /// Returns the style of reads, writes or trims.
    pub(super) fn kind(self, kind: usize) -> Style {
        let (sixteen, many) = [(Color::Blue, 33), (Color::Magenta, 166), (Color::Cyan, 37)][kind];
        self.colour(sixteen, many)
    }

    /// Returns the style of p50, p99 or p99.9.
    pub(super) fn tail(self, index: usize) -> Style {
        let (sixteen, many) = [(Color::Green, 35), (Color::Cyan, 134), (Color::Red, 161)][index];
        self.colour(sixteen, many)
    }

    pub(super) fn good(self) -> Style {
        self.colour(Color::Green, 35)
    }

    pub(super) fn notice(self) -> Style {
        self.colour(Color::Magenta, 166)
    }

    pub(super) fn bad(self) -> Style {
        self.colour(Color::Red, 161).add_modifier(Modifier::BOLD)
    }
}

/// The screen's cells, and the colours to draw with.
pub(super) struct Canvas<'a> {
    pub(super) buffer: &'a mut Buffer,
    pub(super) colours: Colours,
}

impl Canvas<'_> {
    /// Writes text into a row of an area from a column on, cut at the area's edge. Returns the next free column.
    pub(super) fn text(&mut self, area: Rect, column: u16, row: u16, text: &str, style: Style) -> u16 {
        let area = area.intersection(self.buffer.area);
        if row >= area.height || column >= area.width {
            return column;
        }
        let width = usize::from(area.width - column);
        let (next, _) = self.buffer.set_stringn(area.x + column, area.y + row, text, width, style);
        next - area.x
    }

    /// Writes pieces of text one after another into a row. Returns the next free column.
    pub(super) fn line(&mut self, area: Rect, row: u16, pieces: &[(&str, Style)]) -> u16 {
        pieces.iter().fold(0, |column, (text, style)| self.text(area, column, row, text, *style))
    }

    /// Writes right-aligned text into a row, if it fits behind column `from`.
    pub(super) fn right(&mut self, area: Rect, from: u16, row: u16, text: &str, style: Style) {
        let width = text.chars().count() as u16;
        if area.width >= from + width {
            self.text(area, area.width - width, row, text, style);
        }
    }

    /// Sets one cell.
    pub(super) fn cell(&mut self, x: u16, y: u16, symbol: char, style: Style) {
        if let Some(cell) = self.buffer.cell_mut((x, y)) {
            cell.set_char(symbol).set_style(style);
        }
    }

    /// Draws a frame with a title. Returns the area inside.
    pub(super) fn frame(&mut self, area: Rect, title: &str) -> Rect {
        if area.width < 2 || area.height < 2 {
            return Rect { width: 0, height: 0, ..area };
        }
        let (right, bottom) = (area.x + area.width - 1, area.y + area.height - 1);
        let edge = "─".repeat(usize::from(area.width - 2));
        self.text(area, 0, 0, &format!("╭{edge}╮"), DIM);
        self.text(area, 0, area.height - 1, &format!("╰{edge}╯"), DIM);
        for y in area.y + 1..bottom {
            self.cell(area.x, y, '│', DIM);
            self.cell(right, y, '│', DIM);
        }
        let top = Rect { x: area.x + 2, width: area.width.saturating_sub(4), height: 1, ..area };
        self.text(top, 0, 0, &format!(" {title} "), BOLD);
        Rect { x: area.x + 1, y: area.y + 1, width: area.width - 2, height: area.height - 2 }
    }

    /// Writes text into the lower edge of a frame, left and right, if both fit.
    pub(super) fn foot(&mut self, frame: Rect, left: &str, right: &str) {
        let width = left.chars().count() + right.chars().count() + 8;
        if usize::from(frame.width) < width || frame.height < 2 {
            return;
        }
        let edge = Rect { x: frame.x + 2, y: frame.y + frame.height - 1, width: frame.width - 4, height: 1 };
        self.text(edge, 0, 0, &format!(" {left} "), DIM);
        self.right(edge, 0, 0, &format!(" {right} "), DIM);
    }

    /// Draws a bar of a fraction of a width, from 0 to 1, to an eighth of a cell.
    pub(super) fn bar(&mut self, area: Rect, column: u16, row: u16, width: u16, fraction: f64, style: Style) {
        const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        let eighths = (fraction.clamp(0.0, 1.0) * f64::from(width) * 8.0).round() as usize;
        let bar = format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8]);
        let width = width.min(area.width.saturating_sub(column));
        self.text(Rect { width: column + width, ..area }, column, row, &bar, style);
    }
}

/// Returns the first form of a text that fits into a width, or else the last form, cut.
pub(super) fn fitting(width: usize, forms: &[String]) -> String {
    let fits = |form: &&String| form.chars().count() <= width;
    match (forms.iter().find(fits), forms.last()) {
        (Some(form), _) => form.clone(),
        (None, Some(last)) if width > 0 => last.chars().take(width - 1).chain(['…']).collect(),
        (None, _) => String::new(),
    }
}

/// Returns the rows of an area from `from` on, at most `height`.
pub(super) fn rows(area: Rect, from: u16, height: u16) -> Rect {
    let from = from.min(area.height);
    Rect { y: area.y + from, height: height.min(area.height - from), ..area }
}

/// Returns the columns of an area from `from` on, at most `width`.
pub(super) fn columns(area: Rect, from: u16, width: u16) -> Rect {
    let from = from.min(area.width);
    Rect { x: area.x + from, width: width.min(area.width - from), ..area }
}

/// Splits an area into `n` parts side by side.
pub(super) fn beside(area: Rect, n: u16) -> impl Iterator<Item = Rect> {
    parts(area.width, n).map(move |(from, width)| columns(area, from, width))
}

/// Splits an area into `n` parts one above the other.
pub(super) fn stacked(area: Rect, n: u16) -> impl Iterator<Item = Rect> {
    parts(area.height, n).map(move |(from, height)| rows(area, from, height))
}

/// Returns the start and the length of `n` parts of a length.
fn parts(length: u16, n: u16) -> impl Iterator<Item = (u16, u16)> {
    let start = move |i: u16| (u32::from(length) * u32::from(i) / u32::from(n)) as u16;
    (0..n).map(move |i| (start(i), start(i + 1) - start(i)))
}
