//! Linux native asynchronous I/O (`libaio`), by its system calls.
//!
//! Operations are handed over in one call per wait. Completions are taken from the ring that the kernel shares
//! with the process, so that those which are there already cost no system call.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use target::{Completion, Op, Settled, Tag, Target};
use units::Nanos;
use units::OpKind;

use crate::buffers::Buffers;
use crate::clock::{MonotonicClock, timespec};
use crate::error::{Error, ErrorKind, last_errno};
use crate::files::File;
use crate::in_call::{BlockedCall, CallKind, InCall};
use crate::inline;
use crate::queue::{self, SubmissionQueue};
use crate::settle;
use crate::setup::Setup;
use crate::slots::EngineSlots;
use crate::thread;

const COMMAND_READ: u16 = 0;
const COMMAND_WRITE: u16 = 1;
/// Magic number of a shared ring with the layout below.
const RING_MAGIC: u32 = 0xa10a_10a1;

/// `struct iocb` of `linux/aio_abi.h`, as little-endian machines lay it out.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct AioRequest {
    data: u64,
    key: u32,
    flags: u32,
    command: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    request_flags: u32,
    event_fd: u32,
}

impl AioRequest {
    /// What other threads see of it while it is handed over.
    fn as_call(&self, since: Nanos) -> BlockedCall {
        let kind = if self.command == COMMAND_READ { OpKind::Read } else { OpKind::Write };
        let (file, length) = ((self.data >> 32) as u32, self.bytes as u32);
        BlockedCall { kind: CallKind::Operation(kind), file, offset: self.offset as u64, length, since }
    }
}

/// `struct io_event` of `linux/aio_abi.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct AioEvent {
    data: u64,
    request: u64,
    result: i64,
    result2: i64,
}

/// The head of the ring of events that the kernel maps at a context's address.
#[repr(C)]
struct AioRing {
    id: u32,
    capacity: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    compatible: u32,
    incompatible: u32,
    header_bytes: u32,
}

/// A context of the kernel, whose name is the address of its ring.
struct AioContext(libc::c_ulong);

impl AioContext {
    fn new(depth: u32) -> io::Result<Self> {
        let mut id: libc::c_ulong = 0;
        // SAFETY: the call writes the context's name to `id`, which must be zero before.
        let status = unsafe { libc::syscall(libc::SYS_io_setup, libc::c_long::from(depth), &raw mut id) };
        if status < 0 { Err(io::Error::last_os_error()) } else { Ok(Self(id)) }
    }

    /// The shared ring, where it has the known layout.
    fn ring(&self) -> Option<&AioRing> {
        // SAFETY: the kernel maps the ring at this address for as long as the context lives, and changes nothing
        // but head and tail, which are atomic here.
        let ring = unsafe { &*(self.0 as *const AioRing) };
        (ring.magic == RING_MAGIC && ring.incompatible == 0).then_some(ring)
    }

    /// Takes the oldest event from the ring, without a system call.
    #[inline]
    fn pop(&self) -> Option<AioEvent> {
        let ring = self.ring()?;
        let head = ring.head.load(Ordering::Relaxed);
        if head == ring.tail.load(Ordering::Acquire) {
            return None;
        }
        let events = self.0 as usize + ring.header_bytes as usize;
        // SAFETY: events follow the header; `head` is less than the capacity, and what lies between head and
        // tail has been written by the kernel before it moved the tail.
        let event = unsafe { *(events as *const AioEvent).add(head as usize) };
        ring.head.store((head + 1) % ring.capacity, Ordering::Release);
        Some(event)
    }
}

impl Drop for AioContext {
    fn drop(&mut self) {
        // SAFETY: the context is this one's own. The kernel waits for what is in flight.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.0) };
    }
}

/// A target on one context.
pub(crate) struct Aio {
    /// Before the buffers, so that it is dropped, and everything in flight waited for, while they are there.
    context: AioContext,
    files: Vec<File>,
    /// One per tag. The kernel reads it when it is handed over.
    requests: Vec<AioRequest>,
    /// Tags not yet handed over.
    held: Vec<Tag>,
    /// Their requests, as the kernel takes them.
    pointers: Vec<*mut AioRequest>,
    slots: EngineSlots,
    /// Completions that did not come from the kernel's queue.
    ready: Vec<Completion>,
    /// Where the kernel puts events that are waited for.
    events: Vec<AioEvent>,
    in_call: Arc<InCall>,
    buffers: Buffers,
    clock: MonotonicClock,
}

