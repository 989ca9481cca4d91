//! Images written byte by byte.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The content of a device.
pub(super) struct Image {
    data: Vec<u8>,
    /// Ranges that were written to.
    touched: Vec<Range<usize>>,
}

impl Image {
    pub(super) fn new(bytes: u64) -> Self {
        Self { data: vec![0; bytes as usize], touched: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.data.len()
    }

    pub(super) fn bytes(&self, offset: usize, length: usize) -> &[u8] {
        &self.data[offset..offset + length]
    }

    /// Writes it as a sparse file.
    pub(super) fn write(&self, path: &Path) {
        let file = File::create(path).unwrap();
        file.set_len(self.data.len() as u64).unwrap();
        for range in &self.touched {
            file.write_all_at(&self.data[range.clone()], range.start as u64).unwrap();
        }
    }

    pub(super) fn put(&mut self, offset: usize, bytes: impl AsRef<[u8]>) -> &mut Self {
        let bytes = bytes.as_ref();
        let range = offset..offset + bytes.len();
        self.data[range.clone()].copy_from_slice(bytes);
        self.touched.push(range);
        self
    }

    pub(super) fn byte(&mut self, offset: usize, value: u8) -> &mut Self {
        self.put(offset, [value])
    }

    pub(super) fn le16(&mut self, offset: usize, value: u16) -> &mut Self {
        self.put(offset, value.to_le_bytes())
    }

    pub(super) fn be16(&mut self, offset: usize, value: u16) -> &mut Self {
        self.put(offset, value.to_be_bytes())
    }

    pub(super) fn le32(&mut self, offset: usize, value: u32) -> &mut Self {
        self.put(offset, value.to_le_bytes())
    }

    pub(super) fn be32(&mut self, offset: usize, value: u32) -> &mut Self {
        self.put(offset, value.to_be_bytes())
    }

    pub(super) fn le64(&mut self, offset: usize, value: u64) -> &mut Self {
        self.put(offset, value.to_le_bytes())
    }

    pub(super) fn be64(&mut self, offset: usize, value: u64) -> &mut Self {
        self.put(offset, value.to_be_bytes())
    }

    /// Writes a field, big-endian if `big`.
    pub(super) fn field32(&mut self, big: bool, offset: usize, value: u32) -> &mut Self {
        if big { self.be32(offset, value) } else { self.le32(offset, value) }
    }

    /// Writes a field, big-endian if `big`.
    pub(super) fn field16(&mut self, big: bool, offset: usize, value: u16) -> &mut Self {
        if big { self.be16(offset, value) } else { self.le16(offset, value) }
    }
}

/// Reflected cyclic redundancy check without a final complement.
pub(super) fn crc(polynomial: u32, initial: u32, data: &[u8]) -> u32 {
    data.iter().fold(initial, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ if sum & 1 == 1 { polynomial } else { 0 })
    })
}

/// The polynomial of CRC-32.
pub(super) const CRC32: u32 = 0xedb8_8320;
/// The polynomial of CRC-32C.
pub(super) const CRC32C: u32 = 0x82f6_3b78;
