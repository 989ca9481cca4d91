//! The `fathom` binary.
//!
//! This crate puts the others together. It alone reads arguments, the environment and job files, prints, handles signals
//! and exits. Each command is a module whose first function reads as its table of contents; the runners that commands use
//! are created in `runners`.

mod args;
mod argv;
mod block;
mod catalog;
mod commands;
mod compare;
mod completions;
mod diagnostics;
mod display;
mod doctor;
mod dump;
mod exit;
mod explain;
mod fio;
mod gate;
mod home;
mod input;
mod input_file;
mod man;
mod observers;
mod options;
mod outputs;
mod parallel;
mod plan;
mod refusal;
mod report;
mod retention;
mod run;
mod run_argument;
mod runners;
mod runs;
mod save;
mod serve;
mod shutdown;
mod signals;
mod sim;
mod source;
mod suite;
mod sweep;
mod terminal;
mod trial;
mod usage_error;

use std::ffi::OsString;
use std::panic::catch_unwind;
use std::path::Path;

fn main() -> ! {
    engine::MonotonicClock::prepare();
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
        _ => commands::command(&program, &words),
    }
}
