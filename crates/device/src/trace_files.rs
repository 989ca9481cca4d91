//! Files of traces, in any format.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use units::{Problem, ProblemCode};

use trace::{
    Characterizer, JobSynthesizer, SynthesisError, SynthesizedJob, TraceCondition, TraceCopy, TraceEnd, TraceFormat,
    TraceInfo, TraceInput, TraceProfile, TraceRequest, TraceStudy, TraceWindow, scan_trace, trace_findings,
};

use crate::input;
use crate::trace_copy::TraceCopyFile;

/// Number of bytes from which a format is recognized.
const START_BYTES: usize = 1 << 16;
/// Number of bytes that are read at a time.
const PIECE_BYTES: usize = 1 << 18;

/// A trace, and the job that behaves like it or why there is none.
pub type StudyWithJob = (TraceStudy, Result<SynthesizedJob, SynthesisError>);

/// A trace that was read to its end, and its copies.
struct ReadTrace {
    name: String,
    condition: TraceCondition,
    copies: Vec<TraceCopy>,
}

pub struct OpenTrace {
    name: String,
    format: TraceFormat,
    files: Vec<TraceFile>,
}

struct TraceFile {
    name: String,
    /// First bytes, until they have been passed on.
    start: Vec<u8>,
    reader: Box<dyn Read>,
}

impl OpenTrace {
    /// Opens a trace: one file, `-` for standard input, or all files that blktrace has written for the CPUs. The
    /// base name of these is enough: `NAME` for `NAME.blktrace.0` and so on.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read, if there are several of another format, or if the format is unknown.
    pub fn open(paths: &[PathBuf], format: Option<TraceFormat>) -> Result<Self, Problem> {
        let all = match paths {
            [only] => of_blktrace(only).unwrap_or_else(|| vec![only.clone()]),
            several => several.to_vec(),
        };
        let name = paths.first().map_or_else(String::new, |path| shown(path));
        let files = all.iter().map(|path| TraceFile::open(path)).collect::<Result<Vec<_>, _>>()?;
        let formats = files.iter().map(|file| match format {
            Some(format) if !file.start.is_empty() => Ok(format),
            _ => Ok(TraceInput::detect(&file.name, &file.start)?.format()),
        });
        let formats = formats.collect::<Result<Vec<_>, Problem>>()?;
        let other = formats.iter().position(|format| *format != TraceFormat::Blktrace);
        if let Some(other) = other.filter(|_| formats.len() > 1) {
            let (name, format) = (&files[other].name, formats[other].name());
            let what = format!("{name}: one of several files, but in format {format}");
            return Err(Problem::error(ProblemCode::Trace, what)
                .help("pass a single trace; only blktrace splits a trace into several files"));
        }
        let format = formats.first().copied().unwrap_or(TraceFormat::Fathom);
        Ok(Self { name, format, files })
    }

    /// Reads the trace once: characterizes the requests of a window and writes them to copies. `memory_bytes` is what a
    /// cache may use, for findings. Returns `None` if `is_stopped` ended reading; copies are not written then.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read or written, or if nothing in the trace can be used.
    pub fn study(
        self,
        window: TraceWindow,
        memory_bytes: u64,
        copies: Vec<TraceCopyFile>,
        is_stopped: impl Fn() -> bool,
    ) -> Result<Option<TraceStudy>, Problem> {
        let mut characterizer = Characterizer::new();
        let mut add = |request: &TraceRequest| characterizer.add(request);
        let Some(read) = self.pass_on(window, copies, is_stopped, &mut add)? else { return Ok(None) };
        Ok(Some(studied(window, memory_bytes, read, characterizer.finish())))
    }

    /// Does the same, and finds the job that behaves like the trace.
    ///
    /// # Errors
    ///
    /// Fails as [`OpenTrace::study`] does.
    pub fn study_with_job(
        self,
        window: TraceWindow,
        memory_bytes: u64,
        copies: Vec<TraceCopyFile>,
        is_stopped: impl Fn() -> bool,
    ) -> Result<Option<StudyWithJob>, Problem> {
        let mut synthesizer = JobSynthesizer::new();
        let mut add = |request: &TraceRequest| synthesizer.add(request);
        let Some(read) = self.pass_on(window, copies, is_stopped, &mut add)? else { return Ok(None) };
        let (profile, job) = synthesizer.finish();
        Ok(Some((studied(window, memory_bytes, read, profile), job)))
    }

