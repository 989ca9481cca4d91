//! Where captured requests go: the file of the trace, and the summary.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::gate::{Existing, create_output};
use results::capture::CaptureFile;
use trace::{
    Characterizer, TRACE_MARK, TraceInfo, TraceProfile, TraceReader, TraceRequest, TraceStep, TraceWriter,
    TraceWriterOptions, WaitingProcesses,
};
use units::Problem;

use crate::error;
use crate::output::{OutputKind, clear, is_regular, lock, refused};

/// The file of a trace.
const TRACE: OutputKind = OutputKind { mark: TRACE_MARK.as_slice(), name: "a Fathom trace" };

/// How much of a capture is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptPart {
    /// At least the requests of this last time, at most of twice that.
    Time(Duration),
    /// The last requests that fit into this many bytes, at least into half of them.
    Bytes(u64),
}

/// The file of a trace. Each block is written when it is complete, so that a killed capture loses about a second.
#[derive(Debug)]
pub(crate) struct TraceFile {
    path: PathBuf,
    file: File,
    is_regular: bool,
    writer: TraceWriter,
    kept: Option<KeptPart>,
    /// Bytes and requests of this file, and of the one before it.
    bytes: u64,
    requests: u64,
    before: Option<(u64, u64)>,
    /// Requests that are not in the file yet, and the number of calls of [`Self::flush`] since.
    waiting: u64,
    delayed: u32,
    /// Issue of the first request in this file.
    first_ns: Option<u64>,
}

/// Number of requests from which on a block is written each second. Small blocks compress badly.
const BLOCK_MIN: u64 = 1000;
/// Maximum number of seconds that requests wait for such a block.
const DELAY_MAX: u32 = 5;

impl TraceFile {
    /// Opens the file. An existing file is replaced if it is empty or a trace.
    pub(crate) fn create(path: &Path, kept: Option<KeptPart>, info: TraceInfo) -> Result<Self, Problem> {
        let file = TRACE.open(path)?;
        let is_regular = is_regular(&file);
        if kept.is_some() {
            if !is_regular {
                return Err(refused(path, "--keep-last needs a regular file"));
            }
            check_before(&before(path))?;
        }
        clear(path, &file)?;
        let writer = TraceWriter::new(info, TraceWriterOptions::default());
        Ok(Self {
            path: path.to_owned(),
            file,
            is_regular,
            writer,
            kept,
            bytes: 0,
            requests: 0,
            before: None,
            waiting: 0,
            delayed: 0,
            first_ns: None,
        })
    }

    /// Adds a request.
    #[inline]
    pub(crate) fn push(&mut self, request: &TraceRequest) {
        self.first_ns.get_or_insert(request.issued_ns);
        self.requests += 1;
        self.waiting += 1;
        self.writer.push(request);
    }

    /// Returns the metadata of the trace, to be changed.
    pub(crate) fn info(&mut self) -> &mut TraceInfo {
        &mut self.writer.info
    }

    /// Writes complete blocks.
    pub(crate) fn write(&mut self) -> Result<(), Problem> {
        let output = self.writer.output();
        if output.is_empty() {
            return Ok(());
        }
        self.bytes += output.len() as u64;
        let written = self.file.write_all(output);
        output.clear();
        written.map_err(|error| self.failed("write", &error))
    }

    /// Writes all requests so far, unless they are few and young. Called once per second.
    pub(crate) fn flush(&mut self, last_ns: u64) -> Result<(), Problem> {
        self.delayed += 1;
        if self.waiting >= BLOCK_MIN || self.delayed >= DELAY_MAX {
            self.writer.write_before(u64::MAX);
            (self.waiting, self.delayed) = (0, 0);
        }
        self.write()?;
        let is_full = match self.kept {
            None => false,
            Some(KeptPart::Bytes(bytes)) => self.bytes >= bytes / 2,
            Some(KeptPart::Time(time)) => {
                let span_ns = last_ns.saturating_sub(self.first_ns.unwrap_or(last_ns));
                u128::from(span_ns) >= time.as_nanos()
            }
        };
        if is_full { self.rotate() } else { Ok(()) }
    }

    /// Returns the length of the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Begins a new file; the present one becomes the one before.
    fn rotate(&mut self) -> Result<(), Problem> {
        let info = self.writer.info.clone();
        let writer = std::mem::replace(&mut self.writer, TraceWriter::new(info, TraceWriterOptions::default()));
        let end = writer.finish();
        self.bytes += end.len() as u64;
        self.file.write_all(&end).map_err(|error| self.failed("write", &error))?;
        let before = before(&self.path);
        std::fs::rename(&self.path, &before).map_err(|error| self.failed("rename", &error))?;
        self.file = create_output(&self.path, Existing::Replace)
            .map_err(|denied| error::host(Problem::from(denied).to_string(), "use another file"))?;
        // The new file is at the same path, which only this capture uses.
        let _ = lock(&self.file);
        self.before = Some((self.bytes, self.requests));
        (self.bytes, self.requests, self.waiting, self.first_ns) = (0, 0, 0, None);
        Ok(())
    }

