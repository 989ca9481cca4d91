//! The result does not depend on how bytes are split, and invalid bytes never cause a panic.

use units::random::Random;

use super::*;

/// Returns a successful handshake with a few garbled bytes.
fn garbled(random: &mut Random) -> Vec<u8> {
    let mut sent = [
        greeting(3),
        reply(opt::STRUCTURED_REPLY, rep::ACK, &[]),
        reply(opt::SET_META_CONTEXT, rep::META_CONTEXT, b"\0\0\0\x05base:allocation"),
        reply(opt::SET_META_CONTEXT, rep::ACK, &[]),
        reply(opt::GO, rep::INFO, &size_and_flags()),
        reply(opt::GO, rep::INFO, &sizes(1, 4096, 1 << 20)),
        reply(opt::GO, rep::ACK, &[]),
    ]
    .concat();
    for _ in 0..random.below(4) {
        let place = random.below(sent.len() as u64) as usize;
        sent[place] = if random.below(2) == 0 { random.bits() as u8 } else { sent[place] ^ 1 << random.below(8) };
    }
    sent
}

/// Presents `sent` in pieces; returns the output, the number of bytes consumed and the result.
fn outcome(sent: &[u8], mut piece: impl FnMut() -> usize) -> (Vec<u8>, usize, Result<ClientStep, ClientError>) {
    let wishes = ClientOptions { structured: true, allocation: true, ..ClientOptions::default() };
    let (mut client, mut out) = (ClientHandshake::new(wishes), Vec::new());
    let (mut begin, mut end) = (0, 0);
    loop {
        match client.advance(&sent[begin..end], &mut out) {
            Ok((consumed, ClientStep::More)) if end < sent.len() => {
                begin += consumed;
                end = (end + 1 + piece()).min(sent.len());
            }
            Ok((consumed, step)) => return (out, begin + consumed, Ok(step)),
            Err(error) => return (out, 0, Err(error)),
        }
    }
}

#[test]
fn the_result_does_not_depend_on_how_the_servers_bytes_are_split() {
    let mut ready = 0;
    for seed in 0..3000 {
        let mut random = Random::new(seed, 2);
        let sent = garbled(&mut random);
        let whole = outcome(&sent, || sent.len());
        ready += u32::from(matches!(whole.2, Ok(ClientStep::Ready(_))));
        for most in [1, 40] {
            let pieces = outcome(&sent, || random.below(most) as usize);
            assert_eq!(pieces, whole, "seed {seed}, pieces of up to {most} bytes");
        }
    }
    assert!((100..2900).contains(&ready), "{ready} of 3000 succeeded");
}
