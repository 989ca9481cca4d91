//! The thread beside the server: signals, the command of `--run`, progress.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nbd::server::Stopper;
use serve::{OpenedServer, Opening, RecentView, RunningChild, TurnedAwayLog};
use units::{Bytes, count, significant};

use crate::diagnostics;
use crate::display::Display;
use crate::exit::Exit;
use crate::signals::Signals;
use crate::terminal::write_stderr;

/// Waits for the reasons to stop a server, on a thread of its own.
pub(super) struct ServerSupervisor {
    pub(super) signals: Signals,
    pub(super) stopper: Stopper,
    pub(super) view: RecentView,
    pub(super) display: Display,
    pub(super) log: TurnedAwayLog,
}

/// A supervisor whose thread runs.
pub(super) struct RunningSupervisor {
    thread: JoinHandle<Exit>,
    over: Arc<AtomicBool>,
}

/// Polling interval of reasons to stop.
const EVERY: Duration = Duration::from_millis(20);
/// Interval of progress.
const SHOW_EVERY: Duration = Duration::from_secs(1);

impl ServerSupervisor {
    /// Opens the server, which is about to be at work, to its users, and begins to watch.
    ///
    /// # Errors
    /// Where the kernel gives no thread.
    pub(super) fn begin(self, opening: Opening) -> std::io::Result<RunningSupervisor> {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let thread =
            std::thread::Builder::new().name("supervisor".into()).spawn(move || self.attend(opening, &seen))?;
        Ok(RunningSupervisor { thread, over })
    }

    /// Opens the server, watches, and closes it. Returns the code with which the program ends.
    fn attend(mut self, opening: Opening, over: &AtomicBool) -> Exit {
        let exit = match opening.open(&write_stderr) {
            Err(problem) => Exit::environment(&problem),
            Ok(OpenedServer { devices, mut child }) => {
                let exit = self.watch(&mut child, over);
                // What was written through them is written to the server now.
                let left = devices.tear_down();
                left.iter().for_each(|left| diagnostics::error(left));
                let is_good = exit == Exit::Good || exit == Exit::Command(0);
                if is_good && !left.is_empty() { Exit::Environment } else { exit }
            }
        };
        self.stopper.stop();
        drop(self.display.end());
        exit
    }

    /// Watches until the server has to stop or has stopped.
    fn watch(&mut self, child: &mut Option<RunningChild>, over: &AtomicBool) -> Exit {
        let mut shown = Instant::now();
        loop {
            if let Some(status) = child.as_mut().and_then(RunningChild::ended) {
                return exit_of(status);
            }
            if self.signals.end().is_some() || over.load(Ordering::Acquire) {
                let status = child.as_mut().and_then(|child| child.stop(&self.signals));
                return status.map_or(Exit::Good, exit_of);
            }
            if shown.elapsed() >= SHOW_EVERY {
                shown = Instant::now();
                self.show();
            }
            std::thread::sleep(EVERY);
        }
    }

    fn show(&mut self) {
        if let Some(text) = self.log.news(self.view.turned_away()) {
            self.display.warn(&text);
        }
        if !self.view.look() {
            return;
        }
        let (iops, bytes_per_sec) = self.view.rates().total();
        let clients = self.view.connected();
        let mib = significant(bytes_per_sec / Bytes::MIB as f64, 3);
        let plural = if clients == 1 { "" } else { "s" };
        self.display.show_status(&format!("{} IOPS  {mib} MiB/s  {clients} client{plural}", count(iops.round())));
    }
}

impl RunningSupervisor {
    /// The server has stopped. Returns the code with which the program ends.
    pub(super) fn end(self) -> Exit {
        self.over.store(true, Ordering::Release);
        self.thread.join().unwrap_or(Exit::Environment)
    }
}

/// The exit code of a program that ran a command: the command's, as shells have it.
fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Command(u8::try_from(code).unwrap_or(u8::MAX)),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}
