//! Read-only and full file systems.

use record::RunKind;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use store::{Error, Filter, RunStore};

use crate::common::{add, sample};

/// A tmpfs, unmounted at the end of the test.
struct Mount<'a>(&'a Path, #[expect(dead_code, reason = "held until the end")] MutexGuard<'static, ()>);

/// Serializes tests: a process that another test starts briefly has our files open, which keeps the mount busy.
static MOUNTING: Mutex<()> = Mutex::new(());

impl<'a> Mount<'a> {
    /// Mounts a tmpfs of 64 KiB; `None` without permission.
    fn of_64_kib(at: &'a Path) -> Option<Self> {
        let alone = MOUNTING.lock().unwrap_or_else(PoisonError::into_inner);
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(at).output().ok()?;
        mount.status.success().then_some(Self(at, alone))
    }

    fn make_read_only(&self) {
        let mount = Command::new("mount").args(["-o", "remount,ro"]).arg(self.0).status().unwrap();
        assert!(mount.success());
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("--lazy").arg(self.0).status();
        assert!(std::thread::panicking() || unmounted.is_ok_and(|status| status.success()));
    }
}

fn kind_of(error: &Error) -> Option<ErrorKind> {
    let (_, errno) = error.problem.what.trim_end_matches(')').rsplit_once("(os error ")?;
    Some(std::io::Error::from_raw_os_error(errno.parse().ok()?).kind())
}

#[test]
fn a_read_only_store_can_be_read() {
    let home = tempfile::tempdir().unwrap();
    let mount = Mount::of_64_kib(home.path());
    let id = add(&RunStore::open(home.path()).unwrap(), RunKind::Run, "a", &sample(0)).unwrap();
    match &mount {
        Some(mount) => mount.make_read_only(),
        None => fs::set_permissions(home.path(), fs::Permissions::from_mode(0o500)).unwrap(),
    }
    let store = RunStore::open(home.path()).unwrap();
    for _ in 0..2 {
        assert_eq!(store.list(&Filter::default()).unwrap().entries.len(), 1);
    }
    assert_eq!(store.load("last").unwrap().run, sample(0));
    let refused = [ErrorKind::ReadOnlyFilesystem, ErrorKind::PermissionDenied];
    let error = add(&store, RunKind::Run, "b", &sample(1)).unwrap_err();
    assert!(kind_of(&error).is_some_and(|kind| refused.contains(&kind)), "{error}");
    assert!(error.problem.help.as_deref().unwrap_or_default().contains("save runs elsewhere"), "{error}");
    if mount.is_some() {
        assert!(store.remove(&[&id]).is_err());
        let error = RunStore::open(home.path().join("new")).unwrap_err();
        assert!(error.to_string().contains("create the directory"), "{error}");
    }
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o700)).ok();
}

#[test]
fn a_full_disk_refuses_a_run_and_loses_no_other() {
    let home = tempfile::tempdir().unwrap();
    let Some(_mount) = Mount::of_64_kib(home.path()) else {
        eprintln!("skipped: mounting needs root");
        return;
    };
    let store = RunStore::open(home.path()).unwrap();
    let mut ids = Vec::new();
    let error = loop {
        match add(&store, RunKind::Run, "a", &sample(ids.len() as u64)) {
            Ok(id) => ids.push(id),
            Err(error) => break error,
        }
    };
    assert_eq!(kind_of(&error), Some(ErrorKind::StorageFull), "{error}");
    assert!(error.problem.help.as_deref().unwrap_or_default().contains("free space"), "{error}");
    assert!(!ids.is_empty());
    for _ in 0..2 {
        let listing = RunStore::open(home.path()).unwrap().list(&Filter::default()).unwrap();
        assert_eq!(listing.entries.into_iter().map(|entry| entry.id).collect::<Vec<_>>(), ids);
        assert!(listing.skipped.is_empty());
    }
    store.remove(&[&ids[0]]).unwrap();
    add(&store, RunKind::Run, "a", &sample(99)).unwrap();
}

#[test]
fn a_root_other_than_a_folder_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    for path in [file.clone(), file.join("below")] {
        let error = RunStore::open(&path).unwrap_err();
        assert_eq!(error.path, path);
        assert!(error.problem.help.is_some());
    }
}
