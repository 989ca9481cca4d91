//! The buffers of all tags, in one allocation.

use std::io;
use std::ptr::NonNull;

use target::Tag;
use units::{Bytes, counted};

use crate::error::{Error, ErrorKind};
use crate::opening::Opening;
use target::spec::BufferMemory;

/// Minimum alignment: `O_DIRECT` requires it, and the kernel copies to aligned pages more than twice as fast.
const MIN_ALIGN: usize = 4096;
/// Position of the logarithm of the page size in flags of `mmap` and `shmget`.
const HUGE_SHIFT: u32 = 26;

/// The buffers of one target. They are zero at first, and none of their pages occupies memory before its first use.
pub(crate) struct Buffers {
    base: NonNull<u8>,
    /// The start of the first buffer: `base`, rounded up to the alignment.
    first: NonNull<u8>,
    mapped: usize,
    /// Distance from one buffer to the next, in bytes.
    stride: usize,
    bytes: usize,
    count: usize,
    origin: BufferOrigin,
}

/// How the memory was allocated, which decides how it is freed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BufferOrigin {
    Mapping,
    Segment,
}

impl Buffers {
    pub(crate) fn new(setup: &Opening) -> Result<Self, Error> {
        let align = (setup.spec.iomem_align as usize).next_power_of_two().max(MIN_ALIGN);
        let memory = PageMemory { kind: setup.spec.mem, huge_bytes: setup.spec.hugepage_bytes };
        Self::obtain(memory, align, setup.buffer_bytes as usize, setup.depth as usize)
            .map_err(|error| refused(setup, &error))
    }

    /// Allocates one buffer, for tag 0.
    pub(crate) fn single(bytes: usize) -> io::Result<Self> {
        Self::obtain(PageMemory { kind: BufferMemory::Malloc, huge_bytes: 0 }, MIN_ALIGN, bytes, 1)
    }

    fn obtain(memory: PageMemory, align: usize, bytes: usize, count: usize) -> io::Result<Self> {
        let stride = bytes.next_multiple_of(align).max(align);
        let needed = stride.checked_mul(count).and_then(|total| total.checked_add(align));
        let mapped = needed
            .map(|needed| needed.next_multiple_of(memory.granularity()))
            .ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
        let (base, origin) = memory.obtain(mapped)?;
        let pad = base.as_ptr().align_offset(align);
        // SAFETY: `pad` is less than `align`, and `mapped` includes `align` bytes beyond the buffers.
        let first = unsafe { base.add(pad) };
        Ok(Self { base, first, mapped, stride, bytes, count, origin })
    }

    /// Returns the address of an operation's bytes, or `None` if the tag has no buffer or the bytes would exceed it.
    #[inline]
    pub(crate) fn span(&self, tag: Tag, skip: u32, length: u32) -> Option<*mut u8> {
        let end = skip as usize + length as usize;
        if tag.index() >= self.count || end > self.bytes {
            return None;
        }
        // SAFETY: the tag has a buffer, and `skip` lies within it.
        Some(unsafe { self.first.as_ptr().add(tag.index() * self.stride + skip as usize) })
    }

    /// Returns a whole buffer.
    ///
    /// The caller ensures that the kernel is not using it, that is, its tag is not in flight.
    #[inline]
    pub(crate) fn slice(&mut self, tag: Tag) -> Option<&mut [u8]> {
        let start = self.span(tag, 0, 0)?;
        // SAFETY: the buffer has `bytes` bytes, which are initialized (fresh pages are zero), and the exclusive borrow
        // prevents other access while the slice lives.
        Some(unsafe { std::slice::from_raw_parts_mut(start, self.bytes) })
    }

    /// Returns a whole buffer for reading.
    ///
    /// The caller ensures that the kernel does not write to it.
    #[inline]
    pub(crate) fn peek(&self, tag: Tag) -> Option<&[u8]> {
        let start = self.span(tag, 0, 0)?;
        // SAFETY: as in `slice`; the shared borrow prevents writes.
        Some(unsafe { std::slice::from_raw_parts(start, self.bytes) })
    }

    /// Writes zeros to all buffers, so that each has pages of its own.
    ///
    /// A page that was never written is the kernel's page of zeros, which all processes share. Linux 6.12 lets a device
    /// write the separate metadata of a read to it: then new memory and sparse files of all processes are no longer zero.
    pub(crate) fn write_all(&mut self) {
        for tag in 0..self.count as u32 {
            if let Some(buffer) = self.slice(Tag(tag)) {
                buffer.fill(0);
            }
        }
    }

    /// Returns the size of each buffer in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns all buffers in the form in which the kernel registers them.
    pub(crate) fn vectors(&self) -> Vec<libc::iovec> {
        (0..self.count as u32)
            .filter_map(|tag| self.span(Tag(tag), 0, 0))
            .map(|start| libc::iovec { iov_base: start.cast(), iov_len: self.bytes })
            .collect()
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: `base` and `mapped` describe the allocation, and nothing points into it any more: targets wait for
        // all operations in flight before they drop their buffers.
        unsafe {
            match self.origin {
                BufferOrigin::Mapping => libc::munmap(self.base.as_ptr().cast(), self.mapped),
                BufferOrigin::Segment => libc::shmdt(self.base.as_ptr().cast()),
            }
        };
    }
}

/// Type and page size of memory.
#[derive(Clone, Copy)]
struct PageMemory {
    kind: BufferMemory,
    /// Size of huge pages in bytes.
    huge_bytes: u32,
}

