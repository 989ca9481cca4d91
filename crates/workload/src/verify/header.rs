//! The header that stands before each verified block, as bytes on the device.
//!
//! | bytes | field |
//! |---|---|
//! | 0..4 | `FTHM` |
//! | 4 | version, 1 |
//! | 5 | method |
//! | 6..8 | length of the checksum |
//! | 8..12 | length of the block, header included |
//! | 12..16 | pass |
//! | 16..24 | offset of the block in its file |
//! | 24..32 | seed |
//! | 32..96 | checksum of the payload, filled up with zeroes |
//! | 96..100 | CRC-32C of bytes 0..96, exclusive or the nonce |
//! | 100..104 | nonce of the run, 0 for none |
//!
//! The nonce is what tells the blocks of two identical runs apart: everything else in a header follows from the job and
//! its seed. With a nonce of 0 the bytes are those of the versions that had none.
//!
//! Numbers have their least byte first. fio's headers differ between its own versions, so there is no layout
//! that would let one program check what another wrote.

use job::VerifyMethod;

use super::checksum::{Checksum, MOST};

/// Bytes of a header: no verified block may be smaller.
pub const HEADER_BYTES: usize = 104;

const MAGIC: [u8; 4] = *b"FTHM";
const VERSION: u8 = 1;
/// Where the checksum stands.
pub(super) const SUM_AT: usize = 32;
const CRC_AT: usize = SUM_AT + MOST;

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) method: u8,
    pub(super) length: u32,
    pub(super) pass: u32,
    pub(super) offset: u64,
    pub(super) seed: u64,
    pub(super) nonce: u32,
}

/// A field of a header that is not what it must be: its place, and what it should have held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadField {
    pub(super) at: usize,
    pub(super) expected: [u8; 4],
}

impl Header {
    pub(super) fn write(&self, sum: &Checksum, bytes: &mut [u8]) {
        let sum = sum.as_bytes();
        bytes[..HEADER_BYTES].fill(0);
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = VERSION;
        bytes[5] = self.method;
        bytes[6..8].copy_from_slice(&(sum.len() as u16).to_le_bytes());
        bytes[8..12].copy_from_slice(&self.length.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.pass.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.offset.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.seed.to_le_bytes());
        bytes[SUM_AT..SUM_AT + sum.len()].copy_from_slice(sum);
        let crc = crc32c::crc32c(&bytes[..CRC_AT]) ^ self.nonce;
        bytes[CRC_AT..NONCE_AT].copy_from_slice(&crc.to_le_bytes());
        bytes[NONCE_AT..HEADER_BYTES].copy_from_slice(&self.nonce.to_le_bytes());
    }

    /// Reads a header whose own bytes are intact.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, BadField> {
        if bytes[..4] != MAGIC {
            return Err(BadField { at: 0, expected: MAGIC });
        }
        let nonce = u32::from_le_bytes(array(bytes, NONCE_AT));
        let crc = (crc32c::crc32c(&bytes[..CRC_AT]) ^ nonce).to_le_bytes();
        if bytes[CRC_AT..NONCE_AT] != crc {
            return Err(BadField { at: CRC_AT, expected: crc });
        }
        if bytes[4] != VERSION {
            return Err(BadField { at: 4, expected: [VERSION, bytes[5], bytes[6], bytes[7]] });
        }
        Ok(Self {
            method: bytes[5],
            length: u32::from_le_bytes(array(bytes, 8)),
            pass: u32::from_le_bytes(array(bytes, 12)),
            offset: u64::from_le_bytes(array(bytes, 16)),
            seed: u64::from_le_bytes(array(bytes, 24)),
            nonce,
        })
    }

    /// The checksum that the header holds, as long as `like`.
    pub(super) fn sum_in<'a>(bytes: &'a [u8], like: &Checksum) -> &'a [u8] {
        &bytes[SUM_AT..SUM_AT + like.as_bytes().len()]
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}

/// Where a field stands, for reports.
pub(super) const NONCE_AT: usize = CRC_AT + 4;
/// Where a field stands, for reports.
pub(super) const METHOD_AT: usize = 5;
/// Where a field stands, for reports.
pub(super) const LENGTH_AT: usize = 8;
/// Where a field stands, for reports.
pub(super) const PASS_AT: usize = 12;
/// Where a field stands, for reports.
pub(super) const OFFSET_AT: usize = 16;
/// Where a field stands, for reports.
pub(super) const SEED_AT: usize = 24;

/// The number by which a method goes in headers.
pub(super) const fn number(method: VerifyMethod) -> u8 {
    match method {
        VerifyMethod::Null => 0,
        VerifyMethod::Crc32c => 1,
        VerifyMethod::Crc32 => 2,
        VerifyMethod::Crc64 => 3,
        VerifyMethod::Crc16 => 4,
        VerifyMethod::Crc7 => 5,
        VerifyMethod::Md5 => 6,
        VerifyMethod::Sha1 => 7,
        VerifyMethod::Sha256 => 8,
        VerifyMethod::Sha512 => 9,
        VerifyMethod::Xxhash => 10,
        VerifyMethod::Pattern => 11,
    }
}
