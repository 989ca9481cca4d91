//! The header of blocks in the layout of fio 3.33.
//!
//! | bytes | field |
//! |---|---|
//! | 0..2 | `0xacca` |
//! | 2..4 | method |
//! | 4..8 | length of the block, including the header |
//! | 8..16 | seed |
//! | 16..24 | offset of the block in its file |
//! | 24..28, 28..32 | time in seconds and nanoseconds, which Fathom leaves zero |
//! | 32..34 | number of the job, from 1 |
//! | 34..36 | number of the write, modulo 2^16 |
//! | 36..40 | CRC-32C of bytes 0..36, not inverted |
//!
//! The checksum of what follows it comes next ([`super::fio_checksum`]). Numbers are little-endian. Learned from blocks
//! that fio wrote. fio checks all fields by the CRC, and of their content the first word, length and offset. It
//! compares the seed only in jobs with `rw=rw` or `randrw`.
//!
//! Fathom's seeds depend on the run, its worker, the file, and on the pass or the number of the write, so that a block
//! of an earlier write has another seed.

use job::{FIO_HEADER_BYTES, VerifyMethod};

use super::header::{BadField, array};

pub(super) const FIO_HEADER: usize = FIO_HEADER_BYTES as usize;
const MAGIC: [u8; 2] = 0xacca_u16.to_le_bytes();
pub(super) const METHOD_AT: usize = 2;
pub(super) const LENGTH_AT: usize = 4;
pub(super) const SEED_AT: usize = 8;
pub(super) const OFFSET_AT: usize = 16;
pub(super) const THREAD_AT: usize = 32;
const NUMBER_AT: usize = 34;
const CRC_AT: usize = 36;

/// Fields of a header in fio's layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FioHeader {
    pub(super) method: u16,
    pub(super) length: u32,
    pub(super) seed: u64,
    pub(super) offset: u64,
    pub(super) thread: u16,
    pub(super) number: u16,
}

impl FioHeader {
    /// Writes the header to the start of a block.
    pub(super) fn write(&self, block: &mut [u8]) {
        let bytes = &mut block[..FIO_HEADER];
        bytes.fill(0);
        bytes[..METHOD_AT].copy_from_slice(&MAGIC);
        bytes[METHOD_AT..LENGTH_AT].copy_from_slice(&self.method.to_le_bytes());
        bytes[LENGTH_AT..SEED_AT].copy_from_slice(&self.length.to_le_bytes());
        bytes[SEED_AT..OFFSET_AT].copy_from_slice(&self.seed.to_le_bytes());
        bytes[OFFSET_AT..OFFSET_AT + 8].copy_from_slice(&self.offset.to_le_bytes());
        bytes[THREAD_AT..NUMBER_AT].copy_from_slice(&self.thread.to_le_bytes());
        bytes[NUMBER_AT..CRC_AT].copy_from_slice(&self.number.to_le_bytes());
        let crc = own_crc(bytes);
        bytes[CRC_AT..].copy_from_slice(&crc);
    }

    /// Parses the header of a block and checks its CRC.
    pub(super) fn read(block: &[u8]) -> Result<Self, BadField> {
        let bytes = &block[..FIO_HEADER];
        if bytes[..METHOD_AT] != MAGIC {
            return Err(BadField { at: 0, expected: [MAGIC[0], MAGIC[1], bytes[2], bytes[3]] });
        }
        let crc = own_crc(bytes);
        if bytes[CRC_AT..] != crc {
            return Err(BadField { at: CRC_AT, expected: crc });
        }
        Ok(Self {
            method: u16::from_le_bytes(array(bytes, METHOD_AT)),
            length: u32::from_le_bytes(array(bytes, LENGTH_AT)),
            seed: u64::from_le_bytes(array(bytes, SEED_AT)),
            offset: u64::from_le_bytes(array(bytes, OFFSET_AT)),
            thread: u16::from_le_bytes(array(bytes, THREAD_AT)),
            number: u16::from_le_bytes(array(bytes, NUMBER_AT)),
        })
    }
}

fn own_crc(header: &[u8]) -> [u8; 4] {
    (!crc32c::crc32c(&header[..CRC_AT])).to_le_bytes()
}

/// Returns the number of a method in fio's headers.
pub(super) const fn fio_number(method: VerifyMethod) -> u16 {
    match method {
        VerifyMethod::Meta => 1,
        VerifyMethod::Md5 => 2,
        VerifyMethod::Crc64 => 3,
        VerifyMethod::Crc32 => 4,
        VerifyMethod::Crc32c => 5,
        VerifyMethod::Crc16 => 7,
        VerifyMethod::Crc7 => 8,
        VerifyMethod::Sha256 => 9,
        VerifyMethod::Sha512 => 10,
        VerifyMethod::Sha3_224 => 11,
        VerifyMethod::Sha3_256 => 12,
        VerifyMethod::Sha3_384 => 13,
        VerifyMethod::Sha3_512 => 14,
        VerifyMethod::Xxhash => 15,
        VerifyMethod::Sha1 => 16,
        VerifyMethod::PatternHdr => 17,
        // Without headers.
        VerifyMethod::Pattern => 18,
        VerifyMethod::Null => 19,
    }
}
