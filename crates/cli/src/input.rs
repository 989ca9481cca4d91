//! Reads files up to a size limit, without waiting for a pipe that has no writer.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use engine::gate::note_input;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use units::Bytes;

/// Maximum wait for a writer of a named pipe.
const WRITER_WAIT: Duration = Duration::from_millis(500);
/// Polling interval of that wait.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A size limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeLimit {
    /// From a regular file, whose size is known before it is read.
    file: u64,
    /// From what tells no size: standard input, pipes, devices.
    stream: u64,
    /// Whether it must outlive the results of the command, unlike a state that the command replaces.
    outlives: bool,
}

impl SizeLimit {
    /// As much from any source.
    pub(crate) const fn bytes(bytes: u64) -> Self {
        Self { file: bytes, stream: bytes, outlives: true }
    }
}

/// Job files.
pub(crate) const JOB_TEXT: SizeLimit = SizeLimit::bytes(job::limits::TEXT_BYTES_MAX as u64);
/// Records and the output of other programs.
pub(crate) const RECORD: SizeLimit = SizeLimit { file: 256 << 20, stream: 32 << 20, outlives: true };
/// Lists of expectations, certificates and keys.
pub(crate) const SMALL: SizeLimit = SizeLimit::bytes(1 << 20);
/// The state of a suite.
pub(crate) const STATE: SizeLimit = SizeLimit { outlives: false, ..SizeLimit::bytes(64 << 20) };

/// All bytes of a file; of `-`, of standard input.
///
/// # Errors
///
/// The refusal of the system; `InvalidInput` for a block device, for what is larger than `most`, and for a pipe that no
/// program writes to.
pub(crate) fn read(path: &Path, most: SizeLimit) -> io::Result<Vec<u8>> {
    if path.as_os_str() == "-" {
        return read_up_to(io::stdin().lock(), most.stream);
    }
    let facts = std::fs::metadata(path)?;
    let kind = facts.file_type();
    if kind.is_block_device() {
        return Err(unusable("it is a block device: a job that is to use it names it, as in --filename=DEVICE"));
    }
    if kind.is_file() {
        if most.outlives {
            note_input(&facts);
        }
        return if facts.len() > most.file {
            Err(too_large(most.file))
        } else {
            read_up_to(File::open(path)?, most.file)
        };
    }
    if kind.is_fifo() {
        let (first, pipe) = open_pipe(path)?;
        return read_up_to(first.as_slice().chain(pipe), most.stream);
    }
    read_up_to(File::open(path)?, most.stream)
}

/// The same of UTF-8 text.
///
/// # Errors
///
/// As of [`read`], and `InvalidData` where it is no text.
pub(crate) fn read_text(path: &Path, most: SizeLimit) -> io::Result<String> {
    String::from_utf8(read(path, most)?).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

fn read_up_to(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

fn too_large(most: u64) -> io::Error {
    unusable(&format!("it has more than {}", Bytes::new(most)))
}

fn unusable(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, why)
}

/// Opens a named pipe once a program has it open for writing, and returns what was read of it meanwhile.
fn open_pipe(path: &Path) -> io::Result<(Vec<u8>, File)> {
    let mut pipe = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    let (began, mut first) = (Instant::now(), [0; 4096]);
    let read = loop {
        match pipe.read(&mut first) {
            // No writer yet.
            Ok(0) if began.elapsed() < WRITER_WAIT => std::thread::sleep(LOOK_EVERY),
            Ok(0) => return Err(unusable("it is a pipe that no program writes to")),
            Ok(read) => break read,
            // A writer that has not written yet.
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

    use super::*;

    fn why(path: &Path, most: SizeLimit) -> String {
        read(path, most).expect_err("it is refused").to_string()
    }

    #[test]
    fn what_is_larger_than_the_limit_is_not_read() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("sparse");
        File::create(&path).unwrap().set_len(10 << 30).unwrap();
        assert_eq!(why(&path, JOB_TEXT), "it has more than 4 MiB");
        assert_eq!(why(Path::new("/dev/zero"), SMALL), "it has more than 1 MiB");
        std::fs::write(&path, "small").unwrap();
        assert_eq!(read(&path, SizeLimit::bytes(5)).unwrap(), b"small");
    }

    /// f52613e waited for a writer without end.
    #[test]
    fn a_pipe_that_nobody_writes_to_is_refused_and_one_with_a_writer_is_read() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
        assert_eq!(why(&path, SMALL), "it is a pipe that no program writes to");
        let writer = {
            let path = path.clone();
            std::thread::spawn(move || {
                let mut pipe = OpenOptions::new().write(true).open(path).unwrap();
                std::thread::sleep(Duration::from_millis(700));
                pipe.write_all(b"late but whole").unwrap();
            })
        };
        assert_eq!(read(&path, SMALL).unwrap(), b"late but whole");
        writer.join().unwrap();
    }
}
