//! Commands of the NVM command set as the kernel passes them to a device.

use crate::namespace::NvmeCommand;

use target::spec::{EngineSpec, NvmeOptions, NvmeWrite, ProtectionFields};

/// Opcodes of the NVM command set.
pub(super) const FLUSH: u8 = 0x00;
pub(super) const WRITE: u8 = 0x01;
pub(super) const READ: u8 = 0x02;
pub(super) const WRITE_UNCORRECTABLE: u8 = 0x04;
pub(super) const COMPARE: u8 = 0x05;
pub(super) const WRITE_ZEROES: u8 = 0x08;
pub(super) const DATASET_MANAGEMENT: u8 = 0x09;
pub(super) const VERIFY: u8 = 0x0c;
pub(super) const IO_MANAGEMENT_RECEIVE: u8 = 0x12;

/// Deallocate: attribute of Dataset Management.
const DEALLOCATE: u32 = 1 << 2;
/// Position of the directive type in dword 12.
const DIRECTIVE_TYPE: u32 = 20;
/// Position of the directive's value in dword 13.
const DIRECTIVE_SPECIFIC: u32 = 16;
/// Deallocate, of Write Zeroes.
const DEAC: u32 = 1 << 25;
/// Checks of the reference tag, the application tag and the guard.
const CHECK_REFERENCE_TAG: u32 = 1 << 26;
const CHECK_APPLICATION_TAG: u32 = 1 << 27;
const CHECK_GUARD: u32 = 1 << 28;
/// Protection information action: the device inserts and strips it.
const PROTECTION_ACTION: u32 = 1 << 29;
/// Force unit access.
const FUA: u32 = 1 << 30;

/// Most blocks of one command.
pub(super) const MAX_BLOCKS: u64 = 1 << 16;

/// Size of a range of Dataset Management in bytes.
pub(super) const RANGE_BYTES: usize = 16;

impl NvmeCommand {
    /// Returns the command as the ring takes it.
    #[inline]
    pub(super) fn bytes(&self) -> [u8; 80] {
        let mut bytes = [0; 80];
        bytes[0] = self.opcode;
        bytes[1] = self.flags;
        let words = [(4, self.nsid), (8, self.cdw2), (12, self.cdw3)];
        words.into_iter().for_each(|(at, word)| put(&mut bytes, at, word));
        bytes[16..24].copy_from_slice(&self.metadata.to_ne_bytes());
        bytes[24..32].copy_from_slice(&self.addr.to_ne_bytes());
        let words = [
            (32, self.metadata_len),
            (36, self.data_len),
            (40, self.cdw10),
            (44, self.cdw11),
            (48, self.cdw12),
            (52, self.cdw13),
            (56, self.cdw14),
            (60, self.cdw15),
            (64, self.timeout_ms),
        ];
        words.into_iter().for_each(|(at, word)| put(&mut bytes, at, word));
        bytes
    }

    /// Returns the command for `blocks` blocks from `start` on, from 1 to [`MAX_BLOCKS`].
    #[inline]
    pub(super) fn on_blocks(opcode: u8, nsid: u32, start: u64, blocks: u64) -> Self {
        Self {
            opcode,
            nsid,
            cdw10: start as u32,
            cdw11: (start >> 32) as u32,
            cdw12: (blocks.wrapping_sub(1) & (MAX_BLOCKS - 1)) as u32,
            ..Self::default()
        }
    }

    /// Returns the command that deallocates `ranges` ranges at `addr`.
    pub(super) fn deallocate(nsid: u32, addr: u64, ranges: u32) -> Self {
        Self {
            opcode: DATASET_MANAGEMENT,
            nsid,
            addr,
            data_len: ranges * RANGE_BYTES as u32,
            cdw10: ranges.wrapping_sub(1) & 0xff,
            cdw11: DEALLOCATE,
            ..Self::default()
        }
    }

    /// Returns the command that writes back the device's cache.
    pub(super) fn flush(nsid: u32) -> Self {
        Self { opcode: FLUSH, nsid, ..Self::default() }
    }

