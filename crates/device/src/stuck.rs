//! Runs calls that may never return on their own threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use runner::RunControl;

/// A target has not answered within the grace period.
static STUCK: AtomicBool = AtomicBool::new(false);
/// A thread may hang in a target after the wait for it has ended.
static HANGING: AtomicBool = AtomicBool::new(false);

/// Reports whether a target has not answered within the grace period, so that nothing more may be requested from it.
#[must_use]
pub fn is_stuck() -> bool {
    STUCK.load(Ordering::Relaxed)
}

/// Records that a target has not answered.
pub fn set_stuck() {
    STUCK.store(true, Ordering::Relaxed);
    HANGING.store(true, Ordering::Relaxed);
}

/// Reports whether a thread of this process may hang in a target: the kernel may keep the process until the target
/// answers.
#[must_use]
pub fn has_hanging_threads() -> bool {
    HANGING.load(Ordering::Relaxed)
}

/// Reason why work on its own thread has no result.
#[derive(Debug)]
pub enum DetachedError {
    /// No thread could be started for it.
    NoThread(std::io::Error),
    /// The wait for it has ended. Its thread may hang in a target.
    GivenUp,
}

/// Runs work that may hang in a target on its own thread, and calls `tick` about fifty times per second meanwhile.
///
/// # Errors
/// Fails if no thread can be started, or if [`RunControl::gives_up`] ends the wait: the target then counts as stuck.
///
/// # Panics
/// Panics if the work panics.
pub fn run_detached<T: Send + 'static>(
    control: &dyn RunControl,
    tick: &mut dyn FnMut(),
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, DetachedError> {
    let done = on_own_thread(tick, &mut || control.gives_up(), work);
    if matches!(done, Err(DetachedError::GivenUp)) {
        set_stuck();
    }
    done
}

/// Runs work that the results do not depend on, like [`run_detached`], but waits at most for `most`. A target that is
/// only slow does not count as stuck.
///
/// # Errors
/// As for [`run_detached`].
///
/// # Panics
/// Panics if the work panics.
pub fn run_detached_for<T: Send + 'static>(
    control: &dyn RunControl,
    most: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, DetachedError> {
    let began = Instant::now();
    on_own_thread(&mut || {}, &mut || control.gives_up() || began.elapsed() > most, work)
}

fn on_own_thread<T: Send + 'static>(
    tick: &mut dyn FnMut(),
    is_given_up: &mut dyn FnMut() -> bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, DetachedError> {
    let (sender, receiver) = mpsc::channel();
    let run = move || drop(sender.send(work()));
    let thread = std::thread::Builder::new().name("attended".into()).spawn(run);
    let thread = thread.map_err(DetachedError::NoThread)?;
    loop {
        let outcome = receiver.recv_timeout(Duration::from_millis(20));
        tick();
        match outcome {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => return receiver.try_recv().map_err(|_| DetachedError::GivenUp),
            },
            Err(RecvTimeoutError::Timeout) => {}
        }
        if is_given_up() {
            HANGING.store(true, Ordering::Relaxed);
            return Err(DetachedError::GivenUp);
        }
    }
}

#[cfg(test)]
mod tests {
    use runner::Uninterrupted;

    use super::*;

    /// Any inspection of more than 20 ms ended a series with `--grace 0`.
    #[test]
    fn a_slow_final_inspection_counted_as_a_stuck_target() {
        let slow = || std::thread::sleep(Duration::from_millis(200));
        assert!(run_detached_for(&Uninterrupted, Duration::from_secs(300), slow).is_ok());
        let stuck = || std::thread::sleep(Duration::from_secs(3_600));
        assert!(matches!(
            run_detached_for(&Uninterrupted, Duration::from_millis(1), stuck),
            Err(DetachedError::GivenUp)
        ));
        assert!(!is_stuck());
    }
}
