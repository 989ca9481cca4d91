//! Filesystems whose magic is short, variable or movable, so their probers also validate other fields.

use super::SignatureClass::{Encrypted, Filesystem, Journal, Member};
use super::{Signature, Windows};

fn filesystem(name: &'static str, kind: &'static str, offset: u64) -> Signature {
    Signature::new(Filesystem, name, kind, offset)
}

/// Probes for ext2, ext3, ext4 and their external journal, which differ in feature flags (kernel: `fs/ext4/ext4.h`).
pub(super) fn ext(windows: &Windows) -> Option<Signature> {
    const START: u64 = 1024;
    const COMPATIBLE_JOURNAL: u32 = 0x4;
    const INCOMPATIBLE_JOURNAL_DEVICE: u32 = 0x8;
    /// Features of ext3: file types, recovery, meta block groups.
    const INCOMPATIBLE_EXT3: u32 = 0x2 | 0x4 | 0x10;
    /// Features of ext2 and ext3: sparse superblocks, large files, tree directories.
    const READ_ONLY_EXT3: u32 = 0x1 | 0x2 | 0x4;
    const TEST_FILESYSTEM: u32 = 0x4;
    let offset = START + 56;
    let block_size = windows.le32(START + 24)?;
    if !windows.has(offset, b"\x53\xef") || block_size > 6 {
        return None;
    }
    let [compatible, incompatible, read_only] =
        [92, 96, 100].map(|field| windows.le32(START + field).unwrap_or_default());
    if incompatible & INCOMPATIBLE_JOURNAL_DEVICE != 0 {
        return Some(Signature::new(Journal, "ext", "jbd", offset));
    }
    let newer = incompatible & !INCOMPATIBLE_EXT3 != 0 || read_only & !READ_ONLY_EXT3 != 0;
    let test = windows.le32(START + 352).is_some_and(|flags| flags & TEST_FILESYSTEM != 0);
    let name = if newer && test {
        "ext4dev"
    } else if newer {
        "ext4"
    } else if compatible & COMPATIBLE_JOURNAL != 0 {
        "ext3"
    } else {
        "ext2"
    };
    Some(filesystem(name, name, offset))
}

/// Probes for Minix versions 1 to 3 in both byte orders (kernel: `include/uapi/linux/minix_fs.h`).
pub(super) fn minix(windows: &Windows) -> Option<Signature> {
    const START: u64 = 1024;
    const OLD: [u16; 4] = [0x137f, 0x138f, 0x2468, 0x2478];
    const THIRD: u16 = 0x4d5a;
    let word = |big: bool, at: u64| {
        let read = if big { Windows::be16 } else { Windows::le16 };
        read(windows, START + at).map(u64::from)
    };
    let long = |big: bool, at: u64| {
        let read = if big { Windows::be32 } else { Windows::le32 };
        read(windows, START + at).map(u64::from)
    };
    let old = |big: bool| {
        let magic = word(big, 16).filter(|magic| OLD.iter().any(|old| u64::from(*old) == *magic))?;
        let zones = if magic < 0x2000 { word(big, 2)? } else { long(big, 20)? };
        // The size of a zone is a power of two of blocks.
        (maps(word(big, 0)?, zones, word(big, 4)?, word(big, 6)?, word(big, 8)?, 1024) && word(big, 10)? <= 8)
            .then_some(16)
    };
    let third = |big: bool| {
        let size = word(big, 28).filter(|size| size.is_power_of_two() && (1024..=4096).contains(size))?;
        (word(big, 24)? == u64::from(THIRD)
            && maps(long(big, 0)?, long(big, 20)?, word(big, 6)?, word(big, 8)?, word(big, 10)?, size)
            && word(big, 12)? <= 8)
            .then_some(24)
    };
    let at = [false, true].into_iter().find_map(|big| old(big).or_else(|| third(big)))?;
    Some(filesystem("Minix", "minix", START + at))
}

/// Checks that the inode and zone bitmaps fit into the blocks reserved for them.
fn maps(inodes: u64, zones: u64, inode_blocks: u64, zone_blocks: u64, first_zone: u64, block_bytes: u64) -> bool {
    let bits = block_bytes * 8;
    inodes > 0
        && (1..zones).contains(&first_zone)
        && (1..=first_zone).contains(&inode_blocks)
        && (1..=first_zone).contains(&zone_blocks)
        && inode_blocks * bits > inodes
        && zone_blocks * bits > zones - first_zone
}

