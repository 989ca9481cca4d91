//! Think time between operations.

use job::{Job, ThinktimeBlocks};
use units::Nanos;

/// Decides when nothing is issued.
///
/// `thinktime_spin` makes no difference here: spinning and sleeping both mean that nothing is issued, and how the
/// caller waits is the caller's affair.
#[derive(Clone, Debug)]
pub(crate) struct Think {
    pause: Nanos,
    /// Operations between pauses; zero where only time counts.
    blocks: u64,
    counted_at: ThinktimeBlocks,
    /// Time between pauses; zero where only operations count.
    busy: Nanos,
    /// Operations since the last pause.
    issued: u64,
    busy_since: Option<Nanos>,
    idle_until: Option<Nanos>,
}

/// Whether idle time permits the next operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// Go ahead.
    Granted,
    /// Not before this instant.
    Until(Nanos),
    /// Not before everything in flight has completed.
    AfterAll,
}

impl Think {
    /// `None` where the job has no idle time.
    pub(crate) fn new(job: &Job) -> Option<Self> {
        let pace = &job.pace;
        let busy = pace.thinktime_iotime;
        // One operation between pauses is the default; with a span of time, it means that only the span counts.
        let timed = busy > Nanos::ZERO && pace.thinktime_blocks <= 1;
        (pace.thinktime > Nanos::ZERO).then(|| Self {
            pause: pace.thinktime,
            blocks: if timed { 0 } else { pace.thinktime_blocks.max(1) },
            counted_at: pace.thinktime_blocks_type,
            busy,
            issued: 0,
            busy_since: None,
            idle_until: None,
        })
    }

    /// Whether an operation may be issued at `now`.
    pub(crate) fn leave(&mut self, now: Nanos, in_flight: u64) -> Leave {
        if let Some(until) = self.idle_until {
            if now < until {
                return Leave::Until(until);
            }
            self.idle_until = None;
            self.busy_since = None;
        }
        let since = *self.busy_since.get_or_insert(now);
        if self.busy > Nanos::ZERO && now.since(since) >= self.busy {
            return self.idle_from(now);
        }
        if self.blocks == 0 || self.issued < self.blocks {
            return Leave::Granted;
        }
        match self.counted_at {
            ThinktimeBlocks::Issue => self.idle_from(now),
            ThinktimeBlocks::Complete if in_flight == 0 => self.idle_from(now),
            ThinktimeBlocks::Complete => Leave::AfterAll,
        }
    }

    fn idle_from(&mut self, instant: Nanos) -> Leave {
        let until = instant + self.pause;
        self.issued = 0;
        self.idle_until = Some(until);
        Leave::Until(until)
    }

    /// An operation was issued.
    pub(crate) fn issued(&mut self) {
        self.issued += 1;
    }

    /// The last operation in flight has completed: the pause begins now, not when the caller next asks.
    pub(crate) fn all_completed(&mut self, at: Nanos) {
        let due = self.blocks > 0 && self.issued >= self.blocks;
        if due && self.counted_at == ThinktimeBlocks::Complete && self.idle_until.is_none() {
            self.idle_from(at);
        }
    }
}
