//! Zones of a namespace, by the commands of the Zoned Namespace Command Set specification.

use std::io;
use std::os::fd::RawFd;

use units::{Zone, ZoneCommand, ZoneCondition, ZoneKind, ZoneReport};

use super::call::{self, NvmeCommand, NvmeStatus};
use super::{Namespace, identify, word};

const ZONE_MANAGEMENT_SEND: u8 = 0x79;
const ZONE_MANAGEMENT_RECEIVE: u8 = 0x7a;
/// Zone Send Action: finish, reset.
const FINISH: u32 = 2;
const RESET: u32 = 4;
/// Partial report: the number of zones is that of the descriptors in the answer.
const PARTIAL: u32 = 1 << 16;
/// Identify: the namespace as a command set has it.
const CNS_NAMESPACE_OF_SET: u32 = 0x05;
const ZONED_COMMAND_SET: u32 = 2;
/// Size of the header of a report, and of the descriptor of a zone.
const DESCRIPTOR_BYTES: usize = 64;
/// Size of a report, within the maximum transfer of any device.
const REPORT_BYTES: usize = 4096;
/// Format extensions in the identification of a zoned namespace.
const FORMATS_AT: usize = 2816;
const FORMAT_BYTES: usize = 16;

/// Size and number of the zones of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ZonedNamespace {
    zone_blocks: u64,
    /// Zones that may be open, and active; zero for no limit.
    max_open: u32,
    max_active: u32,
}

impl ZonedNamespace {
    /// Reads the answer to Identify; `None` if it describes no zones.
    fn parse(identified: &[u8; 4096], format: usize) -> Option<Self> {
        let zone_blocks = quad(identified, FORMATS_AT + FORMAT_BYTES * format);
        // Numbers less one; all bits for no limit.
        let limit = |at| word(identified, at).wrapping_add(1);
        (zone_blocks > 0).then(|| Self { zone_blocks, max_active: limit(4), max_open: limit(8) })
    }
}

