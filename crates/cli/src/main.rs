//! The `fathom` binary: words in, results out, an exit code at the end.
//!
//! This room puts the others together. It alone reads arguments, the environment and job files, talks to the
//! terminal, starts threads, hears signals and exits. Each command is a module whose first function reads as its
//! table of contents; what `run` and `fio` share is in `measure`.

mod aggregate;
mod args;
mod block;
mod board;
mod catalog;
mod compare;
mod completions;
mod crew;
mod diagnostics;
mod display;
mod doctor;
mod dump;
mod endpoint;
mod environment;
mod events;
mod exit;
mod explain;
mod exports;
mod fio;
mod gate;
mod grid;
mod growth;
mod home;
mod keep;
mod layout;
mod live;
mod logs;
mod man;
mod measure;
mod members;
mod metrics;
mod modelled;
mod onlookers;
mod options;
mod outputs;
mod overseer;
mod plan;
mod preview;
mod recall;
mod refusal;
mod report;
mod results;
mod retention;
mod run;
mod runs;
mod safety;
mod scope;
mod seeds;
mod serve;
mod signals;
mod sim;
mod source;
mod suite;
mod surroundings;
mod sweep;
mod terminal;
mod trial;
mod words;
mod worker;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let program = if words.is_empty() { String::new() } else { words.remove(0) };
    let called_fio = Path::new(&program).file_name().is_some_and(|name| name == "fio");
    let exit = match words.first().map(String::as_str) {
        _ if called_fio => fio::command(&words),
        Some("fio") => fio::command(&words[1..]),
        _ => args::command(&program, &words),
    };
    exit.into()
}
