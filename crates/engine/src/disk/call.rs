//! System calls on the file of a store.

/// A system call on the file of a store. `skip` is an offset in the slot's buffer, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiskCall {
    Read {
        at: u64,
        skip: u32,
        length: u32,
    },
    /// With `durable`, returns once the bytes would survive a power loss.
    Write {
        at: u64,
        skip: u32,
        length: u32,
        durable: bool,
    },
    /// `fallocate`.
    Allocate {
        mode: i32,
        at: u64,
        length: u64,
    },
    /// `BLKDISCARD`, which `io_uring` does not support before Linux 6.12.
    Discard {
        at: u64,
        length: u64,
    },
    DataSync,
    /// Reads the range ahead (`POSIX_FADV_WILLNEED`).
    Advise {
        at: u64,
        length: u32,
    },
}
