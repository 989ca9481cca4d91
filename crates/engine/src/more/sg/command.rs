//! SCSI commands as the devices take them (SBC-4).

use target::spec::ScsiWriteCommand;

/// Largest address and length of commands of 10 bytes.
const MAX_ADDRESS_10: u64 = u32::MAX as u64;
const MAX_BLOCKS_10: u32 = u16::MAX as u32;
/// Force unit access, in the second byte of a command.
const FUA: u8 = 1 << 3;
/// No data-out buffer, in the second byte of WRITE SAME(16).
const NDOB: u8 = 1;
/// Length of the parameters of UNMAP with one range.
pub(super) const UNMAP_BYTES: usize = 24;
/// Length of the answer of READ CAPACITY(10).
pub(super) const CAPACITY_10_BYTES: usize = 8;
/// Length of the answer of READ CAPACITY(16).
pub(super) const CAPACITY_16_BYTES: usize = 32;
/// Length of the answer of STREAM CONTROL.
pub(super) const STREAM_BYTES: usize = 8;

/// The bytes of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cdb {
    bytes: [u8; 16],
    length: u8,
}

impl Cdb {
    pub(super) const EMPTY: Self = Self { bytes: [0; 16], length: 0 };

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Returns a command with an address and a number of blocks: that of 10 bytes if they fit into it.
    fn ranged(codes: (u8, u8), flags: u8, address: u64, blocks: u32) -> Self {
        if address <= MAX_ADDRESS_10 && blocks <= MAX_BLOCKS_10 {
            Self::ranged_10(codes.0, flags, address as u32, blocks as u16)
        } else {
            Self::ranged_16(codes.1, flags, address, blocks)
        }
    }

    fn ranged_10(code: u8, flags: u8, address: u32, blocks: u16) -> Self {
        let mut bytes = [0; 16];
        (bytes[0], bytes[1]) = (code, flags);
        bytes[2..6].copy_from_slice(&address.to_be_bytes());
        bytes[7..9].copy_from_slice(&blocks.to_be_bytes());
        Self { bytes, length: 10 }
    }

    fn ranged_16(code: u8, flags: u8, address: u64, blocks: u32) -> Self {
        let mut bytes = [0; 16];
        (bytes[0], bytes[1]) = (code, flags);
        bytes[2..10].copy_from_slice(&address.to_be_bytes());
        bytes[10..14].copy_from_slice(&blocks.to_be_bytes());
        Self { bytes, length: 16 }
    }

    pub(super) fn read(fua: bool, address: u64, blocks: u32) -> Self {
        Self::ranged((0x28, 0x88), if fua { FUA } else { 0 }, address, blocks)
    }

    /// Returns the command of a write. Modes that compare or verify ignore `fua`, as in fio.
    pub(super) fn write(mode: ScsiWriteCommand, fua: bool, stream: u16, address: u64, blocks: u32) -> Self {
        let fua = if fua { FUA } else { 0 };
        match mode {
            ScsiWriteCommand::Write => Self::ranged((0x2a, 0x8a), fua, address, blocks),
            ScsiWriteCommand::WriteAndVerify => Self::ranged((0x2e, 0x8e), 0, address, blocks),
            ScsiWriteCommand::WriteSame => Self::ranged((0x41, 0x93), 0, address, blocks),
            ScsiWriteCommand::WriteSameNdob => Self::ranged_16(0x93, NDOB, address, blocks),
            ScsiWriteCommand::VerifyMedium => Self::ranged((0x2f, 0x8f), 0, address, blocks),
            ScsiWriteCommand::VerifyData => Self::ranged((0x2f, 0x8f), 0b01 << 1, address, blocks),
            ScsiWriteCommand::VerifySame => Self::ranged((0x2f, 0x8f), 0b11 << 1, address, blocks),
            ScsiWriteCommand::WriteStream => {
                let mut command = Self::ranged_16(0x9a, fua, address, 0);
                command.bytes[10..12].copy_from_slice(&stream.to_be_bytes());
                command.bytes[12..14].copy_from_slice(&(blocks as u16).to_be_bytes());
                command
            }
        }
    }

