//! Reads a trace, and keeps the replayed part of it.

use std::sync::Arc;

use runner::TraceFiles;
use trace::{
    Characterizer, TraceEnd, TraceFormat, TraceInfo, TraceInput, TraceProfile, TraceRequest, TraceWriter,
    TraceWriterOptions,
};
use units::{Problem, grouped};
use workload::{StreamStep, TraceBytes, TraceStream};

use super::{TraceLoad, TraceWindow};

/// A part that takes more memory is read from its file by each replay.
const PART_BYTES_MAX: usize = 256 << 20;

/// What a first pass over a trace gave.
#[derive(Clone, Debug)]
pub struct ReadTrace {
    /// Characteristics.
    pub profile: TraceProfile,
    /// Metadata of the trace.
    pub info: TraceInfo,
    pub format: TraceFormat,
    /// What is missing or damaged, one sentence each.
    pub notes: Vec<String>,
}

/// Reports whether a file is a trace in a known format.
#[must_use]
pub fn is_trace(name: &str, traces: &dyn TraceFiles) -> bool {
    PieceReader::open(name, traces).is_ok()
}

/// Reads a whole trace and characterizes it. `on_piece` is called after each piece with the requests so far, and ends
/// the reading by `false`.
///
/// # Errors
///
/// Fails if it cannot be read, is of no known format, or is a damaged trace of another program. Errors have a line with
/// the remedy.
pub fn read_trace(
    name: &str,
    traces: &dyn TraceFiles,
    mut on_piece: impl FnMut(u64) -> bool,
) -> Result<Option<ReadTrace>, Problem> {
    let mut reader = PieceReader::open(name, traces)?;
    let mut characterizer = Characterizer::new();
    let (mut requests, mut count) = (Vec::new(), 0);
    while reader.next(&mut requests)? {
        requests.iter().for_each(|request| characterizer.add(request));
        count += requests.len() as u64;
        requests.clear();
        if !on_piece(count) {
            return Ok(None);
        }
    }
    let (profile, notes) = (characterizer.finish(), reader.notes());
    Ok(Some(ReadTrace { profile, info: reader.info(), format: reader.format(), notes }))
}

/// The replayed part of a trace in memory, in Fathom's format with its instants counted from the start of the part, so
/// that no replay reads the rest of the trace, whatever its format. Other traces are opened as usual.
#[derive(Clone, Debug)]
pub struct TracePart {
    name: String,
    part: String,
    /// Content; `None` if it would take too much memory.
    bytes: Option<Arc<[u8]>>,
    traces: Arc<dyn TraceFiles>,
}

impl TracePart {
    /// Reads a part of a trace and what a search needs to know of it.
    ///
    /// # Errors
    ///
    /// Fails as [`read_trace`].
    pub fn read(name: &str, window: TraceWindow, traces: Arc<dyn TraceFiles>) -> Result<(Self, TraceLoad), Problem> {
        let mut reader = PieceReader::open(name, &*traces)?;
        let mut load = TraceLoad::new(window);
        let mut requests = Vec::new();
        let options = TraceWriterOptions { tick_ns: 1, ..TraceWriterOptions::default() };
        let mut writer = Some(TraceWriter::new(TraceInfo::default(), options));
        while reader.next(&mut requests)? {
            // Requests come about in the order of issue, so all of a piece behind the part means that it is complete.
            let is_behind = requests.iter().all(|request| request.issued_ns >= window.end_ns) && !requests.is_empty();
            for request in requests.iter().filter(|request| window.has(request.issued_ns)) {
                load.add(request);
                if let Some(writer) = &mut writer {
                    writer.push(&TraceRequest { issued_ns: request.issued_ns - window.start_ns, ..*request });
                }
            }
            requests.clear();
            if let Some(writing) = &mut writer {
                if let Some(info) = reader.stream.input().map(TraceInput::info)
                    && writing.info.devices != info.devices
                {
                    writing.info.devices.clone_from(&info.devices);
                }
                if writing.output().len() > PART_BYTES_MAX {
                    writer = None;
                }
            }
            if is_behind {
                break;
            }
        }
        let bytes = writer.map(|writer| writer.finish().into());
        let part = format!("{name} (replayed part)");
        Ok((Self { name: name.to_owned(), part, bytes, traces }, load))
    }