fn quad(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// Reads the descriptor of a zone of a namespace with blocks of `unit` bytes.
fn zone(descriptor: &[u8], unit: u64) -> Zone {
    let (kind, condition) = (descriptor[0] & 0xf, descriptor[1] >> 4);
    // A device may report anything.
    let bytes = |at| quad(descriptor, at).saturating_mul(unit);
    let (capacity, start) = (bytes(8), bytes(16));
    let condition = match condition {
        0x0 | 0x1 => ZoneCondition::Empty,
        0x2 | 0x3 => ZoneCondition::Open,
        0x4 => ZoneCondition::Closed,
        0xe => ZoneCondition::Full,
        _ => ZoneCondition::Unusable,
    };
    let write_pointer = match condition {
        ZoneCondition::Empty => start,
        ZoneCondition::Open | ZoneCondition::Closed => bytes(24),
        ZoneCondition::Full | ZoneCondition::Unusable => start.saturating_add(capacity),
    };
    let kind = if kind == 2 { ZoneKind::Sequential } else { ZoneKind::Conventional };
    Zone { start, capacity, write_pointer, kind, condition }
}

impl Namespace {
    /// Returns the size of the zones of the namespace of an open character device in blocks; `None` without zones.
    pub(crate) fn zone_blocks(&self, fd: RawFd) -> io::Result<Option<u64>> {
        Ok(self.zoned(fd)?.map(|zoned| zoned.zone_blocks))
    }

    fn zoned(&self, fd: RawFd) -> io::Result<Option<ZonedNamespace>> {
        let identified = match identify(fd, self.nsid, CNS_NAMESPACE_OF_SET, ZONED_COMMAND_SET) {
            Ok(identified) => identified,
            // It is without the command set, or the namespace is of another one.
            Err(error) if NvmeStatus::is_unknown(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(ZonedNamespace::parse(&identified, self.format))
    }

    /// Returns the zones of the namespace of an open character device, with blocks of `unit` bytes in a buffer; `None`
    /// without zones.
    pub(super) fn zones(&self, fd: RawFd, unit: u32) -> io::Result<Option<ZoneReport>> {
        let Some(zoned) = self.zoned(fd)? else { return Ok(None) };
        let (mut zones, mut block) = (Vec::new(), 0);
        while block < self.blocks {
            let part = self.report(fd, block, unit, REPORT_BYTES)?;
            if part.is_empty() {
                break;
            }
            block = zoned.zone_blocks.saturating_mul(part.len() as u64).saturating_add(block);
            zones.extend(part);
        }
        Ok(Some(ZoneReport {
            zone_bytes: zoned.zone_blocks.saturating_mul(u64::from(unit)),
            zones,
            max_open: zoned.max_open,
            max_active: zoned.max_active,
        }))
    }

    /// Returns the zones from a block on that fit into an answer of this size.
    fn report(&self, fd: RawFd, block: u64, unit: u32, bytes: usize) -> io::Result<Vec<Zone>> {
        let mut answer = vec![0; bytes];
        let command = NvmeCommand {
            opcode: ZONE_MANAGEMENT_RECEIVE,
            cdw12: (bytes / 4 - 1) as u32,
            cdw13: PARTIAL,
            ..self.on_zone(block)
        };
        call::receive(fd, command, &mut answer)?;
        let count = quad(&answer, 0).min((bytes / DESCRIPTOR_BYTES - 1) as u64) as usize;
        let descriptors = answer[DESCRIPTOR_BYTES..].chunks_exact(DESCRIPTOR_BYTES).take(count);
        Ok(descriptors.map(|descriptor| zone(descriptor, u64::from(unit))).collect())
    }

    /// Executes a command on the zone at an offset, and returns its write pointer afterwards, or an error number.
    pub(crate) fn command_zone(
        &self,
        fd: RawFd,
        unit: u32,
        command: ZoneCommand,
        (offset, length): (u64, u64),
    ) -> Result<u64, i32> {
        let block = offset / u64::from(unit);
        let errno = |error: io::Error| call::errno_of(&error);
        match command {
            ZoneCommand::Reset => call::execute(fd, self.reset_zone(block)).map(|()| offset).map_err(errno),
            ZoneCommand::Finish => {
                call::execute(fd, self.manage_zone(block, FINISH)).map(|()| offset + length).map_err(errno)
            }
            ZoneCommand::Report => {
                let zones = self.report(fd, block, unit, 2 * DESCRIPTOR_BYTES).map_err(errno)?;
                zones.first().map(|zone| zone.write_pointer).ok_or(libc::EIO)
            }
        }
    }

    pub(crate) fn reset_zone(&self, block: u64) -> NvmeCommand {
        self.manage_zone(block, RESET)
    }

    fn manage_zone(&self, block: u64, action: u32) -> NvmeCommand {
        NvmeCommand { opcode: ZONE_MANAGEMENT_SEND, cdw13: action, ..self.on_zone(block) }
    }

    fn on_zone(&self, block: u64) -> NvmeCommand {
        NvmeCommand { nsid: self.nsid, cdw10: block as u32, cdw11: (block >> 32) as u32, ..NvmeCommand::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(kind: u8, state: u8, numbers: [u64; 3]) -> [u8; DESCRIPTOR_BYTES] {
        let mut bytes = [0; DESCRIPTOR_BYTES];
        (bytes[0], bytes[1]) = (kind, state << 4);
        for (number, at) in numbers.into_iter().zip([8, 16, 24]) {
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn descriptors_are_those_of_the_specification() {
        let open = zone(&descriptor(2, 3, [96, 128, 130]), 512);
        let expected = Zone {
            start: 128 * 512,
            capacity: 96 * 512,
            write_pointer: 130 * 512,
            kind: ZoneKind::Sequential,
            condition: ZoneCondition::Open,
        };
        assert_eq!(open, expected);
        let conditions = [(1, 0), (2, 2), (4, 2), (0xe, 96), (0xd, 96), (0xf, 96)];
        for (state, written) in conditions {
            let zone = zone(&descriptor(2, state, [96, 128, 130]), 4096);
            assert_eq!(zone.write_pointer, (128 + written) * 4096, "state {state:#x}");
        }
    }

    #[test]
    fn limits_are_numbers_less_one() {
        let mut identified = [0; 4096];
        identified[4..8].copy_from_slice(&7_u32.to_le_bytes());
        identified[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(ZonedNamespace::parse(&identified, 1), None, "no size of zones");
        identified[FORMATS_AT + FORMAT_BYTES..][..8].copy_from_slice(&0x8000_u64.to_le_bytes());
        let expected = ZonedNamespace { zone_blocks: 0x8000, max_open: 0, max_active: 8 };
        assert_eq!(ZonedNamespace::parse(&identified, 1), Some(expected));
    }

    #[test]
    fn commands_name_the_first_block_of_the_zone() {
        let namespace = Namespace { nsid: 3, ..Namespace::default() };
        let reset = namespace.reset_zone(0x1_0000_0002);
        assert_eq!((reset.opcode, reset.nsid, reset.cdw10, reset.cdw11, reset.cdw13), (0x79, 3, 2, 1, 4));
    }
}