    /// Returns the command that writes the device's cache back.
    pub(super) fn synchronize() -> Self {
        Self::ranged_10(0x35, 0, 0, 0)
    }

    pub(super) fn unmap() -> Self {
        Self::ranged_10(0x42, 0, 0, UNMAP_BYTES as u16)
    }

    pub(super) fn capacity_10() -> Self {
        Self::ranged_10(0x25, 0, 0, 0)
    }

    pub(super) fn capacity_16() -> Self {
        Self::ranged_16(0x9e, 0x10, 0, CAPACITY_16_BYTES as u32)
    }

    /// Returns the command that opens a stream, or that closes one.
    pub(super) fn stream_control(closed: Option<u16>) -> Self {
        let action = if closed.is_some() { 0b10 } else { 0b01 };
        let mut command = Self::ranged_16(0x9e, 0x14 | action << 5, 0, STREAM_BYTES as u32);
        command.bytes[4..6].copy_from_slice(&closed.unwrap_or(0).to_be_bytes());
        command
    }
}

/// Returns the parameters of UNMAP for one range.
pub(super) fn unmap_parameters(address: u64, blocks: u32) -> [u8; UNMAP_BYTES] {
    let mut bytes = [0; UNMAP_BYTES];
    bytes[..2].copy_from_slice(&(UNMAP_BYTES as u16 - 2).to_be_bytes());
    bytes[2..4].copy_from_slice(&16_u16.to_be_bytes());
    bytes[8..16].copy_from_slice(&address.to_be_bytes());
    bytes[16..20].copy_from_slice(&blocks.to_be_bytes());
    bytes
}

/// Returns the number of blocks and their size from the answer of READ CAPACITY(10); `None` if (16) has to be asked.
pub(super) fn capacity_of_10(answer: [u8; CAPACITY_10_BYTES]) -> Option<(u64, u32)> {
    let [a, b, c, d, sizes @ ..] = answer;
    let last = u32::from_be_bytes([a, b, c, d]);
    (last != u32::MAX).then(|| (u64::from(last) + 1, u32::from_be_bytes(sizes)))
}

