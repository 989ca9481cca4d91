//! Traces merged into one.

use std::collections::BTreeMap;

use job::{MergedInput, ReplayOptions, TraceMerge};
use trace::{TraceEnd, TraceExport, TraceFormat, TraceInfo, TraceRequest};
use units::{Problem, ProblemCode};

use super::stream::{StreamStep, TraceBytes, TraceStream};

/// Size of the pieces in which the merged trace is made, in bytes.
const PIECE_BYTES: usize = 256 << 10;

/// The requests of several traces in the order of their instants, as a binary trace of blktrace. It is made while it is
/// read, so that its length costs no memory.
#[derive(Debug)]
pub struct MergedTrace {
    parts: Vec<MergedPart>,
    /// Devices and processes of all traces, by name.
    info: TraceInfo,
    /// `None` once everything was written.
    export: Option<TraceExport>,
    output: Vec<u8>,
    taken: usize,
}

/// One of the traces.
#[derive(Debug)]
struct MergedPart {
    input: MergedInput,
    stream: TraceStream,
    /// Requests that were read, at their instants in the merged trace; the next one at `next`.
    requests: Vec<TraceRequest>,
    next: usize,
    iteration: u32,
    /// The latest event of the trace, from its start.
    length_ns: u64,
    has_ended: bool,
    numbers: PartNumbers,
}

/// Numbers of the devices and processes of one trace in the merged trace.
#[derive(Debug, Default)]
struct PartNumbers {
    devices: Vec<u16>,
    processes: Vec<u16>,
}

/// Numbers of names in the merged trace.
#[derive(Debug, Default)]
struct MergedNames {
    devices: BTreeMap<String, u16>,
    processes: BTreeMap<String, u16>,
}

impl MergedTrace {
    /// Merges traces; `bytes` has those of each in the order of `merge`.
    ///
    /// # Errors
    ///
    /// Fails if one of them cannot be read or is in no known format.
    pub fn new(merge: &TraceMerge, bytes: Vec<Box<dyn TraceBytes>>) -> Result<Self, Problem> {
        let parts = merge.inputs.iter().zip(bytes).map(|(input, bytes)| MergedPart::open(input, bytes));
        let info = TraceInfo { source: "fathom".to_owned(), ..TraceInfo::default() };
        let export = Some(TraceExport::new(TraceFormat::Blktrace, &info));
        Ok(Self { parts: parts.collect::<Result<_, _>>()?, info, export, output: Vec::new(), taken: 0 })
    }

    /// Makes the next piece; it is empty at the end.
    fn make(&mut self) -> Result<(), Problem> {
        self.output.clear();
        self.taken = 0;
        let mut names = MergedNames::of(&self.info);
        while self.output.len() < PIECE_BYTES {
            for part in &mut self.parts {
                part.fill(&mut self.info, &mut names)?;
            }
            let at = |part: &MergedPart| part.requests.get(part.next).map(|request| request.issued_ns);
            let earliest = self.parts.iter_mut().filter(|part| at(part).is_some()).min_by_key(|part| at(part));
            let (Some(part), Some(export)) = (earliest, &mut self.export) else { break };
            export.push(&part.requests[part.next], &self.info, &mut self.output);
            part.next += 1;
        }
        if self.output.is_empty()
            && let Some(export) = self.export.take()
        {
            export.finish(&self.info, &mut self.output);
        }
        Ok(())
    }
}

impl TraceBytes for MergedTrace {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Problem> {
        if self.taken == self.output.len() && self.export.is_some() {
            self.make()?;
        }
        let rest = &self.output[self.taken..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.taken += count;
        Ok(count)
    }
}

impl MergedPart {
    fn open(input: &MergedInput, bytes: Box<dyn TraceBytes>) -> Result<Self, Problem> {
        Ok(Self {
            input: input.clone(),
            stream: TraceStream::open(&input.trace, bytes)?,
            requests: Vec::new(),
            next: 0,
            iteration: 0,
            length_ns: 0,
            has_ended: false,
            numbers: PartNumbers::default(),
        })
    }

