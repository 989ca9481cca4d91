//! Counts the bytes of a file in the page cache.

use std::io;
use std::os::fd::RawFd;

use super::open::File;
use crate::error::Error;

/// `cachestat`, which is newer than some C libraries (Linux 6.5).
const SYS_CACHESTAT: libc::c_long = 451;
/// Bytes mapped at a time where `cachestat` is missing.
const WINDOW_BYTES: u64 = 1 << 30;

/// `struct cachestat_range`.
#[repr(C)]
struct Range {
    offset: u64,
    /// Zero for all of the rest.
    bytes: u64,
}

/// `struct cachestat`: counts of pages.
#[repr(C)]
#[derive(Default)]
struct PageCounts {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Returns how many bytes of the file are in the page cache, in whole pages.
///
/// # Errors
/// Fails if the kernel does not report it.
pub fn resident_bytes(file: &File) -> Result<u64, Error> {
    if file.bytes() == 0 {
        return Ok(0);
    }
    counted(file.fd())
        .or_else(|_| mapped(file.fd(), file.bytes()))
        .map(|pages| (pages * page_bytes()).min(file.bytes().next_multiple_of(page_bytes())))
        .map_err(|error| Error::file("see the page cache of", file.path(), &error))
}

fn page_bytes() -> u64 {
    // SAFETY: the call takes a number alone.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(bytes).unwrap_or(4096).max(1)
}

fn counted(fd: RawFd) -> io::Result<u64> {
    let (range, mut pages) = (Range { offset: 0, bytes: 0 }, PageCounts::default());
    // SAFETY: both outlive the call and have the layout that the kernel expects.
    let status = unsafe { libc::syscall(SYS_CACHESTAT, fd, &raw const range, &raw mut pages, 0) };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(pages.cached) }
}

/// Counts by mapping the file, a window at a time, and asking which pages are there.
fn mapped(fd: RawFd, bytes: u64) -> io::Result<u64> {
    let mut pages = 0;
    for offset in (0..bytes).step_by(WINDOW_BYTES as usize) {
        pages += window(fd, offset, (bytes - offset).min(WINDOW_BYTES) as usize)?;
    }
    Ok(pages)
}

fn window(fd: RawFd, offset: u64, bytes: usize) -> io::Result<u64> {
    let mut present = vec![0u8; bytes.div_ceil(page_bytes() as usize)];
    // SAFETY: a new mapping, which is never read, touches no memory in use; `present` has a byte for each page of
    // it, as the second call expects.
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
        let counts =
            || [Some(resident_bytes(&file).unwrap()), mapped(file.fd(), 1 << 20).ok().map(|n| n * page_bytes())];
        assert_eq!(counts(), [Some(1 << 20); 2]);
        files::invalidate(&file, 0, 0).unwrap();
        assert_eq!(counts(), [Some(0); 2]);
    }
}
