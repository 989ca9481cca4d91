//! What a gate has admitted, by identity and by name.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use super::HELD_SHARE;
use super::identity::FileIdentity;
use super::permit::{HeldFile, Permit};

/// Admitted files and devices. There may be hundreds of thousands of files.
#[derive(Debug, Default)]
pub(super) struct Admitted {
    permits: BTreeMap<FileIdentity, Permit>,
    /// Permits by requested name: a name keeps its first meaning even if it comes to refer to another file. Compared as
    /// text, because another spelling is looked up and found by its identity.
    names: BTreeMap<Arc<OsStr>, Permit>,
    /// Names by which files were requested after the first.
    aliases: BTreeMap<FileIdentity, Vec<Arc<OsStr>>>,
    held_files: u64,
}

impl Admitted {
    pub(super) fn is_empty(&self) -> bool {
        self.permits.is_empty()
    }

    pub(super) fn permits(&self) -> impl Iterator<Item = &Permit> {
        self.permits.values()
    }

    /// Returns the permit of the file that this name referred to when it was first requested.
    pub(super) fn named(&self, path: &Path) -> Option<&Permit> {
        self.names.get(path.as_os_str())
    }

    /// Returns the permit of a file under a further name.
    pub(super) fn identified(&mut self, identity: FileIdentity, alias: &Path) -> Option<Permit> {
        let permit = self.permits.get(&identity)?;
        let alias: Arc<OsStr> = alias.as_os_str().into();
        self.names.insert(Arc::clone(&alias), permit.clone());
        self.aliases.entry(identity).or_default().push(alias);
        Some(permit.clone())
    }

    /// Forgets a name that refers to nothing.
    pub(super) fn forget_name(&mut self, path: &Path) {
        self.names.remove(path.as_os_str());
    }

    /// Adds a file or device. Closes it if enough files are held open already.
    pub(super) fn add(&mut self, mut held: HeldFile) -> Permit {
        let identity = held.identity;
        if matches!(identity, FileIdentity::File { .. }) && held.file.is_some() {
            if self.held_files < max_held_files() {
                self.held_files += 1;
            } else {
                held.file = None;
            }
        }
        let name = Arc::clone(&held.name);
        let permit = Permit::from(held);
        self.permits.insert(identity, permit.clone());
        self.names.insert(name, permit.clone());
        permit
    }

    /// Forgets a regular file with all its names.
    pub(super) fn remove(&mut self, identity: FileIdentity) {
        let Some(permit) = self.permits.remove(&identity) else { return };
        self.held_files -= u64::from(permit.held().file.is_some());
        let aliases = self.aliases.remove(&identity).unwrap_or_default();
        for name in std::iter::once(&permit.held().name).chain(&aliases) {
            // The name may have come to refer to another file that was admitted too.
            if self.names.get(name).is_some_and(|named| named.identity() == identity) {
                self.names.remove(name);
            }
        }
    }
}

/// Returns the maximum number of regular files kept open. A run raises it.
fn max_held_files() -> u64 {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX) / HELD_SHARE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(name: &str, inode: u64) -> HeldFile {
        HeldFile {
            name: OsStr::new(name).into(),
            identity: FileIdentity::File { device: 1, inode },
            file: Some(std::fs::File::open("/dev/null").unwrap()),
            claims: Vec::new(),
            own: false,
            exclusive: true,
        }
    }

    #[test]
    fn removed_files_are_forgotten_under_all_names_that_still_mean_them() {
        let mut admitted = Admitted::default();
        let first = admitted.add(held("/d/a", 1)).identity();
        for alias in ["/d/b", "/d/c"] {
            assert_eq!(admitted.identified(first, Path::new(alias)).unwrap().identity(), first);
        }
        // Another file comes to have one of the names.
        admitted.forget_name(Path::new("/d/b"));
        let second = admitted.add(held("/d/b", 2)).identity();
        admitted.remove(first);
        let left = ["/d/a", "/d/b", "/d/c"].map(|name| admitted.named(Path::new(name)).map(Permit::identity));
        assert_eq!(left, [None, Some(second), None]);
        assert!(admitted.identified(first, Path::new("/d/a")).is_none());
    }

    #[test]
    fn limited_files_are_held_open() {
        let mut admitted = Admitted { held_files: max_held_files() - 2, ..Admitted::default() };
        let permits = ["/d/a", "/d/b", "/d/c"].iter().zip(1..).map(|(name, inode)| admitted.add(held(name, inode)));
        let permits: Vec<Permit> = permits.collect();
        let open = |permits: &[Permit]| permits.iter().map(|permit| permit.held().file.is_some()).collect::<Vec<_>>();
        assert_eq!(open(&permits), [true, true, false]);
        // Only one that was open makes room for another.
        admitted.remove(permits[2].identity());
        let fourth = admitted.add(held("/d/d", 4));
        admitted.remove(permits[0].identity());
        assert_eq!(open(&[fourth, admitted.add(held("/d/e", 5))]), [false, true]);
    }
}
