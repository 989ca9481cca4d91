//! Binary traces of blktrace: `struct blk_io_trace` of `include/uapi/linux/blktrace_api.h`, versions 7 and 8.

use std::collections::BTreeMap;

use super::NameNumbers;
use super::events::{BlockAction, BlockEvent};
use crate::{TraceInfo, TraceOperation, TraceRequest};

/// `BLK_IO_TRACE_MAGIC`, without its lowest byte, the version.
const MAGIC: u32 = 0x6561_7400;

/// Lengths of an event of versions 7 and 8, in bytes.
const EVENT_BYTES: usize = 48;
const EVENT2_BYTES: usize = 64;

/// Categories, bits of an action above the lowest 16.
pub(crate) mod category {
    pub(crate) const READ: u64 = 1;
    pub(crate) const WRITE: u64 = 1 << 1;
    pub(crate) const FLUSH: u64 = 1 << 2;
    pub(crate) const SYNC: u64 = 1 << 3;
    pub(crate) const QUEUE: u64 = 1 << 4;
    pub(crate) const ISSUE: u64 = 1 << 6;
    pub(crate) const COMPLETE: u64 = 1 << 7;
    pub(crate) const NOTIFY: u64 = 1 << 10;
    pub(crate) const AHEAD: u64 = 1 << 11;
    pub(crate) const META: u64 = 1 << 12;
    pub(crate) const DISCARD: u64 = 1 << 13;
    pub(crate) const FUA: u64 = 1 << 15;
    pub(crate) const WRITE_ZEROES: u64 = 1 << 22;
}

/// Maximum length of the data after an event, in bytes; the kernel writes messages of up to 128.
const DATA_BYTES_MAX: u16 = 4_096;

/// `__BLK_TA_CGROUP`: the data of the event begins with the number of a control group.
const WITH_CGROUP: u64 = 1 << 8;

/// An event as it is stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawEvent {
    pub(crate) time_ns: u64,
    pub(crate) sector: u64,
    pub(crate) bytes: u32,
    pub(crate) action: u64,
    pub(crate) categories: u64,
    pub(crate) pid: u32,
    pub(crate) device: u32,
    pub(crate) error: u16,
    pub(crate) is_big_endian: bool,
    /// Data after the event; of a read one at most 64 bytes: enough for notes.
    pub(crate) data: Vec<u8>,
}

impl RawEvent {
    /// Appends the event as version 7, in little-endian order.
    pub(crate) fn write(&self, sequence: u32, output: &mut Vec<u8>) {
        let start = output.len();
        output.extend_from_slice(&(MAGIC | 7).to_le_bytes());
        output.extend_from_slice(&sequence.to_le_bytes());
        output.extend_from_slice(&self.time_ns.to_le_bytes());
        output.extend_from_slice(&self.sector.to_le_bytes());
        let action = (self.categories << 16 | self.action) as u32;
        // The last field is the number of the processor.
        for field in [self.bytes, action, self.pid, self.device, 0] {
            output.extend_from_slice(&field.to_le_bytes());
        }
        output.extend_from_slice(&self.error.to_le_bytes());
        output.extend_from_slice(&(self.data.len() as u16).to_le_bytes());
        debug_assert_eq!(output.len() - start, EVENT_BYTES);
        output.extend_from_slice(&self.data);
    }
}

/// What the start of some bytes is.
pub(super) enum RawNext {
    /// An event and its length in bytes.
    Event(RawEvent, usize),
    NeedsInput,
    /// No event. The next may begin after so many bytes.
    Damage(usize),
}

