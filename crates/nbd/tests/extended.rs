//! Extended headers with lengths of 64 bits.

use std::io::{Read, Write};

use nbd::store::MemoryStore;

use crate::client::{BLOCK_STATUS, Client, EINVAL, READ, TRIM, WRITE, WRITE_ZEROES};
use crate::hosted::{Hosted, export};

const PAYLOAD_LEN: u16 = 1 << 5;
const SIZE: u64 = 1 << 62;

/// Starts a server with an export larger than any host.
fn vast() -> Hosted {
    Hosted::with(None, |config| {
        config.stores = vec![Box::new(MemoryStore::new(SIZE, 1 << 20))];
        config.exports[0].export = export("disk", SIZE);
    })
}

/// Sends a request whose reply has no data; returns its error number.
fn ask(client: &mut Client, command: u16, flags: u16, offset: u64, length: u64, payload: &[u8]) -> u32 {
    client
        .stream
        .write_all(&[header(command, flags, offset, length).as_slice(), payload].concat())
        .expect("a connection");
    let mut head = [0; 32];
    client.stream.read_exact(&mut head).expect("a reply");
    assert_eq!((&head[..6], &head[8..16]), (&[0x6e, 0x8a, 0x27, 0x8c, 0, 1][..], &77u64.to_be_bytes()[..]));
    let content = client.bytes(usize::from_be_bytes(head[24..].try_into().expect("eight bytes")));
    content.first_chunk().map_or(0, |error| u32::from_be_bytes(*error))
}

fn header(command: u16, flags: u16, offset: u64, length: u64) -> Vec<u8> {
    let mut bytes = 0x21e4_1c71u32.to_be_bytes().to_vec();
    bytes.extend_from_slice(&flags.to_be_bytes());
    bytes.extend_from_slice(&command.to_be_bytes());
    [77, offset, length].iter().for_each(|number: &u64| bytes.extend_from_slice(&number.to_be_bytes()));
    bytes
}

#[test]
fn ranges_beyond_four_gibibytes_do_not_overflow_counters() {
    let server = vast();
    let mut client = Client::connect_extended(&server.socket(), "disk");
    for _ in 0..5 {
        assert_eq!(ask(&mut client, TRIM, 0, 0, SIZE, &[]), 0);
        assert_eq!(ask(&mut client, WRITE_ZEROES, 0, 1, SIZE - 1, &[]), 0);
    }
    assert_eq!(server.end().exports[0].1.kinds[2].operations, 10);
}

#[test]
fn refuses_reads_longer_than_the_limit() {
    let server = vast();
    let mut client = Client::connect_extended(&server.socket(), "disk");
    let mut read = |offset, length| ask(&mut client, READ, 0, offset, length, &[]);
    assert_eq!([read(0, u64::MAX), read(u64::MAX, u64::MAX), read(0, 1 << 32)], [EINVAL; 3]);
    // While replies are unread.
    client.stream.write_all(&header(READ, 0, 0, 32 << 20)).expect("a connection");
    server.until(|shown| shown.exports[0].1.kinds[0].operations == 1);
    (0..4).for_each(|_| client.stream.write_all(&header(READ, 0, 0, u64::MAX)).expect("a connection"));
    client.bytes(32 + 8 + (32 << 20));
    server.until(|shown| shown.exports[0].1.kinds[0].errors == 7);
}

#[test]
fn skips_and_refuses_an_unexpected_payload() {
    let server = vast();
    let mut client = Client::connect_extended(&server.socket(), "disk");
    for command in [READ, TRIM, WRITE_ZEROES, BLOCK_STATUS, 99] {
        assert_eq!(ask(&mut client, command, PAYLOAD_LEN, 0, 12, b"no such data"), EINVAL, "{command}");
    }
    assert_eq!(ask(&mut client, WRITE, PAYLOAD_LEN, 0, 4, b"data"), 0);
}
