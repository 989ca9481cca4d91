//! Single magics are found; zeroes, noise and patterns have no signature.

use std::io::Cursor;

use units::random::Random;

use super::magics::MAGICS;
use super::*;

const BYTES: u64 = 6 << 20;
/// Seed of random content, printed when a test fails.
const SEED: u64 = 14;

fn examined(image: Vec<u8>) -> Vec<Signature> {
    let bytes = image.len() as u64;
    examine(&mut Cursor::new(image), bytes).unwrap().signatures
}

fn found(magics: &[(u64, &[u8])]) -> Vec<(&'static str, u64)> {
    let mut image = vec![0; BYTES as usize];
    for (offset, magic) in magics {
        image[*offset as usize..][..magic.len()].copy_from_slice(magic);
    }
    examined(image).into_iter().map(|signature| (signature.kind, signature.offset)).collect()
}

#[test]
fn every_magic_of_the_table_is_found_alone() {
    for (_, kind, _, offset, magic) in MAGICS {
        let found = found(&[(*offset, magic)]);
        assert!(found.contains(&(*kind, *offset)) && found.len() == 1, "{kind} at {offset}: {found:?}");
    }
}

#[test]
fn nothing_is_found_in_zeroes_or_empty_devices() {
    for bytes in [0, 1, 511, 512, 4096, 70_000, 1 << 20, (2 << 20) + 512, BYTES as usize] {
        assert_eq!(examined(vec![0; bytes]), [], "{bytes}");
    }
}

#[test]
fn nothing_is_found_in_noise() {
    // Different sizes, so that metadata near the end is looked for at different offsets.
    for stream in 0..24 {
        let bytes = (2 << 20) + stream as usize * 4608;
        let mut noise = vec![0; bytes];
        Random::new(SEED, stream).fill(&mut noise);
        assert_eq!(examined(noise), [], "seed {SEED}, stream {stream}");
    }
}

#[test]
fn nothing_is_found_in_noise_around_short_magics() {
    // Short magics surrounded by noise: the other fields must be validated.
    let short: [(u64, &[u8]); 10] = [
        (0x438, b"\x53\xef"),
        (0x410, b"\x7f\x13"),
        (0x410, b"\x24\x78"),
        (0x418, b"\x5a\x4d"),
        (0x400, b"BD"),
        (0x406, b"\x34\x34"),
        (0x1fe, b"\x55\xaa"),
        (0x1fc, b"\xda\xbe"),
        (0, b"ER"),
        (0, b"\x85\x19"),
    ];
    for stream in 0..2000 {
        let mut image = vec![0; 70_000];
        let (offset, magic) = short[stream as usize % short.len()];
        Random::new(SEED, stream).fill(&mut image[..4096]);
        image[offset as usize..][..magic.len()].copy_from_slice(magic);
        let found = examined(image);
        assert!(found.is_empty(), "seed {SEED}, stream {stream}, magic at {offset:#x}: {found:?}");
    }
}

#[test]
fn nothing_is_found_in_repeated_patterns() {
    // Common fill patterns: every byte, short magics in both byte orders, words.
    let bytes = (0..=255_u8).map(|byte| vec![byte; 4]);
    let short: [u16; 12] =
        [0x53ef, 0x55aa, 0xaa55, 0xdabe, 0x7f13, 0x4d5a, 0x4244, 0x3434, 0xacca, 0x4a4d, 0x1985, 0x8519];
    let words = short.into_iter().flat_map(|word| [word.to_be_bytes().to_vec(), word.to_le_bytes().to_vec()]);
    let longer = [b"deadbeef".to_vec(), b"\xde\xad\xbe\xef".to_vec(), b"fathom\n".to_vec(), b"%o".to_vec()];
    for pattern in bytes.chain(words).chain(longer) {
        let image = pattern.iter().copied().cycle().take(600 << 10).collect();
        assert_eq!(examined(image), [], "{pattern:x?}");
    }
}

