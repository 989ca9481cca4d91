//! Prepares the page cache and the filesystem for what a job will do.

use std::io;
use std::os::unix::fs::FileExt;

use super::open::File;
use crate::error::{Error, last_errno};
use crate::file_facts::FileKind;

/// `BLKFLSBUF` of `linux/fs.h`: `_IO(0x12, 97)`.
const BLKFLSBUF: libc::Ioctl = 0x1261;

/// Drops `length` bytes of a file from `offset` on (zero: to its end) from the page cache, so that reads reach the
/// device; of a closed regular file, when it is opened. Pages that are not written back stay. Of a block device the whole
/// cache is dropped.
///
/// # Errors
/// Fails if the system refuses, as it does for block devices if the user is not root.
pub fn invalidate(file: &File, offset: u64, length: u64) -> Result<(), Error> {
    let errno = match file.kind() {
        FileKind::Regular => file.drop_pages(offset, length).err().unwrap_or(0),
        FileKind::Block if file.is_closed() => {
            // It is closed again, because other files may be open in its place.
            let dropped = file.live_fd().map_or(Ok(()), |_| invalidate(file, offset, length));
            file.close();
            return dropped;
        }
        // SAFETY: the call takes no memory.
        FileKind::Block if unsafe { libc::ioctl(file.fd(), BLKFLSBUF, 0) } < 0 => last_errno(),
        FileKind::Block | FileKind::Character => 0,
    };
    if errno == 0 {
        return Ok(());
    }
    Err(Error::file("drop the page cache of", file.path(), &io::Error::from_raw_os_error(errno))
        .with_remedy("run as root, or set invalidate=0 and expect cached reads"))
}

/// `F_SET_RW_HINT` (`include/uapi/linux/fcntl.h`).
const F_SET_RW_HINT: libc::c_int = 1036;

/// Sets the expected lifetime of written data, from 1 for none known to 5 (`F_SET_RW_HINT` of `fcntl(2)`).
///
/// # Errors
/// Fails if the filesystem or the kernel knows no such hints.
pub fn set_write_hint(file: &File, hint: u64) -> Result<(), Error> {
    // SAFETY: the kernel reads the number, which outlives the call.
    if unsafe { libc::fcntl(file.fd(), F_SET_RW_HINT, &raw const hint) } < 0 {
        let error = io::Error::last_os_error();
        return Err(Error::file("set a write hint for", file.path(), &error).with_remedy("omit write_hint"));
    }
    Ok(())
}

/// Reads a range of a file into the page cache, until `ends` says to stop.
///
/// # Errors
/// Fails if the file cannot be opened or read.
pub fn read_into_cache(file: &File, start: u64, length: u64, ends: &dyn Fn() -> bool) -> Result<(), Error> {
    let failed = |error: io::Error| Error::file("read", file.path(), &error);
    // Its own description, because that of the job may bypass the cache.
    let cached = std::fs::File::open(format!("/proc/self/fd/{}", file.fd())).map_err(failed)?;
    let mut chunk = vec![0; 1 << 20];
    let mut at = start;
    let end = start.saturating_add(length);
    while at < end && !ends() {
        let most = chunk.len().min(usize::try_from(end - at).unwrap_or(usize::MAX));
        match cached.read_at(&mut chunk[..most], at).map_err(failed)? {
            0 => break,
            read => at += read as u64,
        }
    }
    Ok(())
}
