//! A ring of Linux `io_uring` with the operations in flight on it, for entries of any size.
//!
//! Each wait makes one system call to submit the queued operations, and another one if it has to sleep, with a deadline. Only
//! the thread that created a ring uses it, so the kernel can deliver completions when the thread asks for them instead of
//! interrupting it.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;

use io_uring::squeue::Flags;
use io_uring::{Builder, IoUring, cqueue, squeue, types};
use target::{Completion, Op, Tag};
use units::Nanos;

use crate::buffers::Buffers;
use crate::clock::timespec;
use crate::error::{Error, ErrorKind, last_errno};
use crate::files::File;
use crate::opening::Opening;
use crate::queue::{QueueState, Submission};

pub(crate) const ENTER_GETEVENTS: u32 = 1 << 0;
const ENTER_SQ_WAKEUP: u32 = 1 << 1;
const ENTER_EXT_ARG: u32 = 1 << 3;
/// Maximum total size of buffers that are registered without a request, in bytes: registration pins them in memory.
const MAX_REGISTERED_BYTES: u64 = 16 << 20;
/// Time for which the kernel's submission thread polls before it sleeps, in milliseconds.
const SQPOLL_IDLE_MS: u32 = 1_000;

/// `struct io_uring_getevents_arg`: extended arguments of `io_uring_enter`.
#[repr(C)]
struct WaitArgument {
    signal_mask: u64,
    signal_mask_bytes: u32,
    min_wait_micros: u32,
    time: u64,
}

/// A completion as the kernel reports it.
pub(crate) trait RingCompletion: cqueue::EntryMarker {
    /// Returns the result of the operation.
    fn reported(&self) -> i32;
}

impl RingCompletion for cqueue::Entry {
    #[inline]
    fn reported(&self) -> i32 {
        self.result()
    }
}

impl RingCompletion for cqueue::Entry32 {
    #[inline]
    fn reported(&self) -> i32 {
        self.result()
    }
}

/// A ring whose entries hold the tag of their operation in the lower half of their user data.
pub(crate) struct KernelRing<S: squeue::EntryMarker, C: RingCompletion> {
    ring: IoUring<S, C>,
    sqpoll: bool,
    iopoll: bool,
    /// Whether the kernel knows the files by their indexes.
    registered_files: bool,
    registered_buffers: bool,
    /// A vector per tag, if reads and writes are vectored.
    vectors: Option<Vec<libc::iovec>>,
    /// Number of operations of which one is executed asynchronously; 0 for none.
    force_async: u32,
    /// Operations since the last of these.
    since_async: u32,
    /// Whether operations were submitted that the kernel passes to its own threads at once. These look up a descriptor
    /// only when they start.
    deferred: bool,
}

/// Returns the tag of an operation from its user data.
#[inline]
pub(crate) fn tag_of(user_data: u64) -> Tag {
    Tag(user_data as u32)
}

impl<S: squeue::EntryMarker, C: RingCompletion> KernelRing<S, C> {
    /// Creates a ring with the best mode that the kernel supports.
    pub(crate) fn new(setup: &Opening) -> Result<Self, Error> {
        let ring = build(setup).map_err(|error| refused(&error))?;
        if !ring.params().is_feature_ext_arg() {
            return Err(Error::found(
                ErrorKind::Engine,
                "set up",
                "io_uring",
                "this kernel does not support timed waits",
            )
            .with_remedy("use Linux 5.11 or later, or ioengine=libaio"));
        }
        Ok(Self::of(ring, setup))
    }

    pub(crate) fn of(ring: IoUring<S, C>, setup: &Opening) -> Self {
        let vector = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        Self {
            ring,
            sqpoll: setup.spec.sqthread_poll,
            iopoll: setup.spec.hipri,
            registered_files: false,
            registered_buffers: false,
            vectors: (setup.spec.vectored && !setup.spec.fixedbufs).then(|| vec![vector; setup.depth as usize]),
            force_async: setup.spec.force_async,
            since_async: 0,
            deferred: false,
        }
    }

    /// Reports whether the ring polls for completions.
    #[inline]
    pub(crate) fn is_polled(&self) -> bool {
        self.iopoll
    }

    /// Returns how an entry refers to the file of an operation. The error is a negated error number.
    #[inline]
    pub(crate) fn descriptor(&self, file: &File, op: &Op) -> Result<types::Fd, i32> {
        if self.registered_files { Ok(types::Fd(op.file as RawFd)) } else { file.live_fd().map(types::Fd) }
    }

