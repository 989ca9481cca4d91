//! Engines that change the size or the allocation of files: `ftruncate` and `falloc`.

use std::os::fd::RawFd;

use target::Op;
use units::OpKind;

use crate::buffers::Buffers;
use crate::files::File;
use crate::inline::{self, PUNCH, retried};
use crate::sync_target::Perform;

/// Calls that change the size or the allocation of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AllocationCall {
    /// `ftruncate` to the offset of each write.
    Truncate,
    /// `fallocate` of the range of each operation: for reads without changing the size, for trims punching a hole.
    Allocate,
}

/// A call and the files to use it on.
pub(crate) struct Allocation {
    pub(crate) call: AllocationCall,
    pub(crate) files: Vec<File>,
}

impl Allocation {
    fn call(&self, fd: RawFd, op: &Op) -> i32 {
        let bytes = i32::try_from(op.length).unwrap_or(i32::MAX);
        let mode = match op.kind {
            OpKind::Write => 0,
            OpKind::Trim => PUNCH,
            _ => libc::FALLOC_FL_KEEP_SIZE,
        };
        match self.call {
            AllocationCall::Allocate => {
                // SAFETY: the call takes no memory.
                retried(bytes, || unsafe { libc::fallocate64(fd, mode, op.offset as i64, i64::from(op.length)) })
            }
            AllocationCall::Truncate if op.kind == OpKind::Write => {
                // SAFETY: the call takes no memory.
                retried(bytes, || unsafe { libc::ftruncate64(fd, op.offset as i64) })
            }
            AllocationCall::Truncate => -libc::EINVAL,
        }
    }
}

impl Perform for Allocation {
    fn files(&self) -> &[File] {
        &self.files
    }

    fn perform(&mut self, op: &Op, _: &Buffers) -> i32 {
        let Some(file) = self.files.get(op.file as usize) else { return -libc::EBADF };
        if !op.kind.moves_data() {
            return inline::perform(file, op);
        }
        match file.live_fd() {
            Ok(fd) => self.call(fd, op),
            Err(errno) => errno,
        }
    }
}
