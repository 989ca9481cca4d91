//! The target of all engines whose operations the kernel, a server or other threads execute while the worker continues.
//!
//! An engine is a [`Backend`]: how operations get to the device and completions back. [`QueueTarget`] has what all of them
//! need, [`QueueState`], and waits.

use std::sync::Arc;

use target::{Completion, Op, Tag, Target, WriteBackSource};
use units::{Nanos, ZoneCommand};

use crate::buffers::Buffers;
use crate::clock::{self, MonotonicClock, sleep_before};
use crate::error::Error;
use crate::files::File;
use crate::in_call::InCall;
use crate::opening::Opening;
use crate::slots::EngineSlots;
use crate::{inline, settle, zones};

/// What the engine of a queue works on, besides its connection to the kernel or server.
pub(crate) struct QueueState {
    /// Empty for engines that work on something else.
    pub(crate) files: Vec<File>,
    pub(crate) buffers: Buffers,
    pub(crate) slots: EngineSlots,
    /// Tags of operations that have not been handed over, oldest first.
    pub(crate) queued: Vec<Tag>,
    /// Completions that the backend need not collect any more.
    pub(crate) ready: Vec<Completion>,
    /// I/O priority of the next operation; 0 for that of the process.
    pub(crate) next_priority: u16,
    pub(crate) in_call: Arc<InCall>,
    pub(crate) clock: MonotonicClock,
}

impl QueueState {
    /// # Errors
    /// Fails if memory for the buffers cannot be allocated.
    pub(crate) fn new(setup: &Opening, files: Vec<File>) -> Result<Self, Error> {
        let depth = setup.depth as usize;
        Ok(Self {
            files,
            buffers: Buffers::new(setup)?,
            slots: EngineSlots::new(setup),
            queued: Vec::with_capacity(depth),
            ready: Vec::with_capacity(depth),
            next_priority: 0,
            in_call: setup.in_call.clone().unwrap_or_default(),
            clock: setup.clock,
        })
    }

    /// Returns the time. The submission of the operations that follow counts from it.
    #[inline]
    pub(crate) fn now(&mut self) -> Nanos {
        self.slots.tell(self.clock.now())
    }

    /// Marks a tag as in flight and its operation as not yet handed over.
    #[inline]
    pub(crate) fn queue(&mut self, tag: Tag) {
        self.slots.take(tag);
        self.queued.push(tag);
    }

    /// Records that a call, which has just ended, handed over the oldest `count` operations. As in fio, the call is part of
    /// the submission.
    #[inline]
    pub(crate) fn hand_over(&mut self, count: usize) {
        self.slots.stamp_call(&self.queued[..count], self.clock.now());
        if count == self.queued.len() {
            return self.queued.clear();
        }
        self.queued.drain(..count);
    }

    /// Completes an operation that was not handed over.
    pub(crate) fn complete_now(&mut self, tag: Tag, result: i32) {
        let now = self.clock.now();
        self.ready.push(Completion { tag, submitted: now, completed: now, result });
    }
}

/// What a backend does with an operation.
pub(crate) enum Submission {
    /// The backend completes it.
    Taken,
    /// The thread executes it synchronously, after all operations before it were handed over.
    Inline,
    /// It is complete, with this result.
    Done(i32),
}

/// The connection of a queue to what executes its operations.
pub(crate) trait Backend {
    /// Takes an operation, or returns what becomes of it instead. Marks the tag of one that it takes as in flight.
    fn submit(&mut self, state: &mut QueueState, op: &Op) -> Submission;

    /// Appends the known completions to `done`, besides those in [`QueueState::ready`].
    fn collect(&mut self, state: &mut QueueState, done: &mut Vec<Completion>);

    /// Hands over all queued operations and lets completions be reported, without waiting.
    fn poll(&mut self, state: &mut QueueState);

    /// Hands over all queued operations.
    fn flush(&mut self, state: &mut QueueState);

    /// Hands over all queued operations, then sleeps until `want` operations have completed or `limit` has passed. Returns
    /// whether a signal interrupted the sleep.
    fn block(&mut self, state: &mut QueueState, want: u32, limit: Option<Nanos>) -> bool;

    /// Implements [`Target::compare`].
    fn compare(&mut self) {}

    /// Implements [`Target::divide`].
    fn divide(&mut self, _: Tag, _: &[(u64, u32)]) {}

    /// Implements [`Target::settle`].
    fn settle(&mut self, state: &QueueState, file: u32, offset: u64, length: u64) -> Result<WriteBackSource, i32> {
        let settle = || settle::settle(state.files.get(file as usize), offset, length);
        state.in_call.settle(file, offset, state.clock.now(), settle)
    }

    /// Implements [`Target::command_zone`].
    fn command_zone(
        &mut self,
        state: &QueueState,
        file: u32,
        command: ZoneCommand,
        range: (u64, u64),
    ) -> Result<u64, i32> {
        zones::command(&state.files, (file, command), range, &state.in_call, state.clock.now())
    }

