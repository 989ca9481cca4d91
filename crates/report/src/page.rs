//! A result as a list of blocks, of which text, Markdown and HTML are made.

use crate::answer::AnswerText;
use crate::escape;
use crate::sheet::{Sheet, SheetStyle, wrap};
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

/// Columns between two cells.
const GAP: usize = 2;
/// Maximum width of a column: a foreign name may be of any length.
const WIDTH_MAX: usize = 200;

/// Appends a table. If it is wider than the sheet, text is wrapped in its column, and the last columns that still do not
/// fit are below each row.
fn table(sheet: &mut Sheet, head: &[String], numbers: &[usize], rows: &[Vec<String>]) {
    let room = sheet.width();
    let of = |count: usize| column_widths(room, &head[..count], numbers, rows);
    let fits = |widths: &Vec<usize>| widths.iter().map(|width| width + GAP).sum::<usize>() <= room;
    let widths = (1..=head.len()).rev().map(of).find(fits).unwrap_or_else(|| of(head.len().min(1)));
    let below = |cells: &[String]| {
        let cells = cells.iter().skip(widths.len()).filter(|cell| !cell.is_empty());
        cells.cloned().collect::<Vec<_>>().join("; ")
    };
    row_lines(head, &widths, numbers).iter().for_each(|line| sheet.line(&sheet.faint(line)));
    if widths.len() < head.len() {
        sheet.aside(2 * GAP, &below(head));
    }
    for row in rows {
        row_lines(row, &widths, numbers).iter().for_each(|line| sheet.line(line));
        let below = below(row);
        if !below.is_empty() {
            sheet.aside(2 * GAP, &below);
        }
    }
}

/// Returns a row of a table as lines, with cells wrapped to the widths of their columns.
fn row_lines(cells: &[String], widths: &[usize], numbers: &[usize]) -> Vec<String> {
    let wrapped: Vec<Vec<String>> = cells.iter().zip(widths).map(|(cell, width)| wrap(cell, *width)).collect();
    let count = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    let line = |index: usize| {
        let cells = wrapped.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
            let text = cell.get(index).map_or("", String::as_str);
            if numbers.contains(&column) { format!("{text:>width$}") } else { format!("{text:<width$}") }
        });
        let cells = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
        format!("{:GAP$}{}", "", cells.trim_end())
    };
    (0..count).map(line).collect()
}

/// Returns the width of each column: as wide as its cells if all fit. Otherwise the widest are narrowed; names and numbers
/// stay whole.
fn column_widths(room: usize, head: &[String], numbers: &[usize], rows: &[Vec<String>]) -> Vec<usize> {
    let length = |text: &str| text.chars().count();
    let longest_word = |text: &str| text.split_whitespace().map(length).max().unwrap_or(0);
    let most = |column: usize, length: &dyn Fn(&str) -> usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| length(cell)).max().unwrap_or(0)
    };
    let least: Vec<usize> = (0..head.len())
        .map(|column| match column == 0 || numbers.contains(&column) {
            true => most(column, &length).max(longest_word(&head[column])),
            false => most(column, &longest_word).max(longest_word(&head[column])),
        })
        .collect();
    let mut widths: Vec<usize> =
        (0..head.len()).map(|column| most(column, &length).max(length(&head[column])).min(WIDTH_MAX)).collect();
    while widths.iter().map(|width| width + GAP).sum::<usize>() > room {
        let narrowed = (0..widths.len()).filter(|&column| widths[column] > least[column]);
        let Some(widest) = narrowed.max_by_key(|&column| widths[column]) else { break };
        widths[widest] -= 1;
    }
    widths
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
    fn wide_tables_wrap_text_and_keep_names_and_numbers() {
        let row = ["aws/gp3 *", "600 us", "3,000 IOPS and 125 MiB/s"].map(str::to_owned).to_vec();
        let written = |width: usize| {
            let mut sheet = Sheet::new(SheetStyle { width, ..SheetStyle::default() }, 0);
            PageBlock::table(&["volume", "p50", "provisioned"], &[1], vec![row.clone()]).write(&mut sheet);
            sheet.finish()
        };
        let wrapped = "  volume        p50  provisioned\n  aws/gp3 *  600 us  3,000 IOPS\n                     and 125\n                     MiB/s\n";
        assert_eq!(written(32), wrapped);
        let below = "  volume        p50\n    provisioned\n  aws/gp3 *  600 us\n    3,000 IOPS and 125\n    MiB/s\n";
        assert_eq!(written(24), below);
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
