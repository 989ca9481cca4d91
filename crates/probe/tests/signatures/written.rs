//! Images of formats for which Debian has no program, written from the formats' descriptions. `blkid` has to recognize
//! each, which proves the image.

use super::image::{CRC32, CRC32C, Image, crc};

/// A format that is written byte by byte.
pub(super) struct Written {
    /// A unique name.
    pub(super) name: &'static str,
    /// The name of the format in `blkid`.
    pub(super) kind: &'static str,
    pub(super) write: fn(&mut Image),
}

/// Size of every image: more than the minimum of ZFS and GFS, and no multiple of 64 KiB.
pub(super) const BYTES: u64 = (72 << 20) + 5 * 4096;

const fn written(name: &'static str, kind: &'static str, write: fn(&mut Image)) -> Written {
    Written { name, kind, write }
}

pub(super) const WRITTEN: &[Written] = &[
    // Linux arrays and volumes.
    written("md 0.90 little-endian", "linux_raid_member", |image| md_old(image, false)),
    written("md 0.90 big-endian", "linux_raid_member", |image| md_old(image, true)),
    written("md 1.0", "linux_raid_member", |image| md(image, (image.len() - 8192) & !4095)),
    written("md 1.1", "linux_raid_member", |image| md(image, 0)),
    written("md 1.2", "linux_raid_member", |image| md(image, 4096)),
    written("LVM2 in sector 0", "LVM2_member", |image| lvm2(image, 0)),
    written("LVM2 in sector 1", "LVM2_member", |image| lvm2(image, 1)),
    written("LVM1", "LVM1_member", |image| {
        image.put(0, b"HM").le16(2, 1);
    }),
    written("LVM1 of version 2", "LVM1_member", |image| {
        image.put(0, b"HM").le16(2, 2);
    }),
    written("device-mapper snapshot", "DM_snapshot_cow", |image| {
        image.put(0, b"SnAp").le32(4, 1).le32(8, 1).le32(12, 16);
    }),
    written("dm-integrity", "DM_integrity", |image| {
        image.put(0, b"integrt\0").byte(8, 1).byte(9, 15).le16(10, 4);
    }),
    written("VDO", "vdo", |image| {
        image.put(0, b"dmvdo001").le32(8, 5);
    }),
    written("Stratis", "stratis", |image| stratis(image, 512)),
    written("Stratis, second copy", "stratis", |image| stratis(image, 9 * 512)),
    written("DRBD 8", "drbd", |image| drbd(image, 0x8374_026b)),
    written("DRBD 8 unclean", "drbd", |image| drbd(image, 0x8374_026c)),
    written("DRBD 9", "drbd", |image| drbd(image, 0x8374_026d)),
    written("DRBD control volume", "drbdmanage_control_volume", |image| {
        image.put(0, b"$DRBDmgr=q\0").put(11, [b'a'; 32]).put(43, b"\n").put(4096, b"\x1a\xdb\x98\xa2");
    }),
    written("DRBD Proxy", "drbdproxy_datalog", |image| {
        image.put(0, b"DRBDdlh*");
    }),
    written("Ceph BlueStore", "ceph_bluestore", |image| {
        image.put(0, b"bluestore block device\n6ea3f5f0-1b9c-4e5c-8a7b-0a1b2c3d4e5f\n");
    }),
    written("UBI", "ubi", |image| {
        image.put(0, b"UBI#").byte(4, 1);
    }),
    written("Oracle ASM", "oracleasm", |image| {
        image.put(32, b"ORCLDISK").put(40, b"DISK1");
    }),
    written("VMFS volume", "VMFS_volume_member", |image| {
        image.put(0x10_0000, b"\x0d\xd0\x01\xc0");
    }),
    written("VMFS", "VMFS", |image| {
        image.put(0x20_0000, b"\x5e\xf1\xab\x2f");
    }),
    written("ZFS, first label", "zfs_member", |image| zfs(image, 0, false)),
    written("ZFS, first label, big-endian", "zfs_member", |image| zfs(image, 0, true)),
    written("ZFS, second label", "zfs_member", |image| zfs(image, 256 << 10, false)),
    written("ZFS, third label", "zfs_member", |image| zfs(image, (72 << 20) - (512 << 10), false)),
    written("ZFS, last label", "zfs_member", |image| zfs(image, (72 << 20) - (256 << 10), false)),
    // Firmware RAID.
    written("DDF", "ddf_raid_member", |image| ddf(image, 1, false)),
    written("DDF little-endian", "ddf_raid_member", |image| ddf(image, 1, true)),
    written("DDF before the end", "ddf_raid_member", |image| ddf(image, 257, false)),
    written("Intel", "isw_raid_member", |image| {
        image.put(last(image, 2), b"Intel Raid ISM Cfg Sig. 1.0.00");
    }),
    written("LSI", "lsi_mega_raid_member", |image| {
        image.put(last(image, 1), b"$XIDE$");
    }),
    written("NVIDIA", "nvidia_raid_member", nvidia),
    written("Adaptec", "adaptec_raid_member", |image| {
        let start = last(image, 1);
        image.be32(start, 0x37fc_4d1e).put(start + 256, b"DPTM");
    }),
    written("VIA", "via_raid_member", via),
    written("Silicon Image", "silicon_medley_raid_member", silicon),
    written("JMicron", "jmicron_raid_member", jmicron),
    written("HighPoint 37x", "hpt37x_raid_member", |image| {
        image.le32(9 * 512 + 32, 0x5a78_16f0);
    }),
    written("HighPoint 37x, failed", "hpt37x_raid_member", |image| {
        image.le32(9 * 512 + 32, 0x5a78_16fd);
    }),
    written("HighPoint 45x", "hpt45x_raid_member", |image| {
        image.le32(last(image, 11), 0x5a78_16f3);
    }),
    written("HighPoint 45x, failed", "hpt45x_raid_member", |image| {
        image.le32(last(image, 11), 0x5a78_16fd);
    }),
    written("Promise at 63", "promise_fasttrack_raid_member", |image| promise(image, 63)),
    written("Promise at 16", "promise_fasttrack_raid_member", |image| promise(image, 16)),
    written("Promise at 991", "promise_fasttrack_raid_member", |image| promise(image, 991)),
    written("Promise at 3087", "promise_fasttrack_raid_member", |image| promise(image, 3087)),
    // Encrypted volumes.
    written("BitLocker of Vista", "BitLocker", |image| {
        image.put(0, b"\xeb\x52\x90-FVE-FS-").le16(11, 512).byte(13, 8).le64(56, 16);
        image.put(16 * 4096, b"-FVE-FS-").le16(16 * 4096 + 10, 1);
    }),
    written("BitLocker", "BitLocker", |image| {
        image.put(0, b"\xeb\x58\x90-FVE-FS-").le64(176, 0x1_0000);
        image.put(0x1_0000, b"-FVE-FS-").le16(0x1_000a, 2);
    }),
    written("BitLocker To Go", "BitLocker", |image| {
        image.put(0, b"\xeb\x58\x90MSWIN4.1").le64(440, 0x1_0000);
        image.put(424, b"\x3b\xd6\x67\x49\x29\x2e\xd8\x4a\x83\x99\xf6\xa3\x39\xe3\xd0\x01");
        image.put(0x1_0000, b"-FVE-FS-").le16(0x1_000a, 2);
    }),
    // Swap.
    written("swap of the old kind", "swap", |image| {
        image.put(0, [0xff; 64]).put(4096 - 10, b"SWAP-SPACE");
    }),
    written("swap of the old kind, 64 KiB pages", "swap", |image| {
        image.put(0, [0xff; 64]).put(65536 - 10, b"SWAP-SPACE");
    }),
    written("swsusp 1", "swsuspend", |image| {
        image.put(4096 - 10, b"S1SUSPEND");
    }),
    written("swsusp 2, 16 KiB pages", "swsuspend", |image| {
        image.put(16384 - 10, b"S2SUSPEND");
    }),
    written("uswsusp, 64 KiB pages", "swsuspend", |image| {
        image.put(65536 - 10, b"ULSUSPEND");
    }),
    written("hibernation, 8 KiB pages", "swsuspend", |image| {
        image.put(8192 - 10, b"LINHIB0001");
    }),
    written("TuxOnIce", "swsuspend", |image| {
        image.put(0, b"\xed\xc3\x02\xe9\x98\x56\xe5\x0c").put(4096 - 10, b"SWAPSPACE2").le32(1024, 1).le32(1028, 100);
    }),
    // Filesystems.
    written("reiserfs 3.5 early", "reiserfs", |image| reiserfs(image, 8192, 20, b"ReIsErFs")),
    written("reiserfs at 8 KiB", "reiserfs", |image| reiserfs(image, 8192, 52, b"ReIsErFs")),
    written("reiserfs 3.6", "reiserfs", |image| reiserfs(image, 65536, 52, b"ReIsEr2Fs")),
    written("reiserfs with a journal elsewhere", "reiserfs", |image| reiserfs(image, 65536, 52, b"ReIsEr3Fs")),
    written("HFS+", "hfsplus", |image| hfs_plus(image, 1024, b"H+\0\x04")),
    written("HFSX", "hfsplus", |image| hfs_plus(image, 1024, b"HX\0\x05")),
    written("HFS+ wrapped in HFS", "hfsplus", |image| {
        image.put(1024, b"BD").be16(1024 + 18, 100).be32(1024 + 20, 4096).be16(1024 + 28, 8).put(1024 + 124, b"H+");
        image.be16(1024 + 126, 4);
        hfs_plus(image, 8 * 512 + 4 * 4096 + 1024, b"H+\0\x04");
    }),
    written("UFS 1 at 0", "ufs", |image| ufs(image, 0, 0x0001_1954, false)),
    written("UFS 1 with features", "ufs", |image| ufs(image, 8 << 10, 0x0019_5612, false)),
    written("UFS 1 with long names, big-endian", "ufs", |image| ufs(image, 8 << 10, 0x0009_5014, true)),
    written("UFS 1 of HP-UX", "ufs", |image| ufs(image, 8 << 10, 0x0061_2195, true)),
    written("UFS 1 beyond 4 GB", "ufs", |image| ufs(image, 8 << 10, 0x0523_1994, false)),
    written("UFS 2 at 64 KiB", "ufs", |image| ufs(image, 64 << 10, 0x1954_0119, false)),
    written("UFS 2 at 256 KiB, big-endian", "ufs", |image| ufs(image, 256 << 10, 0x1954_0119, true)),
    written("HPFS", "hpfs", |image| {
        image.put(0x2000, b"\x49\xe8\x95\xf9\xc5\xe9\x53\xfa").put(0x2200, b"\x49\x18\x91\xf9\xc5\x29\x52\xfa");
    }),
    written("System V", "sysv", |image| sysv(image, 0, false)),
    written("System V at block 9, big-endian", "sysv", |image| sysv(image, 9, true)),
    written("System V at block 15", "sysv", |image| sysv(image, 15, false)),
    written("System V at block 18", "sysv", |image| sysv(image, 18, false)),
    written("Xenix", "xenix", |image| {
        image.le32(2048, 0x002b_5544).le32(2052, 2);
    }),
    written("Xenix big-endian", "xenix", |image| {
        image.put(2048, b"\x2b\x55\x44").be32(2052, 2);
    }),
    written("ReFS", "ReFS", |image| {
        image.put(0, b"\0\0\0ReFS\0\0\0\0\0\0\0\0\0FSRS");
    }),
    written("GFS", "gfs", |image| {
        image.be32(0x1_0000, 0x0116_1970).be32(0x1_0004, 1).be32(0x1_0010, 100);
        image.be32(0x1_0018, 1309).be32(0x1_001c, 1401);
    }),
    written("OCFS", "ocfs", |image| {
        image.put(8192, b"OracleCFS");
    }),
    written("OCFS2 with 8 KiB blocks", "ocfs2", |image| {
        image.put(0x2000, b"OCFSV2");
    }),
    written("VxFS", "vxfs", |image| {
        image.le32(1024, 0xa501_fcf5).le32(1028, 7);
    }),
    written("VxFS of HP-UX", "vxfs", |image| {
        image.be32(8192, 0xa501_fcf5).be32(8196, 7);
    }),
    written("squashfs 3", "squashfs3", |image| {
        image.put(0, b"hsqs").le16(28, 3).le16(30, 1);
    }),
    written("squashfs 3 big-endian", "squashfs3", |image| {
        image.put(0, b"sqsh").be16(28, 3).be16(30, 1);
    }),
    written("NSS", "nss", |image| {
        image.put(4096, b"SPB5\0");
    }),
    written("BeFS", "befs", |image| befs(image, 0, false)),
    written("BeFS of PowerPC", "befs", |image| befs(image, 0, true)),
    written("BeFS behind a boot sector", "befs", |image| befs(image, 512, false)),
    written("mpool", "mpool", mpool),
    written("zonefs", "zonefs", |image| {
        image.put(0, b"SFOZ");
        let sum = crc(CRC32, !0, image.bytes(0, 4096));
        image.le32(4, sum);
    }),
    written("EXFS", "exfs", exfs),
    written("Minix 1 big-endian", "minix", |image| minix(image, 0x137f)),
    written("Minix 1 big-endian, long names", "minix", |image| minix(image, 0x138f)),
    written("Minix 2 big-endian", "minix", |image| minix(image, 0x2468)),
    written("Minix 2 big-endian, long names", "minix", |image| minix(image, 0x2478)),
    written("FAT32 without its string", "vfat", |image| fat(image, true)),
    written("FAT16 without its string", "vfat", |image| fat(image, false)),
    // Partition tables.
    written("AIX", "aix", |image| {
        image.be32(0, 0xc9c2_d4c1);
    }),
    written("BSD in sector 1", "bsd", |image| bsd(image, 512)),
    written("BSD of Alpha", "bsd", |image| bsd(image, 64)),
    written("BSD of SPARC", "bsd", |image| bsd(image, 128)),
    written("Ultrix", "ultrix", |image| {
        let table = 16384 - 72;
        image.le32(table, 0x0003_2957).le32(table + 4, 1).le32(table + 8, 100).le32(table + 12, 0);
    }),
    written("Solaris x86", "solaris", |image| {
        image.le32(512 + 12, 0x600d_deee).le32(512 + 16, 1).le16(512 + 30, 16);
    }),
    written("Atari", "atari", |image| {
        image.be32(0x1c2, (BYTES / 512) as u32).byte(0x1c6, 1).put(0x1c7, b"GEM").be32(0x1ca, 2).be32(0x1ce, 4096);
    }),
];