    /// Reads the trace once and writes copies. Returns `None` if `is_stopped` ended reading.
    fn pass_on(
        self,
        window: TraceWindow,
        mut copies: Vec<TraceCopyFile>,
        is_stopped: impl Fn() -> bool,
        mut add: impl FnMut(&TraceRequest),
    ) -> Result<Option<ReadTrace>, Problem> {
        let name = self.name.clone();
        let condition = self.scan(window, is_stopped, |requests, info| {
            requests.iter().for_each(&mut add);
            copies.iter_mut().try_for_each(|copy| copy.push(requests, info))
        })?;
        let Some(condition) = condition else { return Ok(None) };
        let copies = copies.into_iter().map(|copy| copy.finish(&condition)).collect::<Result<_, _>>()?;
        Ok(Some(ReadTrace { name, condition, copies }))
    }

    /// Reads the trace and passes on the requests of a window, in the order of issue. Returns the condition of the
    /// trace; `None` if `is_stopped` ended reading.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read, if nothing in it can be used, or if `each` fails.
    pub fn scan(
        mut self,
        window: TraceWindow,
        is_stopped: impl Fn() -> bool,
        each: impl FnMut(&[TraceRequest], &TraceInfo) -> Result<(), Problem>,
    ) -> Result<Option<TraceCondition>, Problem> {
        let input = TraceInput::new(&self.name, self.format, self.files.len());
        let mut each = each;
        let mut buffer = vec![0; PIECE_BYTES];
        let feed = |input: &mut TraceInput, file: usize| match is_stopped() {
            true => Err(None),
            false => self.files[file].feed(file, input, &mut buffer).map_err(Some),
        };
        let condition = match scan_trace(input, window, feed, |requests, info| each(requests, info).map_err(Some)) {
            Ok(condition) => condition,
            Err(None) => return Ok(None),
            Err(Some(error)) => return Err(error),
        };
        match (condition.errors.first(), condition.end) {
            _ if condition.requests > 0 => Ok(Some(condition)),
            (Some(error), _) => Err(error.clone()),
            (None, TraceEnd::Truncated { position, .. }) => {
                let what = format!("{}: byte {position}: the file ends within its first block", self.name);
                Err(Problem::error(ProblemCode::Trace, what).help("use the complete file"))
            }
            (None, _) => Ok(Some(condition)),
        }
    }
}

fn studied(window: TraceWindow, memory_bytes: u64, read: ReadTrace, profile: TraceProfile) -> TraceStudy {
    let ReadTrace { name, condition, copies } = read;
    let findings = trace_findings(&profile, memory_bytes);
    TraceStudy { name, window, condition, profile, findings, copies, job: None }
}

impl TraceFile {
    fn open(path: &Path) -> Result<Self, Problem> {
        let name = shown(path);
        let opened = input::open_stream(path).and_then(|mut reader| {
            let mut start = Vec::new();
            reader.by_ref().take(START_BYTES as u64).read_to_end(&mut start)?;
            Ok((reader, start))
        });
        let (reader, start) = opened.map_err(|error| unreadable(&name, &error))?;
        Ok(Self { name, start, reader })
    }

    fn feed(&mut self, file: usize, input: &mut TraceInput, buffer: &mut [u8]) -> Result<(), Problem> {
        if !self.start.is_empty() {
            input.feed(file, &std::mem::take(&mut self.start));
            return Ok(());
        }
        let read = loop {
            match self.reader.read(buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other.map_err(|error| unreadable(&self.name, &error))?,
            }
        };
        match read {
            0 => input.end_input(file),
            read => input.feed(file, &buffer[..read]),
        }
        Ok(())
    }
}

fn unreadable(name: &str, error: &std::io::Error) -> Problem {
    Problem::error(input::code_of(error, ProblemCode::Trace), format!("{name}: {error}"))
        .help("pass a trace file; `-` is standard input")
}

fn shown(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
}

/// Returns the files that blktrace has written under a base name, if no file has that name itself.
fn of_blktrace(base: &Path) -> Option<Vec<PathBuf>> {
    let stem = format!("{}.blktrace.", base.file_name()?.to_str()?);
    let folder = base.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if base.as_os_str() == "-" || base.exists() {
        return None;
    }
    let mut found: Vec<(u32, PathBuf)> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let number = entry.file_name().to_str()?.strip_prefix(&stem)?.parse().ok()?;
            Some((number, entry.path()))
        })
        .collect();
    found.sort_unstable();
    (!found.is_empty()).then(|| found.into_iter().map(|(_, path)| path).collect())
}
