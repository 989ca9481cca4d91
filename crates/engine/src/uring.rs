//! Linux `io_uring`.
//!
//! Each wait makes one system call, which submits the queued operations and waits with a deadline. Files are
//! registered, and so are buffers if they are small or the job requests it. Only the thread that created a ring uses
//! it, so the kernel can deliver completions when the thread asks for them instead of interrupting it.

use std::io;
use std::os::fd::RawFd;
use std::path::Path;
use std::sync::Arc;

use io_uring::squeue::{Entry, Flags};
use io_uring::{Builder, IoUring, opcode, types};
use target::{Completion, Op, Tag, Target, WriteBackSource};
use units::{Nanos, OpKind, ZoneCommand};

use crate::buffers::Buffers;
use crate::clock::{MonotonicClock, timespec};
use crate::error::{Error, ErrorKind};
use crate::files::File;
use crate::in_call::InCall;
use crate::inline::{self, PUNCH};
use crate::queue::{self, SubmissionQueue};
use crate::settle;
use crate::setup::{PerTransfer, Setup};
use crate::slots::EngineSlots;
use crate::zones;

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

/// How an operation is submitted.
enum SubmissionRoute {
    /// The ring executes it.
    Ring(Entry),
    /// The thread executes it synchronously.
    Inline,
    /// It fails with this negated error number.
    Refused(i32),
}

/// User data of a submission: the tag in the lower half and, for a trim, its length in the upper half, because the
/// kernel reports a successful trim as zero.
#[derive(Clone, Copy)]
struct UserData(u64);

impl UserData {
    #[inline]
    fn of(op: &Op) -> Self {
        let trimmed = if op.kind == OpKind::Trim { u64::from(op.length) } else { 0 };
        Self(u64::from(op.tag.0) | trimmed << 32)
    }

    #[inline]
    fn tag(self) -> Tag {
        Tag(self.0 as u32)
    }

    #[inline]
    fn result(self, reported: i32) -> i32 {
        let trimmed = i32::try_from(self.0 >> 32).unwrap_or(i32::MAX);
        if reported == 0 { trimmed } else { reported }
    }
}

/// A target on one ring.
///
/// It must stay on its thread: the kernel accepts calls only from the thread that created the ring.
pub(crate) struct Uring {
    ring: IoUring,
    files: Vec<File>,
    /// Whether the kernel knows the files by their indexes.
    registered_files: bool,
    registered_buffers: bool,
    /// A vector per tag, if reads and writes are vectored.
    vectors: Option<Vec<libc::iovec>>,
    /// Flags of reads and writes.
    flags: PerTransfer,
    /// I/O priority of the next operation; 0 for that of the process.
    next_priority: u16,
    /// Number of operations of which one is executed asynchronously; 0 for none.
    force_async: u32,
    /// Operations since the last of these.
    since_async: u32,
    sqpoll: bool,
    iopoll: bool,
    /// Whether operations were submitted that the kernel passes to its own threads at once. These look up a descriptor
    /// only when they start.
    deferred: bool,
    /// Operations queued for submission.
    queued: Vec<Entry>,
    slots: EngineSlots,
    /// Completions of operations that the ring did not execute.
    ready: Vec<Completion>,
    in_call: Arc<InCall>,
    buffers: Buffers,
    clock: MonotonicClock,
}

impl Uring {
    pub(crate) fn new(setup: &Setup, files: Vec<File>) -> Result<Self, Error> {
        if setup.hipri {
            files.iter().try_for_each(check_polled)?;
        }
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
        Self::with_ring(ring, setup, files)
    }

    fn with_ring(ring: IoUring, setup: &Setup, files: Vec<File>) -> Result<Self, Error> {
        let buffers = Buffers::new(setup)?;
        let registered_files = register_files(&ring, setup, &files)?;
        let registered_buffers = register_buffers_if_possible(&ring, setup, &buffers)?;
        let depth = setup.depth as usize;
        Ok(Self {
            ring,
            files,
            registered_files,
            registered_buffers,
            vectors: (setup.vectored && !setup.fixedbufs).then(|| vec![EMPTY_VECTOR; depth]),
            flags: setup.transfer.as_bits(),
            next_priority: 0,
            force_async: setup.force_async,
            since_async: 0,
            sqpoll: setup.sqpoll,
            iopoll: setup.hipri,
            deferred: false,
            queued: Vec::with_capacity(depth),
            slots: EngineSlots::new(setup.depth),
            ready: Vec::with_capacity(depth),
            in_call: setup.in_call.clone().unwrap_or_default(),
            buffers,
            clock: setup.clock,
        })
    }

