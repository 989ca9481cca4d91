//! Knee detection: the queue depth that a device needs, and the cost of exceeding it.
//!
//! With few operations in flight, `N` of them give `N / R0` per second: each takes `R0`, regardless of the others. With
//! many, the device gives `Xmax` and the rest queue. The two lines meet at `N* = R0 × Xmax`, the knee. [`fit()`] finds
//! it from measured points, [`steady`] turns the intervals of one measurement into a point, and [`search`] chooses the
//! next depth to measure.

mod curve;
mod fit;
pub mod search;
pub mod steady;

pub use fit::{Curve, Estimate, Fit, Knee, Point, Retrograde, fit};
