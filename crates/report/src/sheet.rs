//! Text layout for terminals: lines, wrapped paragraphs and aligned fields.

/// Width and colours of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SheetStyle {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether colours may be used.
    pub colour: bool,
    /// Whether to print all findings with their evidence, all devices and all candidates.
    pub details: bool,
}

impl Default for SheetStyle {
    fn default() -> Self {
        Self { width: 80, colour: false, details: false }
    }
}

impl SheetStyle {
    /// Limits the width to 60 to 120 columns.
    #[must_use]
    pub fn readable(self) -> Self {
        Self { width: self.width.clamp(60, 120), ..self }
    }
}

/// Text under construction.
#[derive(Clone, Debug)]
pub struct Sheet {
    text: String,
    width: usize,
    details: bool,
    paint: Paint,
    /// Column in which the values of fields begin.
    indent: usize,
}

impl Sheet {
    /// Returns an empty sheet; values of fields begin in column `indent`.
    #[must_use]
    pub fn new(style: SheetStyle, indent: usize) -> Self {
        Self { text: String::new(), width: style.width, details: style.details, paint: Paint(style.colour), indent }
    }

    /// Returns the text.
    #[must_use]
    pub fn finish(self) -> String {
        self.text
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Reports whether everything is to be printed.
    pub(crate) fn shows_details(&self) -> bool {
        self.details
    }

    /// Returns the colours.
    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// Colours a piece of text, if colours are enabled.
    pub(crate) fn tone(&self, tone: Tone, text: &str) -> String {
        self.paint.tone(tone, text)
    }

    /// Colours important text.
    #[must_use]
    pub fn strong(&self, text: &str) -> String {
        self.tone(Tone::Strong, text)
    }

    /// Colours labels and details.
    #[must_use]
    pub fn faint(&self, text: &str) -> String {
        self.tone(Tone::Faint, text)
    }

    /// Appends a line without wrapping; blanks at its end are removed.
    pub fn line(&mut self, text: &str) {
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    /// Appends an empty line.
    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    /// Appends a paragraph, wrapped to the width of the sheet.
    pub fn paragraph(&mut self, text: &str, tone: Option<Tone>) {
        self.hung(["", ""], self.width, text, tone);
    }

    /// Appends a faint paragraph indented by `indent` columns.
    pub fn aside(&mut self, indent: usize, text: &str) {
        for line in wrap(text, self.width.saturating_sub(indent)) {
            self.line(&self.faint(&format!("{:indent$}{line}", "")));
        }
    }

    /// Appends a paragraph that begins with `lead`; further lines are indented by its width.
    pub fn wrapped(&mut self, lead: &str, text: &str) {
        let indent = lead.chars().count();
        self.hung([lead, &" ".repeat(indent)], self.width.saturating_sub(indent), text, None);
    }

    /// Appends a paragraph wrapped to `room` columns, with `lead` before its first line and `below` before the others.
    pub fn hung(&mut self, [lead, below]: [&str; 2], room: usize, text: &str, tone: Option<Tone>) {
        for (index, part) in wrap(text, room).into_iter().enumerate() {
            let lead = if index == 0 { lead } else { below };
            let part = tone.map_or_else(|| part.clone(), |tone| self.tone(tone, &part));
            self.line(&format!("{lead}{part}"));
        }
    }

    /// Appends an indented paragraph with a coloured `lead`, unless the lead itself is wrapped.
    pub(crate) fn led(&mut self, indent: usize, lead: &str, tone: Tone, rest: &str) {
        for (index, line) in wrap(&format!("{lead}{rest}"), self.width - indent).iter().enumerate() {
            let line = match line.strip_prefix(lead).filter(|_| index == 0) {
                Some(rest) => format!("{}{rest}", self.tone(tone, lead)),
                None => line.clone(),
            };
            self.line(&format!("{:indent$}{line}", ""));
        }
    }

    /// Appends a label and its value, which is wrapped in its column.
    pub(crate) fn field(&mut self, label: &str, value: &str) {
        self.toned_field(label, value, None);
    }

    /// Appends a label and a coloured value.
    pub(crate) fn toned_field(&mut self, label: &str, value: &str, tone: Option<Tone>) {
        let leads = [self.label(label), self.label("")];
        self.hung([&leads[0], &leads[1]], self.width - self.indent, value, tone);
    }

    /// Returns a label, padded to the column of values.
    pub(crate) fn label(&self, label: &str) -> String {
        self.faint(&format!("  {label:<width$}", width = self.indent.saturating_sub(2)))
    }
}

/// Meaning of a piece of text, which determines its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Important text.
    Strong,
    /// Labels and details.
    Faint,
    /// A good value or outcome.
    Good,
    /// An unexpected value, or a warning.
    Odd,
    /// An error.
    Bad,
}

/// Applies colours, if enabled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint(pub(crate) bool);

impl Paint {
    pub(crate) fn tone(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Strong => "1",
            Tone::Faint => "2",
            Tone::Good => "32",
            Tone::Odd => "33",
            Tone::Bad => "1;31",
        };
        if self.0 && !text.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// Breaks text at blanks into lines of at most `width` characters. A longer word has its own line.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(width: usize, colour: bool) -> Sheet {
        Sheet::new(SheetStyle { width, colour, ..SheetStyle::default() }, 8)
    }

    #[test]
    fn values_are_wrapped_in_their_column() {
        let mut page = sheet(20, false);
        page.field("limit", "one two three four");
        page.wrapped(" * ", "five six seven eight");
        assert_eq!(page.finish(), "  limit one two\n        three four\n * five six seven\n   eight\n");
    }

    #[test]
    fn a_lead_is_coloured_unless_it_is_wrapped() {
        let mut page = sheet(14, true);
        page.led(2, "Also:", Tone::Good, " it is fine as it is");
        page.led(2, "Verdict on all:", Tone::Good, " fine");
        let painted = "  \u{1b}[32mAlso:\u{1b}[0m it is\n  fine as it\n  is\n";
        assert_eq!(page.finish(), format!("{painted}  Verdict on\n  all: fine\n"));
    }

    #[test]
    fn wrapped_lines_fit_and_contain_all_words() {
        let text = "one two three four incomprehensibilities five";
        let lines = wrap(text, 10);
        assert_eq!(lines, ["one two", "three four", "incomprehensibilities", "five"]);
        assert_eq!(wrap("", 10), [""]);
    }

    #[test]
    fn text_is_unchanged_without_colours() {
        assert_eq!(Paint(false).tone(Tone::Bad, "a"), "a");
        assert_eq!(Paint(true).tone(Tone::Bad, "a"), "\u{1b}[1;31ma\u{1b}[0m");
    }
}