/// Returns the same from the answer of READ CAPACITY(16).
pub(super) fn capacity_of_16(answer: &[u8; CAPACITY_16_BYTES]) -> (u64, u32) {
    let mut last = [0; 8];
    last.copy_from_slice(&answer[..8]);
    let mut size = [0; 4];
    size.copy_from_slice(&answer[8..12]);
    (u64::from_be_bytes(last).saturating_add(1), u32::from_be_bytes(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(command: Cdb) -> Vec<u8> {
        command.as_slice().to_vec()
    }

    #[test]
    fn reads_and_writes_take_10_bytes_where_these_suffice() {
        assert_eq!(bytes(Cdb::read(false, 0x0102_0304, 0x0506)), [0x28, 0, 1, 2, 3, 4, 0, 5, 6, 0]);
        assert_eq!(bytes(Cdb::read(true, u64::from(u32::MAX), 0xffff))[..2], [0x28, 8]);
        assert_eq!(bytes(Cdb::read(true, 0x1_0000_0000, 8)), [0x88, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0]);
        assert_eq!(bytes(Cdb::read(false, 7, 0x1_0000)), [0x88, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 1, 0, 0, 0, 0]);
        let write = |address| bytes(Cdb::write(ScsiWriteCommand::Write, true, 0, address, 1))[..2].to_vec();
        assert_eq!((write(1), write(1 << 32)), (vec![0x2a, 8], vec![0x8a, 8]));
    }

    #[test]
    fn each_write_mode_has_its_command() {
        let of = |mode, address| bytes(Cdb::write(mode, true, 0, address, 2));
        let small = |mode| of(mode, 5);
        assert_eq!(small(ScsiWriteCommand::WriteAndVerify), [0x2e, 0, 0, 0, 0, 5, 0, 0, 2, 0]);
        assert_eq!(small(ScsiWriteCommand::WriteSame), [0x41, 0, 0, 0, 0, 5, 0, 0, 2, 0]);
        assert_eq!(small(ScsiWriteCommand::VerifyMedium), [0x2f, 0, 0, 0, 0, 5, 0, 0, 2, 0]);
        assert_eq!(small(ScsiWriteCommand::VerifyData)[..2], [0x2f, 2]);
        assert_eq!(small(ScsiWriteCommand::VerifySame)[..2], [0x2f, 6]);
        assert_eq!(small(ScsiWriteCommand::WriteSameNdob), [0x93, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0]);
        let large: Vec<u8> = [
            ScsiWriteCommand::WriteAndVerify,
            ScsiWriteCommand::WriteSame,
            ScsiWriteCommand::VerifyMedium,
            ScsiWriteCommand::VerifyData,
            ScsiWriteCommand::VerifySame,
        ]
        .into_iter()
        .map(|mode| of(mode, 1 << 40)[0])
        .collect();
        assert_eq!(large, [0x8e, 0x93, 0x8f, 0x8f, 0x8f]);
    }

    #[test]
    fn streams_are_opened_used_and_closed() {
        assert_eq!(bytes(Cdb::stream_control(None)), [0x9e, 0x34, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0]);
        assert_eq!(bytes(Cdb::stream_control(Some(0x0102))), [0x9e, 0x54, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0]);
        let write = Cdb::write(ScsiWriteCommand::WriteStream, true, 0x0304, 0x0506, 0x0708);
        assert_eq!(bytes(write), [0x9a, 8, 0, 0, 0, 0, 0, 0, 5, 6, 3, 4, 7, 8, 0, 0]);
        assert_eq!(ScsiWriteCommand::WriteStream.max_blocks(), 0xffff);
    }

    #[test]
    fn ranges_to_unmap_are_parameters() {
        assert_eq!(bytes(Cdb::unmap()), [0x42, 0, 0, 0, 0, 0, 0, 0, 24, 0]);
        let mut expected = [0; 24];
        (expected[1], expected[3]) = (22, 16);
        expected[14..16].copy_from_slice(&[1, 2]);
        expected[18..20].copy_from_slice(&[3, 4]);
        assert_eq!(unmap_parameters(0x0102, 0x0304), expected);
    }

    #[test]
    fn what_a_write_transfers_depends_on_its_mode() {
        let transferred = |mode: ScsiWriteCommand| mode.transferred(8192, 512);
        assert_eq!(
            [
                ScsiWriteCommand::Write,
                ScsiWriteCommand::WriteAndVerify,
                ScsiWriteCommand::VerifyData,
                ScsiWriteCommand::WriteSame,
                ScsiWriteCommand::VerifySame,
                ScsiWriteCommand::WriteSameNdob,
                ScsiWriteCommand::VerifyMedium,
            ]
            .map(transferred),
            [8192, 8192, 8192, 512, 512, 0, 0]
        );
    }

    #[test]
    fn capacities_beyond_2_tib_are_asked_for_with_16_bytes() {
        assert_eq!(bytes(Cdb::capacity_10())[0], 0x25);
        assert_eq!(bytes(Cdb::capacity_16())[..2], [0x9e, 0x10]);
        assert_eq!(bytes(Cdb::capacity_16())[10..14], [0, 0, 0, 32]);
        assert_eq!(capacity_of_10([0, 0, 0x7f, 0xff, 0, 0, 2, 0]), Some((0x8000, 512)));
        assert_eq!(capacity_of_10([0xff; 8]), None);
        let mut answer = [0; 32];
        (answer[3], answer[10]) = (1, 0x10);
        assert_eq!(capacity_of_16(&answer), ((1 << 32) + 1, 4096));
        assert_eq!(capacity_of_16(&[0xff; 32]).0, u64::MAX);
    }

    #[test]
    fn the_cache_is_written_back_as_a_whole() {
        assert_eq!(bytes(Cdb::synchronize()), [0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
}
