//! Colours and line wrapping.

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
