//! Writes manual page markup, `man(7)` of groff and mandoc.

/// A page that is being written.
#[derive(Debug)]
pub(crate) struct Roff {
    /// The source so far.
    pub(crate) text: String,
    /// Whether the last line is a heading: the next paragraph needs no space before it.
    headed: bool,
}

impl Roff {
    /// Begins the page `name` of a section of the manual.
    pub(crate) fn new(name: &str, section: u8) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        let name = escaped(&name.to_uppercase());
        // Options must not be hyphenated at the end of a line, because users copy them.
        let text = format!(".TH \"{name}\" {section} \"\" \"Fathom {version}\" \"Fathom Manual\"\n.nh\n.ad l\n");
        Self { text, headed: false }
    }

    /// Begins a section.
    pub(crate) fn section(&mut self, title: &str) {
        self.heading("SH", title);
    }

    /// Begins a subsection.
    pub(crate) fn subsection(&mut self, title: &str) {
        self.heading("SS", title);
    }

    /// Writes a paragraph of filled text.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.space();
        self.line(&prose(text));
    }

    /// Writes a tag, already marked up, and its description.
    pub(crate) fn tagged(&mut self, tag: &str, text: &str) {
        self.headed = false;
        self.text.push_str(".TP\n");
        self.line(tag);
        self.line(&prose(text));
    }

    /// Writes lines verbatim.
    pub(crate) fn verbatim(&mut self, lines: &[&str]) {
        self.space();
        self.text.push_str(".RS 4\n.nf\n");
        lines.iter().for_each(|line| self.line(&escaped(line)));
        self.text.push_str(".fi\n.RE\n");
    }

    /// Writes a paragraph that is already marked up.
    pub(crate) fn marked(&mut self, text: &str) {
        self.space();
        self.line(text);
    }

    fn heading(&mut self, request: &str, title: &str) {
        self.headed = true;
        self.text.push_str(&format!(".{request} \"{}\"\n", escaped(title).replace('"', "\\(dq")));
    }

    /// Separates a paragraph from the one before it.
    fn space(&mut self) {
        if !std::mem::take(&mut self.headed) {
            self.text.push_str(".PP\n");
        }
    }

    /// Writes text that is already marked up. A line that begins like a request is guarded.
    pub(crate) fn line(&mut self, text: &str) {
        for line in text.lines() {
            let guard = if line.starts_with(['.', '\'']) { "\\&" } else { "" };
            self.text.push_str(&format!("{guard}{line}\n"));
        }
    }
}

/// Marks literal text.
pub(crate) fn bold(text: &str) -> String {
    format!("\\fB{}\\fR", escaped(text))
}

/// Marks placeholders.
pub(crate) fn italic(text: &str) -> String {
    format!("\\fI{}\\fR", escaped(text))
}

/// Escapes all characters with a meaning in markup. ASCII stays ASCII in the output, so that it can be copied.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '\'' => out.push_str("\\(aq"),
            '`' => out.push_str("\\(ga"),
            '^' => out.push_str("\\(ha"),
            '~' => out.push_str("\\(ti"),
            ascii if ascii.is_ascii() => out.push(ascii),
            other => out.push_str(&format!("\\[u{:04X}]", u32::from(other))),
        }
    }
    out
}

/// Marks up text with each sentence on its own line; text between backquotes is literal.
fn prose(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::new();
    for (index, part) in words.split('`').enumerate() {
        out.push_str(&if index % 2 == 0 { sentences(part) } else { bold(part) });
    }
    out
}

fn sentences(text: &str) -> String {
    let mut out = escaped(text);
    for end in [". ", "? "] {
        let mut parts = out.split(end);
        let mut lines = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let begins = part.chars().next().is_some_and(|letter| letter.is_uppercase() || letter == '\\');
            lines.push_str(end.trim_end());
            lines.push_str(if begins { "\n" } else { " " });
            lines.push_str(part);
        }
        out = lines;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_a_request_or_an_escape() {
        let mut page = Roff::new("x", 1);
        page.verbatim(&[".so /etc/passwd", "'quoted' a\\b ~/x-y", "…"]);
        let text = page.text;
        assert!(text.contains("\n\\&.so /etc/passwd\n\\(aqquoted\\(aq a\\eb \\(ti/x\\-y\n\\[u2026]\n"), "{text}");
    }

    #[test]
    fn sentences_are_on_separate_lines_and_code_is_bold() {
        assert_eq!(prose("One. Two e. g. `a-b`. Three."), "One.\nTwo e. g. \\fBa\\-b\\fR.\nThree.");
    }
}
