//! The programs `fathom` and `fathom-fleet`: options, terminal, signals, files, exit codes.
//!
//! It is a library so that the two programs share it: `fathom-fleet` needs an MPI library, which a plain build does not.
//!
//! This crate combines the others. It alone reads arguments, the environment and job files, prints, handles signals and
//! exits. Each command is a module whose `command` function outlines it. Module `runners` creates the runners of
//! commands.
//!
//! Out of scope: what runs, simulations and procedures do, and the wording of their results (`report`).

mod args;
mod argv;
mod capture;
mod catalog;
mod commands;
mod compare;
mod completions;
mod diagnostics;
mod display;
mod doctor;
mod exit;
mod explain;
mod fio;
mod fleet;
mod fleet_args;
mod gate;
mod home;
mod man;
mod observers;
mod options;
mod outputs;
mod plan;
mod rank;
mod report;
mod run;
mod run_argument;
mod runners;
mod runs;
mod save;
mod schema;
mod serve;
mod shards;
mod shutdown;
mod signals;
mod sim;
mod source;
mod suite;
mod sweep;
mod terminal;
mod trace;
mod trial;
mod usage_error;

use std::ffi::{OsStr, OsString};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use units::Problem;

/// Runs `fathom` and ends the process.
pub fn main() -> ! {
    program(|program, words| {
        let is_fio = Path::new(program).file_name().is_some_and(|name| name == "fio");
        match words.first() {
            _ if is_fio => fio::command(words),
            Some(word) if word == "fio" => fio::command(&words[1..]),
            _ => commands::command(program, words),
        }
    })
}

/// Runs `fathom-fleet` as one rank, and ends the process.
pub fn main_of_fleet(launch: RankLaunch) -> ! {
    program(|program, words| fleet::command(program, words, launch))
}

/// How ranks are launched and connected.
#[derive(Clone, Copy, Debug)]
pub struct RankLaunch {
    /// Connects with the other ranks, on the thread that exchanges messages.
    pub connect: fn() -> Result<Box<dyn ::fleet::Transport>, Problem>,
    /// Variables of which launchers set at least one.
    pub variables: &'static [&'static str],
}

fn program(command: impl FnOnce(&OsStr, &[OsString]) -> exit::Exit) -> ! {
    engine::thread::save_address_space();
    engine::MonotonicClock::prepare();
    shutdown::report_panics();
    let run = || {
        let mut words: Vec<OsString> = std::env::args_os().collect();
        let program = if words.is_empty() { OsString::new() } else { words.remove(0) };
        shutdown::panic_if_requested("main");
        volume::catalogue::renew(catalog::RENEWALS);
        command(&program, &words)
    };
    // The panic hook has printed the panic.
    shutdown::leave(catch_unwind(AssertUnwindSafe(run)).unwrap_or(exit::Exit::Environment))
}
