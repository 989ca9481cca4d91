//! Settings of worker threads and the process.

use std::io;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, ErrorKind};

/// Makes the calling thread's timers exact: the kernel may else delay each by 50 µs to save power.
///
/// # Errors
///
/// When the kernel refuses, which it has no reason to.
pub fn exact_timers() -> Result<(), Error> {
    // SAFETY: the call takes numbers alone.
    if unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) } < 0 {
        return Err(Error::system(ErrorKind::Host, "set the timer slack of", "a thread", &io::Error::last_os_error()));
    }
    Ok(())
}

/// Lets the calling thread run on these processors only; an empty list changes nothing.
///
/// # Errors
///
/// When one of them does not exist, or none of them is permitted to this process.
pub fn pin(cpus: &[u32]) -> Result<(), Error> {
    if cpus.is_empty() {
        return Ok(());
    }
    // SAFETY: all zeroes is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &cpu in cpus {
        if cpu >= libc::CPU_SETSIZE as u32 {
            return Err(not_there(cpus, &io::Error::from_raw_os_error(libc::EINVAL)));
        }
        // SAFETY: `cpu` is less than the size of the set.
        unsafe { libc::CPU_SET(cpu as usize, &mut set) };
    }
    // SAFETY: `set` outlives the call; 0 is the calling thread.
    if unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) } < 0 {
        return Err(not_there(cpus, &io::Error::last_os_error()));
    }
    Ok(())
}

/// Wakes threads from system calls. Its default is to be ignored, so that a late one does no harm.
const WAKE: i32 = libc::SIGURG;

static ABANDONED: AtomicBool = AtomicBool::new(false);

/// Stops the repetition of interrupted system calls: the process is about to end.
pub fn abandon() {
    static HANDLED: Once = Once::new();
    ABANDONED.store(true, Ordering::Release);
    HANDLED.call_once(|| {
        // SAFETY: all zeroes is a valid `sigaction`. Without SA_RESTART a call that the signal meets ends.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = nothing as *const () as usize;
        // SAFETY: the handler does nothing, and `action` outlives the call.
        unsafe { libc::sigaction(WAKE, &raw const action, std::ptr::null_mut()) };
    });
}

extern "C" fn nothing(_: i32) {}

/// Whether the process has given up waiting for targets.
#[inline]
pub(crate) fn is_abandoned() -> bool {
    ABANDONED.load(Ordering::Acquire)
}

/// Wakes a thread of this process, by its number, from a system call that can be interrupted.
pub fn interrupt(thread: u32) {
    // SAFETY: the call takes numbers; the signal has a handler since `abandon`, and is ignored before.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread as libc::pid_t, WAKE) };
}

/// Lets the process open as many files as the host permits it to: the usual limit of 1024 is a thousand workers
/// too few. Where that is refused, opening the files will tell.
pub fn raise_file_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call fills `limit`, which outlives it.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0 {
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: the call reads `limit`, which outlives it.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    }
}

fn not_there(cpus: &[u32], error: &io::Error) -> Error {
    let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
    Error::system(ErrorKind::Host, "run on", format!("processors {}", list.join(",")), error)
        .with_remedy("use processors that this host has and permits (see nproc and taskset -p)")
}
