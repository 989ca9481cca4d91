//! Reuse of blocks and hot spots.

use units::{Bytes, percent};

use super::super::super::figure::{ChartFigure, LegendKey, SeriesStyle, picture};
use super::super::super::table::HtmlTable;
use super::super::rows::{self, ChartRow, MarkShape, RowMark};
use crate::chart::{Axis, Scale, share};
use trace::TraceStudy;

/// Least size of a cache that is drawn, in bytes.
const CACHE_MIN: u64 = 1 << 20;
/// Most labels of sizes.
const LABELS: usize = 6;

/// Draws the misses of a cache by its size.
pub(super) fn misses(report: &TraceStudy) -> Option<ChartFigure> {
    let points = &report.profile.reuse.as_ref()?.miss_ratios;
    let largest = points.last()?.cache_bytes;
    // Only small footprints have all their reuse below the usual least size.
    let least = if largest > 16 * CACHE_MIN { CACHE_MIN } else { 0 };
    let points: Vec<_> = points.iter().filter(|point| point.cache_bytes >= least).collect();
    let (first, last) = (points.first()?.cache_bytes, points.last()?.cache_bytes);
    let lines = [
        (
            "reads and writes",
            SeriesStyle { colour: 5, dash: 0 },
            points.iter().map(|point| point.miss_ratio).collect::<Vec<_>>(),
        ),
        ("reads", SeriesStyle { colour: 0, dash: 0 }, points.iter().map(|point| point.read_miss_ratio).collect()),
    ];
    let has_reads = report.profile.totals.requests.read > 0;
    let lines = &lines[..if has_reads { 2 } else { 1 }];
    let x = sizes(first, last);
    let y = Axis::from_zero(1.0, 1.0, share);
    let picture = picture(&format!("Miss ratio of {}", report.name), &x, &y, |frame, out| {
        frame.axes(out);
        for (name, style, ratios) in lines {
            let line: Vec<(f64, f64)> =
                points.iter().zip(ratios).map(|(point, ratio)| (point.cache_bytes as f64, *ratio)).collect();
            frame.curve(out, &style.line(), &line);
            for (bytes, ratio) in line {
                let title = format!("{name}, cache of {}: {} miss", Bytes::new(bytes as u64), percent(ratio));
                frame.dot(out, &style.dot(), (bytes, ratio), 2.6, &title);
            }
        }
    });
    let mut table = HtmlTable::new("Miss ratio", &["cache size", "reads and writes", "reads"], 1);
    let row = |point: &&trace::MissRatioPoint| {
        vec![Bytes::new(point.cache_bytes).to_string(), percent(point.miss_ratio), percent(point.read_miss_ratio)]
    };
    table.rows = points.iter().map(row).collect();
    let keys = lines.iter().map(|(name, style, _)| LegendKey { class: style.line(), name: (*name).to_owned() });
    let note = "Accesses that miss an LRU cache of this size, filled by reads and writes. The misses that remain at \
                the right are first accesses.";
    Some(ChartFigure { title: "Cache misses", note: note.to_owned(), legend: keys.collect(), picture, table })
}

/// Returns an axis of sizes with labels at powers of two.
fn sizes(first: u64, last: u64) -> Axis {
    let powers: Vec<u64> = (0..63).map(|power| 1u64 << power).filter(|size| (first..=last).contains(size)).collect();
    let step = powers.len().div_ceil(LABELS).max(1);
    let ticks = powers.iter().step_by(step).map(|size| (*size as f64, Bytes::new(*size).to_string()));
    Axis {
        scale: Scale::exact(first as f64, last.max(first * 2) as f64),
        ticks: ticks.collect(),
        name: "size of the cache".to_owned(),
    }
}

/// Draws the accesses of the hottest blocks.
pub(super) fn hot(report: &TraceStudy) -> Option<ChartFigure> {
    let hot = &report.profile.reuse.as_ref()?.hot;
    let mark = |style, shape, title| RowMark { style, shape, title };
    let row = |share: &trace::HotShare| {
        let name = format!("hottest {}%", share.blocks_percent);
        let title = format!("{name} of the blocks: {} of the accesses", percent(share.accesses_fraction));
        let even = format!("if all blocks were used equally: {}%", share.blocks_percent);
        let (trace, uniform) = (SeriesStyle { colour: 0, dash: 0 }, SeriesStyle { colour: 5, dash: 0 });
        let marks = vec![
            mark(trace, MarkShape::Bar(share.accesses_fraction), title),
            mark(uniform, MarkShape::Bar(share.blocks_percent / 100.0), even),
        ];
        ChartRow { label: name, marks }
    };
    let rows: Vec<ChartRow> = hot.shares.iter().map(row).collect();
    rows.first()?;
    let x = Axis::from_zero(1.0, 1.0, share);
    let picture = rows::picture(&format!("Hot spots of {}", report.name), &x, &rows, |_, _| {});
    let mut table = HtmlTable::new("Hot spots", &["blocks", "accesses"], 1);
    table.rows = hot
        .shares
        .iter()
        .map(|share| vec![format!("hottest {}%", share.blocks_percent), percent(share.accesses_fraction)])
        .collect();
    let fit = match &hot.zipf {
        Some(zipf) if zipf.difference_max <= 0.1 && zipf.theta < 0.005 => {
            format!("Uniform use of {} units of {} fits.", units::count(zipf.units), Bytes::new(zipf.unit_bytes as u64))
        }
        Some(zipf) if zipf.difference_max <= 0.1 => format!(
            "A zipf distribution with exponent {:.2} over {} units of {} fits.",
            zipf.theta,
            units::count(zipf.units),
            Bytes::new(zipf.unit_bytes as u64)
        ),
        Some(_) => "No zipf distribution fits.".to_owned(),
        None => String::new(),
    };
    let key = |colour, name: &str| LegendKey { class: SeriesStyle { colour, dash: 0 }.dot(), name: name.to_owned() };
    Some(ChartFigure {
        title: "Hot spots",
        note: format!("Accesses to the most used blocks. {fit}").trim_end().to_owned(),
        legend: vec![key(0, "trace"), key(5, "uniform")],
        picture,
        table,
    })
}
