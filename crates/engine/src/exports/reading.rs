//! Reads an export to identify its content.

use std::io::{self, Read, Seek, SeekFrom};
use std::time::{Duration, Instant};

use nbd::wire::client::{ReplyPart, ServerReply};
use nbd::wire::{CommandFlags, NbdCommand, NbdRequest};
use probe::Examination;

use super::socket::ExportSocket;
use super::{HANDSHAKE_TIMEOUT, RemoteExport, dial, parse};
use crate::error::{Error, ErrorKind};

/// Maximum bytes read at a time, within the export's limits: the largest minimum block size that the protocol permits.
const PIECE_BYTES: u32 = 64 << 10;

/// Maximum time for reading an export's content.
const READING_TIMEOUT: Duration = Duration::from_secs(30);

/// Length of the header of a reply.
const REPLY_BYTES: usize = 16;

/// Examines the content of an export, as for a device.
///
/// # Errors
/// Fails if the export cannot be opened or read.
pub fn examine(uri: &str) -> Result<Examination, Error> {
    let connection = dial::open(&parse(uri)?, false, HANDSHAKE_TIMEOUT)?;
    let export = RemoteExport::of(&connection.served);
    let piece = PIECE_BYTES.min(export.max_request_bytes / export.min_block_bytes * export.min_block_bytes);
    let mut reader = ExportReader {
        socket: connection.socket,
        piece: vec![0; piece as usize],
        bytes: export.bytes,
        at: 0,
        until: Instant::now() + READING_TIMEOUT,
    };
    let read = probe::examine(&mut reader, export.bytes);
    reader.socket.disconnect();
    read.map_err(|error| Error::system(ErrorKind::Export, "read", uri, &error).with_remedy("see the server log"))
}

/// A seekable reader of an export, which sends one request at a time and accepts simple replies only.
struct ExportReader {
    socket: ExportSocket,
    /// The bytes read last.
    piece: Vec<u8>,
    bytes: u64,
    at: u64,
    /// Deadline for all reads.
    until: Instant,
}

impl ExportReader {
    /// Reads the piece at `offset`. Returns how many bytes it has.
    fn read_piece(&mut self, offset: u64) -> io::Result<usize> {
        let length = self.bytes.saturating_sub(offset).min(self.piece.len() as u64) as usize;
        if length == 0 {
            return Ok(0);
        }
        let until = (Instant::now() + HANDSHAKE_TIMEOUT).min(self.until);
        let (command, flags) = (NbdCommand::Read, CommandFlags::default());
        let mut request = Vec::new();
        NbdRequest { cookie: offset, command, flags, offset, length: length as u64 }.encode(false, &mut request);
        dial::send(&self.socket, &mut request, until)?;
        let mut answer = Vec::with_capacity(REPLY_BYTES + length);
        while answer.len() < REPLY_BYTES {
            dial::receive(&self.socket, &mut answer, until)?;
        }
        match ServerReply::decode(&answer, false).map_err(|_| io::ErrorKind::InvalidData)? {
            Some((_, ServerReply { cookie, part: ReplyPart::Done, .. })) if cookie == offset => {}
            Some((_, ServerReply { part: ReplyPart::Failed { errno, .. }, .. })) => {
                return Err(io::Error::from_raw_os_error(errno.number() as i32));
            }
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
        while answer.len() < REPLY_BYTES + length {
            dial::receive(&self.socket, &mut answer, until)?;
        }
        let data = answer.get(REPLY_BYTES..).filter(|data| data.len() == length).ok_or(io::ErrorKind::InvalidData)?;
        self.piece[..length].copy_from_slice(data);
        Ok(length)
    }
}

impl Read for ExportReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let begin = self.at - self.at % self.piece.len() as u64;
        let bytes = self.read_piece(begin)?;
        let rest = self.piece[..bytes].get((self.at - begin) as usize..).unwrap_or_default();
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