    /// Sets the directive of a write.
    #[inline]
    pub(super) fn with_directive(mut self, kind: u8, specific: u16) -> Self {
        self.cdw12 |= u32::from(kind) << DIRECTIVE_TYPE;
        self.cdw13 |= u32::from(specific) << DIRECTIVE_SPECIFIC;
        self
    }

    /// Adds the bits that the settings want for reads and writes.
    #[inline]
    pub(super) fn with_flags(mut self, spec: &EngineSpec) -> Self {
        let fua = match self.opcode {
            READ | COMPARE | VERIFY => spec.read_fua,
            WRITE | WRITE_ZEROES => spec.write_fua,
            _ => false,
        };
        if fua {
            self.cdw12 |= FUA;
        }
        if self.opcode == WRITE_ZEROES && spec.nvme.deac {
            self.cdw12 |= DEAC;
        }
        self
    }

    /// Adds the fields of protection information: of a namespace with reference tags (`counts`) of `wide` bits or 32.
    #[inline]
    pub(super) fn with_protection(mut self, options: &NvmeOptions, counts: bool, wide: bool) -> Self {
        let ProtectionFields { guard, reftag, apptag } = options.pi_chk;
        let bits = [
            (options.pi_act, PROTECTION_ACTION),
            (guard, CHECK_GUARD),
            (reftag && counts, CHECK_REFERENCE_TAG),
            (apptag, CHECK_APPLICATION_TAG),
        ];
        self.cdw12 |= bits.iter().filter(|(wanted, _)| *wanted).fold(0, |all, (_, bit)| all | bit);
        if counts {
            self.cdw14 = self.cdw10;
            if wide {
                self.cdw3 = self.cdw11 & 0xffff;
            }
        }
        self.cdw15 = u32::from(options.apptag_mask) << 16 | u32::from(options.apptag);
        self
    }
}

#[inline]
fn put(bytes: &mut [u8; 80], at: usize, word: u32) {
    bytes[at..at + 4].copy_from_slice(&word.to_ne_bytes());
}

/// Returns a range of Dataset Management.
pub(super) fn range(start: u64, blocks: u32) -> [u8; RANGE_BYTES] {
    let mut bytes = [0; RANGE_BYTES];
    bytes[4..8].copy_from_slice(&blocks.to_le_bytes());
    bytes[8..].copy_from_slice(&start.to_le_bytes());
    bytes
}

