//! Linux native asynchronous I/O (`libaio`), by its system calls.
//!
//! Each wait submits the queued operations in one call. Completions are read from the ring that the kernel shares with
//! the process, so existing ones cost no system call.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use target::{Completion, Op, Tag};
use units::{CallKind, Nanos, OpKind};

use crate::clock::timespec;
use crate::error::{Error, ErrorKind, last_errno};
use crate::files::File;
use crate::in_call::BlockedCall;
use crate::opening::{Opening, PerTransfer};
use crate::queue::{self, Backend, QueueState, QueueTarget, Submission};
use crate::thread;

const COMMAND_READ: u16 = 0;
const COMMAND_WRITE: u16 = 1;
const COMMAND_READ_VECTOR: u16 = 7;
const COMMAND_WRITE_VECTOR: u16 = 8;
/// Magic number of a shared ring with the layout below.
const RING_MAGIC: u32 = 0xa10a_10a1;

/// `struct iocb` of `linux/aio_abi.h` on little-endian machines.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct AioRequest {
    data: u64,
    key: u32,
    /// `RWF_*` flags.
    transfer_flags: u32,
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
    /// Makes the request vectored. `vector` must stay in its place until the request completes.
    fn use_vector(&mut self, vector: &mut libc::iovec) {
        *vector = libc::iovec { iov_base: self.buffer as *mut libc::c_void, iov_len: self.bytes as usize };
        self.command = if self.command == COMMAND_READ { COMMAND_READ_VECTOR } else { COMMAND_WRITE_VECTOR };
        self.buffer = std::ptr::from_ref(vector) as u64;
        // The number of parts.
        self.bytes = 1;
    }

    /// Returns the request as other threads see it during submission.
    fn as_call(&self, since: Nanos) -> BlockedCall {
        let reads = matches!(self.command, COMMAND_READ | COMMAND_READ_VECTOR);
        let kind = if reads { OpKind::Read } else { OpKind::Write };
        let (file, length) = ((self.data >> 32) as u32, self.bytes as u32);
        BlockedCall { kind: CallKind::Operation(kind), file, offset: self.offset as u64, length, since }
    }
}

/// `IOCB_FLAG_IOPRIO` of `linux/aio_abi.h`.
const FLAG_PRIORITY: u32 = 1 << 1;

/// `struct io_event` of `linux/aio_abi.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct AioEvent {
    data: u64,
    request: u64,
    result: i64,
    result2: i64,
}

/// The header of the event ring that the kernel maps at a context's address.
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

/// A kernel context. Its ID is the address of its ring.
struct AioContext(libc::c_ulong);

impl AioContext {
    fn new(depth: u32) -> io::Result<Self> {
        let mut id: libc::c_ulong = 0;
        // SAFETY: the call writes the context's ID to `id`, which must be zero before.
        let status = unsafe { libc::syscall(libc::SYS_io_setup, libc::c_long::from(depth), &raw mut id) };
        if status < 0 { Err(io::Error::last_os_error()) } else { Ok(Self(id)) }
    }

    /// Returns the shared ring if it has the known layout.
    fn ring(&self) -> Option<&AioRing> {
        // SAFETY: the kernel maps the ring at this address for as long as the context lives, and changes only head and
        // tail, which are atomic here.
        let ring = unsafe { &*(self.0 as *const AioRing) };
        (ring.magic == RING_MAGIC && ring.incompatible == 0).then_some(ring)
    }

    /// Removes the oldest event from the ring without a system call.
    #[inline]
    fn pop(&self) -> Option<AioEvent> {
        let ring = self.ring()?;
        let head = ring.head.load(Ordering::Relaxed);
        if head == ring.tail.load(Ordering::Acquire) {
            return None;
        }
        let events = self.0 as usize + ring.header_bytes as usize;
        // SAFETY: events follow the header; `head` is less than the capacity, and the kernel has written the events
        // between head and tail before it moved the tail.
        let event = unsafe { *(events as *const AioEvent).add(head as usize) };
        ring.head.store((head + 1) % ring.capacity, Ordering::Release);
        Some(event)
    }
}

