//! Targets for tests: one that keeps bytes in memory under a virtual clock, and one that makes any target fail.

mod faulty;
mod memory;

pub use faulty::{Faults, Faulty, Injected};
pub use memory::{Invalidated, Memory, Model};
