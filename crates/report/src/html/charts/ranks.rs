//! Heat map of ranks over time.

use std::collections::BTreeMap;

use record::{AlignedSeries, FleetRecord};

use super::super::figure::{ChartFigure, LegendKey};
use super::super::table::HtmlTable;
use super::rows::shortened;
use super::timeline::clock;
use crate::chart::{Axis, Frame, Scale, Svg, elapsed, share, short_count};

/// Maximum number of rows for ranks; more ranks are drawn by host.
const RANKS_MAX: usize = 64;
/// Maximum number of rows for hosts; of more hosts, the slowest of several neighbours is drawn.
const HOSTS_MAX: usize = 100;
/// Minimum number of columns.
const COLUMNS_MIN: usize = 4;
/// Fractions of the reference from which a shade begins.
const SHADES: [f64; 5] = [0.0, 0.5, 0.8, 1.25, 2.0];
/// Names of the shades, after that of a stop.
const NAMES: [&str; 5] = ["below 50%", "50 to 80%", "80 to 125%", "125 to 200%", "200% and more"];
/// Class of intervals without an operation, which are lines, so that they differ by shape.
const STOP: &str = "l stop";

const WIDTH: f64 = 720.0;
const LEFT: f64 = 132.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 30.0;
/// Minimum distance between two labels.
const LABEL: f64 = 11.0;

struct MapRow {
    label: String,
    /// Label with the number of hosts that it stands for.
    short: String,
    /// Operations per second of a rank in each column; `None` while none is active.
    rates: Vec<Option<f64>>,
}

/// What the rows of a map are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowKind {
    Rank,
    Host,
    SlowestHost,
}

/// Draws the operations per second of each rank over time; `None` without series of several ranks.
pub(in super::super) fn map(fleet: &FleetRecord) -> Option<ChartFigure> {
    let series = fleet.aligned().filter(|series| series.columns >= COLUMNS_MIN && fleet.members.len() > 1)?;
    let (kind, rows, reference) = rows(fleet, &series)?;
    let what = match kind {
        RowKind::Rank => "Each row is a rank.",
        RowKind::Host => "Each row is a host: the mean of its ranks.",
        RowKind::SlowestHost => {
            "Each row is a group of hosts: in each interval the mean of the ranks on its slowest host."
        }
    };
    let note = format!(
        "{what} 100% is the median of all rows and intervals, {} IOPS per rank; an interval is {}. An orange row is a \
         slow rank; an orange or struck-through column is a pause of all ranks.",
        short_count(reference),
        elapsed(series.width_ns)
    );
    let picture = picture(&rows, &series, reference);
    let stop = LegendKey { class: STOP.to_owned(), name: "no operation".to_owned() };
    let key = |(shade, name): (usize, &&str)| LegendKey { class: class(shade), name: (*name).to_owned() };
    let legend = std::iter::once(stop).chain(NAMES.iter().enumerate().map(key)).collect();
    let table = table(&rows, &series, reference);
    Some(ChartFigure { title: "IOPS by rank", note, legend, picture, table })
}

fn class(shade: usize) -> String {
    format!("m m{shade}")
}

/// Returns the rows and the rate that counts as 100 %: the median of all that are above zero.
fn rows(fleet: &FleetRecord, series: &AlignedSeries) -> Option<(RowKind, Vec<MapRow>, f64)> {
    let of_ranks = || fleet.members.iter().zip(&series.rates);
    let mut rows: Vec<MapRow> = if fleet.members.len() <= RANKS_MAX {
        let row = |(member, rates): (&record::RankRecord, &Vec<Option<f64>>)| {
            let label = format!("{} {}", member.rank, member.hostname);
            MapRow { short: label.clone(), label, rates: rates.clone() }
        };
        of_ranks().map(row).collect()
    } else {
        hosts(fleet, series)
    };
    let mut rates: Vec<f64> =
        rows.iter().flat_map(|row| &row.rates).flatten().copied().filter(|rate| *rate > 0.0).collect();
    rates.sort_by(f64::total_cmp);
    let reference = rates.get(rates.len() / 2).copied().filter(|rate| rate.is_finite())?;
    if fleet.members.len() <= RANKS_MAX {
        return Some((RowKind::Rank, rows, reference));
    }
    let each = rows.len().div_ceil(HOSTS_MAX);
    if each > 1 {
        rows = rows.chunks(each).map(slowest).collect();
    }
    Some((if each > 1 { RowKind::SlowestHost } else { RowKind::Host }, rows, reference))
}

