//! Partition tables whose magic is short or at the end of the device.

use super::SignatureClass::PartitionTable;
use super::{Signature, Windows};

fn table(name: &'static str, kind: &'static str, offset: u64) -> Signature {
    Signature::new(PartitionTable, name, kind, offset)
}

/// Probes for a backup GPT header in the last sector, for each sector size.
pub(super) fn gpt_copy(windows: &Windows) -> Option<Signature> {
    let places = [512, 1024, 2048, 4096].into_iter().filter_map(|sector| windows.bytes.checked_sub(sector));
    places.into_iter().find(|offset| windows.has(*offset, b"EFI PART")).map(|offset| table("GPT", "gpt", offset))
}

/// Probes for an MBR: a two-byte magic and four entries with a valid boot flag.
pub(super) fn mbr(windows: &Windows) -> Option<Signature> {
    let data = windows.at(446, 66)?;
    let valid = |entry: &[u8]| matches!(entry[0], 0 | 0x80);
    let marked = data[64..] == [0x55, 0xaa];
    (marked && data[..64].chunks_exact(16).all(valid)).then_some(table("MBR", "dos", 510))
}

/// Probes for an Apple partition map: a driver descriptor and the map's first entry.
pub(super) fn mac(windows: &Windows) -> Option<Signature> {
    let block = windows.be16(2).filter(|_| windows.has(0, b"ER"))?;
    let valid = block.is_power_of_two() && block >= 512;
    let entry = |offset: u64| windows.has(offset, b"PM\0\0") || windows.has(offset, b"TS");
    (valid && (entry(512) || entry(u64::from(block)))).then_some(table("Apple", "mac", 0))
}

/// Probes for a Sun disk label: a two-byte magic and a checksum by exclusive or.
pub(super) fn sun(windows: &Windows) -> Option<Signature> {
    let label = windows.at(0, 512)?;
    let word = |pair: &[u8]| u16::from_be_bytes([pair[0], pair[1]]);
    let sum = label.chunks_exact(2).map(word).fold(0, |sum, word| sum ^ word);
    // A repeated pattern of two bytes has a valid checksum too.
    let varied = label.chunks_exact(2).any(|pair| pair != &label[..2]);
    (label[508..510] == [0xda, 0xbe] && sum == 0 && varied).then_some(table("Sun", "sun", 508))
}

/// Probes for an Atari AHDI table. It has no magic: a used partition of a known type must lie within the disk size.
pub(super) fn atari(windows: &Windows) -> Option<Signature> {
    const SIZE: u64 = 0x1c2;
    const ENTRIES: u64 = 0x1c6;
    const KNOWN: [&[u8]; 8] = [b"GEM", b"BGM", b"XGM", b"LNX", b"SWP", b"RAW", b"MIX", b"UNX"];
    let sectors = u64::from(windows.be32(SIZE)?);
    if sectors == 0 || sectors > windows.bytes / 512 {
        return None;
    }
    let offset = (0..4).map(|index| ENTRIES + index * 12).find(|entry| {
        let Some(data) = windows.at(*entry, 12) else { return false };
        let field = |at: usize| u64::from(u32::from_be_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]));
        let (start, length) = (field(4), field(8));
        data[0] & 1 != 0 && KNOWN.contains(&&data[1..4]) && start > 0 && length > 0 && start + length <= sectors
    })?;
    Some(table("Atari", "atari", offset))
}

/// Probes for DASD volume labels in EBCDIC, in block 1 or 2 for each block size.
pub(super) fn dasd(windows: &Windows) -> Option<Signature> {
    const BLOCKS: [u64; 5] = [512, 1024, 2048, 4096, 8192];
    let magics: [&[u8]; 3] = [b"\xe5\xd6\xd3\xf1", b"\xd3\xd5\xe7\xf1", b"\xc3\xd4\xe2\xf1"];
    let offset = BLOCKS.into_iter().find(|offset| magics.iter().any(|magic| windows.has(*offset, magic)))?;
    Some(table("DASD", "dasd", offset))
}
