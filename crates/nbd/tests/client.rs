//! A minimal client written from the protocol document, without code of the server.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

pub(crate) const READ: u16 = 0;
pub(crate) const WRITE: u16 = 1;
pub(crate) const DISCONNECT: u16 = 2;
pub(crate) const FLUSH: u16 = 3;
pub(crate) const TRIM: u16 = 4;
pub(crate) const WRITE_ZEROES: u16 = 6;
pub(crate) const BLOCK_STATUS: u16 = 7;

pub(crate) const EPERM: u32 = 1;
pub(crate) const EIO: u32 = 5;
pub(crate) const EINVAL: u32 = 22;
pub(crate) const ENOSPC: u32 = 28;
pub(crate) const ESHUTDOWN: u32 = 108;

/// A connection in the transmission phase, with simple replies.
pub(crate) struct Client {
    pub(crate) stream: UnixStream,
}

impl Client {
    /// Connects and selects an export.
    pub(crate) fn connect(socket: &Path, export: &str) -> Self {
        Self::begin(socket).choose(export)
    }

    /// Connects and negotiates `NBD_OPT_EXTENDED_HEADERS` before selecting an export.
    pub(crate) fn connect_extended(socket: &Path, export: &str) -> Self {
        let mut client = Self::begin(socket);
        client.stream.write_all(b"IHAVEOPT\0\0\0\x0b\0\0\0\0").expect("a connection");
        let mut reply = [0; 20];
        client.stream.read_exact(&mut reply).expect("a reply");
        assert_eq!(number(&reply[12..16]), 1);
        client.choose(export)
    }

    /// Connects and negotiates fixed newstyle without zeroes.
    fn begin(socket: &Path) -> Self {
        let mut stream = UnixStream::connect(socket).expect("a server");
        // Ends only what hangs.
        stream.set_read_timeout(Some(Duration::from_secs(300))).expect("a timeout");
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting).expect("a greeting");
        assert_eq!(&greeting[..16], b"NBDMAGICIHAVEOPT");
        stream.write_all(&3u32.to_be_bytes()).expect("a connection");
        Self { stream }
    }

    /// Sends `NBD_OPT_GO`.
    fn choose(mut self, export: &str) -> Self {
        let mut words = b"IHAVEOPT".to_vec();
        words.extend_from_slice(&7u32.to_be_bytes());
        words.extend_from_slice(&(export.len() as u32 + 6).to_be_bytes());
        words.extend_from_slice(&(export.len() as u32).to_be_bytes());
        words.extend_from_slice(export.as_bytes());
        words.extend_from_slice(&0u16.to_be_bytes());
        self.stream.write_all(&words).expect("a connection");
        loop {
            let mut reply = [0; 20];
            self.stream.read_exact(&mut reply).expect("a reply");
            let (kind, length) = (number(&reply[12..16]), number(&reply[16..20]));
            let mut data = vec![0; length as usize];
            self.stream.read_exact(&mut data).expect("its data");
            match kind {
                1 => return self,
                3 => {}
                other => panic!("option reply {other:#x}"),
            }
        }
    }

    pub(crate) fn send(&mut self, command: u16, flags: u16, cookie: u64, offset: u64, length: u32, payload: &[u8]) {
        self.stream.write_all(&request(command, flags, cookie, offset, length, payload)).expect("a connection");
    }

    /// Returns the error number and the cookie of the next reply.
    pub(crate) fn reply(&mut self) -> (u32, u64) {
        let mut reply = [0; 16];
        self.stream.read_exact(&mut reply).expect("a reply");
        assert_eq!(number(&reply[..4]), 0x6744_6698);
        (number(&reply[4..8]), u64::from_be_bytes(reply[8..].try_into().expect("eight bytes")))
    }

    /// Sends a request whose reply has no data; returns its error number.
    pub(crate) fn ask(&mut self, command: u16, flags: u16, offset: u64, length: u32, payload: &[u8]) -> u32 {
        self.send(command, flags, 77, offset, length, payload);
        let (error, cookie) = self.reply();
        assert_eq!(cookie, 77);
        error
    }

    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) {
        assert_eq!(self.ask(WRITE, 0, offset, data.len() as u32, data), 0);
    }

    pub(crate) fn read(&mut self, offset: u64, length: u32) -> Vec<u8> {
        assert_eq!(self.ask(READ, 0, offset, length, &[]), 0);
        self.bytes(length as usize)
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut data = vec![0; length];
        self.stream.read_exact(&mut data).expect("data");
        data
    }

    /// Reports whether the server closes the connection instead of replying.
    pub(crate) fn closes(&mut self) -> bool {
        let mut reply = [0; 16];
        self.stream.read_exact(&mut reply).is_err()
    }

    /// Reports whether the server has closed the connection.
    pub(crate) fn is_closed(&mut self) -> bool {
        matches!(self.stream.read(&mut [0]), Ok(0) | Err(_))
    }
}

/// Encodes a request and its payload.
pub(crate) fn request(command: u16, flags: u16, cookie: u64, offset: u64, length: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = 0x2560_9513u32.to_be_bytes().to_vec();
    bytes.extend_from_slice(&flags.to_be_bytes());
    bytes.extend_from_slice(&command.to_be_bytes());
    bytes.extend_from_slice(&cookie.to_be_bytes());
    bytes.extend_from_slice(&offset.to_be_bytes());
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes.try_into().expect("four bytes"))
}
