//! Linux `io_uring`. Files are registered, and so are buffers if they are small or the job requests it.

use std::os::fd::RawFd;
use std::sync::Arc;

use io_uring::squeue::{Entry, Flags};
use io_uring::{cqueue, opcode, types};
use target::{Completion, Op, Tag, Target, WriteBackSource};
use units::{Nanos, OpKind, ZoneCommand};

use crate::buffers::Buffers;
use crate::clock::{self, MonotonicClock};
use crate::error::Error;
use crate::files::File;
use crate::in_call::InCall;
use crate::inline::{self, PUNCH};
use crate::opening::{Opening, PerTransfer};
use crate::queue::{self, SubmissionQueue};
use crate::ring::{self, KernelRing};
use crate::settle;
use crate::zones;

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
    fn result(self, reported: i32) -> i32 {
        let trimmed = i32::try_from(self.0 >> 32).unwrap_or(i32::MAX);
        if reported == 0 { trimmed } else { reported }
    }
}

/// A target on one ring.
///
/// It must stay on its thread: the kernel accepts calls only from the thread that created the ring.
pub(crate) struct Uring {
    ring: KernelRing<Entry, cqueue::Entry>,
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
    /// Whether operations were submitted that the kernel passes to its own threads at once. These look up a descriptor
    /// only when they start.
    deferred: bool,
    /// Completions of operations that the ring did not execute.
    ready: Vec<Completion>,
    in_call: Arc<InCall>,
    buffers: Buffers,
    clock: MonotonicClock,
}

impl Uring {
    pub(crate) fn new(setup: &Opening, files: Vec<File>) -> Result<Self, Error> {
        if setup.spec.hipri {
            files.iter().try_for_each(check_polled)?;
        }
        Self::with_ring(KernelRing::new(setup)?, setup, files)
    }

    fn with_ring(ring: KernelRing<Entry, cqueue::Entry>, setup: &Opening, files: Vec<File>) -> Result<Self, Error> {
        let buffers = Buffers::new(setup)?;
        let registered_files = ring.register_files(setup, &files)?;
        let registered_buffers = ring.register_buffers_if_possible(setup, &buffers)?;
        let depth = setup.depth as usize;
        Ok(Self {
            ring,
            files,
            registered_files,
            registered_buffers,
            vectors: (setup.spec.vectored && !setup.spec.fixedbufs).then(|| vec![EMPTY_VECTOR; depth]),
            flags: PerTransfer::new(&setup.spec),
            next_priority: 0,
            force_async: setup.spec.force_async,
            since_async: 0,
            deferred: false,
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
            _ if self.ring.is_polled() || (op.kind == OpKind::Trim && !inline::punches(file)) => {
                return SubmissionRoute::Inline;
            }
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
        while self.ring.in_flight() > 0 {
            self.ring.enter(self.ring.in_flight(), None);
            let mut done = std::mem::take(&mut self.ready);
            self.collect(&mut done);
            self.ready = done;
        }
    }

    /// Executes an operation that the ring cannot, after submitting all operations before it.
    #[cold]
    fn perform(&mut self, op: &Op) {
        self.ring.flush();
        self.ready.push(inline::complete(&self.files, op, &self.in_call, &self.clock));
    }
}

impl SubmissionQueue for Uring {
    #[inline]
    fn in_flight(&self) -> u32 {
        self.ring.in_flight()
    }

    #[inline(always)]
    fn collect(&mut self, done: &mut Vec<Completion>) {
        done.append(&mut self.ready);
        self.ring.collect(done, |user_data, reported| UserData(user_data).result(reported));
    }

    #[inline]
    fn poll(&mut self) {
        self.ring.poll();
    }

    #[inline]
    fn flush(&mut self) {
        self.ring.flush();
    }

    #[inline]
    fn block(&mut self, want: u32, limit: Option<Nanos>) -> bool {
        self.ring.block(want, limit)
    }
}

impl Target for Uring {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.ring.now()
    }

    fn prioritize(&mut self, priority: u16) {
        self.next_priority = priority;
    }

    #[inline]
    fn submit(&mut self, op: Op) {
        match self.route(&op) {
            SubmissionRoute::Ring(entry) => {
                self.deferred |= !matches!(op.kind, OpKind::Read | OpKind::Write);
                // SAFETY: entries point into `buffers` or `vectors`, which stay until nothing is in flight (see `drop`),
                // and `route` has checked that each range lies within the buffer of its own tag.
                unsafe { self.ring.queue(op.tag, &entry) };
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
        self.ring.hand_over();
        if std::mem::take(&mut self.deferred) {
            self.drain();
        }
        if let Some(file) = self.files.get(file as usize) {
            file.close();
        }
    }

    fn spin(&mut self, cycles: u32) {
        clock::spin(cycles);
    }

    fn renew(&mut self, file: u32) -> Result<(), i32> {
        if std::mem::take(&mut self.registered_files) {
            self.ring.unregister_files();
        }
        self.close(file);
        self.files.get(file as usize).map_or(Ok(()), File::renew)
    }

    fn buffer(&mut self, tag: Tag) -> Option<&mut [u8]> {
        self.buffers.slice(tag).filter(|_| !self.ring.is_taken(tag))
    }
}

impl Drop for Uring {
    /// Waits for all operations in flight, because the kernel writes into the buffers until then.
    fn drop(&mut self) {
        self.drain();
    }
}

/// Checks that completions of a file can be polled for.
fn check_polled(file: &File) -> Result<(), Error> {
    if !file.access().direct {
        let remedy = "add direct=1 or remove hipri=1";
        return Err(ring::unpolled(file, "only direct operations can be polled for", remedy));
    }
    ring::check_polled(file)
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

#[cfg(test)]
mod tests {
    use target::conformance::{TestedTarget, check};

    use super::*;
    use crate::files::Access;
    use target::spec::EngineKind;

    #[test]
    fn rings_of_older_kernels_conform() {
        let path = std::env::current_exe().unwrap().with_extension("uring");
        for mode in ring::modes() {
            std::fs::write(&path, vec![0; 1 << 20]).unwrap();
            let file = crate::gate::WriteGate::of_any_content()
                .open(&path, Access { read: true, punch_holes: true, ..Access::default() })
                .unwrap();
            std::fs::remove_file(&path).unwrap();
            let setup = Opening::new(EngineKind::IoUring, 32, 4096, MonotonicClock::start());
            let mut ring =
                Uring::with_ring(KernelRing::of(ring::build_with(&setup, mode).unwrap(), &setup), &setup, vec![file])
                    .unwrap();
            // Tells a hang from a busy host.
            check(&mut ring, &TestedTarget { lateness: Nanos::from_secs(60), ..TestedTarget::default() });
        }
    }

    #[test]
    fn user_data_holds_the_tag_and_the_length_of_a_trim() {
        let op = Op { tag: Tag(u32::MAX), kind: OpKind::Trim, file: 0, offset: 0, length: 1 << 20, skip: 0 };
        let trim = UserData::of(&op);
        assert_eq!((ring::tag_of(trim.0), trim.result(0), trim.result(-95)), (op.tag, 1 << 20, -95));
        let read = UserData::of(&Op { kind: OpKind::Read, ..op });
        assert_eq!((ring::tag_of(read.0), read.result(0), read.result(512), read.result(-5)), (op.tag, 0, 512, -5));
    }
}
