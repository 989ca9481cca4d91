//! The table of jobs.

use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use units::count;

use super::canvas::{BOLD, Canvas, DIM, REVERSED, columns, rows};
use super::{KINDS, ScreenView, latency, rate, state};
use crate::screen::sampler::{ScreenState, Track};

/// A column of the table.
struct JobColumn {
    heading: &'static str,
    width: u16,
    /// Columns of the lowest priority are left out if not all fit.
    priority: u8,
    left_aligned: bool,
}

const fn right(heading: &'static str, width: u16, priority: u8) -> JobColumn {
    JobColumn { heading, width, priority, left_aligned: false }
}

const COLUMNS: [JobColumn; 10] = [
    JobColumn { heading: "state", width: 9, priority: 4, left_aligned: true },
    JobColumn { heading: "kind", width: 5, priority: 9, left_aligned: true },
    right("IOPS", 7, 9),
    right("bandwidth", 10, 7),
    right("p50", 7, 5),
    right("p99", 7, 8),
    right("p99.9", 7, 6),
    right("in flight", 9, 3),
    right("operations", 10, 1),
    right("errors", 6, 2),
];

/// Minimum and maximum width of job names.
const NAME: (u16, u16) = (12, 40);

/// Returns the width of names, the longest of which has `longest` characters, and the columns that fit beside them.
fn fitting(width: u16, longest: usize) -> (u16, Vec<usize>) {
    let name = (longest.min(100) as u16).clamp(NAME.0, NAME.1);
    let taken = |shown: &[usize]| shown.iter().map(|&index| COLUMNS[index].width + 1).sum::<u16>();
    let mut shown: Vec<usize> = (0..COLUMNS.len()).collect();
    while shown.len() > 2 && taken(&shown) + name.min(20) + 2 > width {
        let lowest = shown.iter().map(|&index| COLUMNS[index].priority).min().unwrap_or(0);
        shown.retain(|&index| COLUMNS[index].priority > lowest);
    }
    (width.saturating_sub(taken(&shown) + 2).min(name), shown)
}

/// One line of the table.
struct JobRow {
    /// The job; `None` for all jobs together.
    job: Option<usize>,
    /// Whether this is the first line of the job.
    first: bool,
    name: String,
    cells: [(String, Style); 10],
}

/// Returns the number of lines of the table.
pub(super) fn lines(view: &ScreenView<'_>) -> usize {
    let of_jobs: usize = view.jobs.iter().map(|(_, track)| kinds(track).len()).sum();
    of_jobs + usize::from(view.jobs.len() > 1) * kinds(view.all).len()
}

/// Returns the kinds of operation that a job currently does, at least one.
fn kinds(track: &Track) -> Vec<usize> {
    let kinds: Vec<usize> = (0..3).filter(|&kind| track.now.iops[kind] > 0.0).collect();
    if kinds.is_empty() { vec![0] } else { kinds }
}

/// Draws the jobs that fit, around the chosen one.
pub(super) fn table(canvas: &mut Canvas<'_>, area: Rect, view: &ScreenView<'_>) {
    let inside = canvas.frame(area, "jobs");
    let lines = all_lines(canvas, view);
    let (name, shown) = fitting(inside.width, lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0));
    canvas.text(columns(inside, 0, name + 1), 1, 0, "job", DIM);
    cells_of(canvas, rows(inside, 0, 1), name, &shown, |index| (COLUMNS[index].heading, DIM));
    let height = usize::from(inside.height.saturating_sub(1));
    let at = lines.iter().position(|line| line.job == view.chosen).unwrap_or(0);
    let first = (at + 1).saturating_sub(height.div_ceil(2)).min(lines.len().saturating_sub(height));
    for (row, line) in (1..).zip(lines.iter().skip(first).take(height)) {
        let chosen = view.jobs.len() > 1 && line.job == view.chosen && line.first;
        let style = if chosen { REVERSED } else { Style::new() };
        let text = format!("{:width$}", if line.first { line.name.as_str() } else { "" }, width = usize::from(name));
        canvas.text(columns(inside, 0, name + 1), 1, row, &text, style);
        cells_of(canvas, rows(inside, row, 1), name, &shown, |index| (&line.cells[index].0, line.cells[index].1));
    }
    if lines.len() > height {
        let last = (first + height).min(lines.len());
        canvas.foot(area, &format!("{} to {last} of {}", first + 1, lines.len()), "tab, arrows");
    }
}

/// Draws the shown cells of one line behind the name.
fn cells_of<'a>(
    canvas: &mut Canvas<'_>,
    line: Rect,
    name: u16,
    shown: &[usize],
    cell: impl Fn(usize) -> (&'a str, Style),
) {
    let mut next = name + 2;
    for &index in shown {
        let JobColumn { width, left_aligned, .. } = COLUMNS[index];
        let area = columns(line, next, width);
        let (text, style) = cell(index);
        if left_aligned {
            canvas.text(area, 0, 0, text, style);
        } else {
            canvas.right(area, 0, 0, text, style);
        }
        next += width + 1;
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
    let line = |(index, kind)| JobRow {
        job,
        first: index == 0,
        name: name.to_owned(),
        cells: cells(canvas, track, kind, index == 0),
    };
    kinds(track).into_iter().enumerate().map(line).collect()
}

fn cells(canvas: &Canvas<'_>, track: &Track, kind: usize, first: bool) -> [(String, Style); 10] {
    let now = &track.now;
    let [p50, p99, p999] = now.tail(kind).map(|value| (latency(value), Style::new()));
    let plain = |text: String| (text, Style::new());
    let of_job = |text: String| if first { plain(text) } else { plain(String::new()) };
    let (word, style) = state(canvas, track.state);
    let busy = track.state != ScreenState::Waiting;
    let dash = |text: String| if busy { text } else { "-".to_owned() };
    let errors = if now.errors > 0 { canvas.colours.bad() } else { DIM };
    [
        if first { (word.to_owned(), style) } else { plain(String::new()) },
        if busy { (KINDS[kind].to_owned(), canvas.colours.kind(kind)) } else { plain("-".to_owned()) },
        (dash(count(now.iops[kind].round())), BOLD),
        plain(dash(rate(now.bytes[kind]))),
        p50,
        p99,
        p999,
        of_job(now.in_flight.map_or_else(|| "-".to_owned(), |mean| units::significant(mean, 3))),
        of_job(count(now.ios as f64)),
        if first { (now.errors.to_string(), errors) } else { plain(String::new()) },
    ]
}
