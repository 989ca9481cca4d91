//! Binary traces of blktrace, with a file for each CPU.

use super::at_byte;
use super::blktrace::{EventReader, RawEvent, RawNext, next_event};
use super::{REQUESTS_AT_ONCE, RebasedEvents, TraceStep};
use crate::{TraceEnd, TraceInfo, TraceRequest};
use units::Problem;

/// Merges the events of files by their time.
#[derive(Debug)]
pub(super) struct Binary {
    files: Vec<EventFile>,
    reader: EventReader,
    pub(super) events: RebasedEvents,
    is_truncated: Option<TraceEnd>,
}

#[derive(Debug, Default)]
struct EventFile {
    buffer: Vec<u8>,
    start: usize,
    position: u64,
    has_ended: bool,
    next: Option<RawEvent>,
}

impl EventFile {
    fn skip(&mut self, bytes: usize) {
        self.start += bytes;
        self.position += bytes as u64;
    }
}

impl Binary {
    pub(super) fn new(files: usize) -> Self {
        Self {
            files: (0..files.max(1)).map(|_| EventFile::default()).collect(),
            reader: EventReader::default(),
            events: RebasedEvents::default(),
            is_truncated: None,
        }
    }

    pub(super) fn feed(&mut self, file: usize, bytes: &[u8]) {
        if let Some(file) = self.files.get_mut(file) {
            file.buffer.drain(..file.start);
            file.start = 0;
            file.buffer.extend_from_slice(bytes);
        }
    }

    pub(super) fn end_input(&mut self, file: usize) {
        if let Some(file) = self.files.get_mut(file) {
            file.has_ended = true;
        }
    }

    pub(super) fn next(
        &mut self,
        name: &str,
        info: &mut TraceInfo,
        requests: &mut Vec<TraceRequest>,
    ) -> Result<TraceStep, Problem> {
        let before = requests.len();
        while requests.len() - before < REQUESTS_AT_ONCE {
            for index in 0..self.files.len() {
                if self.files[index].next.is_none() && self.read(index, name)? {
                    let has_some = requests.len() > before;
                    return Ok(if has_some { TraceStep::Requests } else { TraceStep::NeedsInput(index) });
                }
            }
            let times =
                self.files.iter().enumerate().filter_map(|(index, file)| Some((file.next.as_ref()?.time_ns, index)));
            let Some((_, index)) = times.min() else { return Ok(self.end(info, requests)) };
            if let Some(raw) = self.files[index].next.take()
                && let Some(event) = self.reader.event(&raw, info)
            {
                self.events.add(&event, requests);
                self.set_start(info);
            }
        }
        Ok(TraceStep::Requests)
    }

    /// Reads the next event of a file; returns whether it needs input for that.
    fn read(&mut self, index: usize, name: &str) -> Result<bool, Problem> {
        let file = &mut self.files[index];
        let unread = &file.buffer[file.start..];
        let position = file.position;
        let what = match next_event(unread) {
            RawNext::Event(event, bytes) => {
                file.next = Some(event);
                file.skip(bytes);
                return Ok(false);
            }
            RawNext::NeedsInput if !file.has_ended => return Ok(true),
            RawNext::NeedsInput if unread.is_empty() => return Ok(false),
            RawNext::NeedsInput => {
                let bytes = unread.len();
                file.skip(bytes);
                self.is_truncated = Some(TraceEnd::Truncated { position, bytes: bytes as u64 });
                return Ok(false);
            }
            RawNext::Damage(bytes) => {
                file.skip(bytes);
                format!("expected an event, skipped {bytes} bytes")
            }
        };
        let file =
            if self.files.len() > 1 { format!(" (file {} of {})", index + 1, self.files.len()) } else { String::new() };
        Err(at_byte(&format!("{name}{file}"), position, &what)
            .help("use an undamaged copy, or continue without these events"))
    }

    fn end(&mut self, info: &mut TraceInfo, requests: &mut Vec<TraceRequest>) -> TraceStep {
        let before = requests.len();
        self.events.finish(requests);
        self.set_start(info);
        if requests.len() > before {
            return TraceStep::Requests;
        }
        TraceStep::End(self.is_truncated.unwrap_or(TraceEnd::Complete))
    }

    /// Notes the time of day of the start: the trace has it for one of its times.
    fn set_start(&self, info: &mut TraceInfo) {
        if info.started_unix_ms.is_none()
            && let (Some((at, unix_ns)), Some(start)) = (self.reader.clock, self.events.rebase.start_ns)
        {
            info.started_unix_ms = Some(unix_ns.saturating_add(start).saturating_sub(at) / 1_000_000);
        }
    }
}
