//! Tasks of the project; `cargo xtask` lists them.
//!
//! They are written in Rust, so that they run wherever the project builds, and are in a package of their own, so that a
//! plain build does not compile them.

mod bench;
mod bpf;
mod compatibility;
mod generate;
mod guest;
mod pages;
mod scratch;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <chore>

  tidy [--lists]     check the rules of the project; with --lists, print what a reader has to judge: types that may be
                     one concept, long functions and files, small files
  generate [--check] write the files that are made from the code (docs, what commands in them print, pictures), or
                     check them
  words              print every string that a user can read, with its place
  bench [CASE]...    Fathom against the installed fio, in pairs; the outcome is kept in xtask/bench/
  guest [WORD]...    the tests in a virtual machine: those whose names hold a word (`::` is in all), or without words the
                     short ones; guest -- COMMAND runs a command there
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["tidy"] => tidy::run(false),
        ["tidy", "--lists"] => tidy::run(true),
        ["words"] => tidy::words(),
        ["generate"] => generate::run(false),
        ["generate", "--check"] => generate::run(true),
        ["bench", cases @ ..] => bench::run(cases),
        ["guest", "--", command @ ..] if !command.is_empty() => return exit_code(guest::command(command)),
        ["guest", words @ ..] => return exit_code(guest::test(words)),
        ["hold", device] => return exit_code(guest::hold(device)),
        ["digest", paths @ ..] => return exit_code(guest::digest(paths)),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    exit_code(outcome.map(|()| ExitCode::SUCCESS))
}

fn exit_code(outcome: anyhow::Result<ExitCode>) -> ExitCode {
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
