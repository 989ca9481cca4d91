//! Tests every option and every error.

mod pieces;
mod terms;
mod tls;

use super::*;
use crate::ExportBlockSizes;
use crate::number::{ALLOCATION, OPTION_REPLY, err, info, rep};

const ACK: u32 = rep::ACK;

fn exports() -> Vec<Export> {
    let flags = TransmissionFlags::SEND_FLUSH
        | TransmissionFlags::SEND_DF
        | TransmissionFlags::SEND_FAST_ZERO
        | TransmissionFlags::BLOCK_STATUS_PAYLOAD;
    let plain = Export {
        name: "plain".into(),
        description: "first of all".into(),
        size: 1 << 40,
        flags,
        block: ExportBlockSizes::DEFAULT,
    };
    let block = ExportBlockSizes { minimum: 512, ..ExportBlockSizes::DEFAULT };
    let strict = Export { name: "größe".into(), description: String::new(), size: 4096, block, ..plain.clone() };
    vec![plain, strict]
}

/// Encodes an option.
fn option(option: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = number::OPTION.to_be_bytes().to_vec();
    bytes.extend_from_slice(&option.to_be_bytes());
    bytes.extend_from_slice(&(data.len() as u32).to_be_bytes());
    bytes.extend_from_slice(data);
    bytes
}

fn counted(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u32).to_be_bytes(), text].concat()
}

fn info_request(name: &str, requests: &[u16]) -> Vec<u8> {
    let mut data = counted(name.as_bytes());
    data.extend_from_slice(&(requests.len() as u16).to_be_bytes());
    requests.iter().for_each(|request| data.extend_from_slice(&request.to_be_bytes()));
    data
}

fn queries(name: &str, queries: &[&str]) -> Vec<u8> {
    let mut data = counted(name.as_bytes());
    data.extend_from_slice(&(queries.len() as u32).to_be_bytes());
    queries.iter().for_each(|query| data.extend_from_slice(&counted(query.as_bytes())));
    data
}

/// A client that has sent its flags, and its server.
struct Session {
    server: Handshake,
    exports: Vec<Export>,
}

impl Session {
    fn new(settings: HandshakeSettings) -> Self {
        Self::with_flags(settings, 3)
    }

    fn with_flags(settings: HandshakeSettings, flags: u32) -> Self {
        let mut session = Self { server: Handshake::new(settings), exports: exports() };
        assert_eq!(session.send(&flags.to_be_bytes()), (vec![], HandshakeStep::More));
        session
    }

    /// Sends bytes; returns the option, kind and data of each reply, and the step.
    fn send(&mut self, bytes: &[u8]) -> (Vec<(u32, u32, Vec<u8>)>, HandshakeStep) {
        let mut out = Vec::new();
        let (consumed, step) = self.server.advance(bytes, &self.exports, &mut out);
        assert!(consumed == bytes.len() || step == HandshakeStep::Close, "{consumed} of {} bytes", bytes.len());
        (replies(&out), step)
    }

    /// Sends an option; returns the kinds of its replies and the step.
    fn ask(&mut self, what: u32, data: &[u8]) -> (Vec<u32>, HandshakeStep) {
        let (replies, step) = self.send(&option(what, data));
        assert!(replies.iter().all(|reply| reply.0 == what));
        (replies.iter().map(|reply| reply.1).collect(), step)
    }

    /// Checks that an option gets a single reply and negotiation continues.
    fn gets(&mut self, what: u32, data: &[u8], kind: u32) {
        assert_eq!(self.ask(what, data), (vec![kind], HandshakeStep::More), "option {what} with {data:?}");
    }
}

fn replies(mut out: &[u8]) -> Vec<(u32, u32, Vec<u8>)> {
    let mut replies = Vec::new();
    while !out.is_empty() {
        let mut reader = ByteReader(out);
        assert_eq!(reader.u64(), Some(OPTION_REPLY));
        replies.push((reader.u32().unwrap(), reader.u32().unwrap(), reader.counted().unwrap().to_vec()));
        out = reader.0;
    }
    replies
}

