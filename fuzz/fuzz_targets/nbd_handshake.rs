//! Feeds any bytes of a client to the handshake of an NBD server. The answers do not depend on how the bytes are split,
//! at most one option is buffered, and nothing panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbd::wire::handshake::{Handshake, HandshakeSettings, HandshakeStep, OPTION_DATA_MOST, Tls};
use nbd::wire::{Export, ExportBlockSizes, ReplyStyle, TransmissionFlags};

/// A valid start, so that the fuzzer does not have to find it.
const CLIENT_FLAGS: [u8; 4] = [0, 0, 0, 3];

fuzz_target!(|bytes: &[u8]| {
    let [choice, piece, input @ ..] = bytes else { return };
    let settings = HandshakeSettings {
        tls: [Tls::Off, Tls::Offered, Tls::Required][usize::from(choice % 3)],
        style: [ReplyStyle::Simple, ReplyStyle::Structured, ReplyStyle::Extended][usize::from(choice / 3 % 3)],
        insist_on_block_sizes: choice / 9 % 2 == 1,
    };
    let input = if choice / 18 % 2 == 1 { input.to_vec() } else { [&CLIENT_FLAGS, input].concat() };
    let at_once = answers(settings, &input, input.len().max(1));
    assert_eq!(at_once, answers(settings, &input, usize::from(*piece) + 1));
});

fn answers(settings: HandshakeSettings, input: &[u8], piece: usize) -> (Vec<u8>, usize, Vec<HandshakeStep>) {
    let exports = ["", "b"].map(|name| Export {
        name: name.into(),
        description: "a disk".into(),
        size: 1 << 30,
        flags: TransmissionFlags::SEND_DF,
        block: ExportBlockSizes { minimum: 512, ..ExportBlockSizes::DEFAULT },
    });
    let (mut server, mut out, mut steps) = (Handshake::new(settings), Vec::new(), Vec::new());
    let (mut begin, mut end) = (0, 0);
    loop {
        let (consumed, step) = server.advance(&input[begin..end], &exports, &mut out);
        begin += consumed;
        assert!(begin <= end && out.len() < 1 << 20);
        match step {
            HandshakeStep::More => assert!(end - begin < OPTION_DATA_MOST + 16),
            // The output is sent before the handshake continues; when it is full depends on the split of the input.
            HandshakeStep::Full => {}
            step => steps.push(step),
        }
        if matches!(step, HandshakeStep::Ready(_) | HandshakeStep::Close)
            || (step == HandshakeStep::More && end == input.len())
        {
            return (out, begin, steps);
        }
        if step == HandshakeStep::More {
            end = (end + piece).min(input.len());
        }
    }
}