#[test]
fn magics_at_the_end_are_found() {
    assert_eq!(found(&[(BYTES - 512, b"EFI PART")]), [("gpt", BYTES - 512)]);
    assert_eq!(found(&[(BYTES - 4096, b"EFI PART")]), [("gpt", BYTES - 4096)]);
    assert_eq!(found(&[(BYTES - 0x1_0000, b"\xfc\x4e\x2b\xa9")]), [("linux_raid_member", BYTES - 0x1_0000)]);
    assert_eq!(found(&[(BYTES - 8192, b"\xfc\x4e\x2b\xa9")]), [("linux_raid_member", BYTES - 8192)]);
    let bcachefs = b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef";
    assert_eq!(found(&[(BYTES - (1 << 20) + 24, bcachefs)]), [("bcachefs", BYTES - (1 << 20) + 24)]);
}

#[test]
fn a_table_and_its_copy_count_once() {
    assert_eq!(found(&[(512, b"EFI PART"), (BYTES - 512, b"EFI PART")]), [("gpt", 512)]);
}

#[test]
fn ext_is_found_and_similar_noise_is_not() {
    assert_eq!(found(&[(0x418, &[2]), (0x438, b"\x53\xef")]), [("ext2", 0x438)]);
    assert_eq!(found(&[(0x418, &[200]), (0x438, b"\x53\xef")]), []);
}

#[test]
fn zfs_is_found_in_every_uberblock_and_byte_order() {
    assert_eq!(found(&[(0x2_0400, &[0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0])]), [("zfs_member", 0x2_0400)]);
    assert_eq!(found(&[(0x3_fc00, &[0, 0, 0, 0, 0, 0xba, 0xb1, 0x0c])]), [("zfs_member", 0x3_fc00)]);
    assert_eq!(found(&[(BYTES - 1024, &[0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0])]), [("zfs_member", BYTES - 1024)]);
}

#[test]
fn an_mbr_needs_entries_with_valid_boot_flags() {
    let entry: &[u8] = &[0x80, 0, 2, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0];
    assert_eq!(found(&[(510, b"\x55\xaa")]), [("dos", 510)]);
    assert_eq!(found(&[(462, entry), (510, b"\x55\xaa")]), [("dos", 510)]);
    assert_eq!(found(&[(462, &[0x12]), (510, b"\x55\xaa")]), []);
    assert_eq!(found(&[(82, b"FAT32   "), (462, entry), (510, b"\x55\xaa")]), [("vfat", 82)]);
}

/// libblkid 2.38 recognizes none of these.
#[test]
fn formats_unknown_to_libblkid_are_found() {
    let minix: &[u8] = &[0, 0, 0, 64, 0, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 8, 0];
    let magic: &[u8] = &[0x4d, 0x5a, 0, 0, 4, 0];
    assert_eq!(found(&[(1024, minix), (1048, magic)]), [("minix", 1048)]);
    assert_eq!(found(&[(1024 + 1016, b"\x44\x55\x2b\0")]), [("xenix", 2040)]);
    assert_eq!(found(&[(0, b"\x85\x19\x03\x20")]), [("jffs2", 0)]);
    assert_eq!(found(&[(8192, b"\xe5\xd6\xd3\xf1")]), [("dasd", 8192)]);
    let volume: &[u8] = b"\x01\x00\x10\x00";
    assert_eq!(found(&[(8, volume), (88, b"CS\x01\x00\x00\x00")]), [("cs_fvault2", 88)]);
}

#[test]
fn one_pass_finds_signatures_data_and_changes() {
    let mut image = vec![0; BYTES as usize];
    let examine_it = |image: &Vec<u8>| examine(&mut Cursor::new(image), BYTES).unwrap();
    let blank = examine_it(&image);
    assert_eq!((blank.signatures, blank.first_data), (vec![], None));
    image[..6].copy_from_slice(b"LUKS\xba\xbe");
    let marked = examine_it(&image);
    assert_eq!(marked.signatures.len(), 1);
    assert_eq!(marked.first_data, Some(0));
    assert_ne!(marked.fingerprint, blank.fingerprint);
}

#[test]
fn signatures_are_formatted_with_their_class() {
    let text = |name, class| Signature { name, kind: "", class, offset: 0 }.to_string();
    assert_eq!(text("GPT", SignatureClass::PartitionTable), "GPT partition table");
    assert_eq!(text("LUKS", SignatureClass::Encrypted), "LUKS encrypted volume");
    assert_eq!(text("swap", SignatureClass::Swap), "swap area");
    assert_eq!(text("ext", SignatureClass::Journal), "ext external journal");
}