/// Returns the offset of the sector `sectors` before the end.
fn last(image: &Image, sectors: usize) -> usize {
    image.len() - sectors * 512
}

fn md_old(image: &mut Image, big: bool) {
    let start = (image.len() & !0xffff) - 0x1_0000;
    let fields = [0xa92b_4efc, 0, 90, 3, 0, 0x1234_5678, 1, 1, 4096, 2, 2, 0, 0, 1, 2, 3];
    for (index, value) in fields.into_iter().enumerate() {
        image.field32(big, start + 4 * index, value);
    }
}

fn md(image: &mut Image, start: usize) {
    image.le32(start, 0xa92b_4efc).le32(start + 4, 1).put(start + 16, [7; 16]).put(start + 32, b"host:0");
    image.le64(start + 144, start as u64 / 512);
}

fn lvm2(image: &mut Image, sector: usize) {
    let start = sector * 512;
    image.put(start, b"LABELONE").le64(start + 8, sector as u64).le32(start + 20, 32).put(start + 24, b"LVM2 001");
    image.put(start + 32, [b'u'; 32]);
    let sum = crc(CRC32, 0xf597_a6cf, image.bytes(start + 20, 492));
    image.le32(start + 16, sum);
}

fn stratis(image: &mut Image, start: usize) {
    image.put(start + 4, b"!Stra0tis\x86\xff\x02^\x41rh").le64(start + 20, BYTES / 512).byte(start + 28, 1);
    image.put(start + 32, [b'a'; 32]).put(start + 64, [b'b'; 32]);
    let sum = !crc(CRC32C, !0, image.bytes(start + 4, 508));
    image.le32(start, sum);
}

