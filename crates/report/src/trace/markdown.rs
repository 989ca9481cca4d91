//! Characteristics of a trace as Markdown.

use std::fmt::Write;

use trace::TraceStudy;

use super::text::{copied, facts};
use super::{TraceTable, advice, rates, statement, summary, tables, warnings};
use crate::escape::markdown as escaped;

/// Returns the text as Markdown: headline, warnings, findings, facts, tables.
pub(crate) fn markdown(report: &TraceStudy) -> String {
    let mut text = format!("# {}\n\n{}: {}.\n", escaped(&report.name), escaped(&summary(report)), rates(report));
    let mut list = |items: Vec<String>| {
        if !items.is_empty() {
            let _ = write!(text, "\n{}\n", items.join("\n"));
        }
    };
    list(warnings(report).iter().map(|warning| format!("* Warning: {}", escaped(&warning.text))).collect());
    let finding = |finding| format!("* {} {}", escaped(&statement(finding)), advice(finding));
    list(report.findings.iter().map(finding).collect());
    list(facts(report).iter().map(|(label, value)| format!("* {label}: {}", escaped(value))).collect());
    tables(report).iter().for_each(|each| text.push_str(&table(each)));
    for copy in &report.copies {
        let _ = write!(text, "\nWritten: {}\n", escaped(&copied(copy)));
    }
    text
}

fn table(table: &TraceTable) -> String {
    let mut text = format!("\n## {}\n\n{}\n\n| {} |\n|---", table.name, table.note, table.head.join(" | "));
    text.push_str(&"|---:".repeat(table.head.len() - 1));
    text.push_str("|\n");
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|cell| escaped(cell)).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}
