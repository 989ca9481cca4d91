//! Submission by helper threads (`io_submit_mode=offload`).
//!
//! Each tag has a thread, with a target of the same engine for one operation at a time. The thread of the worker hands
//! operations over and is never held up by a call that blocks.

use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use target::{Completion, Op, Tag, Target};
use units::Nanos;

use super::{Visitor, with_engine};
use crate::error::{Error, ErrorKind};
use crate::files::File;
use crate::opening::Opening;
use crate::queue::{Backend, QueueState, QueueTarget, Submission};
use crate::{thread, usage};

/// Stack of a helper thread in bytes. It makes system calls and no recursion.
const STACK_BYTES: usize = 256 << 10;

/// What a helper thread does next.
enum HelperTask {
    Execute { op: Op, priority: u16 },
    Close(u32),
    End,
}

/// Tasks of one helper, in order.
#[derive(Default)]
struct Mailbox {
    tasks: Mutex<VecDeque<HelperTask>>,
    arrived: Condvar,
}

impl Mailbox {
    fn put(&self, task: HelperTask) {
        locked(&self.tasks).push_back(task);
        self.arrived.notify_one();
    }

    fn take(&self) -> HelperTask {
        let is_empty = |tasks: &mut VecDeque<HelperTask>| tasks.is_empty();
        let tasks = self.arrived.wait_while(locked(&self.tasks), is_empty);
        tasks.unwrap_or_else(PoisonError::into_inner).pop_front().unwrap_or(HelperTask::End)
    }
}

/// Completions of all helpers.
#[derive(Default)]
struct Outbox {
    done: Mutex<Vec<Completion>>,
    /// Number of completions, which can be read without the lock.
    count: AtomicU32,
    /// Number of completions that the worker sleeps for.
    wanted: AtomicU32,
    arrived: Condvar,
}

