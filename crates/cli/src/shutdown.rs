//! How the process ends: normally, by a signal or by a panic, through one door.
//!
//! What must not outlive the process (a raw terminal, sockets, devices, child processes) is registered with [`on_exit`]
//! when it is made. [`leave`] and [`end_now`] run what is still registered, each action once, newest first, and then exit
//! without waiting for any thread: a thread that a target does not answer could never be joined.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::exit::Exit;

type Action = Box<dyn FnOnce() + Send>;

static ACTIONS: Mutex<Vec<(u64, Action)>> = Mutex::new(Vec::new());
static NUMBER: AtomicU64 = AtomicU64::new(0);
/// A thread has panicked.
static BROKEN: AtomicBool = AtomicBool::new(false);

/// How long clean-up may take where the process ends at once.
const CLEAN_UP_MOST: Duration = Duration::from_secs(2);

/// An action that is registered; it is carried out when this goes out of scope, unless it was already.
#[must_use]
#[derive(Debug)]
pub(crate) struct CleanUp(u64);

/// Registers what is to be done before the process ends, however it ends.
pub(crate) fn on_exit(action: impl FnOnce() + Send + 'static) -> CleanUp {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    actions().push((number, Box::new(action)));
    CleanUp(number)
}

impl CleanUp {
    fn take(&self) -> Option<Action> {
        let mut actions = actions();
        let place = actions.iter().position(|(number, _)| *number == self.0)?;
        Some(actions.remove(place).1)
    }

    /// Nothing is left to be done.
    pub(crate) fn disarm(self) {
        drop(self.take());
    }
}

impl Drop for CleanUp {
    fn drop(&mut self) {
        // The lock is not held meanwhile: an action may register or disarm others.
        if let Some(action) = self.take() {
            action();
        }
    }
}

fn actions() -> MutexGuard<'static, Vec<(u64, Action)>> {
    ACTIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn clean_up() {
    loop {
        let Some((_, action)) = actions().pop() else { return };
        // One that fails must not keep the others from being carried out.
        let _ = catch_unwind(AssertUnwindSafe(action));
    }
}

/// Ends the process in good order.
pub(crate) fn leave(exit: Exit) -> ! {
    clean_up();
    let is_good = matches!(exit, Exit::Good | Exit::Distrust | Exit::Failed);
    exit_with(if is_good && BROKEN.load(Ordering::Relaxed) { Exit::Environment } else { exit })
}

/// Ends the process from any thread, whatever the others are doing.
pub(crate) fn end_now(exit: Exit) -> ! {
    let (sender, done) = mpsc::channel();
    let cleaned = std::thread::Builder::new().spawn(move || {
        clean_up();
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

/// From now on a panic, of whichever thread, asks to be reported and makes the process exit with 3.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn each_action_is_carried_out_once() {
        let done = Arc::new(AtomicUsize::new(0));
        let count = |by: usize| {
            let done = Arc::clone(&done);
            move || {
                done.fetch_add(by, Ordering::Relaxed);
            }
        };
        drop(on_exit(count(1)));
        assert_eq!(done.load(Ordering::Relaxed), 1);
        on_exit(count(10)).disarm();
        assert_eq!(done.load(Ordering::Relaxed), 1);
        let at_exit = on_exit(count(100));
        let broken = on_exit(|| panic!("an action may fail"));
        clean_up();
        assert_eq!(done.load(Ordering::Relaxed), 101);
        drop((at_exit, broken));
        assert_eq!(done.load(Ordering::Relaxed), 101);
    }
}
