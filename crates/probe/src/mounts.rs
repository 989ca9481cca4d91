//! Mounts, and the filesystem of a file.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, StatxFlags};

use super::{Number, split};
use crate::filesystem::existing_ancestor;

/// A mounted filesystem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountEntry {
    /// Device number as in the metadata of its files; the major number is zero if there is no device.
    pub number: Number,
    /// Mount point.
    pub at: PathBuf,
    /// Type, such as `ext4`.
    pub filesystem: String,
    /// Source, usually the path of a device.
    pub source: String,
    /// Options of the mount and of the filesystem.
    pub options: Vec<String>,
}

impl MountEntry {
    /// Reports whether its files are only in memory, so that no device is measured.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        matches!(self.filesystem.as_str(), "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs")
    }
}

/// Returns all mounts in the order of mounting.
#[must_use]
pub fn mounts(root: &Path) -> Vec<MountEntry> {
    let bytes = super::reading::bytes(root, "proc/self/mountinfo").unwrap_or_default();
    bytes.split(|byte| *byte == b'\n').filter_map(parse).collect()
}

/// Returns the filesystem of `path`, which may be missing, or `None` if it is unknown.
#[must_use]
pub fn filesystem_of(root: &Path, path: &Path) -> Option<MountEntry> {
    let home = existing_ancestor(path).canonicalize().ok()?;
    let number = split(std::fs::metadata(&home).ok()?.dev());
    let holds = |mount: &MountEntry| mount.number == number && home.starts_with(&mount.at);
    // The last of several mounts at the same path is on top.
    mounts(root).into_iter().filter(holds).max_by_key(|mount| mount.at.components().count())
}

/// Returns the number of the mount of `path`, following links; `None` before Linux 5.8 and if the path cannot be accessed.
#[must_use]
pub fn mount_number(path: &Path) -> Option<u64> {
    let facts = rustix::fs::statx(rustix::fs::CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    StatxFlags::from_bits_retain(facts.stx_mask).contains(StatxFlags::MNT_ID).then_some(facts.stx_mnt_id)
}

/// Parses `36 35 98:0 /root /mnt rw,noatime shared:1 - ext4 /dev/sda1 rw`.
///
/// The mount point need not be UTF-8.
fn parse(line: &[u8]) -> Option<MountEntry> {
    let at = line.split(|byte| *byte == b' ').nth(4).map(unescaped_bytes)?;
    let line = String::from_utf8_lossy(line);
    let (mount_part, what) = line.split_once(" - ")?;
    let mut mount_part = mount_part.split(' ').skip(2);
    let number = number(mount_part.next()?)?;
    let at = PathBuf::from(OsString::from_vec(at));
    mount_part.nth(1)?;
    let mut what = what.split(' ');
    let (filesystem, source) = (what.next()?.to_owned(), unescaped(what.next()?));
    // The mount's options follow its path, and those of the filesystem are last; if they differ, the mount's are
    // stricter.
    let options = mount_part.next().into_iter().chain(what.next()).flat_map(|words| words.split(','));
    let options = options.map(unescaped).collect();
    Some(MountEntry { number, at, filesystem, source, options })
}

/// Parses a device number such as `8:1`.
pub fn number(text: &str) -> Option<Number> {
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Decodes escapes: blanks and the like are written as a backslash and three octal digits.
pub(super) fn unescaped_bytes(text: &[u8]) -> Vec<u8> {
    let (mut plain, mut rest) = (Vec::with_capacity(text.len()), text);
    while let [first, after @ ..] = rest {
        let digits = (*first == b'\\').then(|| std::str::from_utf8(after.get(..3)?).ok()).flatten();
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        plain.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[3..] } else { after };
    }
    plain
}

/// Decodes escapes of text to be displayed.
pub(super) fn unescaped(text: &str) -> String {
    String::from_utf8_lossy(&unescaped_bytes(text.as_bytes())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filesystem::free_bytes;

    /// Revision f52613e replaced a mount point that is not UTF-8 by U+FFFD and found no filesystem for its files.
    #[test]
    fn a_mount_point_that_is_not_utf8_is_kept() {
        let mount = parse(b"36 35 98:0 / /mnt/caf\xe9\\040x rw - ext4 /dev/vda rw").unwrap();
        assert_eq!(mount.at, PathBuf::from(OsString::from_vec(b"/mnt/caf\xe9 x".to_vec())));
        assert_eq!((mount.number, mount.filesystem.as_str()), ((98, 0), "ext4"));
    }

    #[test]
    fn reads_lines_with_and_without_optional_fields() {
        let line = r"36 35 98:0 /mnt1 /mnt\040two rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue";
        let mount = parse(line.as_bytes()).unwrap();
        assert_eq!(mount.number, (98, 0));
        assert_eq!(mount.at, Path::new("/mnt two"));
        assert_eq!((mount.filesystem.as_str(), mount.source.as_str()), ("ext3", "/dev/root"));
        assert_eq!(mount.options, ["rw", "noatime", "rw", "errors=continue"]);
        assert_eq!(parse(b"21 1 0:20 / /sys rw - sysfs sysfs rw").unwrap().number, (0, 20));
        assert!(!mount.is_in_memory());
        assert!(parse(b"28 1 0:25 / /dev/shm rw - tmpfs shm rw").unwrap().is_in_memory());
        assert_eq!(parse(b"nonsense"), None);
        assert_eq!(parse(b""), None);
    }

    #[test]
    fn invalid_escapes_are_kept() {
        assert_eq!(unescaped(r"a\040b\134c\x"), r"a b\c\x");
        // Revision 692e655 decoded each byte as Latin-1.
        assert_eq!(unescaped(r"caf\303\251"), "café");
    }

    #[test]
    fn this_file_is_in_a_filesystem_with_free_space() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("not/yet/made");
        let mount = filesystem_of(Path::new("/"), &here).unwrap();
        assert!(here.starts_with(&mount.at), "{mount:?}");
        assert!(free_bytes(&here).unwrap() > 0);
    }
}
