//! Copies of a trace in other formats.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use engine::describe;
use engine::gate::{ResultFile, ResultStream};
use trace::{TraceCondition, TraceCopy, TraceExport, TraceFormat, TraceInfo, TraceRequest};

use crate::trace_files::TraceFileError;

/// Number of bytes that are written at a time.
const PIECE_BYTES: usize = 1 << 18;

/// A copy that is being written. The file appears when it is complete.
#[derive(Debug)]
pub struct TraceCopyFile {
    path: PathBuf,
    format: TraceFormat,
    file: ResultFile,
    stream: Option<ResultStream>,
    export: Option<TraceExport>,
    buffer: Vec<u8>,
    requests: u64,
    bytes: u64,
}

impl TraceCopyFile {
    /// Checks that a copy can be written to a file.
    ///
    /// # Errors
    ///
    /// Returns why not, with a remedy.
    pub fn open(path: &Path, format: TraceFormat) -> Result<Self, String> {
        let file = ResultFile::open(path).map_err(|denied| format!("--output {}: {denied}", path.display()))?;
        Ok(Self {
            path: path.to_owned(),
            format,
            file,
            stream: None,
            export: None,
            buffer: Vec::new(),
            requests: 0,
            bytes: 0,
        })
    }

    /// Returns the format.
    #[must_use]
    pub fn format(&self) -> TraceFormat {
        self.format
    }

    /// Appends requests.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub fn push(&mut self, requests: &[TraceRequest], info: &TraceInfo) -> Result<(), TraceFileError> {
        let export = self.export.get_or_insert_with(|| TraceExport::new(self.format, info));
        for request in requests {
            export.push(request, info, &mut self.buffer);
        }
        self.requests += requests.len() as u64;
        if self.buffer.len() >= PIECE_BYTES { self.write() } else { Ok(()) }
    }

    /// Completes the file. A copy in Fathom's format counts requests that are missing in the original as lost.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub fn finish(mut self, condition: &TraceCondition) -> Result<TraceCopy, TraceFileError> {
        let mut info = condition.info.clone();
        if condition.missing > 0 {
            info.lost = Some(info.lost.unwrap_or(0).saturating_add(condition.missing));
        }
        let export = self.export.take().unwrap_or_else(|| TraceExport::new(self.format, &info));
        let omitted = export.omitted();
        export.finish(&info, &mut self.buffer);
        self.write()?;
        let finished = self.stream.take().map_or(Ok(()), ResultStream::finish);
        finished.map_err(|error| self.failure(&error))?;
        Ok(TraceCopy {
            file: self.path.display().to_string(),
            format: self.format,
            requests: self.requests - omitted,
            omitted,
            bytes: self.bytes,
        })
    }

    fn write(&mut self) -> Result<(), TraceFileError> {
        let mut write = || {
            let stream = match &mut self.stream {
                Some(stream) => stream,
                none => none.insert(self.file.stream()?),
            };
            stream.write_all(&self.buffer)
        };
        let written = write();
        written.map_err(|error| self.failure(&error))?;
        self.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    fn failure(&self, error: &io::Error) -> TraceFileError {
        let name = format!("--output {}", self.path.display());
        TraceFileError::new(&name, &describe(error), "give another file; nothing was left in this one", false)
    }
}
