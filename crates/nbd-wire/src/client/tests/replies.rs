//! Valid and invalid replies.

use units::random::Random;

use crate::client::{Malformed, REPLY_HEADER_MOST, ReplyPart, ServerReply, StatusExtent};
use crate::{CommandFlags, Errno, Extent, NbdCommand, NbdRequest, ReplyStyle};

const READ: NbdRequest = NbdRequest {
    cookie: 0x0123_4567_89ab_cdef,
    command: NbdCommand::Read,
    flags: CommandFlags(0),
    offset: 4096,
    length: 512,
};

/// Decodes what the server's code has written.
fn read_back(structured: bool, write: impl FnOnce(ReplyStyle, &mut Vec<u8>)) -> (usize, ServerReply<'static>) {
    let mut out = Vec::new();
    write(if structured { ReplyStyle::Structured } else { ReplyStyle::Simple }, &mut out);
    let out = out.leak();
    let (consumed, reply) = ServerReply::decode(out, structured).unwrap().unwrap();
    for end in 0..consumed {
        assert_eq!(ServerReply::decode(&out[..end], structured), Ok(None), "{end} of {consumed} bytes");
    }
    assert_eq!(reply.cookie, READ.cookie);
    assert!(reply.last);
    (out.len() - consumed, reply)
}

#[test]
fn the_client_decodes_what_the_server_encodes() {
    for structured in [false, true] {
        let (rest, reply) = read_back(structured, |style, out| style.done(&READ, out));
        assert_eq!((rest, reply.part), (0, ReplyPart::Done));
        let (rest, reply) = read_back(structured, |style, out| style.data(&READ, out));
        let data = ReplyPart::Data { offset: 4096, length: 512 };
        assert_eq!((rest, reply.part), (0, if structured { data } else { ReplyPart::Done }));
        assert_eq!(reply.payload(if structured { 0 } else { 512 }), 512);
        let (rest, reply) = read_back(structured, |style, out| style.error(&READ, Errno::NoSpace, "full", out));
        let words: &[u8] = if structured { b"full" } else { b"" };
        assert_eq!((rest, reply.part), (0, ReplyPart::Failed { errno: Errno::NoSpace, offset: None, words }));
    }
    let extents = [Extent { length: 512, hole: true, zero: true }, Extent { length: 4096, hole: false, zero: false }];
    let (rest, reply) = read_back(true, |style, out| style.extents(&READ, 1, &extents, out));
    assert_eq!((rest, reply.part), (16, ReplyPart::Status { context: 1, extents: 2 }));
    assert_eq!(reply.payload(0), 16);
    assert_eq!(StatusExtent::decode([0, 0, 2, 0, 0, 0, 0, 3]), StatusExtent { length: 512, flags: 3 });
}

/// Encodes a chunk with cookie 5.
fn chunk(flags: u16, kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = 0x668e_33ef_u32.to_be_bytes().to_vec();
    bytes.extend_from_slice(&flags.to_be_bytes());
    bytes.extend_from_slice(&kind.to_be_bytes());
    bytes.extend_from_slice(&5u64.to_be_bytes());
    bytes.extend_from_slice(&(payload.len() as u32).to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

fn offset(offset: u64, rest: &[u8]) -> Vec<u8> {
    [&offset.to_be_bytes()[..], rest].concat()
}

#[test]
fn decodes_holes_offsets_and_unknown_errors() {
    let decode = |bytes: &'static [u8]| ServerReply::decode(bytes, true).unwrap().unwrap();
    let (consumed, reply) = decode(chunk(0, 2, &offset(8192, &[0, 0, 16, 0])).leak());
    assert_eq!((consumed, reply.last, reply.cookie), (32, false, 5));
    assert_eq!(reply.part, ReplyPart::Hole { offset: 8192, length: 4096 });
    assert_eq!(reply.part.place(4096, 8192), Ok(4096..8192));
    let error = [&b"\0\0\0\x05\0\x03bad"[..], &9u64.to_be_bytes(), b"more"].concat();
    let (consumed, reply) = decode(chunk(1, 0x8002, &error).leak());
    assert_eq!(consumed, 20 + error.len());
    assert_eq!(reply.part, ReplyPart::Failed { errno: Errno::Io, offset: Some(9), words: b"bad" });
    let (_, reply) = decode(chunk(1, 0xffff, b"\0\0\x10\0\0\0later").leak());
    assert_eq!(reply.part, ReplyPart::Failed { errno: Errno::Io, offset: None, words: b"" });
}

#[test]
fn reports_violations_of_the_protocol() {
    let wrong = |kind: u16, length: u32| Malformed::Length { kind, length };
    for (bytes, error) in [
        (b"\x25\x60\x95\x13".to_vec(), Malformed::Magic(0x2560_9513)),
        (chunk(1, 0, &[0]), wrong(0, 1)),
        (chunk(0, 0, &[]), Malformed::NotLast),
        (chunk(1, 1, &[0; 8]), wrong(1, 8)),
        (chunk(1, 2, &[1; 13]), wrong(2, 13)),
        (chunk(1, 2, &[0; 12]), wrong(2, 12)),
        (chunk(1, 5, &[0; 4]), wrong(5, 4)),
        (chunk(1, 5, &[0; 13]), wrong(5, 13)),
        (chunk(1, 6, &[0; 24]), Malformed::Type(6)),
        (chunk(1, 0x8001, &[1; 5]), wrong(0x8001, 5)),
        (chunk(1, 0x8001, b"\0\0\0\x05\0\x01"), wrong(0x8001, 6)),
        (chunk(1, 0x8002, &[0; 13]), wrong(0x8002, 13)),
        (chunk(1, 0x8002, b"\0\0\0\x05\0\x0112345678"), wrong(0x8002, 15 - 1)),
        (chunk(1, 0x8001, &[0; 6]), Malformed::NoError),
        (chunk(1, 0x8001, &vec![0; 1 << 16]), wrong(0x8001, 1 << 16)),
    ] {
        assert_eq!(ServerReply::decode(&bytes, true), Err(error));
    }
    assert_eq!(ServerReply::decode(&chunk(1, 0, &[]), false), Err(Malformed::Unasked));
}

#[test]
fn data_outside_the_request_is_rejected() {
    let place = |offset, length| ReplyPart::Data { offset, length }.place(1000, 100);
    assert_eq!(place(1000, 100), Ok(0..100));
    assert_eq!(place(1099, 1), Ok(99..100));
    for (offset, length) in [(999, 10), (1000, 101), (1100, 1), (u64::MAX, u32::MAX), (0, 1), (1001, 100)] {
        assert_eq!(place(offset, length), Err(Malformed::Outside { offset, length }));
    }
    assert_eq!(ReplyPart::Done.place(0, 0), Ok(0..0));
}

#[test]
fn invalid_bytes_cause_neither_panics_nor_overreads() {
    for seed in 0..20_000 {
        let mut random = Random::new(seed, 1);
        let kinds = [0, 1, 2, 5, 0x8001, 0x8002, 0x9999];
        let mut payload = vec![0; random.below(40) as usize];
        random.fill(&mut payload);
        if random.below(2) == 0 {
            payload.iter_mut().take(5).for_each(|byte| *byte = 0);
        }
        let bytes = chunk(random.below(2) as u16, kinds[random.below(7) as usize], &payload);
        if let Ok(Some((consumed, reply))) = ServerReply::decode(&bytes, true) {
            let whole = consumed as u64 + reply.payload(0);
            assert!(consumed <= REPLY_HEADER_MOST && whole == bytes.len() as u64, "seed {seed}: {reply:?}");
        }
    }
}
