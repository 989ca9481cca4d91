//! Sizes of requests.

use std::collections::BTreeMap;

use trace::TraceOperation;
use units::{Bytes, percent};

use super::super::super::figure::{ChartFigure, LegendKey};
use super::super::super::table::HtmlTable;
use super::super::rows::{self, ChartRow, MarkShape, RowMark};
use super::style;
use crate::chart::{Axis, share};
use trace::TraceStudy;

/// Most sizes with a row of their own.
const ROWS_MAX: usize = 10;

/// Fractions of the requests of each operation.
struct SizeRow {
    label: String,
    fractions: Vec<f64>,
}

/// Draws the most frequent sizes.
pub(super) fn bars(report: &TraceStudy) -> Option<ChartFigure> {
    let with_data = |(operation, _): &(TraceOperation, &str)| *report.profile.totals.bytes.get(*operation) > 0;
    let operations: Vec<(TraceOperation, &'static str)> = report.operations().filter(with_data).collect();
    let sizes = size_rows(report, &operations);
    sizes.first()?;
    let most = sizes.iter().flat_map(|row| &row.fractions).copied().fold(0.0, f64::max);
    let x = Axis::from_zero(most, 1.0, share);
    let chart_row = |row: &SizeRow| {
        let marks = operations.iter().zip(&row.fractions).map(|((operation, name), fraction)| RowMark {
            style: style(*operation),
            shape: MarkShape::Bar(*fraction),
            title: format!("{name}, {}: {}", row.label, percent(*fraction)),
        });
        ChartRow { label: row.label.clone(), marks: marks.collect() }
    };
    let rows: Vec<ChartRow> = sizes.iter().map(chart_row).collect();
    let picture = rows::picture(&format!("Sizes of the requests of {}", report.name), &x, &rows, |_, _| {});
    let names = operations.iter().map(|(_, name)| *name);
    let head: Vec<&str> = std::iter::once("size").chain(names).collect();
    let mut table = HtmlTable::new("Sizes", &head, 1);
    table.rows = sizes
        .iter()
        .map(|row| std::iter::once(row.label.clone()).chain(row.fractions.iter().map(|part| percent(*part))).collect())
        .collect();
    let legend = operations
        .iter()
        .map(|(operation, name)| LegendKey { class: style(*operation).dot(), name: (*name).to_owned() })
        .collect();
    let note = "Fraction of the requests of each operation.".to_owned();
    Some(ChartFigure { title: "Sizes", note, legend, picture, table })
}

/// Returns the most frequent sizes in ascending order, and the rest.
fn size_rows(report: &TraceStudy, operations: &[(TraceOperation, &'static str)]) -> Vec<SizeRow> {
    let mut counts: BTreeMap<(u64, u64), Vec<u64>> = BTreeMap::new();
    for (index, (operation, _)) in operations.iter().enumerate() {
        let profile = report.profile.sizes.get(*operation);
        let frequent = profile.frequent.iter().map(|size| ((size.bytes.into(), size.bytes.into()), size.requests));
        let others = profile.others.iter().map(|range| ((range.bytes_min, range.bytes_end), range.requests));
        for (key, requests) in frequent.chain(others) {
            counts.entry(key).or_insert_with(|| vec![0; operations.len()])[index] += requests;
        }
    }
    let all: Vec<f64> =
        operations.iter().map(|(operation, _)| *report.profile.totals.requests.get(*operation) as f64).collect();
    let fractions =
        |counts: &[u64]| counts.iter().zip(&all).map(|(count, all)| *count as f64 / all).collect::<Vec<f64>>();
    let mut order: Vec<(&(u64, u64), &Vec<u64>)> = counts.iter().collect();
    let weight = |counts: &[u64]| fractions(counts).into_iter().fold(0.0, f64::max);
    order.sort_by(|one, other| weight(other.1).total_cmp(&weight(one.1)));
    let rest = order.split_off(order.len().min(ROWS_MAX));
    order.sort_unstable();
    let mut rows: Vec<SizeRow> =
        order.iter().map(|(size, counts)| SizeRow { label: label(**size), fractions: fractions(counts) }).collect();
    if !rest.is_empty() {
        let mut sums = vec![0; operations.len()];
        rest.iter().for_each(|(_, counts)| sums.iter_mut().zip(counts.iter()).for_each(|(sum, count)| *sum += count));
        rows.push(SizeRow { label: "other sizes".to_owned(), fractions: fractions(&sums) });
    }
    rows
}

/// Names a size or a range.
fn label((min, end): (u64, u64)) -> String {
    if min == end { Bytes::new(min).to_string() } else { format!("from {}", Bytes::new(min)) }
}
