//! Any bytes are what a client says to a server of network block devices: they are answered or the connection is closed,
//! in the same way however they arrive, with no more than one option held back, and never with a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use nbd::wire::handshake::{Handshake, HandshakeSettings, HandshakeStep, OPTION_DATA_MOST, Tls};
use nbd::wire::{Export, ExportBlockSizes, ReplyStyle, TransmissionFlags};

/// What is said to begin with, so that luck is not needed for it.
const CLIENT_FLAGS: [u8; 4] = [0, 0, 0, 3];

fuzz_target!(|bytes: &[u8]| {
    let [choice, piece, said @ ..] = bytes else { return };
    let settings = HandshakeSettings {
        tls: [Tls::Off, Tls::Offered, Tls::Required][usize::from(choice % 3)],
        style: [ReplyStyle::Simple, ReplyStyle::Structured, ReplyStyle::Extended][usize::from(choice / 3 % 3)],
        insist_on_block_sizes: choice / 9 % 2 == 1,
    };
    let said = if choice / 18 % 2 == 1 { said.to_vec() } else { [&CLIENT_FLAGS, said].concat() };
    let whole = answers(settings, &said, said.len().max(1));
    assert_eq!(whole, answers(settings, &said, usize::from(*piece) + 1));
});

fn answers(settings: HandshakeSettings, said: &[u8], piece: usize) -> (Vec<u8>, usize, Vec<HandshakeStep>) {
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
        let (consumed, step) = server.advance(&said[begin..end], &exports, &mut out);
        begin += consumed;
        assert!(begin <= end && out.len() < 1 << 20);
        match step {
            HandshakeStep::More => assert!(end - begin < OPTION_DATA_MOST + 16),
            // What was written is sent before more is said; when depends on how much arrives at once.
            HandshakeStep::Full => {}
            step => steps.push(step),
        }
        if matches!(step, HandshakeStep::Ready(_) | HandshakeStep::Close)
            || (step == HandshakeStep::More && end == said.len())
        {
            return (out, begin, steps);
        }
        if step == HandshakeStep::More {
            end = (end + piece).min(said.len());
        }
    }
}
