//! NBD servers for tests: Fathom's own on a thread, and a minimal one that follows a script.

use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc;
use std::thread::JoinHandle;

use nbd::server::{Listener, Offer, RoundTripDeduction, Server, ServerConfig, Stopper};
use nbd::store::{MemoryStore, Store};
use nbd::wire::handshake::HandshakeSettings;
use nbd::wire::{Export, ExportBlockSizes, NbdCommand, NbdRequest, ReplyStyle, TransmissionFlags as Flags};
use units::Nanos;

/// Flags of the exports in tests.
pub(crate) const EXPORT_FLAGS: Flags =
    Flags::HAS_FLAGS.with(Flags::SEND_FLUSH).with(Flags::SEND_FUA).with(Flags::SEND_TRIM);

/// Fathom's server on a thread, which stops on drop.
pub(crate) struct NbdTestServer {
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl NbdTestServer {
    /// Serves exports of `bytes` zeroes under these names.
    pub(crate) fn start(socket: &Path, style: ReplyStyle, names: &[&str], bytes: u64, flags: Flags) -> Self {
        let offer = |(store, name): (usize, &&str)| {
            let (name, description) = ((*name).to_owned(), String::new());
            let export = Export { name, description, size: bytes, flags, block: ExportBlockSizes::DEFAULT };
            Offer { export, store, route: None }
        };
        let exports: Vec<Offer> = names.iter().enumerate().map(offer).collect();
        let listeners = vec![Listener::unix(socket).unwrap()];
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let store = |_: &Offer| -> Box<dyn Store> { Box::new(MemoryStore::new(bytes, 2 * bytes)) };
            let server = Server::new(ServerConfig {
                stores: exports.iter().map(store).collect(),
                exports,
                system: volume::System::new(&[], 1),
                listeners,
                mounts: Vec::new(),
                connected: Vec::new(),
                faults: None,
                identity: None,
                settings: HandshakeSettings { style, ..HandshakeSettings::default() },
                round_trip: RoundTripDeduction::Fixed(Nanos::ZERO),
                spin: false,
                clients_most: 16,
                memory_bytes: 1 << 30,
            });
            let server = server.unwrap();
            sender.send(server.stopper()).unwrap();
            server.run().unwrap();
        });
        Self { stopper: receiver.recv().unwrap(), thread: Some(thread) }
    }
}

impl Drop for NbdTestServer {
    fn drop(&mut self) {
        self.stopper.stop();
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(ended.is_some_and(|ended| ended.is_ok()) || std::thread::panicking());
    }
}

/// One client's connection at a server that supports only `NBD_OPT_EXPORT_NAME` and simple replies.
pub(crate) struct MinimalServer(pub(crate) UnixStream);

impl MinimalServer {
    /// Accepts one client on a thread and runs `script`.
    pub(crate) fn start<F>(socket: &Path, bytes: u64, script: F) -> JoinHandle<()>
    where
        F: FnOnce(&mut Self) -> io::Result<()> + Send + 'static,
    {
        let listener = UnixListener::bind(socket).unwrap();
        std::thread::spawn(move || {
            let mut server = Self(listener.accept().unwrap().0);
            // In some tests the client disconnects early.
            let _ = server.handshake(bytes).and_then(|()| script(&mut server));
        })
    }

    /// Performs the handshake: newstyle, not fixed, with padding.
    fn handshake(&mut self, bytes: u64) -> io::Result<()> {
        self.0.write_all(b"NBDMAGICIHAVEOPT\0\0")?;
        let mut option = [0; 4 + 16];
        self.0.read_exact(&mut option)?;
        assert_eq!(option[12..], [0, 0, 0, 1, 0, 0, 0, 0], "NBD_OPT_EXPORT_NAME with an empty name");
        self.0.write_all(&bytes.to_be_bytes())?;
        self.0.write_all(&EXPORT_FLAGS.bits().to_be_bytes())?;
        self.0.write_all(&[0; 124])
    }

    /// Returns the next request and its payload.
    pub(crate) fn next(&mut self) -> io::Result<(NbdRequest, Vec<u8>)> {
        let mut head = [0; NbdRequest::header_bytes(false)];
        self.0.read_exact(&mut head)?;
        let request = NbdRequest::decode(&head, false).unwrap().unwrap();
        let mut payload = vec![0; request.payload(false) as usize];
        self.0.read_exact(&mut payload)?;
        Ok((request, payload))
    }

    /// Sends a successful reply with the data of a read.
    pub(crate) fn done(&mut self, request: &NbdRequest, data: &[u8]) -> io::Result<()> {
        let mut reply = Vec::new();
        ReplyStyle::Simple.done(request, &mut reply);
        reply.extend_from_slice(data);
        self.0.write_all(&reply)
    }

    /// Serves correctly until the client disconnects.
    pub(crate) fn serve(&mut self, bytes: u64) -> io::Result<()> {
        let mut disk = vec![0; bytes as usize];
        loop {
            let (request, payload) = self.next()?;
            let range = request.offset as usize..(request.offset + request.length) as usize;
            match request.command {
                NbdCommand::Disconnect => return Ok(()),
                NbdCommand::Read => self.done(&request, &disk[range])?,
                NbdCommand::Write => {
                    disk[range].copy_from_slice(&payload);
                    self.done(&request, &[])?;
                }
                NbdCommand::Flush => {
                    assert_eq!((request.offset, request.length), (0, 0), "a flush has no range");
                    self.done(&request, &[])?;
                }
                _ => self.done(&request, &[])?,
            }
        }
    }
}
