//! CPU usage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// CPU usage of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuUse {
    /// Time in user mode, in nanoseconds.
    pub user_ns: u64,
    /// Time in the kernel, in nanoseconds.
    pub system_ns: u64,
    pub context_switches: u64,
    /// Page faults that read from disk.
    pub major_faults: u64,
    /// Page faults without a read from disk.
    pub minor_faults: u64,
}

impl CpuUse {
    /// Adds the usage of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.user_ns = self.user_ns.saturating_add(other.user_ns);
        self.system_ns = self.system_ns.saturating_add(other.system_ns);
        self.context_switches += other.context_switches;
        self.major_faults += other.major_faults;
        self.minor_faults += other.minor_faults;
    }

    /// Returns the time in user mode and in the kernel, in nanoseconds.
    #[must_use]
    pub const fn busy_ns(&self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }

    /// Returns the usage since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            context_switches: self.context_switches.saturating_sub(earlier.context_switches),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
        }
    }
}
