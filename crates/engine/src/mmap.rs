//! Memory-mapped files.

use std::io;
use std::ptr::NonNull;

use target::{Op, WriteBackSource};
use units::OpKind;

use crate::buffers::Buffers;
use crate::error::{Error, ErrorKind, last_errno};
use crate::files::File;
use crate::sync_target::Perform;
use crate::{fault, inline, settle};

/// Memory-mapped files. A mapping cannot grow: it ends where its file ended when it was opened.
///
/// If the device fails or another process truncates the file, the kernel sends `SIGBUS`, and the operation fails with
/// `EIO` (see [`fault`]).
pub(crate) struct Mmap {
    mappings: Vec<Mapping>,
}

/// One mapped file.
struct Mapping {
    file: File,
    /// `None` for an empty file, which cannot be mapped.
    base: Option<NonNull<u8>>,
    bytes: usize,
    /// Whether to use transparent huge pages.
    thp: bool,
}

impl Mapping {
    fn new(file: File, thp: bool) -> Result<Self, Error> {
        let bytes = usize::try_from(file.bytes()).unwrap_or(usize::MAX);
        if bytes == 0 || file.is_closed() {
            return Ok(Self { file, base: None, bytes, thp });
        }
        let base = map(&file, bytes, thp)?;
        Ok(Self { base: Some(base), file, bytes, thp })
    }

    /// Maps the file again if it was closed.
    fn reopen(&mut self) -> Result<(), i32> {
        if self.base.is_none() && self.bytes > 0 {
            self.file.live_fd()?;
            self.base = Some(map(&self.file, self.bytes, self.thp).map_err(|error| -error.errno.unwrap_or(libc::EIO))?);
        }
        Ok(())
    }

    fn close(&mut self) {
        self.unmap();
        self.file.close();
    }

    fn unmap(&mut self) {
        if let Some(base) = self.base.take() {
            // SAFETY: `self` owns the mapping, and no reference into it is ever created.
            unsafe { libc::munmap(base.as_ptr().cast(), self.bytes) };
        }
    }

    /// Returns the address of the operation's bytes and how many of them lie before the end of the mapping.
    fn span(&self, op: &Op) -> Option<(*mut u8, usize)> {
        let offset = usize::try_from(op.offset).ok().filter(|&offset| offset < self.bytes)?;
        let length = (op.length as usize).min(self.bytes - offset);
        // SAFETY: `offset` lies within the mapping.
        self.base.map(|base| (unsafe { base.as_ptr().add(offset) }, length))
    }

    fn read(&mut self, op: &Op, to: *mut u8) -> i32 {
        let Some((from, length)) = self.span(op) else {
            return 0;
        };
        // SAFETY: the mapping has `length` bytes from `from` on, and the buffer has as many from `to` on. They do not
        // overlap, because buffers are never mapped files. `self` owns the mapping.
        let lost = unsafe { fault::copy(from, to, length, from) };
        self.finish_copy(length, lost)
    }

    fn write(&mut self, op: &Op, from: *const u8) -> i32 {
        if !self.file.access().write {
            return -libc::EBADF;
        }
        let Some((to, length)) = self.span(op) else {
            return -libc::ENOSPC;
        };
        // SAFETY: as in `read`, and the mapping is writable.
        let lost = unsafe { fault::copy(from, to, length, to) };
        self.finish_copy(length, lost)
    }

    /// Returns the result of a copy and maps the file again in place of the pages `lost` to anonymous memory.
    #[inline]
    fn finish_copy(&mut self, length: usize, lost: Option<(usize, usize)>) -> i32 {
        match lost {
            None => length as i32,
            Some((start, end)) => {
                self.restore(start, end);
                -libc::EIO
            }
        }
    }

    #[cold]
    fn restore(&mut self, start: usize, end: usize) {
        let Some(base) = self.base else { return };
        let offset = (start - base.as_ptr() as usize) as i64;
        let place = start as *mut libc::c_void;
        // SAFETY: the range consists of whole pages of this mapping, and nothing refers to them.
        let made = unsafe {
            let flags = libc::MAP_SHARED | libc::MAP_FIXED;
            libc::mmap(place, end - start, protection(&self.file), flags, self.file.fd(), offset)
        };
        if made == libc::MAP_FAILED {
            // Anonymous memory must not pass for the file: the next operation maps the whole file again, or fails.
            self.unmap();
        }
    }

