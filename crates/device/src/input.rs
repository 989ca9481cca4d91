//! Reads files up to a size limit, and never waits for a named pipe without a writer.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use engine::gate::note_input;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use units::{Bytes, ProblemCode};

/// Maximum wait for a writer of a named pipe.
const WRITER_WAIT: Duration = Duration::from_millis(500);
/// Polling interval of that wait.
const POLL_EVERY: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug)]
pub struct SizeLimit {
    /// Maximum size of a regular file in bytes.
    file: u64,
    /// Maximum size of standard input, pipes and devices in bytes.
    stream: u64,
    /// Whether results must not replace the file. The command replaces its own state.
    is_protected: bool,
}

impl SizeLimit {
    /// Returns one limit in bytes for all sources.
    #[must_use]
    pub const fn bytes(bytes: u64) -> Self {
        Self { file: bytes, stream: bytes, is_protected: true }
    }
}

/// Job files.
pub const JOB_TEXT: SizeLimit = SizeLimit::bytes(job::limits::TEXT_BYTES_MAX as u64);
/// Records and the output of other programs.
pub const RECORD: SizeLimit = SizeLimit { file: 256 << 20, stream: 32 << 20, is_protected: true };
/// Lists of expectations, certificates and keys.
pub const SMALL: SizeLimit = SizeLimit::bytes(1 << 20);
/// The state of a suite.
pub const STATE: SizeLimit = SizeLimit { is_protected: false, ..SizeLimit::bytes(64 << 20) };

/// Returns `request` for errors of a wrong name, and the code of the host's errors for others.
#[must_use]
pub fn code_of(error: &io::Error, request: ProblemCode) -> ProblemCode {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::IsADirectory | ErrorKind::InvalidInput => request,
        _ => ProblemCode::File,
    }
}

/// Reads a file, or standard input for `-`.
///
/// # Errors
///
/// Fails with `InvalidInput` for a block device, for a file larger than `limit` and for a named pipe without a writer.
pub fn read(path: &Path, limit: SizeLimit) -> io::Result<Vec<u8>> {
    let opened = open(path, limit)?;
    let bytes = if opened.is_stream { limit.stream } else { limit.file };
    read_up_to(opened.reader, bytes)
}

/// Opens a file of any size, or standard input for `-`, with the same checks as [`read`].
///
/// # Errors
///
/// As for [`read`].
pub fn open_stream(path: &Path) -> io::Result<Box<dyn Read>> {
    open(path, SizeLimit::bytes(u64::MAX)).map(|opened| opened.reader)
}

/// Opens a file of any size, also one whose name is `-`, with the same checks as [`read`].
///
/// # Errors
///
/// As for [`read`].
pub fn open_file(path: &Path) -> io::Result<Box<dyn Read>> {
    open_named(path, SizeLimit::bytes(u64::MAX)).map(|opened| opened.reader)
}

struct OpenInput {
    reader: Box<dyn Read>,
    /// Whether it is not a regular file.
    is_stream: bool,
}

fn open(path: &Path, limit: SizeLimit) -> io::Result<OpenInput> {
    match path.as_os_str() == "-" {
        true => Ok(OpenInput { reader: Box::new(io::stdin().lock()), is_stream: true }),
        false => open_named(path, limit),
    }
}

fn open_named(path: &Path, limit: SizeLimit) -> io::Result<OpenInput> {
    let stream = |reader| Ok(OpenInput { reader, is_stream: true });
    let facts = std::fs::metadata(path)?;
    let kind = facts.file_type();
    if kind.is_block_device() {
        return Err(unusable("it is a block device, not an input file: use it in a job with --filename=DEVICE"));
    }
    if kind.is_file() {
        if limit.is_protected {
            note_input(&facts);
        }
        if facts.len() > limit.file {
            return Err(too_large(limit.file));
        }
        return Ok(OpenInput { reader: Box::new(File::open(path)?), is_stream: false });
    }
    if kind.is_fifo() {
        let (first, pipe) = open_pipe(path)?;
        return stream(Box::new(io::Cursor::new(first).chain(pipe)));
    }
    stream(Box::new(File::open(path)?))
}

/// Reads a text file as [`read`] does.
///
/// # Errors
///
/// As for [`read`], and with `InvalidData` if it is not UTF-8.
pub fn read_text(path: &Path, limit: SizeLimit) -> io::Result<String> {
    String::from_utf8(read(path, limit)?).map_err(|_| io::Error::new(ErrorKind::InvalidData, "not valid UTF-8"))
}

fn read_up_to(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large(limit)) } else { Ok(bytes) }
}

fn too_large(limit: u64) -> io::Error {
    unusable(&format!("larger than {}", Bytes::new(limit)))
}

fn unusable(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, why)
}

/// Opens a named pipe once it has a writer. Returns the bytes already read and the pipe.
fn open_pipe(path: &Path) -> io::Result<(Vec<u8>, File)> {
    let mut pipe = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    let (started, mut first) = (Instant::now(), [0; 4096]);
    let read = loop {
        match pipe.read(&mut first) {
            // No writer yet.
            Ok(0) if started.elapsed() < WRITER_WAIT => std::thread::sleep(POLL_EVERY),
            Ok(0) => return Err(unusable("no program writes to this pipe")),
            Ok(read) => break read,
            // The writer has not written yet.
            Err(error) if error.kind() == ErrorKind::WouldBlock => break 0,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    };
    let flags = fcntl_getfl(&pipe)?;
    fcntl_setfl(&pipe, flags - OFlags::NONBLOCK)?;
    Ok((first[..read].to_vec(), pipe))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn read_error(path: &Path, limit: SizeLimit) -> String {
        read(path, limit).expect_err("the file is unreadable").to_string()
    }

    #[test]
    fn files_larger_than_the_limit_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("sparse");
        File::create(&path).unwrap().set_len(10 << 30).unwrap();
        assert_eq!(read_error(&path, JOB_TEXT), "larger than 4 MiB");
        assert_eq!(read_error(Path::new("/dev/zero"), SMALL), "larger than 1 MiB");
        std::fs::write(&path, "small").unwrap();
        assert_eq!(read(&path, SizeLimit::bytes(5)).unwrap(), b"small");
    }

    /// Commit f52613e waited forever for a writer.
    #[test]
    fn a_pipe_without_a_writer_is_refused_and_one_with_a_writer_is_read() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
        assert_eq!(read_error(&path, SMALL), "no program writes to this pipe");
        let is_open = Arc::new(AtomicBool::new(false));
        let writer = {
            let (path, is_open) = (path.clone(), Arc::clone(&is_open));
            std::thread::spawn(move || {
                let mut pipe = OpenOptions::new().write(true).open(path).unwrap();
                is_open.store(true, Ordering::SeqCst);
                std::thread::sleep(4 * WRITER_WAIT);
                pipe.write_all(b"late but whole").unwrap();
            })
        };
        let whole = loop {
            let has_writer = is_open.load(Ordering::SeqCst);
            match read(&path, SMALL) {
                Ok(whole) => break whole,
                // A busy host may start the writer too late for one reader, but then the next one finds it.
                Err(error) => assert!(!has_writer, "{error}"),
            }
        };
        assert_eq!(whole, b"late but whole");
        writer.join().unwrap();
    }
}
