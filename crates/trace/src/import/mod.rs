//! Import of traces in any known format.

mod binary;
mod blkparse;
mod blktrace;
mod csv;
mod detect;
mod events;
mod iolog;
mod lines;
mod text;

use std::collections::BTreeMap;

use crate::trace_format::TraceFormat;
use crate::{TraceInfo, TraceReader, TraceRequest, TraceStep};
use binary::Binary;
pub(crate) use blktrace::{RawEvent, category};
pub(crate) use events::BlockAction;
pub use events::set_letters;
use events::{BlockEvent, EventPairing};
use text::Text;
use units::{Place, Problem, ProblemCode};

/// Reads a trace in any format, in pieces that the caller feeds. Memory does not grow with the trace.
///
/// Requests come in the order of the trace, which is about that of issue or of completion. An error concerns a line, an
/// event or a block: reading can go on after it, without that part.
#[derive(Debug)]
pub struct TraceInput {
    name: String,
    format: TraceFormat,
    info: TraceInfo,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Own(Box<TraceReader>),
    Text(Box<Text>),
    Binary(Box<Binary>),
}

impl TraceInput {
    /// Begins to read a trace; its format follows from its first bytes, which are to be fed as well. `name` is used in
    /// errors only.
    ///
    /// # Errors
    ///
    /// Fails if they are of no known format.
    pub fn detect(name: &str, start: &[u8]) -> Result<Self, Problem> {
        match TraceFormat::detect(start) {
            Some(format) => Ok(Self::new(name, format, 1)),
            None => Err(refuse(name, start)),
        }
    }

    /// Begins to read a trace in a format. Only blktrace has several files: one for each CPU of the host.
    #[must_use]
    pub fn new(name: &str, format: TraceFormat, files: usize) -> Self {
        let source = match format {
            TraceFormat::Fathom => Source::Own(Box::default()),
            TraceFormat::Blktrace => Source::Binary(Box::new(Binary::new(files))),
            _ => Source::Text(Box::new(Text::new(format))),
        };
        let info = TraceInfo { source: format!("{} of {name}", format.name()), ..TraceInfo::default() };
        Self { name: name.to_owned(), format, info, source }
    }

    #[must_use]
    pub fn format(&self) -> TraceFormat {
        self.format
    }

    /// Returns what is known of the trace so far.
    #[must_use]
    pub fn info(&self) -> &TraceInfo {
        match &self.source {
            Source::Own(reader) => reader.info(),
            Source::Text(_) | Source::Binary(_) => &self.info,
        }
    }

    /// Returns how many requests are known to be missing: those of damaged blocks, and those whose issue was not
    /// traced.
    #[must_use]
    pub fn missing(&self) -> u64 {
        match &self.source {
            Source::Own(reader) => reader.missing(),
            Source::Text(text) => text.events.pairing.unmatched(),
            Source::Binary(binary) => binary.events.pairing.unmatched(),
        }
    }

    /// Returns how many requests are over 4,096 requests late and from before the start of the trace, so that their time
    /// is lost: it counts as zero.
    #[must_use]
    pub fn early(&self) -> u64 {
        match &self.source {
            Source::Own(_) => 0,
            Source::Text(text) => text.events.rebase.early,
            Source::Binary(binary) => binary.events.rebase.early,
        }
    }

    /// Adds the following bytes of a file.
    pub fn feed(&mut self, file: usize, bytes: &[u8]) {
        match &mut self.source {
            Source::Own(reader) => reader.feed(bytes),
            Source::Text(text) => text.feed(bytes),
            Source::Binary(binary) => binary.feed(file, bytes),
        }
    }

    /// Says that no bytes of a file follow.
    pub fn end_input(&mut self, file: usize) {
        match &mut self.source {
            Source::Own(reader) => reader.end_input(),
            Source::Text(text) => text.end_input(),
            Source::Binary(binary) => binary.end_input(file),
        }
    }

    /// Appends some requests to `requests`: at most a block or what was fed at once.
    ///
    /// # Errors
    ///
    /// Fails if a part of the trace is not valid.
    pub fn next(&mut self, requests: &mut Vec<TraceRequest>) -> Result<TraceStep, Problem> {
        match &mut self.source {
            Source::Text(text) => text.next(&self.name, &mut self.info, requests),
            Source::Binary(binary) => binary.next(&self.name, &mut self.info, requests),
            Source::Own(reader) => reader.next(requests).map_err(|damage| {
                let what = format!("{}, skipped {} bytes", damage.what, damage.bytes);
                at_byte(&self.name, damage.position, &what)
                    .help("use an undamaged copy, or continue without the skipped requests")
            }),
        }
    }
}

