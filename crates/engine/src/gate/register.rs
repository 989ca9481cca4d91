//! Registers the files of this process: those that it reads as input or measures, which results never replace, and those
//! that it writes results to, which no job and no other output writes, under any name.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::Denied;
use super::objection::{Objection, WriteRefusal};
use super::open::{end_of_links, is_descriptor};

/// What identifies a file, or the file that a name will have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    File(Inode),
    /// A name in a directory.
    Name(Inode, OsString),
}

/// Device, inode and, because inode numbers are reused, creation time, if the filesystem records it.
type Inode = (u64, u64, Option<SystemTime>);

static INPUTS: Mutex<BTreeSet<Place>> = Mutex::new(BTreeSet::new());
/// Outputs, with the options that name them.
static OUTPUTS: Mutex<BTreeMap<Place, String>> = Mutex::new(BTreeMap::new());

/// Registers a file that results must not replace. Only regular files have content to lose.
pub fn note_input(metadata: &Metadata) {
    if metadata.is_file() {
        inputs().insert(Place::of(metadata));
    }
}

pub(super) fn is_input(metadata: &Metadata) -> bool {
    inputs().contains(&Place::of(metadata))
}

/// Registers an output before it is opened. `owner` is the option that names it, with its value, and what distinguishes it
/// from the same option of another job. Equal owners share a file: they are one option that is checked again, or write
/// the file together. Pipes, devices and descriptors of this process have any number of writers.
///
/// # Errors
/// Refuses a file that another owner writes to, or that the process reads or measures.
pub fn claim_output(path: &Path, owner: &str) -> Result<(), Denied> {
    let places = places(path);
    let refused = |objection| Err(Denied::Refused(WriteRefusal::of_output(path, vec![objection])));
    if places.iter().any(|place| inputs().contains(place)) {
        return refused(Objection::Input);
    }
    let mut outputs = outputs();
    match places.iter().find_map(|place| outputs.get(place)) {
        Some(other) if other != owner => refused(Objection::Output { owner: other.clone() }),
        _ => {
            outputs.extend(places.into_iter().map(|place| (place, owner.to_owned())));
            Ok(())
        }
    }
}

/// Returns the owner of the output at a path, which a job must not use.
#[must_use]
pub fn owner_of_output(path: &Path) -> Option<String> {
    // A job may have very many files, and most runs have no outputs.
    if outputs().is_empty() {
        return None;
    }
    let places = places(path);
    let outputs = outputs();
    places.iter().find_map(|place| outputs.get(place)).cloned()
}

/// Registers an output that was opened.
pub(super) fn note_output(path: &Path, metadata: &Metadata) {
    if metadata.is_file() {
        let owner = owner_of_output(path).unwrap_or_else(|| "this command".to_owned());
        outputs().insert(Place::of(metadata), owner);
    }
}

/// Returns the owner of an existing output.
pub(super) fn owner_of(metadata: &Metadata) -> Option<String> {
    outputs().get(&Place::of(metadata)).cloned()
}

fn inputs() -> MutexGuard<'static, BTreeSet<Place>> {
    INPUTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn outputs() -> MutexGuard<'static, BTreeMap<Place, String>> {
    OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns what identifies the file at a path: as a file, and by its name, because results may replace it by another file.
fn places(path: &Path) -> Vec<Place> {
    let found = std::fs::metadata(path).ok();
    if is_descriptor(path) || found.as_ref().is_some_and(|found| !found.is_file()) {
        return Vec::new();
    }
    let end = end_of_links(path);
    let directory = end.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = end.file_name().zip(std::fs::metadata(directory).ok());
    let name = name.map(|(name, found)| Place::Name(inode(&found), name.to_owned()));
    found.as_ref().map(Place::of).into_iter().chain(name).collect()
}

impl Place {
    fn of(metadata: &Metadata) -> Self {
        Self::File(inode(metadata))
    }
}

fn inode(metadata: &Metadata) -> Inode {
    (metadata.dev(), metadata.ino(), metadata.created().ok())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn refusal(path: &Path, owner: &str) -> String {
        units::Problem::from(claim_output(path, owner).expect_err("it has another owner")).to_string()
    }

    /// Revision 5aa1e091 compared the names of some options: links and other options wrote over each other.
    #[test]
    fn two_outputs_wrote_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        symlink(folder.path(), place("same")).unwrap();
        std::fs::write(place("existing"), "before").unwrap();
        for name in ["new", "existing"] {
            let owner = format!("--output {name}");
            claim_output(&place(name), &owner).unwrap();
            claim_output(&place(name), &owner).unwrap();
            let link = format!("{name}-link");
            symlink(name, place(&link)).unwrap();
            for alias in [name, &link, &format!("same/{name}"), &format!("same/./same/{link}")] {
                assert_eq!(
                    refusal(&place(alias), "--events other"),
                    format!("{owner} also writes to this file; use a separate file for each output")
                );
                assert_eq!(owner_of_output(&place(alias)), Some(owner.clone()));
            }
        }
        std::fs::hard_link(place("existing"), place("hard")).unwrap();
        assert!(refusal(&place("hard"), "--output hard").contains("--output existing"));
        // A file that results have replaced is known by its name.
        std::fs::write(place("replacement"), "after").unwrap();
        std::fs::rename(place("replacement"), place("existing")).unwrap();
        assert!(refusal(&place("existing"), "--events other").contains("--output existing"));
        claim_output(&place("third"), "--output third").unwrap();
    }

    #[test]
    fn devices_pipes_and_descriptors_have_any_number_of_writers() {
        for path in ["/dev/null", "/dev/stdout", "/dev/fd/2", "/proc/self/fd/1"] {
            for owner in ["--output a", "--events b"] {
                claim_output(Path::new(path), owner).unwrap();
            }
        }
    }

    #[test]
    fn an_input_is_no_output() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("in.json");
        std::fs::write(&input, "input").unwrap();
        note_input(&std::fs::metadata(&input).unwrap());
        assert!(refusal(&input, "--output a").contains("reads or measures it"));
    }
}
