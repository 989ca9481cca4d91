//! Allocated extents of a file.

use std::os::fd::RawFd;

use nbd::store::Extents;
use nbd::wire::Errno;
use nbd::wire::Extent;

use crate::error::last_errno;
use crate::files::{File, FileKind};

/// Data and holes of a range. Of a device nothing is known: all of it is data.
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
        // A hole may have been made there since.
        let hole = hole.max(at + 1);
        extents.push(Extent { length: hole - at, hole: false, zero: false });
    }
    Ok(extents.into_vec())
}

/// The next data or hole from `at` on; `end` where there is none before. Filesystems that cannot tell say that everything
/// is data.
fn next(fd: RawFd, at: u64, whence: i32, end: u64) -> Result<u64, Errno> {
    // SAFETY: the call takes no memory; the position that it moves is not used.
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