impl Aio {
    pub(crate) fn new(setup: &Setup, files: Vec<File>) -> Result<Self, Error> {
        let context = AioContext::new(setup.depth).map_err(|error| refused(&error))?;
        let depth = setup.depth as usize;
        Ok(Self {
            context,
            files,
            requests: vec![AioRequest::default(); depth],
            held: Vec::with_capacity(depth),
            pointers: Vec::with_capacity(depth),
            slots: EngineSlots::new(setup.depth),
            ready: Vec::with_capacity(depth),
            events: vec![AioEvent::default(); depth],
            in_call: setup.in_call.clone().unwrap_or_default(),
            buffers: Buffers::new(setup)?,
            clock: setup.clock,
        })
    }

    /// The kernel's form of a read or write; `Err` with the result of one that is not possible.
    #[inline]
    fn request(&self, op: &Op) -> Result<AioRequest, i32> {
        let file = self.files.get(op.file as usize).ok_or(-libc::EBADF)?;
        let start = self.buffers.span(op.tag, op.skip, op.length).ok_or(-libc::EINVAL)?;
        Ok(AioRequest {
            data: u64::from(op.tag.0) | u64::from(op.file) << 32,
            command: if op.kind == OpKind::Read { COMMAND_READ } else { COMMAND_WRITE },
            fd: file.live_fd()? as u32,
            buffer: start as u64,
            bytes: u64::from(op.length),
            offset: op.offset as i64,
            ..AioRequest::default()
        })
    }

    /// Trims and syncs, after everything before them has been handed over.
    #[cold]
    fn perform(&mut self, op: &Op) {
        self.flush();
        let submitted = self.clock.now();
        self.in_call.operate(op, submitted);
        let result = self.files.get(op.file as usize).map_or(-libc::EBADF, |file| inline::perform(file, op));
        self.in_call.leave();
        self.ready.push(Completion { tag: op.tag, submitted, completed: self.clock.now(), result });
    }

    /// Completes the oldest operation that is held back, which the kernel would not take.
    #[cold]
    fn refuse_first(&mut self, errno: i32) {
        let tag = self.held.remove(0);
        let submitted = self.slots.release(tag);
        self.ready.push(Completion { tag, submitted, completed: self.clock.now(), result: -errno });
    }

    /// One attempt to hand over everything that is held back; returns how much the kernel took.
    fn hand_over(&mut self) -> Result<usize, i32> {
        self.pointers.clear();
        let base = self.requests.as_mut_ptr();
        // SAFETY: every held tag has a request.
        self.pointers.extend(self.held.iter().map(|tag| unsafe { base.add(tag.index()) }));
        // SAFETY: the pointers name requests that live as long as `self`; their buffers stay until the context is
        // destroyed, and `request` has checked that each stays inside the buffer of its own tag.
        let taken = unsafe {
            let count = self.pointers.len() as libc::c_long;
            libc::syscall(libc::SYS_io_submit, self.context.0, count, self.pointers.as_mut_ptr())
        };
        if taken < 0 { Err(last_errno()) } else { Ok(taken as usize) }
    }

    fn finish(&mut self, event: AioEvent, completed: Nanos) -> Completion {
        let tag = Tag(event.data as u32);
        Completion { tag, submitted: self.slots.release(tag), completed, result: event.result as i32 }
    }
}

impl SubmissionQueue for Aio {
    #[inline]
    fn in_flight(&self) -> u32 {
        self.slots.in_flight()
    }

    #[inline]
    fn collect(&mut self, done: &mut Vec<Completion>) {
        done.append(&mut self.ready);
        let Some(mut event) = self.context.pop() else {
            return;
        };
        let completed = self.clock.now();
        loop {
            let completion = self.finish(event, completed);
            done.push(completion);
            match self.context.pop() {
                Some(next) => event = next,
                None => return,
            }
        }
    }

    #[inline]
    fn poll(&mut self) {
        self.flush();
    }

