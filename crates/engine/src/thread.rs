//! Settings of worker threads and of the process.

use std::io;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::{Error, ErrorKind};

/// Makes the calling thread's timers exact. By default the kernel may delay each timer by 50 µs to save power.
///
/// # Errors
/// Fails if the kernel refuses, for which there is no known reason.
pub fn exact_timers() -> Result<(), Error> {
    // SAFETY: the call takes only numbers.
    if unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) } < 0 {
        return Err(Error::system(ErrorKind::Host, "set the timer slack of", "a thread", &io::Error::last_os_error()));
    }
    Ok(())
}

/// Restricts the calling thread to these CPUs. An empty list changes nothing.
///
/// # Errors
/// Fails if one of the CPUs does not exist, or none of them is permitted to this process.
pub fn pin(cpus: &[u32]) -> Result<(), Error> {
    if cpus.is_empty() {
        return Ok(());
    }
    // SAFETY: all zeroes is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &cpu in cpus {
        if cpu >= libc::CPU_SETSIZE as u32 {
            return Err(unavailable(cpus, &io::Error::from_raw_os_error(libc::EINVAL)));
        }
        // SAFETY: `cpu` is less than the size of the set.
        unsafe { libc::CPU_SET(cpu as usize, &mut set) };
    }
    // SAFETY: `set` outlives the call; 0 is the calling thread.
    if unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) } < 0 {
        return Err(unavailable(cpus, &io::Error::last_os_error()));
    }
    Ok(())
}

/// Signal that interrupts system calls. Its default action is to be ignored, so a late one is harmless.
const WAKE_SIGNAL: i32 = libc::SIGURG;

static ABANDONED: AtomicBool = AtomicBool::new(false);

/// Stops the repetition of interrupted system calls, because the process is about to end.
pub fn abandon() {
    static HANDLED: Once = Once::new();
    ABANDONED.store(true, Ordering::Release);
    HANDLED.call_once(|| {
        // SAFETY: all zeroes is a valid `sigaction`. Without `SA_RESTART` the signal interrupts the current call.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = no_op as *const () as usize;
        // SAFETY: the handler does nothing, and `action` outlives the call.
        unsafe { libc::sigaction(WAKE_SIGNAL, &raw const action, std::ptr::null_mut()) };
    });
}

extern "C" fn no_op(_: i32) {}

/// Reports whether the process no longer waits for targets.
#[inline]
pub(crate) fn is_abandoned() -> bool {
    ABANDONED.load(Ordering::Acquire)
}

/// Returns the ID of the calling thread, as shown by `ps` and `top`.
#[must_use]
pub fn id() -> u32 {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::gettid() }.unsigned_abs()
}

/// Interrupts the system call of a thread of this process, if the call can be interrupted. `thread` is the thread ID.
pub fn interrupt(thread: u32) {
    // SAFETY: the call takes only numbers. The signal has a handler after `abandon` and is ignored before.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread as libc::pid_t, WAKE_SIGNAL) };
}

/// Raises the limit of open files to the maximum that the host permits: the usual limit of 1024 is a thousand workers
/// too low. If this fails, opening the files reports the error.
pub fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Has all threads allocate from one arena if the address space of the process is limited (`ulimit -v`). Otherwise the
/// allocator of glibc reserves 64 MiB for each of its arenas, of which only little is used. Must be called before threads
/// start.
pub fn save_address_space() {
    #[cfg(target_env = "gnu")]
    if getrlimit(Resource::As).current.is_some() {
        // SAFETY: the call takes only numbers.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    }
}

/// Fewest items for which another thread is worth its start.
const FEWEST_PER_THREAD: usize = 256;

/// Applies `work`, which should take microseconds, to all items and returns the results in their order. With many items,
/// all CPUs take part.
pub fn on_all_processors<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let share = items.len().div_ceil(processors).max(FEWEST_PER_THREAD);
    thread::scope(|scope| {
        let work = &work;
        let (own, others) = items.split_at(share.min(items.len()));
        let others: Vec<_> = others
            .chunks(share)
            .map(|chunk| {
                let chunk_work = move || chunk.iter().map(work).collect::<Vec<_>>();
                // Without threads to spare, this one does the work.
                thread::Builder::new().spawn_scoped(scope, chunk_work).map_err(|_| chunk)
            })
            .collect();
        let mut results = Vec::with_capacity(items.len());
        results.extend(own.iter().map(work));
        for other in others {
            match other.map(thread::ScopedJoinHandle::join) {
                Ok(Ok(more)) => results.extend(more),
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(chunk) => results.extend(chunk.iter().map(work)),
            }
        }
        results
    })
}

fn unavailable(cpus: &[u32], error: &io::Error) -> Error {
    let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
    Error::system(ErrorKind::Host, "run on", format!("CPUs {}", list.join(",")), error)
        .with_remedy("use CPUs that exist and are allowed on this host (see nproc and taskset -p)")
}
