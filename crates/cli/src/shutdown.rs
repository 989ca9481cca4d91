//! How the process ends: normally, by a signal or by a panic, through one door.
//!
//! What must not outlive the process (a raw terminal, sockets, devices, child processes) is registered with [`cleanup::on_exit`]
//! when it is made. [`leave`] and [`end_now`] run what is still registered, each action once, newest first, and then exit
//! without waiting for any thread: a thread that a target does not answer could never be joined.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use engine::cleanup;

use crate::exit::Exit;

/// A thread has panicked.
static BROKEN: AtomicBool = AtomicBool::new(false);

/// Maximum time for clean-up at an immediate exit.
const CLEAN_UP_MOST: Duration = Duration::from_secs(2);

/// Ends the process in good order.
pub(crate) fn leave(exit: Exit) -> ! {
    cleanup::run_all();
    let is_good = matches!(exit, Exit::Good | Exit::Distrust | Exit::Failed);
    exit_with(if is_good && BROKEN.load(Ordering::Relaxed) { Exit::Environment } else { exit })
}

/// Ends the process from any thread, whatever the others are doing.
pub(crate) fn end_now(exit: Exit) -> ! {
    let (sender, done) = mpsc::channel();
    let cleaned = std::thread::Builder::new().spawn(move || {
        cleanup::run_all();
        let _ = sender.send(());
    });
    if cleaned.is_ok() {
        let _ = done.recv_timeout(CLEAN_UP_MOST);
    }
    exit_with(exit)
}

fn exit_with(exit: Exit) -> ! {
    // The kernel keeps a process whose thread hangs in a device, and all its files with it. Readers of the results see
    // their end nevertheless.
    if device::stuck::has_hanging_threads()
        && let Ok(null) = std::fs::OpenOptions::new().write(true).open("/dev/null")
    {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
    std::process::exit(i32::from(exit.code()))
}

/// Makes every later panic ask for a report and end the process with exit code 3.
pub(crate) fn report_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        BROKEN.store(true, Ordering::Relaxed);
        before(info);
        // Not by `tell`: the thread may hold what that needs.
        let _ =
            std::io::Write::write_all(&mut std::io::stderr(), format!("fathom: {}\n", device::BUG_REPORT).as_bytes());
    }));
}

/// Panics where a test asks for it by the name of a place. In release builds it does nothing.
pub(crate) fn panic_if_asked(place: &str) {
    // In lower case, because it is none of the variables that users set.
    if cfg!(debug_assertions) && std::env::var_os("fathom_panic_at").is_some_and(|asked| asked == place) {
        panic!("a test asked for a panic at `{place}`");
    }
}