    /// Returns the name by which replays open it.
    #[must_use]
    pub fn name(&self) -> &str {
        if self.is_in_memory() { &self.part } else { &self.name }
    }

    /// Returns the name of the whole trace.
    #[must_use]
    pub fn original(&self) -> &str {
        &self.name
    }

    /// Reports whether it is in memory. Otherwise its window is to be replayed from the file of the trace.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        self.bytes.is_some()
    }
}

impl TraceFiles for TracePart {
    fn open(&self, path: &str) -> Result<Box<dyn TraceBytes>, Problem> {
        match &self.bytes {
            Some(bytes) if path == self.part => Ok(Box::new(PartBytes { bytes: Arc::clone(bytes), at: 0 })),
            _ => self.traces.open(path),
        }
    }
}

#[derive(Debug)]
struct PartBytes {
    bytes: Arc<[u8]>,
    at: usize,
}

impl TraceBytes for PartBytes {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Problem> {
        let rest = &self.bytes[self.at..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}

/// Reads a trace piece by piece, and remembers what is missing.
struct PieceReader {
    stream: TraceStream,
    damage: Vec<String>,
    end: Option<TraceEnd>,
}

impl PieceReader {
    fn open(name: &str, traces: &dyn TraceFiles) -> Result<Self, Problem> {
        let stream = TraceStream::open(name, traces.open(name)?)?;
        Ok(Self { stream, damage: Vec::new(), end: None })
    }

    /// Appends requests; `false` if there are no more.
    fn next(&mut self, requests: &mut Vec<TraceRequest>) -> Result<bool, Problem> {
        while self.end.is_none() {
            match self.stream.next(requests)? {
                StreamStep::Requests => return Ok(true),
                StreamStep::Damaged(what) => self.damage.push(what),
                StreamStep::End(end) => self.end = Some(end),
            }
        }
        Ok(!requests.is_empty())
    }

    fn info(&self) -> TraceInfo {
        self.stream.input().map(TraceInput::info).cloned().unwrap_or_default()
    }

    fn format(&self) -> TraceFormat {
        self.stream.input().map_or(TraceFormat::Fathom, TraceInput::format)
    }

    /// Describes what is missing.
    fn notes(&self) -> Vec<String> {
        let lost = self.info().lost.filter(|lost| *lost > 0);
        let missing = self.stream.input().map(TraceInput::missing).filter(|missing| *missing > 0);
        let end = match self.end {
            Some(TraceEnd::Unfinished) => Some("the trace is unfinished: its capture did not complete".to_owned()),
            Some(TraceEnd::Truncated { position, .. }) => {
                Some(format!("the trace is truncated: its last block, at byte {position}, is incomplete"))
            }
            Some(TraceEnd::Complete) | None => None,
        };
        let resolution = self.format().resolution_ns();
        let coarse = (resolution >= 1_000_000).then(|| {
            let resolution = units::Nanos::new(resolution);
            format!("timestamp resolution is {resolution}: requests within one step arrive together")
        });
        let early = self.stream.input().map(TraceInput::early).filter(|early| *early > 0);
        let lines = [
            early.map(|early| format!("{} requests are far out of order and counted at the start", grouped(early))),
            lost.map(|lost| format!("{} requests were lost during capture", grouped(lost))),
            missing.map(|missing| format!("{} requests are missing in damaged parts of the trace", grouped(missing))),
            self.damage
                .first()
                .map(|first| format!("{} parts of the trace are damaged, the first at {first}", self.damage.len())),
            end,
            coarse,
        ];
        lines.into_iter().flatten().collect()
    }
}
