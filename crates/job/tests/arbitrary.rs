//! Random input yields jobs or diagnostics and never a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use job::{Dialect, parse_command_line, parse_file_text, table::OPTIONS};
use units::{Place, random::Random};

use crate::support::World;

/// Number of texts per test; `fuzz/` searches for longer.
const CASES: u64 = 4000;

/// Pieces of values and lines.
const PIECES: &[&str] = &[
    "=",
    "=",
    "=",
    "\n",
    "\n",
    "\n[",
    "]\n",
    "[global]\n",
    "[a]\n",
    "include f",
    ",",
    ":",
    "-",
    "/",
    "%",
    "z",
    "k",
    "KiB",
    "m",
    "ms",
    "1",
    "0",
    "4096",
    "0x",
    "0xff",
    "-1",
    "18446744073709551615",
    "9223372036854775807",
    "99999999999999999999",
    "1.5",
    "1e9",
    "NaN",
    "inf",
    "%o",
    "\"",
    "'",
    "\\:",
    ";",
    "#",
    " ",
    "\t",
    "\r",
    "${",
    "}",
    "${A}",
    "$ncpus",
    "$mb_memory",
    "*",
    "(",
    ")",
    "é",
    "\u{3000}",
    "\u{fffd}",
    "\0",
    "zipf",
    "zoned",
    "randrw",
    "io_uring",
    "null",
    "psync",
    "1000",
];

fn text(random: &mut Random) -> String {
    let length = random.below(24);
    (0..length).map(|_| piece(random)).collect()
}

fn piece(random: &mut Random) -> String {
    match random.below(8) {
        0..3 => OPTIONS[random.below(OPTIONS.len() as u64) as usize].name.to_owned(),
        7 => char::from_u32(random.below(0x11_0000) as u32).unwrap_or('?').to_string(),
        _ => PIECES[random.below(PIECES.len() as u64) as usize].to_owned(),
    }
}

/// Returns a random option with a random value.
fn option(random: &mut Random) -> String {
    format!("{}={}\n", OPTIONS[random.below(OPTIONS.len() as u64) as usize].name, text(random).replace('\n', ""))
}

fn check(seed: u64, input: &str, read: impl FnOnce()) {
    let outcome = catch_unwind(AssertUnwindSafe(read));
    assert!(outcome.is_ok(), "seed {seed}: {input:?}");
}

/// Reports whether a place lies within its line.
fn is_within(place: &Place) -> bool {
    place.line > 0 && place.column > 0 && place.column - 1 + place.length <= place.text.chars().count()
}

#[test]
fn random_text_never_panics() {
    let world = World::default().with_file("f", "bs=4k\n").with_variable("A", "1");
    for seed in 0..CASES {
        let mut random = Random::new(seed, 0);
        let lines: String = (0..random.below(6)).map(|_| option(&mut random)).collect();
        let input = format!("[a]\n{lines}{}", text(&mut random));
        check(seed, &input, || {
            for dialect in [Dialect::Fio, Dialect::Strict] {
                let parsed = parse_file_text("x", input.as_bytes(), dialect, &world);
                assert!(!parsed.value.jobs.is_empty() || !parsed.diagnostics.is_empty());
                assert!(parsed.diagnostics.iter().filter_map(|d| d.place.as_deref()).all(is_within));
            }
        });
    }
}

#[test]
fn random_bytes_never_panic() {
    for seed in 0..CASES {
        let mut random = Random::new(seed, 1);
        let mut bytes = vec![0; random.below(64) as usize];
        random.fill(&mut bytes);
        check(seed, &format!("{bytes:?}"), || {
            let parsed = parse_file_text("x", &bytes, Dialect::Fio, &World::default());
            assert!(!parsed.value.jobs.is_empty() || !parsed.diagnostics.is_empty());
        });
    }
}

#[test]
fn random_arguments_never_panic() {
    let world = World::default().with_file("f", "[a]\nbs=4k\n");
    for seed in 0..CASES {
        let mut random = Random::new(seed, 2);
        let dashes = |random: &mut Random| ["--", "-", "", "--name="][random.below(4) as usize];
        let words: Vec<String> =
            (0..random.below(8)).map(|_| format!("{}{}", dashes(&mut random), text(&mut random))).collect();
        check(seed, &words.join(" "), || {
            for dialect in [Dialect::Fio, Dialect::Strict] {
                let parsed = parse_command_line(&words, dialect, &world);
                assert!(parsed.diagnostics.iter().filter_map(|d| d.place.as_deref()).all(is_within));
            }
        });
    }
}