    fn failed(&self, operation: &str, error: &io::Error) -> Problem {
        let message = format!("{operation} {}: {}", self.path.display(), error);
        let mut remedy = engine::remedy(error).unwrap_or("the trace so far is readable (fathom trace)").to_owned();
        if self.before.is_some() {
            remedy.push_str(&format!("; the previous part is in {}", before(&self.path).display()));
        }
        error::host(message, remedy)
    }

    /// Completes the file.
    pub(crate) fn finish(mut self) -> Result<CaptureFile, Problem> {
        self.write()?;
        let writer =
            std::mem::replace(&mut self.writer, TraceWriter::new(TraceInfo::default(), TraceWriterOptions::default()));
        let end = writer.finish();
        self.bytes += end.len() as u64;
        self.file.write_all(&end).map_err(|error| self.failed("write", &error))?;
        let (mut bytes, mut requests) = (self.bytes, self.requests);
        if let Some((bytes_before, requests_before)) = self.before {
            self.join().map_err(|error| self.failed("join with the previous part", &error))?;
            bytes += bytes_before;
            requests += requests_before;
        }
        Ok(CaptureFile { path: self.path.display().to_string(), bytes, requests })
    }

    /// Appends this file to the one before, which takes its place: blocks of a trace can be read on their own.
    fn join(&mut self) -> io::Result<()> {
        let before = before(&self.path);
        let mut joined = File::options().append(true).open(&before)?;
        self.file.seek(SeekFrom::Start(0))?;
        io::copy(&mut self.file, &mut joined)?;
        std::fs::rename(&before, &self.path)
    }
}

/// Returns the path of the part of a trace before the one at `path`.
fn before(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".before");
    name.into()
}

/// Checks that the file for the part before can be replaced: there is none, or it is empty or a trace.
fn check_before(path: &Path) -> Result<(), Problem> {
    match std::fs::symlink_metadata(path) {
        Err(_) => Ok(()),
        Ok(found) if !found.is_file() => Err(TRACE.not_replaceable(path)),
        Ok(_) => TRACE.check(path, &mut File::open(path).map_err(|_| TRACE.not_replaceable(path))?),
    }
}

/// Everything that receives requests.
///
/// The characterization costs more than everything else that is done for a request, so it is made from the file, once
/// the load is no longer affected. Without a file that can be read again, it is made at once.
#[derive(Debug)]
pub(crate) struct RequestSink {
    pub(crate) file: Option<TraceFile>,
    characterizer: Option<Characterizer>,
    requests: u64,
    bytes: u64,
}

impl RequestSink {
    /// Begins without requests.
    pub(crate) fn new(file: Option<TraceFile>) -> Self {
        let is_readable = file.as_ref().is_some_and(|file| file.is_regular);
        Self { file, characterizer: (!is_readable).then(Characterizer::new), requests: 0, bytes: 0 }
    }

    #[inline]
    pub(crate) fn add(&mut self, request: &TraceRequest) {
        self.requests += 1;
        self.bytes += u64::from(request.length);
        if let Some(characterizer) = &mut self.characterizer {
            characterizer.add(request);
        }
        if let Some(file) = &mut self.file {
            file.push(request);
        }
    }

    /// Returns the number of requests and their bytes so far.
    pub(crate) fn totals(&self) -> (u64, u64) {
        (self.requests, self.bytes)
    }

    /// Ends.
    pub(crate) fn finish(self) -> Result<(TraceProfile, Option<CaptureFile>), Problem> {
        let file = self.file.map(TraceFile::finish).transpose()?;
        let profile = match (self.characterizer, &file) {
            (Some(characterizer), _) => characterizer.finish(),
            (None, Some(file)) => characterize(Path::new(&file.path)).map_err(|error| {
                let message = format!("read {}: {error}", file.path);
                error::host(message, "the trace is complete; try `fathom trace` on it")
            })?,
            (None, None) => TraceProfile::default(),
        };
        Ok((profile, file))
    }
}

/// Characterizes the trace in a file.
fn characterize(path: &Path) -> io::Result<TraceProfile> {
    const PIECE: usize = 1 << 20;
    let mut file = File::open(path)?;
    let mut reader = TraceReader::new();
    let (mut waiting, mut characterizer) = (WaitingProcesses::default(), Characterizer::new());
    let (mut piece, mut requests) = (vec![0; PIECE], Vec::new());
    loop {
        match reader.next(&mut requests) {
            Ok(TraceStep::NeedsInput(_)) => match file.read(&mut piece)? {
                0 => reader.end_input(),
                count => reader.feed(&piece[..count]),
            },
            Ok(TraceStep::Requests) => {
                for request in &mut requests {
                    waiting.set(request, &reader.info().processes);
                    characterizer.add(request);
                }
                requests.clear();
            }
            Err(damage) => return Err(io::Error::other(damage.what)),
            Ok(TraceStep::End(_)) => return Ok(characterizer.finish()),
        }
    }
}

