//! Checksums as fio 3.33 stores them after its block header.
//!
//! Learned from blocks that fio wrote. They differ from the standards for CRC-16 (ARC), CRC-32 (not reflected, without
//! start value), CRC-32C (not inverted), CRC-64 (Jones), SHA-1 (words in little-endian order), and most for SHA-256
//! and SHA-512: fio stores the working memory of the hash, which depends on the whole payload by eight bytes
//! (SHA-256) or not at all beyond its ends (SHA-512).

use crc::{Algorithm, CRC_7_MMC, CRC_16_ARC, Crc, Table};
use job::VerifyMethod;
use sha2::Digest;
use sha2::block_api::compress256;
use xxhash_rust::xxh32::xxh32;

/// How far a checksum notices changes of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    /// It notices them.
    All,
    /// It misses some.
    Part,
    /// It notices next to none, so the payload has to be compared.
    None,
}

/// Maximum length of what follows a header.
pub(super) const FIO_SUM_BYTES_MAX: usize = 128;

const CRC_32: Algorithm<u32> = Algorithm {
    width: 32,
    poly: 0x04c1_1db7,
    init: 0,
    refin: false,
    refout: false,
    xorout: 0,
    check: 0x89a1_897f,
    residue: 0,
};

/// With the polynomial of Redis; start and end are zero.
const CRC_64: Algorithm<u64> = Algorithm {
    width: 64,
    poly: 0xad93_d235_94c9_35a9,
    init: 0,
    refin: true,
    refout: true,
    xorout: 0,
    check: 0xe9c6_d914_c4b8_d9ca,
    residue: 0,
};

static CRC7: Crc<u8, Table<16>> = Crc::<u8, Table<16>>::new(&CRC_7_MMC);
static CRC16: Crc<u16, Table<16>> = Crc::<u16, Table<16>>::new(&CRC_16_ARC);
static CRC32: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32);
static CRC64: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64);

/// Start value of SHA-256 (FIPS 180-4, 5.3.3).
const SHA_256_START: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// What follows the header of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FioChecksum {
    bytes: [u8; FIO_SUM_BYTES_MAX],
    length: usize,
}

impl FioChecksum {
    /// Computes the checksum of a payload.
    pub(super) fn of(method: VerifyMethod, payload: &[u8]) -> Self {
        match method {
            VerifyMethod::Crc32c => Self::from(&(!crc32c::crc32c(payload)).to_le_bytes()),
            VerifyMethod::Crc32 => Self::from(&CRC32.checksum(payload).to_le_bytes()),
            VerifyMethod::Crc64 => Self::from(&CRC64.checksum(payload).to_le_bytes()),
            VerifyMethod::Crc16 => Self::from(&CRC16.checksum(payload).to_le_bytes()),
            VerifyMethod::Crc7 => Self::from(&[CRC7.checksum(payload)]),
            VerifyMethod::Md5 => Self::from(&md5::Md5::digest(payload)),
            VerifyMethod::Sha1 => {
                let mut sum = Self::from(&sha1::Sha1::digest(payload));
                sum.bytes[..20].chunks_exact_mut(4).for_each(<[u8]>::reverse);
                sum
            }
            VerifyMethod::Sha256 => Self::from(&sha256_memory(payload)),
            VerifyMethod::Sha512 => Self::from(&sha512_memory(payload)),
            VerifyMethod::Sha3_224 => Self::from(&sha3::Sha3_224::digest(payload)),
            VerifyMethod::Sha3_256 => Self::from(&sha3::Sha3_256::digest(payload)),
            VerifyMethod::Sha3_384 => Self::from(&sha3::Sha3_384::digest(payload)),
            VerifyMethod::Sha3_512 => Self::from(&sha3::Sha3_512::digest(payload)),
            VerifyMethod::Xxhash => Self::from(&xxh32(payload, XXHASH_SEED).to_le_bytes()),
            VerifyMethod::Meta | VerifyMethod::Pattern | VerifyMethod::PatternHdr | VerifyMethod::Null => {
                Self::from(&[])
            }
        }
    }

    fn from(sum: &[u8]) -> Self {
        let mut bytes = [0; FIO_SUM_BYTES_MAX];
        bytes[..sum.len()].copy_from_slice(sum);
        Self { bytes, length: sum.len() }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Returns how far the checksum of a method notices changes of a payload.
    pub(super) const fn coverage(method: VerifyMethod) -> Coverage {
        match method {
            VerifyMethod::Crc7 | VerifyMethod::Sha256 => Coverage::Part,
            VerifyMethod::Sha512 | VerifyMethod::PatternHdr | VerifyMethod::Meta => Coverage::None,
            _ => Coverage::All,
        }
    }
}

/// Seed of xxHash in fio.
const XXHASH_SEED: u32 = 1;

/// Returns the last block of the padded message, with the length in little-endian order. Its first eight bytes are
/// the lowest of each word of the state.
fn sha256_memory(payload: &[u8]) -> [u8; 64] {
    let mut state = SHA_256_START;
    let (blocks, rest) = payload.as_chunks::<64>();
    compress256(&mut state, blocks);
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    if rest.len() >= 56 {
        compress256(&mut state, &[last]);
        last = [0; 64];
    }
    last[56..].copy_from_slice(&(payload.len() as u64 * 8).to_le_bytes());
    compress256(&mut state, &[last]);
    for (byte, word) in last.iter_mut().zip(state) {
        *byte = word as u8;
    }
    last
}

/// Returns the first 128 bytes, overwritten with what remains after the last multiple of 128 bytes.
fn sha512_memory(payload: &[u8]) -> [u8; 128] {
    let mut memory = [0; 128];
    let first = &payload[..payload.len().min(128)];
    memory[..first.len()].copy_from_slice(first);
    let rest = &payload[payload.len() / 128 * 128..];
    memory[..rest.len()].copy_from_slice(rest);
    memory
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the published check values for `123456789`.
    #[test]
    fn crcs_have_the_check_values_of_their_algorithms() {
        let sum = |method| FioChecksum::of(method, b"123456789");
        assert_eq!(sum(VerifyMethod::Crc16).as_bytes(), 0xbb3du16.to_le_bytes());
        assert_eq!(sum(VerifyMethod::Crc32).as_bytes(), 0x89a1_897fu32.to_le_bytes());
        assert_eq!(sum(VerifyMethod::Crc64).as_bytes(), 0xe9c6_d914_c4b8_d9cau64.to_le_bytes());
        assert_eq!(sum(VerifyMethod::Crc7).as_bytes(), [0x75]);
        assert_eq!(sum(VerifyMethod::Crc32c).as_bytes(), (!0xe306_9283u32).to_le_bytes());
    }

    #[test]
    fn lengths_are_those_of_the_job_model() {
        for method in VerifyMethod::ALL {
            let length = FioChecksum::of(method, &[7; 1000]).as_bytes().len();
            assert_eq!(length, method.fio_checksum_bytes() as usize, "{method:?}");
        }
    }
}
