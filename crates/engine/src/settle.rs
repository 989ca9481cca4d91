//! Writes files back and drops their caches before verification.

use std::os::fd::{BorrowedFd, RawFd};
use std::time::Duration;

use probe::page_bytes;
use target::WriteBackSource;

use crate::files::{self, File, FileKind};
use crate::inline::retried;

/// `TMPFS_MAGIC`, `RAMFS_MAGIC` and `HUGETLBFS_MAGIC` of `linux/magic.h`.
const IN_MEMORY: [i128; 3] = [0x0102_1994, 0x8584_58f6, 0x9584_58f6];
/// Maximum attempts: pages that another worker is reading or writing cannot be dropped at that moment.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(10);
/// Maximum size of a piece (folio) of the page cache, which is dropped as a whole, in bytes.
const MAX_PIECE_BYTES: u64 = 2 << 20;

/// Writes a file back and drops `length` bytes from `offset` on (zero: to its end) from the page cache.
///
/// # Errors
/// Returns the error number of the write-back.
pub(crate) fn settle(file: Option<&File>, offset: u64, length: u64) -> Result<WriteBackSource, i32> {
    let Some(file) = file.filter(|file| file.kind() != FileKind::Character) else { return Ok(WriteBackSource::Stored) };
    let was_closed = file.is_closed();
    let settled = file.live_fd().map_err(|errno| -errno).and_then(|fd| settle_open(file, fd, offset, length));
    if was_closed {
        file.close();
    }
    settled
}

fn settle_open(file: &File, fd: RawFd, offset: u64, length: u64) -> Result<WriteBackSource, i32> {
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            std::thread::sleep(PAUSE);
        }
        // SAFETY: the call takes no memory.
        match retried(0, || unsafe { libc::fdatasync(fd) }) {
            0 => {}
            // A file that does not support syncs has nothing to write back.
            errno if errno == -libc::EINVAL => {}
            errno => return Err(-errno),
        }
        // Pieces that extend beyond the range stay unless the whole file is dropped, which slows other workers down.
        let (start, bytes) = if attempt == 0 { (offset, length) } else { (0, 0) };
        if files::invalidate(file, start, bytes).is_err() {
            // Only root may flush a device, but other users can drop its pages. SAFETY: the call takes no memory.
            unsafe { libc::posix_fadvise64(fd, start as i64, bytes as i64, libc::POSIX_FADV_DONTNEED) };
        }
        if file.access().direct || !is_cached(fd, offset, length, file.bytes()) || is_in_memory(fd) {
            return Ok(WriteBackSource::Stored);
        }
    }
    Ok(WriteBackSource::Cached)
}

/// Reports whether the page cache holds more of a range than other workers may keep there, namely the pieces at those
/// ends of the range that are not the file's.
fn is_cached(fd: RawFd, offset: u64, length: u64, file_bytes: u64) -> bool {
    let end = if length == 0 { file_bytes } else { file_bytes.min(offset.saturating_add(length)) };
    if end <= offset {
        return false;
    }
    let shared_ends = u64::from(offset > 0) + u64::from(end < file_bytes);
    let most = (shared_ends * MAX_PIECE_BYTES).min((end - offset) / 2);
    let start = offset / page_bytes() * page_bytes();
    // An unknown state counts as cached.
    files::cached_pages(fd, start, end).map_or(true, |pages| pages * page_bytes() > most)
}

/// Reports whether the filesystem keeps its files in the page cache.
fn is_in_memory(fd: RawFd) -> bool {
    // SAFETY: the file stays open during the call.
    let facts = rustix::fs::fstatfs(unsafe { BorrowedFd::borrow_raw(fd) });
    // The type of the number depends on the architecture.
    facts.is_ok_and(|facts| IN_MEMORY.contains(&i128::from(facts.f_type)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::files::{Access, cachestat_pages, mapped_pages};
    use crate::gate::WriteGate;

    fn opened(path: &Path) -> File {
        let access = Access { read: true, write: true, ..Access::default() };
        WriteGate::of_any_content().open(path, access).expect("it can be opened")
    }

    /// Verification read the cached pages and reported them as verified.
    #[test]
    fn cached_pages_counted_as_stored_data() {
        // The test's own directory, because the directory for temporary files may be in memory.
        let path = std::env::current_exe().unwrap().with_extension("settle");
        std::fs::write(&path, vec![1; 1 << 20]).unwrap();
        let file = opened(&path);
        let both = || {
            let mapped_pages = mapped_pages(file.fd(), 0, 1 << 20).ok();
            [cachestat_pages(file.fd(), 0, 1 << 20).ok().or(mapped_pages), mapped_pages].map(|pages| pages.unwrap() > 0)
        };
        assert_eq!((both(), settle(Some(&file), 512, 4096)), ([true; 2], Ok(WriteBackSource::Stored)));
        assert_eq!(both(), [false; 2], "pieces that extend beyond the range are dropped too");
        // SAFETY: a new mapping of a file that is not truncated; only its first byte is read.
        let held = unsafe {
            let base = libc::mmap64(std::ptr::null_mut(), 4096, libc::PROT_READ, libc::MAP_SHARED, file.fd(), 0);
            assert!(base != libc::MAP_FAILED && *base.cast::<u8>() == 1);
            base
        };
        assert_eq!(settle(Some(&file), 0, 0), Ok(WriteBackSource::Cached), "a mapped_pages page cannot be dropped");
        assert_eq!(
            settle(Some(&file), 4096, 1 << 19),
            Ok(WriteBackSource::Stored),
            "the cached page belongs to another worker"
        );
        assert_eq!(both(), [true; 2]);
        // SAFETY: the test owns the mapping, and nothing refers to it.
        unsafe { libc::munmap(held, 4096) };
        assert_eq!(settle(Some(&file), 0, 0), Ok(WriteBackSource::Stored));
        assert_eq!(both(), [false; 2]);
        file.close();
        assert_eq!(settle(Some(&file), 0, 0), Ok(WriteBackSource::Stored), "a closed file is opened temporarily");
        assert!(file.is_closed());
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn tmpfs_stores_its_files_in_memory() {
        let path = Path::new("/dev/shm").join(format!("fathom-settle-{}", std::process::id()));
        let Ok(()) = std::fs::write(&path, vec![1; 8192]) else { return };
        let file = opened(&path);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(settle(Some(&file), 0, 0), Ok(WriteBackSource::Stored));
    }
}
