//! A cell buffer with clipping.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};

/// Styles by what they mean. All of them can be read on light and on dark ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::screen) enum Palette {
    /// No colours, only bold and dim.
    Plain,
    /// The sixteen colours of every terminal.
    Sixteen,
    /// 256 colours, of middling brightness.
    Many,
}

impl Palette {
    fn colour(self, sixteen: Color, many: u8) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Sixteen => Style::new().fg(sixteen),
            Self::Many => Style::new().fg(Color::Indexed(many)),
        }
    }

    /// Reads, writes, trims.
    pub(super) fn kind(self, kind: usize) -> Style {
        match kind {
            0 => self.colour(Color::Blue, 33),
            1 => self.colour(Color::Magenta, 166),
            _ => self.colour(Color::Cyan, 37),
        }
    }

    /// p50, p99 and p99.9.
    pub(super) fn tail(self, index: usize) -> Style {
        match index {
            0 => self.colour(Color::Green, 35),
            1 => self.colour(Color::Cyan, 134),
            _ => self.colour(Color::Red, 161),
        }
    }

    pub(super) fn good(self) -> Style {
        self.colour(Color::Green, 35)
    }

    pub(super) fn odd(self) -> Style {
        self.colour(Color::Magenta, 166)
    }

    pub(super) fn bad(self) -> Style {
        self.colour(Color::Red, 161).add_modifier(Modifier::BOLD)
    }

    pub(super) fn strong() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn faint() -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn chosen() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}

/// A part of the screen.
pub(super) struct Canvas<'a> {
    pub(super) buffer: &'a mut Buffer,
    pub(super) palette: Palette,
}

impl Canvas<'_> {
    /// Writes into one line of an area, from a column of it on, and cuts what does not fit. Returns the next free column.
    pub(super) fn text(&mut self, area: Rect, column: u16, row: u16, text: &str, style: Style) -> u16 {
        let area = area.intersection(self.buffer.area);
        if row >= area.height || column >= area.width {
            return column;
        }
        let room = usize::from(area.width - column);
        let (next, _) = self.buffer.set_stringn(area.x + column, area.y + row, text, room, style);
        next - area.x
    }

    /// Writes pieces of text one after another.
    pub(super) fn line(&mut self, area: Rect, row: u16, pieces: &[(&str, Style)]) -> u16 {
        pieces.iter().fold(0, |column, (text, style)| self.text(area, column, row, text, *style))
    }

    /// Writes at the right end of a line, if there is room behind column `from`.
    pub(super) fn right(&mut self, area: Rect, from: u16, row: u16, text: &str, style: Style) {
        let width = text.chars().count() as u16;
        if area.width >= from + width {
            self.text(area, area.width - width, row, text, style);
        }
    }

    /// One cell.
    pub(super) fn cell(&mut self, x: u16, y: u16, symbol: char, style: Style) {
        if let Some(cell) = self.buffer.cell_mut((x, y)) {
            cell.set_char(symbol).set_style(style);
        }
    }

    /// A frame with a title. Returns what is inside.
    pub(super) fn frame(&mut self, area: Rect, title: &str) -> Rect {
        if area.width < 2 || area.height < 2 {
            return Rect { width: 0, height: 0, ..area };
        }
        let (right, bottom) = (area.x + area.width - 1, area.y + area.height - 1);
        let faint = Palette::faint();
        for x in area.x + 1..right {
            self.cell(x, area.y, '─', faint);
            self.cell(x, bottom, '─', faint);
        }
        for y in area.y + 1..bottom {
            self.cell(area.x, y, '│', faint);
            self.cell(right, y, '│', faint);
        }
        for (x, y, corner) in [(area.x, area.y, '╭'), (right, area.y, '╮'), (area.x, bottom, '╰'), (right, bottom, '╯')]
        {
            self.cell(x, y, corner, faint);
        }
        let top = Rect { x: area.x + 2, width: area.width.saturating_sub(4), height: 1, ..area };
        self.text(top, 0, 0, &format!(" {title} "), Palette::strong());
        Rect { x: area.x + 1, y: area.y + 1, width: area.width - 2, height: area.height - 2 }
    }

    /// Words in the lower edge of a frame, left and right.
    pub(super) fn foot(&mut self, frame: Rect, left: &str, right: &str) {
        let words = left.chars().count() + right.chars().count() + 8;
        if usize::from(frame.width) < words || frame.height < 2 {
            return;
        }
        let edge = Rect { x: frame.x + 2, y: frame.y + frame.height - 1, width: frame.width - 4, height: 1 };
        self.text(edge, 0, 0, &format!(" {left} "), Palette::faint());
        self.right(edge, 0, 0, &format!(" {right} "), Palette::faint());
    }

    /// A bar of `share` of a width, from 0 to 1, to an eighth of a cell.
    pub(super) fn bar(&mut self, area: Rect, column: u16, row: u16, (width, share): (u16, f64), style: Style) {
        const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        let eighths = (share.clamp(0.0, 1.0) * f64::from(width) * 8.0).round() as usize;
        let bar = format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8]);
        let width = width.min(area.width.saturating_sub(column));
        self.text(Rect { width: column + width, ..area }, column, row, &bar, style);
    }
}

/// The first of several forms of a text that fits into so many letters; of the last one what fits.
pub(super) fn fitting(room: usize, forms: &[String]) -> String {
    let fits = |form: &&String| form.chars().count() <= room;
    match (forms.iter().find(fits), forms.last()) {
        (Some(form), _) => form.clone(),
        (None, Some(last)) if room > 0 => last.chars().take(room - 1).chain(['…']).collect(),
        (None, _) => String::new(),
    }
}

/// The rows of an area from one on, at most so many.
pub(super) fn rows(area: Rect, from: u16, height: u16) -> Rect {
    let from = from.min(area.height);
    Rect { y: area.y + from, height: height.min(area.height - from), ..area }
}

/// The columns of an area from one on, at most so many.
pub(super) fn columns(area: Rect, from: u16, width: u16) -> Rect {
    let from = from.min(area.width);
    Rect { x: area.x + from, width: width.min(area.width - from), ..area }
}

/// An area in `n` parts side by side.
pub(super) fn beside(area: Rect, n: u16) -> impl Iterator<Item = Rect> {
    let n = n.max(1);
    (0..n).map(move |i| {
        let at = |i: u16| (u32::from(area.width) * u32::from(i) / u32::from(n)) as u16;
        columns(area, at(i), at(i + 1) - at(i))
    })
}

/// An area in `n` parts one above the other.
pub(super) fn stacked(area: Rect, n: u16) -> impl Iterator<Item = Rect> {
    let n = n.max(1);
    (0..n).map(move |i| {
        let at = |i: u16| (u32::from(area.height) * u32::from(i) / u32::from(n)) as u16;
        rows(area, at(i), at(i + 1) - at(i))
    })
}
