//! Text layout: lines, paragraphs and aligned fields.

use crate::paint::{Paint, Tone, wrap};

/// Layout of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SheetStyle {
    /// Columns of the terminal. Reports take it as 60 below that, and as 120 above.
    pub width: usize,
    /// Whether colours may be used.
    pub colour: bool,
}

impl Default for SheetStyle {
    fn default() -> Self {
        Self { width: 80, colour: false }
    }
}

impl SheetStyle {
    /// As wide as text is read well.
    #[must_use]
    pub fn readable(self) -> Self {
        Self { width: self.width.clamp(60, 120), ..self }
    }
}

/// A page that grows at its end.
#[derive(Clone, Debug)]
pub struct Sheet {
    text: String,
    width: usize,
    paint: Paint,
    /// The column in which the values of fields begin.
    indent: usize,
}

impl Sheet {
    /// An empty page; values of its fields begin in column `indent`.
    #[must_use]
    pub fn new(style: SheetStyle, indent: usize) -> Self {
        Self { text: String::new(), width: style.width, paint: Paint(style.colour), indent }
    }

    /// All that was written.
    #[must_use]
    pub fn finish(self) -> String {
        self.text
    }

    /// Columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Its colours.
    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// A piece of text in the colour of its meaning, where there are colours.
    #[must_use]
    pub fn tone(&self, tone: Tone, text: &str) -> String {
        self.paint.tone(tone, text)
    }

    /// What the eye looks for.
    #[must_use]
    pub fn strong(&self, text: &str) -> String {
        self.tone(Tone::Strong, text)
    }

    /// Labels, and what may be left unread.
    #[must_use]
    pub fn faint(&self, text: &str) -> String {
        self.tone(Tone::Faint, text)
    }

    /// A line as it is, without blanks at its end.
    pub fn line(&mut self, text: &str) {
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    /// An empty line.
    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    /// Lines that fit.
    pub fn paragraph(&mut self, text: &str, tone: Option<Tone>) {
        self.hung(["", ""], self.width, text, tone);
    }

    /// A faint paragraph `indent` columns from the edge.
    pub fn aside(&mut self, indent: usize, text: &str) {
        for line in wrap(text, self.width.saturating_sub(indent)) {
            self.line(&self.faint(&format!("{:indent$}{line}", "")));
        }
    }

    /// A paragraph behind `lead`, its other lines as far to the right.
    pub fn wrapped(&mut self, lead: &str, text: &str) {
        let indent = lead.chars().count();
        self.hung([lead, &" ".repeat(indent)], self.width.saturating_sub(indent), text, None);
    }

    /// A paragraph of `room` columns behind what stands before its first line and before the others.
    pub fn hung(&mut self, [lead, below]: [&str; 2], room: usize, text: &str, tone: Option<Tone>) {
        for (index, part) in wrap(text, room).into_iter().enumerate() {
            let lead = if index == 0 { lead } else { below };
            let part = tone.map_or_else(|| part.clone(), |tone| self.tone(tone, &part));
            self.line(&format!("{lead}{part}"));
        }
    }

    /// A paragraph `indent` columns from the edge; its first words, `lead`, are coloured where they stand on one line.
    pub(crate) fn led(&mut self, indent: usize, lead: &str, tone: Tone, rest: &str) {
        for (index, line) in wrap(&format!("{lead}{rest}"), self.width - indent).iter().enumerate() {
            let line = match line.strip_prefix(lead).filter(|_| index == 0) {
                Some(rest) => format!("{}{rest}", self.tone(tone, lead)),
                None => line.clone(),
            };
            self.line(&format!("{:indent$}{line}", ""));
        }
    }

    /// A label and its value; what does not fit goes on below the value.
    pub(crate) fn field(&mut self, label: &str, value: &str) {
        self.toned_field(label, value, None);
    }

    /// The same with a colour for the value.
    pub(crate) fn toned_field(&mut self, label: &str, value: &str, tone: Option<Tone>) {
        let leads = [self.label(label), self.label("")];
        self.hung([&leads[0], &leads[1]], self.width - self.indent, value, tone);
    }

    /// What stands before the value of a field.
    pub(crate) fn label(&self, label: &str) -> String {
        self.faint(&format!("  {label:<width$}", width = self.indent.saturating_sub(2)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(width: usize, colour: bool) -> Sheet {
        Sheet::new(SheetStyle { width, colour }, 8)
    }

    #[test]
    fn values_go_on_below_themselves() {
        let mut page = sheet(20, false);
        page.field("limit", "one two three four");
        page.wrapped(" * ", "five six seven eight");
        assert_eq!(page.finish(), "  limit one two\n        three four\n * five six seven\n   eight\n");
    }

    #[test]
    fn a_lead_is_coloured_where_it_stands_on_one_line() {
        let mut page = sheet(14, true);
        page.led(2, "Also:", Tone::Good, " it is fine as it is");
        page.led(2, "Verdict on all:", Tone::Good, " fine");
        let painted = "  \u{1b}[32mAlso:\u{1b}[0m it is\n  fine as it\n  is\n";
        assert_eq!(page.finish(), format!("{painted}  Verdict on\n  all: fine\n"));
    }
}
