//! HTML writer that closes elements and escapes text.

use crate::chart::escape;

/// Markup that grows at its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Markup {
    text: String,
}

/// Attributes of an element: names and values.
type Attributes<'a> = &'a [(&'a str, &'a str)];

impl Markup {
    /// An element and what is in it.
    pub(super) fn inside(&mut self, tag: &str, attributes: Attributes<'_>, body: impl FnOnce(&mut Self)) {
        self.open(tag, attributes);
        self.text.push('>');
        body(self);
        // A blank would show where words go on.
        let end = if matches!(tag, "a" | "b" | "small" | "span") { "" } else { "\n" };
        self.text.push_str(&format!("</{tag}>{end}"));
    }

    /// The same with nothing but a class.
    pub(super) fn class(&mut self, tag: &str, class: &str, body: impl FnOnce(&mut Self)) {
        self.inside(tag, &[("class", class)], body);
    }

    /// An element with text alone; without attributes where the class is empty.
    pub(super) fn leaf(&mut self, tag: &str, class: &str, text: &str) {
        let attributes = [("class", class)];
        self.inside(tag, if class.is_empty() { &[] } else { &attributes }, |out| out.text(text));
    }

    /// An element that holds nothing.
    pub(super) fn void(&mut self, tag: &str, attributes: Attributes<'_>) {
        self.open(tag, attributes);
        self.text.push_str("/>\n");
    }

    /// Text.
    pub(super) fn text(&mut self, text: &str) {
        self.text.push_str(&escape(text));
    }

    /// A name that a user chose: whatever letters it is of, it does not change the order of those around it.
    pub(super) fn name(&mut self, name: &str) {
        if name.is_ascii() {
            return self.text(name);
        }
        self.text.push_str(&format!("<bdi>{}</bdi>", escape(name)));
    }

    /// What is markup already: a picture, the style.
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

    /// All of it.
    pub(super) fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_written_becomes_markup() {
        let mut out = Markup::default();
        out.inside("p", &[("title", "\"><script>")], |out| out.name("<b>&\u{202e}"));
        assert_eq!(out.finish(), "<p title=\"&quot;&gt;&lt;script&gt;\"><bdi>&lt;b&gt;&amp;\u{fffd}</bdi></p>\n");
    }
}
