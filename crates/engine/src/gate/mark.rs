//! The mark by which Fathom knows files that it made: an extended attribute with the time of its last write.
//!
//! The time tells whether another program has written to the file since. While a run goes on the mark says so, because
//! a run that is killed leaves no time.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

const NAME: &str = "user.fathom";
const WRITING: &[u8] = b"1 writing";
/// Filesystems on other hosts set the time when a file is closed.
const TOLERANCE_NS: i128 = 2_000_000_000;

/// What the mark says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    /// Fathom made it and wrote what it holds.
    Fathom,
    /// Fathom made it, and another program has written to it since.
    WrittenSince,
    /// There is no mark.
    Other,
}

/// Reads the mark.
pub(super) fn maker(file: &File) -> Maker {
    let mut value = [0; 64];
    let Ok(length) = rustix::fs::fgetxattr(file, NAME, &mut value[..]) else { return Maker::Other };
    let value = &value[..length];
    if value == WRITING {
        return Maker::Fathom;
    }
    let marked =
        std::str::from_utf8(value).ok().and_then(|text| text.strip_prefix("1 mtime_ns=")?.parse::<i128>().ok());
    match (marked, modified_ns(file)) {
        (Some(marked), Ok(modified)) if (modified - marked).abs() <= TOLERANCE_NS => Maker::Fathom,
        (None, _) => Maker::Other,
        _ => Maker::WrittenSince,
    }
}

/// Marks a file as Fathom's for as long as it is written.
///
/// # Errors
///
/// Where the filesystem has no extended attributes, among others.
pub(super) fn begin(file: &File) -> io::Result<()> {
    set(file, WRITING)
}

/// Marks a file as Fathom's, as it is now.
///
/// # Errors
///
/// As for [`begin`].
pub(super) fn finish(file: &File) -> io::Result<()> {
    set(file, format!("1 mtime_ns={}", modified_ns(file)?).as_bytes())
}

fn set(file: &File, value: &[u8]) -> io::Result<()> {
    rustix::fs::fsetxattr(file, NAME, value, rustix::fs::XattrFlags::empty()).map_err(io::Error::from)
}

fn modified_ns(file: &File) -> io::Result<i128> {
    let metadata = file.metadata()?;
    Ok(i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec()))
}