impl Outbox {
    fn put(&self, completion: Completion) {
        let mut done = locked(&self.done);
        done.push(completion);
        let count = done.len() as u32;
        self.count.store(count, Ordering::Release);
        if count >= self.wanted.load(Ordering::Relaxed) {
            self.arrived.notify_one();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The buffer of a helper's only tag.
struct HelperBuffer {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the helper keeps the buffer until it ends, and uses it only between taking an operation and completing it.
// During that time the tag is in flight, and the worker does not use it.
unsafe impl Send for HelperBuffer {}

/// What a helper reports once its target is ready: its thread ID and its buffer.
type Ready = Result<(u32, Option<HelperBuffer>), Error>;

/// A helper thread.
struct Helper {
    mailbox: Arc<Mailbox>,
    thread: JoinHandle<()>,
    buffer: Option<HelperBuffer>,
}

impl Helper {
    /// Starts the thread of `tag` and waits until its target is open.
    fn start(tag: Tag, setup: Opening, files: Vec<File>, outbox: &Arc<Outbox>) -> Result<Self, Error> {
        let mailbox = Arc::new(Mailbox::default());
        let (ready, report) = channel();
        let (tasks, outbox) = (Arc::clone(&mailbox), Arc::clone(outbox));
        let run = move || {
            let work = HelperWork { tag, tasks: &tasks, outbox: &outbox, ready: ready.clone() };
            if let Err(error) = with_engine(&setup, files, work) {
                let _ = ready.send(Err(error));
            }
        };
        let builder = std::thread::Builder::new().name(format!("offload-{}", tag.0)).stack_size(STACK_BYTES);
        let thread = builder.spawn(run).map_err(|error| {
            Error::system(ErrorKind::Host, "start", "a helper thread", &error)
                .with_remedy("use a smaller iodepth, or omit io_submit_mode=offload")
        })?;
        let ended = || Error::found(ErrorKind::Host, "start", "a helper thread", "it exited immediately");
        let (number, buffer) = report.recv().map_err(|_| ended())??;
        usage::add_helper(number);
        Ok(Self { mailbox, thread, buffer })
    }
}

/// The work of a helper thread, once its target is open.
struct HelperWork<'a> {
    tag: Tag,
    tasks: &'a Mailbox,
    outbox: &'a Outbox,
    ready: Sender<Ready>,
}

impl Visitor for HelperWork<'_> {
    type Output = ();

    fn visit<T: Target>(self, mut target: T) {
        let buffer = target
            .buffer(Tag(0))
            .map(|bytes| HelperBuffer { start: NonNull::from(&mut *bytes).cast(), bytes: bytes.len() });
        let Ok(()) = self.ready.send(Ok((thread::id(), buffer))) else { return };
        let mut done = Vec::with_capacity(1);
        loop {
            match self.tasks.take() {
                HelperTask::Execute { op, priority } => {
                    target.prioritize(priority);
                    target.submit(Op { tag: Tag(0), ..op });
                    while done.is_empty() && !thread::is_abandoned() {
                        target.wait(1, Nanos::MAX, &mut done);
                    }
                    let own = |completion| Completion { tag: self.tag, ..completion };
                    done.drain(..).map(own).for_each(|completion| self.outbox.put(completion));
                }
                HelperTask::Close(file) => target.close(file),
                HelperTask::End => return,
            }
        }
    }
}

/// The backend whose operations helper threads execute, each on files of its own.
pub(crate) struct Offload {
    helpers: Vec<Helper>,
    outbox: Arc<Outbox>,
}

impl Offload {
    /// Starts a helper for each tag of `setup`.
    ///
    /// # Errors
    /// Fails if a thread cannot be started, a file cannot be opened again, or the engine is unavailable.
    pub(crate) fn target(setup: &Opening, files: Vec<File>) -> Result<QueueTarget<Self>, Error> {
        let mut backend = Self { helpers: Vec::new(), outbox: Arc::default() };
        for tag in (0..setup.depth).map(Tag) {
            let own = files.iter().map(File::reopened).collect::<Result<_, _>>()?;
            let setup = Opening { depth: 1, in_call: None, ..setup.clone() }.with(|spec| spec.offloads = false);
            backend.helpers.push(Helper::start(tag, setup, own, &backend.outbox)?);
        }
        // The buffers are those of the helpers.
        Ok(QueueTarget::new(backend, QueueState::new(&setup.without_buffers(), files)?))
    }
}

impl Drop for Offload {
    /// Waits for the operations in flight.
    fn drop(&mut self) {
        self.helpers.iter().for_each(|helper| helper.mailbox.put(HelperTask::End));
        for helper in self.helpers.drain(..) {
            let _ = helper.thread.join();
        }
        usage::forget_helpers();
    }
}

impl Backend for Offload {
    fn submit(&mut self, state: &mut QueueState, op: &Op) -> Submission {
        state.slots.take(op.tag);
        let task = HelperTask::Execute { op: *op, priority: std::mem::take(&mut state.next_priority) };
        self.helpers[op.tag.index()].mailbox.put(task);
        Submission::Taken
    }

    fn collect(&mut self, state: &mut QueueState, done: &mut Vec<Completion>) {
        if self.outbox.count.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut completed = locked(&self.outbox.done);
        for completion in completed.drain(..) {
            state.slots.release(completion.tag);
            done.push(completion);
        }
        self.outbox.count.store(0, Ordering::Relaxed);
    }

    fn poll(&mut self, _: &mut QueueState) {
        std::hint::spin_loop();
    }

    fn flush(&mut self, _: &mut QueueState) {}

    fn block(&mut self, _: &mut QueueState, want: u32, limit: Option<Nanos>) -> bool {
        let done = locked(&self.outbox.done);
        self.outbox.wanted.store(want, Ordering::Relaxed);
        let too_few = |done: &mut Vec<Completion>| done.len() < want as usize;
        let limit = limit.map_or(Duration::MAX, |limit| Duration::from_nanos(limit.get()));
        let waited = self.outbox.arrived.wait_timeout_while(done, limit, too_few);
        drop(waited);
        false
    }

    fn let_close(&mut self, _: &mut QueueState, file: u32) -> bool {
        self.helpers.iter().for_each(|helper| helper.mailbox.put(HelperTask::Close(file)));
        true
    }

    fn buffer<'a>(&'a mut self, _: &'a mut QueueState, tag: Tag) -> Option<&'a mut [u8]> {
        let buffer = self.helpers.get(tag.index())?.buffer.as_ref()?;
        // SAFETY: the helper's target has these bytes until the helper ends with this backend, and does not use them while
        // the tag is not in flight; the exclusive borrow prevents an operation meanwhile.
        Some(unsafe { std::slice::from_raw_parts_mut(buffer.start.as_ptr(), buffer.bytes) })
    }
}
