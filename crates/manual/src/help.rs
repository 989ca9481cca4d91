//! Splits the text after the options into description, examples and exit codes.

/// The text after the options of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Help<'a> {
    /// Paragraphs and lists.
    pub(crate) description: Vec<HelpBlock<'a>>,
    /// Command lines.
    pub(crate) examples: Vec<&'a str>,
    /// Exit codes and their meanings.
    pub(crate) exits: Vec<(String, String)>,
}

/// A paragraph.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HelpBlock<'a> {
    /// Filled text.
    Text(&'a str),
    /// A line and the indented lines below it.
    Listing(&'a str, Vec<&'a str>),
}

impl<'a> Help<'a> {
    /// Parses the text paragraph by paragraph.
    pub(crate) fn read(text: &'a str) -> Self {
        let mut help = Self::default();
        for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
            help.paragraph(paragraph);
        }
        help
    }

    fn paragraph(&mut self, paragraph: &'a str) {
        let (first, rest) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
        let lines = || rest.lines().map(|line| line.strip_prefix("  ").unwrap_or(line));
        if first == "Examples:" {
            self.examples.extend(lines());
        } else if first.starts_with("Exit codes") {
            let (_, codes) = paragraph.split_once(':').unwrap_or((first, rest));
            self.exits.extend(exits(codes));
        } else if first.ends_with(':') && rest.lines().all(|line| line.starts_with(' ')) {
            self.description.push(HelpBlock::Listing(first, lines().collect()));
        } else {
            self.description.push(HelpBlock::Text(paragraph));
        }
    }
}

/// Parses exit codes, in columns or in one line.
fn exits(text: &str) -> Vec<(String, String)> {
    let entries: Vec<&str> = match text.trim_start_matches(' ').strip_prefix('\n') {
        Some(columns) => columns.lines().flat_map(|line| line.split("  ")).collect(),
        None => text.split(", ").collect(),
    };
    let mut codes: Vec<(String, String)> = Vec::new();
    for entry in entries.into_iter().map(str::trim).filter(|entry| !entry.is_empty()) {
        let separator = if entry.starts_with(|letter: char| letter.is_ascii_digit()) { " " } else { ": " };
        let split = entry.split_once(separator);
        match (split, codes.last_mut()) {
            (Some((code, meaning)), _) => codes.push((code.to_owned(), meaning.to_owned())),
            // The rest of a meaning that contains a comma.
            (None, Some((_, meaning))) => *meaning = format!("{meaning}, {entry}"),
            (None, None) => {}
        }
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn borrowed(codes: &[(String, String)]) -> Vec<(&str, &str)> {
        codes.iter().map(|(code, meaning)| (code.as_str(), meaning.as_str())).collect()
    }

    #[test]
    fn examples_and_exit_codes_are_found_among_the_paragraphs() {
        let help = Help::read(
            "Some words\non two lines.\n\nExpressions:\n  a >= 1\n\nExamples:\n  fathom run a\n  fathom run b\n\nExit codes:\n  \
             0 good           1 bad\n  128+n ended by signal n: kept    with --run: that of CMD",
        );
        let description =
            [HelpBlock::Text("Some words\non two lines."), HelpBlock::Listing("Expressions:", vec!["a >= 1"])];
        assert_eq!(help.description, description);
        assert_eq!(help.examples, ["fathom run a", "fathom run b"]);
        let codes = [("0", "good"), ("1", "bad"), ("128+n", "ended by signal n: kept"), ("with --run", "that of CMD")];
        assert_eq!(borrowed(&help.exits), codes);
    }

    #[test]
    fn exit_codes_in_one_line_are_separated() {
        let help = Help::read("Exit codes: 0 good, 2 refused, nothing was touched, 3 I/O error");
        assert_eq!(borrowed(&help.exits), [("0", "good"), ("2", "refused, nothing was touched"), ("3", "I/O error")]);
    }
}