/// Returns the mean rates of the ranks of each host, in the order of their first ranks.
fn hosts(fleet: &FleetRecord, series: &AlignedSeries) -> Vec<MapRow> {
    let mut ranks: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, member) in fleet.members.iter().enumerate() {
        ranks.entry(&member.hostname).or_default().push(index);
    }
    let mut hosts: Vec<(&str, Vec<usize>)> = ranks.into_iter().collect();
    hosts.sort_by_key(|(_, ranks)| ranks[0]);
    let mean = |ranks: &[usize], column: usize| {
        let active = ranks.iter().filter_map(|&rank| series.rates[rank][column]);
        let count = active.clone().count();
        (count > 0).then(|| active.sum::<f64>() / count as f64)
    };
    let row = |(name, ranks): (&str, Vec<usize>)| {
        let rates = (0..series.columns).map(|column| mean(&ranks, column)).collect();
        MapRow { short: name.to_owned(), label: name.to_owned(), rates }
    };
    hosts.into_iter().map(row).collect()
}

/// Joins rows to one with the lowest rate in each column.
fn slowest(rows: &[MapRow]) -> MapRow {
    let (first, last) = (&rows[0], &rows[rows.len() - 1]);
    let lowest = |column: usize| rows.iter().filter_map(|row| row.rates[column]).reduce(f64::min);
    let rates = (0..first.rates.len()).map(lowest).collect();
    if rows.len() == 1 {
        return MapRow { short: first.short.clone(), label: first.label.clone(), rates };
    }
    let short = format!("{} + {}", first.label, rows.len() - 1);
    MapRow { short, label: format!("{} to {}", first.label, last.label), rates }
}

/// Returns the shade of a rate; `None` for none.
fn shade(rate: f64, reference: f64) -> Option<usize> {
    (rate > 0.0).then(|| SHADES.iter().rposition(|from| rate / reference >= *from).unwrap_or(0))
}

fn picture(rows: &[MapRow], series: &AlignedSeries, reference: f64) -> String {
    let each = match rows.len() {
        0..=16 => 15.0,
        17..=64 => 9.0,
        _ => 6.0,
    };
    let count = rows.len() as f64;
    let middle = |row: usize| count - row as f64 - 0.5;
    let every = (LABEL / each).ceil() as usize;
    let x = Axis::time_to(series.width_ns * series.columns as f64);
    // Lines from the labels would cross pale cells.
    let y = Axis { scale: Scale::linear(0.0, count), ticks: Vec::new(), name: String::new() };
    let mut out = Svg::within(WIDTH, TOP + each * count + BOTTOM, "IOPS by rank over time");
    let frame = Frame { left: LEFT, top: TOP, width: WIDTH - LEFT - RIGHT, height: each * count, x: &x, y: &y };
    frame.axes(&mut out);
    for (row, one) in rows.iter().enumerate().step_by(every) {
        let (_, y) = frame.at((0.0, middle(row)));
        out.words((LEFT - 7.0, y + 3.5), "t end", &shortened(&one.short));
    }
    // One path per shade: there are too many cells for an element each.
    let mut lanes: [Vec<(f64, f64, f64)>; SHADES.len() + 1] = Default::default();
    for (number, row) in rows.iter().enumerate() {
        let cell = |column: usize| row.rates[column].map(|rate| shade(rate, reference));
        let columns: Vec<usize> = (0..series.columns).collect();
        for part in columns.chunk_by(|a, b| cell(*a) == cell(*b)) {
            let Some(shade) = cell(part[0]) else { continue };
            let (from, to) = (part[0] as f64 * series.width_ns, (part[part.len() - 1] + 1) as f64 * series.width_ns);
            lanes[shade.map_or(0, |shade| shade + 1)].push((from, to, middle(number)));
        }
    }
    for (shade, lanes) in lanes.iter().enumerate() {
        let class = if shade == 0 { STOP.to_owned() } else { class(shade - 1) };
        frame.lanes(&mut out, &class, each * 0.9, lanes);
    }
    for (number, row) in rows.iter().enumerate() {
        let at = middle(number);
        frame.row(&mut out, (at - 0.5, at + 0.5), &title(row, series, reference));
    }
    out.finish()
}

struct RowFigures {
    mean: f64,
    lowest: f64,
    /// Column with the lowest rate.
    lowest_at: usize,
    highest: f64,
    /// Number of columns without an operation.
    stops: usize,
}

impl MapRow {
    fn figures(&self) -> Option<RowFigures> {
        let known = || self.rates.iter().enumerate().filter_map(|(column, rate)| Some((column, (*rate)?)));
        let (lowest_at, lowest) = known().min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(RowFigures {
            mean: known().map(|(_, rate)| rate).sum::<f64>() / known().count() as f64,
            lowest,
            lowest_at,
            highest: known().map(|(_, rate)| rate).fold(0.0, f64::max),
            stops: known().filter(|(_, rate)| *rate == 0.0).count(),
        })
    }
}

fn instant(column: usize, series: &AlignedSeries) -> String {
    clock((column as f64 * series.width_ns) as u64)
}