fn drbd(image: &mut Image, magic: u32) {
    let start = image.len() - 4096;
    image.be64(start, 1000).be64(start + 40, 77).be32(start + 60, magic);
}

fn zfs(image: &mut Image, label: usize, big: bool) {
    for index in 0..8 {
        let start = label + (128 << 10) + index * 1024;
        for (field, value) in [0x00ba_b10c, 5000, 4 + index as u64, 99, 1_700_000_000].into_iter().enumerate() {
            let at = start + 8 * field;
            if big {
                image.be64(at, value)
            } else {
                image.le64(at, value)
            };
        }
    }
}

fn ddf(image: &mut Image, sectors: usize, little: bool) {
    let (anchor, primary) = (last(image, sectors), 4096);
    for header in [anchor, primary] {
        image.field32(!little, header, 0xde11_de11).put(header + 8, [b'g'; 24]).put(header + 32, b"01.02.00");
        let sector = primary as u64 / 512;
        if little {
            image.le64(header + 96, sector)
        } else {
            image.be64(header + 96, sector)
        };
    }
}

fn nvidia(image: &mut Image) {
    const WORDS: usize = 30;
    let start = last(image, 2);
    image.put(start, b"NVIDIA  ").le32(start + 8, WORDS as u32).le16(start + 16, 100);
    let words = image.bytes(start, 4 * WORDS).chunks_exact(4);
    let sum = words.map(|word| u32::from_le_bytes(word.try_into().unwrap())).fold(0, u32::wrapping_add);
    image.le32(start + 12, sum.wrapping_neg());
}

