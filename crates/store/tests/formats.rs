//! Every version ever written stays readable; `fixtures` has a store of each.
//!
//! A new version adds a folder, which `FATHOM_WRITE_EXPECTED=1` writes, and leaves the others unchanged.

use record::RunKind;
use std::path::{Path, PathBuf};
use store::{FORMAT, Filter, RunStore};

use crate::common::{EVENTS, JOB, add, sample};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Copies a store, because listing writes an index.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in from.read_dir().unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn reads_every_version() {
    let newest = fixtures().join(format!("format{FORMAT}"));
    if std::env::var_os("FATHOM_WRITE_EXPECTED").is_some() && !newest.exists() {
        write_fixture(&newest);
    }
    for format in 1..=FORMAT {
        let home = tempfile::tempdir().unwrap();
        copy(&fixtures().join(format!("format{format}")), home.path());
        let store = RunStore::open(home.path()).unwrap();
        let listing = store.list(&Filter::default()).unwrap();
        assert!(listing.skipped.is_empty(), "{format}: {:?}", listing.skipped);
        let kinds: Vec<RunKind> = listing.entries.iter().map(|entry| entry.kind).collect();
        assert_eq!(kinds, [RunKind::Run, RunKind::Sim, RunKind::Sweep, RunKind::Suite], "{format}");
        for (at, entry) in listing.entries.iter().enumerate() {
            let loaded = store.load(&entry.id).unwrap();
            assert_eq!(loaded.run, sample(at as u64), "{format}: {}", entry.id);
            assert_eq!(loaded.job().unwrap().as_deref(), Some(JOB));
            assert_eq!(loaded.events().unwrap().map(Result::unwrap).collect::<Vec<_>>(), EVENTS);
        }
        add(&store, RunKind::Run, "and goes on", &sample(9)).unwrap();
        assert_eq!(store.list(&Filter::default()).unwrap().entries.len(), 5);
    }
}

/// Writes the fixture of the current version. Fixtures of earlier versions never change.
fn write_fixture(root: &Path) {
    let store = RunStore::open(root).unwrap();
    for (at, kind) in [RunKind::Run, RunKind::Sim, RunKind::Sweep, RunKind::Suite].into_iter().enumerate() {
        add(&store, kind, "fixture", &sample(at as u64)).unwrap();
    }
    std::fs::remove_file(root.join("lock")).unwrap();
}
