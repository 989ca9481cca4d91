//! Ends the process, normally or after a signal or a panic.
//!
//! Resources that must not outlive the process (a raw terminal, sockets, devices, child processes) are registered with
//! [`cleanup::on_exit`] when they are created. [`leave`] and [`end_now`] run the registered actions, each once, newest
//! first, and exit without joining threads: one that hangs in a system call on a target never ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use engine::cleanup;

use crate::exit::Exit;
use crate::rank;
use crate::terminal::write_stderr;

/// Whether any thread has panicked.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// Maximum time for clean-up at an immediate exit.
const CLEAN_UP_TIMEOUT: Duration = Duration::from_secs(2);

/// Cleans up and ends the process.
pub(crate) fn leave(exit: Exit) -> ! {
    cleanup::run_all();
    let exit = match rank::leave(exit.code()) {
        None => exit,
        Some(end) => {
            write_stderr(&end.messages_elsewhere);
            if exit.code() == end.code { exit } else { Exit::Command(end.code) }
        }
    };
    let is_good = matches!(exit, Exit::Good | Exit::Distrust | Exit::Failed);
    exit_with(if is_good && PANICKED.load(Ordering::Relaxed) { Exit::Environment } else { exit })
}

/// Ends the process from any thread, whatever the other threads are doing.
pub(crate) fn end_now(exit: Exit) -> ! {
    run_within(CLEAN_UP_TIMEOUT, "clean-up", cleanup::run_all);
    exit_with(exit)
}

/// Runs `work` on a thread of its own and waits for it, but no longer than `timeout`.
pub(crate) fn run_within(timeout: Duration, thread: &str, work: impl FnOnce() + Send + 'static) {
    let (sender, done) = mpsc::channel();
    let spawned = std::thread::Builder::new().name(thread.into()).spawn(move || {
        work();
        let _ = sender.send(());
    });
    if spawned.is_ok() {
        let _ = done.recv_timeout(timeout);
    }
}

fn exit_with(exit: Exit) -> ! {
    // The kernel keeps a process with a thread that hangs in a device, and its open files, until the device answers. By
    // now everything is written; replacing the output streams by /dev/null lets readers of the results see end of file.
    if device::stuck::has_hanging_threads()
        && let Ok(null) = std::fs::OpenOptions::new().write(true).open("/dev/null")
    {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
    std::process::exit(i32::from(exit.code()))
}

/// Makes every later panic print a request for a bug report and change the exit code from success to 3.
pub(crate) fn report_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICKED.store(true, Ordering::Relaxed);
        before(info);
        // Not with `write_stderr`: this thread may hold a lock that it needs.
        let _ =
            std::io::Write::write_all(&mut std::io::stderr(), format!("fathom: {}\n", device::BUG_REPORT).as_bytes());
    }));
}

/// Panics if a test requests it at this place. Does nothing in release builds.
pub(crate) fn panic_if_requested(place: &str) {
    // In lower case, because users never set this variable.
    if cfg!(debug_assertions) && std::env::var_os("fathom_panic_at").is_some_and(|requested| requested == place) {
        panic!("a test asked for a panic at `{place}`");
    }
}
