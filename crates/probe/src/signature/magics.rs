//! Magics at fixed offsets that are long enough to identify a format without further checks.
//!
//! Offsets and bytes come from each format's published description. The tests in `tests/host/signatures` compare them
//! with `blkid` and `wipefs`. An offset is that of the magic itself, as `wipefs` prints it.

use super::SignatureClass::{self, Encrypted, Filesystem, Journal, Member, PartitionTable, Swap};
use super::{Signature, Windows};

/// Name, libblkid's name, kind of data, offset, magic.
type Magic = (&'static str, &'static str, SignatureClass, u64, &'static [u8]);

pub(super) const MAGICS: &[Magic] = &[
    // Partition tables.
    ("GPT", "gpt", PartitionTable, 512, b"EFI PART"),
    ("GPT", "gpt", PartitionTable, 1024, b"EFI PART"),
    ("GPT", "gpt", PartitionTable, 2048, b"EFI PART"),
    ("GPT", "gpt", PartitionTable, 4096, b"EFI PART"),
    ("AIX", "aix", PartitionTable, 0, b"\xc9\xc2\xd4\xc1"),
    ("SGI", "sgi", PartitionTable, 0, b"\x0b\xe5\xa9\x41"),
    ("Ultrix", "ultrix", PartitionTable, 0x4000 - 72, b"\x57\x29\x03\x00\x01\x00\x00\x00"),
    ("Solaris x86", "solaris", PartitionTable, 512 + 12, b"\xee\xde\x0d\x60"),
    ("UnixWare", "unixware", PartitionTable, 29 * 512 + 4, b"\x0d\x60\x5e\xca"),
    ("BSD", "bsd", PartitionTable, 64, b"\x57\x45\x56\x82"),
    ("BSD", "bsd", PartitionTable, 128, b"\x57\x45\x56\x82"),
    ("BSD", "bsd", PartitionTable, 512, b"\x57\x45\x56\x82"),
    ("BSD", "bsd", PartitionTable, 64, b"\x82\x56\x45\x57"),
    ("BSD", "bsd", PartitionTable, 128, b"\x82\x56\x45\x57"),
    ("BSD", "bsd", PartitionTable, 512, b"\x82\x56\x45\x57"),
    // Filesystems.
    ("xfs", "xfs", Filesystem, 0, b"XFSB"),
    ("EXFS", "exfs", Filesystem, 0, b"EXFS"),
    ("btrfs", "btrfs", Filesystem, 0x1_0040, b"_BHRfS_M"),
    ("bcachefs", "bcachefs", Filesystem, 0x1018, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"),
    (
        "bcachefs",
        "bcachefs",
        Filesystem,
        0x20_0018,
        b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef",
    ),
    ("f2fs", "f2fs", Filesystem, 1024, b"\x10\x20\xf5\xf2"),
    ("f2fs", "f2fs", Filesystem, 4096 + 1024, b"\x10\x20\xf5\xf2"),
    ("erofs", "erofs", Filesystem, 1024, b"\xe2\xe1\xf5\xe0"),
    ("zonefs", "zonefs", Filesystem, 0, b"SFOZ"),
    ("jfs", "jfs", Filesystem, 0x8000, b"JFS1"),
    ("reiserfs", "reiserfs", Filesystem, 0x2014, b"ReIsErFs"),
    ("reiserfs", "reiserfs", Filesystem, 0x2034, b"ReIsErFs"),
    ("reiserfs", "reiserfs", Filesystem, 0x1_0034, b"ReIsErFs"),
    ("reiserfs", "reiserfs", Filesystem, 0x1_0034, b"ReIsEr2Fs"),
    ("reiserfs", "reiserfs", Filesystem, 0x1_0034, b"ReIsEr3Fs"),
    ("reiser4", "reiser4", Filesystem, 0x1_0000, b"ReIsEr4"),
    ("ocfs", "ocfs", Filesystem, 8, b"OracleCFS"),
    ("ocfs", "ocfs", Filesystem, 8, b"ntocfs"),
    ("ocfs", "ocfs", Filesystem, 0x2000, b"OracleCFS"),
    ("ocfs", "ocfs", Filesystem, 0x2000, b"ntocfs"),
    ("ocfs2", "ocfs2", Filesystem, 0x400, b"OCFSV2"),
    ("ocfs2", "ocfs2", Filesystem, 0x800, b"OCFSV2"),
    ("ocfs2", "ocfs2", Filesystem, 0x1000, b"OCFSV2"),
    ("ocfs2", "ocfs2", Filesystem, 0x2000, b"OCFSV2"),
    ("HFS+", "hfsplus", Filesystem, 1024, b"H+\x00\x04"),
    ("HFSX", "hfsplus", Filesystem, 1024, b"HX\x00\x05"),
    ("APFS", "apfs", Filesystem, 32, b"NXSB"),
    ("NTFS", "ntfs", Filesystem, 3, b"NTFS    "),
    ("ReFS", "ReFS", Filesystem, 0, b"\0\0\0ReFS\0"),
    ("exFAT", "exfat", Filesystem, 3, b"EXFAT   "),
    ("HPFS", "hpfs", Filesystem, 0x2000, b"\x49\xe8\x95\xf9"),
    ("cramfs", "cramfs", Filesystem, 0, b"\x45\x3d\xcd\x28"),
    ("cramfs", "cramfs", Filesystem, 0, b"\x28\xcd\x3d\x45"),
    ("cramfs", "cramfs", Filesystem, 512, b"\x45\x3d\xcd\x28"),
    ("cramfs", "cramfs", Filesystem, 512, b"\x28\xcd\x3d\x45"),
    ("romfs", "romfs", Filesystem, 0, b"-rom1fs-"),
    ("ISO 9660", "iso9660", Filesystem, 0x8001, b"CD001"),
    ("ISO 9660", "iso9660", Filesystem, 0x8009, b"CDROM"),
    ("VMFS", "VMFS", Filesystem, 0x20_0000, b"\x5e\xf1\xab\x2f"),
    ("UBIFS", "ubifs", Filesystem, 0, b"\x31\x18\x10\x06"),
    ("BFS", "bfs", Filesystem, 0, b"\xce\xfa\xad\x1b"),
    ("BeFS", "befs", Filesystem, 32, b"BFS1"),
    ("BeFS", "befs", Filesystem, 32, b"1SFB"),
    ("BeFS", "befs", Filesystem, 512 + 32, b"BFS1"),
    ("BeFS", "befs", Filesystem, 512 + 32, b"1SFB"),
    ("VxFS", "vxfs", Filesystem, 0x400, b"\xf5\xfc\x01\xa5"),
    ("VxFS", "vxfs", Filesystem, 0x2000, b"\xa5\x01\xfc\xf5"),
    ("NSS", "nss", Filesystem, 4096, b"SPB5"),
    ("mpool", "mpool", Filesystem, 0, b"mpoolDev"),
    // The data device has the same magic.
    ("scoutfs", "scoutfs_meta", Filesystem, 0x1_0004, b"\x8b\x42\x3c\x10"),
    // Members of arrays, groups and pools.
    ("bcache", "bcache", Member, 0x1018, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"),
    ("Ceph BlueStore", "ceph_bluestore", Member, 0, b"bluestore block device"),
    ("DRBD control volume", "drbdmanage_control_volume", Member, 0, b"$DRBDmgr=q"),
    ("DRBD Proxy data log", "drbdproxy_datalog", Member, 0, b"DRBDdlh*"),
    ("LVM1", "LVM1_member", Member, 0, b"HM\x01\x00"),
    ("LVM1", "LVM1_member", Member, 0, b"HM\x02\x00"),
    ("device-mapper snapshot", "DM_snapshot_cow", Member, 0, b"SnAp"),
    ("dm-verity", "DM_verity_hash", Member, 0, b"verity\0\0"),
    ("dm-integrity", "DM_integrity", Member, 0, b"integrt\0"),
    ("VMFS volume", "VMFS_volume_member", Member, 0x10_0000, b"\x0d\xd0\x01\xc0"),
    ("UBI", "ubi", Member, 0, b"UBI#"),
    ("VDO", "vdo", Member, 0, b"dmvdo001"),
    ("Stratis", "stratis", Member, 0x204, STRATIS),
    ("Stratis", "stratis", Member, 0x1204, STRATIS),
    ("Oracle ASM", "oracleasm", Member, 32, b"ORCLDISK"),
    ("Linux RAID", "linux_raid_member", Member, 0, b"\xfc\x4e\x2b\xa9"),
    ("Linux RAID", "linux_raid_member", Member, 4096, b"\xfc\x4e\x2b\xa9"),
    ("HighPoint RAID", "hpt37x_raid_member", Member, 9 * 512 + 32, b"\xf0\x16\x78\x5a"),
    ("HighPoint RAID", "hpt37x_raid_member", Member, 9 * 512 + 32, b"\xfd\x16\x78\x5a"),
    // Encrypted volumes.
    ("LUKS", "crypto_LUKS", Encrypted, 0, b"LUKS\xba\xbe"),
    ("LUKS", "crypto_LUKS", Encrypted, 0x4000, b"SKUL\xba\xbe"),
    ("LUKS", "crypto_LUKS", Encrypted, 0x8000, b"SKUL\xba\xbe"),
    ("LUKS", "crypto_LUKS", Encrypted, 0x1_0000, b"SKUL\xba\xbe"),
    ("LUKS", "crypto_LUKS", Encrypted, 0x2_0000, b"SKUL\xba\xbe"),
    ("LUKS", "crypto_LUKS", Encrypted, 0x4_0000, b"SKUL\xba\xbe"),
    ("LUKS", "crypto_LUKS", Encrypted, 0x8_0000, b"SKUL\xba\xbe"),
    ("LUKS", "crypto_LUKS", Encrypted, 0x10_0000, b"SKUL\xba\xbe"),
    ("LUKS", "crypto_LUKS", Encrypted, 0x20_0000, b"SKUL\xba\xbe"),
    ("LUKS", "crypto_LUKS", Encrypted, 0x40_0000, b"SKUL\xba\xbe"),
    ("BitLocker", "BitLocker", Encrypted, 0, b"\xeb\x52\x90-FVE-FS-"),
    ("BitLocker", "BitLocker", Encrypted, 0, b"\xeb\x58\x90-FVE-FS-"),
    // Hibernation images with a magic at the start.
    ("TuxOnIce", "swsuspend", Swap, 0, b"\xed\xc3\x02\xe9\x98\x56\xe5\x0c"),
];

const STRATIS: &[u8] = b"!Stra0tis\x86\xff\x02^\x41rh";

/// Magics in the last ten bytes of a swap area's first page.
const SWAP_MAGICS: [(&str, &str, &[u8]); 6] = [
    ("swap", "swap", b"SWAPSPACE2"),
    ("swap", "swap", b"SWAP-SPACE"),
    ("hibernation", "swsuspend", b"S1SUSPEND"),
    ("hibernation", "swsuspend", b"S2SUSPEND"),
    ("hibernation", "swsuspend", b"ULSUSPEND"),
    ("hibernation", "swsuspend", b"LINHIB0001"),
];

/// Page sizes of Linux.
const PAGES: [u64; 5] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];

/// Returns a signature for each magic of the table that is present.
pub(super) fn fixed(windows: &Windows) -> Vec<Signature> {
    let found = MAGICS.iter().filter(|(.., offset, magic)| windows.has(*offset, magic));
    found.map(|&(name, kind, class, offset, _)| Signature::new(class, name, kind, offset)).collect()
}

/// Probes for swap areas and hibernation images of every page size.
pub(super) fn swap(windows: &Windows) -> Option<Signature> {
    PAGES.iter().find_map(|page| {
        let offset = page - 10;
        let &(name, kind, _) = SWAP_MAGICS.iter().find(|(.., magic)| windows.has(offset, magic))?;
        Some(Signature::new(Swap, name, kind, offset))
    })
}

/// Probes for an external XFS log: a log record header near the start.
pub(super) fn xfs_log(windows: &Windows) -> Option<Signature> {
    const SEARCHED: u64 = 256 << 10;
    let record =
        |offset: &u64| windows.has(*offset, b"\xfe\xed\xba\xbe") && matches!(windows.be32(offset + 8), Some(1 | 2));
    // The internal log of a small filesystem can lie here too.
    let offset = (0..SEARCHED).step_by(512).find(record).filter(|_| !windows.has(0, b"XFSB"))?;
    Some(Signature::new(Journal, "xfs", "xfs_external_log", offset))
}
