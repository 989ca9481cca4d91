//! Character devices of NVMe namespaces.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use super::{Number, number_in, reading, split};

/// The character device of an NVMe namespace (`/dev/ngXnY`), which takes commands past its block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceNode {
    /// Its name, such as `ng0n1`.
    pub name: String,
    /// Name that its block device has, if there is one.
    pub block_name: String,
    /// Number of the block device; `None` if the kernel shows none.
    pub block: Option<Number>,
    /// Number of the namespace, as the block device has it.
    pub nsid: Option<u32>,
}

/// Returns the NVMe namespace of a character device; `None` for other devices, and if `/sys` cannot be read.
///
/// Both devices of a namespace have the same parent, its controller or its subsystem (with multipath), and the same
/// numbers in their names. The paths of a namespace with multipath (`nvme0c1n1`) have neither.
#[must_use]
pub fn namespace(root: &Path, number: Number) -> Option<NamespaceNode> {
    let directory = format!("sys/dev/char/{}:{}", number.0, number.1);
    let place = reading::resolve(root, &directory).ok()?;
    let class = reading::resolve(root, &format!("{directory}/subsystem")).ok()?;
    let name = place.file_name()?.to_str()?;
    let numbers = name.strip_prefix("ng")?;
    if class.file_name()? != "nvme-generic" {
        return None;
    }
    let block_name = format!("nvme{numbers}");
    let block = place.parent()?.join(&block_name);
    let line = |file: &str| std::fs::read_to_string(block.join(file)).ok();
    let number = line("dev").and_then(|text| number_in(text.trim()));
    let nsid = line("nsid").and_then(|text| text.trim().parse().ok());
    Some(NamespaceNode { name: name.to_owned(), block_name, block: number, nsid })
}

/// Returns the NVMe namespace whose character device is at `path`, as [`namespace`] does.
#[must_use]
pub fn namespace_at(root: &Path, path: &Path) -> Option<NamespaceNode> {
    let metadata = std::fs::metadata(path).ok()?;
    let number = metadata.file_type().is_char_device().then(|| split(metadata.rdev()))?;
    namespace(root, number)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A device tree with a controller and a subsystem of several paths, as Linux 6.12 shows it.
    fn tree(name: &str) -> std::path::PathBuf {
        let root = std::env::temp_dir().join(format!("fathom-namespace-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let class = root.join("sys/class/nvme-generic");
        let other = root.join("sys/class/tty");
        let numbers = root.join("sys/dev/char");
        for folder in [&class, &other, &numbers] {
            fs::create_dir_all(folder).unwrap();
        }
        let device = |parent: &str, name: &str, number: &str, class: &Path| {
            let place = root.join("sys/devices").join(parent).join(name);
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join("dev"), format!("{number}\n")).unwrap();
            if name.starts_with("nvme") {
                fs::write(place.join("nsid"), "3\n").unwrap();
            } else {
                symlink(class, place.join("subsystem")).unwrap();
                symlink(&place, numbers.join(number)).unwrap();
            }
        };
        device("pci/nvme/nvme0", "ng0n1", "235:0", &class);
        device("pci/nvme/nvme0", "nvme0n1", "259:1", &class);
        device("pci/nvme/nvme0", "nvme0c0n2", "259:7", &class);
        device("virtual/nvme-subsystem/nvme-subsys0", "ng0n2", "235:1", &class);
        device("virtual/nvme-subsystem/nvme-subsys0", "nvme0n2", "259:2", &class);
        device("pci/nvme/nvme1", "ng1n1", "235:2", &class);
        device("pci/tty", "ngtty", "4:1", &other);
        root
    }

    #[test]
    fn the_block_device_is_beside_the_character_device() {
        let root = tree("beside");
        let node = |minor| namespace(&root, (235, minor));
        let first = node(0).unwrap();
        assert_eq!((first.name.as_str(), first.block, first.nsid), ("ng0n1", Some((259, 1)), Some(3)));
        assert_eq!(node(1).unwrap().block, Some((259, 2)), "that of the subsystem, not of one path");
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_namespace_without_block_device_is_one_whose_users_are_unknown() {
        let root = tree("none");
        let alone = namespace(&root, (235, 2)).unwrap();
        assert_eq!((alone.block_name.as_str(), alone.block, alone.nsid), ("nvme1n1", None, None));
        assert_eq!(namespace(&root, (4, 1)), None, "a device of another class");
        assert_eq!(namespace(&root, (235, 9)), None, "no device");
        assert_eq!(namespace(Path::new("/no/such/root"), (235, 0)), None, "no /sys");
        fs::remove_dir_all(root).unwrap();
    }
}
