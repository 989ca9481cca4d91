//! Draws a [`ScreenView`] into cells. Pure: no terminal, no clock, no other input.

mod canvas;
mod graph;
mod head;
mod jobs;
mod panels;
mod side;

use std::time::Duration;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use units::Nanos;

use canvas::{Canvas, DIM, columns, rows};

use super::Colours;
use super::history::Join;
use super::sampler::{LimitNow, RecentFigures, ScreenState, Track};
use crate::view::{FileProgress, JobFacts};

/// The content of the screen.
#[derive(Clone, Debug)]
pub(super) struct ScreenView<'a> {
    /// The command, such as `fathom run`.
    pub(super) title: &'a str,
    /// Label of the run among several.
    pub(super) lead: &'a str,
    /// The file that is being written before the run.
    pub(super) making: Option<&'a FileProgress>,
    pub(super) elapsed: Duration,
    pub(super) eta: Option<Duration>,
    pub(super) fraction: Option<f64>,
    pub(super) jobs: Vec<(&'a JobFacts, &'a Track)>,
    /// All jobs together.
    pub(super) all: &'a Track,
    /// The job whose graphs are shown; `None` for all jobs together.
    pub(super) chosen: Option<usize>,
    /// Time span of the graphs.
    pub(super) window: Duration,
    pub(super) limits: &'a [LimitNow],
    pub(super) notes: &'a [String],
    /// Address of the metrics endpoint.
    pub(super) metrics: Option<&'a str>,
    pub(super) paused: bool,
    pub(super) help: bool,
}

impl ScreenView<'_> {
    /// Returns the track of the chosen job, or of all jobs together.
    fn track(&self) -> &Track {
        self.chosen.and_then(|chosen| self.jobs.get(chosen)).map_or(self.all, |(_, track)| track)
    }

    /// Returns the chosen job, or all jobs.
    fn shown(&self) -> &[(&JobFacts, &Track)] {
        match self.chosen {
            Some(chosen) if chosen < self.jobs.len() => &self.jobs[chosen..=chosen],
            _ => &self.jobs,
        }
    }

    fn now(&self) -> &RecentFigures {
        &self.track().now
    }

    /// Returns the kinds of operation within the window, or reads if there are none.
    fn kinds(&self) -> Vec<usize> {
        let track = self.track();
        let window_s = self.window.as_secs_f64();
        let seen = |kind: usize| {
            let dots = track.history.dots(window_s, 32, Join::Greatest, |point| point.iops[kind]);
            track.now.iops[kind] > 0.0 || dots.iter().any(|dot| *dot > 0.0)
        };
        let kinds: Vec<usize> = (0..3).filter(|&kind| seen(kind)).collect();
        if kinds.is_empty() { vec![0] } else { kinds }
    }

    /// Returns the name of the latency that is shown: counted from the scheduled instant, or from submission.
    fn latency_name(&self) -> &'static str {
        if self.shown().iter().any(|(facts, _)| facts.scheduled) { "response latency" } else { "service latency" }
    }
}

/// Names of the kinds of operation.
const KINDS: [&str; 3] = ["read", "write", "trim"];
/// Names of the percentiles.
const TAILS: [&str; 3] = ["p50", "p99", "p99.9"];

/// Minimum size of a screen with graphs.
const SMALL: (u16, u16) = (44, 14);

pub(super) fn draw(view: &ScreenView<'_>, buffer: &mut Buffer, colours: Colours) {
    let area = buffer.area;
    let canvas = &mut Canvas { buffer, colours };
    if view.help {
        head::help(canvas, area);
    } else if area.width < SMALL.0 || area.height < SMALL.1 {
        head::small(canvas, area, view);
    } else {
        full(canvas, area, view);
    }
}

fn full(canvas: &mut Canvas<'_>, area: Rect, view: &ScreenView<'_>) {
    head::head(canvas, rows(area, 0, 2), view);
    head::keys(canvas, rows(area, area.height - 1, 1), view);
    let body = rows(area, 2, area.height - 3);
    let below = lower_height(body, view);
    graphs(canvas, rows(body, 0, body.height - below), view);
    let below = rows(body, body.height - below, below);
    let side = side::width(below);
    jobs::table(canvas, columns(below, 0, below.width - side), view);
    side::side(canvas, columns(below, below.width - side, side), view);
}

/// Returns the height of the jobs and of the panel beside them.
fn lower_height(body: Rect, view: &ScreenView<'_>) -> u16 {
    let wanted = jobs::lines(view).max(side::lines(view)) as u16 + 3;
    let max = if body.height >= 30 { body.height / 3 } else { body.height * 2 / 5 };
    wanted.clamp(4, max.max(4))
}

/// Draws four panels, or two if four do not fit.
fn graphs(canvas: &mut Canvas<'_>, area: Rect, view: &ScreenView<'_>) {
    let left = area.width / 2;
    let (left, right) = (columns(area, 0, left), columns(area, left, area.width - left));
    let upper = if area.height >= 10 { area.height.div_ceil(2) } else { area.height };
    panels::rates(canvas, rows(left, 0, upper), view, false);
    panels::latency(canvas, rows(right, 0, upper), view);
    if upper < area.height {
        panels::rates(canvas, rows(left, upper, area.height - upper), view, true);
        panels::histogram(canvas, rows(right, upper, area.height - upper), view);
    }
}

/// Formats a duration as minutes and seconds, with hours if there are any.
fn clock(time: Duration) -> String {
    let s = time.as_secs();
    match s / 3600 {
        0 => format!("{}:{:02}", s / 60, s % 60),
        hours => format!("{hours}:{:02}:{:02}", s / 60 % 60, s % 60),
    }
}

/// Formats a duration in its largest unit.
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

/// Trims the zeros behind the point of a round value: `1 ms`, not `1.00 ms`.
fn trim_zeros(text: &str) -> String {
    let number = text.chars().take_while(|c| c.is_ascii_digit() || *c == '.').count();
    let (number, unit) = text.split_at(number);
    let short = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{short}{unit}")
}

fn rate(bytes: f64) -> String {
    format!("{}/s", units::Bytes::new(bytes as u64))
}

/// Returns the word for a state, and its style.
fn state(canvas: &Canvas<'_>, state: ScreenState) -> (&'static str, Style) {
    match state {
        ScreenState::Waiting => ("waiting", DIM),
        ScreenState::Ramp => ("ramp", canvas.colours.notice()),
        ScreenState::Running => ("running", canvas.colours.good()),
        ScreenState::Unresponsive => ("stalled", canvas.colours.bad()),
        ScreenState::Done => ("done", DIM),
    }
}

#[cfg(test)]
mod tests;
