//! The supervisor thread of a server: signals, the command of `--run`, progress.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nbd::server::Stopper;
use procedure::ProcedureObserver;
use results::serve::ServerHints;
use serve::{OpenedServer, Opening, RecentView, RejectionLog, RunningChild};
use units::{Bytes, count, counted, significant};

use crate::diagnostics;
use crate::display::Display;
use crate::exit::Exit;
use crate::signals::Signals;
use crate::terminal::write_stderr;

/// Runs on a thread of its own and stops the server on a signal or when its command ends.
pub(super) struct ServerSupervisor {
    pub(super) signals: Signals,
    pub(super) stopper: Stopper,
    pub(super) view: RecentView,
    pub(super) display: Display,
    pub(super) log: RejectionLog,
}

/// A started supervisor.
pub(super) struct RunningSupervisor {
    thread: JoinHandle<Exit>,
    server_ended: Arc<AtomicBool>,
}

/// Polling interval of signals and of the command.
const POLL_EVERY: Duration = Duration::from_millis(20);
/// Interval of progress.
const SHOW_EVERY: Duration = Duration::from_secs(1);

/// Prints how to use a server, and its devices.
fn print_opening(hints: &ServerHints, devices: &[PathBuf]) {
    let devices: String = devices.iter().map(|path| format!("  {:<11} {}\n", "device", path.display())).collect();
    write_stderr(&(report::serve::hints(hints) + &devices));
}

impl ServerSupervisor {
    /// Starts the thread. Fails if the kernel refuses it.
    pub(super) fn start(self, opening: Opening) -> std::io::Result<RunningSupervisor> {
        let server_ended = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&server_ended);
        let thread = std::thread::Builder::new().name("supervisor".into());
        let thread = thread.spawn(move || self.supervise(opening, &ended))?;
        Ok(RunningSupervisor { thread, server_ended })
    }

    /// Creates the devices, starts the command, waits, and tears both down. Returns the exit status of the program.
    fn supervise(mut self, opening: Opening, server_ended: &AtomicBool) -> Exit {
        let exit = match opening.open(&print_opening) {
            Err(problem) => Exit::environment(problem),
            Ok(OpenedServer { devices, mut child }) => {
                let exit = self.wait(&mut child, server_ended);
                // Tearing devices down flushes their writes to the server.
                let left = devices.tear_down();
                diagnostics::errors(&left);
                let is_good = exit == Exit::Good || exit == Exit::Command(0);
                if is_good && !left.is_empty() { Exit::Environment } else { exit }
            }
        };
        self.stopper.stop();
        drop(self.display.end());
        exit
    }

    /// Waits for the end of the command, a signal or the end of the server, and shows progress.
    fn wait(&mut self, child: &mut Option<RunningChild>, server_ended: &AtomicBool) -> Exit {
        let mut shown = Instant::now();
        loop {
            if let Some(status) = child.as_mut().and_then(RunningChild::ended) {
                return exit_of(status);
            }
            if self.signals.end().is_some() || server_ended.load(Ordering::Acquire) {
                let status = child.as_mut().and_then(|child| child.stop(&self.signals));
                return status.map_or(Exit::Good, exit_of);
            }
            if shown.elapsed() >= SHOW_EVERY {
                shown = Instant::now();
                self.show();
            }
            std::thread::sleep(POLL_EVERY);
        }
    }

    fn show(&mut self) {
        self.log.news(self.view.turned_away()).iter().for_each(|warning| self.display.warn(warning));
        if !self.view.look() {
            return;
        }
        let (iops, bytes_per_sec) = self.view.rates().total();
        let clients = self.view.connected();
        let mib = significant(bytes_per_sec / Bytes::MIB as f64, 3);
        let clients = counted(clients, "client");
        self.display.show_status(&format!("{} IOPS  {mib} MiB/s  {clients}", count(iops.round())));
    }
}

impl RunningSupervisor {
    /// Waits for the thread after the server has stopped. Returns the exit status of the program.
    pub(super) fn join(self) -> Exit {
        self.server_ended.store(true, Ordering::Release);
        self.thread.join().unwrap_or(Exit::Environment)
    }
}

/// Returns the exit status of a command as that of the program, as shells do.
fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Command(u8::try_from(code).unwrap_or(u8::MAX)),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}
