//! The knee: the queue depth that a device needs, and the cost of more.
//!
//! With `N` operations in flight a device gives at first `N / R0` of them a second: each takes `R0`, whatever the others
//! do. In the end it gives `Xmax`, and more of them only wait. The two lines meet at `N* = R0 × Xmax`, the knee. [`fit`]
//! finds it from measured points, [`steady`] makes a point of the intervals of one measurement, and [`search`] says at
//! which depth to measure next.

mod curve;
mod fit;
pub mod search;
pub mod steady;

pub use fit::{Curve, Estimate, Fit, Knee, Point, Retrograde, fit};
