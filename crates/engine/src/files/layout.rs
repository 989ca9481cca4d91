//! Creates and fills files before a run.

use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use units::random::Random;

use crate::error::{Error, ErrorKind};
use crate::file_facts::{FileKind, Seen, look};
use crate::gate::{OpenMode, WriteGate, remove_same};
use crate::space::{SpaceNeed, check_space};
use crate::thread::on_all_processors;
use target::spec::Fallocate;

/// Bytes written between two checks of the cancel flag.
const CHUNK_BYTES: usize = 1 << 20;

/// The state of one file required before the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLayout {
    pub path: PathBuf,
    /// Minimum size in bytes. A longer file is not truncated.
    pub bytes: u64,
    /// Required content.
    pub content: LayoutContent,
    /// Maximum bytes that the run writes to the file, zero if it only reads. The filesystem must have free space for
    /// those of them that are not allocated yet.
    pub writes: u64,
    /// How space is reserved.
    pub fallocate: Fallocate,
    /// Whether to call `fsync` if data were written (`create_fsync`). Otherwise they are written back during the run.
    pub fsync: bool,
    /// Seed of the data. Equal seeds and start offsets give equal data.
    pub seed: u64,
}

/// Content of a file that is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutContent {
    /// Random bytes from the old end to the required size, as reads and overwrites need them.
    Filled,
    /// None: the run will write it. Space is reserved according to [`Fallocate`].
    Reserved,
    Directory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayoutProgress<'a> {
    /// The file being created.
    pub path: &'a Path,
    /// Bytes written so far, over all files.
    pub written: u64,
    /// Bytes to be written, over all files.
    pub total: u64,
}

/// Result of the layout of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Laid {
    /// It is a device or was already long enough.
    Found,
    /// It was extended from this size in bytes.
    Extended(u64),
    /// It did not exist.
    Created,
    /// Another rank of the run is laying it out, or was and failed: lay it out again later.
    Elsewhere,
}

/// Creates and extends files after checking that their filesystems have space for all of them, each with the permission of
/// the write gate. If any is to be filled, they follow in order, and otherwise all CPUs take part.
///
/// Existing content is kept. `progress` is called about once per MiB. If `cancel` is set or a write fails, the current
/// file is removed if it is new, and truncated to its old size otherwise. Among ranks an empty file counts as new,
/// because another one may just have created it.
///
/// Of the ranks of one run that share a file, one lays it out; to the others it is [`Laid::Elsewhere`]. They do not wait,
/// because that rank may never end.
///
/// An error on one file does not prevent the layout of the others: it is that file's element of the result.
///
/// # Errors
/// [`ErrorKind::NoSpace`] before anything is written, and [`ErrorKind::Cancelled`].
pub fn lay_out(
    layouts: &[FileLayout],
    gate: &WriteGate,
    cancel: &AtomicBool,
    progress: &mut dyn FnMut(LayoutProgress<'_>),
) -> Result<Vec<Result<Laid, Error>>, Error> {
    let growths = growths(layouts);
    check_room(layouts, &growths)?;
    let total = growths.iter().flatten().map(|growth| growth.fill).fold(0, u64::saturating_add);
    // A file may be far larger than what a run writes to it. Reserving more than the free space would fail, or use all
    // of it.
    let reserves = check_space(needs(layouts, &growths, |growth| growth.reserved)).is_ok();
    let writer = LayoutWriter { gate, reserves };
    let laid: Vec<_> = if layouts.iter().any(|layout| layout.content == LayoutContent::Filled) {
        let mut filler = Filler { cancel, progress, written: 0, total };
        let lay = |(layout, growth): (_, &Result<Growth, Error>)| writer.lay(layout, growth.as_ref(), &mut filler);
        layouts.iter().zip(&growths).map(lay).collect()
    } else {
        // Nothing is written, so the files of a large job take as long as the calls for each of them.
        let all: Vec<_> = layouts.iter().zip(growths).collect();
        on_all_processors(&all, |(layout, growth)| {
            check_cancelled(cancel, layout)?;
            writer.lay(layout, growth.as_ref(), &mut Filler { cancel, progress: &mut |_| {}, written: 0, total })
        })
    };
    let unless_cancelled = |laid| match laid {
        Err(error @ Error { kind: ErrorKind::Cancelled, .. }) => Err(error),
        laid => Ok(laid),
    };
    laid.into_iter().map(unless_cancelled).collect()
}

/// Checks that filesystems have space for all of these files and for what the run will write to them. Files that cannot
/// be accessed are skipped: their creation reports the error.
///
/// # Errors
/// [`ErrorKind::NoSpace`], with the figures.
pub fn check_room(layouts: &[FileLayout], growths: &[Result<Growth, Error>]) -> Result<(), Error> {
    check_space(needs(layouts, growths, |growth| growth.space))
}

fn needs<'a>(
    layouts: &'a [FileLayout],
    growths: &'a [Result<Growth, Error>],
    bytes: impl Fn(&Growth) -> u64 + 'a,
) -> impl Iterator<Item = SpaceNeed<'a>> {
    layouts.iter().zip(growths).filter_map(move |(layout, growth)| {
        let growth = growth.as_ref().ok()?;
        Some(SpaceNeed { path: &layout.path, filesystem: growth.filesystem, bytes: bytes(growth) })
    })
}

