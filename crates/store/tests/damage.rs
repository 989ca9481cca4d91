//! Damaged stores.

use record::{Run, RunKind};
use std::fs;
use std::path::{Path, PathBuf};
use store::{Filter, RunStore};
use units::ProblemCode;

use crate::common::{add, sample};

struct Damaged {
    _home: tempfile::TempDir,
    store: RunStore,
    whole: String,
    hit: String,
    run: Run,
}

impl Damaged {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = RunStore::open(home.path()).unwrap();
        let run = sample(1);
        let whole = add(&store, RunKind::Run, "whole", &sample(0)).unwrap();
        let hit = add(&store, RunKind::Run, "hit", &run).unwrap();
        store.list(&Filter::default()).unwrap();
        Self { _home: home, store, whole, hit, run }
    }

    fn files(&self) -> Vec<PathBuf> {
        let folder = self.store.root().join(&self.hit);
        let mut files: Vec<PathBuf> = folder.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        files
    }

    /// Changes a file, checks the store, and restores the file.
    fn with(&self, file: &Path, bytes: &[u8]) {
        let before = fs::read(file).unwrap();
        fs::write(file, bytes).unwrap();
        let what = format!("{} with {} bytes", file.display(), bytes.len());
        let store = RunStore::open(self.store.root()).unwrap();
        let listing = store.list(&Filter::default()).unwrap();
        assert!(listing.entries.iter().any(|entry| entry.id == self.whole), "{what}: another run is lost");
        let is_listed = listing.entries.iter().any(|entry| entry.id == self.hit);
        let named = listing.skipped.iter().find(|(name, _)| *name == self.hit);
        assert_ne!(is_listed, named.is_some(), "{what}: {listing:?}");
        if let Some((_, error)) = named {
            assert!(error.path.starts_with(store.root().join(&self.hit)), "{what}: {error}");
        }
        match store.load(&self.hit) {
            Ok(loaded) => assert_eq!(loaded.run, self.run, "{what}"),
            Err(error) => assert!(error.path.starts_with(store.root().join(&self.hit)), "{what}: {error}"),
        }
        assert!(file.exists(), "{what}: a file was deleted");
        fs::write(file, before).unwrap();
    }
}

#[test]
fn truncated_files_are_reported_and_skipped() {
    let damaged = Damaged::new();
    for file in damaged.files() {
        let bytes = fs::read(&file).unwrap();
        for end in (0..bytes.len()).step_by(64).chain([bytes.len() - 1]) {
            damaged.with(&file, &bytes[..end]);
        }
    }
    assert!(damaged.store.list(&Filter::default()).unwrap().skipped.is_empty());
}

/// Returns a representative of the byte's class in JSON.
fn class(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => b'0',
        b'a'..=b'z' => b'a',
        b'A'..=b'Z' => b'A',
        0..=31 => b'\n',
        128.. => 255,
        _ => byte,
    }
}

#[test]
fn wrong_bytes_of_every_class_are_reported_or_harmless() {
    let damaged = Damaged::new();
    for file in damaged.files() {
        let bytes = fs::read(&file).unwrap();
        let mut classes: Vec<u8> = bytes.iter().copied().map(class).collect();
        classes.sort_unstable();
        classes.dedup();
        for wanted in classes {
            let places: Vec<usize> = (0..bytes.len()).filter(|&at| class(bytes[at]) == wanted).collect();
            for at in [places[0], places[places.len() / 2], places[places.len() - 1]] {
                for other in [0, b'9', b'"', b'}', b' ', bytes[at] ^ 1, 255] {
                    let mut wrong = bytes.clone();
                    wrong[at] = other;
                    damaged.with(&file, &wrong);
                }
            }
        }
    }
}

#[test]
fn every_wrong_byte_is_found_without_an_index() {
    let damaged = Damaged::new();
    for file in damaged.files() {
        let bytes = fs::read(&file).unwrap();
        for at in (0..bytes.len()).step_by(97) {
            let mut wrong = bytes.clone();
            wrong[at] ^= 4;
            fs::write(&file, &wrong).unwrap();
            fs::remove_file(damaged.store.root().join("index.json")).unwrap();
            let listing = damaged.store.list(&Filter::default()).unwrap();
            assert_eq!(listing.skipped.len(), 1, "{} at {at}", file.display());
        }
        fs::write(&file, &bytes).unwrap();
    }
}

#[test]
fn a_damaged_index_is_rebuilt() {
    let damaged = Damaged::new();
    let index = damaged.store.root().join("index.json");
    let bytes = fs::read(&index).unwrap();
    let mut forged = bytes.clone();
    let at = String::from_utf8(bytes.clone()).unwrap().find("anvil").unwrap();
    forged[at] = b'A';
    for wrong in [&b""[..], &bytes[..bytes.len() / 2], &forged, b"{\"format\":9}", b"\xff\xfe"] {
        fs::write(&index, wrong).unwrap();
        let listing = damaged.store.list(&Filter::default()).unwrap();
        assert_eq!((listing.entries.len(), listing.skipped.len()), (2, 0));
        assert_eq!(listing.entries[0].hostname, "anvil");
        assert_eq!(fs::read(&index).unwrap(), bytes);
    }
}

#[test]
fn foreign_files_are_reported_and_left_alone() {
    let damaged = Damaged::new();
    let root = damaged.store.root();
    fs::create_dir(root.join("2026-11-21T20-53-04-run-empty-0000")).unwrap();
    fs::create_dir(root.join("photographs")).unwrap();
    fs::write(root.join("notes.txt"), "mine").unwrap();
    std::os::unix::fs::symlink("/nowhere", root.join("dangling")).unwrap();
    let copy = root.join("2026-11-21T20-53-04-run-copy-0000");
    fs::create_dir(&copy).unwrap();
    for file in damaged.files() {
        fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
    }
    fs::create_dir(root.join("pipe")).unwrap();
    fs::rename(root.join(&damaged.hit).join("job.fio"), root.join("pipe/job.fio")).unwrap();
    fs::create_dir(root.join(&damaged.hit).join("job.fio")).unwrap();
    let listing = RunStore::open(root).unwrap().list(&Filter::default()).unwrap();
    assert_eq!(listing.entries.iter().map(|entry| &entry.id).collect::<Vec<_>>(), [&damaged.whole]);
    let foreign = |name: &str| {
        let (_, error) = listing.skipped.iter().find(|(skipped, _)| skipped == name).unwrap();
        error.problem.code == ProblemCode::SavedRun
    };
    assert!(["photographs", "notes.txt", "dangling", "2026-11-21T20-53-04-run-empty-0000"].into_iter().all(foreign));
    assert!(!foreign("2026-11-21T20-53-04-run-copy-0000") && !foreign(&damaged.hit));
    assert_eq!(fs::read_to_string(root.join("notes.txt")).unwrap(), "mine");
    assert!(root.join("photographs").is_dir() && copy.is_dir());
}
