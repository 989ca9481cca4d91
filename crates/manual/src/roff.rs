//! Writer of the manual page language, `man(7)` of groff and mandoc.

/// A page under way.
#[derive(Debug)]
pub(crate) struct Roff {
    text: String,
    /// Whether a heading is the last thing that was said: what follows it needs no space before it.
    headed: bool,
}

impl Roff {
    /// Begins the page `name` of a section of the manual.
    pub(crate) fn new(name: &str, section: u8) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        let name = escaped(&name.to_uppercase());
        // Options must not be hyphenated at the end of a line: they are copied.
        let text = format!(".TH \"{name}\" {section} \"\" \"Fathom {version}\" \"Fathom Manual\"\n.nh\n.ad l\n");
        Self { text, headed: false }
    }

    /// Begins a section.
    pub(crate) fn section(&mut self, title: &str) {
        self.heading("SH", title);
    }

    /// Begins a part of a section.
    pub(crate) fn subsection(&mut self, title: &str) {
        self.heading("SS", title);
    }

    /// Filled text.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.space();
        self.filled(&prose(text));
    }

    /// A name or an option, already marked up, and what is to be said of it.
    pub(crate) fn tagged(&mut self, tag: &str, text: &str) {
        self.headed = false;
        self.text.push_str(".TP\n");
        self.filled(tag);
        self.filled(&prose(text));
    }

    /// Lines as they are typed.
    pub(crate) fn verbatim(&mut self, lines: &[&str]) {
        self.space();
        self.text.push_str(".RS 4\n.nf\n");
        lines.iter().for_each(|line| self.filled(&escaped(line)));
        self.text.push_str(".fi\n.RE\n");
    }

    /// Words that are already marked up, as they are.
    pub(crate) fn line(&mut self, words: &str) {
        self.filled(words);
    }

    /// Words that are already marked up, in a paragraph of their own.
    pub(crate) fn marked(&mut self, words: &str) {
        self.space();
        self.filled(words);
    }

    /// The whole page.
    pub(crate) fn finish(self) -> String {
        self.text
    }

    fn heading(&mut self, request: &str, title: &str) {
        self.headed = true;
        self.text.push_str(&format!(".{request} \"{}\"\n", escaped(title).replace('"', "\\(dq")));
    }

    /// Room before a paragraph that is not the first one.
    fn space(&mut self) {
        if !std::mem::take(&mut self.headed) {
            self.text.push_str(".PP\n");
        }
    }

    /// A line of text: one that begins like a request is none.
    fn filled(&mut self, text: &str) {
        for line in text.lines() {
            let guard = if line.starts_with(['.', '\'']) { "\\&" } else { "" };
            self.text.push_str(&format!("{guard}{line}\n"));
        }
    }
}

/// Words to be typed as they are.
pub(crate) fn bold(text: &str) -> String {
    format!("\\fB{}\\fR", escaped(text))
}

/// Words that stand for others.
pub(crate) fn italic(text: &str) -> String {
    format!("\\fI{}\\fR", escaped(text))
}

/// Text in which no character has a meaning, and which comes out as ASCII where it is ASCII, so that it can be copied.
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

/// Sentences, each on a line of its own; what stands between backquotes is set as it is typed.
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
    fn nothing_in_a_text_is_taken_for_a_request_or_an_escape() {
        let mut page = Roff::new("x", 1);
        page.verbatim(&[".so /etc/passwd", "'quoted' a\\b ~/x-y", "…"]);
        let text = page.finish();
        assert!(text.contains("\n\\&.so /etc/passwd\n\\(aqquoted\\(aq a\\eb \\(ti/x\\-y\n\\[u2026]\n"), "{text}");
    }

    #[test]
    fn sentences_have_lines_of_their_own_and_code_is_bold() {
        assert_eq!(prose("One. Two e. g. `a-b`. Three."), "One.\nTwo e. g. \\fBa\\-b\\fR.\nThree.");
    }
}
