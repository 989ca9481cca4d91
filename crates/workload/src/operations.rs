//! The kinds of operation that a job can issue.

use job::{Direction, Job, ReplayOptions};

use crate::mix::Mix;
use units::{OpKind, PerKind};

/// The kinds of data operation that a job's issuers can issue.
///
/// [`Issuer`](crate::Issuer) uses the same value, so that a dry run, the write gate and the run itself agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Reads, including read-back.
    pub read: bool,
    pub write: bool,
    pub trim: bool,
    /// Removal of the files, at the end or after a loop.
    pub remove: bool,
}

impl Operations {
    /// Returns the operations of a job, regardless of its engine and files.
    ///
    /// With `verify_only` nothing is written or trimmed: the job's writes are read and checked if it has a verification
    /// method, and omitted if not.
    #[must_use]
    pub fn of(job: &Job) -> Self {
        if let Some(replay) = &job.replay {
            return Self { remove: job.files.unlink || job.files.unlink_each_loop, ..Self::of_replay(replay) };
        }
        let mix = Mix::new(job);
        let pairs = job.pattern.direction == Direction::TrimWrite;
        let issued = Self {
            read: mix.includes(OpKind::Read),
            write: mix.includes(OpKind::Write) || pairs,
            trim: mix.includes(OpKind::Trim) || job.trims_written(),
            remove: job.files.unlink || job.files.unlink_each_loop,
        };
        let verifies = job.verify.method.is_some();
        let reads_back = verifies && issued.write && (job.verify.do_verify || job.verify.only);
        let kept = if job.verify.only { Self { write: false, trim: false, ..issued } } else { issued };
        Self { read: kept.read || reads_back, ..kept }
    }

    /// Returns the operations of a replay: those of its trace, or all that it does not skip before the trace is known.
    fn of_replay(replay: &ReplayOptions) -> Self {
        let skip = &replay.skip;
        match &replay.facts {
            Some(facts) => {
                let PerKind { read, write, trim } = facts.operations;
                Self { read: read > 0, write: write > 0, trim: trim > 0, remove: false }
            }
            None => Self { read: !skip.read, write: !skip.write, trim: !skip.trim, remove: false },
        }
    }

    /// Reports whether data of a file or device can change or be lost.
    #[must_use]
    pub const fn changes_data(self) -> bool {
        self.writes() || self.remove
    }

    /// Reports whether operations write or trim.
    #[must_use]
    pub const fn writes(self) -> bool {
        self.write || self.trim
    }

    /// Reports whether operations of this kind can be issued. Syncs always can.
    #[must_use]
    pub const fn includes(self, kind: OpKind) -> bool {
        match kind {
            OpKind::Read => self.read,
            OpKind::Write => self.write,
            OpKind::Trim => self.trim,
            _ => true,
        }
    }

    /// Reports whether any kind in the mix can be issued.
    pub(crate) fn includes_any_of(self, mix: Mix) -> bool {
        [OpKind::Read, OpKind::Write, OpKind::Trim].into_iter().any(|kind| mix.includes(kind) && self.includes(kind))
    }
}