/// Reads the event at the start of `bytes`.
pub(super) fn next_event(bytes: &[u8]) -> RawNext {
    let Some(version) = bytes.first_chunk().map(|magic| version_of(*magic)) else { return RawNext::NeedsInput };
    let Some((is_big_endian, version)) = version else { return damage(bytes) };
    let length = if version == 7 { EVENT_BYTES } else { EVENT2_BYTES };
    let Some(fields) = bytes.get(..length) else { return RawNext::NeedsInput };
    let fields = EventFields { bytes: fields, is_big_endian };
    let (action, categories, pid, device, error, data) = if version == 7 {
        let action = fields.u32(28);
        (action & 0xffff, action >> 16, fields.u32(32), fields.u32(36), fields.u16(44), fields.u16(46))
    } else {
        let action = fields.u64(32);
        (action as u32 & 0xffff, (action >> 16) as u32, fields.u32(28), fields.u32(40), fields.u16(48), fields.u16(50))
    };
    if data > DATA_BYTES_MAX {
        return damage(bytes);
    }
    let end = length + usize::from(data);
    let Some(data) = bytes.get(length..end) else { return RawNext::NeedsInput };
    let has_cgroup = u64::from(action) & WITH_CGROUP != 0;
    let data = if has_cgroup { data.get(8..).unwrap_or_default() } else { data };
    let event = RawEvent {
        time_ns: fields.u64(8),
        sector: fields.u64(16),
        bytes: fields.u32(24),
        action: u64::from(action) & !WITH_CGROUP,
        categories: categories.into(),
        pid,
        device,
        error,
        is_big_endian,
        data: data[..data.len().min(64)].to_vec(),
    };
    RawNext::Event(event, end)
}

/// Returns where the next event may begin.
fn damage(bytes: &[u8]) -> RawNext {
    let is_event = |window: &[u8]| window.first_chunk().is_some_and(|magic| version_of(*magic).is_some());
    let next = bytes[1..].windows(4).position(is_event);
    RawNext::Damage(1 + next.unwrap_or(bytes.len().saturating_sub(4)))
}

/// Returns the byte order and version of an event that begins with these bytes.
pub(super) fn version_of(magic: [u8; 4]) -> Option<(bool, u32)> {
    let version = |magic: u32| Some(magic & 0xff).filter(|version| magic & !0xff == MAGIC && (7..=8).contains(version));
    let little = version(u32::from_le_bytes(magic)).map(|version| (false, version));
    little.or_else(|| version(u32::from_be_bytes(magic)).map(|version| (true, version)))
}

struct EventFields<'a> {
    bytes: &'a [u8],
    is_big_endian: bool,
}

impl EventFields<'_> {
    fn number(&self, at: usize, length: usize) -> u64 {
        let bytes = self.bytes.get(at..at + length).unwrap_or_default();
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        if self.is_big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
    }

    fn u16(&self, at: usize) -> u16 {
        self.number(at, 2) as u16
    }

    fn u32(&self, at: usize) -> u32 {
        self.number(at, 4) as u32
    }

    fn u64(&self, at: usize) -> u64 {
        self.number(at, 8)
    }
}

/// Gives events names and meaning.
#[derive(Debug, Default)]
pub(super) struct EventReader {
    devices: NameNumbers,
    processes: NameNumbers,
    commands: BTreeMap<u32, Vec<u8>>,
    /// Indexes of devices and processes by their numbers: making their names for each event would take most of the
    /// time.
    device_indexes: BTreeMap<u32, u16>,
    process_indexes: BTreeMap<u32, u16>,
    /// A time of the trace and the same time in nanoseconds since 1970.
    pub(super) clock: Option<(u64, u64)>,
}

/// Maximum number of processes and devices that are remembered.
const NUMBERS_MAX: usize = 1 << 17;

