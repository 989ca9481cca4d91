//! The engine `e4defrag`: files of ext4 exchange extents with a donor file. Their data stay the same; those of the donor
//! are lost.

use std::os::fd::{BorrowedFd, RawFd};

use rustix::fs::{fstat, fstatfs};
use target::Op;
use units::OpKind;

use crate::buffers::Buffers;
use crate::error::{Error, ErrorKind};
use crate::files::File;
use crate::inline::{self, retried};
use crate::sync_target::Perform;

/// `EXT4_SUPER_MAGIC` of `linux/magic.h`.
const EXT4: i128 = 0xef53;
/// `EXT4_IOC_MOVE_EXT` of ext4: `_IOWR('f', 15, struct move_extent)`.
const MOVE_EXTENT: libc::Ioctl = 0xc028_660f;

/// `struct move_extent` of ext4: numbers of blocks of the filesystem.
#[repr(C)]
struct MoveExtent {
    reserved: u32,
    donor_fd: u32,
    start: u64,
    donor_start: u64,
    blocks: u64,
    moved: u64,
}

const _: () = assert!(size_of::<MoveExtent>() == 40);

/// Files and their donor.
pub(crate) struct Defragment {
    files: Vec<File>,
    donor: File,
    in_place: bool,
    block_bytes: u64,
}

impl Defragment {
    /// Takes the last file as the donor. Allocates its space unless operations do.
    ///
    /// # Errors
    /// Fails if the files are not on one ext4 filesystem, the donor is one of them, or there is not enough space.
    pub(crate) fn new(mut files: Vec<File>, in_place: bool) -> Result<Self, Error> {
        let no_donor = || Error::found(ErrorKind::Engine, "set up", "e4defrag", "no donor file");
        let donor = files.pop().ok_or_else(no_donor)?;
        let block_bytes = check(&files, &donor)?;
        let bytes = files.iter().map(File::bytes).max().unwrap_or(0).next_multiple_of(block_bytes);
        if !in_place && bytes > 0 {
            // SAFETY: the call takes no memory.
            let result = retried(0, || unsafe { libc::fallocate64(donor.fd(), 0, 0, bytes as i64) });
            if result < 0 {
                let error = std::io::Error::from_raw_os_error(-result);
                return Err(Error::file("allocate", donor.path(), &error));
            }
        }
        Ok(Self { files, donor, in_place, block_bytes })
    }

    fn exchange(&self, fd: RawFd, op: &Op) -> i32 {
        let donor = match self.donor.live_fd() {
            Ok(donor) => donor,
            Err(errno) => return errno,
        };
        let (start, end) =
            (op.offset / self.block_bytes, (op.offset + u64::from(op.length)).div_ceil(self.block_bytes));
        if self.in_place {
            let (from, bytes) = ((start * self.block_bytes) as i64, ((end - start) * self.block_bytes) as i64);
            // SAFETY: the call takes no memory.
            let allocated = retried(0, || unsafe { libc::fallocate64(donor, 0, from, bytes) });
            if allocated < 0 {
                return allocated;
            }
        }
        let exchanged = self.move_extents(fd, donor, (start, end), op);
        if self.in_place {
            // SAFETY: the call takes no memory.
            let freed = retried(0, || unsafe { libc::ftruncate64(donor, 0) });
            if freed < 0 {
                return freed;
            }
        }
        exchanged
    }

    /// Exchanges a range of blocks. Returns the bytes of the operation whose blocks were exchanged.
    fn move_extents(&self, fd: RawFd, donor: RawFd, (start, end): (u64, u64), op: &Op) -> i32 {
        let mut moved = 0;
        let result = retried(0, || {
            let (from, blocks) = (start + moved, end - start - moved);
            let donor_fd = donor.cast_unsigned();
            let mut request = MoveExtent { reserved: 0, donor_fd, start: from, donor_start: from, blocks, moved: 0 };
            // SAFETY: the kernel reads and writes `request`, which has its type and outlives the call.
            let result = unsafe { libc::ioctl(fd, MOVE_EXTENT, &raw mut request) };
            moved += request.moved.min(blocks);
            result
        });
        let whole = i32::try_from(op.length).unwrap_or(i32::MAX);
        if result == 0 {
            // The last block may lie beyond the end of the file.
            return whole;
        }
        let done = ((start + moved) * self.block_bytes).saturating_sub(op.offset);
        if moved > 0 && done > 0 { i32::try_from(done).unwrap_or(whole).min(whole) } else { result }
    }
}

/// Returns the block size of the filesystem of all files.
fn check(files: &[File], donor: &File) -> Result<u64, Error> {
    let wrong = |file: &File, reason: &str, remedy: &str| {
        Error::found(ErrorKind::Engine, "exchange extents of", file.path().display().to_string(), reason)
            .with_remedy(remedy)
    };
    let failed = |file: &File, errno: rustix::io::Errno| Error::file("stat", file.path(), &std::io::Error::from(errno));
    // SAFETY: the descriptor is open as long as its file is not closed, and no file is closed before the first operation.
    let borrowed = |file: &File| unsafe { BorrowedFd::borrow_raw(file.fd()) };
    let of_donor = fstat(borrowed(donor)).map_err(|errno| failed(donor, errno))?;
    let system = fstatfs(borrowed(donor)).map_err(|errno| failed(donor, errno))?;
    if i128::from(system.f_type) != EXT4 {
        return Err(wrong(donor, "it is not on ext4", "use a directory on an ext4 filesystem (see df -T)"));
    }
    for file in files.iter().filter(|file| !file.is_closed()) {
        let facts = fstat(borrowed(file)).map_err(|errno| failed(file, errno))?;
        if facts.st_dev != of_donor.st_dev {
            let remedy = "use a donor on the same filesystem";
            return Err(wrong(file, "its donor is on another filesystem", remedy));
        }
        if facts.st_ino == of_donor.st_ino {
            return Err(wrong(file, "the file is its own donor", "set `donorname` to another file"));
        }
    }
    Ok(u64::try_from(system.f_bsize).ok().filter(|bytes| *bytes > 0).unwrap_or(4096))
}

impl Perform for Defragment {
    fn files(&self) -> &[File] {
        &self.files
    }

    fn perform(&mut self, op: &Op, _: &Buffers) -> i32 {
        let Some(file) = self.files.get(op.file as usize) else { return -libc::EBADF };
        if !op.kind.moves_data() {
            return inline::perform(file, op);
        }
        match file.live_fd() {
            Ok(fd) if op.kind == OpKind::Write => self.exchange(fd, op),
            Ok(_) => -libc::EINVAL,
            Err(errno) => errno,
        }
    }
}
