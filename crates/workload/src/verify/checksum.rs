//! Checksums of verified blocks.

use crc::{CRC_7_MMC, CRC_16_IBM_3740, CRC_64_XZ, Crc, Table};
use job::VerifyMethod;
use sha2::Digest;
use xxhash_rust::xxh32::xxh32;

/// Maximum length of a checksum in bytes.
pub(super) const CHECKSUM_BYTES_MAX: usize = 64;

static CRC7: Crc<u8, Table<16>> = Crc::<u8, Table<16>>::new(&CRC_7_MMC);
static CRC16: Crc<u16, Table<16>> = Crc::<u16, Table<16>>::new(&CRC_16_IBM_3740);
static CRC64: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_XZ);

/// A checksum of the method's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checksum {
    bytes: [u8; CHECKSUM_BYTES_MAX],
    length: usize,
}

impl Checksum {
    /// Computes the checksum of `data`; empty for methods without one.
    pub(super) fn of(method: VerifyMethod, data: &[u8]) -> Self {
        match method {
            VerifyMethod::Crc32c => Self::from(&crc32c::crc32c(data).to_le_bytes()),
            VerifyMethod::Crc32 => Self::from(&crc32fast::hash(data).to_le_bytes()),
            VerifyMethod::Crc64 => Self::from(&CRC64.checksum(data).to_le_bytes()),
            VerifyMethod::Crc16 => Self::from(&CRC16.checksum(data).to_le_bytes()),
            VerifyMethod::Crc7 => Self::from(&[CRC7.checksum(data)]),
            VerifyMethod::Md5 => Self::from(&md5::Md5::digest(data)),
            VerifyMethod::Sha1 => Self::from(&sha1::Sha1::digest(data)),
            VerifyMethod::Sha256 => Self::from(&sha2::Sha256::digest(data)),
            VerifyMethod::Sha512 => Self::from(&sha2::Sha512::digest(data)),
            VerifyMethod::Xxhash => Self::from(&xxh32(data, 0).to_le_bytes()),
            VerifyMethod::Sha3_224 => Self::from(&sha3::Sha3_224::digest(data)),
            VerifyMethod::Sha3_256 => Self::from(&sha3::Sha3_256::digest(data)),
            VerifyMethod::Sha3_384 => Self::from(&sha3::Sha3_384::digest(data)),
            VerifyMethod::Sha3_512 => Self::from(&sha3::Sha3_512::digest(data)),
            VerifyMethod::Meta | VerifyMethod::Pattern | VerifyMethod::PatternHdr | VerifyMethod::Null => {
                Self::from(&[])
            }
        }
    }

    fn from(sum: &[u8]) -> Self {
        let mut bytes = [0; CHECKSUM_BYTES_MAX];
        bytes[..sum.len()].copy_from_slice(sum);
        Self { bytes, length: sum.len() }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the published check values for `123456789`.
    #[test]
    fn checksums_match_the_standards() {
        let cases: [(VerifyMethod, &[u8]); 5] = [
            (VerifyMethod::Crc32c, &0xe306_9283u32.to_le_bytes()),
            (VerifyMethod::Crc32, &0xcbf4_3926u32.to_le_bytes()),
            (VerifyMethod::Crc64, &0x995d_c9bb_df19_39fau64.to_le_bytes()),
            (VerifyMethod::Crc16, &0x29b1u16.to_le_bytes()),
            (VerifyMethod::Crc7, &[0x75]),
        ];
        for (method, sum) in cases {
            assert_eq!(Checksum::of(method, b"123456789").as_bytes(), sum, "{method:?}");
        }
        let lengths = [(VerifyMethod::Md5, 16), (VerifyMethod::Sha1, 20), (VerifyMethod::Sha256, 32)];
        for (method, length) in lengths.into_iter().chain([(VerifyMethod::Sha512, 64), (VerifyMethod::Xxhash, 4)]) {
            let one = Checksum::of(method, b"one");
            assert_eq!(one.as_bytes().len(), length, "{method:?}");
            assert_ne!(one, Checksum::of(method, b"two"), "{method:?}");
        }
    }
}