impl EventReader {
    /// Returns what an event is about; `None` if it is of no interest.
    pub(super) fn event(&mut self, raw: &RawEvent, info: &mut TraceInfo) -> Option<BlockEvent> {
        if raw.categories & category::NOTIFY != 0 {
            self.note(raw);
            return None;
        }
        let action = match raw.action {
            1 => BlockAction::Queue,
            2 | 3 => BlockAction::Merge,
            6 => BlockAction::Requeue,
            7 => BlockAction::Issue,
            8 => BlockAction::Complete,
            12 => BlockAction::Insert,
            15 => BlockAction::Remap,
            _ => return None,
        };
        let mut request = self.request(raw, info);
        if action == BlockAction::Remap {
            // The devices above and below, and the sector of the one above, always in big-endian order.
            let (above, sector) = (raw.data.first_chunk::<4>()?, raw.data.get(8..16)?.first_chunk::<8>()?);
            request.device = self.device(u32::from_be_bytes(*above), info);
            request.offset = u64::from_be_bytes(*sector).checked_mul(512)?;
        }
        // A completion interrupts any process.
        if action != BlockAction::Complete {
            request.process = self.process(raw.pid, info);
        }
        Some(BlockEvent { time_ns: raw.time_ns, action, request })
    }

    fn device(&mut self, device: u32, info: &mut TraceInfo) -> u16 {
        if let Some(index) = self.device_indexes.get(&device) {
            return *index;
        }
        let name = format!("{},{}", device >> 20, device & 0xf_ffff);
        let index = self.devices.number(name.as_bytes(), |name| info.devices.push((name, None)));
        if self.device_indexes.len() < NUMBERS_MAX {
            self.device_indexes.insert(device, index);
        }
        index
    }

    fn process(&mut self, pid: u32, info: &mut TraceInfo) -> u16 {
        if let Some(index) = self.process_indexes.get(&pid) {
            return *index;
        }
        let name = process_name(self.commands.get(&pid).map(Vec::as_slice), pid);
        let index = self.processes.number(name.as_bytes(), |name| info.processes.push(name));
        if self.process_indexes.len() < NUMBERS_MAX {
            self.process_indexes.insert(pid, index);
        }
        index
    }

    fn request(&mut self, raw: &RawEvent, info: &mut TraceInfo) -> TraceRequest {
        let device = self.device(raw.device, info);
        let has = |category: u64| raw.categories & category != 0;
        let operation = match () {
            () if has(category::DISCARD) => TraceOperation::Discard,
            () if has(category::WRITE_ZEROES) => TraceOperation::WriteZeroes,
            () if raw.bytes == 0 && has(category::FLUSH) => TraceOperation::Flush,
            () if has(category::WRITE) => TraceOperation::Write,
            () if raw.bytes > 0 && has(category::READ) => TraceOperation::Read,
            () => TraceOperation::Other,
        };
        let has_data = operation != TraceOperation::Flush;
        TraceRequest {
            offset: raw.sector.saturating_mul(512),
            length: raw.bytes,
            operation,
            is_sync: has(category::SYNC),
            is_meta: has(category::META),
            is_fua: has_data && has(category::FUA),
            is_preflush: has_data && has(category::FLUSH),
            is_readahead: has(category::AHEAD),
            has_failed: raw.error != 0,
            device,
            ..TraceRequest::default()
        }
    }

    /// Takes names of processes and the time of day.
    fn note(&mut self, raw: &RawEvent) {
        match raw.action {
            0 if self.commands.len() < NUMBERS_MAX => {
                self.process_indexes.remove(&raw.pid);
                let length = raw.data.iter().position(|byte| *byte == 0).unwrap_or(raw.data.len());
                self.commands.insert(raw.pid, raw.data[..length].to_vec());
            }
            1 => {
                let fields = EventFields { bytes: &raw.data, is_big_endian: raw.is_big_endian };
                let (seconds, nanoseconds) = (u64::from(fields.u32(0)), u64::from(fields.u32(4)));
                self.clock.get_or_insert((raw.time_ns, seconds * 1_000_000_000 + nanoseconds));
            }
            _ => {}
        }
    }
}

/// Returns the name of a process: its command, if it is known, and its number.
pub(super) fn process_name(command: Option<&[u8]>, pid: u32) -> String {
    let command = command.map(String::from_utf8_lossy).filter(|command| !command.is_empty());
    format!("{}/{pid}", command.unwrap_or("pid".into()))
}
