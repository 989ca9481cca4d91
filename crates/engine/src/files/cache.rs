//! Drops files from the page cache.

use std::io;

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
