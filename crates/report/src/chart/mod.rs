//! Charts: scales, axes, frames and marks.
//!
//! A chart is drawn into a [`Frame`], which knows where the values of its two [`Axis`] lie. Marks carry classes and no
//! colours: [`STYLE`] gives them theirs, on light, on dark and in print, so that the same marks serve a picture of its own
//! and a page with many.

mod axis;
mod frame;
mod label;
mod scale;
mod svg;

pub use axis::Axis;
pub use frame::{Frame, Step};
pub use label::{bytes_per_second, elapsed, share, short_count, short_time, time};
pub use scale::Scale;
pub use svg::{Svg, escape, isolated};

/// Number of colours before they repeat.
pub const COLOURS: usize = 6;

/// The class of a series by its number.
#[must_use]
pub fn series(number: usize) -> String {
    format!("s{}", number % COLOURS)
}

/// Position of a percentile on an axis of nines: 0.9 at 1, 0.99 at 2; 1 at the limit of floats.
#[must_use]
pub fn nines(share: f64) -> f64 {
    -(1.0 - share).max(1e-12).log10()
}

/// What marks look like. The colours are told apart with every kind of colour blindness, and have a contrast of at least 3
/// to 1 with the paper.
pub const STYLE: &str = include_str!("style.css");
