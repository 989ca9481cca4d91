//! Files for results: never a device, nor a file that the kernel or a loop device uses.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::identity::FileIdentity;
use super::locks::{self, Sharing};
use super::objection::{Objection, WriteRefusal};
use super::open::{self, OpenMode};
use super::users::{RecentFileUsers, Uses};
use super::{Denied, creation, register};
use crate::error::{Error, ErrorKind};
use probe::Number;

/// Treatment of existing content of a result file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Truncates the file.
    Replace,
    /// Keeps the content until [`super::ResultFile`] replaces it with the results.
    Keep,
    /// Keeps the content and appends to it.
    Append,
}

/// Opens a file for results and creates it if it is missing. Also accepts pipes and terminals, and waits 10 s for the
/// reader of a named pipe.
///
/// # Errors
/// Fails for a device, a socket, a file of the kernel, a swap file or the backing file of a loop device, for a pipe
/// without a reader, and if the system refuses.
pub fn create_output(path: &Path, existing: Existing) -> Result<File, Denied> {
    let file = open_output(path, existing)?;
    // A file that is kept was opened for a check only, and may be removed again.
    if existing != Existing::Keep
        && let Ok(metadata) = file.metadata()
    {
        register::note_output(path, &metadata);
    }
    Ok(file)
}

fn open_output(path: &Path, existing: Existing) -> Result<File, Denied> {
    for _ in 0..2 {
        match open::lookup(path) {
            Ok(seen) => return use_existing(path, &seen, existing),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::file("open", path, &error).into()),
        }
        let place = creation::check_new(path)?;
        // If another program creates the file first, that file is checked like any other.
        if let Some(file) = creation::make(path, &place)? {
            if existing == Existing::Append {
                // Opened again like any other, so that all writers append.
                continue;
            }
            locks::lock(&file, Sharing::Writers);
            return Ok(file);
        }
    }
    Err(Error::file("open", path, &io::Error::from_raw_os_error(libc::ENOENT)).into())
}

fn use_existing(path: &Path, seen: &File, existing: Existing) -> Result<File, Denied> {
    let failed = |error: io::Error| Denied::from(Error::file("open", path, &error));
    let metadata = seen.metadata().map_err(failed)?;
    let identity = FileIdentity::of(&metadata);
    let objections = match identity {
        FileIdentity::File { .. } if register::is_input(&metadata) => vec![Objection::Input],
        FileIdentity::File { .. } => {
            let Uses { certain, possible } = Uses::of(seen, &metadata, &mut RecentFileUsers::default());
            // An empty file has nothing to lose.
            certain.into_iter().chain(possible.into_iter().filter(|_| metadata.len() > 0)).collect()
        }
        FileIdentity::Block(_) => vec![Objection::Device],
        FileIdentity::Character(number) if !discards_everything(number) && !is_terminal(number) => {
            vec![Objection::Character]
        }
        FileIdentity::Other => return Err(failed(io::Error::from_raw_os_error(libc::EISDIR))),
        FileIdentity::Character(_) | FileIdentity::Stream => Vec::new(),
    };
    if !objections.is_empty() {
        return Err(Denied::Refused(WriteRefusal::of_output(path, objections)));
    }
    match identity {
        FileIdentity::Stream if metadata.file_type().is_socket() => {
            let reason = "it is a socket, which cannot be opened by path";
            let error = Error::found(ErrorKind::File, "open", path.display().to_string(), reason);
            Err(error.with_remedy("use a file or a pipe (mkfifo)").into())
        }
        FileIdentity::Stream => Ok(open_pipe(path, seen, READER_TIMEOUT)?),
        FileIdentity::Character(_) => {
            open::reopen(seen, path, OpenMode { read: false, write: true, flags: libc::O_NOCTTY }).map_err(failed)
        }
        _ => open_regular(path, seen, existing),
    }
}

fn open_regular(path: &Path, seen: &File, existing: Existing) -> Result<File, Denied> {
    let failed = |error: io::Error| Denied::from(Error::file("open", path, &error));
    let flags = if existing == Existing::Append { libc::O_APPEND } else { 0 };
    let file = open::reopen(seen, path, OpenMode { read: true, write: true, flags })
        // Read locks need a readable descriptor. A file with write permission only is opened without it.
        .or_else(|_| open::reopen(seen, path, OpenMode { read: false, write: true, flags }))
        .map_err(failed)?;
    // Excludes files that this or another run measures, and images of virtual machines.
    if let Some(objection) = locks::lock(&file, Sharing::Writers) {
        return Err(Denied::Refused(WriteRefusal::of_output(path, vec![objection])));
    }
    if existing == Existing::Replace {
        file.set_len(0).map_err(failed)?;
    }
    Ok(file)
}

