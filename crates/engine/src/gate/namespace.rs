//! Permission to change an NVMe namespace by commands to its character device.
//!
//! Commands pass the block device of the namespace, with all that protects its users. So the character device is an
//! alias of it: it is admitted only together with the block device, which stays claimed.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use probe::{NamespaceNode, Number};
use units::{Problem, ProblemCode};

use super::candidate::WriteCandidate;
use super::identity::FileIdentity;
use super::objection::{Denied, Objection};
use super::open::{self, OpenMode};
use super::permit::{HeldFile, Permit};
use super::users::RecentFileUsers;
use super::{ROOT, WriteGate};
use crate::error::Error;
use crate::file_facts::device_bytes;
use crate::namespace::{self, Namespace};

impl WriteGate {
    /// Requests permission to change the NVMe namespace of the character device at `path`. What stands against writing to
    /// its block device stands against this.
    ///
    /// # Errors
    /// As for [`WriteGate::admit`]. Without a permission to destroy it, a namespace is refused whose block device is
    /// missing or unknown.
    pub fn admit_namespace(&self, path: &Path) -> Result<Permit, Denied> {
        let failed = |operation| move |error: std::io::Error| Denied::from(Error::file(operation, path, &error));
        let path_fd = open::lookup(path).map_err(failed("stat"))?;
        let identity = FileIdentity::of(&path_fd.metadata().map_err(failed("stat"))?);
        let FileIdentity::Character(number) = identity else { return Err(namespace::not_a_namespace(path).into()) };
        let users = &mut *self.admission();
        let known = self.state().commanded.get(&identity).cloned();
        if let Some(permit) = known {
            return Ok(permit);
        }
        let file = open::reopen(&path_fd, path, OpenMode::READ_WRITE).map_err(failed("open"))?;
        let namespace = namespace::of_fd(file.as_raw_fd(), path)?;
        let objections = self.namespace_objections(path, number, &namespace, users)?;
        WriteCandidate { gate: self, path, path_fd, identity }.admit_unless(objections)?;
        let name = path.as_os_str().into();
        let held = HeldFile { name, identity, file: Some(file), claims: Vec::new(), own: false, exclusive: true };
        let permit = Permit::from(held);
        self.state().commanded.insert(identity, permit.clone());
        Ok(permit)
    }

    /// Admits the block device of a namespace. Returns the reasons why it cannot be known what the namespace holds, and
    /// who uses it.
    fn namespace_objections(
        &self,
        path: &Path,
        number: Number,
        namespace: &Namespace,
        users: &mut RecentFileUsers,
    ) -> Result<Vec<Objection>, Denied> {
        let (node, block) = match block_device(number, namespace) {
            Ok(found) => found,
            Err(problem) => return Ok(vec![Objection::Unknown(problem.what)]),
        };
        // Data of earlier commands are not in the page cache of the block device, which may hold older ones.
        drop_cache(&node);
        match self.admit_next(&node, users) {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(vec![Objection::Unknown(format!("{} no longer exists", node.display()))]),
            Err(Denied::Refused(mut refusal)) => {
                refusal.path = path.to_owned();
                return Err(Denied::Refused(refusal));
            }
            Err(failed) => return Err(failed),
        }
        let (shown, held) = (size_of(&node, block), namespace.data_capacity());
        Ok(match shown {
            Some(shown) if shown >= held => Vec::new(),
            shown => vec![Objection::Unknown(format!(
                "its block device {} exposes {} of its {held} bytes, so its content is unknown",
                node.display(),
                shown.unwrap_or(0)
            ))],
        })
    }

    /// Reports whether `one` is the character device of the NVMe namespace whose block device is `other`.
    pub(super) fn is_namespace_of(one: FileIdentity, other: FileIdentity) -> bool {
        let (FileIdentity::Character(character), FileIdentity::Block(block)) = (one, other) else { return false };
        probe::namespace(Path::new(ROOT), character).and_then(|node| node.block) == Some(block)
    }
}

/// Returns the path and the number of the block device of a namespace, or why it is unknown.
fn block_device((major, minor): Number, namespace: &Namespace) -> Result<(PathBuf, Number), Problem> {
    let unknown = |what: String| Problem::error(ProblemCode::Host, format!("{what}, so it may be in use"));
    let node = probe::namespace(Path::new(ROOT), (major, minor))
        .ok_or_else(|| unknown(format!("/sys/dev/char/{major}:{minor} does not name its block device")))?;
    let NamespaceNode { name, block_name, block, nsid } = node;
    let Some(block) = block else {
        return Err(unknown(format!("the kernel has no block device {block_name} for {name}")));
    };
    if nsid.is_some_and(|nsid| nsid != namespace.nsid) {
        return Err(unknown(format!("{name} and {block_name} are different namespaces")));
    }
    let path = Path::new("/dev").join(&block_name);
    if FileIdentity::at(&path) != Some(FileIdentity::Block(block)) {
        let (shown, (major, minor)) = (path.display(), block);
        let what = format!(
            "{shown} is not its block device {major}:{minor}, so it cannot be claimed (create the node with mknod)"
        );
        return Err(Problem::error(ProblemCode::Host, what));
    }
    Ok((path, block))
}

fn size_of(node: &Path, block: Number) -> Option<u64> {
    let mode = OpenMode { read: true, write: false, flags: 0 };
    let file = open::reopen_identical(node, FileIdentity::Block(block), mode).ok()?;
    device_bytes(&file).ok()
}

/// Drops what the page cache holds of a device and need not write back.
pub(super) fn drop_cache(node: &Path) {
    if let Ok(file) = File::open(node) {
        drop_cache_of(&file);
    }
}

/// Drops what the page cache holds of an open device and need not write back.
pub(super) fn drop_cache_of(file: &File) {
    // SAFETY: the call takes no memory.
    unsafe { libc::posix_fadvise64(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}