impl Drop for AioContext {
    fn drop(&mut self) {
        // SAFETY: `self` owns the context. The kernel waits for the requests in flight.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.0) };
    }
}

/// The backend on one context. Dropping it waits for the requests in flight.
pub(crate) struct Aio {
    context: AioContext,
    /// One request per tag, which the kernel reads on submission.
    requests: Vec<AioRequest>,
    /// A vector per tag, if reads and writes are vectored.
    vectors: Option<Vec<libc::iovec>>,
    /// Flags of reads and writes.
    flags: PerTransfer,
    /// Pointers to the requests of the queued operations, as the kernel takes them.
    pointers: Vec<*mut AioRequest>,
    /// Events returned by the kernel when it is waited for, as many as one call may return.
    events: Vec<AioEvent>,
}

impl Aio {
    pub(crate) fn target(setup: &Opening, files: Vec<File>) -> Result<QueueTarget<Self>, Error> {
        let depth = setup.depth as usize;
        let vector = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let backend = Self {
            context: AioContext::new(setup.depth).map_err(|error| refused(&error))?,
            requests: vec![AioRequest::default(); depth],
            vectors: setup.spec.vectored.then(|| vec![vector; depth]),
            flags: PerTransfer::new(&setup.spec),
            pointers: Vec::with_capacity(depth),
            events: vec![AioEvent::default(); depth.min(setup.complete_max.max(1) as usize)],
        };
        Ok(QueueTarget::new(backend, QueueState::new(setup, files)?))
    }

    /// Returns the request of a read or write, or the negated error number with which it fails.
    #[inline]
    fn request(&self, state: &QueueState, op: &Op) -> Result<AioRequest, i32> {
        let file = state.files.get(op.file as usize).ok_or(-libc::EBADF)?;
        let start = state.buffers.span(op.tag, op.skip, op.length).ok_or(-libc::EINVAL)?;
        Ok(AioRequest {
            data: u64::from(op.tag.0) | u64::from(op.file) << 32,
            transfer_flags: self.flags.of(op.kind == OpKind::Write) as u32,
            command: if op.kind == OpKind::Read { COMMAND_READ } else { COMMAND_WRITE },
            fd: file.live_fd()? as u32,
            buffer: start as u64,
            bytes: u64::from(op.length),
            offset: op.offset as i64,
            ..AioRequest::default()
        })
    }

    /// Completes the oldest queued operation with the error with which the kernel rejected it.
    #[cold]
    fn reject_first(state: &mut QueueState, errno: i32) {
        let tag = state.queued.remove(0);
        state.slots.release(tag);
        state.complete_now(tag, -errno);
    }

    /// Tries once to submit all queued operations. Returns how many the kernel took.
    fn submit_queued(&mut self, queued: &[Tag]) -> Result<usize, i32> {
        self.pointers.clear();
        let base = self.requests.as_mut_ptr();
        // SAFETY: every queued tag has a request.
        self.pointers.extend(queued.iter().map(|tag| unsafe { base.add(tag.index()) }));
        // SAFETY: the pointers refer to requests that live as long as `self`. Their buffers stay until the context is
        // destroyed, and `request` has checked that each range lies within the buffer of its own tag.
        let taken = unsafe {
            let count = self.pointers.len() as libc::c_long;
            libc::syscall(libc::SYS_io_submit, self.context.0, count, self.pointers.as_mut_ptr())
        };
        if taken < 0 { Err(last_errno()) } else { Ok(taken as usize) }
    }

