//! `fathom serve`: serves modelled volumes as disks, over NBD.
//!
//! The server runs on the main thread. A supervisor thread waits for signals and for the command of `--run`.

pub(crate) mod args;
mod control;
mod supervisor;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Duration;

use args::{ServeCommand, ServeFormat, ServeOptions};
use engine::describe;
use live::EventLog;
use report::ResultFormat;
use report::serve::ServerStats;
use serve::{HostFiles, PreparedServer, RejectionLog, RuntimeDirectory, ServeQuestion, ServeRequest, document};
use supervisor::ServerSupervisor;

use crate::args::ProgressStyle;
use crate::display::Display;
use crate::exit::Exit;
use crate::outputs::{self, Output, deliver_and_print, printed};
use crate::signals::Signals;
use crate::terminal::write_stderr;
use crate::{diagnostics, home, runners, shutdown};

/// Serves until a signal, or queries, changes or cleans up after other servers.
pub(crate) fn command(options: &ServeOptions) -> Result<Exit, Exit> {
    let directory =
        RuntimeDirectory::new(std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from), &std::env::temp_dir());
    if options.cleanup {
        return Ok(clean(&directory));
    }
    if let Some(ServeCommand::Control(options)) = &options.command {
        return Ok(control::command(options));
    }
    let Some(address) = &options.stats else { return run(options, &directory) };
    let served = serve::read_statistics(address, &directory).map_err(Exit::environment)?;
    Ok(outputs::print_text(&printed(document(&served), options.format.unwrap_or(ServeFormat::Text))))
}

/// Returns a function that reports a system error.
fn failure(what: &'static str) -> impl Fn(std::io::Error) -> Exit {
    move |error| Exit::environment(format!("{what}: {}", describe(&error)))
}

const FILES: HostFiles = HostFiles {
    read_certificate: |path| device::input::read(path, device::input::SMALL),
    read_volume: runners::read_volumes,
};

/// Checks the options, serves until a signal or the end of the command, and reports statistics.
fn run(options: &ServeOptions, directory: &RuntimeDirectory) -> Result<Exit, Exit> {
    let seed = options.request.seed.unwrap_or_else(|| runners::seed_for_many(false));
    let request = ServeRequest { seed: Some(seed), ..options.request.clone() };
    let question = ServeQuestion::read(&request, &FILES).map_err(Exit::invalid)?;
    let gate = device::safety::gate_of_server(&options.allow_destroy, home::ledger().as_deref());
    let refusals = serve::dangers(&request, &question, &gate);
    if !refusals.is_empty() {
        return Err(Exit::usage(refusals.join("\n")));
    }
    let mut files = Output::open(&options.output, ResultFormat::OF_SERVER).map_err(Exit::usage)?;
    let signals = Signals::listen(GRACE)?;
    let mut prepared = PreparedServer::set(&request, &question, &gate, directory).map_err(Exit::environment)?;
    let view = prepared.view();
    prepared.tell_others(&view).map_err(failure("cannot start a thread"))?;
    prepared.be_controlled(&question, &view, &FILES).map_err(failure("cannot start a thread"))?;
    let opening = prepared.opening(options.run.clone());
    let display = Display::new(progress(options), EventLog::none());
    let log = RejectionLog::new(prepared.connections_most());
    let supervisor =
        ServerSupervisor { signals: signals.clone(), stopper: prepared.stopper(), view: view.clone(), display, log };
    let supervisor = supervisor.start(opening).map_err(failure("cannot start a thread"))?;
    let run = move || {
        shutdown::panic_if_requested("server");
        prepared.run()
    };
    let done = catch_unwind(AssertUnwindSafe(run));
    let exit = supervisor.join();
    signals.conclude();
    match done {
        Ok(done) => {
            let snapshot = done.map_err(failure("the server failed"))?;
            Ok(conclude(options, &view.of(&snapshot), &mut files, exit))
        }
        // After a panic: the statistics it published last. Its devices are removed already.
        Err(_) => Ok(conclude(options, &view.served(), &mut files, Exit::Environment)),
    }
}

/// Removes devices and files of servers that were killed.
fn clean(directory: &RuntimeDirectory) -> Exit {
    let cleaned = serve::clean(directory);
    let mut text: String = cleaned.removed.iter().map(|what| format!("removed {what}\n")).collect();
    if cleaned.removed.is_empty() && cleaned.errors.is_empty() {
        text = "no remains of killed servers found\n".to_owned();
    }
    let printed = outputs::print_text(&text);
    cleaned.errors.iter().for_each(|error| diagnostics::error(error));
    if cleaned.errors.is_empty() { printed } else { Exit::Environment }
}

/// Maximum time for a server to end: five seconds each for the command, devices and requests in flight.
const GRACE: Duration = Duration::from_secs(15);

/// Returns the progress style: off if a command writes to the terminal.
fn progress(options: &ServeOptions) -> ProgressStyle {
    if options.run.is_some() && options.progress == ProgressStyle::Auto { ProgressStyle::Off } else { options.progress }
}

/// Reports statistics: on standard output or, if that belongs to the command of `--run` and no format is given, on
/// standard error.
fn conclude(options: &ServeOptions, served: &ServerStats, files: &mut [Output], exit: Exit) -> Exit {
    let on_stderr = options.format.is_none() && options.run.is_some();
    let result = document(served);
    let text = printed(result, options.format.unwrap_or(ServeFormat::Text));
    let delivered = deliver_and_print(files, if on_stderr { "" } else { &text }, result);
    if on_stderr {
        write_stderr(&printed(result, ServeFormat::Text));
    }
    match (exit, delivered) {
        (Exit::Good, delivered) => delivered,
        (exit, _) => exit,
    }
}
