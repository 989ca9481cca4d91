//! Counts the bytes of a file in the page cache.

use std::io;
use std::os::fd::RawFd;
use std::path::Path;

use probe::page_bytes;

use super::cache::invalidate;
use super::open::{Access, File, open_seen};
use crate::error::Error;
use crate::file_facts::{Seen, look};

/// `cachestat`, which some C libraries do not define yet (Linux 6.5).
const SYS_CACHESTAT: libc::c_long = 451;
/// Bytes mapped at a time if `cachestat` is missing.
const WINDOW_BYTES: u64 = 1 << 30;

/// Returns the facts about the file at `path`, or `None` if there is none that can be looked at, and the fraction of it in
/// the page cache, from 0 to 1, or `None` if unknown. It is dropped from the cache before if `invalidates` says so; what
/// remains shows if that was refused.
#[must_use]
pub fn inspect(path: &Path, invalidates: bool) -> Option<(Seen, Option<f64>)> {
    let seen = look(path).ok().flatten()?;
    let cached = || {
        let file = open_seen(path, Access { read: true, ..Access::default() }).ok()?;
        if invalidates {
            let _ = invalidate(&file, 0, 0);
        }
        let resident = resident_bytes(&file).ok()?;
        (file.bytes() > 0).then(|| (resident as f64 / file.bytes() as f64).min(1.0))
    };
    Some((seen, cached()))
}

/// Returns how many bytes of the file are in the page cache, in whole pages.
///
/// # Errors
/// Fails if the kernel does not report it.
pub fn resident_bytes(file: &File) -> Result<u64, Error> {
    if file.bytes() == 0 {
        return Ok(0);
    }
    cached_pages(file.fd(), 0, file.bytes())
        .map(|pages| (pages * page_bytes()).min(file.bytes().next_multiple_of(page_bytes())))
        .map_err(|error| Error::file("query the page cache of", file.path(), &error))
}

/// Counts the cached pages of a range, whose start must be a multiple of the page size.
pub(crate) fn cached_pages(fd: RawFd, start: u64, end: u64) -> io::Result<u64> {
    cachestat_pages(fd, start, end).or_else(|_| mapped_pages(fd, start, end))
}

/// Counts the cached pages of a range by `cachestat`.
pub(crate) fn cachestat_pages(fd: RawFd, start: u64, end: u64) -> io::Result<u64> {
    let range = [start, end - start];
    // Cached, dirty, in write-back, evicted and recently evicted pages.
    let mut pages = [0u64; 5];
    // SAFETY: both arrays outlive the call and are as long as the kernel's structures, which consist of 64-bit numbers.
    let status = unsafe { libc::syscall(SYS_CACHESTAT, fd, range.as_ptr(), pages.as_mut_ptr(), 0) };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(pages[0]) }
}

/// Counts the cached pages of a range by mapping it, one window at a time.
pub(crate) fn mapped_pages(fd: RawFd, start: u64, end: u64) -> io::Result<u64> {
    let windows = (start..end).step_by(WINDOW_BYTES as usize);
    windows.map(|offset| window(fd, offset, (end - offset).min(WINDOW_BYTES) as usize)).sum()
}

fn window(fd: RawFd, offset: u64, bytes: usize) -> io::Result<u64> {
    let mut present = vec![0u8; bytes.div_ceil(page_bytes() as usize)];
    // SAFETY: a new mapping, which is never read, touches no memory in use; `present` has a byte for each of its pages,
    // as `mincore` expects.
    let status = unsafe {
        let base = libc::mmap64(std::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, fd, offset as i64);
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let status = libc::mincore(base, bytes, present.as_mut_ptr());
        let error = io::Error::last_os_error();
        libc::munmap(base, bytes);
        if status == 0 { Ok(()) } else { Err(error) }
    };
    status.map(|()| present.iter().filter(|&&page| page & 1 == 1).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{self, Access};

    #[test]
    fn both_methods_count_written_and_dropped_pages() {
        // The test's own directory, because the directory for temporary files may be in memory.
        let path = std::env::current_exe().unwrap().with_extension("residency");
        std::fs::write(&path, vec![1; 1 << 20]).unwrap();
        std::fs::File::open(&path).unwrap().sync_all().unwrap();
        let file =
            crate::gate::WriteGate::of_any_content().open(&path, Access { read: true, ..Access::default() }).unwrap();
        std::fs::remove_file(&path).unwrap();
        let counts = || {
            [Some(resident_bytes(&file).unwrap()), mapped_pages(file.fd(), 0, 1 << 20).ok().map(|n| n * page_bytes())]
        };
        assert_eq!(counts(), [Some(1 << 20); 2]);
        files::invalidate(&file, 0, 0).unwrap();
        assert_eq!(counts(), [Some(0); 2]);
    }
}
