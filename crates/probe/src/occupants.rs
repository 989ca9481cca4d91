//! Data and users that a write to a device or file would harm.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use units::{Problem, ProblemCode};

use super::mounts::unescaped_bytes;
use super::signature::Signature;
use super::{Number, mounts, number_named, relations};
use crate::device::block_number;

/// Data on a device, or a user of a device or file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// Data with a known signature on the device itself.
    Data(Signature),
    /// A partition of the device.
    Partition(String),
    /// A device that is stacked on it or on one of its partitions.
    Holder {
        /// The device or partition in use.
        device: String,
        /// The device stacked on it.
        holder: String,
    },
    /// A mounted filesystem on it or on one of its partitions.
    Mount {
        /// The device or partition.
        device: String,
        /// Mount point.
        at: PathBuf,
    },
    /// The device, one of its partitions, or the file is in use as swap.
    Swap {
        /// The device, partition or file.
        device: String,
    },
    /// The file is the backing file of a loop device.
    LoopBacking {
        /// The loop device.
        device: String,
    },
}

/// Returns the partitions, holders, mounts and swap areas of a block device and its partitions, without reading the
/// device.
#[must_use]
pub fn users(root: &Path, number: Number) -> Vec<Occupant> {
    let Some(device) = relations(root, number) else {
        return Vec::new();
    };
    let mut found: Vec<Occupant> = device.partitions.iter().cloned().map(Occupant::Partition).collect();
    let parts = device.partitions.iter().filter_map(|name| relations(root, number_named(root, name)?));
    let mounts = mounts(root);
    // The write gate reads the list itself, because an unreadable list matters there.
    let swaps = swap_paths(root).unwrap_or_default();
    let number_at = |path: &Path| std::fs::metadata(path).ok().as_ref().and_then(block_number);
    let is_swap =
        |path: &str, number| swaps.iter().any(|swap| swap == Path::new(path) || number_at(swap) == Some(number));
    for part in std::iter::once(device.clone()).chain(parts) {
        let path = format!("/dev/{}", part.name);
        let holder = |holder: &String| Occupant::Holder { device: part.name.clone(), holder: holder.clone() };
        found.extend(part.holders.iter().map(holder));
        let mounted = mounts.iter().filter(|mount| mount.number == part.number || mount.source == path);
        found.extend(mounted.map(|mount| Occupant::Mount { device: part.name.clone(), at: mount.at.clone() }));
        if is_swap(&path, part.number) {
            found.push(Occupant::Swap { device: part.name });
        }
    }
    found
}

/// Returns the paths of all swap devices and files.
///
/// # Errors
/// Returns a message if the kernel's list cannot be read.
pub fn swap_paths(root: &Path) -> Result<Vec<PathBuf>, Problem> {
    let bytes = match std::fs::read(root.join("proc/swaps")) {
        Ok(bytes) => bytes,
        // A kernel without swap support has no list.
        Err(error) if error.kind() == ErrorKind::NotFound && root.join("proc/self").exists() => Vec::new(),
        Err(error) => {
            return Err(Problem::error(
                ProblemCode::Host,
                format!("cannot read the swap devices (/proc/swaps): {error}"),
            ));
        }
    };
    let lines = bytes.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty());
    let path = |line: &[u8]| {
        let name = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        PathBuf::from(OsString::from_vec(unescaped_bytes(name)))
    };
    Ok(lines.map(path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Revision 692e655 read the list as text: one name that is not UTF-8 emptied it.
    #[test]
    fn a_swap_file_with_a_name_that_is_not_utf8_hid_all_others() {
        let root = std::env::temp_dir().join(format!("fathom-swaps-{}", std::process::id()));
        assert!(swap_paths(&root).unwrap_err().what.contains("/proc/swaps"));
        std::fs::create_dir_all(root.join("proc/self")).unwrap();
        assert_eq!(swap_paths(&root), Ok(Vec::new()), "this kernel has no swap support");
        let list = b"Filename\tType\tSize\n/caf\xe9\\040x file 8 0 -2\n/dev/sda2                  partition 8 0 -3\n";
        std::fs::write(root.join("proc/swaps"), list).unwrap();
        let odd = PathBuf::from(OsString::from_vec(b"/caf\xe9 x".to_vec()));
        assert_eq!(swap_paths(&root), Ok(vec![odd, "/dev/sda2".into()]));
        std::fs::remove_dir_all(root).unwrap();
    }
}