    /// Hands over all queued operations, so that none refers to a descriptor by number. Returns whether the file can be closed.
    fn let_close(&mut self, _: &mut QueueState, _: u32) -> bool {
        true
    }

    /// Makes files closable. Nothing is in flight.
    fn unregister(&mut self) {}

    /// Implements [`Target::buffer`] for a tag that is not in flight.
    fn buffer<'a>(&'a mut self, state: &'a mut QueueState, tag: Tag) -> Option<&'a mut [u8]> {
        state.buffers.slice(tag)
    }

    /// Ends the use of the buffers.
    fn end(&mut self, _: &mut QueueState) {}
}

/// Moves the known completions of a backend to those that it need not collect any more.
pub(crate) fn collect_early<B: Backend>(backend: &mut B, state: &mut QueueState) {
    let mut done = std::mem::take(&mut state.ready);
    backend.collect(state, &mut done);
    state.ready = done;
}

/// Waits for all operations in flight.
#[cold]
pub(crate) fn drain<B: Backend>(backend: &mut B, state: &mut QueueState) {
    while state.slots.in_flight() > 0 {
        backend.block(state, state.slots.in_flight(), None);
        collect_early(backend, state);
    }
}

/// A target with a queue. The backend is dropped before the buffers that the kernel may be using for it.
pub(crate) struct QueueTarget<B: Backend> {
    backend: B,
    state: QueueState,
}

impl<B: Backend> QueueTarget<B> {
    pub(crate) fn new(backend: B, state: QueueState) -> Self {
        Self { backend, state }
    }

    /// Waits once: sleeps if the deadline is far, polls the queue otherwise. Returns whether to stop waiting because the
    /// deadline has passed or a signal has arrived.
    #[inline]
    fn wait_once(&mut self, want: u32, until: Nanos) -> bool {
        let Self { backend, state } = self;
        if until == Nanos::MAX {
            return backend.block(state, want, None);
        }
        let left = until - state.clock.now();
        match sleep_before(left) {
            Some(length) => backend.block(state, want, Some(length)),
            None => {
                backend.poll(state);
                left == Nanos::ZERO
            }
        }
    }

    #[cold]
    fn perform(&mut self, op: &Op) {
        let Self { backend, state } = self;
        backend.flush(state);
        state.ready.push(inline::complete(&state.files, op, &state.in_call, &state.clock));
    }
}

impl<B: Backend> Target for QueueTarget<B> {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.state.now()
    }

    fn prioritize(&mut self, priority: u16) {
        self.state.next_priority = priority;
    }

    fn compare(&mut self) {
        self.backend.compare();
    }

    fn divide(&mut self, tag: Tag, ranges: &[(u64, u32)]) {
        self.backend.divide(tag, ranges);
    }

    #[inline]
    fn submit(&mut self, op: Op) {
        match self.backend.submit(&mut self.state, &op) {
            Submission::Taken => {}
            Submission::Inline => self.perform(&op),
            Submission::Done(result) => self.state.complete_now(op.tag, result),
        }
    }

    #[inline]
    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<Completion>) {
        let enough = done.len() + min as usize;
        if min == 0 {
            self.backend.poll(&mut self.state);
        }
        let mut interrupted = false;
        loop {
            done.append(&mut self.state.ready);
            self.backend.collect(&mut self.state, done);
            if interrupted || done.len() >= enough {
                return self.backend.flush(&mut self.state);
            }
            let in_flight = self.state.slots.in_flight();
            if in_flight == 0 {
                return self.state.clock.sleep_until(until);
            }
            let want = (enough - done.len()).min(in_flight as usize) as u32;
            interrupted = self.wait_once(want, until);
        }
    }

    fn invalidate(&mut self, file: u32, offset: u64, length: u64) {
        inline::invalidate(self.state.files.get(file as usize), offset, length);
    }

    fn settle(&mut self, file: u32, offset: u64, length: u64) -> Result<WriteBackSource, i32> {
        self.backend.settle(&self.state, file, offset, length)
    }

    fn command_zone(&mut self, file: u32, command: ZoneCommand, offset: u64, length: u64) -> Result<u64, i32> {
        self.backend.command_zone(&self.state, file, command, (offset, length))
    }

    fn close(&mut self, file: u32) {
        if self.backend.let_close(&mut self.state, file)
            && let Some(file) = self.state.files.get(file as usize)
        {
            file.close();
        }
    }

    fn spin(&mut self, cycles: u32) {
        clock::spin(cycles);
    }

    fn renew(&mut self, file: u32) -> Result<(), i32> {
        self.backend.unregister();
        self.close(file);
        self.state.files.get(file as usize).map_or(Ok(()), File::renew)
    }

    fn buffer(&mut self, tag: Tag) -> Option<&mut [u8]> {
        let Self { backend, state } = self;
        if state.slots.is_taken(tag) { None } else { backend.buffer(state, tag) }
    }
}

impl<B: Backend> Drop for QueueTarget<B> {
    fn drop(&mut self) {
        self.backend.end(&mut self.state);
    }
}
