//! The `fathom` binary: words in, results out, an exit code at the end.
//!
//! This room puts the others together. It alone reads arguments, the environment and job files, talks to the
//! terminal, starts threads, hears signals and exits. Each command is a module whose first function reads as its
//! table of contents; what `run` and `fio` share is in `measure`.

mod aggregate;
mod args;
mod argv;
mod block;
mod board;
mod capacity;
mod catalog;
mod compare;
mod completions;
mod crew;
mod device_state;
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
mod input;
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
mod probe;
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
mod shutdown;
mod signals;
mod silence;
mod sim;
mod source;
mod suite;
mod surroundings;
mod sweep;
mod terminal;
mod trial;
mod words;
mod worker;

use std::ffi::OsString;
use std::panic::catch_unwind;
use std::path::Path;

fn main() -> ! {
    engine::Clock::prepare();
    shutdown::report_panics();
    // The hook has told of a panic by then.
    shutdown::leave(catch_unwind(command).unwrap_or(exit::Exit::Environment))
}

fn command() -> exit::Exit {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let program = if words.is_empty() { OsString::new() } else { words.remove(0) };
    let called_fio = Path::new(&program).file_name().is_some_and(|name| name == "fio");
    shutdown::panic_if_asked("main");
    match words.first() {
        _ if called_fio => fio::command(&words),
        Some(word) if word == "fio" => fio::command(&words[1..]),
        _ => args::command(&program, &words),
    }
}
