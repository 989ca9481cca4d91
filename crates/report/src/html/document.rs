//! A page of blocks as HTML.

use super::findings::micro;
use super::markup::Markup;
use super::{answer, page};
use crate::page::{Page, PageBlock, PagePart};

/// Returns the page: one file that loads nothing and runs no script.
pub(crate) fn document(document: &Page) -> String {
    let mut out = Markup::default();
    let title = answer::title(&document.answer);
    out.raw("<!DOCTYPE html>\n");
    out.inside("html", &[("lang", "en")], |out| {
        out.inside("head", &[], |out| page::head(out, &title));
        out.inside("body", &[], |out| {
            out.class("div", "page", |out| {
                out.class("header", "top", |out| out.leaf("p", "brand", document.brand));
                out.inside("main", &[("id", "content")], |out| {
                    out.leaf("h1", "", &title);
                    answer::write(out, &document.answer);
                    out.leaf("p", "sub", &document.about);
                    document.parts.iter().for_each(|one| part(out, one));
                });
                page::foot(out);
            });
        });
    });
    out.finish()
}

fn part(out: &mut Markup, part: &PagePart) {
    out.inside("section", &[("class", "part"), ("id", &part.id)], |out| {
        out.leaf("h2", "", &part.name);
        part.blocks.iter().for_each(|one| block(out, one));
    });
}

fn block(out: &mut Markup, block: &PageBlock) {
    match block {
        PageBlock::Text(text) => out.leaf("p", "", &micro(text)),
        PageBlock::List(items) => {
            out.inside("ul", &[], |out| items.iter().for_each(|item| out.leaf("li", "", &micro(item))));
        }
        PageBlock::Code(text) => out.leaf("pre", "", text),
        PageBlock::Picture(svg) => {
            out.class("figure", "large", |out| {
                out.inside("div", &[("class", "scroll"), ("tabindex", "0")], |out| out.raw(svg));
            });
        }
        PageBlock::Table { head, numbers, rows } => {
            out.class("div", "card sheet narrow", |out| {
                out.inside("div", &[("class", "scroll"), ("tabindex", "0")], |out| table(out, head, numbers, rows));
            });
        }
    }
}

/// Maximum number of characters of a cell in a column without line breaks.
const WIDE: usize = 14;

fn table(out: &mut Markup, head: &[String], numbers: &[usize], rows: &[Vec<String>]) {
    let last = head.len().saturating_sub(1);
    let is_wide = |column: usize| rows.iter().any(|row| row[column].chars().count() > WIDE);
    let classes: Vec<&str> = (0..head.len())
        .map(|column| match column {
            _ if numbers.contains(&column) => "",
            column if column == last => "w long",
            column if column > 0 && is_wide(column) => "w mid",
            _ => "w",
        })
        .collect();
    out.inside("table", &[], |out| {
        out.inside("thead", &[], |out| {
            out.inside("tr", &[], |out| {
                head.iter().zip(&classes).for_each(|(cell, class)| out.leaf("th", class, cell));
            });
        });
        out.inside("tbody", &[], |out| {
            for row in rows {
                out.inside("tr", &[], |out| {
                    for (column, cell) in row.iter().enumerate() {
                        let named = [("class", classes[column]), ("data-head", head[column].as_str())];
                        match column {
                            0 => out.inside("th", &[("scope", "row"), ("class", "w")], |out| out.text(&micro(cell))),
                            _ => out.inside("td", &named, |out| out.text(&micro(cell))),
                        }
                    }
                });
            }
        });
    });
}
