//! The section of a grid: curves against the varied setting, then every point.

use results::grid::GridResult;

use super::charts::grid;
use super::findings::micro;
use super::markup::Markup;
use super::table::HtmlTable;
use crate::grid::{GridShape, table};

/// Writes the charts and a table of all points.
pub(super) fn section(out: &mut Markup, document: &GridResult, shape: &GridShape<'_>) {
    out.leaf("h2", "", "Points");
    let views = grid::views(shape);
    let class = if views.len() == 3 { "figures thirds" } else { "figures" };
    out.class("div", class, |out| views.iter().for_each(|view| view.write(out, "h3")));
    let (head, rows) = table(&document.points);
    // Words are in the first columns: the limit stands beside the settings that it belongs to.
    let words = head.len() - FIGURES - 1;
    let order = |row: &[String]| -> Vec<String> {
        let limit = row.last().cloned().into_iter();
        row[..words]
            .iter()
            .cloned()
            .chain(limit)
            .chain(row[words..row.len() - 1].iter().map(|cell| micro(cell)))
            .collect()
    };
    let head = order(&head);
    let mut points = HtmlTable::new("Every point", &head.iter().map(String::as_str).collect::<Vec<_>>(), words + 1);
    points.rows = rows.iter().map(|row| order(row)).collect();
    out.class("div", "card sheet", |out| points.write_narrow(out));
}

/// Number of columns with figures.
const FIGURES: usize = 6;
