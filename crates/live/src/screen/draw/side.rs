//! Limits, schedule accuracy and errors.

use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use units::{count, percent, significant};

use super::canvas::{BOLD, Canvas, DIM, fitting, rows};
use super::{ScreenView, clock};
use crate::screen::sampler::LimitNow;

/// Returns the width of the panel beside the jobs.
pub(super) fn width(area: Rect) -> u16 {
    match area.width {
        0..70 => 0,
        width @ 70..110 => (width * 2 / 5).min(34),
        width => (width / 3).min(64),
    }
}

/// Returns the number of lines that the panel needs.
pub(super) fn lines(view: &ScreenView<'_>) -> usize {
    let credits = view.limits.iter().filter(|limit| limit.credits.is_some()).count();
    3 + view.limits.len().min(6) + credits + 2 * view.notes.len().min(4)
}

/// Draws notes, limits and the state of the generator, the most important first.
pub(super) fn side(canvas: &mut Canvas<'_>, area: Rect, view: &ScreenView<'_>) {
    if area.width == 0 {
        return;
    }
    let inside = canvas.frame(area, if view.limits.is_empty() { "generator" } else { "limits" });
    let mut row = 0;
    let width = usize::from(inside.width.saturating_sub(2));
    for note in view.notes.iter().rev().take(4) {
        for line in wrapped(note, width) {
            canvas.text(inside, 1, row, &line, canvas.colours.bad());
            row += 1;
        }
    }
    if !view.limits.is_empty() {
        row = verdict(canvas, inside, row, view);
        let longest = view.limits.iter().map(|limit| limit.name.chars().count()).max().unwrap_or(0);
        // The rest of the line is for the bar and the percentage.
        let name = (longest as u16 + 1).min(inside.width.saturating_sub(11)).min(28);
        for limit in view.limits {
            if row + 2 < inside.height {
                row += self::limit(canvas, rows(inside, row, 2), name, limit);
            }
        }
    }
    generator(canvas, inside, row, view);
}

/// Wraps a text into at most two lines.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let cut = |text: &str| fitting(width, &[text.to_owned()]);
    if text.chars().count() <= width {
        return vec![text.to_owned()];
    }
    let end = text.char_indices().nth(width).map_or(text.len(), |(at, _)| at + 1);
    match text.get(..end).and_then(|head| head.rfind(' ')) {
        Some(space) => vec![text[..space].to_owned(), cut(&text[space + 1..])],
        None => vec![cut(text)],
    }
}

/// Names the limit that throttles most operations, if any. Returns the next row.
fn verdict(canvas: &mut Canvas<'_>, inside: Rect, row: u16, view: &ScreenView<'_>) -> u16 {
    let Some(binding) = view.limits.iter().find(|limit| limit.decided >= 0.25) else {
        canvas.text(inside, 1, row, "no limit reached", canvas.colours.good());
        return row + 1;
    };
    let column = canvas.text(inside, 1, row, &format!("{} ", binding.name), canvas.colours.notice().patch(BOLD));
    canvas.text(inside, column, row, &format!("throttles {}", percent(binding.decided)), canvas.colours.notice());
    row + 1
}

/// Draws the name and the utilization of a limit, and its burst credits in a second line. Returns the number of lines.
fn limit(canvas: &mut Canvas<'_>, area: Rect, name: u16, limit: &LimitNow) -> u16 {
    let name_width = usize::from(name.saturating_sub(1));
    canvas.text(area, 1, 0, &fitting(name_width, std::slice::from_ref(&limit.name)), Style::new());
    let style = if limit.used > 0.95 { canvas.colours.notice() } else { canvas.colours.good() };
    let used = format!("{:>6.0}% ", 100.0 * limit.used);
    let width = area.width.saturating_sub(name + 1 + used.len() as u16);
    canvas.bar(area, name + 1, 0, width, limit.used, style);
    canvas.right(area, name, 0, &used, Style::new());
    let Some((fraction, lasts)) = limit.credits else { return 1 };
    let style = if fraction < 0.1 { canvas.colours.notice() } else { DIM };
    let left = format!("credits {}", percent(fraction));
    let forms = match lasts.map(clock) {
        Some(lasts) => vec![format!("{left}, empty in {lasts}"), format!("credits empty in {lasts}")],
        None => vec![left],
    };
    canvas.text(area, 3, 1, &fitting(usize::from(area.width.saturating_sub(3)), &forms), style);
    2
}

fn generator(canvas: &mut Canvas<'_>, inside: Rect, row: u16, view: &ScreenView<'_>) {
    let now = view.now();
    let depth: u32 = match view.chosen.and_then(|chosen| view.jobs.get(chosen)) {
        Some((facts, _)) => facts.depth,
        None => view.jobs.iter().filter(|(_, track)| track.running > 0).map(|(facts, _)| facts.depth).sum(),
    };
    let in_flight = now.in_flight.map_or_else(|| "-".to_owned(), |mean| significant(mean, 3));
    let pieces = [("in flight ", DIM), (&in_flight, BOLD), (&format!(" of {depth}"), Style::new())];
    canvas.line(Rect { x: inside.x + 1, width: inside.width.saturating_sub(1), ..inside }, row, &pieces);
    if now.errors > 0 {
        canvas.right(inside, 0, row, &format!("{} errors ", count(now.errors as f64)), canvas.colours.bad());
    }
    if let Some((p50, p99)) = now.lateness {
        let forms = [format!("lateness p50 {p50}, p99 {p99}"), format!("lateness p99 {p99}")];
        let text = fitting(usize::from(inside.width.saturating_sub(1)), &forms);
        canvas.text(inside, 1, row + 1, &text, Style::new());
    }
    let workers: usize = view.jobs.iter().map(|(facts, _)| facts.workers.len()).sum();
    let row = row + 1 + u16::from(now.lateness.is_some());
    canvas.text(inside, 1, row, &format!("{} of {workers} workers running", view.all.running), DIM);
}