#[cfg(test)]
mod tests {
    use trace::TraceDamage;

    use super::*;

    fn info() -> TraceInfo {
        TraceInfo {
            devices: vec![("vda".to_owned(), Some(1 << 30))],
            processes: vec!["a/1".into()],
            ..TraceInfo::default()
        }
    }

    fn request(number: u64) -> TraceRequest {
        TraceRequest {
            issued_ns: number * 1_000_000,
            service_ns: Some(5_000),
            offset: number * 4096,
            length: 4096,
            ..TraceRequest::default()
        }
    }

    fn read(path: &Path) -> (Vec<TraceRequest>, TraceInfo, Vec<Result<TraceStep, TraceDamage>>) {
        let mut reader = TraceReader::new();
        reader.feed(&std::fs::read(path).unwrap());
        reader.end_input();
        let (mut requests, mut steps) = (Vec::new(), Vec::new());
        loop {
            let step = reader.next(&mut requests);
            let is_end = matches!(step, Ok(TraceStep::End(_)));
            steps.push(step);
            if is_end {
                return (requests, reader.info().clone(), steps);
            }
        }
    }

    #[test]
    fn the_last_part_is_kept_and_is_one_trace() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.trace");
        for kept in [KeptPart::Time(Duration::from_secs(10)), KeptPart::Bytes(200_000)] {
            let mut file = TraceFile::create(&path, Some(kept), info()).unwrap();
            for number in 0..100_000_u64 {
                file.push(&request(number));
                if number % 1000 == 0 {
                    file.flush(number * 1_000_000).unwrap();
                }
            }
            let told = file.finish().unwrap();
            let (requests, known, steps) = read(&path);
            assert_eq!(told.bytes, std::fs::metadata(&path).unwrap().len());
            assert_eq!(told.requests, requests.len() as u64);
            assert_eq!(known, info());
            assert!(steps.iter().all(Result::is_ok));
            assert_eq!(requests.last().unwrap().offset, 99_999 * 4096);
            assert!(requests.windows(2).all(|pair| pair[1].offset == pair[0].offset + 4096), "none is missing inside");
            match kept {
                KeptPart::Time(_) => assert!((10_000..=22_000).contains(&requests.len()), "{}", requests.len()),
                KeptPart::Bytes(bytes) => assert!((bytes / 2..=bytes + 20_000).contains(&told.bytes), "{}", told.bytes),
            }
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the part before is gone");
        }
    }

    #[test]
    fn only_traces_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, "a diary").unwrap();
        let error = TraceFile::create(&path, None, info()).unwrap_err();
        assert!(error.to_string().contains("is not a Fathom trace; use another file"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"a diary");
        std::fs::write(&path, "").unwrap();
        for number in 1..4 {
            let mut file = TraceFile::create(&path, None, info()).unwrap();
            (0..number).for_each(|number| file.push(&request(number)));
            assert_eq!(file.finish().unwrap().requests, number);
            assert_eq!(read(&path).0.len() as u64, number);
        }
        assert!(TraceFile::create(Path::new("/dev/none"), None, info()).is_err());
    }

    #[test]
    fn a_foreign_file_is_not_replaced_by_the_part_before() {
        let folder = tempfile::tempdir().unwrap();
        let (path, before) = (folder.path().join("x"), folder.path().join("x.before"));
        let kept = Some(KeptPart::Bytes(1 << 20));
        std::fs::write(&before, "a diary").unwrap();
        let error = TraceFile::create(&path, kept, info()).unwrap_err().to_string();
        assert!(error.contains("x.before: exists and is not a Fathom trace"), "{error}");
        assert_eq!(std::fs::read(&before).unwrap(), b"a diary");
        assert!(TraceFile::create(&path, None, info()).is_ok(), "it is not needed");
        std::fs::remove_file(&before).unwrap();
        std::os::unix::fs::symlink("elsewhere", &before).unwrap();
        assert!(TraceFile::create(&path, kept, info()).is_err());
    }

    #[test]
    fn two_captures_never_write_to_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let mut first = TraceFile::create(&path, Some(KeptPart::Bytes(20_000)), info()).unwrap();
        for number in 0..10_000 {
            first.push(&request(number));
            if number % 1000 == 0 {
                first.flush(number).unwrap();
                let error = TraceFile::create(&path, None, info()).unwrap_err().to_string();
                assert!(error.contains("another capture is writing to it"), "{error}");
            }
        }
        first.finish().unwrap();
        assert!(TraceFile::create(&path, None, info()).is_ok());
    }

    #[test]
    fn a_capture_that_is_killed_leaves_what_was_flushed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let mut file = TraceFile::create(&path, None, info()).unwrap();
        (0..1500).for_each(|number| file.push(&request(number)));
        file.flush(0).unwrap();
        assert_eq!(read(&path).0.len(), 1500);
        file.push(&request(1500));
        (0..DELAY_MAX).for_each(|_| file.flush(0).unwrap());
        assert_eq!(read(&path).0.len(), 1501);
    }
}
