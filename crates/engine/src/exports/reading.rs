//! Reads an export to identify its content.

use std::io::{self, Read, Seek, SeekFrom};

use target::{Op, Tag, Target};
use units::{Nanos, OpKind};

use super::{HANDSHAKE_TIMEOUT, Nbd};
use crate::clock::MonotonicClock;
use crate::error::{Error, ErrorKind};
use crate::opening::Opening;
use crate::queue::QueueTarget;
use probe::Examination;
use target::spec::EngineKind;

/// Maximum bytes read at a time, within the export's limits: the largest minimum block size that the protocol permits.
const PIECE_BYTES: u32 = 64 << 10;

/// Maximum time for reading an export's content.
const READING_TIMEOUT: Nanos = Nanos::from_secs(30);

/// Examines the content of an export, as for a device.
///
/// # Errors
/// Fails if the export cannot be opened or read.
pub fn examine(uri: &str) -> Result<Examination, Error> {
    let export = super::look(uri)?;
    let piece = PIECE_BYTES.min(export.max_request_bytes / export.min_block_bytes * export.min_block_bytes);
    let setup = Opening::new(EngineKind::Nbd, 1, piece, MonotonicClock::start());
    let mut target = Nbd::target(&setup.with(|spec| spec.uri = Some(uri.to_owned())))?;
    let until = target.now() + READING_TIMEOUT;
    let read = probe::examine(&mut ExportReader { target, piece, bytes: export.bytes, at: 0, until }, export.bytes);
    read.map_err(|error| Error::system(ErrorKind::Export, "read", uri, &error).with_remedy("see the server's log"))
}

/// A seekable reader of an export.
struct ExportReader {
    target: QueueTarget<Nbd>,
    /// Bytes read at a time.
    piece: u32,
    bytes: u64,
    at: u64,
    /// Deadline for all reads.
    until: Nanos,
}

impl ExportReader {
    /// Reads the piece at `offset`. Returns how many bytes it has.
    fn read_piece(&mut self, offset: u64) -> io::Result<usize> {
        if self.target.now() >= self.until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.target.submit(Op { tag: Tag(0), kind: OpKind::Read, file: 0, offset, length: self.piece, skip: 0 });
        let until = (self.target.now() + Nanos::new(HANDSHAKE_TIMEOUT.as_nanos() as u64)).min(self.until);
        let mut done = Vec::new();
        while done.is_empty() && self.target.now() < until {
            self.target.wait(1, until, &mut done);
        }
        let result = done.first().map_or(-libc::ETIMEDOUT, |done| done.result);
        usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result))
    }
}

impl Read for ExportReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let begin = self.at - self.at % u64::from(self.piece);
        let bytes = self.read_piece(begin)?;
        let piece = self.target.buffer(Tag(0)).map_or(&[][..], |buffer| &buffer[..bytes]);
        let rest = piece.get((self.at - begin) as usize..).unwrap_or_default();
        let some = rest.len().min(into.len());
        into[..some].copy_from_slice(&rest[..some]);
        self.at += some as u64;
        Ok(some)
    }
}

impl Seek for ExportReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::Current(by) => (self.at, by),
            SeekFrom::End(by) => (self.bytes, by),
        };
        self.at = base.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
