//! Files with random changes give offers or a problem, and never a panic.

use offers::{DatedFile, OfferOptions, OfferReader};
use units::random::Random;

use crate::common::ALL;

const PER_FILE: u64 = 400;

#[test]
fn changed_files_give_offers_or_a_problem() {
    let mut read = 0;
    for (stream, (name, file)) in ALL.iter().enumerate() {
        let mut random = Random::new(7, stream as u64);
        for _ in 0..PER_FILE {
            let changed = change(file, &mut random);
            let mut reader = OfferReader::new(OfferOptions::default());
            match reader.read("x", changed.as_slice()).and_then(|_| reader.finish()) {
                Ok(list) => {
                    read += 1;
                    let mut dated = DatedFile::new(list.provider);
                    if dated.renew(&list, "2026-01-05").is_ok() {
                        assert_eq!(DatedFile::parse(list.provider, "x", &dated.text()).as_ref(), Ok(&dated), "{name}");
                    }
                }
                Err(problem) => {
                    assert!(!problem.what.is_empty() && problem.help.is_some(), "{name}: {problem}");
                    assert!(!problem.what.contains(char::is_control), "{name}: {problem:?}");
                }
            }
        }
    }
    // Most changes of a name or a number leave a file of the format.
    assert!(read > PER_FILE, "{read}");
}

/// Changes, removes, repeats or inserts some bytes.
fn change(file: &[u8], random: &mut Random) -> Vec<u8> {
    const PIECES: [&[u8]; 8] = [b"\"", b"{", b"]", b",", b"null", b"-1e308", b"\xff", b"\\u0000"];
    let mut changed = file.to_vec();
    for _ in 0..=random.below(3) {
        let length = changed.len() as u64;
        let at = random.below(length.max(1)) as usize;
        let end = (at + random.below(40) as usize).min(changed.len());
        match random.below(6) {
            0 => changed.truncate(at),
            1 => drop(changed.drain(at..end)),
            2 => {
                let part = changed[at..end].to_vec();
                changed.splice(at..at, part);
            }
            3 => {
                let piece = PIECES[random.below(PIECES.len() as u64) as usize];
                changed.splice(at..at, piece.iter().copied());
            }
            _ => {
                if let Some(byte) = changed.get_mut(at) {
                    *byte = random.below(256) as u8;
                }
            }
        }
    }
    changed
}
