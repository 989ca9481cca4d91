//! Types of decisions.

use units::Nanos;
use units::OpKind;

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