/// Explains why bytes are of no known format.
fn refuse(name: &str, start: &[u8]) -> Problem {
    const FORMATS: &str = "use a trace from `fathom capture`, a fio iolog, blktrace or blkparse output, or a CSV \
        file of the MSR Cambridge, SYSTOR '17, Alibaba, Tencent or CloudPhysics traces";
    let compressed = [
        (&b"\x1f\x8b"[..], "gzip", "zcat"),
        (b"\x28\xb5\x2f\xfd", "zstd", "zstdcat"),
        (b"\xfd7zXZ", "xz", "xzcat"),
        (b"BZh", "bzip2", "bzcat"),
    ];
    let (what, remedy) = match compressed.iter().find(|(mark, ..)| start.starts_with(mark)) {
        Some((_, kind, command)) => {
            (format!("compressed with {kind}"), format!("decompress it first: `{command} {name}`"))
        }
        None if start.is_empty() => ("empty file".to_owned(), FORMATS.to_owned()),
        None if detect::is_fio_log(start) => (
            "this fio log (write_iops_log, write_bw_log, write_lat_log) contains values over time, not requests"
                .to_owned(),
            "record a trace: fio with `write_iolog=FILE`, or `fathom capture`".to_owned(),
        ),
        None => ("unknown format".to_owned(), FORMATS.to_owned()),
    };
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let text = if std::str::from_utf8(line).is_ok() { excerpt(line) } else { String::new() };
    if text.is_empty() {
        return at_byte(name, 0, &what).help(remedy);
    }
    let place = Place { source: name.into(), line: 1, column: 1, length: 1, text: text.into() };
    Problem::error(ProblemCode::Trace, what).at(place).help(remedy)
}

/// Maximum number of names: an index has 16 bits. All names beyond share the last one.
const NAMES_MAX: usize = 1 << 16;

/// Maximum length of a name, in bytes: what follows does not tell names apart.
const NAME_BYTES_MAX: usize = 255;

/// Numbers names in the order of their first use.
#[derive(Debug, Default)]
struct NameNumbers {
    numbers: BTreeMap<Vec<u8>, u16>,
    /// The name of the latest call: usually it is the next one too.
    latest: (Vec<u8>, Option<u16>),
}

impl NameNumbers {
    /// Returns the number of `name`; `add` is called with a new one.
    fn number(&mut self, name: &[u8], add: impl FnOnce(String)) -> u16 {
        let name = &name[..name.len().min(NAME_BYTES_MAX)];
        if let (latest, Some(number)) = &self.latest
            && latest == name
        {
            return *number;
        }
        let count = self.numbers.len();
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None if count == NAMES_MAX => u16::MAX,
            None => {
                let is_last = count == NAMES_MAX - 1;
                add(if is_last { "others".to_owned() } else { String::from_utf8_lossy(name).into_owned() });
                self.numbers.insert(name.to_owned(), count as u16);
                count as u16
            }
        };
        self.latest.0.clear();
        self.latest.0.extend_from_slice(name);
        self.latest.1 = Some(number);
        number
    }
}

/// Number of requests that one call returns.
const REQUESTS_AT_ONCE: usize = 4_096;

/// Makes requests out of events, with times since the start.
#[derive(Debug, Default)]
struct RebasedEvents {
    pairing: EventPairing,
    rebase: Rebase,
    paired: Vec<TraceRequest>,
}

impl RebasedEvents {
    fn add(&mut self, event: &BlockEvent, requests: &mut Vec<TraceRequest>) {
        self.pairing.add(event, &mut self.paired);
        self.take_paired(requests);
    }

    /// Returns the last requests.
    fn finish(&mut self, requests: &mut Vec<TraceRequest>) {
        self.pairing.finish(&mut self.paired);
        self.take_paired(requests);
        self.rebase.release(requests);
    }

    fn take_paired(&mut self, requests: &mut Vec<TraceRequest>) {
        for request in self.paired.drain(..) {
            self.rebase.push(request, requests);
        }
    }
}

/// Number of requests whose earliest is the start: formats are not exactly in the order of time.
const HELD_MAX: usize = 4_096;

/// Subtracts the start from times.
#[derive(Debug, Default)]
struct Rebase {
    /// The start, once it is known.
    start_ns: Option<u64>,
    held: Vec<TraceRequest>,
    /// Requests before the start, whose time becomes zero.
    early: u64,
}

impl Rebase {
    fn push(&mut self, mut request: TraceRequest, requests: &mut Vec<TraceRequest>) {
        let Some(start) = self.start_ns else {
            self.held.push(request);
            if self.held.len() >= HELD_MAX {
                self.release(requests);
            }
            return;
        };
        self.early += u64::from(request.issued_ns < start);
        request.issued_ns = request.issued_ns.saturating_sub(start);
        requests.push(request);
    }

    /// Sets the start and gives out the requests that were held for it.
    fn release(&mut self, requests: &mut Vec<TraceRequest>) {
        let queued = |request: &TraceRequest| request.issued_ns.saturating_sub(request.queued_ns.unwrap_or(0));
        let Some(start) = self.held.iter().map(queued).min() else { return };
        self.start_ns = Some(start);
        for request in std::mem::take(&mut self.held) {
            self.push(request, requests);
        }
    }
}

/// An error in a field of a line or in an event, before its place is known.
#[derive(Clone, Debug)]
struct FieldError {
    /// Bytes of the line before the field.
    column: usize,
    what: String,
}

/// Returns the problem of a binary trace at a position in bytes.
fn at_byte(name: &str, byte: u64, what: &str) -> Problem {
    let place = if byte > 0 { format!("byte {byte}: ") } else { String::new() };
    Problem::error(ProblemCode::Trace, format!("{name}: {place}{what}"))
}

/// Returns the start of `bytes` as printable text, for an error.
fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1_000)]);
    units::printable(&text.chars().take(240).collect::<String>()).into_owned()
}
