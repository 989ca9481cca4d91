//! CPU usage.

use crate::Nanos;

/// CPU usage of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuUse {
    /// Time in user mode.
    pub user: Nanos,
    /// Time in the kernel.
    pub system: Nanos,
    pub context_switches: u64,
    /// Page faults that read from disk.
    pub major_faults: u64,
    /// Page faults without a read from disk.
    pub minor_faults: u64,
}

impl CpuUse {
    /// Adds the usage of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.user += other.user;
        self.system += other.system;
        self.context_switches += other.context_switches;
        self.major_faults += other.major_faults;
        self.minor_faults += other.minor_faults;
    }

    /// Returns the usage since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user: self.user - earlier.user,
            system: self.system - earlier.system,
            context_switches: self.context_switches.saturating_sub(earlier.context_switches),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
        }
    }
}
