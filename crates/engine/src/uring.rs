//! Linux `io_uring`. Files are registered, and so are buffers if they are small or the job requests it.

use io_uring::squeue::Entry;
use io_uring::{cqueue, opcode, types};
use target::{Completion, Op};
use units::{Nanos, OpKind};

use crate::error::Error;
use crate::files::{File, sync_range_bits};
use crate::inline::{self, PUNCH};
use crate::opening::{Opening, PerTransfer};
use crate::queue::{self, Backend, QueueState, QueueTarget, Submission};
use crate::ring::{self, KernelRing};

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

/// The backend on one ring.
///
/// It must stay on its thread: the kernel accepts calls only from the thread that created the ring.
pub(crate) struct Uring {
    ring: KernelRing<Entry, cqueue::Entry>,
    /// Flags of reads and writes.
    flags: PerTransfer,
}

impl Uring {
    pub(crate) fn target(setup: &Opening, files: Vec<File>) -> Result<QueueTarget<Self>, Error> {
        if setup.spec.hipri {
            files.iter().try_for_each(check_polled)?;
        }
        Self::with_ring(KernelRing::new(setup)?, setup, files)
    }

    fn with_ring(
        mut ring: KernelRing<Entry, cqueue::Entry>,
        setup: &Opening,
        files: Vec<File>,
    ) -> Result<QueueTarget<Self>, Error> {
        let state = QueueState::new(setup, files)?;
        ring.register(setup, &state)?;
        Ok(QueueTarget::new(Self { ring, flags: PerTransfer::new(&setup.spec) }, state))
    }

    /// Returns the entry of a read or write of the bytes from `start` on.
    #[inline]
    fn transfer(&mut self, fd: types::Fd, op: &Op, start: *mut u8, priority: u16) -> Entry {
        let flags = self.flags.of(op.kind == OpKind::Write);
        // Each of these has its own type.
        macro_rules! entry {
            ($transfer:expr) => {
                $transfer.offset(op.offset).rw_flags(flags).ioprio(priority).build()
            };
        }
        let is_read = op.kind == OpKind::Read;
        if let Some(vector) = self.ring.vector(op, start) {
            return if is_read {
                entry!(opcode::Readv::new(fd, vector, 1))
            } else {
                entry!(opcode::Writev::new(fd, vector, 1))
            };
        }
        match (is_read, self.ring.registered_buffer(op.tag)) {
            (true, None) => entry!(opcode::Read::new(fd, start, op.length)),
            (true, Some(buffer)) => entry!(opcode::ReadFixed::new(fd, start, op.length, buffer)),
            (false, None) => entry!(opcode::Write::new(fd, start, op.length)),
            (false, Some(buffer)) => entry!(opcode::WriteFixed::new(fd, start, op.length, buffer)),
        }
    }

    /// Returns the submission entry of an operation, or what becomes of it instead.
    #[inline]
    fn entry(&mut self, state: &mut QueueState, op: &Op) -> Result<Entry, Submission> {
        let (Some(file), Some(start)) =
            (state.files.get(op.file as usize), state.buffers.span(op.tag, op.skip, in_buffer(op)))
        else {
            return Err(Submission::Done(-libc::EINVAL));
        };
        let fd = self.ring.descriptor(file, op).map_err(Submission::Done)?;
        let entry = match op.kind {
            OpKind::Read | OpKind::Write => self.transfer(fd, op, start, std::mem::take(&mut state.next_priority)),
            OpKind::SyncFilesystem => return Err(Submission::Inline),
            _ if self.ring.is_polled() || (op.kind == OpKind::Trim && !inline::punches(file)) => {
                return Err(Submission::Inline);
            }
            OpKind::Trim => opcode::Fallocate::new(fd, u64::from(op.length)).offset(op.offset).mode(PUNCH).build(),
            OpKind::Sync => opcode::Fsync::new(fd).build(),
            OpKind::DataSync => opcode::Fsync::new(fd).flags(types::FsyncFlags::DATASYNC).build(),
            OpKind::SyncRange => {
                let flags = sync_range_bits(file.access().sync_range);
                opcode::SyncFileRange::new(fd, op.length).offset(op.offset).flags(flags).build()
            }
        };
        if !matches!(op.kind, OpKind::Read | OpKind::Write) {
            self.ring.defer();
        }
        Ok(entry.flags(self.ring.flags()).user_data(UserData::of(op).0))
    }
}

impl Backend for Uring {
    #[inline]
    fn submit(&mut self, state: &mut QueueState, op: &Op) -> Submission {
        match self.entry(state, op) {
            // SAFETY: entries point into the buffers or the ring's vectors, which stay until nothing is in flight (see `end`),
            // and `entry` has checked that each range lies within the buffer of its own tag.
            Ok(entry) => unsafe { self.ring.queue(state, op.tag, &entry) },
            Err(instead) => instead,
        }
    }

    #[inline(always)]
    fn collect(&mut self, state: &mut QueueState, done: &mut Vec<Completion>) {
        self.ring.collect(state, done, |_, user_data, reported| UserData(user_data).result(reported));
    }

    #[inline]
    fn poll(&mut self, state: &mut QueueState) {
        self.ring.poll(state);
    }

    #[inline]
    fn flush(&mut self, state: &mut QueueState) {
        self.ring.flush(state);
    }

    #[inline]
    fn block(&mut self, state: &mut QueueState, want: u32, limit: Option<Nanos>) -> bool {
        self.ring.block(state, want, limit)
    }

    fn let_close(&mut self, state: &mut QueueState, _: u32) -> bool {
        if !self.ring.has_registered_files() && self.ring.hand_over(state) {
            queue::drain(self, state);
        }
        !self.ring.has_registered_files()
    }

    fn unregister(&mut self) {
        self.ring.unregister_files();
    }

    /// Waits for all operations in flight, because the kernel writes into the buffers until then.
    fn end(&mut self, state: &mut QueueState) {
        queue::drain(self, state);
    }
}

/// Checks that completions of a file can be polled for.
fn check_polled(file: &File) -> Result<(), Error> {
    if !file.access().direct {
        let remedy = "add direct=1 or remove hipri=1";
        return Err(ring::unpolled(file, "only direct I/O can be polled", remedy));
    }
    ring::check_polled(file)
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
    use crate::clock::MonotonicClock;
    use crate::files::Access;
    use target::Tag;
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
