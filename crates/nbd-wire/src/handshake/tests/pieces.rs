//! The result does not depend on how bytes are split.

use units::random::Random;

use super::*;

/// Returns valid and invalid options of all kinds.
fn random_options(random: &mut Random) -> Vec<u8> {
    let mut bytes = 3u32.to_be_bytes().to_vec();
    for _ in 0..random.below(12) {
        let names = ["plain", "größe", "", "unknown"];
        let name = names[random.below(4) as usize];
        let asked = [ALLOCATION, "base:", "x:y", "nonsense"];
        let asked = &asked[random.below(4) as usize..];
        let mut data = match random.below(5) {
            0 => info_request(name, &[3, 1]),
            1 => queries(name, asked),
            2 => vec![0; random.below(1 << 17) as usize],
            _ => vec![],
        };
        if random.below(8) == 0 {
            data.truncate(random.below(data.len() as u64 + 1) as usize);
        }
        let what = if random.below(3) == 0 { random.below(13) as u32 } else { 3 + random.below(9) as u32 };
        bytes.extend_from_slice(&option(what, &data));
    }
    bytes
}

/// Presents `bytes` in pieces; returns the output, the number of bytes consumed and the steps.
fn in_pieces(
    settings: HandshakeSettings,
    bytes: &[u8],
    mut piece: impl FnMut() -> usize,
) -> (Vec<u8>, usize, Vec<HandshakeStep>) {
    let (mut server, mut out, mut steps) = (Handshake::new(settings), Vec::new(), Vec::new());
    let (mut begin, mut end) = (0, 0);
    loop {
        let (consumed, step) = server.advance(&bytes[begin..end], &exports(), &mut out);
        begin += consumed;
        assert!(end - begin <= OPTION_DATA_MOST + 16 || step != HandshakeStep::More, "{} bytes buffered", end - begin);
        match step {
            HandshakeStep::More if end == bytes.len() => return (out, begin, steps),
            HandshakeStep::More => end = (end + 1 + piece()).min(bytes.len()),
            HandshakeStep::Full => {}
            step => steps.push(step),
        }
        if matches!(step, HandshakeStep::Ready(_) | HandshakeStep::Close) {
            return (out, begin, steps);
        }
    }
}

#[test]
fn the_result_does_not_depend_on_how_bytes_are_split() {
    for seed in 0..100 {
        let mut random = Random::new(seed, 0);
        let settings = HandshakeSettings {
            tls: [Tls::Off, Tls::Offered, Tls::Required][random.below(3) as usize],
            style: [ReplyStyle::Simple, ReplyStyle::Structured, ReplyStyle::Extended][random.below(3) as usize],
            insist_on_block_sizes: random.below(2) == 0,
        };
        let bytes = random_options(&mut random);
        let whole = in_pieces(settings, &bytes, || bytes.len());
        for most in [2, 30, 5000, 1 << 16] {
            let pieces = in_pieces(settings, &bytes, || random.below(most) as usize);
            assert_eq!(pieces, whole, "seed {seed}, pieces of up to {most} bytes");
        }
    }
}