fn via(image: &mut Image) {
    let start = last(image, 1);
    image.le16(start, 0xaa55).byte(start + 2, 1).byte(start + 3, 1).le32(start + 5, 1000);
    let sum = image.bytes(start, 50).iter().copied().fold(0, u8::wrapping_add);
    image.byte(start + 50, sum);
}

fn silicon(image: &mut Image) {
    let start = last(image, 1);
    image.le32(start + 0x60, 0x2f00_0000).le32(start + 0x6c, 4096);
    let words = image.bytes(start, 0x13e).chunks_exact(2);
    let sum = words.map(|word| u16::from_le_bytes([word[0], word[1]])).fold(0, u16::wrapping_add);
    image.le16(start + 0x13e, sum.wrapping_neg());
}

fn jmicron(image: &mut Image) {
    let start = last(image, 1);
    image.put(start, b"JM").le16(start + 2, 1).le32(start + 16, 42);
    let words = image.bytes(start, 128).chunks_exact(2);
    let sum = words.map(|word| u16::from_le_bytes([word[0], word[1]])).fold(0, u16::wrapping_add);
    image.le16(start + 4, sum.wrapping_neg());
}

fn promise(image: &mut Image, sectors: usize) {
    image.put(last(image, sectors), b"Promise Technology, Inc.");
}

