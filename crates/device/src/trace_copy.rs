//! Copies of a trace in other formats.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use engine::gate::{ResultFile, ResultStream};
use trace::{TraceCondition, TraceCopy, TraceExport, TraceFormat, TraceInfo, TraceRequest};
use units::{Problem, ProblemCode};

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

/// Endings of outputs that are reports.
const REPORTS: [&str; 4] = ["json", "html", "md", "txt"];

/// Separates outputs into reports and copies, and checks that the copies can be written. A file `.trace` is a copy in
/// Fathom's format; with `export`, other files that are no reports are copies in that format.
///
/// # Errors
///
/// Returns why a copy cannot be written, or that `export` has none, with a remedy.
pub fn open_copies(
    outputs: &[PathBuf],
    export: Option<TraceFormat>,
) -> Result<(Vec<PathBuf>, Vec<TraceCopyFile>), Problem> {
    let (mut reports, mut copies) = (Vec::new(), Vec::new());
    for path in outputs {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match export.filter(|_| !REPORTS.contains(&ending)) {
            _ if ending == "trace" => copies.push(TraceCopyFile::open(path, TraceFormat::Fathom)?),
            Some(format) => copies.push(TraceCopyFile::open(path, format)?),
            None if !REPORTS.contains(&ending) => {
                let help = "use .json .html .md .txt for a report, .trace for a copy, or --export FORMAT for a copy in \
                            another format";
                let what = format!("--output {}: unknown file ending", path.display());
                return Err(Problem::error(ProblemCode::Output, what).help(help));
            }
            None => reports.push(path.clone()),
        }
    }
    match export.filter(|format| !copies.iter().any(|copy| copy.format == *format)) {
        None => Ok((reports, copies)),
        Some(format) => {
            let help = "add -o FILE, with an ending other than .json .html .md .txt .trace";
            let what = format!("--export {}: no output file for it", format.name());
            Err(Problem::error(ProblemCode::Output, what).help(help))
        }
    }
}

impl TraceCopyFile {
    /// Checks that a copy can be written to a file.
    ///
    /// # Errors
    ///
    /// Returns why not, with a remedy.
    fn open(path: &Path, format: TraceFormat) -> Result<Self, Problem> {
        let file =
            ResultFile::open(path).map_err(|denied| denied.of_output(format_args!("--output {}", path.display())))?;
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

    /// Appends requests.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub(crate) fn push(&mut self, requests: &[TraceRequest], info: &TraceInfo) -> Result<(), Problem> {
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
    pub(crate) fn finish(mut self, condition: &TraceCondition) -> Result<TraceCopy, Problem> {
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

    fn write(&mut self) -> Result<(), Problem> {
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

    fn failure(&self, error: &io::Error) -> Problem {
        Problem::error(ProblemCode::File, format!("--output {}: {error}", self.path.display()))
            .help("use another file; this one was left empty")
    }
}
