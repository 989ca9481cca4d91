//! The file that a capture writes: which files it replaces, and its lock.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use engine::gate::{Existing, create_output};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use units::Problem;

use crate::error;

/// A kind of file. A capture replaces files of its own kind and empty ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputKind {
    /// How such a file begins.
    pub(crate) mark: &'static [u8],
    /// What it is, after "it is not".
    pub(crate) name: &'static str,
}

impl OutputKind {
    /// Opens `--output` and locks it against other captures. Its content stays.
    pub(crate) fn open(&self, path: &Path) -> Result<File, Problem> {
        if path == Path::new("-") {
            let message = "--output -: standard output is used for the summary";
            return Err(error::usage(message, "use a file or another descriptor, such as /dev/fd/3"));
        }
        let mut file = create_output(path, Existing::Keep).map_err(|denied| {
            let denied = Problem::from(denied);
            error::usage(format!("--output {}: {}", path.display(), denied.what), OTHER_FILE).maybe_help(denied.help)
        })?;
        if is_regular(&file) {
            lock(&file).map_err(|Locked| refused(path, "another capture is writing to it"))?;
            self.check(path, &mut file)?;
        }
        Ok(file)
    }

    /// Checks that a file is empty or of this kind, and returns to its start.
    pub(crate) fn check(&self, path: &Path, file: &mut File) -> Result<(), Problem> {
        let is_empty = file.metadata().is_ok_and(|found| found.len() == 0);
        if is_empty || self.has_mark(file) { Ok(()) } else { Err(self.not_replaceable(path)) }
    }

    fn has_mark(&self, file: &mut File) -> bool {
        let mut start = vec![0; self.mark.len()];
        file.read_exact(&mut start).is_ok_and(|()| start == self.mark) && file.rewind().is_ok()
    }

    pub(crate) fn not_replaceable(&self, path: &Path) -> Problem {
        let message = format!("--output {}: exists and is not {}", path.display(), self.name);
        error::usage(message, "use another file, or remove this one first")
    }
}

const OTHER_FILE: &str = "use another file";

/// Returns the error of a file that cannot be written.
pub(crate) fn refused(path: &Path, why: &str) -> Problem {
    error::usage(format!("--output {}: {why}", path.display()), OTHER_FILE)
}

/// Drops the content of a file that was just opened. Pipes and terminals have none.
pub(crate) fn clear(path: &Path, file: &File) -> Result<(), Problem> {
    if is_regular(file) { file.set_len(0).map_err(|error| refused(path, &error.to_string())) } else { Ok(()) }
}

/// Reports whether a file has a content of its own that can be read again.
pub(crate) fn is_regular(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Another capture has the file.
#[derive(Debug)]
pub(crate) struct Locked;

/// Locks a file against other captures for as long as it is open. Filesystems without locks admit any number.
pub(crate) fn lock(file: &File) -> Result<(), Locked> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(Locked),
        _ => Ok(()),
    }
}
