//! Exit actions: undo what must not outlive the process, such as a raw terminal, sockets, devices and child processes.
//!
//! An action is registered with [`on_exit`] when its object is created. It runs once: when its [`CleanUp`] is dropped,
//! or when the program ends the process and calls [`run_all`].

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

type Action = Box<dyn FnOnce() + Send>;

static ACTIONS: Mutex<Vec<(u64, Action)>> = Mutex::new(Vec::new());
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A registered action. Dropping it runs the action, unless it has run already.
#[must_use]
#[derive(Debug)]
pub struct CleanUp(u64);

/// Registers an action that runs before the process ends, for any reason.
pub fn on_exit(action: impl FnOnce() + Send + 'static) -> CleanUp {
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

    /// Unregisters the action without running it.
    pub fn disarm(self) {
        drop(self.take());
    }
}

impl Drop for CleanUp {
    fn drop(&mut self) {
        // The lock is not held while the action runs: an action may register or disarm others.
        if let Some(action) = self.take() {
            action();
        }
    }
}

fn actions() -> MutexGuard<'static, Vec<(u64, Action)>> {
    ACTIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs all registered actions, newest first.
pub fn run_all() {
    loop {
        let Some((_, action)) = actions().pop() else { return };
        // A panic in one action must not prevent the others from running.
        let _ = catch_unwind(AssertUnwindSafe(action));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn each_action_runs_once() {
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
        run_all();
        assert_eq!(done.load(Ordering::Relaxed), 101);
        drop((at_exit, broken));
        assert_eq!(done.load(Ordering::Relaxed), 101);
    }
}
