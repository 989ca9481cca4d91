//! Options of the files of a job.

use std::path::Path;

use target::spec::{CacheAdvice, Fallocate, OpenSync};
use units::Bytes;

/// The files of a job and how they are created.
#[derive(Clone, Debug, PartialEq)]
pub struct FileOptions {
    /// Paths of `filename`, split at `:`, in the first `directory` that was given before; empty when names are generated.
    pub filenames: Vec<String>,
    /// `directory`, split at `:`; clone `i` uses entry `i` modulo the count.
    pub directories: Vec<String>,
    /// Template of generated names.
    pub filename_format: String,
    /// Number of generated files per worker.
    pub nrfiles: u32,
    /// Maximum number of files open at the same time; `None` for all.
    pub openfiles: Option<u32>,
    /// Order in which files are used.
    pub service: FileService,
    /// Minimum and maximum size of each generated file, equal for a fixed size.
    pub filesize: Option<(Bytes, Bytes)>,
    /// Create files when they are opened, not before the run.
    pub create_on_open: bool,
    /// How space is reserved before files are written.
    pub fallocate: Fallocate,
    /// Write files in full before the run, so that writes never extend them.
    pub overwrite: bool,
    /// Drop the page cache of each file before the run.
    pub invalidate: bool,
    /// `O_SYNC` or `O_DSYNC`.
    pub open_sync: OpenSync,
    /// Whether files are flushed after they were created with data.
    pub create_fsync: bool,
    /// Create the files, and run nothing.
    pub create_only: bool,
    /// Start at the present end of each file.
    pub file_append: bool,
    /// Write until the device or filesystem is full.
    pub fill_device: bool,
    /// Read the files into the page cache before the run.
    pub pre_read: bool,
    /// Remove the files after the job.
    pub unlink: bool,
    /// Remove the files after each loop but the last.
    pub unlink_each_loop: bool,
    /// Locks that operations hold, between the workers of a run.
    pub locking: FileLocking,
    /// Advice to the page cache.
    pub advice: CacheHint,
    /// Expected lifetime of the data; `None` to set none.
    pub write_hint: Option<WriteHint>,
    /// Directory all of whose files are used.
    pub opendir: Option<String>,
    /// `allow_mounted_write`: permits writes to a mounted device in `fathom fio`.
    pub allow_mounted_write: bool,
    /// `allow_file_create`: permits creating files.
    pub allow_file_create: bool,
}

impl FileOptions {
    /// Returns the path of a file under a directory, if there is one.
    #[must_use]
    pub fn path_under(directory: Option<&str>, name: &str) -> String {
        match directory {
            Some(directory) if !directory.is_empty() => Path::new(directory).join(name).to_string_lossy().into_owned(),
            _ => name.to_owned(),
        }
    }
}

/// Selection of the next file (`file_service_type`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileService {
    pub order: FileOrder,
    /// Operations on one file before the next is chosen, at least 1.
    pub switch_every: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileOrder {
    /// In turn, switching as `switch_every` says.
    RoundRobin,
    /// In turn, each file to its end.
    Sequential,
    /// Uniformly random.
    Random,
    /// Zipf distribution with this exponent.
    Zipf(f64),
    /// Pareto distribution with this power.
    Pareto(f64),
    /// Normal distribution with this deviation in per cent.
    Normal(f64),
}

/// Advice to the page cache (`fadvise_hint`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheHint {
    None,
    /// Random or sequential, as the job is.
    #[default]
    OfPattern,
    Given(CacheAdvice),
}

/// Expected lifetime of written data (`write_hint`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteHint {
    /// None is known.
    None,
    Short,
    Medium,
    Long,
    /// Longer than all others.
    Extreme,
}

/// Locks of files between workers (`lockfile`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileLocking {
    #[default]
    None,
    /// One worker at a time uses a file.
    Exclusive,
    /// One worker at a time writes to a file, and nothing reads it meanwhile.
    ReadWrite,
}

/// Splits `text` at every `:` that is not escaped by a backslash, and removes those backslashes.
pub(crate) fn split_names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, names.last_mut()) {
            ('\\', Some(name)) if chars.peek() == Some(&':') => {
                name.push(':');
                chars.next();
            }
            (':', _) => names.push(String::new()),
            (c, Some(name)) => name.push(c),
            (_, None) => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::split_names;

    #[test]
    fn colons_separate_unless_escaped() {
        assert_eq!(split_names("/a:/b"), ["/a", "/b"]);
        assert_eq!(split_names(r"/dev/by-path/pci-0000\:01:/b"), ["/dev/by-path/pci-0000:01", "/b"]);
        assert_eq!(split_names("a::b:"), ["a", "b"]);
        assert_eq!(split_names(r"a\b"), [r"a\b"]);
        assert!(split_names("").is_empty());
    }
}
