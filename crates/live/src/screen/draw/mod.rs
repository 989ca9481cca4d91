//! The screen, from what is known to cells: no terminal, no clock, nothing that is not in the [`ScreenView`].

mod canvas;
mod graph;
mod head;
mod jobs;
mod panels;
mod side;

use std::time::Duration;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use units::Nanos;

pub(super) use canvas::Palette;
use canvas::{Canvas, columns, rows};

use super::sampler::{LimitNow, Now, ScreenState, Track};
use crate::view::{FileProgress, JobFacts};

/// Everything that is on the screen.
#[derive(Clone, Debug)]
pub(super) struct ScreenView<'a> {
    /// Such as `fathom run`.
    pub(super) title: &'a str,
    /// Which of many runs it is.
    pub(super) lead: &'a str,
    /// A file that is made before it runs.
    pub(super) making: Option<&'a FileProgress>,
    pub(super) elapsed: Duration,
    pub(super) eta: Option<Duration>,
    pub(super) fraction: Option<f64>,
    pub(super) jobs: Vec<(&'a JobFacts, &'a Track)>,
    /// All jobs together.
    pub(super) all: &'a Track,
    /// The job whose graphs are shown; all of them where it is none.
    pub(super) chosen: Option<usize>,
    /// How much time graphs span.
    pub(super) window: Duration,
    pub(super) limits: &'a [LimitNow],
    pub(super) notes: &'a [String],
    /// Where figures are scraped.
    pub(super) metrics: Option<&'a str>,
    pub(super) paused: bool,
    pub(super) help: bool,
}

impl ScreenView<'_> {
    /// What graphs and figures are of.
    fn track(&self) -> &Track {
        self.chosen.and_then(|chosen| self.jobs.get(chosen)).map_or(self.all, |(_, track)| track)
    }

    fn now(&self) -> &Now {
        &self.track().now
    }

    /// The kinds of operation that what is shown has done, or is going to do.
    fn kinds(&self) -> Vec<usize> {
        let track = self.track();
        let window_s = self.window.as_secs_f64();
        let seen = |kind: usize| {
            let dots = track.history.dots(window_s, 32, super::history::Join::Greatest, |point| point.iops[kind]);
            track.now.iops[kind] > 0.0 || dots.iter().any(|dot| *dot > 0.0)
        };
        let kinds: Vec<usize> = (0..3).filter(|&kind| seen(kind)).collect();
        if kinds.is_empty() { vec![0] } else { kinds }
    }

    /// What latencies are counted from.
    fn latency_name(&self) -> &'static str {
        let scheduled = match self.chosen.and_then(|chosen| self.jobs.get(chosen)) {
            Some((facts, _)) => facts.scheduled,
            None => self.jobs.iter().any(|(facts, _)| facts.scheduled),
        };
        if scheduled { "response latency" } else { "service latency" }
    }
}

/// The names of kinds.
const KINDS: [&str; 3] = ["read", "write", "trim"];
/// The names of percentiles.
const TAILS: [&str; 3] = ["p50", "p99", "p99.9"];

/// Below this there are figures and no graphs.
const SMALL: (u16, u16) = (44, 14);

/// Draws everything.
pub(super) fn draw(view: &ScreenView<'_>, buffer: &mut Buffer, palette: Palette) {
    let area = buffer.area;
    let canvas = &mut Canvas { buffer, palette };
    if view.help {
        head::help(canvas, area);
    } else if area.width < SMALL.0 || area.height < SMALL.1 {
        head::small(canvas, area, view);
    } else {
        whole(canvas, area, view);
    }
}

fn whole(canvas: &mut Canvas<'_>, area: Rect, view: &ScreenView<'_>) {
    head::head(canvas, rows(area, 0, 2), view);
    head::keys(canvas, rows(area, area.height - 1, 1), view);
    let body = rows(area, 2, area.height - 3);
    let below = below(body, view);
    graphs(canvas, rows(body, 0, body.height - below), view);
    let below = rows(body, body.height - below, below);
    let side = side::width(below);
    jobs::table(canvas, columns(below, 0, below.width - side), view);
    side::side(canvas, columns(below, below.width - side, side), view);
}

/// Returns the height of the jobs and the panels beside them.
fn below(body: Rect, view: &ScreenView<'_>) -> u16 {
    let wanted = jobs::lines(view).max(side::lines(view)) as u16 + 3;
    let most = if body.height >= 30 { body.height / 3 } else { body.height * 2 / 5 };
    wanted.clamp(4, most.max(4))
}

/// Four panels, or two where there is no room for four.
fn graphs(canvas: &mut Canvas<'_>, area: Rect, view: &ScreenView<'_>) {
    let left = area.width / 2;
    let (left, right) = (columns(area, 0, left), columns(area, left, area.width - left));
    let upper = if area.height >= 10 { area.height.div_ceil(2) } else { area.height };
    panels::iops(canvas, rows(left, 0, upper), view);
    panels::latency(canvas, rows(right, 0, upper), view);
    if upper < area.height {
        panels::bandwidth(canvas, rows(left, upper, area.height - upper), view);
        panels::histogram(canvas, rows(right, upper, area.height - upper), view);
    }
}

/// A duration as minutes and seconds, with hours where there are any.
fn clock(time: Duration) -> String {
    let s = time.as_secs();
    match s / 3600 {
        0 => format!("{}:{:02}", s / 60, s % 60),
        hours => format!("{hours}:{:02}:{:02}", s / 60 % 60, s % 60),
    }
}

/// A span in its largest unit.
fn span(time: Duration) -> String {
    match time.as_secs() {
        s @ 0..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min", s / 60),
        s => format!("{} h", s / 3600),
    }
}

fn latency(value: Option<Nanos>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// A round value without the zeros behind its point: `1 ms`, not `1.00 ms`.
fn round(text: &str) -> String {
    let number = text.chars().take_while(|c| c.is_ascii_digit() || *c == '.').count();
    let (number, unit) = text.split_at(number);
    let short = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{short}{unit}")
}

fn rate(bytes: f64) -> String {
    format!("{}/s", units::Bytes::new(bytes as u64))
}

/// A state in a word, and how it is shown.
fn state(canvas: &Canvas<'_>, state: ScreenState) -> (&'static str, ratatui_core::style::Style) {
    match state {
        ScreenState::Waiting => ("waits", Palette::faint()),
        ScreenState::Ramp => ("ramp", canvas.palette.odd()),
        ScreenState::Running => ("runs", canvas.palette.good()),
        ScreenState::Silent => ("no answer", canvas.palette.bad()),
        ScreenState::Over => ("done", Palette::faint()),
    }
}

#[cfg(test)]
mod tests;