fn agreed(step: HandshakeStep) -> Agreed {
    let HandshakeStep::Ready(agreed) = step else { panic!("{step:?} instead of an agreement") };
    agreed
}

fn ready() -> Agreed {
    let flags = TransmissionFlags::HAS_FLAGS | TransmissionFlags::SEND_FLUSH;
    Agreed { export: 0, flags, structured: false, extended: false, allocation: None }
}

#[test]
fn the_greeting_offers_fixed_newstyle_without_zeroes() {
    let mut out = Vec::new();
    Handshake::new(HandshakeSettings::default()).greet(&mut out);
    assert_eq!(out, b"NBDMAGICIHAVEOPT\0\x03");
}

#[test]
fn flags_that_were_not_offered_close_the_connection() {
    for flags in [4u32, 1 << 31, 0xffff_ffff] {
        let mut out = Vec::new();
        let step = Handshake::new(HandshakeSettings::default()).advance(&flags.to_be_bytes(), &exports(), &mut out);
        assert_eq!((step, out), ((4, HandshakeStep::Close), vec![]));
    }
}

#[test]
fn bytes_other_than_an_option_close_the_connection() {
    let mut session = Session::new(HandshakeSettings::default());
    assert_eq!(session.send(b"IHAVEOPX"), (vec![], HandshakeStep::Close));
    assert_eq!(session.send(&option(opt::LIST, &[])), (vec![], HandshakeStep::Close), "it stays closed");
}

#[test]
fn unknown_options_are_refused_and_their_data_is_skipped() {
    let mut session = Session::new(HandshakeSettings::default());
    for unknown in [0, 4, 12, u32::MAX] {
        session.gets(unknown, &[7; 300], err::UNSUP);
    }
    session.gets(99, &vec![7; 1 << 20], err::UNSUP);
    assert_eq!(session.ask(opt::LIST, &[]).1, HandshakeStep::More);
}

#[test]
fn export_name_selects_an_export() {
    for (no_zeroes, length) in [(false, 134), (true, 10)] {
        let mut server = Session::with_flags(HandshakeSettings::default(), 1 | u32::from(no_zeroes) << 1).server;
        let mut out = Vec::new();
        let (_, step) = server.advance(&option(opt::EXPORT_NAME, b"plain"), &exports(), &mut out);
        assert_eq!(agreed(step), ready());
        assert_eq!(out[..8], (1u64 << 40).to_be_bytes());
        assert_eq!(out[8..10], 5u16.to_be_bytes());
        assert_eq!(out.len(), length);
        assert!(out[10..].iter().all(|&byte| byte == 0));
    }
}

#[test]
fn a_wrong_name_in_export_name_closes_the_connection() {
    let names = [&b"absent"[..], b"plain\0", b"\xff", &[b'x'; 4097]];
    for name in names {
        let mut session = Session::new(HandshakeSettings::default());
        assert_eq!(session.send(&option(opt::EXPORT_NAME, name)), (vec![], HandshakeStep::Close));
    }
}

#[test]
fn without_fixed_newstyle_only_export_name_is_allowed() {
    let mut server = Session::with_flags(HandshakeSettings::default(), 0).server;
    let (_, step) = server.advance(&option(opt::EXPORT_NAME, b""), &exports(), &mut Vec::new());
    assert_eq!(agreed(step), ready());
    for what in [opt::LIST, opt::GO, opt::ABORT, 77] {
        let mut session = Session::with_flags(HandshakeSettings::default(), 2);
        assert_eq!(session.ask(what, &[]), (vec![], HandshakeStep::Close));
    }
}

#[test]
fn abort_is_acknowledged_with_any_data() {
    for data in [&b""[..], b"so long"] {
        assert_eq!(Session::new(HandshakeSettings::default()).ask(opt::ABORT, data), (vec![ACK], HandshakeStep::Close));
    }
}

#[test]
fn the_list_has_names_and_descriptions() {
    let mut session = Session::new(HandshakeSettings::default());
    let (replies, step) = session.send(&option(opt::LIST, &[]));
    let first = [counted(b"plain"), b"first of all".to_vec()].concat();
    let second = counted("größe".as_bytes());
    let expected = [(3, rep::SERVER, first), (3, rep::SERVER, second), (3, ACK, vec![])];
    assert_eq!((replies, step), (expected.to_vec(), HandshakeStep::More));
    session.gets(opt::LIST, b"x", err::INVALID);
}

