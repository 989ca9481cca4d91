//! One operation, as engines report it.

use units::Nanos;

use crate::SummaryDirection;

/// One completed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Read, write or trim.
    pub direction: SummaryDirection,
    /// Bytes transferred.
    pub bytes: u32,
    /// Where it began.
    pub offset: u64,
    /// When it should have been issued.
    pub intended: Nanos,
    /// When the loop took it up.
    pub started: Nanos,
    /// When it was handed to the device.
    pub submitted: Nanos,
    /// When it was seen to be done.
    pub completed: Nanos,
}

impl Sample {
    /// From start to submission.
    #[inline]
    #[must_use]
    pub const fn submission(&self) -> Nanos {
        self.submitted.since(self.started)
    }

    /// From submission to completion.
    #[inline]
    #[must_use]
    pub const fn service(&self) -> Nanos {
        self.completed.since(self.submitted)
    }

    /// From start to completion.
    #[inline]
    #[must_use]
    pub const fn latency(&self) -> Nanos {
        self.completed.since(self.started)
    }

    /// From the intended instant to completion.
    #[inline]
    #[must_use]
    pub const fn response(&self) -> Nanos {
        self.completed.since(self.intended)
    }

    /// Whether both were started, submitted and completed together.
    #[inline]
    pub(crate) fn runs_with(&self, other: &Self) -> bool {
        self.completed.get() == other.completed.get()
            && self.submitted.get() == other.submitted.get()
            && self.started.get() == other.started.get()
            && self.direction as u8 == other.direction as u8
    }
}
