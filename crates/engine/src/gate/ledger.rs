//! Records contents that Fathom left on devices, and files that it created where extended attributes are unavailable,
//! as one empty file each, whose name identifies the content or file, so adding one needs no lock.
//!
//! A device is recognized by a fingerprint of its content. A mark on the device would be a write that the job did not
//! ask for.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::mark;

/// Maximum number of entries; older ones are useless, because devices come and go.
const MAX_ENTRIES: usize = 4096;

/// The directory of recorded contents and files.
#[derive(Clone, Debug)]
pub(super) struct GateLedger(PathBuf);

impl GateLedger {
    pub(super) fn new(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    /// Reports whether Fathom left the content with this fingerprint on a device.
    pub(super) fn knows_content(&self, fingerprint: u128) -> bool {
        self.contains(&content_entry(fingerprint))
    }

    /// Reports whether Fathom created this file and was the last to write to it.
    pub(super) fn knows_file(&self, file: &File) -> bool {
        file_entry(file).is_ok_and(|name| self.contains(&name))
    }

    fn contains(&self, name: &str) -> bool {
        self.0.join(name).symlink_metadata().is_ok_and(|metadata| metadata.is_file())
    }

    /// Records the content of a device.
    ///
    /// # Errors
    /// Fails if the directory cannot be written.
    pub(super) fn add_content(&self, fingerprint: u128) -> io::Result<()> {
        self.add(&content_entry(fingerprint))
    }

    /// Records a file in its current state.
    ///
    /// # Errors
    /// As for [`GateLedger::add_content`].
    pub(super) fn add_file(&self, file: &File) -> io::Result<()> {
        self.add(&file_entry(file)?)
    }

    fn add(&self, name: &str) -> io::Result<()> {
        fs::create_dir_all(&self.0)?;
        match File::create_new(self.0.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        self.prune();
        Ok(())
    }

    /// Removes the oldest entries if there are too many.
    fn prune(&self) {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let age = |entry: &fs::DirEntry| {
            entry.metadata().and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
        };
        let mut all: Vec<_> = entries.map(|entry| (age(&entry), entry.path())).collect();
        if all.len() > MAX_ENTRIES {
            all.sort();
            all[..all.len() - MAX_ENTRIES].iter().for_each(|(_, path)| drop(fs::remove_file(path)));
        }
    }
}

fn content_entry(fingerprint: u128) -> String {
    format!("content-{fingerprint:032x}")
}

/// Returns the entry name of a file. Inodes are reused, so the name includes the file's creation time if the filesystem
/// stores it; the modification time shows whether another program has written to the file since.
fn file_entry(file: &File) -> io::Result<String> {
    let metadata = file.metadata()?;
    let born = metadata.created().ok().and_then(|born| born.duration_since(SystemTime::UNIX_EPOCH).ok());
    let born_ns = born.map_or(0, |born| born.as_nanos());
    let modified_ns = mark::modified_ns(file)?;
    Ok(format!("file-{:x}-{:x}-{born_ns:x}-{modified_ns:x}", metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_contents_and_files_are_recognized() {
        let folder = std::env::temp_dir().join(format!("fathom-ledger-{}", std::process::id()));
        let ledger = GateLedger::new(&folder);
        assert!(!ledger.knows_content(7));
        ledger.add_content(7).unwrap();
        ledger.add_content(7).unwrap();
        assert!(ledger.knows_content(7) && !ledger.knows_content(8));
        let file = File::create_new(folder.join("x")).unwrap();
        assert!(!ledger.knows_file(&file));
        ledger.add_file(&file).unwrap();
        assert!(ledger.knows_file(&file));
        // Revision 692e655 recognized a file regardless of later writes.
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(!ledger.knows_file(&file));
        fs::remove_dir_all(folder).unwrap();
    }
}
