//! Feeds any bytes of an object store to the reader of its answers. The result is a head, a body or an error,
//! independent of how the bytes are split, and nothing panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use object_wire::{ResponseError, ResponseHead, ResponseReader, ResponseStep, short_message};

/// A valid start, so that the fuzzer does not have to find it.
const STATUS: &[u8] = b"HTTP/1.1 200 OK\r\n";

fuzz_target!(|bytes: &[u8]| {
    let [choice, piece, input @ ..] = bytes else { return };
    let input = if choice % 2 == 0 { input.to_vec() } else { [STATUS, input].concat() };
    let at_once = read(&input, input.len().max(1));
    assert_eq!(at_once, read(&input, usize::from(*piece) + 1));
    if let Ok((_, body)) = at_once {
        let message = short_message(&body);
        assert!(!message.chars().any(char::is_control));
    }
});

fn read(input: &[u8], piece: usize) -> Result<(ResponseHead, Vec<u8>), ResponseError> {
    let mut reader = ResponseReader::new();
    let (mut head, mut body) = (ResponseHead::default(), Vec::new());
    for part in input.chunks(piece) {
        let mut at = 0;
        loop {
            let (consumed, step) = reader.advance(&part[at..])?;
            at += consumed;
            assert!(at <= part.len());
            match step {
                ResponseStep::More => break,
                ResponseStep::Head(found) => {
                    assert!((200..600).contains(&found.status));
                    head = found;
                }
                ResponseStep::Body(bytes) => body.extend_from_slice(&part[at - bytes..at]),
                ResponseStep::End => return Ok((head, body)),
            }
        }
        assert_eq!(at, part.len());
    }
    reader.close().map(|()| (head, body))
}
