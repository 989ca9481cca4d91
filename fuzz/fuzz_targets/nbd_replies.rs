//! Feeds any bytes of an NBD server to the client, during the handshake and after it. The result is an export, a list,
//! replies or an error, independent of how the bytes are split, and nothing panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbd::wire::client::{ClientError, ClientHandshake, ClientStep, REPLY_HEADER_MOST, ServerReply, ClientOptions};

/// A valid start, so that the fuzzer does not have to find it.
const GREETING: [u8; 18] = *b"NBDMAGICIHAVEOPT\0\x03";

fuzz_target!(|bytes: &[u8]| {
    let [choice, piece, input @ ..] = bytes else { return };
    if choice % 2 == 0 {
        return replies(input, choice / 2 % 2 == 0);
    }
    let bit = |bit: u8| choice >> bit & 1 == 1;
    let client = if bit(1) {
        ClientHandshake::list(bit(2))
    } else {
        ClientHandshake::new(ClientOptions { export: "x".into(), tls: bit(2), structured: bit(3), allocation: bit(4) })
    };
    let input = if bit(5) { input.to_vec() } else { [&GREETING, input].concat() };
    let at_once = handshake(client.clone(), &input, input.len().max(1));
    assert_eq!(at_once, handshake(client, &input, usize::from(*piece) + 1));
});

type Outcome = (Vec<u8>, usize, Result<ClientStep, ClientError>);

fn handshake(mut client: ClientHandshake, input: &[u8], piece: usize) -> Outcome {
    let mut out = Vec::new();
    let (mut begin, mut end) = (0, 0);
    loop {
        let step = match client.advance(&input[begin..end], &mut out) {
            Err(error) => {
                assert!(!error.to_string().contains(char::is_control));
                // The position of an error depends on the split.
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
            ClientStep::More if end < input.len() => end = (end + piece).min(input.len()),
            step => return (out, begin, Ok(step)),
        }
    }
}

/// Decodes a stream of replies as a client does.
fn replies(mut input: &[u8], structured: bool) {
    while let Ok(Some((consumed, reply))) = ServerReply::decode(input, structured) {
        assert!((16..=REPLY_HEADER_MOST).contains(&consumed) && consumed <= input.len());
        assert_eq!(ServerReply::decode(&input[..consumed - 1], structured), Ok(None));
        if let Ok(place) = reply.part.place(1 << 20, 1 << 20) {
            assert!(place.start <= place.end && place.end <= 1 << 20);
        }
        let payload = usize::try_from(reply.payload(64)).unwrap_or(usize::MAX);
        input = input.get(consumed.saturating_add(payload)..).unwrap_or_default();
    }
}
