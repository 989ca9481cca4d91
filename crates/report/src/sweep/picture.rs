//! Curves as one SVG image with three panels.

use super::panel::{Panel, panels};
use super::text::headline;
use super::{Sweep, SweepDocument};
use crate::chart::{Frame, STYLE, Svg, series};
use crate::paint::wrap;

const WIDTH: f64 = 1200.0;
const PANEL_WIDTH: f64 = 316.0;
const PANEL_HEIGHT: f64 = 270.0;
/// Distance between the left edges of panels.
const PANEL_EVERY: f64 = 390.0;
const LEFT: f64 = 72.0;
/// Maximum number of characters in a line of the headline.
const HEADLINE: usize = 118;
/// Font of a standalone image.
const LETTERS: &str = "svg{font:13px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}.t{font-size:11.5px}";

/// Draws all curves as one image.
#[must_use]
pub fn svg(document: &SweepDocument) -> String {
    let sweeps: Vec<&Sweep> = document.sweeps.iter().filter(|sweep| !sweep.points.is_empty()).collect();
    let lines = head(document);
    let legend_rows = if document.sweeps.len() > 1 { sweeps.len() } else { 0 };
    let top = 34.0 + 24.0 * lines.len() as f64 + 20.0 * legend_rows as f64 + 26.0;
    let mut out = Svg::new(WIDTH, top + PANEL_HEIGHT + 56.0, &format!("{STYLE}{LETTERS}"));
    let mut y = 34.0;
    for (class, line) in &lines {
        out.words((28.0, y), class, line);
        y += 24.0;
    }
    for (number, sweep) in sweeps.iter().take(legend_rows).enumerate() {
        out.circle(&format!("o {}", series(number)), (36.0, y - 4.5), 5.0, "");
        out.words((50.0, y), "soft", &format!("{}: {}", sweep.label(), headline(sweep)));
        y += 20.0;
    }
    for (number, panel) in panels(&sweeps).iter().enumerate() {
        let left = LEFT + PANEL_EVERY * number as f64;
        draw(&mut out, panel, (left, top), &sweeps);
    }
    out.finish()
}

/// Returns the lines above the panels, with their classes.
fn head(document: &SweepDocument) -> Vec<(&'static str, String)> {
    match document.sweeps.as_slice() {
        [only] => {
            let mut lines: Vec<_> = wrap(&headline(only), HEADLINE).into_iter().map(|line| ("head", line)).collect();
            let time = if only.virtual_time { ", simulated" } else { "" };
            lines.push(("soft", format!("{}, {}{time}", only.target, only.load)));
            lines
        }
        all => {
            let target = all.first().map(|sweep| sweep.target.clone()).unwrap_or_default();
            vec![("head", format!("{target}: {} sweeps of the queue depth", all.len()))]
        }
    }
}

fn draw(out: &mut Svg, panel: &Panel, (left, top): (f64, f64), sweeps: &[&Sweep]) {
    out.words((left, top - 12.0), "title", panel.title);
    let (x, y) = (&panel.across, &panel.up);
    panel.draw(out, &Frame { left, top, width: PANEL_WIDTH, height: PANEL_HEIGHT, x, y }, sweeps);
}