pub(super) const fn opcode_of(write: NvmeWrite) -> u8 {
    match write {
        NvmeWrite::Write => WRITE,
        NvmeWrite::Uncorrectable => WRITE_UNCORRECTABLE,
        NvmeWrite::Zeroes => WRITE_ZEROES,
        NvmeWrite::Verify => VERIFY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(bytes: &[u8; 80], at: usize) -> u32 {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    /// Offsets in `struct nvme_uring_cmd` of `linux/nvme_ioctl.h`.
    #[test]
    fn fields_are_where_the_kernel_reads_them() {
        let command = NvmeCommand {
            opcode: 0x02,
            flags: 0x11,
            reserved: 0,
            nsid: 7,
            cdw2: 22,
            cdw3: 33,
            metadata: 0x0102_0304_0506_0708,
            addr: 0x1112_1314_1516_1718,
            metadata_len: 44,
            data_len: 55,
            cdw10: 10,
            cdw11: 11,
            cdw12: 12,
            cdw13: 13,
            cdw14: 14,
            cdw15: 15,
            timeout_ms: 66,
            result: 0,
        };
        let bytes = command.bytes();
        assert_eq!((bytes[0], bytes[1], &bytes[2..4]), (2, 0x11, &[0, 0][..]));
        let words = [4, 8, 12, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68].map(|at| word(&bytes, at));
        assert_eq!(words, [7, 22, 33, 44, 55, 10, 11, 12, 13, 14, 15, 66, 0]);
        assert_eq!(bytes[16..24], 0x0102_0304_0506_0708_u64.to_le_bytes());
        assert_eq!(bytes[24..32], 0x1112_1314_1516_1718_u64.to_le_bytes());
        assert_eq!(bytes[72..], [0; 8]);
    }

    #[test]
    fn blocks_are_a_start_of_64_bits_and_a_number_less_one() {
        let read = NvmeCommand::on_blocks(READ, 3, 0x1_0000_0002, 8);
        assert_eq!((read.opcode, read.nsid, read.cdw10, read.cdw11, read.cdw12), (2, 3, 2, 1, 7));
        assert_eq!(NvmeCommand::on_blocks(WRITE, 1, 0, MAX_BLOCKS).cdw12, 0xffff);
    }

    #[test]
    fn writes_have_their_opcodes() {
        let all = [NvmeWrite::Write, NvmeWrite::Uncorrectable, NvmeWrite::Zeroes, NvmeWrite::Verify];
        assert_eq!(all.map(opcode_of), [0x01, 0x04, 0x08, 0x0c]);
    }

    #[test]
    fn a_deallocation_lists_its_ranges() {
        let trim = NvmeCommand::deallocate(1, 0x1000, 256);
        assert_eq!((trim.opcode, trim.cdw10, trim.cdw11, trim.data_len), (0x09, 255, 4, 4096));
        assert_eq!(range(0x0102_0304_0506, 8), [0, 0, 0, 0, 8, 0, 0, 0, 6, 5, 4, 3, 2, 1, 0, 0]);
    }

    #[test]
    fn access_is_forced_for_the_kind_that_wants_it() {
        let of = |opcode: u8, spec: &EngineSpec| NvmeCommand::on_blocks(opcode, 1, 0, 1).with_flags(spec).cdw12;
        let writes = EngineSpec { write_fua: true, ..EngineSpec::default() };
        assert_eq!(
            [READ, WRITE, WRITE_ZEROES, WRITE_UNCORRECTABLE].map(|opcode| of(opcode, &writes)),
            [0, 1 << 30, 1 << 30, 0]
        );
        let reads = EngineSpec { read_fua: true, ..EngineSpec::default() };
        assert_eq!([READ, COMPARE, WRITE].map(|opcode| of(opcode, &reads)), [1 << 30, 1 << 30, 0]);
        let nvme = NvmeOptions { deac: true, ..NvmeOptions::default() };
        let deallocates = EngineSpec { nvme, ..EngineSpec::default() };
        assert_eq!([WRITE, WRITE_ZEROES].map(|opcode| of(opcode, &deallocates)), [0, 1 << 25]);
    }

    #[test]
    fn directives_have_a_type_and_a_value() {
        let write = NvmeCommand::on_blocks(WRITE, 1, 0, 1).with_directive(2, 0xabcd);
        assert_eq!((write.cdw12, write.cdw13), (2 << 20, 0xabcd_0000));
    }

    #[test]
    fn protection_has_its_action_its_checks_and_its_tags() {
        let options = NvmeOptions {
            pi_act: false,
            pi_chk: ProtectionFields { guard: true, reftag: true, apptag: true },
            apptag: 0x1234,
            apptag_mask: 0xff00,
            ..NvmeOptions::default()
        };
        let write = NvmeCommand::on_blocks(WRITE, 1, 0x3_0000_0005, 1);
        let counted = write.with_protection(&options, true, false);
        assert_eq!((counted.cdw12, counted.cdw14, counted.cdw15, counted.cdw3), (7 << 26, 5, 0xff00_1234, 0));
        assert_eq!(write.with_protection(&options, true, true).cdw3, 3);
        // Type 3 has no reference tag that could be checked.
        let uncounted = write.with_protection(&options, false, false);
        assert_eq!((uncounted.cdw12, uncounted.cdw14), (0b110 << 26, 0));
        let inserted = write.with_protection(&NvmeOptions::default(), true, false);
        assert_eq!((inserted.cdw12, inserted.cdw15), (1 << 29, 0xffff_1234));
    }
}
