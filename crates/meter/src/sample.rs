//! A completed operation, as the loop reports it.

use units::{DataKind, Nanos};

/// A completed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Kind of operation.
    pub direction: DataKind,
    /// Index of its I/O priority; zero for the process's.
    pub priority: u8,
    /// Bytes transferred.
    pub bytes: u32,
    /// Offset in bytes.
    pub offset: u64,
    /// Instant at which the operation was due.
    pub intended: Nanos,
    /// Instant at which the loop began to handle it.
    pub started: Nanos,
    /// Instant at which it was handed to the device.
    pub submitted: Nanos,
    /// Instant at which its completion was seen.
    pub completed: Nanos,
}

impl Sample {
    /// Returns the time from start to submission.
    #[inline]
    #[must_use]
    pub const fn submission(&self) -> Nanos {
        self.submitted.since(self.started)
    }

    /// Returns the time from submission to completion.
    #[inline]
    #[must_use]
    pub const fn service(&self) -> Nanos {
        self.completed.since(self.submitted)
    }

    /// Returns the time from start to completion.
    #[inline]
    #[must_use]
    pub const fn latency(&self) -> Nanos {
        self.completed.since(self.started)
    }

    /// Returns the time from the intended instant to completion.
    #[inline]
    #[must_use]
    pub const fn response(&self) -> Nanos {
        self.completed.since(self.intended)
    }

    /// Reports whether both operations were started, submitted and completed at the same instants.
    #[inline]
    pub(crate) fn same_instants(&self, other: &Self) -> bool {
        self.completed.get() == other.completed.get()
            && self.submitted.get() == other.submitted.get()
            && self.started.get() == other.started.get()
            && self.direction as u8 == other.direction as u8
            && self.priority == other.priority
    }
}
