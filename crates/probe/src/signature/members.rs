//! Members of arrays, volume groups and pools whose metadata depends on the device size or needs validation.

use super::SignatureClass::{Filesystem, Member};
use super::{Signature, Windows};

const SECTOR: u64 = 512;

fn member(name: &'static str, kind: &'static str, offset: u64) -> Signature {
    Signature::new(Member, name, kind, offset)
}

/// Probes for an LVM2 label in the first four sectors. The offset is that of the label's type field.
pub(super) fn lvm2(windows: &Windows) -> Option<Signature> {
    const TYPE: u64 = 24;
    let label = (0..4).map(|sector| sector * SECTOR).find(|offset| windows.has(*offset, b"LABELONE"))?;
    Some(member("LVM2", "LVM2_member", label + TYPE))
}

/// Probes for md metadata 0.90 and 1.0 near the end (kernel: `md_p.h`). 0.90 is in host byte order.
pub(super) fn linux_raid(windows: &Windows) -> Option<Signature> {
    const MAGIC: u32 = 0xa92b_4efc;
    let old = (windows.bytes & !0xffff).checked_sub(0x1_0000);
    let new = (windows.bytes / SECTOR).checked_sub(16).map(|sector| (sector & !7) * SECTOR);
    let at = |offset: &u64| windows.le32(*offset) == Some(MAGIC) || windows.be32(*offset) == Some(MAGIC);
    let offset = [old, new].into_iter().flatten().find(at)?;
    Some(member("Linux RAID", "linux_raid_member", offset))
}

/// Probes for the DDF anchor header near the end (SNIA DDF, section 5.3).
pub(super) fn ddf(windows: &Windows) -> Option<Signature> {
    let magics: [&[u8]; 2] = [b"\xde\x11\xde\x11", b"\x11\xde\x11\xde"];
    let places = [1, 257].map(|sectors| last(windows, sectors));
    let offset = places.into_iter().flatten().find(|offset| magics.iter().any(|magic| windows.has(*offset, magic)))?;
    Some(member("DDF RAID", "ddf_raid_member", offset))
}

/// Returns the offset of the sector `sectors` before the end.
fn last(windows: &Windows, sectors: u64) -> Option<u64> {
    (windows.bytes / SECTOR).checked_sub(sectors).map(|sector| sector * SECTOR)
}

/// Probes for firmware RAID. Columns: name, libblkid's name, sectors before the end, offset within, magic.
pub(super) fn firmware_raid(windows: &Windows) -> Option<Signature> {
    type Row = (&'static str, &'static str, u64, u64, &'static [u8]);
    const ROWS: &[Row] = &[
        ("Intel RAID", "isw_raid_member", 2, 0, b"Intel Raid ISM Cfg Sig. "),
        // The last but one sector of 4096 bytes.
        ("Intel RAID", "isw_raid_member", 16, 0, b"Intel Raid ISM Cfg Sig. "),
        ("LSI MegaRAID", "lsi_mega_raid_member", 1, 0, b"$XIDE$"),
        ("NVIDIA RAID", "nvidia_raid_member", 2, 0, b"NVIDIA"),
        ("Adaptec HostRAID", "adaptec_raid_member", 1, 0, b"\x37\xfc\x4d\x1e"),
        ("HighPoint RAID", "hpt45x_raid_member", 11, 0, b"\xf3\x16\x78\x5a"),
        ("HighPoint RAID", "hpt45x_raid_member", 11, 0, b"\xfd\x16\x78\x5a"),
    ];
    let found = ROWS.iter().find_map(|&(name, kind, sectors, within, magic)| {
        let offset = last(windows, sectors)? + within;
        windows.has(offset, magic).then_some(member(name, kind, offset))
    });
    found
        .or_else(|| promise(windows))
        .or_else(|| jmicron(windows))
        .or_else(|| silicon(windows))
        .or_else(|| via(windows))
}

/// Probes for Promise controllers, whose metadata offset depends on the disk's geometry.
fn promise(windows: &Windows) -> Option<Signature> {
    const PLACES: [u64; 13] = [63, 255, 256, 16, 399, 591, 675, 735, 911, 974, 991, 951, 3087];
    let places = PLACES.into_iter().filter_map(|sectors| last(windows, sectors));
    let offset = places.into_iter().find(|offset| windows.has(*offset, b"Promise Technology, Inc."))?;
    Some(member("Promise FastTrak", "promise_fasttrack_raid_member", offset))
}

/// Probes for `JMicron` controllers: a two-byte magic and a checksum over 64 words.
fn jmicron(windows: &Windows) -> Option<Signature> {
    let offset = last(windows, 1).filter(|offset| windows.has(*offset, b"JM"))?;
    let sum = words(windows.at(offset, 128)?).fold(0, u16::wrapping_add);
    (sum <= 1).then_some(member("JMicron RAID", "jmicron_raid_member", offset))
}

/// Probes for Silicon Image controllers: a magic and a checksum over all words before it.
fn silicon(windows: &Windows) -> Option<Signature> {
    const CHECKSUM: usize = 0x13e;
    let start = last(windows, 1)?;
    let offset = start + 0x60;
    if !windows.has(offset, b"\0\0\0\x2f") {
        return None;
    }
    let sum = words(windows.at(start, CHECKSUM + 2)?).fold(0, u16::wrapping_add);
    (sum == 0).then_some(member("Silicon Medley RAID", "silicon_medley_raid_member", offset))
}

/// Probes for VIA controllers: a two-byte magic, a version and a byte checksum.
fn via(windows: &Windows) -> Option<Signature> {
    let offset = last(windows, 1)?;
    let data = windows.at(offset, 51)?;
    let sum = data[..50].iter().copied().fold(0, u8::wrapping_add);
    let found = data[..2] == [0x55, 0xaa] && data[2] <= 2 && sum == data[50];
    found.then_some(member("VIA RAID", "via_raid_member", offset))
}

fn words(data: &[u8]) -> impl Iterator<Item = u16> + '_ {
    data.chunks_exact(2).map(|word| u16::from_le_bytes([word[0], word[1]]))
}

/// Probes for internal DRBD metadata of versions 8.3, 8.4 and 9 in the last 4 KiB.
pub(super) fn drbd(windows: &Windows) -> Option<Signature> {
    const MAGIC: u64 = 60;
    const KNOWN: [u32; 3] = [0x8374_026b, 0x8374_026c, 0x8374_026d];
    let ends = [windows.bytes, windows.bytes & !0xfff];
    let places = ends.into_iter().filter_map(|end| Some(end.checked_sub(4096)? + MAGIC));
    let offset = places.into_iter().find(|offset| windows.be32(*offset).is_some_and(|magic| KNOWN.contains(&magic)))?;
    Some(member("DRBD", "drbd", offset))
}

/// Probes for the copy of the bcachefs superblock in the last megabyte.
pub(super) fn bcachefs_copy(windows: &Windows) -> Option<Signature> {
    const FIELD: u64 = 24;
    const MAGIC: &[u8] = b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef";
    let offset = windows.bytes.checked_sub(1 << 20)? + FIELD;
    windows.has(offset, MAGIC).then_some(Signature::new(Filesystem, "bcachefs", "bcachefs", offset))
}