/// Probes for FAT12, FAT16 and FAT32. Without a type string the boot sector's parameters must be valid (Microsoft's FAT
/// specification, section 3).
pub(super) fn fat(windows: &Windows) -> Option<Signature> {
    let strings: [(u64, &[u8]); 8] = [
        (82, b"FAT32   "),
        (54, b"FAT16   "),
        (54, b"FAT12   "),
        (54, b"FAT     "),
        (82, b"MSWIN"),
        (54, b"MSDOS"),
        (82, b"MSDOS"),
        (54, b"MSWIN"),
    ];
    let named = strings.into_iter().find(|(offset, string)| windows.has(*offset, string)).map(|(offset, _)| offset);
    if let Some(offset) = named {
        return Some(filesystem("FAT", "vfat", offset));
    }
    let others: [&[u8]; 5] = [b"NTFS    ", b"EXFAT   ", b"-FVE-FS-", b"HPFS    ", b"JFS     "];
    if others.into_iter().any(|other| windows.has(3, other) || windows.has(54, other)) {
        return None;
    }
    let byte = |at| windows.at(at, 1).map(|bytes| bytes[0]);
    let jump = matches!(byte(0)?, 0xeb | 0xe9);
    let marked = windows.has(510, b"\x55\xaa");
    let sector = windows.le16(11)?;
    let (cluster, reserved, tables, media) = (byte(13)?, windows.le16(14)?, byte(16)?, byte(21)?);
    let narrow = windows.le16(22)? != 0 && windows.le16(17)? != 0;
    let wide = windows.le16(22)? == 0 && windows.le32(36)? != 0 && windows.le16(17)? == 0;
    let sectors = windows.le16(19)? != 0 || windows.le32(32)? != 0;
    let valid = sector.is_power_of_two()
        && (512..=4096).contains(&sector)
        && cluster.is_power_of_two()
        && reserved != 0
        && (1..=4).contains(&tables)
        && (media == 0xf0 || media >= 0xf8)
        && (narrow || wide)
        && sectors;
    let offset = if jump { 0 } else { 510 };
    ((jump || marked) && valid).then_some(filesystem("FAT", "vfat", offset))
}

/// Probes for BitLocker To Go: a FAT boot sector with an identifier.
pub(super) fn bitlocker_to_go(windows: &Windows) -> Option<Signature> {
    const IDENTIFIER: &[u8] = b"\x3b\xd6\x67\x49\x29\x2e\xd8\x4a\x83\x99\xf6\xa3\x39\xe3\xd0\x01";
    let found = windows.has(424, IDENTIFIER) && windows.has(3, b"MSWIN4.1");
    found.then_some(Signature::new(Encrypted, "BitLocker", "BitLocker", 0))
}

/// Probes for the `CoreStorage` volume header, version 1, which `FileVault` 2 uses.
pub(super) fn core_storage(windows: &Windows) -> Option<Signature> {
    let version = windows.le16(8)? == 1 && windows.le16(10)? == 0x10;
    let found = version && windows.has(88, b"CS\x01\x00\x00\x00");
    found.then_some(Signature::new(Encrypted, "FileVault", "cs_fvault2", 88))
}

/// Probes for HFS, and for HFS+ inside an HFS wrapper (Apple TN1150, section "HFS Wrapper").
pub(super) fn hfs(windows: &Windows) -> Option<Signature> {
    const START: u64 = 1024;
    const SECTOR: u64 = 512;
    let block_bytes = u64::from(windows.be32(START + 20)?);
    let blocks = windows.be16(START + 18)?;
    if !windows.has(START, b"BD") || block_bytes == 0 || block_bytes % SECTOR != 0 || blocks == 0 {
        return None;
    }
    if windows.has(START + 124, b"H+") || windows.has(START + 124, b"HX") {
        return Some(filesystem("HFS+", "hfsplus", START));
    }
    Some(filesystem("HFS", "hfs", START))
}

/// Probes for UFS1 and UFS2 in both byte orders, at each possible superblock offset (FreeBSD: `ufs/ffs/fs.h`).
pub(super) fn ufs(windows: &Windows) -> Option<Signature> {
    const PLACES: [u64; 4] = [0, 8 << 10, 64 << 10, 256 << 10];
    const MAGIC: u64 = 1372;
    /// UFS1, UFS2, and the variants of HP-UX and of systems with long names.
    const KNOWN: [u32; 6] = [0x0001_1954, 0x1954_0119, 0x0019_5612, 0x0009_5014, 0x0061_2195, 0x0523_1994];
    let offset = PLACES.into_iter().map(|place| place + MAGIC).find(|offset| {
        let magics = [windows.le32(*offset), windows.be32(*offset)];
        magics.into_iter().flatten().any(|magic| KNOWN.contains(&magic))
    })?;
    Some(filesystem("UFS", "ufs", offset))
}

/// Probes for System V and Xenix filesystems (kernel: `include/linux/sysv_fs.h`).
pub(super) fn sysv(windows: &Windows) -> Option<Signature> {
    const BLOCKS: [u64; 4] = [0, 9, 15, 18];
    let magic = |offset: &u64, magic: u32| windows.le32(*offset) == Some(magic) || windows.be32(*offset) == Some(magic);
    let sysv = BLOCKS.into_iter().map(|block| block * 1024 + 512 + 504).find(|offset| magic(offset, 0xfd18_7e20));
    if let Some(offset) = sysv {
        return Some(filesystem("System V", "sysv", offset));
    }
    // The kernel reads the magic in the last bytes of the superblock, libblkid in the block after it.
    let xenix = [1024 + 1016, 2048].into_iter().find(|offset| {
        windows.has(*offset, b"\x44\x55\x2b") || windows.has(*offset, b"\x2b\x55\x44") || magic(offset, 0x002b_5544)
    })?;
    Some(filesystem("Xenix", "xenix", xenix))
}

