//! Tests the client with our server in memory and with scripted servers.

mod pieces;
mod replies;

use super::*;
use crate::handshake::{ALLOCATION_CONTEXT, Agreed, Handshake, HandshakeSettings, HandshakeStep, Tls};
use crate::number::{self, err, info, opt, rep};
use crate::{Export, ExportBlockSizes, ReplyStyle, TransmissionFlags};

fn exports() -> Vec<Export> {
    ["one", "two"].map(export).to_vec()
}

fn export(name: &str) -> Export {
    Export {
        name: name.into(),
        description: format!("the disk called {name}"),
        size: 12_345,
        flags: TransmissionFlags::SEND_FUA | TransmissionFlags::SEND_DF,
        block: ExportBlockSizes { minimum: 4096, preferred: 8192, maximum: 1 << 20 },
    }
}

/// Runs a handshake with every message in pieces of at most `piece` bytes; returns the final step of each side.
fn negotiate(
    settings: HandshakeSettings,
    mut client: ClientHandshake,
    piece: usize,
) -> Result<(ClientStep, HandshakeStep), ClientError> {
    let (mut server, exports) = (Handshake::new(settings), exports());
    let (mut to_client, mut to_server) = (Vec::new(), Vec::new());
    let (mut seen, mut step) = (0, HandshakeStep::More);
    server.greet(&mut to_client);
    loop {
        seen = (seen + piece).min(to_client.len());
        let (consumed, client_step) = client.advance(&to_client[..seen], &mut to_server)?;
        to_client.drain(..consumed);
        seen -= consumed;
        let mut end = 0;
        while !matches!(step, HandshakeStep::Ready(_) | HandshakeStep::Close) && end < to_server.len() {
            end = (end + piece).min(to_server.len());
            let (consumed, next) = server.advance(&to_server[..end], &exports, &mut to_client);
            to_server.drain(..consumed);
            end -= consumed;
            step = next;
        }
        if matches!(client_step, ClientStep::Ready(_) | ClientStep::Listed(_)) {
            assert_eq!((to_client.len(), to_server.len()), if step == HandshakeStep::Close { (20, 0) } else { (0, 0) });
            return Ok((client_step, step));
        }
    }
}

fn settings(tls: Tls, style: ReplyStyle, insist_on_block_sizes: bool) -> HandshakeSettings {
    HandshakeSettings { tls, style, insist_on_block_sizes }
}

#[test]
fn client_and_server_agree_in_all_combinations() {
    let flags = TransmissionFlags::HAS_FLAGS | TransmissionFlags::SEND_FUA;
    for style in [ReplyStyle::Simple, ReplyStyle::Structured, ReplyStyle::Extended] {
        for bits in 0..48 {
            let bit = |bit: u32| bits >> bit & 1 == 1;
            let (structured, allocation, encrypt, insist) = (bit(0), bit(1), bit(2), bit(3));
            let tls = [Tls::Off, Tls::Offered, Tls::Required][bits / 16];
            let wishes = ClientOptions { export: "two".into(), tls: encrypt, structured, allocation };
            let place = format!("{style:?} {tls:?} {wishes:?} {insist}");
            for piece in [1, 7, 10_000] {
                let result = negotiate(settings(tls, style, insist), ClientHandshake::new(wishes.clone()), piece);
                let refused = |option, why| matches!(&result, Err(ClientError::Refused { option: o, why: w, .. }) if (*o, *w) == (option, why));
                if encrypt && tls == Tls::Off {
                    assert!(refused(opt::STARTTLS, ServerRefusal::Policy), "{place}: {result:?}");
                    continue;
                }
                if !encrypt && tls == Tls::Required {
                    let first = if structured { opt::STRUCTURED_REPLY } else { opt::GO };
                    assert!(refused(first, ServerRefusal::TlsRequired), "{place}: {result:?}");
                    continue;
                }
                let structured = structured && style != ReplyStyle::Simple;
                let allocation = (structured && allocation).then_some(ALLOCATION_CONTEXT);
                let flags = if structured { flags | TransmissionFlags::SEND_DF } else { flags };
                let served = Served { size: 12_345, flags, block: export("two").block, structured, allocation };
                let agreed = Agreed { export: 1, flags, structured, extended: false, allocation };
                assert_eq!(result, Ok((ClientStep::Ready(served), HandshakeStep::Ready(agreed))), "{place}");
            }
        }
    }
}