    /// Returns the submission entry of an operation, or the route it takes instead.
    #[inline]
    fn route(&mut self, op: &Op) -> SubmissionRoute {
        let (Some(file), Some(start)) =
            (self.files.get(op.file as usize), self.buffers.span(op.tag, op.skip, in_buffer(op)))
        else {
            return SubmissionRoute::Refused(-libc::EINVAL);
        };
        let fd = if self.registered_files { Ok(op.file as RawFd) } else { file.live_fd() };
        let fd = match fd {
            Ok(fd) => types::Fd(fd),
            Err(errno) => return SubmissionRoute::Refused(errno),
        };
        let entry = match op.kind {
            OpKind::Read | OpKind::Write => {
                let flags = self.flags.of(op.kind == OpKind::Write);
                let priority = std::mem::take(&mut self.next_priority);
                match &mut self.vectors {
                    None => transfer(fd, op, start, self.registered_buffers, flags, priority),
                    Some(vectors) => vectored(fd, op, start, &mut vectors[op.tag.index()], flags, priority),
                }
            }
            OpKind::SyncFilesystem => return SubmissionRoute::Inline,
            _ if self.iopoll || (op.kind == OpKind::Trim && !inline::punches(file)) => return SubmissionRoute::Inline,
            OpKind::Trim => opcode::Fallocate::new(fd, u64::from(op.length)).offset(op.offset).mode(PUNCH).build(),
            OpKind::Sync => opcode::Fsync::new(fd).build(),
            OpKind::DataSync => opcode::Fsync::new(fd).flags(types::FsyncFlags::DATASYNC).build(),
            OpKind::SyncRange => {
                let flags = file.access().sync_range.as_bits();
                opcode::SyncFileRange::new(fd, op.length).offset(op.offset).flags(flags).build()
            }
        };
        let mut flags = if self.registered_files { Flags::FIXED_FILE } else { Flags::empty() };
        if self.force_async > 0 {
            self.force(&mut flags);
        }
        SubmissionRoute::Ring(entry.flags(flags).user_data(UserData::of(op).0))
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

    /// Waits for all operations in flight.
    #[cold]
    fn drain(&mut self) {
        while self.slots.in_flight() > 0 {
            self.enter(self.slots.in_flight(), None);
            let mut done = std::mem::take(&mut self.ready);
            self.collect(&mut done);
            self.ready = done;
        }
    }

    /// Executes an operation that the ring cannot, after submitting all operations before it.
    #[cold]
    fn perform(&mut self, op: &Op) {
        self.flush();
        self.ready.push(inline::complete(&self.files, op, &self.in_call, &self.clock));
    }

    /// Moves the queued operations into the ring, stamped with one reading of the clock.
    #[inline]
    fn push_queued(&mut self) {
        if self.queued.is_empty() {
            return;
        }
        let now = self.clock.now();
        for entry in &self.queued {
            self.slots.stamp(UserData(entry.get_user_data()).tag(), now);
        }
        // SAFETY: entries point into `buffers` or `vectors`, which stay until nothing is in flight (see `drop`), and `route`
        // has checked that each range lies within the buffer of its own tag.
        while unsafe { self.ring.submission().push_multiple(&self.queued) }.is_err() {
            // There is an entry for each tag, but the kernel's thread may complete operations before it reports that it
            // has taken their entries. It reports that soon, so an error here only means to try again.
            let _ = self.ring.submitter().squeue_wait();
        }
        self.queued.clear();
    }

    /// Makes one system call, which submits the queued operations and waits for `want` completions, at most for
    /// `limit`. Returns whether a signal interrupted it.
    #[inline]
    fn enter(&mut self, want: u32, limit: Option<Nanos>) -> bool {
        self.push_queued();
        let (to_submit, wakeup) = {
            let queue = self.ring.submission();
            if self.sqpoll { (0, queue.need_wakeup()) } else { (queue.len() as u32, false) }
        };
        if self.sqpoll && want == 0 && !wakeup {
            return false;
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
        let entered = unsafe { self.ring.submitter().enter(to_submit, want, flags, Some(&argument)) };
        // After a timeout or with a full completion queue, the caller only reads the queue again.
        matches!(entered, Err(error) if !matches!(error.raw_os_error(), Some(libc::ETIME | libc::EAGAIN | libc::EBUSY)))
    }
}

/// Registers the buffers if requested, or if that is cheap and permitted: the kernel then need not look up their pages
/// for every operation. Returns whether they are registered.
fn register_buffers_if_possible(ring: &IoUring, setup: &Setup, buffers: &Buffers) -> Result<bool, Error> {
    if setup.fixedbufs {
        return register_buffers(ring, buffers).map(|()| true);
    }
    if setup.vectored {
        return Ok(false);
    }
    let bytes = u64::from(setup.depth) * u64::from(setup.buffer_bytes);
    Ok(bytes <= MAX_REGISTERED_BYTES && register_buffers(ring, buffers).is_ok())
}

impl SubmissionQueue for Uring {
    #[inline]
    fn in_flight(&self) -> u32 {
        self.slots.in_flight()
    }

    #[inline]
    fn collect(&mut self, done: &mut Vec<Completion>) {
        done.append(&mut self.ready);
        let queue = self.ring.completion();
        if queue.is_empty() {
            return;
        }
        let completed = self.clock.now();
        for entry in queue {
            let user_data = UserData(entry.user_data());
            let submitted = self.slots.release(user_data.tag());
            let result = user_data.result(entry.result());
            done.push(Completion { tag: user_data.tag(), submitted, completed, result });
        }
    }

    #[inline]
    fn poll(&mut self) {
        let pending = !self.queued.is_empty() || self.iopoll || {
            let queue = self.ring.submission();
            queue.taskrun() || queue.cq_overflow() || !queue.is_empty()
        };
        if pending {
            self.enter(0, None);
        }
    }

    #[inline]
    fn flush(&mut self) {
        if !self.queued.is_empty() {
            self.enter(0, None);
        }
    }

    #[inline]
    fn block(&mut self, want: u32, limit: Option<Nanos>) -> bool {
        if self.iopoll && limit.is_some() {
            // A polled ring polls the device for as long as it waits and supports no deadline.
            return self.enter(0, None);
        }
        self.enter(want, limit)
    }
}

impl Target for Uring {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    fn prioritize(&mut self, priority: u16) {
        self.next_priority = priority;
    }

    #[inline]
    fn submit(&mut self, op: Op) {
        match self.route(&op) {
            SubmissionRoute::Ring(entry) => {
                self.deferred |= !matches!(op.kind, OpKind::Read | OpKind::Write);
                self.slots.take(op.tag);
                self.queued.push(entry);
            }
            SubmissionRoute::Inline => self.perform(&op),
            SubmissionRoute::Refused(result) => {
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

    fn settle(&mut self, file: u32, offset: u64, length: u64) -> Result<WriteBackSource, i32> {
        let file_at = self.files.get(file as usize);
        self.in_call.settle(file, offset, self.clock.now(), || settle::settle(file_at, offset, length))
    }

    fn command_zone(&mut self, file: u32, command: ZoneCommand, offset: u64, length: u64) -> Result<u64, i32> {
        zones::command(&self.files, (file, command), (offset, length), &self.in_call, self.clock.now())
    }

    fn close(&mut self, file: u32) {
        if self.registered_files {
            return;
        }
        // Entries refer to descriptors by number until the kernel, or its thread, has taken them.
        self.flush();
        while !self.ring.submission().is_empty() {
            self.enter(0, None);
        }
        if std::mem::take(&mut self.deferred) {
            self.drain();
        }
        if let Some(file) = self.files.get(file as usize) {
            file.close();
        }
    }

    fn buffer(&mut self, tag: Tag) -> Option<&mut [u8]> {
        self.buffers.slice(tag).filter(|_| !self.slots.is_taken(tag))
    }
}

impl Drop for Uring {
    /// Waits for all operations in flight, because the kernel writes into the buffers until then.
    fn drop(&mut self) {
        self.drain();
    }
}

/// Cheaper completion modes of newer kernels, best first; the last one is plain.
const MODES: [fn(&mut Builder); 3] = [
    |builder| {
        builder.setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag().setup_submit_all();
    },
    |builder| {
        builder.setup_coop_taskrun().setup_taskrun_flag();
    },
    |_| {},
];

/// Creates the ring with the best mode that the kernel supports.
fn build(setup: &Setup) -> io::Result<IoUring> {
    // With a submission thread no task is interrupted, and the kernel refuses the flags about it.
    let wanted = if setup.sqpoll { &MODES[2..] } else { &MODES[..] };
    first_supported(wanted, |mode| build_with(setup, mode))
}

/// Creates a ring of `entries` operations with the best mode that the kernel supports.
pub(crate) fn build_plain(entries: u32) -> io::Result<IoUring> {
    first_supported(&MODES, |mode| {
        let mut builder = IoUring::builder();
        mode(&mut builder);
        builder.dontfork().build(entries)
    })
}

fn first_supported(
    wanted: &[fn(&mut Builder)],
    make: impl Fn(fn(&mut Builder)) -> io::Result<IoUring>,
) -> io::Result<IoUring> {
    let mut refusal = io::Error::from_raw_os_error(libc::EINVAL);
    for mode in wanted {
        match make(*mode) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refusal = error,
            outcome => return outcome,
        }
    }
    Err(refusal)
}

fn build_with(setup: &Setup, mode: fn(&mut Builder)) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    mode(&mut builder);
    if setup.hipri {
        builder.setup_iopoll();
    }
    if setup.sqpoll {
        builder.setup_sqpoll(SQPOLL_IDLE_MS);
        setup.sqpoll_cpu.map(|cpu| builder.setup_sqpoll_cpu(cpu));
    }
    builder.dontfork().build(setup.depth)
}

/// Checks that completions of a file can be polled for, since a polled ring executes nothing else.
fn check_polled(file: &File) -> Result<(), Error> {
    let refused = |reason: &str, remedy: &str| {
        let refused = Error::found(ErrorKind::Engine, "poll", file.path().display().to_string(), reason);
        // The error number with which the first operation would fail.
        Err(Error { errno: Some(libc::EOPNOTSUPP), ..refused.with_remedy(remedy) })
    };
    if !file.access().direct {
        return refused("only direct operations can be polled for", "add direct=1 or remove hipri=1");
    }
    let root = Path::new("/");
    let device = probe::number_of(root, file.path()).and_then(|number| probe::device(root, number));
    match device {
        Some(device) if !device.polls => refused(
            "its device has no queues for polling",
            "give the driver some (as nvme.poll_queues=2 on the kernel's command line) or remove hipri=1",
        ),
        _ => Ok(()),
    }
}

fn register_files(ring: &IoUring, setup: &Setup, files: &[File]) -> Result<bool, Error> {
    if files.iter().any(File::is_closed) {
        return if setup.registerfiles { Err(not_all_open()) } else { Ok(false) };
    }
    let fds: Vec<RawFd> = files.iter().map(File::fd).collect();
    match ring.submitter().register_files(&fds) {
        Ok(()) => Ok(true),
        Err(error) if setup.registerfiles => {
            Err(Error::system(ErrorKind::Engine, "register files with", "io_uring", &error)
                .with_remedy("leave out registerfiles=1, or raise the limit of open files (ulimit -n)"))
        }
        Err(_) => Ok(false),
    }
}

fn not_all_open() -> Error {
    let reason = "not all of them are open at the same time";
    Error::found(ErrorKind::Engine, "register files with", "io_uring", reason)
        .with_remedy("leave out registerfiles=1, or openfiles")
}

fn register_buffers(ring: &IoUring, buffers: &Buffers) -> Result<(), Error> {
    // SAFETY: the buffers outlive the ring's use of them: one target owns both and waits for all operations in flight
    // before it drops either, and the kernel itself pins the pages of registered buffers.
    unsafe { ring.submitter().register_buffers(&buffers.vectors()) }.map_err(|error| {
        Error::system(ErrorKind::Memory, "register buffers with", "io_uring", &error)
            .with_remedy("leave out fixedbufs=1, or raise the limit of locked memory (ulimit -l)")
    })
}

const EMPTY_VECTOR: libc::iovec = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };

/// Returns a vectored read or write. `vector` must stay in its place until the operation completes.
fn vectored(fd: types::Fd, op: &Op, start: *mut u8, vector: &mut libc::iovec, flags: i32, priority: u16) -> Entry {
    *vector = libc::iovec { iov_base: start.cast(), iov_len: op.length as usize };
    match op.kind {
        OpKind::Read => opcode::Readv::new(fd, vector, 1).offset(op.offset).rw_flags(flags).ioprio(priority).build(),
        _ => opcode::Writev::new(fd, vector, 1).offset(op.offset).rw_flags(flags).ioprio(priority).build(),
    }
}

#[inline]
fn transfer(fd: types::Fd, op: &Op, start: *mut u8, registered: bool, flags: i32, priority: u16) -> Entry {
    // A tag's buffer is registered under the tag's number.
    let buffer = op.tag.0 as u16;
    match (op.kind == OpKind::Read, registered) {
        (true, false) => {
            opcode::Read::new(fd, start, op.length).offset(op.offset).rw_flags(flags).ioprio(priority).build()
        }
        (true, true) => opcode::ReadFixed::new(fd, start, op.length, buffer)
            .offset(op.offset)
            .rw_flags(flags)
            .ioprio(priority)
            .build(),
        (false, false) => {
            opcode::Write::new(fd, start, op.length).offset(op.offset).rw_flags(flags).ioprio(priority).build()
        }
        (false, true) => opcode::WriteFixed::new(fd, start, op.length, buffer)
            .offset(op.offset)
            .rw_flags(flags)
            .ioprio(priority)
            .build(),
    }
}

/// Returns how many bytes of its buffer an operation uses.
#[inline]
fn in_buffer(op: &Op) -> u32 {
    if matches!(op.kind, OpKind::Read | OpKind::Write) { op.length } else { 0 }
}

fn refused(error: &io::Error) -> Error {
    let remedy = match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            "see sysctl kernel.io_uring_disabled (0 permits it) and the container's seccomp \
             profile, or use ioengine=libaio"
        }
        Some(libc::ENOSYS) => "use Linux 5.11 or later, or ioengine=libaio: this kernel has no io_uring",
        Some(libc::ENOMEM) => "raise the limit of locked memory (ulimit -l) or use a smaller iodepth",
        _ => "use a smaller iodepth, leave out sqthread_poll and hipri, or use ioengine=libaio",
    };
    Error::system(ErrorKind::Engine, "set up", "io_uring", error).with_remedy(remedy)
}