    /// Returns the index of the registered buffer of a tag.
    #[inline]
    pub(crate) fn registered_buffer(&self, tag: Tag) -> Option<u16> {
        // A tag's buffer is registered under the tag's number.
        self.registered_buffers.then_some(tag.0 as u16)
    }

    /// Returns the vector of an operation whose bytes begin at `start`, if reads and writes are vectored. It stays in its place
    /// until the operation completes.
    #[inline]
    pub(crate) fn vector(&mut self, op: &Op, start: *mut u8) -> Option<*const libc::iovec> {
        let vector = &mut self.vectors.as_mut()?[op.tag.index()];
        *vector = libc::iovec { iov_base: start.cast(), iov_len: op.length as usize };
        Some(vector)
    }

    /// Returns the flags of the next entry.
    #[inline]
    pub(crate) fn flags(&mut self) -> Flags {
        let mut flags = if self.registered_files { Flags::FIXED_FILE } else { Flags::empty() };
        if self.force_async > 0 {
            self.force(&mut flags);
        }
        flags
    }

    /// Makes the kernel execute every operation whose turn it is asynchronously.
    #[cold]
    fn force(&mut self, flags: &mut Flags) {
        self.since_async += 1;
        if self.since_async >= self.force_async {
            self.since_async = 0;
            self.deferred = true;
            *flags |= Flags::ASYNC;
        }
    }

    /// Records that the next operation is one that the kernel passes to its own threads at once.
    #[inline]
    pub(crate) fn defer(&mut self) {
        self.deferred = true;
    }

