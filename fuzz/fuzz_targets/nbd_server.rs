//! Feeds any bytes of a client that has selected an export to a complete server, which ends when it is stopped.

#![no_main]

use std::io::Write;
use std::os::unix::net::UnixStream;

use libfuzzer_sys::fuzz_target;
use nbd::server::{Offer, RoundTripDeduction, Server, ServerConfig};
use nbd::store::{Content, MemoryStore, Overlay, PatternStore, Store};
use nbd::wire::handshake::HandshakeSettings;
use nbd::wire::{Export, ExportBlockSizes, TransmissionFlags};
use units::Nanos;
use volume::System;

const SIZE: u64 = 1 << 62;
/// Fixed newstyle without zeroes; structured replies or extended headers, by the first byte; `base:allocation`; the
/// export.
const CONTEXT: &[u8] = b"IHAVEOPT\0\0\0\x0a\0\0\0\x1b\0\0\0\0\0\0\0\x01\0\0\0\x0fbase:allocation";
const GO: &[u8] = b"IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0";

fuzz_target!(|bytes: &[u8]| {
    let Some((&how, bytes)) = bytes.split_first() else { return };
    let (mut client, served) = UnixStream::pair().expect("sockets");
    served.set_nonblocking(true).expect("a socket");
    client.set_nonblocking(true).expect("a socket");
    let style = [0, 0, 0, if how & 1 == 0 { 8 } else { 11 }, 0, 0, 0, 0];
    let hello = [b"\0\0\0\x03".as_slice(), b"IHAVEOPT", &style, CONTEXT, GO, bytes].concat();
    let _ = client.write(&hello);
    if how & 2 != 0 {
        drop(client);
    }
    // In half of the cases memory is scarce: requests wait for it, and the announced maximum is smaller.
    let memory_bytes = if how & 8 == 0 { 4 << 20 } else { 1 << 30 };
    let store: Box<dyn Store> = match how >> 4 & 3 {
        0 | 1 => Box::new(MemoryStore::new(SIZE, 1 << 20)),
        2 => Box::new(PatternStore::new(Content::Offsets, SIZE)),
        _ => Box::new(Overlay::new(Box::new(PatternStore::new(Content::Offsets, SIZE)), 1 << 20)),
    };
    let export = Export {
        name: String::new(),
        description: String::new(),
        size: SIZE,
        flags: TransmissionFlags::HAS_FLAGS,
        block: ExportBlockSizes { maximum: 1 << 20, ..ExportBlockSizes::DEFAULT },
    };
    let server = Server::new(ServerConfig {
        exports: vec![Offer { export, store: 0, route: None }],
        stores: vec![store],
        system: System::new(&[], 1),
        listeners: Vec::new(),
        mounts: Vec::new(),
        connected: vec![served.into()],
        faults: None,
        settings: HandshakeSettings::default(),
        identity: None,
        round_trip: RoundTripDeduction::Fixed(Nanos::ZERO),
        spin: false,
        clients_most: 1,
        memory_bytes,
    });
    let server = server.expect("a server");
    server.stopper().stop();
    server.run().expect("a good end");
});