    #[inline]
    fn flush(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let now = self.clock.now();
        for tag in &self.held {
            self.slots.stamp(*tag, now);
        }
        while let Some(first) = self.held.first() {
            // Of buffered files the call itself reads and writes, one operation after the other.
            self.in_call.enter(self.requests[first.index()].as_call(now));
            let handed_over = self.hand_over();
            self.in_call.leave();
            match handed_over {
                Ok(taken) => drop(self.held.drain(..taken)),
                Err(libc::EINTR) if thread::is_abandoned() => return,
                Err(libc::EINTR) => {}
                // The queue of the kernel is full. It takes the rest when something is done; where nothing is in
                // flight that could be, waiting would be for ever.
                Err(libc::EAGAIN) if self.slots.in_flight() as usize > self.held.len() => return,
                Err(errno) => self.refuse_first(errno),
            }
        }
    }

    fn block(&mut self, want: u32, limit: Option<Nanos>) -> bool {
        self.flush();
        if !self.ready.is_empty() {
            return false;
        }
        let want = want.min(self.slots.in_flight() - self.held.len() as u32);
        let time = limit.map(timespec);
        let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: `events` has room for as many events as there are tags, and `time` is null or outlives the call.
        let count = unsafe {
            let (want, room) = (libc::c_long::from(want), self.events.len() as libc::c_long);
            libc::syscall(libc::SYS_io_getevents, self.context.0, want, room, self.events.as_mut_ptr(), time)
        };
        let completed = self.clock.now();
        for index in 0..count.max(0) as usize {
            let completion = self.finish(self.events[index], completed);
            self.ready.push(completion);
        }
        count < 0
    }
}

impl Target for Aio {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    #[inline]
    fn submit(&mut self, op: Op) {
        if !matches!(op.kind, OpKind::Read | OpKind::Write) {
            return self.perform(&op);
        }
        match self.request(&op) {
            Ok(request) => {
                self.requests[op.tag.index()] = request;
                self.slots.take(op.tag);
                self.held.push(op.tag);
            }
            Err(result) => {
                let now = self.clock.now();
                self.ready.push(Completion { tag: op.tag, submitted: now, completed: now, result });
            }
        }
    }

    #[inline]
    fn wait(&mut self, min: u32, until: Nanos, done: &mut Vec<Completion>) {
        let clock = self.clock;
        queue::wait(self, &clock, min, until, done);
    }

    fn invalidate(&mut self, file: u32, offset: u64, length: u64) {
        inline::invalidate(self.files.get(file as usize), offset, length);
    }

    fn settle(&mut self, file: u32, offset: u64, length: u64) -> Result<Settled, i32> {
        let file_at = self.files.get(file as usize);
        self.in_call.settle(file, offset, self.clock.now(), || settle::settle(file_at, offset, length))
    }

    fn close(&mut self, file: u32) {
        // Requests name descriptors by number until they are handed over.
        self.flush();
        while !self.held.is_empty() {
            let mut done = std::mem::take(&mut self.ready);
            self.collect(&mut done);
            self.ready = done;
            self.flush();
        }
        if let Some(file) = self.files.get(file as usize) {
            file.close();
        }
    }

    fn buffer(&mut self, tag: Tag) -> Option<&mut [u8]> {
        if self.slots.is_taken(tag) {
            return None;
        }
        self.buffers.slice(tag)
    }
}

fn refused(error: &io::Error) -> Error {
    let remedy = match error.raw_os_error() {
        Some(libc::EAGAIN) => {
            "raise sysctl fs.aio-max-nr (see fs.aio-nr), or use a smaller \
             iodepth or numjobs"
        }
        Some(libc::ENOSYS) => "use ioengine=io_uring: this kernel has no libaio",
        _ => "use ioengine=io_uring or a smaller iodepth",
    };
    Error::system(ErrorKind::Engine, "set up", "libaio", error).with_remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_as_large_as_the_kernels() {
        assert_eq!((size_of::<AioRequest>(), size_of::<AioEvent>(), size_of::<AioRing>()), (64, 32, 32));
    }

    #[test]
    fn the_shared_ring_is_known() {
        let context = AioContext::new(4).unwrap();
        assert!(context.ring().is_some_and(|ring| ring.capacity >= 4));
        assert!(context.pop().is_none());
    }
}
