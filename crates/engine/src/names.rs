//! Engines that measure calls on the names of files and directories: creation, look-up and deletion.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use target::spec::{EngineKind, NameAction, NameCall, StatCall};
use target::{Completion, Op};

use crate::buffers::Buffers;
use crate::error::Error;
use crate::file_facts::make_parents;
use crate::files::File;
use crate::gate::WriteGate;
use crate::inline::repeated;
use crate::named_target::{NamedTarget, NodeIdentity};
use crate::opening::Opening;
use crate::sync_target::Perform;

impl NamedTarget {
    /// Prepares a call on `path`, to be made once per pass over a region of `bytes` bytes in blocks of at least
    /// `least_bytes`. What is to be deleted is no longer held by the gate afterwards, because the kernel frees a file
    /// only when nothing holds it.
    ///
    /// # Errors
    /// Fails if the path contains a zero byte, the gate does not admit the call, or parent directories cannot be made.
    pub fn new(call: NameCall, path: &Path, bytes: u64, least_bytes: u32, gate: &WriteGate) -> Result<Self, Error> {
        let deletable = match (call.action, call.directory) {
            (NameAction::Create, true) => {
                make_parents(path)?;
                None
            }
            (NameAction::Delete, false) => gate.release_file(path)?,
            (NameAction::Delete, true) => gate.release_directory(path)?,
            (NameAction::Create, false) | (NameAction::Stat, _) => None,
        };
        let invalid = |_| Error::file("use", path, &io::Error::from_raw_os_error(libc::EINVAL));
        let path = CString::new(path.as_os_str().as_bytes()).map_err(invalid)?;
        Ok(Self { path, bytes, least_bytes: u64::from(least_bytes.max(1)), deletable, renewed_by: None })
    }

    /// Lets the gate remove the file whenever a loop begins (`unlink_each_loop`).
    #[must_use]
    pub fn renewed_by(self, gate: Arc<WriteGate>) -> Self {
        Self { renewed_by: Some(gate), ..self }
    }
}

fn to_path(name: &CString) -> PathBuf {
    PathBuf::from(std::ffi::OsStr::from_bytes(name.as_bytes()))
}

/// Makes one call on a name per pass over its region, as in fio, and counts the other operations without a call.
pub(crate) struct Names {
    call: Option<NameCall>,
    /// Whether the call returns a descriptor.
    opens: bool,
    /// The last of these descriptors. The time to close it is not measured.
    opened: Option<OwnedFd>,
    stat_call: StatCall,
    targets: Vec<NamedTarget>,
    /// Bytes left in the current pass over each target; zero before the first.
    left: Vec<u64>,
}

impl Names {
    pub(crate) fn new(setup: &Opening) -> Self {
        Self {
            call: setup.spec.kind.name_call(),
            opens: setup.spec.kind == EngineKind::Filecreate,
            opened: None,
            stat_call: setup.spec.stat_call,
            left: vec![0; setup.names.len()],
            targets: setup.names.clone(),
        }
    }

    /// Takes the bytes of an operation from the current pass. Returns whether a pass begins, which makes the call.
    fn begins_pass(&mut self, op: &Op) -> bool {
        let index = op.file as usize;
        let (Some(left), Some(target)) = (self.left.get_mut(index), self.targets.get(index)) else { return true };
        let begins = *left < target.least_bytes;
        if begins {
            *left = target.bytes;
        }
        *left = left.saturating_sub(u64::from(op.length));
        begins
    }

    /// Checks that a name still refers to the inode that the gate has admitted for deletion.
    fn check(&self, op: &Op) -> Result<(), i32> {
        if self.call.is_none_or(|call| call.action != NameAction::Delete) {
            return Ok(());
        }
        let target = self.targets.get(op.file as usize).ok_or(-libc::EBADF)?;
        let there =
            NodeIdentity::at(&to_path(&target.path)).map_err(|error| -error.raw_os_error().unwrap_or(libc::EIO))?;
        // A name that was missing when the job began is not the job's.
        if target.deletable == Some(there) { Ok(()) } else { Err(-libc::ESTALE) }
    }

    /// Makes the call. Returns its result, or a negated error number; a descriptor if it creates a file.
    fn call(&self, op: &Op) -> i32 {
        let (Some(call), Some(target)) = (self.call, self.targets.get(op.file as usize)) else { return -libc::EBADF };
        let path = target.path.as_ptr();
        let mut facts = MaybeUninit::<libc::stat64>::uninit();
        let mut more_facts = MaybeUninit::<libc::statx>::uninit();
        // SAFETY: `path` ends with a zero byte and outlives the calls, and so do the structures that they fill.
        repeated(|| unsafe {
            let result = match (call.action, call.directory) {
                (NameAction::Create, false) => {
                    libc::open64(path, libc::O_RDONLY | libc::O_CREAT | libc::O_CLOEXEC, 0o600)
                }
                (NameAction::Create, true) => libc::mkdir(path, 0o755),
                (NameAction::Stat, _) => match self.stat_call {
                    StatCall::Stat => libc::stat64(path, facts.as_mut_ptr()),
                    StatCall::Lstat => libc::lstat64(path, facts.as_mut_ptr()),
                    StatCall::Statx => libc::statx(libc::AT_FDCWD, path, 0, libc::STATX_ALL, more_facts.as_mut_ptr()),
                },
                (NameAction::Delete, false) => libc::unlink(path),
                (NameAction::Delete, true) => libc::rmdir(path),
            };
            result as isize
        })
    }
}

impl Perform for Names {
    fn files(&self) -> &[File] {
        &[]
    }

    fn without_call(&mut self, op: &Op) -> Option<i32> {
        self.opened = None;
        if !op.kind.moves_data() {
            return Some(0);
        }
        if !self.begins_pass(op) {
            return Some(Completion::WITHOUT_CALL);
        }
        self.check(op).err()
    }

    fn perform(&mut self, op: &Op, _: &Buffers) -> i32 {
        let result = self.call(op);
        if result < 0 {
            return result;
        }
        if self.opens {
            // SAFETY: `open` has just returned the descriptor, and nothing else uses it.
            self.opened = Some(unsafe { OwnedFd::from_raw_fd(result) });
        }
        i32::try_from(op.length).unwrap_or(i32::MAX)
    }

    fn renew(&mut self, file: u32) -> Result<(), i32> {
        let index = file as usize;
        if let Some(left) = self.left.get_mut(index) {
            *left = 0;
        }
        match self.targets.get(index) {
            Some(NamedTarget { path, renewed_by: Some(gate), .. }) => gate.remove_name(&to_path(path)),
            _ => Ok(()),
        }
    }
}