/// Probes for the NILFS2 superblock and its copy near the end (kernel: `nilfs2_ondisk.h`).
pub(super) fn nilfs2(windows: &Windows) -> Option<Signature> {
    let copy = (windows.bytes >> 12).checked_sub(1).map(|block| block << 12);
    let superblock = |start: &u64| {
        windows.le32(*start) == Some(2)
            && windows.has(start + 6, b"\x34\x34")
            && matches!(windows.le16(start + 8), Some(1..=1024))
    };
    let start = [Some(1024), copy].into_iter().flatten().find(superblock)?;
    Some(filesystem("NILFS2", "nilfs2", start + 6))
}

/// Probes for GFS and GFS2, which share a magic and differ in the format number.
pub(super) fn gfs(windows: &Windows) -> Option<Signature> {
    const START: u64 = 64 << 10;
    const FIRST_OF_GFS2: u32 = 1800;
    if !windows.has(START, b"\x01\x16\x19\x70") {
        return None;
    }
    let name = if windows.be32(START + 24)? < FIRST_OF_GFS2 { "gfs" } else { "gfs2" };
    Some(filesystem(name, name, START))
}

/// Probes for squashfs in both byte orders and for its LZMA variant. libblkid calls versions before 4 `squashfs3`.
pub(super) fn squashfs(windows: &Windows) -> Option<Signature> {
    const MAJOR: u64 = 28;
    let little = windows.has(0, b"hsqs") || windows.has(0, b"shsq");
    let big = windows.has(0, b"sqsh") || windows.has(0, b"qshs");
    let major = if little { windows.le16(MAJOR) } else { windows.be16(MAJOR) };
    let kind = if major? < 4 { "squashfs3" } else { "squashfs" };
    (little || big).then_some(filesystem("squashfs", kind, 0))
}

/// Probes for UDF: an NSR descriptor in the volume recognition sequence (ECMA-167, part 2) for any sector size.
pub(super) fn udf(windows: &Windows) -> Option<Signature> {
    const START: u64 = 32 << 10;
    const MAX_DESCRIPTORS: u64 = 64;
    let known: [&[u8]; 7] = [b"BEA01", b"BOOT2", b"CD001", b"CDW02", b"NSR02", b"NSR03", b"TEA01"];
    let versions = &known[4..6];
    let step = [2048, 4096, 8192, 16384, 32768].into_iter().find(|step| {
        let descriptors = (0..MAX_DESCRIPTORS).map(|index| START + index * step + 1);
        let mut sequence = descriptors.take_while(|offset| known.iter().any(|magic| windows.has(*offset, magic)));
        sequence.any(|offset| versions.iter().any(|magic| windows.has(offset, magic)))
    });
    step.map(|_| filesystem("UDF", "udf", START + 1))
}

/// Probes for uberblocks in the four ZFS labels, two at the start and two at the end.
pub(super) fn zfs(windows: &Windows) -> Option<Signature> {
    const MAGIC: u64 = 0x00ba_b10c;
    const LABEL: u64 = 256 << 10;
    let aligned = windows.bytes & !(LABEL - 1);
    let labels = [Some(0), Some(LABEL), aligned.checked_sub(2 * LABEL), aligned.checked_sub(LABEL)];
    let places = labels.into_iter().flatten().flat_map(|label| (label + LABEL / 2..label + LABEL).step_by(1024));
    let magics = [MAGIC.to_le_bytes(), MAGIC.to_be_bytes()];
    let offset = places.into_iter().find(|offset| magics.iter().any(|magic| windows.has(*offset, magic)))?;
    Some(Signature::new(Member, "ZFS", "zfs_member", offset))
}

/// Probes for a JFFS2 node at the start. libblkid does not recognize JFFS2.
pub(super) fn jffs2(windows: &Windows) -> Option<Signature> {
    const MAGIC: u16 = 0x1985;
    /// Directory entry, inode, clean marker, padding, summary, extended attribute, attribute reference.
    const TYPES: [u16; 7] = [0xe001, 0xe002, 0x2003, 0x2004, 0x2006, 0xe008, 0xe009];
    let known = |read: fn(&Windows, u64) -> Option<u16>| {
        read(windows, 0) == Some(MAGIC) && read(windows, 2).is_some_and(|kind| TYPES.contains(&kind))
    };
    (known(Windows::le16) || known(Windows::be16)).then_some(filesystem("JFFS2", "jffs2", 0))
}
