//! The header of verified blocks.
//!
//! | bytes | field |
//! |---|---|
//! | 0..4 | `FTHM` |
//! | 4 | version: 2, or 1 for blocks without a nonce |
//! | 5 | method |
//! | 6..8 | length of the checksum |
//! | 8..12 | length of the block, including the header |
//! | 12..16 | pass, or the number of the write where writes may overlap |
//! | 16..24 | offset of the block in its file |
//! | 24..32 | seed |
//! | 32..96 | checksum of the payload, padded with zeroes |
//! | 96..100 | CRC-32C of bytes 0..96 and 104..112, XOR the nonce |
//! | 100..104 | nonce of the run, 0 for none |
//! | 104..108 | version 2: worker |
//! | 108..112 | version 2: identity of the file |
//!
//! The nonce distinguishes the blocks of identical runs; worker and file distinguish blocks of one run. With a nonce of
//! 0 the format is version 1, whose bytes depend on the job and its seed alone. Version 1 with a nonce can be read:
//! earlier releases wrote it.
//!
//! Numbers are little-endian. Blocks in the layout of fio ([`super::fio_header`]) have neither nonce nor file.

use job::VerifyMethod;

use super::checksum::{CHECKSUM_BYTES_MAX, Checksum};

/// Size of a version 2 header, and minimum size of a block with a nonce.
pub const HEADER_BYTES: usize = job::VERIFY_HEADER_BYTES as usize;
/// Size of a version 1 header, and minimum size of any other block.
pub(super) const PLAIN_HEADER_BYTES: usize = job::VERIFY_PLAIN_HEADER_BYTES as usize;

const MAGIC: [u8; 4] = *b"FTHM";
const VERSION_1: u8 = 1;
const VERSION_2: u8 = 2;
pub(super) const SUM_AT: usize = 32;
const CRC_AT: usize = SUM_AT + CHECKSUM_BYTES_MAX;

/// Fields of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VerifyHeader {
    pub(super) method: u8,
    pub(super) length: u32,
    pub(super) pass: u32,
    pub(super) offset: u64,
    pub(super) seed: u64,
    pub(super) nonce: u32,
    /// `None` in version 1.
    pub(super) identity: Option<WriteIdentity>,
}

/// The worker that wrote a block, and the file that it wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WriteIdentity {
    pub(super) worker: u32,
    pub(super) file: u32,
}

/// A wrong field of a header: its offset and expected content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadField {
    pub(super) at: usize,
    pub(super) expected: [u8; 4],
}

impl VerifyHeader {
    /// Returns the size of the header in bytes.
    pub(super) const fn bytes(&self) -> usize {
        if self.identity.is_some() { HEADER_BYTES } else { PLAIN_HEADER_BYTES }
    }

    /// Writes the header to `bytes`, which have its size.
    pub(super) fn write(&self, sum: &Checksum, bytes: &mut [u8]) {
        let sum = sum.as_bytes();
        bytes.fill(0);
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[VERSION_AT] = if self.identity.is_some() { VERSION_2 } else { VERSION_1 };
        bytes[5] = self.method;
        bytes[6..8].copy_from_slice(&(sum.len() as u16).to_le_bytes());
        bytes[8..12].copy_from_slice(&self.length.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.pass.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.offset.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.seed.to_le_bytes());
        bytes[SUM_AT..SUM_AT + sum.len()].copy_from_slice(sum);
        if let Some(identity) = self.identity {
            bytes[WORKER_AT..FILE_AT].copy_from_slice(&identity.worker.to_le_bytes());
            bytes[FILE_AT..HEADER_BYTES].copy_from_slice(&identity.file.to_le_bytes());
        }
        let crc = own_crc(bytes, self.identity.is_some()) ^ self.nonce;
        bytes[CRC_AT..NONCE_AT].copy_from_slice(&crc.to_le_bytes());
        bytes[NONCE_AT..WORKER_AT].copy_from_slice(&self.nonce.to_le_bytes());
    }

    /// Parses a header and checks its CRC, in a block of at least [`PLAIN_HEADER_BYTES`].
    pub(super) fn read(bytes: &[u8]) -> Result<Self, BadField> {
        if bytes[..4] != MAGIC {
            return Err(BadField { at: 0, expected: MAGIC });
        }
        let is_marked = bytes[VERSION_AT] == VERSION_2 && bytes.len() >= HEADER_BYTES;
        let nonce = u32::from_le_bytes(array(bytes, NONCE_AT));
        let crc = (own_crc(bytes, is_marked) ^ nonce).to_le_bytes();
        if bytes[CRC_AT..NONCE_AT] != crc {
            return Err(BadField { at: CRC_AT, expected: crc });
        }
        if !is_marked && bytes[VERSION_AT] != VERSION_1 {
            return Err(BadField { at: VERSION_AT, expected: [VERSION_2, bytes[5], bytes[6], bytes[7]] });
        }
        let field = |at| u32::from_le_bytes(array(bytes, at));
        Ok(Self {
            method: bytes[5],
            length: field(8),
            pass: field(12),
            offset: u64::from_le_bytes(array(bytes, 16)),
            seed: u64::from_le_bytes(array(bytes, 24)),
            nonce,
            identity: is_marked.then(|| WriteIdentity { worker: field(WORKER_AT), file: field(FILE_AT) }),
        })
    }

    /// Returns the checksum in the header, with the length of `like`.
    pub(super) fn sum_in<'a>(bytes: &'a [u8], like: &Checksum) -> &'a [u8] {
        &bytes[SUM_AT..SUM_AT + like.as_bytes().len()]
    }
}

/// Computes the CRC of a header without its nonce.
fn own_crc(bytes: &[u8], is_marked: bool) -> u32 {
    let crc = crc32c::crc32c(&bytes[..CRC_AT]);
    if is_marked { crc32c::crc32c_append(crc, &bytes[WORKER_AT..HEADER_BYTES]) } else { crc }
}

pub(super) fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}

pub(super) const NONCE_AT: usize = CRC_AT + 4;
pub(super) const WORKER_AT: usize = NONCE_AT + 4;
pub(super) const FILE_AT: usize = WORKER_AT + 4;
pub(super) const VERSION_AT: usize = 4;
pub(super) const METHOD_AT: usize = 5;
pub(super) const LENGTH_AT: usize = 8;
pub(super) const PASS_AT: usize = 12;
pub(super) const OFFSET_AT: usize = 16;
pub(super) const SEED_AT: usize = 24;

/// Returns the number of a method in headers.
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
        VerifyMethod::Sha3_224 => 12,
        VerifyMethod::Sha3_256 => 13,
        VerifyMethod::Sha3_384 => 14,
        VerifyMethod::Sha3_512 => 15,
        VerifyMethod::Meta => 16,
        VerifyMethod::PatternHdr => 17,
    }
}

const _: () = assert!(PLAIN_HEADER_BYTES == WORKER_AT && HEADER_BYTES == FILE_AT + 4);
