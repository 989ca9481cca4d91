//! Protection information that this program generates and checks, where the device does not (`pi_act=0`).

use crate::namespace::{GuardFormat, Namespace, Protection};

use target::spec::NvmeOptions;

/// Application tag of blocks that are not checked.
const UNCHECKED_TAG: u16 = 0xffff;

/// Where the data and metadata of the blocks of an operation are, and what their protection information says.
pub(super) struct ProtectedBlocks<'a> {
    pub(super) namespace: &'a Namespace,
    pub(super) options: &'a NvmeOptions,
    pub(super) protection: Protection,
    /// First block.
    pub(super) start: u64,
}

/// A field of protection information that does not agree with its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProtectionFault {
    Guard,
    ApplicationTag,
    ReferenceTag,
}

impl ProtectedBlocks<'_> {
    /// Returns the size of a block in the data buffer, and that of its metadata.
    fn sizes(&self) -> (usize, usize) {
        (self.namespace.block_bytes(false) as usize, self.namespace.metadata_bytes as usize)
    }

    /// Returns where protection information begins in the metadata.
    fn place(&self, metadata_bytes: usize) -> usize {
        if self.protection.first { 0 } else { metadata_bytes - self.protection.guard.bytes() as usize }
    }

    /// Writes protection information into the metadata: those after each block of `data`, or `separate`.
    pub(super) fn generate(&self, data: &mut [u8], separate: Option<&mut [u8]>) {
        let (block_bytes, metadata_bytes) = self.sizes();
        let data_bytes = self.namespace.data_bytes as usize;
        let mut separate = separate;
        for (number, (index, block)) in (self.start..).zip(data.chunks_exact_mut(block_bytes).enumerate()) {
            let (content, attached) = block.split_at_mut(data_bytes);
            let metadata = match &mut separate {
                Some(metadata) => &mut metadata[index * metadata_bytes..][..metadata_bytes],
                None => attached,
            };
            let place = self.place(metadata_bytes);
            let guard = self.guard(content, &metadata[..place]);
            self.put(&mut metadata[place..], guard, number);
        }
    }

    /// Compares the fields that the setup checks. Returns the first that does not agree, with the number of its block.
    pub(super) fn check(&self, data: &[u8], separate: Option<&[u8]>) -> Result<(), (ProtectionFault, u64)> {
        let (block_bytes, metadata_bytes) = self.sizes();
        let data_bytes = self.namespace.data_bytes as usize;
        for (number, (index, block)) in (self.start..).zip(data.chunks_exact(block_bytes).enumerate()) {
            let (content, attached) = block.split_at(data_bytes);
            let metadata = match separate {
                Some(metadata) => &metadata[index * metadata_bytes..][..metadata_bytes],
                None => attached,
            };
            let place = self.place(metadata_bytes);
            self.check_block(content, metadata, place, number).map_err(|fault| (fault, number))?;
        }
        Ok(())
    }

    fn check_block(&self, content: &[u8], metadata: &[u8], place: usize, number: u64) -> Result<(), ProtectionFault> {
        let found = &metadata[place..];
        let guard_bytes = self.guard_bytes();
        let tag = u16::from_be_bytes([found[guard_bytes], found[guard_bytes + 1]]);
        if tag == UNCHECKED_TAG {
            return Ok(());
        }
        let checks = self.options.pi_chk;
        let mut expected = [0; 16];
        let guard = if checks.guard { self.guard(content, &metadata[..place]) } else { 0 };
        self.put(&mut expected, guard, number);
        if checks.guard && found[..guard_bytes] != expected[..guard_bytes] {
            return Err(ProtectionFault::Guard);
        }
        if checks.apptag && (tag ^ self.options.apptag) & self.options.apptag_mask != 0 {
            return Err(ProtectionFault::ApplicationTag);
        }
        let reference = guard_bytes + 2..self.protection.guard.bytes() as usize;
        if checks.reftag && self.protection.counts && found[reference.clone()] != expected[reference] {
            return Err(ProtectionFault::ReferenceTag);
        }
        Ok(())
    }

    const fn guard_bytes(&self) -> usize {
        match self.protection.guard {
            GuardFormat::Crc16 => 2,
            GuardFormat::Crc32c => 4,
            GuardFormat::Crc64 => 8,
        }
    }

    /// Returns the checksum of a block: of its data and of the metadata before the protection information.
    fn guard(&self, data: &[u8], metadata: &[u8]) -> u64 {
        match self.protection.guard {
            GuardFormat::Crc16 => u64::from(crc16(crc16(0, data), metadata)),
            GuardFormat::Crc32c | GuardFormat::Crc64 => !crc64(crc64(!0, data), metadata),
        }
    }

    fn put(&self, to: &mut [u8], guard: u64, number: u64) {
        let size = self.guard_bytes();
        to[..size].copy_from_slice(&guard.to_be_bytes()[8 - size..]);
        to[size..size + 2].copy_from_slice(&self.options.apptag.to_be_bytes());
        let reference = if self.protection.counts { number } else { 0 };
        let tags = self.protection.guard.bytes() as usize - size - 2;
        to[size + 2..size + 2 + tags].copy_from_slice(&reference.to_be_bytes()[8 - tags..]);
    }
}

/// Polynomial of T10's CRC-16.
const POLYNOMIAL_16: u16 = 0x8bb7;
/// Polynomial of the NVM command set's CRC-64, with its bits reversed.
const POLYNOMIAL_64: u64 = 0x9a6c_9329_ac4b_c9b5;

static TABLE_16: [u16; 256] = table_16();
static TABLE_64: [u64; 256] = table_64();

