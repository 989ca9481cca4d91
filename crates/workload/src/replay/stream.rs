//! Reads a trace piece by piece.

use std::fmt;

use trace::{TraceEnd, TraceFormat, TraceInfo, TraceInput, TraceRequest, TraceStep};
use units::{Problem, ProblemCode};

/// The bytes of a trace.
pub trait TraceBytes: fmt::Debug + Send {
    /// Writes the following bytes to the start of `buffer` and returns how many; zero at the end.
    ///
    /// # Errors
    ///
    /// Returns why they cannot be read.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Problem>;

    /// Returns to the start.
    ///
    /// # Errors
    ///
    /// Returns why the bytes cannot be read again.
    fn rewind(&mut self) -> Result<(), Problem> {
        Err(Problem::error(ProblemCode::Trace, "this trace can be read only once"))
    }
}

/// Bytes that are read at a time.
const PIECE_BYTES: usize = 256 << 10;

/// What [`TraceStream::next`] did.
#[derive(Debug, PartialEq, Eq)]
pub enum StreamStep {
    /// Requests were appended.
    Requests,
    /// A part of the trace is damaged and was left out.
    Damaged(String),
    /// Nothing follows.
    End(TraceEnd),
}

/// The requests of a trace, in the order of the trace.
#[derive(Debug)]
pub struct TraceStream {
    name: String,
    bytes: Box<dyn TraceBytes>,
    input: Option<TraceInput>,
    piece: Vec<u8>,
    has_ended: bool,
}

impl TraceStream {
    pub(super) fn new(name: &str, bytes: Box<dyn TraceBytes>) -> Self {
        Self { name: name.to_owned(), bytes, input: None, piece: vec![0; PIECE_BYTES], has_ended: false }
    }

    /// Reads the first bytes of a trace, which determine its format.
    ///
    /// # Errors
    ///
    /// Fails if they cannot be read, or are those of no known format.
    pub fn open(name: &str, bytes: Box<dyn TraceBytes>) -> Result<Self, Problem> {
        let mut stream = Self::new(name, bytes);
        stream.begin()?;
        Ok(stream)
    }

    /// Returns the trace as far as it was read; `None` before its format is known.
    #[must_use]
    pub fn input(&self) -> Option<&TraceInput> {
        self.input.as_ref()
    }

    /// Returns what is known of the trace so far.
    pub(super) fn info(&self) -> Option<&TraceInfo> {
        self.input.as_ref().map(TraceInput::info)
    }

    /// Returns whether its format has completions.
    pub(super) fn has_completions(&self) -> bool {
        self.input.as_ref().is_some_and(|input| input.format().has_service_times())
    }

    /// Returns how many requests are known to be missing.
    pub(super) fn missing(&self) -> u64 {
        self.input.as_ref().map_or(0, TraceInput::missing)
    }

    /// Returns how many requests have lost their time.
    pub(super) fn early(&self) -> u64 {
        self.input.as_ref().map_or(0, TraceInput::early)
    }

    /// Returns to the start of the trace.
    pub(super) fn restart(&mut self) -> Result<(), Problem> {
        self.bytes.rewind()?;
        (self.input, self.has_ended) = (None, false);
        Ok(())
    }

    /// Appends the next requests of the trace.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read, or is a damaged trace of another program: that was edited or converted, and is not
    /// what its writer left.
    pub fn next(&mut self, requests: &mut Vec<TraceRequest>) -> Result<StreamStep, Problem> {
        loop {
            let Some(input) = &mut self.input else {
                self.begin()?;
                continue;
            };
            match input.next(requests) {
                Ok(TraceStep::Requests) => return Ok(StreamStep::Requests),
                Ok(TraceStep::End(end)) => return Ok(StreamStep::End(end)),
                Ok(TraceStep::NeedsInput(_)) if self.has_ended => {
                    return Ok(StreamStep::End(TraceEnd::Unfinished));
                }
                Ok(TraceStep::NeedsInput(file)) => match self.read(0)? {
                    0 => {
                        self.has_ended = true;
                        self.input.iter_mut().for_each(|input| input.end_input(file));
                    }
                    count => self.input.iter_mut().for_each(|input| input.feed(file, &self.piece[..count])),
                },
                Err(error) if input.format() == TraceFormat::Fathom => {
                    let what = error.what.strip_prefix(&format!("{}: ", self.name)).unwrap_or(&error.what);
                    return Ok(StreamStep::Damaged(what.to_owned()));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Recognizes the format by the first bytes.
    fn begin(&mut self) -> Result<(), Problem> {
        const FIRST_BYTES: usize = 4096;
        let mut count = 0;
        while count < FIRST_BYTES {
            match self.read(count)? {
                0 => break,
                more => count += more,
            }
        }
        let mut input = TraceInput::detect(&self.name, &self.piece[..count])?;
        input.feed(0, &self.piece[..count]);
        self.input = Some(input);
        Ok(())
    }

    fn read(&mut self, from: usize) -> Result<usize, Problem> {
        let count = self.bytes.read(&mut self.piece[from..])?;
        Ok(count.min(self.piece.len() - from))
    }
}
