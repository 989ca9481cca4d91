//! Attributes of the calling thread: priorities, memory policy, user, locked memory.
//!
//! All are those of the thread alone. glibc's `setresuid` would change the whole process, so the system calls are made
//! directly.

use std::{io, ptr};

use crate::error::{Error, ErrorKind};
use target::spec::NumaMemory;

/// Adds to the nice value of the calling thread, as `nice(2)` does: a program started by `nice` keeps what it was given.
///
/// # Errors
/// Fails if the process may not raise priorities.
pub fn add_nice(nice: i32) -> Result<(), Error> {
    match rustix::process::nice(nice) {
        Ok(_) => Ok(()),
        Err(error) => Err(refused(&error.into(), format!("nice={nice}"), "run as root, or use a positive value")),
    }
}

/// `IOPRIO_WHO_PROCESS`, which is a thread.
const IOPRIO_WHO_PROCESS: i32 = 1;

/// Sets the I/O priority of the calling thread: class, hint and level as `ioprio_set(2)` takes them.
///
/// # Errors
/// Fails if the process may not use the class.
pub fn set_io_priority(value: u16) -> Result<(), Error> {
    // SAFETY: the call takes only numbers; 0 is the calling thread.
    let result = unsafe { libc::syscall(libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, i32::from(value)) };
    let place = || format!("I/O priority {} of class {}", value & 7, value >> 13);
    check(result, place, "run as root, or use prioclass=2 (best effort)")
}

/// Bits of a mask of nodes.
const NODE_BITS: usize = 1024;

/// Sets the memory policy of the calling thread. `nodes` are the NUMA nodes that it names.
///
/// # Errors
/// Fails if a node does not exist or has no memory.
pub fn set_memory_policy(policy: &NumaMemory, nodes: &[u32]) -> Result<(), Error> {
    let mode = match policy {
        NumaMemory::Default => libc::MPOL_DEFAULT,
        NumaMemory::Prefer(_) => libc::MPOL_PREFERRED,
        NumaMemory::Bind(_) => libc::MPOL_BIND,
        NumaMemory::Interleave(_) => libc::MPOL_INTERLEAVE,
        NumaMemory::Local => libc::MPOL_LOCAL,
    };
    const WORDS: usize = NODE_BITS / u64::BITS as usize;
    let mut mask = [0_u64; WORDS];
    for &node in nodes {
        if let Some(word) = mask.get_mut((node / u64::BITS) as usize) {
            *word |= 1 << (node % u64::BITS);
        }
    }
    // The kernel reads one bit less than it is told.
    let (mask, bits) = if nodes.is_empty() { (ptr::null(), 0) } else { (mask.as_ptr(), NODE_BITS + 1) };
    // SAFETY: `mask` is null, or an array of NODE_BITS bits that outlives the call.
    let result = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, mask, bits) };
    let place = || format!("a memory policy for NUMA nodes {nodes:?}");
    check(result, place, "use nodes that have memory (see numactl --hardware)")
}

/// Makes the calling thread run as this group and user, for good.
///
/// # Errors
/// Fails if the process may not change them.
pub fn set_user(uid: Option<u32>, gid: Option<u32>) -> Result<(), Error> {
    // The group first: a user other than root may not change it.
    if let Some(gid) = gid {
        // SAFETY: the call takes only numbers.
        let result = unsafe { libc::syscall(libc::SYS_setresgid, gid, gid, gid) };
        check(result, || format!("gid={gid}"), "run as root")?;
    }
    if let Some(uid) = uid {
        // SAFETY: as above.
        let result = unsafe { libc::syscall(libc::SYS_setresuid, uid, uid, uid) };
        check(result, || format!("uid={uid}"), "run as root")?;
    }
    Ok(())
}

/// Memory that is locked until it is dropped.
#[derive(Debug)]
pub struct LockedMemory {
    address: *mut libc::c_void,
    bytes: usize,
}

impl LockedMemory {
    /// Allocates and locks memory.
    ///
    /// # Errors
    /// Fails if the host has too little memory or the process may not lock as much.
    pub fn new(bytes: u64) -> Result<Self, Error> {
        let place = || format!("{bytes} bytes of memory");
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new anonymous mapping overlaps nothing.
        let address = unsafe { libc::mmap(ptr::null_mut(), length, access, kind, -1, 0) };
        if address == libc::MAP_FAILED {
            return Err(Error::system(ErrorKind::Memory, "allocate", place(), &io::Error::last_os_error()));
        }
        let memory = Self { address, bytes: length };
        // SAFETY: the mapping is that of `memory`.
        let result = unsafe { libc::mlock(memory.address, memory.bytes) };
        check(i64::from(result), place, "raise the locked-memory limit (ulimit -l), or run as root")?;
        Ok(memory)
    }
}

impl Drop for LockedMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping is this structure's own and nothing refers to it.
        unsafe { libc::munmap(self.address, self.bytes) };
    }
}

fn check(result: i64, place: impl Fn() -> String, remedy: &str) -> Result<(), Error> {
    if result < 0 { Err(refused(&io::Error::last_os_error(), place(), remedy)) } else { Ok(()) }
}

fn refused(error: &io::Error, place: String, remedy: &str) -> Error {
    Error::system(ErrorKind::Host, "set", place, error).with_remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `nice=7` of a program started by `nice` was 7 instead of 17 as in fio.
    #[test]
    fn nice_replaced_the_value_of_the_program() {
        let value = || rustix::process::getpriority_process(None).unwrap();
        std::thread::spawn(move || {
            let before = value();
            for added in [3, 2] {
                add_nice(added).unwrap();
            }
            assert_eq!(value(), (before + 5).min(19));
        })
        .join()
        .unwrap();
    }
}
