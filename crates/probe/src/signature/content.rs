//! Names of well-known file formats, for messages.

/// Offset, magic, name.
type Magic = (usize, &'static [u8], &'static str);

/// Well-known formats and their first bytes, from their specifications.
const MAGICS: &[Magic] = &[
    // Images of disks.
    (0, b"QFI\xfb", "qcow2 image"),
    (0, b"QED\0", "QED image"),
    (0, b"KDMV", "VMDK image"),
    (0, b"COWD", "VMDK image"),
    (0, b"# Disk DescriptorFile", "VMDK descriptor"),
    (0, b"conectix", "VHD image"),
    (0, b"vhdxfile", "VHDX image"),
    (0x40, b"\x7f\x10\xda\xbe", "VDI image"),
    (0, b"WithoutFreeSpace", "Parallels image"),
    (0, b"WithouFreSpacExt", "Parallels image"),
    (0, b"LUKS\xba\xbe", "LUKS volume"),
    // Databases and tables.
    (0, b"SQLite format 3\0", "SQLite database"),
    (0, b"PGDMP", "PostgreSQL dump"),
    (0, b"REDIS", "Redis database"),
    (16, b"\xde\xc0\xef\xbe", "LMDB database"),
    (12, b"\x62\x31\x05\x00", "Berkeley DB database"),
    (12, b"\x61\x15\x06\x00", "Berkeley DB database"),
    (0, b"PAR1", "Parquet table"),
    (0, b"ORC", "ORC table"),
    (0, b"Obj\x01", "Avro container"),
    (0, b"\x89HDF\r\n\x1a\n", "HDF5 data"),
    (0, b"LPKSHHRH", "systemd journal"),
    (0, b"PACK\0\0\0", "Git pack"),
    // Archives.
    (257, b"ustar", "tar archive"),
    (0, b"PK\x03\x04", "zip archive"),
    (0, b"PK\x05\x06", "zip archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (0, b"Rar!\x1a\x07", "RAR archive"),
    (0, b"!<arch>\n", "ar archive"),
    (0, b"070701", "cpio archive"),
    (0, b"070702", "cpio archive"),
    (0, b"\xed\xab\xee\xdb", "RPM package"),
    // Compressed data.
    (0, b"\x1f\x8b\x08", "gzip data"),
    (0, b"BZh", "bzip2 data"),
    (0, b"\xfd7zXZ\0", "xz data"),
    (0, b"\x28\xb5\x2f\xfd", "zstd data"),
    (0, b"\x04\x22\x4d\x18", "lz4 data"),
    // Programs.
    (0, b"\x7fELF", "ELF file"),
    (0, b"\0asm", "WebAssembly module"),
    (0, b"\xcf\xfa\xed\xfe", "Mach-O file"),
    (0, b"\xca\xfe\xba\xbe", "Java class or Mach-O file"),
    (0, b"#!", "script"),
    // Documents and media.
    (0, b"%PDF-", "PDF document"),
    (0, b"%!PS", "PostScript document"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Microsoft Office document"),
    (0, b"\x89PNG\r\n\x1a\n", "PNG image"),
    (0, b"\xff\xd8\xff", "JPEG image"),
    (0, b"GIF8", "GIF image"),
    (0, b"II*\0", "TIFF image"),
    (0, b"MM\0*", "TIFF image"),
    (0, b"RIFF", "RIFF media"),
    (0, b"OggS", "Ogg media"),
    (0, b"fLaC", "FLAC audio"),
    (0, b"ID3", "MP3 audio"),
    (0, b"\x1a\x45\xdf\xa3", "Matroska media"),
    (4, b"ftyp", "MP4 media"),
    // Keys.
    (0, b"-----BEGIN ", "PEM key or certificate"),
];

/// Bytes at the beginning of a file that [`file_kind`] examines. ISO 9660, which begins later, has a signature.
pub const KIND_BYTES: usize = 4096;

/// Names the format of a regular file from its first [`KIND_BYTES`] bytes, or from all that it has. Returns `None` for
/// unknown formats, which are data all the same: the name only makes messages clearer.
#[must_use]
pub fn file_kind(head: &[u8]) -> Option<&'static str> {
    let known =
        MAGICS.iter().find(|(offset, magic, _)| head.get(*offset..).is_some_and(|rest| rest.starts_with(magic)));
    known.map(|(.., name)| *name).or_else(|| is_text(head).then_some("text"))
}

/// Returns whether all bytes are UTF-8 text without control characters. The last character may be truncated.
fn is_text(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.is_empty() && text.chars().all(|char| !char.is_control() || matches!(char, '\n' | '\r' | '\t' | '\x0c'))
}

#[cfg(test)]
mod tests {
    use units::random::Random;

    use super::*;

    #[test]
    fn every_format_is_named_and_truncated_magics_are_not() {
        for (offset, magic, name) in MAGICS {
            let mut head = vec![0xf5; KIND_BYTES];
            head[*offset..][..magic.len()].copy_from_slice(magic);
            assert_eq!(file_kind(&head), Some(*name));
            assert_ne!(file_kind(&head[..offset + magic.len() - 1]), Some(*name));
        }
    }

    #[test]
    fn text_is_distinguished_from_binary_data() {
        assert_eq!(file_kind("name,größe\n".as_bytes()), Some("text"));
        // The last character is truncated.
        assert_eq!(file_kind(&"größe".as_bytes()[..3]), Some("text"));
        assert_eq!(file_kind(b""), None);
        assert_eq!(file_kind(&[0; 4096]), None);
        assert_eq!(file_kind(b"text\0"), None);
    }

    #[test]
    fn random_bytes_have_no_format() {
        for stream in 0..200 {
            let mut noise = [0; 4096];
            Random::new(14, stream).fill(&mut noise);
            assert_eq!(file_kind(&noise), None, "seed 14, stream {stream}");
        }
    }
}
