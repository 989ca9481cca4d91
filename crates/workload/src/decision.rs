//! Decisions of an issuer.

use units::{Nanos, OpKind, ZoneCommand};

/// An operation to issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Intended start: under a rate the scheduled instant, however late the operation is issued; else the caller's
    /// `now`.
    pub intended: Nanos,
    /// Offset in bytes from the start of the file.
    pub offset: u64,
    /// Number of operations that the issuer decided before this one.
    pub sequence: u64,
    /// Length in bytes; zero for syncs.
    pub length: u32,
    /// Index of the file in the [`JobLayout`](crate::JobLayout).
    pub file: u32,
    /// Pass over the file, from zero, or the number of the operation where verified writes may overlap. Written to
    /// verification headers.
    pub pass: u32,
    /// Kind of operation.
    pub kind: OpKind,
    /// Index of its I/O priority in [`Job::priorities`](job::Job::priorities); zero for the process's.
    pub priority: u8,
    /// Whether the data read must pass [`Issuer::check`](crate::Issuer::check).
    pub checked: bool,
    /// Whether it is a sync at the end of the job (`end_fsync`), which fio does not count.
    pub closing: bool,
}

// Each operation in flight keeps its decision: with more bytes, the flights no longer fill whole cache lines.
const _: () = assert!(size_of::<Decision>() == 40);

impl Decision {
    /// Returns an operation at the start of the first file and of the run.
    pub(crate) const fn of(kind: OpKind, length: u32) -> Self {
        let (intended, offset, sequence, file, pass) = (Nanos::ZERO, 0, 0, 0, 0);
        Self { intended, offset, sequence, length, file, pass, kind, priority: 0, checked: false, closing: false }
    }
}

/// An issuer's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Issue this operation now.
    Issue(Decision),
    /// Invalidate caches of the files' regions, then issue this operation: it begins another pass.
    IssueAnew(Decision),
    /// Issue nothing before this instant, whatever completes.
    Until(Nanos),
    /// Spend this many CPU cycles before anything else (`thinkcycles`).
    Spin(u32),
    /// Issue nothing before an operation in flight has completed.
    Blocked,
    /// Send this command to a zone, then report its result by [`Issuer::zone_commanded`](crate::Issuer::zone_commanded).
    Command(ZoneTask),
    /// Remove this file, and continue with a new one of its name: another loop begins (`unlink_each_loop`).
    Renew(u32),
    /// Close this file, which is unused for now, before another one is opened (`openfiles`).
    Close(u32),
    /// The job, or its part before a read-back, has ended.
    Done,
}

impl Next {
    /// Returns the operation to issue, if there is one.
    #[must_use]
    pub const fn operation(&self) -> Option<&Decision> {
        match self {
            Self::Issue(op) | Self::IssueAnew(op) => Some(op),
            _ => None,
        }
    }
}

/// A command to a zone, after which the issuer is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneTask {
    /// Index of the file.
    pub file: u32,
    pub command: ZoneCommand,
    /// Offset of the zone.
    pub start: u64,
    /// Size of the zone in bytes.
    pub length: u64,
}

/// Identifies the worker of an issuer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerIndex {
    /// Index among all workers of the run, from zero; selects the worker's random numbers.
    pub index: u32,
    /// Index among the clones of the job (`numjobs`), from zero.
    pub clone: u32,
}

/// The region of a file in which operations fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileExtent {
    /// Start in bytes.
    pub start: u64,
    /// Length in bytes.
    pub length: u64,
}