fn reiserfs(image: &mut Image, start: usize, magic: usize, mark: &[u8]) {
    image.le32(start, 2000).le32(start + 4, 1000).le32(start + 12, 18).le16(start + 44, 4096).put(start + magic, mark);
}

fn hfs_plus(image: &mut Image, start: usize, mark: &[u8]) {
    image.put(start, mark).be32(start + 40, 4096).be32(start + 44, 2000);
}

fn ufs(image: &mut Image, start: usize, magic: u32, big: bool) {
    image.field32(big, start + 36, 4000).field32(big, start + 48, 8192).field32(big, start + 52, 1024);
    image.field32(big, start + 1372, magic);
}

fn sysv(image: &mut Image, block: usize, big: bool) {
    let start = block * 1024 + 512;
    image.field32(big, start + 504, 0xfd18_7e20).field32(big, start + 508, 2);
}

fn befs(image: &mut Image, start: usize, big: bool) {
    let put = |image: &mut Image, at: usize, value: u32| {
        image.field32(big, start + at, value);
    };
    image.put(start, b"volume");
    for (at, value) in [(32, 0x4246_5331), (36, 0x4249_4745), (40, 2048), (44, 11), (64, 2048), (68, 0xdd12_1031)] {
        put(image, at, value);
    }
    for (at, value) in [(72, 1), (76, 13), (80, 1), (84, 0x434c_454e), (112, 0x15b6_830e)] {
        put(image, at, value);
    }
    // The root directory: an inode in block 8 of group 0.
    image.field16(big, start + 120, 8).field16(big, start + 122, 1);
    let inode = 8 * 2048;
    image.field32(big, inode, 0x3bbe_0ad9).field32(big, inode + 40, 2048);
}

