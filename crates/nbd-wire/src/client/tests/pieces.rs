//! Whatever a server says, and however it arrives, the same comes of it, and never a panic.

use units::random::Random;

use super::*;

/// A handshake that goes well, with a few bytes that do not.
fn garbled(random: &mut Random) -> Vec<u8> {
    let mut said = [
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
        let place = random.below(said.len() as u64) as usize;
        said[place] = if random.below(2) == 0 { random.bits() as u8 } else { said[place] ^ 1 << random.below(8) };
    }
    said
}

/// What comes of it when `said` arrives in pieces.
fn outcome(said: &[u8], mut piece: impl FnMut() -> usize) -> (Vec<u8>, usize, Result<ClientStep, ClientError>) {
    let wishes = Wishes { structured: true, allocation: true, ..Wishes::default() };
    let (mut client, mut out) = (ClientHandshake::new(wishes), Vec::new());
    let (mut begin, mut end) = (0, 0);
    loop {
        match client.advance(&said[begin..end], &mut out) {
            Ok((consumed, ClientStep::More)) if end < said.len() => {
                begin += consumed;
                end = (end + 1 + piece()).min(said.len());
            }
            Ok((consumed, step)) => return (out, begin + consumed, Ok(step)),
            Err(error) => return (out, 0, Err(error)),
        }
    }
}

#[test]
fn it_does_not_matter_how_the_bytes_of_a_server_arrive() {
    let mut ready = 0;
    for seed in 0..3000 {
        let mut random = Random::new(seed, 2);
        let said = garbled(&mut random);
        let whole = outcome(&said, || said.len());
        ready += u32::from(matches!(whole.2, Ok(ClientStep::Ready(_))));
        for most in [1, 40] {
            let pieces = outcome(&said, || random.below(most) as usize);
            assert_eq!(pieces, whole, "seed {seed}, pieces of up to {most} bytes");
        }
    }
    assert!((100..2900).contains(&ready), "{ready} of 3000 went well");
}
