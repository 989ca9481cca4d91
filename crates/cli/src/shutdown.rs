//! How the process ends: normally, by a signal or by a panic, through one door.
//!
//! What must not outlive the process (a raw terminal, sockets, devices, child processes) is registered with [`on_exit`]
//! when it is made. [`leave`] and [`end_now`] run what is still registered, each action once, newest first, and then exit
//! without waiting for any thread: a thread that a target does not answer could never be joined.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::exit::Exit;
use crate::signals::Signals;

type Action = Box<dyn FnOnce() + Send>;

static ACTIONS: Mutex<Vec<(u64, Action)>> = Mutex::new(Vec::new());
static NUMBER: AtomicU64 = AtomicU64::new(0);
/// A thread has panicked.
static BROKEN: AtomicBool = AtomicBool::new(false);
/// A target has not answered within the grace period.
static STUCK: AtomicBool = AtomicBool::new(false);
/// A thread may hang in a target that was not waited for.
static UNANSWERED: AtomicBool = AtomicBool::new(false);

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
    if UNANSWERED.load(Ordering::Relaxed)
        && let Ok(null) = std::fs::OpenOptions::new().write(true).open("/dev/null")
    {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
    std::process::exit(i32::from(exit.code()))
}

/// Whether a target has not answered within the grace period: nothing more may be asked of it.
pub(crate) fn is_stuck() -> bool {
    STUCK.load(Ordering::Relaxed)
}

/// Takes note that a target has not answered.
pub(crate) fn set_stuck() {
    STUCK.store(true, Ordering::Relaxed);
    UNANSWERED.store(true, Ordering::Relaxed);
}

/// Why the user should report a panic, below its message.
pub(crate) const REPORT: &str = "this is a bug in fathom: please report it with the message above";

/// From now on a panic, of whichever thread, asks to be reported and makes the process exit with 3.
pub(crate) fn report_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        BROKEN.store(true, Ordering::Relaxed);
        before(info);
        // Not by `tell`: the thread may hold what that needs.
        let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("fathom: {REPORT}\n").as_bytes());
    }));
}

/// Panics where a test asks for it by the name of a place. In release builds it does nothing.
pub(crate) fn panic_if_asked(place: &str) {
    // In lower case, because it is none of the variables that users set.
    if cfg!(debug_assertions) && std::env::var_os("fathom_panic_at").is_some_and(|asked| asked == place) {
        panic!("a test asked for a panic at `{place}`");
    }
}

/// Why work on a thread of its own has no result.
#[derive(Debug)]
pub(crate) enum Unattended {
    /// No thread could be started for it.
    NoThread(std::io::Error),
    /// It was not waited for any longer. Its thread may hang in a target.
    GivenUp,
}

/// Carries out work that may hang in a target on a thread of its own. Calls `tick` about fifty times a second meanwhile.
///
/// # Errors
///
/// When no thread can be started, and when it is given up, as [`Signals::gives_up`] says: the target counts as stuck then.
///
/// # Panics
///
/// When the work panics.
pub(crate) fn attended<T: Send + 'static>(
    signals: &Signals,
    tick: &mut dyn FnMut(),
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Unattended> {
    let done = on_own_thread(tick, &mut || signals.gives_up(), work);
    if matches!(done, Err(Unattended::GivenUp)) {
        set_stuck();
    }
    done
}

/// The same for work that the results do not depend on. It is given up after `most` as well. A target that is only slow
/// is not stuck.
///
/// # Errors
///
/// As of [`attended`].
///
/// # Panics
///
/// When the work panics.
pub(crate) fn attended_for<T: Send + 'static>(
    signals: &Signals,
    most: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Unattended> {
    let began = Instant::now();
    on_own_thread(&mut || {}, &mut || signals.gives_up() || began.elapsed() > most, work)
}

fn on_own_thread<T: Send + 'static>(
    tick: &mut dyn FnMut(),
    is_given_up: &mut dyn FnMut() -> bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Unattended> {
    let (sender, receiver) = mpsc::channel();
    let run = move || drop(sender.send(work()));
    let thread = std::thread::Builder::new().name("attended".into()).spawn(run);
    let thread = thread.map_err(Unattended::NoThread)?;
    loop {
        let outcome = receiver.recv_timeout(Duration::from_millis(20));
        tick();
        match outcome {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return receiver.try_recv().map_err(|_| Unattended::GivenUp),
            },
            Err(RecvTimeoutError::Timeout) => {}
        }
        if is_given_up() {
            UNANSWERED.store(true, Ordering::Relaxed);
            return Err(Unattended::GivenUp);
        }
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

    /// Anything over 20 ms ended a series with `--grace 0`.
    #[test]
    fn a_slow_look_at_the_end_was_taken_for_a_stuck_target() {
        let signals = Signals::install().expect("signals can be handled").with_grace(Duration::ZERO);
        let slow = || std::thread::sleep(Duration::from_millis(200));
        assert!(attended_for(&signals, Duration::from_secs(60), slow).is_ok());
        assert!(matches!(attended_for(&signals, Duration::from_millis(1), slow), Err(Unattended::GivenUp)));
        assert!(!is_stuck());
    }
}
