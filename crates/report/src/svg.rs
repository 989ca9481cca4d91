//! What every picture begins with, ends with and is labelled with.

use std::fmt::Write;

/// An SVG that grows at its end.
#[derive(Clone, Debug)]
pub struct Svg {
    text: String,
}

impl Svg {
    /// Empty paper, with the classes of `style`.
    #[must_use]
    pub fn new(width: f64, height: f64, style: &str) -> Self {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height:.0}\" width=\"{width}\" \
             height=\"{height:.0}\" role=\"img\">\n<style>{style}</style>\n<rect class=\"paper\" width=\"100%\" \
             height=\"100%\"/>\n"
        );
        Self { text }
    }

    /// An element as it is.
    pub fn element(&mut self, element: &str) {
        self.text.push_str(element);
        self.text.push('\n');
    }

    /// Words at a place; what stands for markup in them is escaped.
    pub fn words(&mut self, (x, y): (f64, f64), class: &str, words: &str) {
        let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let _ = writeln!(self.text, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{words}</text>");
    }

    /// The whole picture.
    #[must_use]
    pub fn finish(self) -> String {
        self.text + "</svg>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_no_markup() {
        let mut picture = Svg::new(10.0, 4.2, "");
        picture.words((1.0, 2.0), "soft", "a < b & c");
        assert!(
            picture.finish().ends_with("<text class=\"soft\" x=\"1.0\" y=\"2.0\">a &lt; b &amp; c</text>\n</svg>\n")
        );
    }
}
