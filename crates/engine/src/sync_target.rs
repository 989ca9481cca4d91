//! Synchronous engines: blocking calls and `mmap`.

use std::sync::Arc;

use target::{Completion, Op, Tag, Target, WriteBackSource};
use units::{Nanos, ZoneCommand};

use crate::buffers::Buffers;
use crate::clock::{self, MonotonicClock};
use crate::error::Error;
use crate::files::File;
use crate::in_call::InCall;
use crate::opening::Opening;
use crate::{inline, settle, zones};

/// Executes one operation at a time and returns when it is done.
pub(crate) trait Perform {
    /// Returns the result of an operation that needs no call. What this takes is not measured.
    #[inline]
    fn without_call(&mut self, _: &Op) -> Option<i32> {
        None
    }

    /// Returns the result as in a completion: bytes, or a negated error number.
    fn perform(&mut self, op: &Op, buffers: &Buffers) -> i32;

    /// Returns the open files; none if operations work on something else.
    fn files(&self) -> &[File];

    /// Implements [`Target::invalidate`].
    fn invalidate(&self, file: u32, offset: u64, length: u64) {
        inline::invalidate(self.files().get(file as usize), offset, length);
    }

    /// Implements [`Target::settle`].
    fn settle(&self, file: u32, offset: u64, length: u64) -> Result<WriteBackSource, i32> {
        settle::settle(self.files().get(file as usize), offset, length)
    }

    /// Releases the resources of a file until the next operation on it.
    fn close(&mut self, file: u32) {
        if let Some(file) = self.files().get(file as usize) {
            file.close();
        }
    }

    /// Implements [`Target::renew`] for a closed file.
    fn renew(&mut self, file: u32) -> Result<(), i32> {
        self.files().get(file as usize).map_or(Ok(()), File::renew)
    }
}

/// A target that executes each operation in [`Target::submit`] and returns its completion at the next wait.
pub(crate) struct SyncTarget<P> {
    performer: P,
    buffers: Buffers,
    ready: Vec<Completion>,
    in_call: Arc<InCall>,
    clock: MonotonicClock,
}

impl<P: Perform> SyncTarget<P> {
    /// Creates a target around `performer`.
    ///
    /// # Errors
    /// Fails if memory for the buffers cannot be allocated.
    pub(crate) fn new(setup: &Opening, performer: P) -> Result<Self, Error> {
        let ready = Vec::with_capacity(setup.depth as usize);
        let in_call = setup.in_call.clone().unwrap_or_default();
        Ok(Self { performer, buffers: Buffers::new(setup)?, ready, in_call, clock: setup.clock })
    }
}

impl<P: Perform> Target for SyncTarget<P> {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    #[inline]
    fn submit(&mut self, op: Op) {
        if let Some(result) = self.performer.without_call(&op) {
            let now = self.clock.now();
            return self.ready.push(Completion { tag: op.tag, submitted: now, completed: now, result });
        }
        let submitted = self.clock.now();
        self.in_call.operate(&op, submitted);
        let result = self.performer.perform(&op, &self.buffers);
        self.in_call.leave();
        self.ready.push(Completion { tag: op.tag, submitted, completed: self.clock.now(), result });
    }

    #[inline]
    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<Completion>) {
        let short = self.ready.len() < min as usize;
        done.append(&mut self.ready);
        if short {
            self.clock.sleep_until(until);
        }
    }

    fn invalidate(&mut self, file: u32, offset: u64, length: u64) {
        self.performer.invalidate(file, offset, length);
    }

    fn settle(&mut self, file: u32, offset: u64, length: u64) -> Result<WriteBackSource, i32> {
        let performer = &self.performer;
        self.in_call.settle(file, offset, self.clock.now(), || performer.settle(file, offset, length))
    }

    fn command_zone(&mut self, file: u32, command: ZoneCommand, offset: u64, length: u64) -> Result<u64, i32> {
        let files = self.performer.files();
        zones::command(files, (file, command), (offset, length), &self.in_call, self.clock.now())
    }

    fn close(&mut self, file: u32) {
        self.performer.close(file);
    }

    fn spin(&mut self, cycles: u32) {
        clock::spin(cycles);
    }

    fn renew(&mut self, file: u32) -> Result<(), i32> {
        self.performer.close(file);
        self.performer.renew(file)
    }

    fn buffer(&mut self, tag: Tag) -> Option<&mut [u8]> {
        self.buffers.slice(tag).filter(|buffer| !buffer.is_empty())
    }
}