    /// Unmaps all pages so that the page cache can drop them. The next access maps them again.
    fn unmap_pages(&self) {
        if let Some(base) = self.base {
            // SAFETY: the range is the whole mapping, which is shared: modified data stay in the page cache.
            unsafe { libc::madvise(base.as_ptr().cast(), self.bytes, libc::MADV_DONTNEED) };
        }
    }

    /// Writes modified pages back and waits for them.
    fn sync(&self) -> i32 {
        let Some(base) = self.base else {
            return 0;
        };
        // SAFETY: the range is the whole mapping.
        match unsafe { libc::msync(base.as_ptr().cast(), self.bytes, libc::MS_SYNC) } {
            0 => 0,
            _ => -last_errno(),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        self.unmap();
    }
}

fn protection(file: &File) -> i32 {
    if file.access().write { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ }
}

fn map(file: &File, bytes: usize, thp: bool) -> Result<NonNull<u8>, Error> {
    let access = protection(file);
    // SAFETY: a new mapping at an address chosen by the kernel touches no memory in use.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, file.fd(), 0) };
    if base == libc::MAP_FAILED {
        return Err(refused(file, &io::Error::last_os_error()));
    }
    // SAFETY: the range is the new mapping. The call only advises the kernel.
    if thp && unsafe { libc::madvise(base, bytes, libc::MADV_HUGEPAGE) } < 0 {
        let error = io::Error::last_os_error();
        // SAFETY: the mapping is new, and nothing refers to it.
        unsafe { libc::munmap(base, bytes) };
        return Err(Error::system(ErrorKind::Engine, "map", file.path().display().to_string(), &error)
            .with_remedy("omit thp=1: this kernel has no transparent huge pages"));
    }
    NonNull::new(base.cast()).ok_or_else(|| refused(file, &io::Error::from_raw_os_error(libc::ENOMEM)))
}

fn refused(file: &File, error: &io::Error) -> Error {
    Error::system(ErrorKind::Engine, "map", file.path().display().to_string(), error)
        .with_remedy("mmap requires read permission; use ioengine=psync for write-only files")
}

impl Mmap {
    pub(crate) fn new(files: Vec<File>, thp: bool) -> Result<Self, Error> {
        fault::install()?;
        let mappings = files.into_iter().map(|file| Mapping::new(file, thp)).collect::<Result<_, _>>()?;
        Ok(Self { mappings })
    }
}

impl Perform for Mmap {
    fn files(&self) -> &[File] {
        &[]
    }

    /// Does not drop mapped pages, and neither does fio.
    fn invalidate(&self, file: u32, offset: u64, length: u64) {
        inline::invalidate(self.mappings.get(file as usize).map(|mapping| &mapping.file), offset, length);
    }

    fn settle(&self, file: u32, offset: u64, length: u64) -> Result<WriteBackSource, i32> {
        let Some(mapping) = self.mappings.get(file as usize) else { return Ok(WriteBackSource::Stored) };
        mapping.unmap_pages();
        settle::settle(Some(&mapping.file), offset, length)
    }

    fn close(&mut self, file: u32) {
        if let Some(mapping) = self.mappings.get_mut(file as usize) {
            mapping.close();
        }
    }

    /// As a mapping cannot grow, the new file gets the size of the old one.
    fn renew(&mut self, file: u32) -> Result<(), i32> {
        let Some(mapping) = self.mappings.get(file as usize) else { return Ok(()) };
        mapping.file.renew()?;
        if mapping.file.access().write { mapping.file.extend(mapping.bytes as u64) } else { Ok(()) }
    }

    fn perform(&mut self, op: &Op, buffers: &Buffers) -> i32 {
        let Some(mapping) = self.mappings.get_mut(op.file as usize) else {
            return -libc::EBADF;
        };
        if let Err(errno) = mapping.reopen() {
            return errno;
        }
        match op.kind {
            OpKind::Trim | OpKind::SyncFilesystem => return inline::perform(&mapping.file, op),
            OpKind::Sync | OpKind::DataSync | OpKind::SyncRange => return mapping.sync(),
            OpKind::Read | OpKind::Write => {}
        }
        let Some(buffer) = buffers.span(op.tag, op.skip, op.length) else {
            return -libc::EINVAL;
        };
        if op.kind == OpKind::Read { mapping.read(op, buffer) } else { mapping.write(op, buffer) }
    }
}
