//! Think time between operations.

use job::{Job, ThinktimeBlocks};
use units::Nanos;

/// Decides when think time delays operations.
///
/// `thinktime_spin` has no effect here: whether the caller spins or sleeps, nothing is issued.
#[derive(Clone, Debug)]
pub(crate) struct Think {
    pause: Nanos,
    /// Operations between pauses; zero if only time counts.
    blocks: u64,
    counted_at: ThinktimeBlocks,
    /// Time between pauses; zero if only operations count.
    busy: Nanos,
    /// Operations since the last pause.
    issued: u64,
    busy_since: Option<Nanos>,
    idle_until: Option<Nanos>,
    /// Idle time that has ended and was not taken yet.
    idled: Nanos,
}

/// Whether think time permits the next operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// The operation may be issued.
    Granted,
    /// Wait for this instant.
    Until(Nanos),
    /// Wait until all operations in flight have completed.
    AfterAll,
}

impl Think {
    /// Returns `None` if the job has no think time.
    pub(crate) fn new(job: &Job) -> Option<Self> {
        let pace = &job.pace;
        let busy = pace.thinktime_iotime;
        // One operation between pauses is the default; together with `thinktime_iotime` it means that only time counts.
        let timed = busy > Nanos::ZERO && pace.thinktime_blocks <= 1;
        (pace.thinktime > Nanos::ZERO).then(|| Self {
            pause: pace.thinktime,
            blocks: if timed { 0 } else { pace.thinktime_blocks.max(1) },
            counted_at: pace.thinktime_blocks_type,
            busy,
            issued: 0,
            busy_since: None,
            idle_until: None,
            idled: Nanos::ZERO,
        })
    }

    /// Reports whether an operation may be issued at `now`.
    pub(crate) fn admit(&mut self, now: Nanos, in_flight: u64) -> Admission {
        if let Some(until) = self.idle_until {
            if now < until {
                return Admission::Until(until);
            }
            self.idle_until = None;
            self.busy_since = None;
            self.idled += self.pause;
        }
        let since = *self.busy_since.get_or_insert(now);
        if self.busy > Nanos::ZERO && now.since(since) >= self.busy {
            return self.idle_from(now);
        }
        if self.blocks == 0 || self.issued < self.blocks {
            return Admission::Granted;
        }
        match self.counted_at {
            ThinktimeBlocks::Issue => self.idle_from(now),
            ThinktimeBlocks::Complete if in_flight == 0 => self.idle_from(now),
            ThinktimeBlocks::Complete => Admission::AfterAll,
        }
    }

    fn idle_from(&mut self, instant: Nanos) -> Admission {
        let until = instant + self.pause;
        self.issued = 0;
        self.idle_until = Some(until);
        Admission::Until(until)
    }

    /// Returns the idle time that has ended since the last call.
    pub(crate) fn take_idled(&mut self) -> Nanos {
        std::mem::take(&mut self.idled)
    }

    /// Counts an issued operation.
    pub(crate) fn issued(&mut self) {
        self.issued += 1;
    }

    /// Starts the pause when the last operation in flight completes, not at the caller's next request.
    pub(crate) fn all_completed(&mut self, at: Nanos) {
        let due = self.blocks > 0 && self.issued >= self.blocks;
        if due && self.counted_at == ThinktimeBlocks::Complete && self.idle_until.is_none() {
            self.idle_from(at);
        }
    }
}
