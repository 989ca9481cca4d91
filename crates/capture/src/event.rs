//! Events of the block layer, out of the bytes of the ring buffer.

use trace::{TraceOperation, TraceRequest, set_letters};
use units::Problem;

use crate::layout::{self, FieldLayout, FieldTable};
use crate::names::{COMM_BYTES, ProcessNames};
use crate::target::SECTOR_BYTES;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestAction {
    /// The scheduler takes it.
    Insert,
    /// The driver takes it; a device without requests takes a bio.
    Issue,
    /// It, or a part of it, is completed.
    Complete,
    /// The driver gives it back.
    Requeue,
    /// It becomes a part of the request before it.
    Merge,
    /// Data before it are added to a request in the queue.
    FrontMerge,
    /// A request that waited for flushes is completed. The flushes and its data had completions of their own.
    FlushDone,
}

/// Which request an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RequestPlace {
    /// One with data from this sector on.
    Sector(u64),
    Flush,
    /// A command without a position.
    Command,
}

/// An event. Its request has operation, flags, offset, length and process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestEvent {
    pub(crate) time_ns: u64,
    pub(crate) action: RequestAction,
    pub(crate) place: RequestPlace,
    pub(crate) request: TraceRequest,
}

/// An event that is captured, by its name in tracefs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventName {
    pub(crate) name: &'static str,
    action: RequestAction,
    /// Whether a capture is impossible without it.
    pub(crate) is_needed: bool,
}

const fn event(name: &'static str, action: RequestAction, is_needed: bool) -> EventName {
    EventName { name, action, is_needed }
}

/// Events of devices with requests. The most frequent ones are first.
pub(crate) const REQUEST_EVENTS: [EventName; 6] = [
    event("block_rq_issue", RequestAction::Issue, true),
    event("block_rq_complete", RequestAction::Complete, true),
    event("block_rq_insert", RequestAction::Insert, false),
    event("block_rq_requeue", RequestAction::Requeue, false),
    event("block_rq_merge", RequestAction::Merge, false),
    event("block_bio_frontmerge", RequestAction::FrontMerge, false),
];

/// Events of devices that take bios.
pub(crate) const BIO_EVENTS: [EventName; 2] =
    [event("block_bio_queue", RequestAction::Issue, true), event("block_bio_complete", RequestAction::Complete, true)];

#[derive(Clone, Copy, Debug)]
struct EventFields {
    id: u16,
    action: RequestAction,
    takes_bios: bool,
    sector: FieldLayout,
    sectors: FieldLayout,
    letters: FieldLayout,
    thread: FieldLayout,
    error: Option<FieldLayout>,
    comm: Option<FieldLayout>,
}

impl EventFields {
    fn new(event: &EventName, format: &str) -> Result<Self, Problem> {
        let table = FieldTable::parse(format)?;
        let required = |name, bytes| table.required(name, bytes);
        Ok(Self {
            id: table.id.ok_or_else(|| layout::unknown("no event ID (`ID:`)"))?,
            action: event.action,
            takes_bios: event.name.starts_with("block_bio"),
            sector: required("sector", &[8, 4])?,
            sectors: required("nr_sector", &[4])?,
            letters: table.field("rwbs").ok_or_else(|| layout::unknown("no field `rwbs`"))?,
            thread: required("common_pid", &[4])?,
            error: table.field("error").filter(|field| field.bytes == 4),
            comm: table.field("comm").filter(|field| field.bytes == COMM_BYTES),
        })
    }
}

/// Turns bytes into events.
#[derive(Clone, Debug)]
pub(crate) struct EventDecoder {
    kind: FieldLayout,
    fields: Vec<EventFields>,
}

impl EventDecoder {
    /// Creates a decoder of events with their `format` files.
    ///
    /// # Errors
    /// Returns the name of the event whose file is not understood, and why.
    pub(crate) fn new(formats: &[(EventName, String)]) -> Result<Self, Problem> {
        let mut fields = Vec::new();
        let mut kind = FieldLayout { offset: 0, bytes: 2 };
        for (event, format) in formats {
            let failed = |problem: Problem| problem.of(format_args!("{}/format", event.name));
            fields.push(EventFields::new(event, format).map_err(failed)?);
            if let Some(field) = FieldTable::parse(format).map_err(failed)?.field("common_type") {
                kind = field;
            }
        }
        Ok(Self { kind, fields })
    }

    /// Decodes an event; `None` for one that was not asked for, or whose bytes are incomplete.
    #[inline]
    pub(crate) fn decode(&self, time_ns: u64, bytes: &[u8], names: &mut ProcessNames) -> Option<RequestEvent> {
        let id = self.kind.value(bytes);
        let fields = self.fields.iter().find(|fields| u64::from(fields.id) == id)?;
        let letters = fields.letters.of(bytes)?;
        let letters = &letters[..letters.iter().position(|letter| *letter == 0).unwrap_or(letters.len())];
        let (sector, sectors) = (fields.sector.value(bytes), fields.sectors.value(bytes));
        let mut request = TraceRequest { operation: TraceOperation::Other, ..TraceRequest::default() };
        // Letters of later kernels are skipped.
        let _ = set_letters(&mut request, letters);
        request.length = u32::try_from(sectors.saturating_mul(SECTOR_BYTES)).unwrap_or(!511);
        request.has_failed = fields.error.is_some_and(|error| error.value(bytes) != 0);
        if let Some(comm) = fields.comm.and_then(|comm| comm.of(bytes)) {
            request.process = names.index(fields.thread.value(bytes) as u32, comm.try_into().unwrap_or_default());
        }
        let (action, place) = place(fields, sector, sectors, &mut request);
        if let RequestPlace::Sector(sector) = place {
            request.offset = sector.saturating_mul(SECTOR_BYTES);
        }
        Some(RequestEvent { time_ns, action, place, request })
    }
}

/// Returns which request an event is about, and what happens to it.
#[inline]
fn place(fields: &EventFields, sector: u64, sectors: u64, request: &mut TraceRequest) -> (RequestAction, RequestPlace) {
    let action = fields.action;
    match request.operation {
        TraceOperation::Flush => (action, RequestPlace::Flush),
        TraceOperation::Other if sectors == 0 || sector == u64::MAX => (action, RequestPlace::Command),
        TraceOperation::Other => {
            // The kernel writes `N` for requests to write zeroes too. They have sectors, unlike other commands.
            request.operation = TraceOperation::WriteZeroes;
            (action, RequestPlace::Sector(sector))
        }
        TraceOperation::Write if sectors == 0 && !fields.takes_bios => {
            let action = if action == RequestAction::Complete { RequestAction::FlushDone } else { action };
            (action, RequestPlace::Sector(sector))
        }
        TraceOperation::Write if sectors == 0 && request.is_preflush => {
            request.operation = TraceOperation::Flush;
            request.is_preflush = false;
            (action, RequestPlace::Flush)
        }
        _ => (action, RequestPlace::Sector(sector)),
    }
}