    /// Reads requests if there is none left, and repeats the trace as often as it has iterations.
    fn fill(&mut self, info: &mut TraceInfo, names: &mut MergedNames) -> Result<(), Problem> {
        while self.next == self.requests.len() && !self.has_ended {
            self.requests.clear();
            self.next = 0;
            match self.stream.next(&mut self.requests)? {
                StreamStep::Requests => {}
                StreamStep::Damaged(what) => {
                    return Err(Problem::error(ProblemCode::Trace, format!("{}: {what}", self.input.trace))
                        .help("merge an undamaged copy"));
                }
                StreamStep::End(TraceEnd::Truncated { position, .. }) => {
                    let what = format!("{}: byte {position}: the file ends within an event", self.input.trace);
                    return Err(Problem::error(ProblemCode::Trace, what).help("use the complete file"));
                }
                StreamStep::End(_) => self.repeat()?,
            }
            if let Some(part) = self.stream.info() {
                names.number(part, info, &mut self.numbers);
            }
            self.place();
        }
        Ok(())
    }

    fn repeat(&mut self) -> Result<(), Problem> {
        self.iteration += 1;
        self.has_ended = self.iteration >= self.input.iterations;
        if self.has_ended { Ok(()) } else { self.stream.restart() }
    }

    /// Gives the requests just read their instants and numbers in the merged trace.
    fn place(&mut self) {
        let scaled = |time_ns: u64| {
            let scaled = u128::from(time_ns) * u128::from(self.input.scale_ppm);
            u64::try_from(scaled / u128::from(ReplayOptions::ORIGINAL_SPEED)).unwrap_or(u64::MAX)
        };
        let before = self.length_ns.saturating_mul(self.iteration.into());
        let number = |numbers: &[u16], index: u16| numbers.get(usize::from(index)).copied().unwrap_or(u16::MAX);
        for request in &mut self.requests {
            if self.iteration == 0 {
                let end = request.issued_ns.saturating_add(request.service_ns.unwrap_or(0));
                self.length_ns = self.length_ns.max(end);
            }
            request.issued_ns = scaled(request.issued_ns.saturating_add(before));
            request.queued_ns = request.queued_ns.map(scaled);
            request.service_ns = request.service_ns.map(scaled);
            request.device = number(&self.numbers.devices, request.device);
            request.process = number(&self.numbers.processes, request.process);
        }
    }
}

impl MergedNames {
    fn of(info: &TraceInfo) -> Self {
        let numbers = |names: &mut dyn Iterator<Item = &String>| names.cloned().zip(0..).collect();
        Self {
            devices: numbers(&mut info.devices.iter().map(|(name, _)| name)),
            processes: numbers(&mut info.processes.iter()),
        }
    }

    /// Numbers the devices and processes of one trace that have no number yet.
    fn number(&mut self, part: &TraceInfo, merged: &mut TraceInfo, known: &mut PartNumbers) {
        for (name, size) in part.devices.iter().skip(known.devices.len()) {
            let add = || merged.devices.push((name.clone(), *size));
            known.devices.push(number_of(&mut self.devices, name, add));
        }
        for name in part.processes.iter().skip(known.processes.len()) {
            let add = || merged.processes.push(name.clone());
            known.processes.push(number_of(&mut self.processes, name, add));
        }
    }
}

/// Returns the number of a name. Names beyond the last number share it.
fn number_of(numbers: &mut BTreeMap<String, u16>, name: &str, add: impl FnOnce()) -> u16 {
    if let Some(number) = numbers.get(name) {
        return *number;
    }
    let Ok(number) = u16::try_from(numbers.len()) else { return u16::MAX };
    numbers.insert(name.to_owned(), number);
    add();
    number
}
