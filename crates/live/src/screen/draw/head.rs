//! Header, key bar, help, and a short form for small terminals.

use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use units::count;

use super::canvas::{BOLD, Canvas, DIM, fitting, rows};
use super::{KINDS, ScreenView, clock, latency, rate, state};

/// Draws the title, and the progress below it.
pub(super) fn head(canvas: &mut Canvas<'_>, area: Rect, view: &ScreenView<'_>) {
    let column = canvas.line(area, 0, &[(" ", DIM), (view.title, BOLD), ("  ", DIM)]);
    let column = canvas.text(area, column, 0, view.lead, BOLD);
    let (word, style) =
        if view.paused { ("display paused", canvas.colours.notice()) } else { state(canvas, view.track().state) };
    let width = area.width.saturating_sub(column + word.len() as u16 + 3);
    canvas.text(area, column, 0, &workload(view, usize::from(width)), Style::new());
    canvas.right(area, 0, 0, &format!("{word} "), style);
    progress(canvas, rows(area, 1, 1), view);
}

/// Describes the chosen job, or all jobs together, in at most `width` characters.
fn workload(view: &ScreenView<'_>, width: usize) -> String {
    let shown = view.shown();
    let Some((first, _)) = shown.first() else { return "starting".to_owned() };
    let name = if shown.len() == 1 { first.name.clone() } else { format!("{} jobs", shown.len()) };
    let loads = distinct(shown.iter().map(|(facts, _)| facts.load.as_str()));
    let engines = distinct(shown.iter().map(|(facts, _)| facts.engine));
    let depth: u32 = shown.iter().map(|(facts, _)| facts.depth).sum();
    let workers: usize = shown.iter().map(|(facts, _)| facts.workers.len()).sum();
    let by = if workers > 1 { format!(" ({workers} workers)") } else { String::new() };
    let targets = distinct(shown.iter().map(|(facts, _)| facts.target.as_str()));
    let files = distinct(shown.iter().map(|(facts, _)| facts.target.rsplit('/').next().unwrap_or_default()));
    // Shorter forms drop what the user most likely knows: the folder, the target, the engine.
    let depth = format!("depth {depth}{by}");
    let forms = [
        vec![&name, &loads, &engines, &depth, &targets],
        vec![&name, &loads, &engines, &depth, &files],
        vec![&name, &loads, &engines, &depth],
        vec![&name, &loads, &depth],
        vec![&name, &loads],
    ];
    fitting(width, &forms.map(|form| form.into_iter().map(String::as_str).collect::<Vec<_>>().join(" · ")))
}

/// Joins distinct words; more than two are cut.
fn distinct<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut named: Vec<&str> = Vec::new();
    for word in words {
        if !named.contains(&word) {
            named.push(word);
        }
    }
    let more = if named.len() > 2 { ", …" } else { "" };
    named.truncate(2);
    named.join(", ") + more
}

fn progress(canvas: &mut Canvas<'_>, area: Rect, view: &ScreenView<'_>) {
    if let Some(making) = view.making {
        let text = format!(" {:5.1}%  laying out {}", 100.0 * making.fraction, making.path);
        canvas.text(area, 0, 0, &text, canvas.colours.notice());
        return;
    }
    let elapsed = format!(" {}  ", clock(view.elapsed));
    let column = canvas.text(area, 0, 0, &elapsed, BOLD);
    let end = match (view.fraction, view.eta) {
        (Some(fraction), Some(eta)) => format!("  {:.0}%  {} left ", 100.0 * fraction.min(1.0), clock(eta)),
        (Some(fraction), None) => format!("  {:.0}% ", 100.0 * fraction.min(1.0)),
        _ => "  until all data is transferred, or q ".to_owned(),
    };
    let width = area.width.saturating_sub(column + end.chars().count() as u16);
    if let Some(fraction) = view.fraction {
        let done = (fraction.clamp(0.0, 1.0) * f64::from(width)).round() as u16;
        canvas.text(area, column, 0, &"━".repeat(usize::from(done)), canvas.colours.good());
        canvas.text(area, column + done, 0, &"─".repeat(usize::from(width - done)), DIM);
    }
    canvas.right(area, column, 0, &end, Style::new());
}

