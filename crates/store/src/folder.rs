//! The directory of one run.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use record::SavedRun;
use units::ProblemCode;

use crate::disk;
use crate::error::{Error, Result};
use crate::lock::StoreLock;
use crate::manifest::{FORMAT, parse_manifest, seal_of};

pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const RUN: &str = "run.json";
pub(crate) const JOB: &str = "job.fio";
pub(crate) const RESOLVED: &str = "resolved.json";
pub(crate) const ENVIRONMENT: &str = "environment.json";
pub(crate) const EVENTS: &str = "events.jsonl.zst";
/// Marker file that exempts a run from retention.
pub(crate) const KEPT: &str = "kept";
/// Lock in a folder that is being written, held by its writer.
pub(crate) const WRITER_LOCK: &str = ".lock";
/// Names of all files in the folder of a run.
const WRITTEN: [&str; 8] = [MANIFEST, RUN, JOB, RESOLVED, ENVIRONMENT, EVENTS, KEPT, WRITER_LOCK];

/// Reads the manifest of a run and verifies all its files.
pub(crate) fn read(folder: &Path) -> Result<SavedRun> {
    let entry = read_manifest(folder)?;
    for name in entry.files.keys() {
        read_file(folder, &entry, name)?;
    }
    Ok(entry)
}

/// Reads the manifest of a run in the store, without verifying its files.
pub(crate) fn read_manifest(folder: &Path) -> Result<SavedRun> {
    let entry = read_manifest_anywhere(folder)?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    if entry.id != name {
        let what = format!("damaged: its name was {}", entry.id);
        return Err(Error::new(folder, ProblemCode::Damaged, what, format!("rename it to {}", entry.id)));
    }
    Ok(entry)
}

/// Reads the manifest of a folder at any path and with any name.
pub(crate) fn read_manifest_anywhere(folder: &Path) -> Result<SavedRun> {
    let path = folder.join(MANIFEST);
    if !path.is_file() {
        return Err(foreign(folder, &format!("{MANIFEST} is missing")));
    }
    let mut entry = parse_manifest(&path, &disk::read(&path)?)?;
    entry.kept = folder.join(KEPT).exists();
    Ok(entry)
}

/// Checks that a folder holds nothing but what this program wrote, also if the run is damaged or absent.
pub(crate) fn check_removable(folder: &Path) -> Result<()> {
    let failed = |error| Error::io(folder, "list", error);
    match folder.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(found) if !found.is_dir() => return Err(foreign(folder, "not a directory")),
        Ok(_) => {}
    }
    let listed: BTreeMap<_, _> = read_manifest_anywhere(folder).map(|entry| entry.files).unwrap_or_default();
    for file in folder.read_dir().map_err(failed)? {
        let file = file.map_err(failed)?;
        let (name, is_file) = (file.file_name(), file.file_type().map_err(failed)?.is_file());
        let is_known = name.to_str().is_some_and(|name| WRITTEN.contains(&name) || listed.contains_key(name));
        if !is_file || !is_known {
            let why = format!("it contains {}, which Fathom did not write", name.to_string_lossy());
            return Err(foreign(folder, &why).with_help("move that file elsewhere, then remove the run"));
        }
    }
    Ok(())
}

pub(crate) fn foreign(path: &Path, why: &str) -> Error {
    Error::new(
        path,
        ProblemCode::SavedRun,
        format!("not a saved run: {why}"),
        "move it elsewhere if it does not belong here",
    )
}

pub(crate) fn read_file(folder: &Path, entry: &SavedRun, name: &str) -> Result<Vec<u8>> {
    let path = folder.join(name);
    let seal = entry.files.get(name).ok_or_else(|| missing(&path))?;
    let found = path.metadata().map_err(|_| missing(&path))?;
    if !found.is_file() {
        return Err(Error::damaged(&path, "not a file"));
    }
    if found.len() != seal.bytes {
        return Err(Error::damaged(&path, format!("{} bytes instead of {}", found.len(), seal.bytes)));
    }
    let bytes = disk::read(&path)?;
    if seal_of(&bytes) != *seal {
        return Err(Error::damaged(&path, "checksum mismatch"));
    }
    Ok(bytes)
}

fn missing(path: &Path) -> Error {
    Error::damaged(path, "the file is missing")
}

pub(crate) fn check_version(folder: &Path, entry: &SavedRun) -> Result<()> {
    let [format, schema] = [(entry.format, FORMAT), (entry.schema, record::SCHEMA)];
    let newer = [format, schema].into_iter().find(|(found, known)| found > known);
    newer.map_or(Ok(()), |(found, known)| Err(Error::too_new(folder, found, known)))
}

/// Returns a digest of names, sizes and times of all files in a folder, which changes with any modification.
pub(crate) fn stamp(folder: &Path) -> std::io::Result<String> {
    let mut files: Vec<PathBuf> = folder.read_dir()?.map(|file| Ok(file?.path())).collect::<std::io::Result<_>>()?;
    files.sort_unstable();
    let mut stamp = String::new();
    for file in files {
        let meta = file.symlink_metadata()?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let time = (meta.ctime(), meta.ctime_nsec());
        // Writing to a string cannot fail.
        let _ = writeln!(stamp, "{name} {} {} {}.{}", meta.ino(), meta.len(), time.0, time.1);
    }
    Ok(format!("{:08x}-{}", crc32c::crc32c(stamp.as_bytes()), stamp.len()))
}

/// Prefix of folders to which a run is being written.
pub(crate) const WRITING: &str = ".writing-";
/// Prefix of folders that are being removed.
pub(crate) const REMOVING: &str = ".removing-";

/// Removes folders that no process uses. Requires the store's lock, under which every folder in use has its writer's
/// lock.
pub(crate) fn sweep(root: &Path) -> Result<()> {
    let listed = root.read_dir().map_err(|error| Error::io(root, "list", error))?;
    for folder in listed.filter_map(std::io::Result::ok) {
        let name = folder.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(REMOVING) || (name.starts_with(WRITING) && is_abandoned(&folder.path())) {
            // What cannot be removed now is removed later.
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
    Ok(())
}

fn is_abandoned(folder: &Path) -> bool {
    matches!(StoreLock::try_now(&folder.join(WRITER_LOCK)), Ok(Some(_)))
}
