//! Curves of a sweep.

use results::sweep::Sweep;
use units::{count, percent};

use super::super::figure::{ChartFigure, ChartSize, LegendKey};
use super::super::table::HtmlTable;
use crate::chart::{isolated, line, time};
use crate::sweep::{Panel, panels};

const HEIGHT: f64 = 300.0;
const LEFT: f64 = 70.0;

/// Returns the three charts of sweeps, each with a table of the points.
pub(in super::super) fn views(sweeps: &[&Sweep]) -> Vec<ChartFigure> {
    let drawn: Vec<&Sweep> = sweeps.iter().copied().filter(|sweep| !sweep.points.is_empty()).collect();
    if drawn.is_empty() {
        return Vec::new();
    }
    let has_knee = drawn.iter().any(|sweep| sweep.knee().is_some());
    let notes = if has_knee {
        [
            "Each operation in flight adds IOPS up to the knee, and none beyond it. Dashed: the two bounds.",
            "Flat up to the knee; beyond it each further operation adds latency to all others.",
            "Where the curve turns up, more load adds only latency.",
        ]
    } else {
        [
            "Measured IOPS at each depth, and the fitted curve.",
            "Latency that each further operation in flight adds to all others.",
            "Latency at each throughput.",
        ]
    };
    panels(&drawn).iter().zip(notes).map(|(panel, note)| view(panel, note, &drawn)).collect()
}

fn view(panel: &Panel, note: &str, sweeps: &[&Sweep]) -> ChartFigure {
    let (x, y) = (&panel.across, &panel.up);
    let picture = ChartSize { height: HEIGHT, left: LEFT }.picture(
        &format!("{} of {}", panel.title, isolated(&sweeps[0].target)),
        x,
        y,
        |frame, out| panel.draw(out, frame, sweeps),
    );
    let key = |(number, sweep): (usize, &&Sweep)| LegendKey { class: line(number), name: sweep.label() };
    let legend = if sweeps.len() > 1 { sweeps.iter().enumerate().map(key).collect() } else { Vec::new() };
    let (title, table) = (panel.title, table(panel.title, sweeps));
    ChartFigure { title, note: note.to_owned(), legend, picture, table }
}

fn table(caption: &str, sweeps: &[&Sweep]) -> HtmlTable {
    let labelled = sweeps.len() > 1;
    let mut head = vec!["in flight", "IOPS", "±", "mean latency"];
    if labelled {
        head.insert(0, "curve");
    }
    let mut table = HtmlTable::new(caption, &head, 1);
    for sweep in sweeps {
        for point in &sweep.points {
            let mut row = if labelled { vec![sweep.label()] } else { Vec::new() };
            row.push(point.depth.to_string());
            row.extend([count(point.iops), percent(1.96 * point.error), time(point.latency_ns)]);
            table.rows.push(row);
        }
    }
    table
}
