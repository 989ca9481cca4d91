//! Marks files that Fathom created by an extended attribute with the time of the last write.
//!
//! The time shows whether another program has written to the file since. During a run the mark contains the time before
//! the first write: if the run is killed the mark stays, and later data may come from any program.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

use super::filesystem;
use super::objection::DataOrigin;

const NAME: &str = "user.fathom";
const WRITTEN: &str = "1 mtime_ns=";
const WRITING: &str = "1 writing mtime_ns=";
/// Tolerance in nanoseconds for network filesystems and FUSE, which may set the time when a file is flushed or closed.
const LATE_NS: u128 = 2_000_000_000;

/// The creator of a file, according to its mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileCreator {
    /// Fathom created the file and wrote its content.
    Fathom,
    /// The file may hold data of other programs.
    Foreign(DataOrigin),
}

/// Reads the mark.
pub(super) fn creator(file: &File) -> FileCreator {
    let mut value = [0; 64];
    let length = rustix::fs::fgetxattr(file, NAME, &mut value[..]).unwrap_or(0);
    let text = std::str::from_utf8(&value[..length]).unwrap_or_default();
    let (marked, otherwise) = match (text.strip_prefix(WRITTEN), text.strip_prefix(WRITING)) {
        (Some(marked), _) => (marked, DataOrigin::Changed),
        (None, Some(marked)) => (marked, DataOrigin::Unfinished),
        (None, None) => return FileCreator::Foreign(DataOrigin::Other),
    };
    let Ok(marked) = marked.parse::<i128>() else { return FileCreator::Foreign(DataOrigin::Other) };
    let tolerance_ns = if filesystem::sets_times_late(file) { LATE_NS } else { 0 };
    match modified_ns(file) {
        Ok(modified) if modified.abs_diff(marked) <= tolerance_ns => FileCreator::Fathom,
        _ => FileCreator::Foreign(otherwise),
    }
}

/// Marks a file as Fathom's before the first write.
///
/// # Errors
/// Fails if the filesystem has no extended attributes, among others.
pub(super) fn begin(file: &File) -> io::Result<()> {
    set(file, WRITING)
}

/// Marks a file as Fathom's in its current state.
///
/// # Errors
/// As for [`begin`].
pub(super) fn finish(file: &File) -> io::Result<()> {
    set(file, WRITTEN)
}

fn set(file: &File, state: &str) -> io::Result<()> {
    let value = format!("{state}{}", modified_ns(file)?);
    rustix::fs::fsetxattr(file, NAME, value.as_bytes(), rustix::fs::XattrFlags::empty()).map_err(io::Error::from)
}

pub(super) fn modified_ns(file: &File) -> io::Result<i128> {
    let metadata = file.metadata()?;
    Ok(i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn file(name: &str) -> File {
        let path = std::env::temp_dir().join(format!("fathom-mark-{}-{name}", std::process::id()));
        let file = File::create_new(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file
    }

    fn modified_later(file: &File, by: Duration) {
        file.set_modified(file.metadata().unwrap().modified().unwrap() + by).unwrap();
    }

    /// Revision 692e655 claimed a file that another program had rewritten within two seconds.
    #[test]
    fn a_change_soon_after_a_run_was_not_noticed() {
        for by in [Duration::from_millis(4), Duration::from_secs(1), Duration::from_nanos(1)] {
            let file = file("soon");
            finish(&file).unwrap();
            assert_eq!(creator(&file), FileCreator::Fathom);
            modified_later(&file, by);
            assert_eq!(creator(&file), FileCreator::Foreign(DataOrigin::Changed), "{by:?}");
        }
    }

    /// Revision 692e655 claimed everything in a file after a killed run, no matter when it was written.
    #[test]
    fn a_change_after_a_killed_run_was_not_noticed() {
        let file = file("killed");
        begin(&file).unwrap();
        assert_eq!(creator(&file), FileCreator::Fathom, "nothing was written");
        modified_later(&file, Duration::from_millis(4));
        assert_eq!(creator(&file), FileCreator::Foreign(DataOrigin::Unfinished));
        finish(&file).unwrap();
        assert_eq!(creator(&file), FileCreator::Fathom);
    }

    #[test]
    fn invalid_marks_are_ignored() {
        let file = file("none");
        assert_eq!(creator(&file), FileCreator::Foreign(DataOrigin::Other));
        for text in ["1 writing", "1 mtime_ns=", "1 mtime_ns=x", "2 mtime_ns=0", ""] {
            rustix::fs::fsetxattr(&file, NAME, text.as_bytes(), rustix::fs::XattrFlags::empty()).unwrap();
            assert_eq!(creator(&file), FileCreator::Foreign(DataOrigin::Other), "{text}");
        }
    }
}