#[test]
fn lists_exports() {
    for (tls, settings) in
        [(false, HandshakeSettings::default()), (true, settings(Tls::Required, ReplyStyle::Simple, false))]
    {
        let (step, server) = negotiate(settings, ClientHandshake::list(tls), 9).unwrap();
        let entry = |name: &str| ListedExport { name: name.into(), description: format!("the disk called {name}") };
        assert_eq!((step, server), (ClientStep::Listed(vec![entry("one"), entry("two")]), HandshakeStep::Close));
    }
}

#[test]
fn a_wrong_name_is_reported_with_the_servers_message() {
    let wishes = ClientOptions { export: "three".into(), ..ClientOptions::default() };
    let error = negotiate(HandshakeSettings::default(), ClientHandshake::new(wishes), 100).unwrap_err();
    let words = "requested the export (NBD_OPT_GO): the server has no such export: no such export";
    assert_eq!(error.to_string(), words);
}

/// Runs the client against a server that sends `script`.
fn scripted(wishes: &ClientOptions, script: &[Vec<u8>]) -> (Result<ClientStep, ClientError>, Vec<u8>) {
    let (mut client, mut out) = (ClientHandshake::new(wishes.clone()), Vec::new());
    let bytes = script.concat();
    (client.advance(&bytes, &mut out).map(|(_, step)| step), out)
}

fn greeting(flags: u16) -> Vec<u8> {
    [b"NBDMAGICIHAVEOPT", &flags.to_be_bytes()[..]].concat()
}

fn reply(option: u32, kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = number::OPTION_REPLY.to_be_bytes().to_vec();
    for number in [option, kind, data.len() as u32] {
        bytes.extend_from_slice(&number.to_be_bytes());
    }
    bytes.extend_from_slice(data);
    bytes
}

fn sizes(minimum: u32, preferred: u32, maximum: u32) -> Vec<u8> {
    let mut data = info::BLOCK_SIZE.to_be_bytes().to_vec();
    [minimum, preferred, maximum].iter().for_each(|size| data.extend_from_slice(&size.to_be_bytes()));
    data
}

fn size_and_flags() -> Vec<u8> {
    [&info::EXPORT.to_be_bytes()[..], &77u64.to_be_bytes(), &1u16.to_be_bytes()].concat()
}

fn simply_served() -> ClientStep {
    ClientStep::Ready(Served {
        size: 77,
        flags: TransmissionFlags::HAS_FLAGS,
        block: ExportBlockSizes::INTEROPERABLE,
        structured: false,
        allocation: None,
    })
}

#[test]
fn uses_export_name_with_old_servers() {
    let wishes = ClientOptions { export: "x".into(), structured: true, allocation: true, tls: false };
    let unknown = |option| reply(option, err::UNSUP, &[]);
    let tail = |zeroes: usize| [&size_and_flags()[2..], &vec![0; zeroes]].concat();
    let (step, out) = scripted(&wishes, &[greeting(3), unknown(opt::STRUCTURED_REPLY), unknown(opt::GO), tail(0)]);
    assert_eq!(step, Ok(simply_served()));
    assert!(out.ends_with(b"IHAVEOPT\0\0\0\x01\0\0\0\x01x"));
    let (step, out) = scripted(&wishes, &[greeting(0), tail(124)]);
    assert_eq!((step, &out[..]), (Ok(simply_served()), &b"\0\0\0\0IHAVEOPT\0\0\0\x01\0\0\0\x01x"[..]));
    let (step, _) = scripted(&wishes, &[greeting(2), tail(0)]);
    assert_eq!(step, Ok(simply_served()));
    assert_eq!(scripted(&wishes, &[greeting(0), tail(123)]).0, Ok(ClientStep::More));
}

#[test]
fn unknown_information_is_ignored() {
    let info = |data: &[u8]| reply(opt::GO, rep::INFO, data);
    let script = [greeting(0xffff), info(b"\0\x09?"), info(&size_and_flags()), reply(opt::GO, rep::ACK, &[])];
    let (step, out) = scripted(&ClientOptions::default(), &script);
    assert_eq!(step, Ok(simply_served()));
    assert_eq!(out[..4], [0, 0, 0, 3], "unknown flags are not echoed");
}

