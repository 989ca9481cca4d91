//! Think time and think cycles between operations.

use job::{Job, ThinktimeBlocks};
use units::Nanos;

/// Decides when think time delays operations, and when the CPU works in between.
///
/// `thinktime_spin` has no effect here: whether the caller spins or sleeps, nothing is issued.
#[derive(Clone, Debug)]
pub(crate) struct Think {
    /// Processor cycles after each operation.
    cycles: u32,
    /// Completed operations after which the CPU has not worked yet.
    unspent: u64,
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
    /// Spend this many CPU cycles, then ask again.
    AfterCycles(u32),
    /// Wait until all operations in flight have completed.
    AfterAll,
}

impl Think {
    /// Returns `None` if the job has neither think time nor think cycles.
    pub(crate) fn new(job: &Job) -> Option<Self> {
        let pace = &job.pace;
        let busy = pace.thinktime_iotime;
        // One operation between pauses is the default; together with `thinktime_iotime` it means that only time counts.
        let timed = busy > Nanos::ZERO && pace.thinktime_blocks <= 1;
        let idles = pace.thinktime > Nanos::ZERO;
        (idles || pace.thinkcycles > 0).then(|| Self {
            cycles: pace.thinkcycles,
            unspent: 0,
            pause: pace.thinktime,
            blocks: if timed || !idles { 0 } else { pace.thinktime_blocks.max(1) },
            counted_at: pace.thinktime_blocks_type,
            busy: if idles { busy } else { Nanos::ZERO },
            issued: 0,
            busy_since: None,
            idle_until: None,
            idled: Nanos::ZERO,
        })
    }

    /// Reports whether an operation may be issued at `now`.
    pub(crate) fn admit(&mut self, now: Nanos, in_flight: u64) -> Admission {
        if self.unspent > 0 {
            self.unspent -= 1;
            return Admission::AfterCycles(self.cycles);
        }
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

    /// Counts a completed operation.
    pub(crate) fn completed(&mut self) {
        self.unspent += u64::from(self.cycles > 0);
    }

    /// Starts the pause when the last operation in flight completes, not at the caller's next request. Think cycles precede
    /// the pause.
    pub(crate) fn all_completed(&mut self, at: Nanos) {
        let due = self.cycles == 0 && self.blocks > 0 && self.issued >= self.blocks;
        if due && self.counted_at == ThinktimeBlocks::Complete && self.idle_until.is_none() {
            self.idle_from(at);
        }
    }
}
