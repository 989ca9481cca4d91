//! Targets for tests: one that keeps bytes in memory under a virtual clock, and one that makes any target fail.

mod faulty;
mod memory;

pub use faulty::{FaultPlan, Faulty, Injected};
pub use memory::{Invalidated, MemoryModel, MemoryTarget};