fn title(row: &MapRow, series: &AlignedSeries, reference: f64) -> String {
    let Some(figures) = row.figures() else { return format!("{}\nno series", row.label) };
    let mut title = format!(
        "{}\nmean {} IOPS, {}\nlowest {} at {}, highest {}",
        row.label,
        short_count(figures.mean),
        share(figures.mean / reference),
        short_count(figures.lowest),
        instant(figures.lowest_at, series),
        short_count(figures.highest)
    );
    if figures.stops > 0 {
        title.push_str(&format!("\nno operation for {}", elapsed(figures.stops as f64 * series.width_ns)));
    }
    title
}

fn table(rows: &[MapRow], series: &AlignedSeries, reference: f64) -> HtmlTable {
    let head = ["rank or host", "mean IOPS", "of the median", "lowest", "at", "highest", "no operation for"];
    let mut table = HtmlTable::new("IOPS by rank", &head, 1);
    let cells = |row: &MapRow| match row.figures() {
        None => std::iter::once(row.label.clone()).chain((1..head.len()).map(|_| "-".to_owned())).collect(),
        Some(figures) => vec![
            row.label.clone(),
            short_count(figures.mean),
            share(figures.mean / reference),
            short_count(figures.lowest),
            instant(figures.lowest_at, series),
            short_count(figures.highest),
            if figures.stops > 0 { elapsed(figures.stops as f64 * series.width_ns) } else { "-".to_owned() },
        ],
    };
    table.rows = rows.iter().map(cells).collect();
    table
}

#[cfg(test)]
mod tests {
    use record::{IntervalRecord, RankRecord, SeriesRecord};

    use super::*;

    fn fleet(ranks: u32, per_host: u32) -> FleetRecord {
        let member = |rank: u32| {
            let ios = |second: u64| {
                if second == 3 {
                    0
                } else if rank == 5 {
                    400
                } else {
                    1_000
                }
            };
            let interval = |second| IntervalRecord { ios: [ios(second), 0, 0], ..IntervalRecord::default() };
            let series =
                SeriesRecord { width_ns: 1_000_000_000, pace_ns: 0, intervals: (0..10).map(interval).collect() };
            let all: u64 = series.intervals.iter().map(|interval| interval.ios[0]).sum();
            let hostname = format!("node{}", rank / per_host);
            RankRecord { rank, hostname, ios: [all, 0, 0], iops: all as f64 / 10.0, series, ..RankRecord::default() }
        };
        FleetRecord { ranks, members: (0..ranks).map(member).collect(), ..FleetRecord::default() }
    }

    #[test]
    fn a_slow_rank_and_a_pause_have_shades_of_their_own() {
        let fleet = fleet(8, 2);
        let series = fleet.aligned().unwrap();
        let (kind, rows, reference) = rows(&fleet, &series).unwrap();
        assert!(kind == RowKind::Rank && rows.len() == 8 && reference == 1_000.0);
        assert_eq!(rows[5].label, "5 node2");
        let shades =
            |row: usize| rows[row].rates.iter().map(|rate| shade(rate.unwrap(), reference)).collect::<Vec<_>>();
        assert_eq!(shades(0)[..5], [Some(2), Some(2), Some(2), None, Some(2)]);
        assert_eq!(shades(5)[..5], [Some(0), Some(0), Some(0), None, Some(0)]);
        assert_eq!([0.5, 0.79, 0.8, 1.24, 1.25, 2.0, 9.0].map(|rate| shade(rate, 1.0).unwrap()), [1, 1, 2, 2, 3, 4, 4]);
        let title = title(&rows[5], &series, reference);
        assert_eq!(title, "5 node2\nmean 360 IOPS, 36%\nlowest 0 at 0:03, highest 400\nno operation for 1 s");
    }

    #[test]
    fn many_ranks_are_drawn_by_host_and_many_hosts_by_their_slowest() {
        let series = |fleet: &FleetRecord| fleet.aligned().unwrap();
        let by_host = fleet(128, 4);
        let (kind, rows_of, _) = rows(&by_host, &series(&by_host)).unwrap();
        assert!(kind == RowKind::Host && rows_of.len() == 32);
        assert_eq!(rows_of[1].rates[0], Some(850.0));
        let many = fleet(1_000, 1);
        let (kind, rows_of, reference) = rows(&many, &series(&many)).unwrap();
        assert!(kind == RowKind::SlowestHost && rows_of.len() == 100 && reference == 1_000.0);
        assert_eq!((rows_of[0].label.as_str(), rows_of[0].rates[0]), ("node0 to node9", Some(400.0)));
        assert_eq!(rows_of[1].rates[0], Some(1_000.0));
    }

    #[test]
    fn nothing_is_drawn_without_series() {
        assert!(map(&FleetRecord::default()).is_none() && map(&fleet(1, 1)).is_none());
        let mut silent = fleet(4, 1);
        silent
            .members
            .iter_mut()
            .for_each(|member| member.series.intervals.iter_mut().for_each(|one| one.ios = [0; 3]));
        assert!(map(&silent).is_none());
    }
}
