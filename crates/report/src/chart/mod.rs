//! Charts as SVG: scales, axes, frames and marks.
//!
//! A chart is drawn into a [`Frame`], which maps the values of its two [`Axis`] to positions. Marks have classes
//! instead of colours; [`STYLE`] assigns colours for light and dark backgrounds and for print, to standalone images and
//! to charts within a page.
//!
//! They are not drawn by plotters: its SVG backend writes fixed colours as attributes and knows neither classes nor
//! `<title>`, so a page would have one theme and no tooltips. Here the chart of a ten-hour run is 10 KB.

mod axis;
mod frame;
mod scale;
mod svg;

pub(crate) use axis::{Axis, bytes_per_second, elapsed, share, short_count, short_time, time};
pub(crate) use frame::{Frame, LETTER, Step};
pub(crate) use scale::Scale;
pub(crate) use svg::{Svg, escape, isolated};

/// Number of series colours; further series repeat them.
pub(crate) const COLOURS: usize = 6;

/// Returns the class of a series.
pub(crate) fn series(number: usize) -> String {
    format!("s{}", number % COLOURS)
}

/// Returns the classes of the line of a curve. Dashes keep two curves apart where one lies on the other.
pub(crate) fn line(number: usize) -> String {
    format!("l{} {}", ["", " d1", " d2"][number % 3], series(number))
}

/// Returns the position of a percentile on an axis of nines: 0.9 at 1, 0.99 at 2; 1 is limited to twelve nines.
pub(crate) fn nines(share: f64) -> f64 {
    -(1.0 - share).max(1e-12).log10()
}

/// Style sheet of marks. The colours can be distinguished with every kind of colour blindness, and have a contrast of
/// at least 3 to 1 with the background.
pub(crate) const STYLE: &str = include_str!("style.css");
