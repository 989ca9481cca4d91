//! Every option, every error, and that it does not matter how the bytes arrive.

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

/// What a client says after its flags.
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

fn inquiry(name: &str, requests: &[u16]) -> Vec<u8> {
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

/// A client that has said its flags, and the server it talks to.
struct Talk {
    server: Handshake,
    exports: Vec<Export>,
}

impl Talk {
    fn new(settings: HandshakeSettings) -> Self {
        Self::with_flags(settings, 3)
    }

    fn with_flags(settings: HandshakeSettings, flags: u32) -> Self {
        let mut talk = Self { server: Handshake::new(settings), exports: exports() };
        assert_eq!(talk.say(&flags.to_be_bytes()), (vec![], HandshakeStep::More));
        talk
    }

    /// The kinds and data of the replies, and what is to be done next.
    fn say(&mut self, bytes: &[u8]) -> (Vec<(u32, u32, Vec<u8>)>, HandshakeStep) {
        let mut out = Vec::new();
        let (consumed, step) = self.server.advance(bytes, &self.exports, &mut out);
        assert!(consumed == bytes.len() || step == HandshakeStep::Close, "{consumed} of {} bytes", bytes.len());
        (replies(&out), step)
    }

    /// The kinds of the replies to one option, all of which must be to it.
    fn ask(&mut self, what: u32, data: &[u8]) -> (Vec<u32>, HandshakeStep) {
        let (replies, step) = self.say(&option(what, data));
        assert!(replies.iter().all(|reply| reply.0 == what));
        (replies.iter().map(|reply| reply.1).collect(), step)
    }

    /// That an option is answered with one reply and haggling goes on.
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
fn what_does_not_begin_as_an_option_closes_the_connection() {
    let mut talk = Talk::new(HandshakeSettings::default());
    assert_eq!(talk.say(b"IHAVEOPX"), (vec![], HandshakeStep::Close));
    assert_eq!(talk.say(&option(opt::LIST, &[])), (vec![], HandshakeStep::Close), "it stays closed");
}

#[test]
fn unknown_options_are_refused_and_their_data_is_read_over() {
    let mut talk = Talk::new(HandshakeSettings::default());
    for unknown in [0, 4, 12, u32::MAX] {
        talk.gets(unknown, &[7; 300], err::UNSUP);
    }
    talk.gets(99, &vec![7; 1 << 20], err::UNSUP);
    assert_eq!(talk.ask(opt::LIST, &[]).1, HandshakeStep::More);
}

#[test]
fn an_export_is_had_by_its_name() {
    for (no_zeroes, length) in [(false, 134), (true, 10)] {
        let mut server = Talk::with_flags(HandshakeSettings::default(), 1 | u32::from(no_zeroes) << 1).server;
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
fn a_wrong_name_without_a_way_to_say_so_closes() {
    let names = [&b"absent"[..], b"plain\0", b"\xff", &[b'x'; 4097]];
    for name in names {
        let mut talk = Talk::new(HandshakeSettings::default());
        assert_eq!(talk.say(&option(opt::EXPORT_NAME, name)), (vec![], HandshakeStep::Close));
    }
}

#[test]
fn a_client_without_fixed_newstyle_has_one_option() {
    let mut server = Talk::with_flags(HandshakeSettings::default(), 0).server;
    let (_, step) = server.advance(&option(opt::EXPORT_NAME, b""), &exports(), &mut Vec::new());
    assert_eq!(agreed(step), ready());
    for what in [opt::LIST, opt::GO, opt::ABORT, 77] {
        let mut talk = Talk::with_flags(HandshakeSettings::default(), 2);
        assert_eq!(talk.ask(what, &[]), (vec![], HandshakeStep::Close));
    }
}

#[test]
fn leaving_is_acknowledged_whatever_is_said_along() {
    for data in [&b""[..], b"so long"] {
        assert_eq!(Talk::new(HandshakeSettings::default()).ask(opt::ABORT, data), (vec![ACK], HandshakeStep::Close));
    }
}

#[test]
fn the_list_has_names_and_descriptions() {
    let mut talk = Talk::new(HandshakeSettings::default());
    let (replies, step) = talk.say(&option(opt::LIST, &[]));
    let first = [counted(b"plain"), b"first of all".to_vec()].concat();
    let second = counted("größe".as_bytes());
    let expected = [(3, rep::SERVER, first), (3, rep::SERVER, second), (3, ACK, vec![])];
    assert_eq!((replies, step), (expected.to_vec(), HandshakeStep::More));
    talk.gets(opt::LIST, b"x", err::INVALID);
}

#[test]
fn info_tells_what_is_asked_and_go_goes() {
    let mut talk = Talk::new(HandshakeSettings::default());
    let all = inquiry("plain", &[info::NAME, info::DESCRIPTION, info::BLOCK_SIZE, 3, 77, info::EXPORT]);
    let (replies, step) = talk.say(&option(opt::INFO, &all));
    assert_eq!(step, HandshakeStep::More);
    let data: Vec<Vec<u8>> = replies.iter().map(|reply| reply.2.clone()).collect();
    assert_eq!(data[0], [&[0, 0], &(1u64 << 40).to_be_bytes()[..], &[0, 5]].concat());
    assert_eq!(data[1], b"\0\x01plain");
    assert_eq!(data[2], b"\0\x02first of all");
    assert_eq!(data[3], [0, 3, 0, 0, 0, 1, 0, 0, 16, 0, 2, 0, 0, 0]);
    assert_eq!(replies.iter().map(|reply| reply.1).collect::<Vec<_>>(), [3, 3, 3, 3, ACK]);
    let (again, step) = talk.say(&option(opt::GO, &all));
    assert_eq!(again.iter().map(|reply| &reply.2).collect::<Vec<_>>(), data.iter().collect::<Vec<_>>());
    assert_eq!(agreed(step), ready());
}

#[test]
fn the_empty_name_is_the_first_export_under_its_own_name() {
    let (replies, step) = Talk::new(HandshakeSettings::default()).say(&option(opt::GO, &inquiry("", &[info::NAME])));
    assert_eq!(replies[1].2, b"\0\x01plain");
    assert_eq!(agreed(step).export, 0);
    let mut none = Talk { exports: vec![], ..Talk::new(HandshakeSettings::default()) };
    none.gets(opt::GO, &inquiry("", &[]), err::UNKNOWN);
}

#[test]
fn a_wrong_name_is_unknown() {
    let mut talk = Talk::new(HandshakeSettings { style: ReplyStyle::Structured, ..HandshakeSettings::default() });
    talk.gets(opt::STRUCTURED_REPLY, &[], ACK);
    for what in [opt::INFO, opt::GO] {
        talk.gets(what, &inquiry("absent", &[info::BLOCK_SIZE]), err::UNKNOWN);
    }
    for what in [opt::LIST_META_CONTEXT, opt::SET_META_CONTEXT] {
        talk.gets(what, &queries("absent", &[ALLOCATION]), err::UNKNOWN);
    }
    assert_eq!(agreed(talk.ask(opt::GO, &inquiry("größe", &[])).1).export, 1);
}

#[test]
fn malformed_data_is_invalid() {
    let mut talk = Talk::new(HandshakeSettings::default());
    talk.gets(opt::STRUCTURED_REPLY, &[], ACK);
    let mut long = inquiry("plain", &[3]);
    long.push(0);
    let mut short = inquiry("plain", &[1, 3]);
    short.pop();
    let beyond = [&u32::MAX.to_be_bytes()[..], b"plain\0\0"].concat();
    let too_long = inquiry(&"x".repeat(4097), &[]);
    for data in [&b""[..], b"\0\0", &long, &short, &beyond, &too_long, &inquiry("a\0b", &[])] {
        talk.gets(opt::INFO, data, err::INVALID);
        talk.gets(opt::GO, data, err::INVALID);
    }
    let mut long = queries("plain", &[ALLOCATION]);
    long.push(0);
    let mut short = queries("plain", &[ALLOCATION]);
    short.pop();
    let many = [counted(b"plain"), u32::MAX.to_be_bytes().to_vec()].concat();
    let no_namespace = queries("plain", &[ALLOCATION, "allocation"]);
    for data in [&b""[..], &long, &short, &many, &no_namespace, &queries("plain", &[""]), &queries("plain", &[":x"])] {
        talk.gets(opt::LIST_META_CONTEXT, data, err::INVALID);
        talk.gets(opt::SET_META_CONTEXT, data, err::INVALID);
    }
}

#[test]
fn options_without_data_refuse_data() {
    let mut talk = Talk::new(HandshakeSettings { tls: Tls::Offered, ..HandshakeSettings::default() });
    for what in [opt::LIST, opt::STARTTLS, opt::STRUCTURED_REPLY, opt::EXTENDED_HEADERS] {
        talk.gets(what, b"x", err::INVALID);
    }
    assert_eq!(agreed(talk.ask(opt::GO, &inquiry("plain", &[])).1), ready());
}

#[test]
fn long_data_is_refused_without_being_held() {
    let mut talk = Talk::new(HandshakeSettings::default());
    for what in [opt::GO, opt::INFO, opt::SET_META_CONTEXT, opt::LIST_META_CONTEXT] {
        talk.gets(what, &vec![0; OPTION_DATA_MOST + 1], err::TOO_BIG);
        talk.gets(opt::LIST, b"x", err::INVALID);
    }
    let head = &option(opt::GO, &[])[..12];
    let greedy = [head, &u32::MAX.to_be_bytes()].concat();
    assert_eq!(talk.say(&greedy), (vec![], HandshakeStep::Close), "what is longer than is read over");
}

#[test]
fn haggling_without_end_is_ended() {
    let mut talk = Talk::new(HandshakeSettings::default());
    for _ in 0..options_most(&talk.exports) {
        talk.gets(99, &[], err::UNSUP);
    }
    assert_eq!(talk.ask(99, &[]), (vec![], HandshakeStep::Close));
}

/// `nbdinfo --list` asks for each export on the same connection: f52613e closed it after 256 options.
#[test]
fn each_of_a_thousand_exports_can_be_asked_about() {
    let mut talk = Talk::new(HandshakeSettings::default());
    let export = talk.exports[0].clone();
    talk.exports = (0..1000).map(|number| Export { name: format!("disk{number}"), ..export.clone() }).collect();
    let mut list = option(opt::LIST, &[]);
    let (mut out, mut entries, mut full) = (Vec::new(), 0, 0);
    loop {
        let (consumed, step) = talk.server.advance(&list, &talk.exports, &mut out);
        assert!(out.len() < OUTPUT_MOST + 8300, "{} bytes at once", out.len());
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
        talk.gets(opt::STRUCTURED_REPLY, &[], ACK);
        assert_eq!(
            talk.ask(opt::LIST_META_CONTEXT, &queries(&name, &[])),
            (vec![rep::META_CONTEXT, ACK], HandshakeStep::More)
        );
        assert_eq!(talk.ask(opt::INFO, &inquiry(&name, &[])), (vec![rep::INFO, ACK], HandshakeStep::More));
    }
}

#[test]
fn a_client_that_reads_no_replies_gets_no_more_of_them() {
    let (exports, mut out) = (exports(), Vec::new());
    let options: Vec<u8> = (0..200).flat_map(|_| option(opt::INFO, &inquiry("plain", &[1, 2, 3]))).collect();
    let said = [&3u32.to_be_bytes()[..], &options].concat();
    let mut server = Handshake::new(HandshakeSettings::default());
    let (consumed, step) = server.advance(&said, &exports, &mut out);
    assert!(step == HandshakeStep::Full && consumed < said.len() && out.len() < OUTPUT_MOST + 8300);
}

#[test]
fn what_follows_go_is_left_to_the_transmission() {
    let bytes = [&3u32.to_be_bytes()[..], &option(opt::GO, &inquiry("plain", &[])), b"request"].concat();
    let (consumed, step) = Handshake::new(HandshakeSettings::default()).advance(&bytes, &exports(), &mut vec![]);
    assert_eq!((consumed, agreed(step)), (bytes.len() - 7, ready()));
}
