//! A writer of HTML that closes elements and escapes text.

use crate::chart::escape;

/// Markup under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Markup {
    text: String,
}

/// Names and values of an element's attributes.
type Attributes<'a> = &'a [(&'a str, &'a str)];

impl Markup {
    /// Writes an element with a body.
    pub(super) fn inside(&mut self, tag: &str, attributes: Attributes<'_>, body: impl FnOnce(&mut Self)) {
        self.open(tag, attributes);
        self.text.push('>');
        body(self);
        // White space after an inline element would be visible.
        let end = if matches!(tag, "a" | "b" | "small" | "span") { "" } else { "\n" };
        self.text.push_str(&format!("</{tag}>{end}"));
    }

    /// Writes an element with a class and a body.
    pub(super) fn class(&mut self, tag: &str, class: &str, body: impl FnOnce(&mut Self)) {
        self.inside(tag, &[("class", class)], body);
    }

    /// Writes an element with text, without attributes if the class is empty.
    pub(super) fn leaf(&mut self, tag: &str, class: &str, text: &str) {
        let attributes = [("class", class)];
        self.inside(tag, if class.is_empty() { &[] } else { &attributes }, |out| out.text(text));
    }

    /// Writes an element without content.
    pub(super) fn void(&mut self, tag: &str, attributes: Attributes<'_>) {
        self.open(tag, attributes);
        self.text.push_str("/>\n");
    }

    /// Writes escaped text.
    pub(super) fn text(&mut self, text: &str) {
        self.text.push_str(&escape(text));
    }

    /// Writes a name from outside, isolated so that its script cannot reorder the text around it.
    pub(super) fn name(&mut self, name: &str) {
        if name.is_ascii() {
            return self.text(name);
        }
        self.text.push_str(&format!("<bdi>{}</bdi>", escape(name)));
    }

    /// Writes the entries of a list of facts: labels and texts.
    pub(super) fn facts<'a>(&mut self, entries: impl IntoIterator<Item = (&'a str, String)>) {
        for (label, text) in entries {
            self.leaf("dt", "", label);
            self.inside("dd", &[], |out| out.name(&text));
        }
    }

    /// Writes markup verbatim.
    pub(super) fn raw(&mut self, markup: &str) {
        self.text.push_str(markup);
    }

    fn open(&mut self, tag: &str, attributes: Attributes<'_>) {
        self.text.push('<');
        self.text.push_str(tag);
        for (name, value) in attributes {
            self.text.push_str(&format!(" {name}=\"{}\"", escape(value)));
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped() {
        let mut out = Markup::default();
        out.inside("p", &[("title", "\"><script>")], |out| out.name("<b>&\u{202e}"));
        assert_eq!(out.finish(), "<p title=\"&quot;&gt;&lt;script&gt;\"><bdi>&lt;b&gt;&amp;\u{fffd}</bdi></p>\n");
    }
}
