//! The table of jobs.

use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use units::count;

use super::canvas::{Canvas, Palette, columns, rows};
use super::{KINDS, ScreenView, latency, rate, state};
use crate::screen::sampler::{ScreenState, Track};

/// A column: its heading, its width, and how much it matters; where there is no room, those that matter least are left out.
struct JobColumn {
    heading: &'static str,
    width: u16,
    matters: u8,
    left: bool,
}

const fn right(heading: &'static str, width: u16, matters: u8) -> JobColumn {
    JobColumn { heading, width, matters, left: false }
}

/// Names of jobs have at least so much room, and at most.
const NAME: (u16, u16) = (12, 40);

/// Returns the width of names, the longest of which has so many characters, and the columns that fit beside them.
fn fitting(width: u16, longest: usize) -> (u16, Vec<&'static JobColumn>) {
    let name = (longest.min(100) as u16).clamp(NAME.0, NAME.1);
    let taken = |shown: &[&JobColumn]| shown.iter().map(|column| column.width + 1).sum::<u16>();
    let mut shown: Vec<&JobColumn> = COLUMNS.iter().collect();
    while shown.len() > 2 && taken(&shown) + name.min(20) + 2 > width {
        let least = shown.iter().map(|column| column.matters).min().unwrap_or(0);
        shown.retain(|column| column.matters > least);
    }
    (width.saturating_sub(taken(&shown) + 2).min(name), shown)
}

const COLUMNS: [JobColumn; 10] = [
    JobColumn { heading: "state", width: 9, matters: 4, left: true },
    JobColumn { heading: "kind", width: 5, matters: 9, left: true },
    right("IOPS", 7, 9),
    right("bandwidth", 10, 7),
    right("p50", 7, 5),
    right("p99", 7, 8),
    right("p99.9", 7, 6),
    right("in flight", 9, 3),
    right("operations", 10, 1),
    right("errors", 6, 2),
];

/// One line of the table.
struct JobRow {
    /// The job, and whether it is its first line.
    job: Option<usize>,
    first: bool,
    name: String,
    cells: [(String, Style); 10],
}

/// Returns the lines of the table.
pub(super) fn lines(view: &ScreenView<'_>) -> usize {
    let of_jobs: usize = view.jobs.iter().map(|(_, track)| kinds(track).len()).sum();
    of_jobs + usize::from(view.jobs.len() > 1) * kinds(view.all).len()
}

/// The kinds that a job is busy with; one line at least.
fn kinds(track: &Track) -> Vec<usize> {
    let kinds: Vec<usize> = (0..3).filter(|&kind| track.now.iops[kind] > 0.0).collect();
    if kinds.is_empty() { vec![0] } else { kinds }
}

/// The jobs, as many as there is room for around the chosen one.
pub(super) fn table(canvas: &mut Canvas<'_>, area: Rect, view: &ScreenView<'_>) {
    let inside = canvas.frame(area, "jobs");
    let lines = all_lines(canvas, view);
    let (name, shown) = fitting(inside.width, lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0));
    head(canvas, inside, name, &shown);
    let room = usize::from(inside.height.saturating_sub(1));
    let at = lines.iter().position(|line| line.job == view.chosen).unwrap_or(0);
    let first = (at + 1).saturating_sub(room.div_ceil(2)).min(lines.len().saturating_sub(room));
    for (row, line) in (1..).zip(lines.iter().skip(first).take(room)) {
        let chosen = view.jobs.len() > 1 && line.job == view.chosen && line.first;
        let style = if chosen { Palette::chosen() } else { Style::new() };
        let text = format!("{:width$}", if line.first { line.name.as_str() } else { "" }, width = usize::from(name));
        canvas.text(columns(inside, 0, name + 1), 1, row, &text, style);
        for (place, column) in places(name, &shown) {
            let index = COLUMNS.iter().position(|known| known.heading == column.heading).unwrap_or(0);
            let (text, style) = &line.cells[index];
            put(canvas, rows(columns(inside, place, column.width), row, 1), column, text, *style);
        }
    }
    if lines.len() > room {
        let last = (first + room).min(lines.len());
        canvas.foot(area, &format!("{} to {last} of {}", first + 1, lines.len()), "tab, arrows");
    }
}

fn head(canvas: &mut Canvas<'_>, inside: Rect, name: u16, shown: &[&JobColumn]) {
    canvas.text(columns(inside, 0, name + 1), 1, 0, "job", Palette::faint());
    for (place, column) in places(name, shown) {
        let cell = rows(columns(inside, place, column.width), 0, 1);
        put(canvas, cell, column, column.heading, Palette::faint());
    }
}

/// Returns the first column of each table column.
fn places<'a>(name: u16, shown: &[&'a JobColumn]) -> Vec<(u16, &'a JobColumn)> {
    let mut next = name + 2;
    let place = |column: &&'a JobColumn| {
        let here = next;
        next += column.width + 1;
        (here, *column)
    };
    shown.iter().map(place).collect()
}

fn put(canvas: &mut Canvas<'_>, cell: Rect, column: &JobColumn, text: &str, style: Style) {
    if column.left {
        canvas.text(cell, 0, 0, text, style);
    } else {
        canvas.right(cell, 0, 0, text, style);
    }
}

fn all_lines(canvas: &Canvas<'_>, view: &ScreenView<'_>) -> Vec<JobRow> {
    let mut all = Vec::new();
    if view.jobs.len() > 1 {
        all.extend(lines_of(canvas, None, "all jobs", view.all));
    }
    for (index, (facts, track)) in view.jobs.iter().enumerate() {
        let workers = if facts.workers.len() > 1 { format!(" ×{}", facts.workers.len()) } else { String::new() };
        all.extend(lines_of(canvas, Some(index), &format!("{}{workers}", facts.name), track));
    }
    all
}

fn lines_of(canvas: &Canvas<'_>, job: Option<usize>, name: &str, track: &Track) -> Vec<JobRow> {
    let line = |(first, kind): (bool, usize)| JobRow {
        job,
        first,
        name: name.to_owned(),
        cells: cells(canvas, track, kind, first),
    };
    let kinds = kinds(track);
    kinds.iter().enumerate().map(|(index, kind)| line((index == 0, *kind))).collect()
}

fn cells(canvas: &Canvas<'_>, track: &Track, kind: usize, first: bool) -> [(String, Style); 10] {
    let now = &track.now;
    let tail = now.tail(kind).map(|value| (latency(value), Style::new()));
    let [p50, p99, p999] = tail;
    let plain = |text: String| (text, Style::new());
    let of_job = |text: String| if first { plain(text) } else { plain(String::new()) };
    let (word, style) = state(canvas, track.state);
    let busy = track.state != ScreenState::Waiting;
    let dash = |text: String| if busy { text } else { "-".to_owned() };
    let errors = if now.errors > 0 { canvas.palette.bad() } else { Palette::faint() };
    [
        if first { (word.to_owned(), style) } else { plain(String::new()) },
        if busy { (KINDS[kind].to_owned(), canvas.palette.kind(kind)) } else { plain("-".to_owned()) },
        (dash(count(now.iops[kind].round())), Palette::strong()),
        plain(dash(rate(now.bytes[kind]))),
        p50,
        p99,
        p999,
        of_job(now.in_flight.map_or_else(|| "-".to_owned(), |mean| units::significant(mean, 3))),
        of_job(count(now.ios as f64)),
        if first { (now.errors.to_string(), errors) } else { plain(String::new()) },
    ]
}