    /// Queues an operation.
    ///
    /// # Safety
    /// The memory that the entry refers to must stay valid, and unused elsewhere, until the operation completes.
    #[inline]
    pub(crate) unsafe fn queue(&mut self, state: &mut QueueState, tag: Tag, entry: &S) -> Submission {
        state.queue(tag);
        if self.sqpoll {
            // The kernel's thread may take it at once.
            state.slots.stamp(tag, state.clock.now());
        }
        // SAFETY: the caller guarantees the memory of the entry.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            // There is an entry for each tag, but the kernel's thread may complete operations before it reports that it
            // has taken their entries. It reports that soon, so an error here only means to try again.
            let _ = self.ring.submitter().squeue_wait();
        }
        Submission::Taken
    }

    /// Makes one system call, which submits the queued operations and waits for `want` completions, at most for
    /// `limit`. Returns whether a signal interrupted it.
    #[inline(always)]
    fn enter(&mut self, state: &mut QueueState, want: u32, limit: Option<Nanos>) -> bool {
        let mut wakeup = false;
        if self.sqpoll {
            state.queued.clear();
            wakeup = self.ring.submission().need_wakeup();
            if want == 0 && !wakeup {
                return false;
            }
        }
        let time = limit.map(timespec);
        let argument = WaitArgument {
            signal_mask: 0,
            signal_mask_bytes: 0,
            min_wait_micros: 0,
            time: time.as_ref().map_or(0, |time| std::ptr::from_ref(time) as u64),
        };
        let flags = ENTER_GETEVENTS | ENTER_EXT_ARG | if wakeup { ENTER_SQ_WAKEUP } else { 0 };
        // SAFETY: `argument` and the time it points to outlive the call and have the layout that the kernel expects
        // with `ENTER_EXT_ARG`.
        let taken = unsafe {
            let (fd, queued, bytes) = (self.ring.as_raw_fd(), state.queued.len() as u32, size_of::<WaitArgument>());
            libc::syscall(libc::SYS_io_uring_enter, fd, queued, want, flags, &raw const argument, bytes)
        };
        if taken < 0 {
            // After a timeout or with a full completion queue, the caller only reads the queue again.
            return !matches!(last_errno(), libc::ETIME | libc::EAGAIN | libc::EBUSY);
        }
        if !state.queued.is_empty() {
            state.hand_over(taken as usize);
        }
        false
    }

    /// Appends the known completions to `done`, with the result that `convert` makes of an operation's user data and of
    /// what the kernel reports.
    #[inline]
    pub(crate) fn collect(
        &mut self,
        state: &mut QueueState,
        done: &mut Vec<Completion>,
        mut convert: impl FnMut(&QueueState, u64, i32) -> i32,
    ) {
        let queue = self.ring.completion();
        if queue.is_empty() {
            return;
        }
        let completed = state.now();
        for entry in queue {
            let user_data = entry.user_data();
            let tag = tag_of(user_data);
            let submitted = state.slots.release(tag);
            let result = convert(state, user_data, entry.reported());
            done.push(Completion { tag, submitted, completed, result });
        }
    }

    /// Submits all queued operations and lets the kernel report completions, without waiting.
    #[inline]
    pub(crate) fn poll(&mut self, state: &mut QueueState) {
        let pending = !state.queued.is_empty() || self.iopoll || {
            let queue = self.ring.submission();
            queue.taskrun() || queue.cq_overflow() || !queue.is_empty()
        };
        if pending {
            self.enter(state, 0, None);
        }
    }

    /// Submits all queued operations.
    #[inline]
    pub(crate) fn flush(&mut self, state: &mut QueueState) {
        if !state.queued.is_empty() {
            self.enter(state, 0, None);
        }
    }

    /// Submits all queued operations, then waits as [`KernelRing::enter`] does.
    #[inline]
    pub(crate) fn block(&mut self, state: &mut QueueState, want: u32, limit: Option<Nanos>) -> bool {
        if self.iopoll && limit.is_some() {
            // A polled ring polls the device for as long as it waits and supports no deadline.
            return self.enter(state, 0, None);
        }
        // A call that also waits would not tell how long the submission took.
        if !state.queued.is_empty() && !self.sqpoll {
            let interrupted = self.enter(state, 0, None);
            if interrupted || !self.ring.completion().is_empty() {
                return interrupted;
            }
        }
        self.enter(state, want, limit)
    }

    /// Submits all queued operations and waits until the kernel, or its thread, has taken them, so that no entry refers to a
    /// descriptor by number. Returns whether the kernel's threads still do.
    pub(crate) fn hand_over(&mut self, state: &mut QueueState) -> bool {
        self.flush(state);
        while !self.ring.submission().is_empty() {
            self.enter(state, 0, None);
        }
        std::mem::take(&mut self.deferred)
    }

    /// Reports whether the kernel knows the files by their indexes.
    pub(crate) fn has_registered_files(&self) -> bool {
        self.registered_files
    }

    /// Registers files and buffers as far as requested or possible.
    pub(crate) fn register(&mut self, setup: &Opening, state: &QueueState) -> Result<(), Error> {
        self.registered_files = self.register_files(setup, &state.files)?;
        self.registered_buffers = self.register_buffers_if_possible(setup, &state.buffers)?;
        Ok(())
    }

    /// Registers the files if that is possible. Returns whether they are registered.
    fn register_files(&self, setup: &Opening, files: &[File]) -> Result<bool, Error> {
        if files.iter().any(File::is_closed) {
            return if setup.spec.registerfiles { Err(not_all_open()) } else { Ok(false) };
        }
        let fds: Vec<RawFd> = files.iter().map(File::fd).collect();
        match self.ring.submitter().register_files(&fds) {
            Ok(()) => Ok(true),
            Err(error) if setup.spec.registerfiles => {
                Err(Error::system(ErrorKind::Engine, "register files with", "io_uring", &error)
                    .with_remedy("omit registerfiles=1, or raise the open-file limit (ulimit -n)"))
            }
            Err(_) => Ok(false),
        }
    }

    /// Makes closed files possible. Nothing is in flight.
    pub(crate) fn unregister_files(&mut self) {
        if std::mem::take(&mut self.registered_files) {
            // It fails only if no files are registered.
            let _ = self.ring.submitter().unregister_files();
        }
    }

    /// Registers the buffers if requested, or if that is cheap and permitted: the kernel then need not look up their
    /// pages for every operation. Returns whether they are registered.
    fn register_buffers_if_possible(&self, setup: &Opening, buffers: &Buffers) -> Result<bool, Error> {
        if setup.spec.fixedbufs {
            return self.register_buffers(buffers).map(|()| true);
        }
        if setup.spec.vectored {
            return Ok(false);
        }
        let bytes = u64::from(setup.depth) * u64::from(setup.buffer_bytes);
        Ok(bytes <= MAX_REGISTERED_BYTES && self.register_buffers(buffers).is_ok())
    }

    fn register_buffers(&self, buffers: &Buffers) -> Result<(), Error> {
        // SAFETY: the buffers outlive the ring's use of them: one target owns both and waits for all operations in flight
        // before it drops either, and the kernel itself pins the pages of registered buffers.
        unsafe { self.ring.submitter().register_buffers(&buffers.vectors()) }.map_err(|error| {
            Error::system(ErrorKind::Memory, "register buffers with", "io_uring", &error)
                .with_remedy("omit fixedbufs=1, or raise the locked-memory limit (ulimit -l)")
        })
    }
}