#[test]
fn info_returns_the_requested_information_and_go_selects_the_export() {
    let mut session = Session::new(HandshakeSettings::default());
    let all = info_request("plain", &[info::NAME, info::DESCRIPTION, info::BLOCK_SIZE, 3, 77, info::EXPORT]);
    let (replies, step) = session.send(&option(opt::INFO, &all));
    assert_eq!(step, HandshakeStep::More);
    let data: Vec<Vec<u8>> = replies.iter().map(|reply| reply.2.clone()).collect();
    assert_eq!(data[0], [&[0, 0], &(1u64 << 40).to_be_bytes()[..], &[0, 5]].concat());
    assert_eq!(data[1], b"\0\x01plain");
    assert_eq!(data[2], b"\0\x02first of all");
    assert_eq!(data[3], [0, 3, 0, 0, 0, 1, 0, 0, 16, 0, 2, 0, 0, 0]);
    assert_eq!(replies.iter().map(|reply| reply.1).collect::<Vec<_>>(), [3, 3, 3, 3, ACK]);
    let (again, step) = session.send(&option(opt::GO, &all));
    assert_eq!(again.iter().map(|reply| &reply.2).collect::<Vec<_>>(), data.iter().collect::<Vec<_>>());
    assert_eq!(agreed(step), ready());
}

#[test]
fn the_empty_name_selects_the_first_export() {
    let (replies, step) =
        Session::new(HandshakeSettings::default()).send(&option(opt::GO, &info_request("", &[info::NAME])));
    assert_eq!(replies[1].2, b"\0\x01plain");
    assert_eq!(agreed(step).export, 0);
    let mut none = Session { exports: vec![], ..Session::new(HandshakeSettings::default()) };
    none.gets(opt::GO, &info_request("", &[]), err::UNKNOWN);
}

#[test]
fn unknown_exports_are_refused() {
    let mut session = Session::new(HandshakeSettings { style: ReplyStyle::Structured, ..HandshakeSettings::default() });
    session.gets(opt::STRUCTURED_REPLY, &[], ACK);
    for what in [opt::INFO, opt::GO] {
        session.gets(what, &info_request("absent", &[info::BLOCK_SIZE]), err::UNKNOWN);
    }
    for what in [opt::LIST_META_CONTEXT, opt::SET_META_CONTEXT] {
        session.gets(what, &queries("absent", &[ALLOCATION]), err::UNKNOWN);
    }
    assert_eq!(agreed(session.ask(opt::GO, &info_request("größe", &[])).1).export, 1);
}

#[test]
fn malformed_data_is_invalid() {
    let mut session = Session::new(HandshakeSettings::default());
    session.gets(opt::STRUCTURED_REPLY, &[], ACK);
    let mut long = info_request("plain", &[3]);
    long.push(0);
    let mut short = info_request("plain", &[1, 3]);
    short.pop();
    let beyond = [&u32::MAX.to_be_bytes()[..], b"plain\0\0"].concat();
    let too_long = info_request(&"x".repeat(4097), &[]);
    for data in [&b""[..], b"\0\0", &long, &short, &beyond, &too_long, &info_request("a\0b", &[])] {
        session.gets(opt::INFO, data, err::INVALID);
        session.gets(opt::GO, data, err::INVALID);
    }
    let mut long = queries("plain", &[ALLOCATION]);
    long.push(0);
    let mut short = queries("plain", &[ALLOCATION]);
    short.pop();
    let many = [counted(b"plain"), u32::MAX.to_be_bytes().to_vec()].concat();
    let no_namespace = queries("plain", &[ALLOCATION, "allocation"]);
    for data in [&b""[..], &long, &short, &many, &no_namespace, &queries("plain", &[""]), &queries("plain", &[":x"])] {
        session.gets(opt::LIST_META_CONTEXT, data, err::INVALID);
        session.gets(opt::SET_META_CONTEXT, data, err::INVALID);
    }
}

