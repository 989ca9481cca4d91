//! HTML tables.

use super::markup::Markup;

/// A table: words on the left, figures on the right.
#[derive(Clone, Debug, Default)]
pub(super) struct HtmlTable {
    /// What it shows.
    pub(super) caption: String,
    /// The heads of its columns.
    pub(super) head: Vec<String>,
    /// The first cell of a row is its head.
    pub(super) rows: Vec<Vec<String>>,
    /// How many columns on the left hold words.
    pub(super) words: usize,
}

impl HtmlTable {
    pub(super) fn new(caption: impl Into<String>, head: &[&str], words: usize) -> Self {
        let head = head.iter().map(|&name| name.to_owned()).collect();
        Self { caption: caption.into(), head, rows: Vec::new(), words }
    }

    /// Writes it, in a box that scrolls where it is wider than the page.
    pub(super) fn write(&self, out: &mut Markup) {
        // Users without a mouse scroll with keys, which needs the focus.
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

    /// Writes it behind a line that opens it.
    pub(super) fn folded(&self, out: &mut Markup, summary: &str) {
        out.inside("details", &[], |out| {
            out.leaf("summary", "", summary);
            self.write(out);
        });
    }
}
