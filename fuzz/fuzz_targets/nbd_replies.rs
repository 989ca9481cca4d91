//! Any bytes are what a server of network block devices says to a client, during the handshake and after it: they give an
//! export, a list, replies or an error, in the same way however they arrive, and never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbd::wire::client::{ClientError, ClientHandshake, ClientStep, REPLY_HEADER_MOST, ServerReply, Wishes};

/// What is said to begin with, so that luck is not needed for it.
const GREETING: [u8; 18] = *b"NBDMAGICIHAVEOPT\0\x03";

fuzz_target!(|bytes: &[u8]| {
    let [choice, piece, said @ ..] = bytes else { return };
    if choice % 2 == 0 {
        return replies(said, choice / 2 % 2 == 0);
    }
    let bit = |bit: u8| choice >> bit & 1 == 1;
    let client = if bit(1) {
        ClientHandshake::list(bit(2))
    } else {
        ClientHandshake::new(Wishes { export: "x".into(), tls: bit(2), structured: bit(3), allocation: bit(4) })
    };
    let said = if bit(5) { said.to_vec() } else { [&GREETING, said].concat() };
    let whole = handshake(client.clone(), &said, said.len().max(1));
    assert_eq!(whole, handshake(client, &said, usize::from(*piece) + 1));
});

type Outcome = (Vec<u8>, usize, Result<ClientStep, ClientError>);

fn handshake(mut client: ClientHandshake, said: &[u8], piece: usize) -> Outcome {
    let mut out = Vec::new();
    let (mut begin, mut end) = (0, 0);
    loop {
        let step = match client.advance(&said[begin..end], &mut out) {
            Err(error) => {
                assert!(!error.to_string().contains(char::is_control));
                // How far it had come is not told then.
                return (out, 0, Err(error));
            }
            Ok((consumed, step)) => {
                begin += consumed;
                assert!(begin <= end);
                step
            }
        };
        match step {
            ClientStep::StartTls => {}
            ClientStep::More if end < said.len() => end = (end + piece).min(said.len()),
            step => return (out, begin, Ok(step)),
        }
    }
}

/// A stream of replies, as a client goes through it.
fn replies(mut said: &[u8], structured: bool) {
    while let Ok(Some((consumed, reply))) = ServerReply::decode(said, structured) {
        assert!((16..=REPLY_HEADER_MOST).contains(&consumed) && consumed <= said.len());
        assert_eq!(ServerReply::decode(&said[..consumed - 1], structured), Ok(None));
        if let Ok(place) = reply.part.place(1 << 20, 1 << 20) {
            assert!(place.start <= place.end && place.end <= 1 << 20);
        }
        let payload = usize::try_from(reply.payload(64)).unwrap_or(usize::MAX);
        said = said.get(consumed.saturating_add(payload)..).unwrap_or_default();
    }
}