#[test]
fn options_without_data_refuse_data() {
    let mut session = Session::new(HandshakeSettings { tls: Tls::Offered, ..HandshakeSettings::default() });
    for what in [opt::LIST, opt::STARTTLS, opt::STRUCTURED_REPLY, opt::EXTENDED_HEADERS] {
        session.gets(what, b"x", err::INVALID);
    }
    assert_eq!(agreed(session.ask(opt::GO, &info_request("plain", &[])).1), ready());
}

#[test]
fn long_data_is_refused_without_buffering() {
    let mut session = Session::new(HandshakeSettings::default());
    for what in [opt::GO, opt::INFO, opt::SET_META_CONTEXT, opt::LIST_META_CONTEXT] {
        session.gets(what, &vec![0; OPTION_DATA_MOST + 1], err::TOO_BIG);
        session.gets(opt::LIST, b"x", err::INVALID);
    }
    let head = &option(opt::GO, &[])[..12];
    let greedy = [head, &u32::MAX.to_be_bytes()].concat();
    assert_eq!(session.send(&greedy), (vec![], HandshakeStep::Close), "longer than is ever skipped");
}

#[test]
fn negotiation_ends_after_too_many_options() {
    let mut session = Session::new(HandshakeSettings::default());
    for _ in 0..options_most(&session.exports) {
        session.gets(99, &[], err::UNSUP);
    }
    assert_eq!(session.ask(99, &[]), (vec![], HandshakeStep::Close));
}

/// `nbdinfo --list` queries each export on the same connection, which f52613e closed after 256 options.
#[test]
fn each_of_a_thousand_exports_can_be_queried() {
    let mut session = Session::new(HandshakeSettings::default());
    let export = session.exports[0].clone();
    session.exports = (0..1000).map(|number| Export { name: format!("disk{number}"), ..export.clone() }).collect();
    let mut list = option(opt::LIST, &[]);
    let (mut out, mut entries, mut full) = (Vec::new(), 0, 0);
    loop {
        let (consumed, step) = session.server.advance(&list, &session.exports, &mut out);
        assert!(out.len() < MAX_OUTPUT + 8300, "{} bytes at once", out.len());
        entries += replies(&out).iter().filter(|reply| reply.1 == rep::SERVER).count();
        (list, full) = (list.split_off(consumed), full + 1);
        if step == HandshakeStep::More {
            break;
        }
        out.clear();
    }
    assert!(entries == 1000 && full > 2, "{entries} exports in {full} pieces");
    assert_eq!(replies(&out).last().map(|reply| reply.1), Some(ACK));
    for number in 0..1000 {
        let name = format!("disk{number}");
        session.gets(opt::STRUCTURED_REPLY, &[], ACK);
        assert_eq!(
            session.ask(opt::LIST_META_CONTEXT, &queries(&name, &[])),
            (vec![rep::META_CONTEXT, ACK], HandshakeStep::More)
        );
        assert_eq!(session.ask(opt::INFO, &info_request(&name, &[])), (vec![rep::INFO, ACK], HandshakeStep::More));
    }
}

#[test]
fn a_client_that_reads_no_replies_gets_no_more() {
    let (exports, mut out) = (exports(), Vec::new());
    let options: Vec<u8> = (0..200).flat_map(|_| option(opt::INFO, &info_request("plain", &[1, 2, 3]))).collect();
    let sent = [&3u32.to_be_bytes()[..], &options].concat();
    let mut server = Handshake::new(HandshakeSettings::default());
    let (consumed, step) = server.advance(&sent, &exports, &mut out);
    assert!(step == HandshakeStep::Full && consumed < sent.len() && out.len() < MAX_OUTPUT + 8300);
}

#[test]
fn bytes_after_go_are_left_to_the_transmission_phase() {
    let bytes = [&3u32.to_be_bytes()[..], &option(opt::GO, &info_request("plain", &[])), b"request"].concat();
    let (consumed, step) = Handshake::new(HandshakeSettings::default()).advance(&bytes, &exports(), &mut vec![]);
    assert_eq!((consumed, agreed(step)), (bytes.len() - 7, ready()));
}
