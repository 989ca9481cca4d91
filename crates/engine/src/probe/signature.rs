//! What data a device carries, by the marks that partition tables, filesystems and volume managers leave.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

/// A mark that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What left it, by its common name: `ext4`, `LVM2`, `GPT`.
    pub name: &'static str,
    /// What that is.
    pub sort: Sort,
    /// Where the mark is, in bytes from the start.
    pub offset: u64,
}

/// Sorts of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A partition table.
    PartitionTable,
    /// A filesystem.
    Filesystem,
    /// A member of a volume group, an array or a pool.
    Member,
    /// An encrypted volume.
    Encrypted,
    /// A swap area.
    Swap,
}

/// `GPT partition table`, `ext filesystem`, `LVM2 member`.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sort = match self.sort {
            Sort::PartitionTable => "partition table",
            Sort::Filesystem => "filesystem",
            Sort::Member => "member",
            Sort::Encrypted => "encrypted volume",
            Sort::Swap => "area",
        };
        write!(f, "{} {sort}", self.name)
    }
}

use Sort::{Encrypted, Filesystem, Member, PartitionTable, Swap};

/// Marks at fixed distances from the start.
const FROM_START: &[(&str, Sort, u64, &[u8])] = &[
    ("GPT", PartitionTable, 512, b"EFI PART"),
    ("GPT", PartitionTable, 4096, b"EFI PART"),
    ("xfs", Filesystem, 0, b"XFSB"),
    ("btrfs", Filesystem, 0x1_0040, b"_BHRfS_M"),
    ("f2fs", Filesystem, 1024, b"\x10\x20\xf5\xf2"),
    ("erofs", Filesystem, 1024, b"\xe2\xe1\xf5\xe0"),
    ("bcachefs or bcache", Member, 4096 + 24, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"),
    ("bcachefs", Filesystem, 4096 + 24, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"),
    ("nilfs2", Filesystem, 1024, b"\x02\x00\x00\x00\x00\x00\x34\x34"),
    ("jfs", Filesystem, 0x8000, b"JFS1"),
    ("reiserfs", Filesystem, 0x1_0034, b"ReIsEr"),
    ("gfs2", Filesystem, 0x1_0000, b"\x01\x16\x19\x70"),
    ("ocfs2", Filesystem, 0x2000, b"OCFSV2"),
    ("hfs+", Filesystem, 1024, b"H+\x00\x04"),
    ("hfsx", Filesystem, 1024, b"HX\x00\x05"),
    ("apfs", Filesystem, 32, b"NXSB"),
    ("ntfs", Filesystem, 3, b"NTFS    "),
    ("exfat", Filesystem, 3, b"EXFAT   "),
    ("vfat", Filesystem, 82, b"FAT32   "),
    ("vfat", Filesystem, 54, b"FAT16   "),
    ("vfat", Filesystem, 54, b"FAT12   "),
    ("squashfs", Filesystem, 0, b"hsqs"),
    ("iso9660", Filesystem, 0x8001, b"CD001"),
    ("udf", Filesystem, 0x8801, b"NSR0"),
    ("vmfs", Filesystem, 0x20_0000, b"\x5e\xf1\xab\x2f"),
    ("vmfs volume", Member, 0x10_0000, b"\x0d\xd0\x01\xc0"),
    ("LVM2", Member, 0, b"LABELONE"),
    ("LVM2", Member, 512, b"LABELONE"),
    ("LVM2", Member, 1024, b"LABELONE"),
    ("LVM2", Member, 1536, b"LABELONE"),
    ("Linux RAID", Member, 0, b"\xfc\x4e\x2b\xa9"),
    ("Linux RAID", Member, 4096, b"\xfc\x4e\x2b\xa9"),
    ("Ceph BlueStore", Member, 0, b"bluestore block device"),
    ("LUKS", Encrypted, 0, b"LUKS\xba\xbe"),
    ("LUKS", Encrypted, 0x4000, b"SKUL\xba\xbe"),
    ("BitLocker", Encrypted, 3, b"-FVE-FS-"),
    ("dm-integrity", Member, 0, b"integrt\x00"),
    ("dm-verity", Member, 0, b"verity\x00\x00"),
    ("swap", Swap, 4096 - 10, b"SWAPSPACE2"),
    ("swap", Swap, 4096 - 10, b"SWAP-SPACE"),
    ("swap", Swap, 65536 - 10, b"SWAPSPACE2"),
];

/// How much from the start holds every mark above.
const HEAD_BYTES: u64 = 0x20_1000;
/// How much before the end holds every mark there.
const TAIL_BYTES: u64 = 0x4_0000;

/// Finds the marks on a device of `bytes` bytes. Reads two megabytes at its start and a little at its end.
///
/// # Errors
///
/// When it cannot be read.
pub fn signatures<R: Read + Seek>(device: &mut R, bytes: u64) -> io::Result<Vec<Signature>> {
    let head = Window::read(device, 0, bytes.min(HEAD_BYTES))?;
    let tail_start = bytes.saturating_sub(TAIL_BYTES);
    let tail = Window::read(device, tail_start, bytes - tail_start)?;
    let fixed = FROM_START.iter().filter(|(.., offset, mark)| head.has(*offset, mark));
    let mut found: Vec<Signature> = fixed.map(|&(name, sort, offset, _)| Signature { name, sort, offset }).collect();
    found.extend(ext(&head));
    found.extend(zfs(&head));
    let twice = |copy: &Signature| found.iter().any(|first| first.name == copy.name);
    let copies: Vec<Signature> = at_the_end(&tail, bytes).into_iter().filter(|copy| !twice(copy)).collect();
    found.extend(copies);
    // Filesystems that programs can boot from end their first sector as a partition table does.
    if found.is_empty() {
        found.extend(mbr(&head));
    }
    Ok(found)
}

/// A piece of the device.
struct Window {
    start: u64,
    data: Vec<u8>,
}

impl Window {
    fn read<R: Read + Seek>(device: &mut R, start: u64, bytes: u64) -> io::Result<Self> {
        let mut data = Vec::new();
        device.seek(SeekFrom::Start(start))?;
        device.take(bytes).read_to_end(&mut data)?;
        Ok(Self { start, data })
    }

    fn at(&self, offset: u64, bytes: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.data.get(start..start.checked_add(bytes)?)
    }

    fn has(&self, offset: u64, mark: &[u8]) -> bool {
        self.at(offset, mark.len()) == Some(mark)
    }
}

/// The classic partition table: its mark alone is too common, so one of its four entries must make sense.
fn mbr(head: &Window) -> Option<Signature> {
    let table = head.at(446, 66)?;
    let sensible = |entry: &[u8]| matches!(entry[0], 0 | 0x80) && entry[4] != 0 && entry[12..16] != [0; 4];
    let marked = table[64..] == [0x55, 0xaa];
    let used = table[..64].chunks_exact(16).any(sensible);
    (marked && used).then_some(Signature { name: "MBR", sort: PartitionTable, offset: 510 })
}

/// The ext family's mark has two bytes, which noise may have too, so its block size must make sense as well.
fn ext(head: &Window) -> Option<Signature> {
    let block_size = u32::from_le_bytes(head.at(0x418, 4)?.try_into().ok()?);
    let offset = 0x438;
    (head.has(offset, b"\x53\xef") && block_size <= 6).then_some(Signature { name: "ext", sort: Filesystem, offset })
}

/// The blocks by which ZFS finds its newest state, in the first of four labels. Which of them is in use varies.
fn zfs(head: &Window) -> Option<Signature> {
    const MARK: u64 = 0x00ba_b10c;
    let marks = [MARK.to_le_bytes(), MARK.to_be_bytes()];
    let mut places = (0x2_0000..0x4_0000).step_by(1024);
    let offset = places.find(|&offset| marks.iter().any(|mark| head.has(offset, mark)))?;
    Some(Signature { name: "ZFS", sort: Member, offset })
}

/// The copy of a GUID partition table, and the marks of arrays that keep them there.
fn at_the_end(tail: &Window, bytes: u64) -> Vec<Signature> {
    const RAID: &[u8] = b"\xfc\x4e\x2b\xa9";
    let places = [
        ("GPT", PartitionTable, bytes.checked_sub(512), &b"EFI PART"[..]),
        ("GPT", PartitionTable, bytes.checked_sub(4096), b"EFI PART"),
        ("Linux RAID", Member, (bytes & !0xffff).checked_sub(0x1_0000), RAID),
        ("Linux RAID", Member, bytes.checked_sub(8192).map(|offset| offset & !0xfff), RAID),
    ];
    places
        .into_iter()
        .filter_map(|(name, sort, offset, mark)| Some(Signature { name, sort, offset: offset? }).zip(Some(mark)))
        .filter(|(signature, mark)| tail.has(signature.offset, mark))
        .map(|(signature, _)| signature)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    const BYTES: u64 = 4 << 20;

    fn found(marks: &[(u64, &[u8])]) -> Vec<(&'static str, u64)> {
        let mut image = vec![0; BYTES as usize];
        for (offset, mark) in marks {
            image[*offset as usize..][..mark.len()].copy_from_slice(mark);
        }
        let found = signatures(&mut Cursor::new(image), BYTES).unwrap();
        found.into_iter().map(|signature| (signature.name, signature.offset)).collect()
    }

    #[test]
    fn every_mark_of_the_table_is_found_alone() {
        for (name, _, offset, mark) in FROM_START {
            assert_eq!(found(&[(*offset, mark)]), [(*name, *offset)], "{name} at {offset}");
        }
    }

    #[test]
    fn nothing_is_found_in_zeroes_or_in_noise_or_in_nothing() {
        assert!(found(&[]).is_empty());
        let mut noise = vec![0; BYTES as usize];
        units::random::Random::new(1, 1).fill(&mut noise);
        assert_eq!(signatures(&mut Cursor::new(noise), BYTES).unwrap(), []);
        for bytes in [0, 1, 511, 4096, 70_000] {
            assert_eq!(signatures(&mut Cursor::new(vec![0; bytes]), bytes as u64).unwrap(), []);
        }
    }

    #[test]
    fn marks_at_the_end_are_found() {
        assert_eq!(found(&[(BYTES - 512, b"EFI PART")]), [("GPT", BYTES - 512)]);
        assert_eq!(found(&[(BYTES - 0x1_0000, b"\xfc\x4e\x2b\xa9")]), [("Linux RAID", BYTES - 0x1_0000)]);
        assert_eq!(found(&[(BYTES - 8192, b"\xfc\x4e\x2b\xa9")]), [("Linux RAID", BYTES - 8192)]);
    }

    #[test]
    fn a_table_and_its_copy_are_one() {
        assert_eq!(found(&[(512, b"EFI PART"), (BYTES - 512, b"EFI PART")]), [("GPT", 512)]);
    }

    #[test]
    fn ext_is_found_and_noise_that_looks_like_it_is_not() {
        assert_eq!(found(&[(0x418, &[2]), (0x438, b"\x53\xef")]), [("ext", 0x438)]);
        assert_eq!(found(&[(0x418, &[200]), (0x438, b"\x53\xef")]), []);
    }

    #[test]
    fn zfs_is_found_whichever_block_is_in_use_and_in_either_order() {
        assert_eq!(found(&[(0x2_0400, &[0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0])]), [("ZFS", 0x2_0400)]);
        assert_eq!(found(&[(0x3_fc00, &[0, 0, 0, 0, 0, 0xba, 0xb1, 0x0c])]), [("ZFS", 0x3_fc00)]);
    }

    #[test]
    fn a_classic_table_needs_an_entry() {
        let entry: &[u8] = &[0x80, 0, 2, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0];
        assert_eq!(found(&[(510, b"\x55\xaa")]), []);
        assert_eq!(found(&[(462, entry), (510, b"\x55\xaa")]), [("MBR", 510)]);
        assert_eq!(found(&[(82, b"FAT32   "), (462, entry), (510, b"\x55\xaa")]), [("vfat", 82)]);
    }

    #[test]
    fn says_what_it_is() {
        let say = |name, sort| Signature { name, sort, offset: 0 }.to_string();
        assert_eq!(say("GPT", PartitionTable), "GPT partition table");
        assert_eq!(say("LUKS", Encrypted), "LUKS encrypted volume");
        assert_eq!(say("swap", Swap), "swap area");
    }
}
