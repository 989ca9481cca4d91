//! A result as a list of blocks, of which text, Markdown and HTML are made.

use crate::answer::AnswerText;
use crate::escape;
use crate::sheet::{Sheet, SheetStyle};
use results::answer::Answer;

/// A result as it is read: the answer, then parts with headings.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// Name of the command: `Fathom plan`.
    pub(crate) brand: &'static str,
    pub(crate) answer: Answer,
    /// What was asked for, in one line.
    pub(crate) about: String,
    pub(crate) parts: Vec<PagePart>,
}

/// A section.
#[derive(Clone, Debug)]
pub(crate) struct PagePart {
    /// Anchor of links.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) blocks: Vec<PageBlock>,
}

/// A block of a section. All text is escaped where it is printed.
#[derive(Clone, Debug)]
pub(crate) enum PageBlock {
    Text(String),
    List(Vec<String>),
    Code(String),
    /// An image, as markup of [`crate::chart::Svg`]. Only HTML has it.
    Picture(String),
    Table {
        head: Vec<String>,
        /// Indices of columns that are aligned to the right.
        numbers: Vec<usize>,
        rows: Vec<Vec<String>>,
    },
}

impl PagePart {
    pub(crate) fn new(id: impl Into<String>, name: impl Into<String>, blocks: Vec<PageBlock>) -> Self {
        Self { id: id.into(), name: name.into(), blocks }
    }

    /// Reports whether it consists of a picture with its notes, which text cannot show.
    fn is_picture(&self) -> bool {
        let has = |wanted: fn(&PageBlock) -> bool| self.blocks.iter().any(wanted);
        has(|block| matches!(block, PageBlock::Picture(_)))
            && !has(|block| matches!(block, PageBlock::Table { .. } | PageBlock::List(_) | PageBlock::Code(_)))
    }
}

impl PageBlock {
    /// Appends the block to text.
    pub(crate) fn write(&self, sheet: &mut Sheet) {
        text_block(sheet, self);
    }

    /// Returns a table whose columns `numbers` are aligned to the right.
    pub(crate) fn table(head: &[&str], numbers: &[usize], rows: Vec<Vec<String>>) -> Self {
        Self::Table { head: head.iter().map(|&name| name.to_owned()).collect(), numbers: numbers.to_vec(), rows }
    }
}

impl Page {
    /// Returns the page in Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut out = self.answer.markdown();
        if !self.about.is_empty() {
            out.push_str(&format!("{}\n", escape::markdown(&self.about)));
        }
        for part in self.parts.iter().filter(|part| !part.is_picture()) {
            out.push_str(&format!("\n## {}\n", escape::markdown(&part.name)));
            part.blocks.iter().for_each(|block| markdown_block(&mut out, block));
        }
        out
    }

    /// Appends all parts to text.
    pub(crate) fn write(&self, sheet: &mut Sheet) {
        for part in self.parts.iter().filter(|part| !part.is_picture()) {
            sheet.gap();
            sheet.line(&sheet.strong(&part.name));
            part.blocks.iter().for_each(|block| text_block(sheet, block));
        }
    }

    /// Returns the page as text, with its parts.
    pub(crate) fn text(&self, style: SheetStyle) -> String {
        let mut sheet = Sheet::new(style.readable(), 0);
        self.answer.write(&mut sheet);
        if !self.about.is_empty() {
            sheet.gap();
            sheet.aside(0, &self.about);
        }
        self.write(&mut sheet);
        sheet.finish()
    }
}

fn markdown_block(out: &mut String, block: &PageBlock) {
    match block {
        PageBlock::Text(text) => out.push_str(&format!("\n{}\n", escape::markdown(text))),
        PageBlock::List(items) => {
            out.push('\n');
            items.iter().for_each(|item| out.push_str(&format!("* {}\n", escape::markdown(item))));
        }
        PageBlock::Code(text) => out.push_str(&format!("\n```text\n{text}\n```\n")),
        PageBlock::Picture(_) => {}
        PageBlock::Table { head, numbers, rows } => {
            let row = |cells: &[String]| {
                let cells: Vec<String> = cells.iter().map(|cell| escape::markdown(cell)).collect();
                format!("| {} |\n", cells.join(" | "))
            };
            let rule: Vec<&str> =
                (0..head.len()).map(|column| if numbers.contains(&column) { "--:" } else { "---" }).collect();
            out.push_str(&format!("\n{}|{}|\n", row(head), rule.join("|")));
            rows.iter().for_each(|cells| out.push_str(&row(cells)));
        }
    }
}

fn text_block(sheet: &mut Sheet, block: &PageBlock) {
    let room = sheet.width().saturating_sub(4).max(20);
    match block {
        PageBlock::Text(text) => sheet.hung(["  ", "  "], room, text, None),
        PageBlock::List(items) => items.iter().for_each(|item| sheet.hung(["  - ", "    "], room, item, None)),
        PageBlock::Code(text) => text.lines().for_each(|line| sheet.line(&format!("    {line}"))),
        PageBlock::Picture(_) => {}
        PageBlock::Table { head, numbers, rows } => table(sheet, head, numbers, rows),
    }
}

/// Maximum width of a column that is not the last one.
const COLUMN_MAX: usize = 40;

/// Appends a table whose last column is wrapped.
fn table(sheet: &mut Sheet, head: &[String], numbers: &[usize], rows: &[Vec<String>]) {
    let Some((last, others)) = head.split_last() else { return };
    let width_of = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.chain(&head[column..=column]).map(|cell| cell.chars().count()).max().unwrap_or(0).min(COLUMN_MAX)
    };
    let widths: Vec<usize> = (0..others.len()).map(width_of).collect();
    let lead = |cells: &[String]| {
        let cells = cells.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if numbers.contains(&column) { format!("{cell:>width$}  ") } else { format!("{cell:<width$}  ") }
        });
        format!("  {}", cells.collect::<String>())
    };
    let indent = 2 + widths.iter().map(|width| width + 2).sum::<usize>();
    let room = sheet.width().saturating_sub(indent).max(20);
    sheet.line(&sheet.faint(&format!("{}{last}", lead(others))));
    for row in rows {
        let Some((last, others)) = row.split_last() else { continue };
        sheet.hung([&lead(others), &" ".repeat(indent)], room, last, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::answer::Outcome;

    fn page() -> Page {
        let rows = vec![vec!["a|b".to_owned(), "1".to_owned(), "one two three four five six".to_owned()]];
        let table = PageBlock::table(&["name", "count", "why"], &[1], rows);
        let blocks = vec![table, PageBlock::List(vec!["x".to_owned()]), PageBlock::Code("run --it".to_owned())];
        Page {
            brand: "Fathom test",
            answer: Answer::new(Outcome::Good, "Yes: it holds."),
            about: "asked".to_owned(),
            parts: vec![PagePart::new("part", "Part", blocks)],
        }
    }

    #[test]
    fn text_wraps_the_last_column_and_markdown_escapes_cells() {
        let text = page().text(SheetStyle { width: 60, ..SheetStyle::default() });
        let expected = "ANSWER    Yes: it holds.\n\nasked\n\nPart\n  name  count  why\n  a|b       1  one two three four five six\n  - x\n    run --it\n";
        assert_eq!(text, expected);
        let markdown = page().markdown();
        assert!(markdown.contains("| name | count | why |\n|---|--:|---|\n| a\\|b | 1 |"), "{markdown}");
        assert!(markdown.starts_with("**Yes: it holds.**\n\nasked\n\n## Part\n"), "{markdown}");
    }
}