#[test]
fn continues_without_a_refused_context() {
    let wishes = ClientOptions { structured: true, allocation: true, ..ClientOptions::default() };
    let script = [
        greeting(3),
        reply(opt::STRUCTURED_REPLY, rep::ACK, &[]),
        reply(opt::SET_META_CONTEXT, rep::META_CONTEXT, b"\0\0\0\x05base:allocation"),
        reply(opt::SET_META_CONTEXT, err::TOO_BIG, &[]),
        reply(opt::GO, rep::INFO, &size_and_flags()),
        reply(opt::GO, rep::ACK, &[]),
    ];
    let Ok(ClientStep::Ready(served)) = scripted(&wishes, &script).0 else { panic!() };
    assert_eq!((served.structured, served.allocation), (true, None));
}

#[test]
fn reports_violations_of_the_protocol() {
    let info = |data: &[u8]| [greeting(3), reply(opt::GO, rep::INFO, data)];
    let go = |kind, data: &[u8]| [greeting(3), reply(opt::GO, kind, data)];
    let mut wrong_magic = go(rep::ACK, &[]);
    wrong_magic[1][0] = 9;
    for (script, part) in [
        (&[b"SSH-2.0-".to_vec()][..], "not an NBD server"),
        (&[b"NBDMAGIC".to_vec(), number::OLDSTYLE.to_be_bytes().to_vec()], "oldstyle"),
        (&[b"NBDMAGICNBDMAGIC".to_vec()], "neither"),
        (&wrong_magic, "wrong magic number"),
        (&[greeting(3), reply(opt::LIST, rep::ACK, &[])], "was not requested"),
        (&go(rep::ACK, &[]), "without its size"),
        (&go(rep::ACK, b"x"), "with data"),
        (&go(rep::SERVER, &[]), "unexpected reply type"),
        (&go(55, &[]), "unexpected reply type"),
        (&go(rep::INFO, &[0; 9000]), "too long"),
        (&info(&[]), "without an information type"),
        (&info(&[0, 0, 1]), "wrong length"),
        (&info(&[0, 3, 1]), "wrong length"),
        (&info(&sizes(3, 4096, 1 << 20)), "block sizes"),
        (&info(&sizes(1 << 17, 1 << 17, 1 << 20)), "block sizes"),
        (&info(&sizes(1, 256, 1 << 20)), "block sizes"),
        (&info(&sizes(4096, 512, 1 << 20)), "block sizes"),
        (&info(&sizes(1, 4096, 512)), "block sizes"),
        (&go(err::SHUTDOWN, b"bye\x1b[2J"), "is shutting down: bye[2J"),
        (&go(err::BLOCK_SIZE_REQD, &[]), "block sizes"),
        (&go(rep::ERROR + 99, &[]), "0x80000063"),
    ] {
        let (step, out) = scripted(&ClientOptions::default(), script);
        let error = step.expect_err(part);
        assert!(error.to_string().contains(part), "{part}: {error}");
        let abort = b"IHAVEOPT\0\0\0\x02\0\0\0\0";
        assert_eq!(out.ends_with(abort), matches!(error, ClientError::Refused { .. }), "{error}");
    }
    let wishes = ClientOptions { tls: true, ..ClientOptions::default() };
    assert_eq!(scripted(&wishes, &[greeting(0)]).0, Err(ClientError::NotFixed));
}

#[test]
fn rejects_an_endless_list() {
    let entry = reply(opt::LIST, rep::SERVER, &[&8000u32.to_be_bytes()[..], &[b'x'; 8000]].concat()[..4004]);
    let long = reply(opt::LIST, rep::SERVER, &[&4000u32.to_be_bytes()[..], &[b'x'; 4000]].concat());
    for (entry, part) in [(&entry, "invalid export name"), (&long, "16 MiB")] {
        let (mut client, mut out) = (ClientHandshake::list(false), Vec::new());
        client.advance(&greeting(3), &mut out).unwrap();
        let error = (0..10_000).find_map(|_| client.advance(entry, &mut out).err()).expect(part);
        assert!(error.to_string().contains(part), "{error}");
    }
}
