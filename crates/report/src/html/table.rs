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
        self.write_in(out, "scroll");
    }

    /// Writes the table so that each row is a paragraph on a narrow page.
    pub(super) fn write_narrow(&self, out: &mut Markup) {
        self.write_in(out, "scroll narrow");
    }

    fn write_in(&self, out: &mut Markup, class: &str) {
        // The box takes the focus, so that it can be scrolled with the keyboard.
        let scroll = [("class", class), ("tabindex", "0"), ("role", "group"), ("aria-label", self.caption.as_str())];
        out.inside("div", &scroll, |out| {
            out.inside("table", &[], |out| {
                out.leaf("caption", "", &self.caption);
                out.inside("thead", &[], |out| out.inside("tr", &[], |out| self.head(out)));
                out.inside("tbody", &[], |out| self.rows.iter().for_each(|row| self.row(out, row, class != "scroll")));
            });
        });
    }

    fn head(&self, out: &mut Markup) {
        for (column, name) in self.head.iter().enumerate() {
            let class = if column < self.words { "w" } else { "n" };
            out.inside("th", &[("scope", "col"), ("class", class)], |out| out.name(name));
        }
    }

    fn row(&self, out: &mut Markup, row: &[String], is_headed: bool) {
        out.inside("tr", &[], |out| {
            for (column, cell) in row.iter().enumerate() {
                match column {
                    // A row that continues the one above it has no heading.
                    0 if cell.is_empty() => out.leaf("td", "w", ""),
                    0 if is_headed => {
                        let head = [("scope", "row"), ("data-head", self.head[0].as_str())];
                        out.inside("th", &head, |out| out.name(cell));
                    }
                    0 => out.inside("th", &[("scope", "row")], |out| out.name(cell)),
                    column if column < self.words => out.class("td", "w", |out| out.name(cell)),
                    column if is_headed => {
                        out.inside("td", &[("data-head", self.head[column].as_str())], |out| out.text(cell));
                    }
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
