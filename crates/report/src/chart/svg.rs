//! SVG elements.

use std::fmt::Write;

/// An SVG image under construction.
#[derive(Clone, Debug)]
pub(crate) struct Svg {
    text: String,
}

impl Svg {
    /// Returns an empty standalone image with a background and a style sheet.
    pub(crate) fn new(width: f64, height: f64, style: &str) -> Self {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height:.0}\" width=\"{width}\" \
             height=\"{height:.0}\" role=\"img\">\n<style>{style}</style>\n<rect class=\"paper\" width=\"100%\" \
             height=\"100%\"/>\n"
        );
        Self { text }
    }

    /// Returns an empty image for a page, which provides the style sheet; screen readers read `label`.
    pub(crate) fn within(width: f64, height: f64, label: &str) -> Self {
        let label = escape(label);
        Self { text: format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">") }
    }

    /// Appends an element verbatim.
    pub(crate) fn element(&mut self, element: &str) {
        self.text.push_str(element);
        self.text.push('\n');
    }

    /// Appends escaped text at a position.
    pub(crate) fn words(&mut self, (x, y): (f64, f64), class: &str, words: &str) {
        let (x, y, words) = (Short(x), Short(y), escape(words));
        let _ = writeln!(self.text, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{words}</text>");
    }

    /// Appends a path; `title` is its tooltip unless it is empty.
    pub(crate) fn path(&mut self, class: &str, d: &str, title: &str) {
        let (start, rest) = (format!("<path class=\"{class}\" d=\"{d}\""), Self::rest("path", title));
        self.element(&(start + &rest));
    }

    pub(crate) fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.path(class, &format!("M{} {}L{} {}", Short(x1), Short(y1), Short(x2), Short(y2)), "");
    }

    /// Appends a rectangle given by two corners.
    pub(crate) fn rect(&mut self, class: &str, (left, top): (f64, f64), (right, bottom): (f64, f64), title: &str) {
        let (x, y, width, height) = (Short(left), Short(top), Short(right - left), Short(bottom - top));
        let start = format!("<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"");
        self.element(&(start + &Self::rest("rect", title)));
    }

    pub(crate) fn circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64, title: &str) {
        let start =
            format!("<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{}\"", Short(x), Short(y), Short(radius));
        self.element(&(start + &Self::rest("circle", title)));
    }

    fn rest(tag: &str, title: &str) -> String {
        if title.is_empty() { "/>".to_owned() } else { format!("><title>{}</title></{tag}>", escape(title)) }
    }

    pub(crate) fn finish(self) -> String {
        self.text + "</svg>\n"
    }
}

/// A coordinate, rounded to a tenth and written in as few characters as possible.
pub(super) struct Short(pub(super) f64);

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tenths = (self.0 * 10.0).round();
        // Avoid a negative zero, and text that is not a number.
        let tenths = if tenths.is_finite() && tenths != 0.0 { tenths } else { 0.0 };
        write!(f, "{}", tenths / 10.0)
    }
}

pub(crate) use crate::escape::xml as escape;

/// Wraps a name in directional isolates, so that its script cannot reorder the text around it.
pub(crate) fn isolated(name: &str) -> String {
    if name.is_ascii() { name.to_owned() } else { format!("\u{2068}{name}\u{2069}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        let mut picture = Svg::new(10.0, 4.2, "");
        picture.words((1.0, 2.04), "soft", "a < b & c\u{1b}");
        assert!(
            picture
                .finish()
                .ends_with("<text class=\"soft\" x=\"1\" y=\"2\">a &lt; b &amp; c\u{fffd}</text>\n</svg>\n")
        );
        assert_eq!(escape("\"><script>'"), "&quot;&gt;&lt;script&gt;&#39;");
    }

    #[test]
    fn coordinates_are_short_and_finite() {
        let texts = [1.0, 2.04, -0.01, 12.35, f64::NAN].map(|value| Short(value).to_string());
        assert_eq!(texts, ["1", "2", "0", "12.4", "0"]);
    }
}
