//! Heat map of latency over time.

use record::{DataKind, LatencyBlock, LatencyStats, bucket_range_ns};

use super::super::figure::{ChartFigure, LegendKey, picture};
use super::super::part::{Member, SectionPart};
use super::super::table::HtmlTable;
use super::timeline::clock;
use crate::chart::{Axis, Frame, Scale, Svg, short_count, time};

/// Minimum number of columns; with fewer, percentiles show as much.
const COLUMNS_MIN: usize = 4;
/// Maximum number of rows.
const ROWS_MAX: f64 = 40.0;
/// Minimum ratio of a row's ends, about two buckets of the histogram.
const ROW_LEAST: f64 = 1.032;
/// Minimum fraction of a column's operations for each shade, from pale to dark.
const SHADES: [f64; 6] = [0.0, 0.001, 0.01, 0.05, 0.2, 0.5];
const NAMES: [&str; 6] = ["less", "0.1%", "1%", "5%", "20%", "50% and more"];

/// Latencies of an interval.
pub(super) struct HeatColumn {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    pub(super) latency: LatencyStats,
}

/// Draws a map for each run with latencies over time.
pub(in super::super) fn maps(part: &SectionPart<'_>) -> Vec<ChartFigure> {
    part.members.iter().filter_map(|member| map(part, member)).collect()
}

fn map(part: &SectionPart<'_>, member: &Member<'_>) -> Option<ChartFigure> {
    let blocks = &member.job.result.blocks;
    let columns = columns(blocks, &DataKind::ALL, part.budget.columns);
    let end = columns.last().filter(|_| columns.len() >= COLUMNS_MIN)?.to_ns;
    let ends = columns.iter().flat_map(|column| [column.latency.min_ns as f64, column.latency.max_ns as f64]);
    let x = Axis::time_to(end as f64);
    let y = Axis::new(Scale::around(ends.collect::<Vec<_>>().into_iter()), 6, time);
    let coarse = self::columns(blocks, &DataKind::ALL, part.budget.rows);
    let picture = picture(&format!("Latency heat map of {}", part.called()), &x, &y, |frame, out| {
        shades(out, frame, &columns);
        frame.axes(out);
        for (class, percent) in [("trace", 50.0), ("trace d1", 99.0)] {
            frame.steps(out, class, columns.iter().filter_map(|column| column.step(percent)));
        }
        coarse.iter().for_each(|row| frame.column(out, (row.from_ns as f64, row.to_ns as f64), &row.title()));
    });
    let of = if part.is_overlay() { format!(" Of {}.", member.name) } else { String::new() };
    let note = "Darker: a larger share of that interval's operations. Lines: median, p99 (dashed).";
    let keys = NAMES
        .iter()
        .enumerate()
        .map(|(shade, name)| LegendKey { class: format!("q q{shade}"), name: (*name).to_owned() });
    let legend = keys.collect();
    let title = "Latency heat map";
    Some(ChartFigure { title, note: format!("{note}{of}"), legend, picture, table: table(&coarse) })
}

/// Returns the latencies of `kinds`, with adjacent blocks merged into at most `most` columns. A short rest at the end
/// is merged into the last column, because a few operations have no meaningful percentiles.
pub(super) fn columns(blocks: &[LatencyBlock], kinds: &[DataKind], most: u64) -> Vec<HeatColumn> {
    let each = blocks.len().div_ceil(most.max(1) as usize).max(1);
    let start = |block: usize| if block == 0 { 0 } else { blocks[block - 1].end_ns };
    let mut ends: Vec<usize> = (1..=blocks.len()).filter(|end| end % each == 0 || *end == blocks.len()).collect();
    if let [first, .., before, last] = ends.as_slice()
        && 2 * (blocks[last - 1].end_ns - start(*before)) < blocks[first - 1].end_ns
    {
        let at = ends.len() - 2;
        ends.remove(at);
    }
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let column = |(from, to): (usize, usize)| {
        let latency = LatencyStats::of_blocks(&blocks[from..to], kinds);
        (latency.count > 0).then(|| HeatColumn { from_ns: start(from), to_ns: blocks[to - 1].end_ns, latency })
    };
    starts.zip(ends.iter().copied()).filter_map(column).collect()
}

impl HeatColumn {
    fn step(&self, percent: f64) -> Option<(f64, f64, f64)> {
        Some((self.from_ns as f64, self.to_ns as f64, self.latency.percentile_ns(percent)? as f64))
    }

    fn cells(&self) -> [String; 4] {
        let known = |percent| self.latency.percentile_ns(percent).map_or_else(|| "-".to_owned(), |ns| time(ns as f64));
        [short_count(self.latency.count as f64), known(50.0), known(99.0), time(self.latency.max_ns as f64)]
    }

    fn span(&self) -> String {
        format!("{} to {}", clock(self.from_ns), clock(self.to_ns))
    }

    fn title(&self) -> String {
        let [count, median, p99, slowest] = self.cells();
        format!("{}\n{count} operations\np50 {median}, p99 {p99}\nslowest {slowest}", self.span())
    }
}

/// Draws one path per shade, because there are too many cells for an element each.
fn shades(out: &mut Svg, frame: &Frame<'_>, columns: &[HeatColumn]) {
    let scale = frame.y.scale;
    let rows = ((scale.high / scale.low).ln() / ROW_LEAST.ln()).clamp(8.0, ROWS_MAX).floor();
    let row_of = |ns: f64| (scale.share(ns.max(scale.low)) * rows).clamp(0.0, rows - 1.0) as usize;
    let mut areas: Vec<Vec<(f64, f64, [f64; 2])>> = vec![Vec::new(); SHADES.len()];
    for column in columns {
        let mut counts = vec![0_u64; rows as usize];
        for &(bucket, count) in &column.latency.buckets {
            let (low, high) = bucket_range_ns(bucket as u32);
            counts[row_of((low as f64 * high as f64).sqrt())] += count;
        }
        for (row, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let share = count as f64 / column.latency.count as f64;
            let shade = SHADES.iter().rposition(|least| share >= *least).unwrap_or(0);
            let ends = [row as f64, row as f64 + 1.0].map(|row| scale.at(row / rows));
            areas[shade].push((column.from_ns as f64, column.to_ns as f64, ends));
        }
    }
    for (shade, cells) in areas.iter().enumerate() {
        frame.cells(out, &format!("q q{shade}"), cells);
    }
}

fn table(rows: &[HeatColumn]) -> HtmlTable {
    let mut table = HtmlTable::new("Latency over time", &["time", "operations", "p50", "p99", "slowest"], 1);
    table.rows = rows.iter().map(|row| std::iter::once(row.span()).chain(row.cells()).collect()).collect();
    table
}