/// Maximum wait for a reader of a named pipe: shells start the programs of a pipeline in any order.
const READER_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens a pipe only for writing. Opened for reading too, this process would be a reader, so that a write would neither
/// fail nor end after the real reader has gone.
fn open_pipe(path: &Path, seen: &File, timeout: Duration) -> Result<File, Error> {
    const PAUSE: Duration = Duration::from_millis(10);
    let failed = |error: io::Error| Error::file("open", path, &error);
    let mode = OpenMode { read: false, write: true, flags: libc::O_NONBLOCK };
    let begun = Instant::now();
    let pipe = loop {
        match open::reopen(seen, path, mode) {
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) && begun.elapsed() < timeout => {
                std::thread::sleep(PAUSE);
            }
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {
                let reason = format!("no program opened this pipe for reading within {} s", timeout.as_secs());
                return Err(Error::found(ErrorKind::File, "open", path.display().to_string(), reason)
                    .with_remedy("start the reader first, or use a file"));
            }
            opened => break opened.map_err(failed)?,
        }
    };
    // Only the opening must not block: writes wait for a slow reader.
    rustix::fs::fcntl_setfl(&pipe, rustix::fs::OFlags::empty()).map_err(|error| failed(error.into()))?;
    Ok(pipe)
}

/// Reports whether a character device discards all bytes: `/dev/null`, `/dev/zero`, `/dev/full`.
pub(super) fn discards_everything(number: Number) -> bool {
    matches!(number, (1, 3 | 5 | 7))
}

/// Reports whether a character device is a terminal (`Documentation/admin-guide/devices.txt`).
fn is_terminal((major, _): Number) -> bool {
    matches!(major, 4 | 5 | 136..=143)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> std::path::PathBuf {
        let path = std::env::temp_dir().join(format!("fathom-output-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    fn pipe(name: &str) -> std::path::PathBuf {
        let path = scratch(name);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        path
    }

    /// Revision 692e655 opened pipes for reading too: without a reader the output was lost, and the exit code was 0.
    #[test]
    fn results_in_a_pipe_without_a_reader_were_lost() {
        let path = pipe("unread");
        let error = open_pipe(&path, &open::lookup(&path).unwrap(), Duration::from_millis(30)).unwrap_err().to_string();
        assert!(error.contains("no program opened") && error.contains("start the reader first"), "{error}");
        std::fs::remove_file(path).unwrap();
    }

    /// Revision 692e655 waited forever for room in a pipe whose reader had gone.
    #[test]
    fn a_writer_failed_to_notice_that_its_reader_had_gone() {
        use std::io::{Read, Write};
        let path = pipe("left");
        let reader = std::thread::spawn({
            let path = path.clone();
            move || {
                std::thread::sleep(Duration::from_millis(50));
                let mut first = [0; 5];
                File::open(path).unwrap().read_exact(&mut first).unwrap();
                first
            }
        });
        let mut writer = create_output(&path, Existing::Replace).unwrap();
        writer.write_all(b"first").unwrap();
        assert_eq!(&reader.join().unwrap(), b"first");
        let mut written = (0..).map(|_| writer.write_all(&[0; 4096]));
        let error = written.find_map(Result::err).unwrap();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_socket_is_refused_with_a_remedy() {
        let path = scratch("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let refused = units::Problem::from(create_output(&path, Existing::Replace).unwrap_err()).to_string();
        assert!(refused.contains("it is a socket") && refused.contains("mkfifo"), "{refused}");
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn outputs_among_devices_or_in_kernel_filesystems_are_refused() {
        for path in ["/dev/none.json", "/proc/sys/vm/swappiness", "/dev/mem", "/dev"] {
            assert!(create_output(Path::new(path), Existing::Replace).is_err(), "{path}");
        }
        assert!(create_output(Path::new("/dev/null"), Existing::Replace).is_ok());
    }
}
