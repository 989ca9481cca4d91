//! `fathom serve`: a modelled volume as a disk that any program can use, over NBD.
//!
//! The server is one thread, this one. Beside it there are threads that never touch it: one waits for signals and for the
//! command of `--run`, two tell at a socket and over HTTP what the server has shown of itself, and some take commands at the
//! socket of `--control`.

pub(crate) mod args;
mod ask;
mod child;
mod control;
mod devices;
mod figures;
mod identity;
mod offers;
mod opening;
mod places;
mod recent;
mod scene;
mod sizes;
mod statistics;
mod steward;
mod stores;
mod turned_away;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use report::serve::ServerStats;

use crate::args::ProgressStyle;
use crate::display::Display;
use crate::events::EventLog;
use crate::exit::Exit;
use crate::home;
use crate::outputs::{self, OF_A_SERVER, Output, deliver_and_say};
use crate::refusal::CommandRefusal;
use crate::shutdown;
use crate::signals::Signals;
use crate::terminal::{tell, why};
use args::{ServeCommand, ServeFormat, ServeOptions};
use ask::ServeQuestion;
pub(crate) use figures::text;
use scene::PreparedServer;
use steward::ServerSupervisor;
use turned_away::TurnedAwayLog;

/// Serves until it is stopped, or asks or changes a server that does.
pub(crate) fn command(options: &ServeOptions) -> Result<Exit, Exit> {
    if options.cleanup {
        return Ok(devices::clean());
    }
    if let Some(ServeCommand::Control(options)) = &options.command {
        return Ok(control::command(options));
    }
    let Some(address) = &options.stats else { return serve(options) };
    let served = statistics::ask(address).map_err(|problem| Exit::environment(&problem))?;
    Ok(outputs::say(&statistics::document(&served, options.format.unwrap_or(ServeFormat::Text))))
}

/// The system's refusal of something.
fn cannot(what: &'static str) -> impl Fn(std::io::Error) -> Exit {
    move |error| Exit::environment(&format!("{what}: {}", why(&error)))
}

/// Reads, checks, serves, tells.
fn serve(options: &ServeOptions) -> Result<Exit, Exit> {
    let question = ServeQuestion::read(options).map_err(|problems| CommandRefusal::Jobs(problems).told())?;
    let gate = device::safety::gate_of_server(&options.allow_destroy, home::ledger().as_deref());
    let dangers = stores::dangers(options, &question.wanted, &gate);
    if !dangers.is_empty() {
        return Err(CommandRefusal::Words(dangers).told());
    }
    let opened = Output::open(&options.output, OF_A_SERVER);
    let mut files = opened.map_err(|problem| CommandRefusal::Words(vec![problem]).told())?;
    let signals = Signals::listen()?.with_grace(GRACE);
    let mut scene = PreparedServer::set(options, &question, &gate).map_err(|problem| Exit::environment(&problem))?;
    let view = scene.view();
    scene.tell_others(&view).map_err(cannot("cannot start a thread"))?;
    scene.be_controlled(&question, &view).map_err(cannot("cannot start a thread"))?;
    let opening = scene.opening(options.run.clone());
    let display = Display::new(progress(options), EventLog::none());
    let log = TurnedAwayLog::new(scene.server.connections_most());
    let stopper = scene.server.stopper();
    let steward = ServerSupervisor { signals: signals.clone(), stopper, view: view.clone(), display, log };
    let watch = steward.begin(opening).map_err(cannot("cannot start a thread"))?;
    let PreparedServer { server, control, statistics, sockets, .. } = scene;
    let run = move || {
        shutdown::panic_if_asked("server");
        server.run()
    };
    let done = catch_unwind(AssertUnwindSafe(run));
    let exit = watch.end();
    drop((control, statistics));
    sockets.disarm();
    signals.conclude();
    match done {
        Ok(done) => {
            let snapshot = done.map_err(cannot("the server cannot go on"))?;
            Ok(conclude(options, &view.of(&snapshot), &mut files, exit))
        }
        // What it had shown last; its devices are gone by now.
        Err(_) => Ok(conclude(options, &view.served(), &mut files, Exit::Environment)),
    }
}

/// How long a server may take to end: its command, its devices and the requests under way have five seconds each.
const GRACE: Duration = Duration::from_secs(15);

/// What a command writes is not to be mixed with progress.
fn progress(options: &ServeOptions) -> ProgressStyle {
    if options.run.is_some() && options.progress == ProgressStyle::Auto { ProgressStyle::Off } else { options.progress }
}

/// Tells what was done. Standard output belongs to the command where there is one, unless a format was asked for.
fn conclude(options: &ServeOptions, served: &ServerStats, files: &mut [Output], exit: Exit) -> Exit {
    let of_command = options.format.is_none() && options.run.is_some();
    let document = || statistics::document(served, options.format.unwrap_or(ServeFormat::Text));
    let output = if of_command { String::new() } else { document() };
    let delivered = deliver_and_say(files, &output, |file| file.write_served(served));
    if of_command {
        tell(&text(served));
    }
    match (exit, delivered) {
        (Exit::Good, delivered) => delivered,
        (exit, _) => exit,
    }
}
