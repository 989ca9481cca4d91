//! Identifies filesystems by type (`statfs(2)`).

use std::fs::File;

/// Returns the magic number of a file's filesystem (`linux/magic.h`).
fn magic(file: &File) -> Option<u64> {
    rustix::fs::fstatfs(file).ok().map(|facts| facts.f_type as u64 & 0xffff_ffff)
}

/// Returns the name of a file's filesystem if it exposes the kernel's state or settings.
pub(super) fn kernel_filesystem(file: &File) -> Option<&'static str> {
    let magic = magic(file)?;
    KERNEL_FILESYSTEMS.iter().find(|(number, _)| *number == magic).map(|(_, name)| *name)
}

/// Reports whether another host or a program manages the filesystem and may set a file's times after a write has
/// returned.
pub(super) fn sets_times_late(file: &File) -> bool {
    magic(file).is_some_and(|magic| REMOTE_FILESYSTEMS.contains(&magic))
}

/// NFS, SMB, CIFS, SMB 2, Ceph, AFS (two), 9P, Coda, Lustre, GFS2, OCFS2, GPFS, BeeGFS, VirtualBox, FUSE.
const REMOTE_FILESYSTEMS: &[u64] = &[
    0x6969,
    0x517b,
    0xff53_4d42,
    0xfe53_4d42,
    0x00c3_6400,
    0x5346_414f,
    0x6b41_4653,
    0x0102_1997,
    0x7375_7245,
    0x0bd0_0bd0,
    0x0116_1970,
    0x7461_636f,
    0x4750_4653,
    0x1983_0326,
    0x786f_4256,
    0x6573_5546,
];

/// Filesystems of the kernel, by their numbers in `linux/magic.h`.
const KERNEL_FILESYSTEMS: &[(u64, &str)] = &[
    (0x9fa0, "proc filesystem"),
    (0x6265_6572, "sysfs filesystem"),
    (0x6462_6720, "debugfs filesystem"),
    (0x7472_6163, "tracefs filesystem"),
    (0x0027_e0eb, "cgroup filesystem"),
    (0x6367_7270, "cgroup2 filesystem"),
    (0x6265_6570, "configfs filesystem"),
    (0x7363_6673, "securityfs filesystem"),
    (0xde5e_81e4, "efivarfs filesystem"),
    (0xf97c_ff8c, "selinuxfs filesystem"),
    (0xcafe_4a11, "bpf filesystem"),
    (0x4249_4e4d, "binfmt_misc filesystem"),
    (0x6165_676c, "pstore filesystem"),
    (0x6e73_6673, "namespace filesystem"),
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::open;
    use super::*;

    #[test]
    fn kernel_files_are_identified_by_their_filesystem() {
        let of = |path: &str| kernel_filesystem(&open::lookup(Path::new(path)).unwrap());
        assert_eq!(of("/proc/sys/vm/swappiness"), Some("proc filesystem"));
        assert_eq!(of("/sys/kernel/mm"), Some("sysfs filesystem"));
        assert_eq!(of("/tmp"), None);
    }

    #[test]
    fn times_of_files_on_local_filesystems_are_exact() {
        for path in ["/tmp", "/dev/shm", "/proc"] {
            assert!(!sets_times_late(&open::lookup(Path::new(path)).unwrap()), "{path}");
        }
    }
}
