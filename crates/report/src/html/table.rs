//! HTML tables.

use super::markup::Markup;

/// A table with words in the columns on the left and figures in the others.
#[derive(Clone, Debug, Default)]
pub(super) struct HtmlTable {
    pub(super) caption: String,
    /// Column headings.
    pub(super) head: Vec<String>,
    /// Rows; the first cell of each is its heading.
    pub(super) rows: Vec<Vec<String>>,
    /// Number of columns with words.
    pub(super) words: usize,
}

impl HtmlTable {
    pub(super) fn new(caption: impl Into<String>, head: &[&str], words: usize) -> Self {
        let head = head.iter().map(|&name| name.to_owned()).collect();
        Self { caption: caption.into(), head, rows: Vec::new(), words }
    }

    /// Writes the table in a box that scrolls if the table is wider than the page.
    pub(super) fn write(&self, out: &mut Markup) {
        // The box takes the focus, so that it can be scrolled with the keyboard.
        let scroll =
            [("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", self.caption.as_str())];
        out.inside("div", &scroll, |out| {
            out.inside("table", &[], |out| {
                out.leaf("caption", "", &self.caption);
                out.inside("thead", &[], |out| out.inside("tr", &[], |out| self.head(out)));
                out.inside("tbody", &[], |out| self.rows.iter().for_each(|row| self.row(out, row)));
            });
        });
    }

    fn head(&self, out: &mut Markup) {
        for (column, name) in self.head.iter().enumerate() {
            let class = if column < self.words { "w" } else { "n" };
            out.inside("th", &[("scope", "col"), ("class", class)], |out| out.name(name));
        }
    }

    fn row(&self, out: &mut Markup, row: &[String]) {
        out.inside("tr", &[], |out| {
            for (column, cell) in row.iter().enumerate() {
                match column {
                    0 => out.inside("th", &[("scope", "row")], |out| out.name(cell)),
                    column if column < self.words => out.class("td", "w", |out| out.name(cell)),
                    _ => out.leaf("td", "", cell),
                }
            }
        });
    }

    /// Writes the table collapsed below a summary line.
    pub(super) fn folded(&self, out: &mut Markup, summary: &str) {
        out.inside("details", &[], |out| {
            out.leaf("summary", "", summary);
            self.write(out);
        });
    }
}
