//! Signatures of partition tables, filesystems and volume managers on a device.

mod content;
mod filesystems;
mod magics;
mod members;
mod tables;
mod window;

use std::fmt;
use std::io::{self, Read, Seek};

pub use content::{KIND_BYTES, file_kind};
use window::Windows;

/// A signature found on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The format's common name: `ext4`, `LVM2`, `GPT`.
    pub name: &'static str,
    /// libblkid's name for the format: `ext4`, `LVM2_member`, `gpt`.
    pub kind: &'static str,
    /// Kind of data.
    pub class: SignatureClass,
    /// Offset of the magic in bytes.
    pub offset: u64,
}

impl Signature {
    const fn new(class: SignatureClass, name: &'static str, kind: &'static str, offset: u64) -> Self {
        Self { name, kind, class, offset }
    }
}

/// Kinds of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureClass {
    PartitionTable,
    Filesystem,
    /// A member of a volume group, an array or a pool.
    Member,
    /// An encrypted volume.
    Encrypted,
    /// A swap area.
    Swap,
    /// An external journal: the filesystem is on another device.
    Journal,
}

/// Formats as `GPT partition table`, `ext4 filesystem`, `LVM2 member`.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = match self.class {
            SignatureClass::PartitionTable => "partition table",
            SignatureClass::Filesystem => "filesystem",
            SignatureClass::Member => "member",
            SignatureClass::Encrypted => "encrypted volume",
            SignatureClass::Swap => "area",
            SignatureClass::Journal => "external journal",
        };
        write!(f, "{} {class}", self.name)
    }
}

/// The result of [`examine`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examination {
    /// Signatures, at most one of each kind.
    pub signatures: Vec<Signature>,
    /// Offset of the first non-zero byte; `None` if all bytes read are zero.
    pub first_data: Option<u64>,
    /// Hash of the size and all bytes read. It detects changes but is not cryptographic.
    pub fingerprint: u128,
}

/// Finds signatures and any other data on a device of `bytes` bytes. Reads 0.5 MiB at the start, 0.5 to 0.75 MiB at the
/// end, six isolated blocks of 4 KiB for signatures, and 16 evenly spaced ones.
///
/// # Errors
///
/// A read fails, or the device ends before `bytes`.
pub fn examine<R: Read + Seek>(device: &mut R, bytes: u64) -> io::Result<Examination> {
    let windows = Windows::read(device, bytes)?;
    let first_data = windows.first_data();
    let fingerprint = first_data.map_or(0, |_| windows.fingerprint());
    Ok(Examination { signatures: found(&windows), first_data, fingerprint })
}

/// Probers of all formats that need more than a magic at a fixed offset, in reporting order.
const PROBERS: &[fn(&Windows) -> Option<Signature>] = &[
    tables::gpt_copy,
    tables::mac,
    tables::sun,
    tables::atari,
    tables::dasd,
    members::lvm2,
    members::linux_raid,
    members::ddf,
    members::firmware_raid,
    members::drbd,
    members::bcachefs_copy,
    filesystems::zfs,
    filesystems::bitlocker_to_go,
    filesystems::core_storage,
    filesystems::ext,
    filesystems::minix,
    filesystems::hfs,
    filesystems::ufs,
    filesystems::sysv,
    filesystems::nilfs2,
    filesystems::gfs,
    filesystems::squashfs,
    filesystems::udf,
    filesystems::jffs2,
    magics::swap,
    magics::xfs_log,
];

/// Kinds whose first sector ends with the boot signature of an MBR.
const BOOT_SECTORS: [&str; 2] = ["vfat", "gpt"];

/// Returns one signature per kind. A backup copy counts only if the primary is missing.
fn found(windows: &Windows) -> Vec<Signature> {
    let mut found: Vec<Signature> = Vec::new();
    let mut add = |signature: Signature| {
        if !found.iter().any(|first| first.kind == signature.kind) {
            found.push(signature);
        }
    };
    magics::fixed(windows).into_iter().for_each(&mut add);
    PROBERS.iter().filter_map(|probe| probe(windows)).for_each(&mut add);
    if !found.iter().any(|signature| ["exfat", "ntfs", "hpfs", "BitLocker"].contains(&signature.kind)) {
        found.extend(filesystems::fat(windows));
    }
    if !found.iter().any(|signature| BOOT_SECTORS.contains(&signature.kind)) {
        found.extend(tables::mbr(windows));
    }
    found
}

#[cfg(test)]
mod tests;