/// Draws the keys that fit.
pub(super) fn keys(canvas: &mut Canvas<'_>, area: Rect, view: &ScreenView<'_>) {
    let pause = if view.paused { "resume" } else { "pause display" };
    let mut keys = vec![("q", "stop"), ("space", pause), ("+ -", "time")];
    if view.jobs.len() > 1 {
        keys.extend([("tab", "job"), ("a", "all jobs")]);
    }
    keys.push(("?", "help"));
    let mut column = 1;
    for (key, meaning) in keys {
        if usize::from(area.width.saturating_sub(column)) < key.len() + meaning.len() + 1 {
            break;
        }
        column = canvas.text(area, column, 0, key, BOLD);
        column = canvas.text(area, column + 1, 0, meaning, DIM) + 3;
    }
    if let Some(address) = view.metrics {
        canvas.right(area, column, 0, &format!("{address} "), DIM);
    }
}

const HELP: [(&str, &str); 9] = [
    ("q  Ctrl-C", "stop, and print the results so far"),
    ("space  p", "pause and resume the display; the run continues"),
    ("+  -", "shorter or longer time span"),
    ("tab  arrows", "next or previous job"),
    ("a  home", "all jobs together"),
    ("Ctrl-Z", "suspend the process; fg resumes it"),
    ("", ""),
    ("", "Figures cover the last 2 seconds. Latency counts from the due time of"),
    ("", "an operation if there is a schedule, otherwise from its submission."),
];

/// Draws the help: keys, and how to read the figures.
pub(super) fn help(canvas: &mut Canvas<'_>, area: Rect) {
    let width = area.width.min(80);
    let height = area.height.min(HELP.len() as u16 + 4);
    let frame = Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    let inside = canvas.frame(frame, "keys");
    for (row, (key, meaning)) in (0..).zip(HELP) {
        let column = if key.is_empty() { 1 } else { 15 };
        canvas.text(inside, 1, row + 1, key, BOLD);
        canvas.text(inside, column, row + 1, meaning, Style::new());
    }
    canvas.foot(frame, "press any key to close", "docs/live.md");
}

/// Draws figures without graphs.
pub(super) fn small(canvas: &mut Canvas<'_>, area: Rect, view: &ScreenView<'_>) {
    let progress = match (view.making, view.fraction, view.eta) {
        (Some(making), ..) => format!("writing {:.0}%", 100.0 * making.fraction),
        (_, Some(fraction), Some(eta)) => format!("{:.0}% {} left", 100.0 * fraction.min(1.0), clock(eta)),
        _ => clock(view.elapsed),
    };
    let (word, style) = state(canvas, view.track().state);
    let word = if view.paused { "paused" } else { word };
    let column = canvas.text(area, 0, 0, &format!("{progress} "), BOLD);
    canvas.text(area, column, 0, word, style);
    let mut row = 1;
    for kind in view.kinds() {
        let (now, tail) = (view.now(), view.now().tail(kind));
        let style = canvas.colours.kind(kind);
        let latency = format!("p99 {}", latency(tail[1]));
        let both = format!("{latency} {}", rate(now.bytes[kind]));
        // A cut figure would be misread.
        let below = if both.len() <= usize::from(area.width) { both } else { latency };
        let lines = [format!("{} {} IOPS", KINDS[kind], count(now.iops[kind].round())), below];
        for line in lines {
            canvas.text(area, 0, row, &line, style);
            row += 1;
        }
    }
    canvas.text(area, 0, (area.height.saturating_sub(1)).max(row), "q stop  ? help", DIM);
}