/// Sets the mode of a ring under construction.
pub(crate) type RingMode<S, C> = fn(&mut Builder<S, C>);

/// Returns cheaper completion modes of newer kernels, best first; the last one is plain.
pub(crate) fn modes<S: squeue::EntryMarker, C: RingCompletion>() -> [RingMode<S, C>; 3] {
    [
        |builder| {
            builder.setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag().setup_submit_all();
        },
        |builder| {
            builder.setup_coop_taskrun().setup_taskrun_flag();
        },
        |_| {},
    ]
}

/// Creates the ring with the best mode that the kernel supports.
fn build<S: squeue::EntryMarker, C: RingCompletion>(setup: &Opening) -> io::Result<IoUring<S, C>> {
    let modes = modes();
    // With a submission thread no task is interrupted, and the kernel refuses the flags about it.
    let wanted = if setup.spec.sqthread_poll { &modes[2..] } else { &modes[..] };
    first_supported(wanted, |mode| build_with(setup, mode))
}

/// Creates a ring of `entries` operations with the best mode that the kernel supports.
pub(crate) fn build_plain(entries: u32) -> io::Result<IoUring> {
    first_supported(&modes(), |mode| {
        let mut builder = IoUring::builder();
        mode(&mut builder);
        builder.dontfork().build(entries)
    })
}

fn first_supported<S: squeue::EntryMarker, C: RingCompletion>(
    wanted: &[RingMode<S, C>],
    make: impl Fn(RingMode<S, C>) -> io::Result<IoUring<S, C>>,
) -> io::Result<IoUring<S, C>> {
    let mut refusal = io::Error::from_raw_os_error(libc::EINVAL);
    for mode in wanted {
        match make(*mode) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refusal = error,
            outcome => return outcome,
        }
    }
    Err(refusal)
}

pub(crate) fn build_with<S: squeue::EntryMarker, C: RingCompletion>(
    setup: &Opening,
    mode: RingMode<S, C>,
) -> io::Result<IoUring<S, C>> {
    let mut builder = IoUring::<S, C>::builder();
    mode(&mut builder);
    if setup.spec.hipri {
        builder.setup_iopoll();
    }
    if setup.spec.sqthread_poll {
        builder.setup_sqpoll(SQPOLL_IDLE_MS);
        setup.spec.sqthread_poll_cpu.map(|cpu| builder.setup_sqpoll_cpu(cpu));
    }
    builder.dontfork().build(setup.depth)
}

/// Checks that completions of a file can be polled for, since a polled ring executes nothing else.
pub(crate) fn check_polled(file: &File) -> Result<(), Error> {
    let root = Path::new("/");
    let device = probe::number_of(root, file.path()).and_then(|number| probe::device(root, number));
    match device {
        Some(device) if !device.polls => Err(unpolled(
            file,
            "its device has no polling queues",
            "configure some (such as nvme.poll_queues=2 on the kernel command line) or remove hipri=1",
        )),
        _ => Ok(()),
    }
}

/// Returns the error for a file that cannot be polled, with the error number with which its first operation would fail.
pub(crate) fn unpolled(file: &File, reason: &str, remedy: &str) -> Error {
    let refused = Error::found(ErrorKind::Engine, "poll", file.path().display().to_string(), reason);
    Error { errno: Some(libc::EOPNOTSUPP), ..refused.with_remedy(remedy) }
}

fn not_all_open() -> Error {
    let reason = "not all files are open at the same time";
    Error::found(ErrorKind::Engine, "register files with", "io_uring", reason)
        .with_remedy("omit registerfiles=1 or openfiles")
}

fn refused(error: &io::Error) -> Error {
    let remedy = match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            "check sysctl kernel.io_uring_disabled (0 enables it) and the container's seccomp profile, or use \
             ioengine=libaio"
        }
        Some(libc::ENOSYS) => "use Linux 5.11 or later, or ioengine=libaio: this kernel has no io_uring",
        Some(libc::ENOMEM) => "raise the locked-memory limit (ulimit -l) or use a smaller iodepth",
        _ => "use a smaller iodepth, omit sqthread_poll and hipri, or use ioengine=libaio",
    };
    Error::system(ErrorKind::Engine, "set up", "io_uring", error).with_remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forbidden_ring_is_explained() {
        let error = refused(&io::Error::from_raw_os_error(libc::EPERM));
        assert!(error.to_string().contains("kernel.io_uring_disabled"), "{error}");
        assert_eq!(error.errno, Some(libc::EPERM));
    }
}