fn mpool(image: &mut Image) {
    image.put(0, b"mpoolDev").put(8, b"pool").put(40, [5; 16]).le16(56, 1).le32(58, 1);
    let sum = !crc(CRC32C, !0, image.bytes(0, 62));
    image.le32(62, sum);
}

fn exfs(image: &mut Image) {
    const BLOCK: u32 = 4096;
    let blocks = image.len() as u32 / BLOCK;
    image.put(0, b"EXFS").be32(4, BLOCK).be64(8, u64::from(blocks)).put(32, [9; 16]).be64(48, 512);
    image.be32(80, 1).be32(84, blocks).be32(88, 1).be32(96, 1024).be16(100, 0xb4a4).be16(102, 512).be16(104, 512);
    image.be16(106, 8).put(120, [12, 9, 9, 3, 11, 0, 0, 25]);
}

fn minix(image: &mut Image, magic: u16) {
    image.be16(1024, 64).be16(1028, 1).be16(1030, 1).be16(1032, 8).be32(1036, 0x7fff_ffff).be16(1040, magic);
    image.be16(1042, 1);
    if magic < 0x2000 {
        image.be16(1026, 2048)
    } else {
        image.be32(1044, 2048)
    };
}

fn fat(image: &mut Image, wide: bool) {
    let sectors = (BYTES / 512) as u32;
    image.put(0, b"\xeb\x3c\x90mkfs.fat").le16(11, 512).byte(13, 4).le16(14, 32).byte(16, 2).byte(21, 0xf8);
    image.le16(24, 32).le16(26, 8).le32(32, sectors).put(510, b"\x55\xaa");
    if wide {
        image.le32(36, 600).le32(44, 2)
    } else {
        image.le16(17, 512).le16(22, 160)
    };
}

fn bsd(image: &mut Image, start: usize) {
    image.le32(start, 0x8256_4557).le32(start + 132, 0x8256_4557).le16(start + 138, 8).le32(start + 40, 512);
    image.le32(start + 148, 2000).le32(start + 152, 64).byte(start + 160, 7);
    let words = image.bytes(start, 148 + 16 * 8).chunks_exact(2);
    let sum = words.fold(0, |sum, word| sum ^ u16::from_le_bytes([word[0], word[1]]));
    image.le16(start + 136, sum);
}