/// Expected growth of a file, before it is opened.
pub struct Growth {
    /// Current size in bytes; `None` if the file does not exist.
    pub from: Option<u64>,
    /// Number of its filesystem (`st_dev`); `None` if the file does not exist.
    filesystem: Option<u64>,
    /// Free bytes needed for the layout and the run.
    space: u64,
    /// Free bytes needed if space is reserved, too.
    reserved: u64,
    /// Bytes that the layout writes.
    fill: u64,
    device: bool,
}

/// Returns the expected growth of each file, or why it cannot be looked at.
#[must_use]
pub fn growths(layouts: &[FileLayout]) -> Vec<Result<Growth, Error>> {
    on_all_processors(layouts, growth)
}

fn growth(layout: &FileLayout) -> Result<Growth, Error> {
    let none = Growth { from: None, filesystem: None, space: 0, reserved: 0, fill: 0, device: false };
    if layout.content == LayoutContent::Directory {
        return Ok(none);
    }
    match look(&layout.path)? {
        Some(seen) if seen.kind != FileKind::Regular => Ok(Growth { from: Some(seen.bytes), device: true, ..none }),
        seen => Ok(Growth::of(layout, seen)),
    }
}

impl Growth {
    fn of(layout: &FileLayout, seen: Option<Seen>) -> Self {
        let (from, allocated) = (seen.map(|seen| seen.bytes), seen.map_or(0, |seen| seen.allocated));
        let missing = layout.bytes.saturating_sub(from.unwrap_or(0));
        let fill = if layout.content == LayoutContent::Filled { missing } else { 0 };
        let space = fill.max(layout.bytes.saturating_sub(allocated).min(layout.writes));
        let filesystem = seen.map(|seen| seen.filesystem);
        Self { from, filesystem, space, reserved: space.max(missing), fill, device: false }
    }
}

struct LayoutWriter<'a> {
    gate: &'a WriteGate,
    /// Whether there is enough space for reservations.
    reserves: bool,
}

/// Writes the data of files.
struct Filler<'a> {
    cancel: &'a AtomicBool,
    progress: &'a mut dyn FnMut(LayoutProgress<'_>),
    written: u64,
    total: u64,
}

impl LayoutWriter<'_> {
    fn lay(
        &self,
        layout: &FileLayout,
        growth: Result<&Growth, &Error>,
        filler: &mut Filler<'_>,
    ) -> Result<Laid, Error> {
        let growth = growth.map_err(Error::clone)?;
        if growth.device {
            return Ok(Laid::Found);
        }
        if layout.content == LayoutContent::Directory {
            self.gate.check_creation(&layout.path, true)?;
            std::fs::create_dir_all(&layout.path).map_err(|error| Error::file("create", &layout.path, &error))?;
            return Ok(Laid::Created);
        }
        if growth.from.is_some_and(|from| from >= layout.bytes) {
            let is_complete = !self.gate.is_shared_by_ranks() || self.is_laid_out(layout)?;
            return Ok(if is_complete { Laid::Found } else { Laid::Elsewhere });
        }
        let (permit, new) = self.gate.create_open(&layout.path)?;
        let is_new = new.is_some();
        if !is_new && growth.from.is_none() && !self.gate.is_shared_by_ranks() {
            let reason = "another program created it after Fathom found it missing";
            return Err(Error::found(ErrorKind::File, "create", layout.path.display().to_string(), reason)
                .with_remedy("run the job again to have the file checked before it is overwritten"));
        }
        let failed = |operation| move |error: io::Error| Error::file(operation, &layout.path, &error);
        // Ranks lock the file for the layout through a descriptor that is open only until its end.
        let file = new.filter(|_| !self.gate.is_shared_by_ranks());
        let file = file.map_or_else(|| permit.open(OpenMode::READ_WRITE), Ok).map_err(failed("open"))?;
        let is_own_turn = self.gate.begin_layout(&file);
        // The metadata of the open file, because its name may refer to another file by now.
        let metadata = file.metadata().map_err(failed("stat"))?;
        // A rank that fails removes the file that it has created.
        if !is_own_turn || metadata.nlink() == 0 {
            return Ok(Laid::Elsewhere);
        }
        let from = metadata.len();
        // Another rank may have laid it out since this one created it.
        let is_new = is_new && from == 0;
        if !is_new && (!metadata.is_file() || from >= layout.bytes) {
            return Ok(Laid::Found);
        }
        if let Err(error) = self.make(&file, layout, from, filler) {
            // Of several ranks that find it missing, another one may have created it.
            let was_missing = self.gate.is_shared_by_ranks() && growth.from.is_none_or(|size| size == 0) && from == 0;
            undo(&file, layout, (!is_new && !was_missing).then_some(from));
            return Err(error);
        }
        self.gate.mark_laid_out(&permit, &file);
        Ok(if is_new { Laid::Created } else { Laid::Extended(from) })
    }

    /// Reports whether no rank of the run is laying out a file that was long enough, and it still is.
    fn is_laid_out(&self, layout: &FileLayout) -> Result<bool, Error> {
        // Space is reserved before data are written, so that the size does not show whether it is complete.
        if self.gate.is_being_laid_out(&layout.path) {
            return Ok(false);
        }
        // A rank that has failed meanwhile has removed or truncated it.
        Ok(look(&layout.path)?.is_some_and(|seen| seen.bytes >= layout.bytes))
    }

    fn make(&self, file: &std::fs::File, layout: &FileLayout, from: u64, filler: &mut Filler<'_>) -> Result<(), Error> {
        let failed = |operation| move |error: io::Error| Error::file(operation, &layout.path, &error);
        if self.reserves || layout.fallocate == Fallocate::Truncate {
            reserve(file, layout, from).map_err(failed("reserve space for"))?;
        }
        if layout.content == LayoutContent::Filled {
            filler.fill(file, layout, from)?;
            if layout.fsync {
                file.sync_all().map_err(failed("sync"))?;
            }
        }
        Ok(())
    }
}