const fn table_16() -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = ((byte as u16) << 8, 0);
        while bit < 8 {
            crc = if crc & 0x8000 != 0 { crc << 1 ^ POLYNOMIAL_16 } else { crc << 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

const fn table_64() -> [u64; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u64, 0);
        while bit < 8 {
            crc = if crc & 1 != 0 { crc >> 1 ^ POLYNOMIAL_64 } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

fn crc16(crc: u16, bytes: &[u8]) -> u16 {
    bytes.iter().fold(crc, |crc, byte| crc << 8 ^ TABLE_16[usize::from((crc >> 8) as u8 ^ byte)])
}

fn crc64(crc: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(crc, |crc, byte| crc >> 8 ^ TABLE_64[usize::from(crc as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use target::spec::ProtectionFields;

    const ALL: ProtectionFields = ProtectionFields { guard: true, reftag: true, apptag: true };

    /// The check values of the catalogue of CRCs: `CRC-16/T10-DIF` and `CRC-64/NVME`.
    #[test]
    fn checksums_have_their_published_check_values() {
        assert_eq!(crc16(0, b"123456789"), 0xd0db);
        assert_eq!(!crc64(!0, b"123456789"), 0xae8b_1486_0a79_9888);
    }

    fn namespace(guard: GuardFormat, metadata_bytes: u32, extended: bool, first: bool) -> (Namespace, Protection) {
        let protection = Protection { counts: true, guard, first };
        let namespace = Namespace {
            nsid: 1,
            blocks: 100,
            data_bytes: 512,
            metadata_bytes,
            extended,
            protection: Some(protection),
            ..Namespace::default()
        };
        (namespace, protection)
    }

    #[test]
    fn protection_of_sixteen_bits_has_guard_and_tags() {
        let (namespace, protection) = namespace(GuardFormat::Crc16, 8, false, false);
        let options = NvmeOptions { pi_chk: ALL, pi_act: false, ..NvmeOptions::default() };
        let blocks = ProtectedBlocks { namespace: &namespace, options: &options, protection, start: 0x1_0000_0002 };
        let (mut data, mut metadata) = (vec![7; 1024], vec![0; 16]);
        blocks.generate(&mut data, Some(&mut metadata));
        let guard = crc16(0, &[7; 512]).to_be_bytes();
        assert_eq!(metadata[..8], [guard[0], guard[1], 0x12, 0x34, 0, 0, 0, 2]);
        assert_eq!(metadata[8..], [guard[0], guard[1], 0x12, 0x34, 0, 0, 0, 3]);
        assert_eq!(blocks.check(&data, Some(&metadata)), Ok(()));
        data[600] ^= 1;
        assert_eq!(blocks.check(&data, Some(&metadata)), Err((ProtectionFault::Guard, 0x1_0000_0003)));
        data[600] ^= 1;
        metadata[15] ^= 1;
        assert_eq!(blocks.check(&data, Some(&metadata)), Err((ProtectionFault::ReferenceTag, 0x1_0000_0003)));
        metadata[2] = 0xff;
        assert_eq!(blocks.check(&data, Some(&metadata)), Err((ProtectionFault::ApplicationTag, 0x1_0000_0002)));
        // A deallocated block has all bits set, and is not checked.
        metadata.fill(0xff);
        assert_eq!(blocks.check(&data, Some(&metadata)), Ok(()));
    }

    #[test]
    fn metadata_before_the_protection_belong_to_the_checksum() {
        for (guard, first) in [
            (GuardFormat::Crc16, false),
            (GuardFormat::Crc64, false),
            (GuardFormat::Crc16, true),
            (GuardFormat::Crc64, true),
        ] {
            let (namespace, protection) = namespace(guard, 64, true, first);
            let options = NvmeOptions { pi_chk: ALL, pi_act: false, ..NvmeOptions::default() };
            let blocks = ProtectedBlocks { namespace: &namespace, options: &options, protection, start: 9 };
            let mut data: Vec<u8> = (0..2 * 576).map(|at| at as u8).collect();
            blocks.generate(&mut data, None);
            assert_eq!(blocks.check(&data, None), Ok(()), "{guard:?} {first}");
            // The last byte of the metadata: beyond the checksum if the protection is first.
            let at = if first { 575 } else { 512 };
            data[at] ^= 0x80;
            let expected = if first { Ok(()) } else { Err((ProtectionFault::Guard, 9)) };
            assert_eq!(blocks.check(&data, None), expected, "{guard:?} {first}");
        }
    }

    #[test]
    fn fields_without_a_check_may_differ() {
        let (namespace, protection) = namespace(GuardFormat::Crc64, 16, false, false);
        let options = NvmeOptions { pi_act: false, ..NvmeOptions::default() };
        let blocks =
            ProtectedBlocks { namespace: &namespace, options: &options, protection, start: 0xffff_0000_0000_0001 };
        let (mut data, mut metadata) = (vec![1; 512], vec![0; 16]);
        blocks.generate(&mut data, Some(&mut metadata));
        assert_eq!(metadata[8..], [0x12, 0x34, 0, 0, 0, 0, 0, 1], "48 bits of the reference tag");
        data[0] = 2;
        assert_eq!(blocks.check(&data, Some(&metadata)), Ok(()));
        let masked = NvmeOptions {
            pi_chk: ProtectionFields { apptag: true, ..ProtectionFields::default() },
            apptag: 0x12ff,
            apptag_mask: 0xff00,
            ..options.clone()
        };
        assert_eq!(ProtectedBlocks { options: &masked, ..blocks }.check(&data, Some(&metadata)), Ok(()));
    }
}
