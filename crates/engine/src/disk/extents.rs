//! Allocated extents of a file.

use std::os::fd::RawFd;

use nbd::store::Extents;
use nbd::wire::{Errno, Extent};

use crate::error::last_errno;
use crate::files::{File, FileKind};

/// Returns the data and holes of a range. A device has no known holes: all of it is data.
pub(super) fn find(file: &File, offset: u64, length: u64, most: usize) -> Result<Vec<Extent>, Errno> {
    let mut extents = Extents::new(length, most);
    let end = offset + length;
    while extents.left() > 0 {
        let at = end - extents.left();
        let data = if file.kind() == FileKind::Regular { next(file.fd(), at, libc::SEEK_DATA, end)? } else { at };
        if data > at {
            extents.push(Extent { length: data - at, hole: true, zero: true });
            continue;
        }
        let hole = if file.kind() == FileKind::Regular { next(file.fd(), at, libc::SEEK_HOLE, end)? } else { end };
        // A concurrent change may have made a hole here, which would end the data at once.
        let hole = hole.max(at + 1);
        extents.push(Extent { length: hole - at, hole: false, zero: false });
    }
    Ok(extents.into_vec())
}

/// Returns the offset of the next data or hole from `at` on, or `end` if there is none before it. Filesystems without
/// support report everything as data.
fn next(fd: RawFd, at: u64, whence: i32, end: u64) -> Result<u64, Errno> {
    // SAFETY: the call takes no memory; the file position that it moves is not used.
    let found = unsafe { libc::lseek64(fd, at as i64, whence) };
    if found >= 0 {
        return Ok((found as u64).min(end));
    }
    match last_errno() {
        libc::ENXIO => Ok(end),
        libc::EINVAL => Ok(if whence == libc::SEEK_DATA { at } else { end }),
        errno => Err(Errno::from_os(errno)),
    }
}
