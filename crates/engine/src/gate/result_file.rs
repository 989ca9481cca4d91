//! Result files that are replaced atomically: they contain either all results or their old content.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

use super::output::{Existing, create_output};
use super::{Denied, open};

/// A result file that was checked before the run. Its old content stays until the results are written.
#[derive(Debug)]
pub struct ResultFile {
    path: PathBuf,
    /// The existing file, open for writing; `None` if there was none.
    existing: Option<File>,
}

impl ResultFile {
    /// Checks that results can be written to `path`.
    ///
    /// # Errors
    /// As for [`create_output`].
    pub fn open(path: &Path) -> Result<Self, Denied> {
        let is_new = matches!(open::lookup(path), Err(error) if error.kind() == io::ErrorKind::NotFound);
        let file = create_output(path, Existing::Keep)?;
        if is_new {
            // The file was created only for the check; a run that ends without results leaves none.
            std::fs::remove_file(open::end_of_links(path)).map_err(|error| crate::Error::file("make", path, &error))?;
        }
        Ok(Self { path: path.to_owned(), existing: Some(file).filter(|_| !is_new) })
    }

    /// Writes the results to a temporary file, which then replaces the old one. Pipes, terminals, files with several
    /// names and files in directories that are not writable are written in place.
    ///
    /// # Errors
    /// Returns the system's error; the old content is then intact unless it was written in place.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let place = open::end_of_links(&self.path);
        let existing = match &self.existing {
            Some(file) => Some((file, file.metadata()?)),
            None => None,
        };
        let replaceable = existing.as_ref().is_none_or(|(_, metadata)| metadata.is_file() && metadata.nlink() == 1);
        // `/dev/stdout` and `/proc/self/fd` refer to files that others hold open.
        let is_descriptor = ["/dev", "/proc"].iter().any(|folder| self.path.starts_with(folder));
        if existing.is_none() && std::fs::symlink_metadata(&place).is_ok() {
            // This command or another program has created it since the check: it is not replaced unseen.
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if replaceable && !is_descriptor {
            match TemporaryFile::create(&place) {
                Ok(beside) => {
                    beside.replace(bytes, existing.as_ref().map(|(_, metadata)| metadata))?;
                    // Results may be written again.
                    self.existing = Some(File::options().write(true).open(&place)?);
                    return Ok(());
                }
                Err(error) if existing.is_none() => return Err(error),
                Err(_) => {}
            }
        }
        let Some((mut file, metadata)) = existing else {
            return File::options().write(true).create_new(true).open(&place)?.write_all(bytes);
        };
        if metadata.is_file() {
            file.set_len(0)?;
        }
        file.write_all(bytes)?;
        if metadata.is_file() { file.sync_all() } else { Ok(()) }
    }
}

/// A temporary file beside another file, removed unless it replaces that file.
struct TemporaryFile<'a> {
    place: &'a Path,
    path: PathBuf,
    file: File,
}

impl<'a> TemporaryFile<'a> {
    fn create(place: &'a Path) -> io::Result<Self> {
        let mut name = std::ffi::OsString::from(".");
        name.push(place.file_name().ok_or(io::ErrorKind::InvalidInput)?);
        name.push(format!(".{}", std::process::id()));
        let path = place.with_file_name(name);
        let file = File::options().write(true).create_new(true).open(&path)?;
        Ok(Self { place, path, file })
    }

    fn replace(mut self, bytes: &[u8], existing: Option<&std::fs::Metadata>) -> io::Result<()> {
        let replaced = self.fill(bytes, existing).and_then(|()| std::fs::rename(&self.path, self.place));
        if replaced.is_err() {
            let _ = std::fs::remove_file(&self.path);
        }
        replaced
    }

    fn fill(&mut self, bytes: &[u8], existing: Option<&std::fs::Metadata>) -> io::Result<()> {
        if let Some(metadata) = existing {
            // Only root may change the owner. If that fails, the file belongs to its writer.
            let _ = fchown(&self.file, Some(metadata.uid()), Some(metadata.gid()));
            self.file.set_permissions(metadata.permissions())?;
        }
        self.file.write_all(bytes)?;
        self.file.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A temporary directory, removed on drop.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("fathom-results-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn path(&self) -> &Path {
            &self.0
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_run_without_results_emptied_the_result_file() {
        let folder = Folder::new("replaced");
        let path = folder.path().join("r.json");
        std::fs::write(&path, "before").unwrap();
        drop(ResultFile::open(&path).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
        ResultFile::open(&path).unwrap().write(b"after").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"after");
        let new = folder.path().join("new.json");
        drop(ResultFile::open(&new).unwrap());
        assert!(!new.exists());
        ResultFile::open(&new).unwrap().write(b"first").unwrap();
        assert_eq!(std::fs::read(&new).unwrap(), b"first");
        let (twice, taken) = (folder.path().join("twice.json"), folder.path().join("taken.json"));
        let mut file = ResultFile::open(&twice).unwrap();
        file.write(b"one").and_then(|()| file.write(b"two")).unwrap();
        assert_eq!(std::fs::read(&twice).unwrap(), b"two");
        let mut file = ResultFile::open(&taken).unwrap();
        std::fs::write(&taken, "of another program").unwrap();
        assert_eq!(file.write(b"results").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        for made in [&twice, &taken] {
            std::fs::remove_file(made).unwrap();
        }
        let other_name = folder.path().join("linked.json");
        std::fs::hard_link(&path, &other_name).unwrap();
        ResultFile::open(&path).unwrap().write(b"both").unwrap();
        assert_eq!(std::fs::read(&other_name).unwrap(), b"both", "a file with several names is written in place");
        let names = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, 3, "temporary files are removed");
    }

    #[test]
    fn results_replaced_an_input_file() {
        let folder = Folder::new("read");
        let (path, link) = (folder.path().join("in.json"), folder.path().join("link.json"));
        std::fs::write(&path, "input").unwrap();
        std::fs::hard_link(&path, &link).unwrap();
        super::super::note_input(&std::fs::metadata(&path).unwrap());
        for name in [&path, &link] {
            let denied = ResultFile::open(name).unwrap_err().to_string();
            assert!(denied.contains("reads or measures it"), "{denied}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"input");
    }
}
