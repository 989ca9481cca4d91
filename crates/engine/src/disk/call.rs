//! System calls on the file of a store.

/// A system call on the file of a store. Places in the buffer of its slot are called `skip`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiskCall {
    Read {
        at: u64,
        skip: u32,
        length: u32,
    },
    /// With `durable` it returns when the bytes would survive the loss of power.
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
    /// `BLKDISCARD`, which no ring takes before Linux 6.12.
    Discard {
        at: u64,
        length: u64,
    },
    DataSync,
    /// The range will be read soon.
    Advise {
        at: u64,
        length: u32,
    },
}