    fn submit_all(&mut self, state: &mut QueueState) {
        while let Some(first) = state.queued.first() {
            // On buffered files the call itself does the I/O, one operation after the other.
            let call = self.requests[first.index()].as_call(state.slots.latest());
            let length = self.vectors.as_ref().map(|vectors| vectors[first.index()].iov_len as u32);
            state.in_call.enter(BlockedCall { length: length.unwrap_or(call.length), ..call });
            let submitted_count = self.submit_queued(&state.queued);
            state.in_call.leave();
            match submitted_count {
                Ok(taken) => state.hand_over(taken),
                Err(libc::EINTR) if thread::is_abandoned() => return,
                Err(libc::EINTR) => {}
                // The kernel's queue is full and accepts more after a completion. With nothing else in flight there
                // would be none, and waiting would never end.
                Err(libc::EAGAIN) if state.slots.in_flight() as usize > state.queued.len() => return,
                Err(errno) => Self::reject_first(state, errno),
            }
        }
    }
}

#[inline]
fn finish(state: &mut QueueState, event: AioEvent, completed: Nanos) -> Completion {
    let tag = Tag(event.data as u32);
    Completion { tag, submitted: state.slots.release(tag), completed, result: event.result as i32 }
}

impl Backend for Aio {
    #[inline]
    fn submit(&mut self, state: &mut QueueState, op: &Op) -> Submission {
        if !matches!(op.kind, OpKind::Read | OpKind::Write) {
            return Submission::Inline;
        }
        let priority = std::mem::take(&mut state.next_priority);
        let mut request = match self.request(state, op) {
            Ok(request) => request,
            Err(result) => return Submission::Done(result),
        };
        if let Some(vectors) = &mut self.vectors {
            request.use_vector(&mut vectors[op.tag.index()]);
        }
        if priority > 0 {
            request.request_flags = FLAG_PRIORITY;
            request.priority = priority as i16;
        }
        self.requests[op.tag.index()] = request;
        state.queue(op.tag);
        Submission::Taken
    }

    #[inline(always)]
    fn collect(&mut self, state: &mut QueueState, done: &mut Vec<Completion>) {
        let Some(mut event) = self.context.pop() else {
            return;
        };
        let completed = state.now();
        let mut room = self.events.len();
        loop {
            done.push(finish(state, event, completed));
            room -= 1;
            if room == 0 {
                return;
            }
            match self.context.pop() {
                Some(next) => event = next,
                None => return,
            }
        }
    }

    #[inline]
    fn poll(&mut self, state: &mut QueueState) {
        self.flush(state);
    }

    #[inline(always)]
    fn flush(&mut self, state: &mut QueueState) {
        if !state.queued.is_empty() {
            self.submit_all(state);
        }
    }

    fn block(&mut self, state: &mut QueueState, want: u32, limit: Option<Nanos>) -> bool {
        self.flush(state);
        if !state.ready.is_empty() {
            return false;
        }
        let want = want.min(state.slots.in_flight() - state.queued.len() as u32).min(self.events.len() as u32);
        let time = limit.map(timespec);
        let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: `events` has space for one event per tag, and `time` is null or outlives the call.
        let count = unsafe {
            let (want, room) = (libc::c_long::from(want), self.events.len() as libc::c_long);
            libc::syscall(libc::SYS_io_getevents, self.context.0, want, room, self.events.as_mut_ptr(), time)
        };
        let completed = state.now();
        for event in &self.events[..count.max(0) as usize] {
            let completion = finish(state, *event, completed);
            state.ready.push(completion);
        }
        count < 0
    }

    fn let_close(&mut self, state: &mut QueueState, _: u32) -> bool {
        self.flush(state);
        while !state.queued.is_empty() {
            queue::collect_early(self, state);
            self.flush(state);
        }
        true
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
    fn structures_have_the_kernels_sizes() {
        assert_eq!((size_of::<AioRequest>(), size_of::<AioEvent>(), size_of::<AioRing>()), (64, 32, 32));
    }

    #[test]
    fn the_shared_ring_has_the_known_layout() {
        let context = AioContext::new(4).unwrap();
        assert!(context.ring().is_some_and(|ring| ring.capacity >= 4));
        assert!(context.pop().is_none());
    }
}
