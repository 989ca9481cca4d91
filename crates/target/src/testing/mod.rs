//! Targets for tests: one that keeps bytes in memory with a virtual clock, and a wrapper that injects faults.

mod faulty;
mod memory;

pub use faulty::{FaultPlan, FaultyTarget, Injected};
pub use memory::{Invalidated, MemoryModel, MemoryTarget};