#[cfg(test)]
mod tests {
    use target::conformance::{TestedTarget, check};

    use super::*;
    use crate::files::Access;
    use crate::setup::EngineKind;

    #[test]
    fn rings_of_older_kernels_conform() {
        let path = std::env::current_exe().unwrap().with_extension("uring");
        for mode in MODES {
            std::fs::write(&path, vec![0; 1 << 20]).unwrap();
            let file = crate::gate::WriteGate::of_any_content()
                .open(&path, Access { read: true, punch_holes: true, ..Access::default() })
                .unwrap();
            std::fs::remove_file(&path).unwrap();
            let setup = Setup::new(EngineKind::IoUring, 32, 4096, MonotonicClock::start());
            let mut ring = Uring::with_ring(build_with(&setup, mode).unwrap(), &setup, vec![file]).unwrap();
            check(&mut ring, &TestedTarget { lateness: Nanos::from_millis(900), ..TestedTarget::default() });
        }
    }

    #[test]
    fn user_data_holds_the_tag_and_the_length_of_a_trim() {
        let op = Op { tag: Tag(u32::MAX), kind: OpKind::Trim, file: 0, offset: 0, length: 1 << 20, skip: 0 };
        let trim = UserData::of(&op);
        assert_eq!((trim.tag(), trim.result(0), trim.result(-95)), (op.tag, 1 << 20, -95));
        let read = UserData::of(&Op { kind: OpKind::Read, ..op });
        assert_eq!((read.tag(), read.result(0), read.result(512), read.result(-5)), (op.tag, 0, 512, -5));
    }

    #[test]
    fn a_forbidden_ring_is_explained() {
        let error = refused(&io::Error::from_raw_os_error(libc::EPERM));
        assert!(error.to_string().contains("kernel.io_uring_disabled"), "{error}");
        assert_eq!(error.errno, Some(libc::EPERM));
    }
}
