//! The kinds of operation that a job can issue.

use job::{Direction, Job};

use crate::mix::Mix;
use units::OpKind;

/// The kinds of data operation that a job's issuers can issue.
///
/// [`Issuer`](crate::Issuer) is built from the same value, so what is not in here is never issued: a dry run, the write
/// gate and the run itself cannot disagree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Reads, reading back included.
    pub read: bool,
    /// Writes.
    pub write: bool,
    /// Trims.
    pub trim: bool,
}

impl Operations {
    /// The operations of a job, whatever its engine and its files.
    ///
    /// With `verify_only` nothing is ever written or trimmed: what the job would have written is read and checked where
    /// it names a method to verify by, and left out where it names none.
    #[must_use]
    pub fn of(job: &Job) -> Self {
        let mix = Mix::new(job);
        let pairs = job.pattern.direction == Direction::TrimWrite;
        let issued = Self {
            read: mix.includes(OpKind::Read),
            write: mix.includes(OpKind::Write) || pairs,
            trim: mix.includes(OpKind::Trim),
        };
        let verifies = job.verify.method.is_some();
        let reads_back = verifies && issued.write && (job.verify.do_verify || job.verify.only);
        let kept = if job.verify.only { Self { write: false, trim: false, ..issued } } else { issued };
        Self { read: kept.read || reads_back, ..kept }
    }

    /// Whether anything of what a file or device holds can change.
    #[must_use]
    pub const fn changes_data(self) -> bool {
        self.write || self.trim
    }

    /// Whether operations of this kind can be issued; syncs are neither reads nor changes.
    #[must_use]
    pub const fn includes(self, kind: OpKind) -> bool {
        match kind {
            OpKind::Read => self.read,
            OpKind::Write => self.write,
            OpKind::Trim => self.trim,
            _ => true,
        }
    }

    /// Whether any of what a mix chooses from can be issued.
    pub(crate) fn includes_any_of(self, mix: Mix) -> bool {
        [OpKind::Read, OpKind::Write, OpKind::Trim].into_iter().any(|kind| mix.includes(kind) && self.includes(kind))
    }
}