impl Filler<'_> {
    fn fill(&mut self, mut file: &std::fs::File, layout: &FileLayout, from: u64) -> Result<(), Error> {
        let failed = |error: io::Error| Error::file("write", &layout.path, &error);
        let mut random = Random::new(layout.seed, from);
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut at = file.seek(SeekFrom::Start(from)).map_err(failed)?;
        while at < layout.bytes {
            check_cancelled(self.cancel, layout)?;
            let length = (layout.bytes - at).min(CHUNK_BYTES as u64) as usize;
            random.fill(&mut chunk[..length]);
            file.write_all(&chunk[..length]).map_err(failed)?;
            begin_writeback(file, at, length);
            at += length as u64;
            self.written += length as u64;
            (self.progress)(LayoutProgress { path: &layout.path, written: self.written, total: self.total });
        }
        Ok(())
    }
}

fn check_cancelled(cancel: &AtomicBool, layout: &FileLayout) -> Result<(), Error> {
    if !cancel.load(Ordering::Relaxed) {
        return Ok(());
    }
    let reason = "cancelled; unfinished files were left unchanged";
    Err(Error::found(ErrorKind::Cancelled, "lay out", layout.path.display().to_string(), reason))
}

/// Starts writeback of a range, so that neither the final `fsync` nor a cancellation has to wait for gigabytes. If this
/// fails, the `fsync` does it all.
fn begin_writeback(file: &std::fs::File, at: u64, length: usize) {
    // SAFETY: the call takes no memory.
    unsafe { libc::sync_file_range(file.as_raw_fd(), at as i64, length as i64, libc::SYNC_FILE_RANGE_WRITE) };
}

fn reserve(file: &std::fs::File, layout: &FileLayout, from: u64) -> io::Result<()> {
    let length = layout.bytes - from;
    // The kernel refuses to reserve nothing: a job that fills its filesystem begins with an empty file.
    if length == 0 {
        return Ok(());
    }
    let native = |mode| match fallocate(file, mode, from, length) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        result => result.map_err(io::Error::from),
    };
    match layout.fallocate {
        Fallocate::None => Ok(()),
        Fallocate::Native => native(FallocateFlags::empty()),
        Fallocate::Keep => native(FallocateFlags::KEEP_SIZE),
        Fallocate::Truncate => file.set_len(layout.bytes),
        Fallocate::Posix => {
            // SAFETY: the call takes no memory. It returns its error number.
            match unsafe { libc::posix_fallocate64(file.as_raw_fd(), from as i64, length as i64) } {
                0 => Ok(()),
                errno => Err(io::Error::from_raw_os_error(errno)),
            }
        }
    }
}

/// Restores the previous state. A failure here is ignored in favour of the error being reported.
fn undo(file: &std::fs::File, layout: &FileLayout, from: Option<u64>) {
    let _ = match from {
        None => remove_same(&layout.path, file),
        Some(bytes) => file.set_len(bytes),
    };
}
