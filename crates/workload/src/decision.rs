//! Types of decisions.

use units::Nanos;

/// Kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum OpKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Tells the device that a range is no longer needed.
    Trim,
    /// `fsync`.
    Sync,
    /// `fdatasync`.
    DataSync,
}

impl OpKind {
    /// The place of a data operation in tables of three: read, write, trim. Syncs count with writes.
    #[inline]
    #[must_use]
    pub(crate) const fn index(self) -> usize {
        match self {
            Self::Read => 0,
            Self::Write | Self::Sync | Self::DataSync => 1,
            Self::Trim => 2,
        }
    }

    /// Whether it transfers or trims bytes, unlike a sync.
    #[inline]
    #[must_use]
    pub const fn moves_data(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Trim)
    }
}

/// One operation, decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The instant at which it is meant to begin: the schedule's under a rate, however late it is issued;
    /// the caller's `now` otherwise.
    pub intended: Nanos,
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// How many operations the issuer decided before this one.
    pub sequence: u64,
    /// How many bytes it covers; zero for syncs.
    pub length: u32,
    /// Which file, by its place in the [`Layout`](crate::JobLayout).
    pub file: u32,
    /// Which time the file is gone through, from zero; where verified writes may overlap, the number of the operation.
    /// Written into verification headers.
    pub pass: u32,
    /// What it does.
    pub kind: OpKind,
    /// The data read must pass [`Issuer::check`](crate::Issuer::check).
    pub checked: bool,
    /// Part of ending the job (`end_fsync`) rather than of its load: fio does not count it.
    pub closing: bool,
}

/// An issuer's answer to "what next".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Issue this now.
    Issue(Decision),
    /// Forget what caches hold of the files' regions, and then issue this: it begins another pass over them.
    IssueAnew(Decision),
    /// Nothing before this instant, whatever completes.
    Until(Nanos),
    /// Nothing before an operation in flight has completed.
    Blocked,
    /// Nothing more goes to this file for now, and another is about to be opened (`openfiles`): close it.
    Close(u32),
    /// Nothing any more.
    Done,
}

/// Which of the run's workers an issuer decides for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerIndex {
    /// Its place among all workers of the run, from zero: gives it random numbers of its own.
    pub index: u32,
    /// Its place among the clones of its job (`numjobs`), from zero.
    pub clone: u32,
}
