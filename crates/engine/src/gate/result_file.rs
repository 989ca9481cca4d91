//! Result files that are replaced atomically: they contain either all results or their old content.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

use super::output::{Existing, create_output};
use super::{Denied, open};
use crate::cleanup::{self, CleanUp};

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
            std::fs::remove_file(open::end_of_links(path))
                .map_err(|error| crate::Error::file("create", path, &error))?;
        }
        Ok(Self { path: path.to_owned(), existing: Some(file).filter(|_| !is_new) })
    }

    /// Writes the results to a temporary file, which then replaces the old one. Pipes, terminals, files with several
    /// names and files in directories that are not writable are written in place.
    ///
    /// # Errors
    /// Returns the system's error; the old content is then intact unless it was written in place.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut stream = self.stream()?;
        stream.write_all(bytes)?;
        let is_replaced = stream.beside.is_some();
        stream.finish()?;
        if is_replaced {
            // Results may be written again.
            self.existing = Some(File::options().write(true).open(open::end_of_links(&self.path))?);
        }
        Ok(())
    }

    /// Begins to write results in pieces, in the same place as [`Self::write`]. Without [`ResultStream::finish`], a
    /// temporary file is removed again.
    ///
    /// # Errors
    /// Returns the system's error.
    pub fn stream(&self) -> io::Result<ResultStream> {
        let place = open::end_of_links(&self.path);
        let existing = match &self.existing {
            Some(file) => Some((file, file.metadata()?)),
            None => None,
        };
        let replaceable = existing.as_ref().is_none_or(|(_, metadata)| metadata.is_file() && metadata.nlink() == 1);
        if existing.is_none() && std::fs::symlink_metadata(&place).is_ok() {
            // It is not replaced unseen.
            let reason = "it was created by this command or another program in the meantime";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, reason));
        }
        if replaceable && !open::is_descriptor(&self.path) {
            match TemporaryFile::create(&place) {
                Ok((beside, file)) => {
                    if let Some((_, metadata)) = &existing {
                        // Only root may change the owner. If that fails, the file belongs to its writer.
                        let _ = fchown(&file, Some(metadata.uid()), Some(metadata.gid()));
                        file.set_permissions(metadata.permissions())?;
                    }
                    return Ok(ResultStream { file, beside: Some(beside) });
                }
                Err(error) if existing.is_none() => return Err(error),
                Err(_) => {}
            }
        }
        let Some((file, metadata)) = existing else {
            return Ok(ResultStream { file: File::options().write(true).create_new(true).open(&place)?, beside: None });
        };
        let mut file = file.try_clone()?;
        if metadata.is_file() {
            file.set_len(0)?;
            file.rewind()?;
        }
        Ok(ResultStream { file, beside: None })
    }
}

/// Results that are written in pieces.
#[derive(Debug)]
pub struct ResultStream {
    file: File,
    /// The temporary file; `None` if the results are written in place.
    beside: Option<TemporaryFile>,
}

impl ResultStream {
    /// Puts complete results in their place.
    ///
    /// # Errors
    /// Returns the system's error; the old content is then intact unless it was written in place.
    pub fn finish(self) -> io::Result<()> {
        if self.file.metadata()?.is_file() {
            self.file.sync_all()?;
        }
        self.beside.map_or(Ok(()), TemporaryFile::replace)
    }
}

impl Write for ResultStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A temporary file beside another file, removed unless it replaces that file, also if the process ends.
#[derive(Debug)]
struct TemporaryFile {
    place: PathBuf,
    path: PathBuf,
    removal: CleanUp,
}

impl TemporaryFile {
    fn create(place: &Path) -> io::Result<(Self, File)> {
        let mut name = std::ffi::OsString::from(".");
        name.push(place.file_name().ok_or(io::ErrorKind::InvalidInput)?);
        name.push(format!(".{}", std::process::id()));
        let path = place.with_file_name(name);
        let file = File::options().write(true).create_new(true).open(&path)?;
        let removed = path.clone();
        let removal = cleanup::on_exit(move || drop(std::fs::remove_file(removed)));
        Ok((Self { place: place.to_owned(), path, removal }, file))
    }

    fn replace(self) -> io::Result<()> {
        std::fs::rename(&self.path, &self.place)?;
        self.removal.disarm();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_results_emptied_the_result_file() {
        let folder = tempfile::tempdir().unwrap();
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
        let mut file = ResultFile::open(&path).unwrap();
        file.write(b"longer").and_then(|()| file.write(b"new")).unwrap();
        assert_eq!(std::fs::read(&other_name).unwrap(), b"new");
        let names = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, 3, "temporary files are removed");
    }

    #[test]
    fn results_in_pieces_are_complete_or_absent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy.trace");
        for is_finished in [false, true] {
            let file = ResultFile::open(&path).unwrap();
            let mut stream = file.stream().unwrap();
            stream.write_all(b"some ").and_then(|()| stream.write_all(b"pieces")).unwrap();
            assert!(!path.exists());
            if is_finished {
                stream.finish().unwrap();
            }
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"some pieces");
        let mut stream = ResultFile::open(&path).unwrap().stream().unwrap();
        stream.write_all(b"never finished").unwrap();
        drop(stream);
        assert_eq!(std::fs::read(&path).unwrap(), b"some pieces");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn results_replaced_an_input_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("in.json"), folder.path().join("link.json"));
        std::fs::write(&path, "input").unwrap();
        std::fs::hard_link(&path, &link).unwrap();
        super::super::note_input(&std::fs::metadata(&path).unwrap());
        for name in [&path, &link] {
            let denied = units::Problem::from(ResultFile::open(name).unwrap_err()).to_string();
            assert!(denied.contains("reads or measures it"), "{denied}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"input");
    }
}
