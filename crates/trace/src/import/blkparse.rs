//! Text of `blkparse` in its default format:
//! `8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]`.

use std::collections::BTreeMap;

use super::FieldError;
use super::NameNumbers;
use super::blktrace::process_name;
use super::events::{BlockAction, BlockEvent, set_letters};
use super::lines::{Field, space_fields};
use crate::{TraceInfo, TraceRequest};

/// Size of a sector, in bytes.
const SECTOR: u64 = 512;

/// Reads the text.
#[derive(Debug, Default)]
pub(super) struct Blkparse {
    devices: NameNumbers,
    processes: NameNumbers,
    /// Commands and indexes by process identifier.
    known: BTreeMap<u64, (Vec<u8>, u16)>,
    /// Whether the summary at the end has begun.
    is_in_summary: bool,
    /// Whether events have begun, below text.
    is_in_events: bool,
}

/// Maximum number of processes that are remembered.
const KNOWN_MAX: usize = 1 << 17;

impl Blkparse {
    /// Reads a line; `None` if it is no event of interest.
    pub(super) fn line(&mut self, line: &[u8], info: &mut TraceInfo) -> Result<Option<BlockEvent>, FieldError> {
        let (fields, count) = space_fields::<16>(line);
        let is_summary = fields[0].text.starts_with(b"CPU") || fields[0].text == b"Total";
        self.is_in_summary |= is_summary && fields[1].text.starts_with(b"(");
        // A pasted text may have prose, fences and the command around it.
        let is_around = fields[0].text.starts_with(b"```") || matches!(fields[0].text, b"$" | b"#");
        self.is_in_events &= !is_around;
        if count == 0 || is_around || self.is_in_summary {
            return Ok(None);
        }
        let [device, _cpu, _sequence, time, pid, action, letters, sector, plus, blocks, ..] = fields;
        if !is_device(device.text) {
            // The rest of a cut line is none of that.
            let is_prose = !self.is_in_events && !device.text[0].is_ascii_digit();
            return if is_prose { Ok(None) } else { Err(device.error("a device such as `8,0`")) };
        }
        self.is_in_events = true;
        let time_ns = time.decimal(9, "a time in seconds")?;
        let pid = pid.number("a process identifier")?;
        let action = match action.text {
            b"Q" => BlockAction::Queue,
            b"M" | b"F" => BlockAction::Merge,
            b"I" => BlockAction::Insert,
            b"D" => BlockAction::Issue,
            b"R" => BlockAction::Requeue,
            b"C" => BlockAction::Complete,
            b"A" => BlockAction::Remap,
            b"" => return Err(action.error("an action")),
            _ => return Ok(None),
        };
        let mut request = TraceRequest::default();
        set_letters(&mut request, letters.text).ok_or_else(|| letters.error("an operation such as `WS`"))?;
        // Without data there may be neither a sector nor a length: `D FN [kworker]`, `C FN 0 [0]`.
        if plus.text == b"+" {
            request.offset = sector.offset(SECTOR)?;
            request.length = blocks.length(SECTOR)?;
        } else if sector.text.first().is_some_and(u8::is_ascii_digit) {
            request.offset = sector.offset(SECTOR)?;
        }
        if action == BlockAction::Remap {
            return Ok(self.remapped(line, time_ns, request, info));
        }
        let last = bracketed(line);
        if action == BlockAction::Complete {
            request.has_failed = last.is_some_and(|error| error != b"0");
        }
        request.device = self.devices.number(device.text, |name| info.devices.push((name, None)));
        // A completion interrupts any process.
        if action != BlockAction::Complete {
            request.process = self.process(pid, last.unwrap_or_default(), info);
        }
        Ok(Some(BlockEvent { time_ns, action, request }))
    }
}

impl Blkparse {
    /// Returns the event of a line such as `8,0 1 2 0.1 2000 A R 3048 + 8 <- (253,0) 1000`, about the device above.
    fn remapped(
        &mut self,
        line: &[u8],
        time_ns: u64,
        request: TraceRequest,
        info: &mut TraceInfo,
    ) -> Option<BlockEvent> {
        let at = line.windows(2).position(|pair| pair == b"<-")?;
        let mut words = line[at + 2..].split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        let device = words.next()?.strip_prefix(b"(")?.strip_suffix(b")").filter(|device| is_device(device))?;
        let sector: u64 = std::str::from_utf8(words.next()?.trim_ascii()).ok()?.parse().ok()?;
        let device = self.devices.number(device, |name| info.devices.push((name, None)));
        let request = TraceRequest { device, offset: sector.checked_mul(SECTOR)?, ..request };
        Some(BlockEvent { time_ns, action: BlockAction::Remap, request })
    }

    /// Returns the index of a process. Making its name for each event would take most of the time.
    fn process(&mut self, pid: u64, command: &[u8], info: &mut TraceInfo) -> u16 {
        if let Some((known, index)) = self.known.get(&pid)
            && known == command
        {
            return *index;
        }
        let name = process_name(Some(command), u32::try_from(pid).unwrap_or(u32::MAX));
        let index = self.processes.number(name.as_bytes(), |name| info.processes.push(name));
        if self.known.len() < KNOWN_MAX {
            self.known.insert(pid, (command.to_owned(), index));
        }
        index
    }
}

/// Returns what is in the brackets at the end of a line.
fn bracketed(line: &[u8]) -> Option<&[u8]> {
    let inner = line.trim_ascii_end().strip_suffix(b"]")?;
    let start = inner.iter().rposition(|byte| *byte == b'[')?;
    Some(&inner[start + 1..])
}

/// Returns whether `text` is two numbers with a comma between them.
pub(super) fn is_device(text: &[u8]) -> bool {
    let mut parts = text.split(|byte| *byte == b',');
    let is_number =
        |part: Option<&[u8]>| part.is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
    is_number(parts.next()) && is_number(parts.next()) && parts.next().is_none()
}

/// Returns whether a line looks like an event.
pub(super) fn is_event(line: &[u8]) -> bool {
    let (fields, _) = space_fields::<8>(line);
    let [device, cpu, sequence, time, ..] = fields;
    let is_number = |field: Field| field.number("").is_ok();
    is_device(device.text) && is_number(cpu) && is_number(sequence) && time.decimal(9, "").is_ok()
}
