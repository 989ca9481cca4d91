//! A target without a device, which measures the overhead of the generator itself.

use target::{Completion, Op, Tag, Target};
use units::{Nanos, OpKind};

use crate::buffers::Buffers;
use crate::clock::{self, MonotonicClock};
use crate::error::Error;
use crate::opening::Opening;

/// A target that completes every operation in full at the next wait and touches no buffer.
///
/// An operation's submission and completion times are equal: the instant of that wait.
pub(crate) struct Null {
    /// Completions of the operations in flight, without their times.
    taken: Vec<Completion>,
    buffers: Buffers,
    clock: MonotonicClock,
}

impl Null {
    /// Creates a target without files.
    ///
    /// # Errors
    /// Fails if memory for the buffers cannot be allocated.
    pub(crate) fn new(setup: &Opening) -> Result<Self, Error> {
        let buffers = Buffers::new(setup)?;
        Ok(Self { taken: Vec::with_capacity(setup.depth as usize), buffers, clock: setup.clock })
    }
}

impl Target for Null {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    #[inline]
    fn submit(&mut self, op: Op) {
        let result = match op.kind {
            OpKind::Sync | OpKind::DataSync | OpKind::SyncRange | OpKind::SyncFilesystem => 0,
            OpKind::Read | OpKind::Write | OpKind::Trim => op.length.min(i32::MAX as u32) as i32,
        };
        self.taken.push(Completion { tag: op.tag, submitted: Nanos::ZERO, completed: Nanos::ZERO, result });
    }

    #[inline]
    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<Completion>) {
        let now = self.clock.now();
        let short = self.taken.len() < min as usize;
        done.extend(self.taken.drain(..).map(|taken| Completion { submitted: now, completed: now, ..taken }));
        if short {
            self.clock.sleep_until(until);
        }
    }

    fn invalidate(&mut self, _: u32, _: u64, _: u64) {}

    fn spin(&mut self, cycles: u32) {
        clock::spin(cycles);
    }

    fn buffer(&mut self, tag: Tag) -> Option<&mut [u8]> {
        self.buffers.slice(tag)
    }
}
