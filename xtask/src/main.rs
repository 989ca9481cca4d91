//! The project's own chores. `cargo xtask` lists them.
//!
//! They are written in Rust so that they run wherever the project builds, and kept apart from the product so that
//! a plain build compiles none of them.

mod bench;
mod generate;
mod guest;
mod pages;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <chore>

  tidy               hold the house rules: who depends on whom, sizes of functions and files, heads of crates
  generate [--check] write the files that are made from the code (docs, what commands in them print, pictures,
                     manual pages, completions), or check them
  bench [CASE]...    Fathom against the installed fio, in pairs; the outcome is kept in perf/
  guest [WORD]...    the tests in a virtual machine (those whose names hold a word); guest -- COMMAND runs a command there
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["tidy"] => tidy::run(),
        ["generate"] => generate::run(false),
        ["generate", "--check"] => generate::run(true),
        ["bench", cases @ ..] => bench::run(cases),
        ["guest", "--", command @ ..] if !command.is_empty() => return ended(guest::command(command)),
        ["guest", words @ ..] => return ended(guest::test(words)),
        ["hold", device] => return ended(guest::hold(device)),
        ["digest", paths @ ..] => return ended(guest::digest(paths)),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    ended(outcome.map(|()| ExitCode::SUCCESS))
}

fn ended(outcome: anyhow::Result<ExitCode>) -> ExitCode {
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