impl PageMemory {
    /// Returns the unit of lengths. The kernel requires lengths of huge mappings to be multiples of a huge page.
    fn granularity(self) -> usize {
        match self.kind {
            BufferMemory::ShmHuge | BufferMemory::MmapHuge => (self.huge_bytes as usize).max(MIN_ALIGN),
            _ => MIN_ALIGN,
        }
    }

    /// Calls `obtain` with the flags for huge pages of the wanted size, and for those of the default size if the host
    /// has no such pages.
    fn on_huge_pages<T>(self, huge: i32, obtain: impl Fn(i32) -> io::Result<T>) -> io::Result<T> {
        let sized = huge | ((self.huge_bytes.max(1).ilog2() as i32) << HUGE_SHIFT);
        obtain(sized).or_else(|error| match error.raw_os_error() {
            Some(libc::EINVAL) => obtain(huge),
            _ => Err(error),
        })
    }

    fn obtain(self, bytes: usize) -> io::Result<(NonNull<u8>, BufferOrigin)> {
        let mapping = |flags| map(bytes, flags).map(|base| (base, BufferOrigin::Mapping));
        let segment = |flags| attach(bytes, flags).map(|base| (base, BufferOrigin::Segment));
        match self.kind {
            BufferMemory::Malloc | BufferMemory::Mmap => mapping(libc::MAP_PRIVATE),
            BufferMemory::MmapShared => mapping(libc::MAP_SHARED),
            BufferMemory::MmapHuge => self.on_huge_pages(libc::MAP_PRIVATE | libc::MAP_HUGETLB, mapping),
            BufferMemory::Shm => segment(0),
            BufferMemory::ShmHuge => self.on_huge_pages(libc::SHM_HUGETLB, segment),
        }
    }
}

fn map(bytes: usize, flags: i32) -> io::Result<NonNull<u8>> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new anonymous mapping at an address chosen by the kernel touches no memory in use.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags | libc::MAP_ANONYMOUS, -1, 0) };
    checked(base)
}

/// Attaches a shared segment and marks it for removal at once, so that it cannot outlive the process.
fn attach(bytes: usize, flags: i32) -> io::Result<NonNull<u8>> {
    // SAFETY: attaching a new segment at an address chosen by the kernel touches no memory in use.
    unsafe {
        let id = libc::shmget(libc::IPC_PRIVATE, bytes, libc::IPC_CREAT | 0o600 | flags);
        if id < 0 {
            return Err(io::Error::last_os_error());
        }
        let base = checked(libc::shmat(id, std::ptr::null(), 0));
        libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut());
        base
    }
}

/// Checks a result of `mmap` or `shmat`: both return -1 on failure.
fn checked(base: *mut libc::c_void) -> io::Result<NonNull<u8>> {
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(base.cast()).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))
}

fn refused(setup: &Opening, error: &io::Error) -> Error {
    let buffers = counted(u64::from(setup.depth), "buffer");
    let place = format!("{buffers} of {} each", Bytes::new(u64::from(setup.buffer_bytes)));
    let remedy = match setup.spec.mem {
        BufferMemory::ShmHuge | BufferMemory::MmapHuge => {
            "reserve huge pages (sysctl vm.nr_hugepages=N for 2 MiB pages, /sys/kernel/mm/hugepages for other \
             sizes), or omit mem="
        }
        BufferMemory::Shm => "raise kernel.shmmax and kernel.shmall, or omit mem=",
        _ => "use a smaller iodepth or bs",
    };
    Error::system(ErrorKind::Memory, "allocate", place, error).with_remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::MonotonicClock;
    use target::spec::EngineKind;

    fn setup(depth: u32, bytes: u32, memory: BufferMemory, align: u32) -> Opening {
        Opening::new(EngineKind::Psync, depth, bytes, MonotonicClock::start()).with(|spec| {
            spec.mem = memory;
            spec.iomem_align = align;
        })
    }

    #[test]
    fn buffers_are_aligned_separate_and_zero() {
        for memory in [BufferMemory::Malloc, BufferMemory::Shm, BufferMemory::Mmap, BufferMemory::MmapShared] {
            for (bytes, align) in [(512, 0), (4096, 4096), (5000, 64), (4096, 65536)] {
                let mut buffers = Buffers::new(&setup(3, bytes, memory, align)).unwrap();
                for tag in 0..3 {
                    let slice = buffers.slice(Tag(tag)).unwrap();
                    assert_eq!(slice.len(), bytes as usize);
                    assert_eq!(slice.as_ptr() as usize % align.max(4096) as usize, 0);
                    assert!(slice.iter().all(|&byte| byte == 0), "buffers overlap");
                    slice.fill(0xff);
                }
            }
        }
    }

    #[test]
    fn spans_stay_inside_their_buffer() {
        let buffers = Buffers::new(&setup(2, 4096, BufferMemory::Malloc, 0)).unwrap();
        assert!(buffers.span(Tag(1), 4095, 1).is_some());
        assert!(buffers.span(Tag(1), 4096, 1).is_none());
        assert!(buffers.span(Tag(1), u32::MAX, u32::MAX).is_none());
        assert!(buffers.span(Tag(2), 0, 1).is_none());
    }

    #[test]
    fn huge_pages_are_allocated_or_refused_with_a_remedy() {
        match Buffers::new(&setup(1, 4096, BufferMemory::MmapHuge, 0)) {
            Ok(mut buffers) => assert_eq!(buffers.slice(Tag(0)).unwrap().len(), 4096),
            Err(error) => assert!(error.to_string().contains("vm.nr_hugepages"), "{error}"),
        }
    }
}
