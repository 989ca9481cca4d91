//! CPU usage of threads and the highest CPU number.

use std::cell::RefCell;

use units::{CpuUse, Nanos};

thread_local! {
    /// IDs of the threads that help this one.
    static HELPERS: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// Counts the CPU usage of a thread as that of the calling thread from now on.
pub(crate) fn add_helper(thread: u32) {
    HELPERS.with_borrow_mut(|helpers| helpers.push(thread));
}

/// Forgets the helpers of the calling thread, which have ended.
pub(crate) fn forget_helpers() {
    HELPERS.with_borrow_mut(Vec::clear);
}

/// Returns the CPU usage of the calling thread since it started, and of its helpers since they started. The kernel tells
/// that of helpers in units of 10 ms.
#[must_use]
pub fn cpu_use_of_worker() -> CpuUse {
    HELPERS.with_borrow(|helpers| {
        let mut used = cpu_use_of_thread();
        helpers.iter().filter_map(|&thread| of_other_thread(thread)).for_each(|helper| used.merge(&helper));
        used
    })
}

/// Returns the CPU usage of another thread of this process; `None` after its end. See `proc_pid_stat(5)`.
fn of_other_thread(thread: u32) -> Option<CpuUse> {
    let read = |name| std::fs::read_to_string(format!("/proc/self/task/{thread}/{name}")).ok();
    let (stat, status) = (read("stat")?, read("status")?);
    // The name of the thread is in brackets, and may have any characters.
    let fields: Vec<u64> =
        stat.rsplit_once(')')?.1.split_whitespace().skip(1).map(|field| field.parse().unwrap_or(0)).collect();
    let field = |number: usize| fields.get(number - 4).copied().unwrap_or(0);
    let ticks = |count: u64| Nanos::from_millis(count.saturating_mul(10)).get();
    let switches = status.lines().filter(|line| line.contains("voluntary_ctxt_switches:"));
    Some(CpuUse {
        user_ns: ticks(field(14)),
        system_ns: ticks(field(15)),
        context_switches: switches.filter_map(|line| line.rsplit('\t').next()?.parse::<u64>().ok()).sum(),
        major_faults: field(12),
        minor_faults: field(10),
    })
}

/// Returns the CPU usage of the calling thread since it started.
#[must_use]
pub(crate) fn cpu_use_of_thread() -> CpuUse {
    // SAFETY: all zeroes is a valid `rusage`; it is plain data.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `used` outlives the call, which cannot fail for the calling thread.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut used) };
    let ns =
        |time: libc::timeval| (Nanos::from_secs(time.tv_sec as u64) + Nanos::from_micros(time.tv_usec as u64)).get();
    CpuUse {
        user_ns: ns(used.ru_utime),
        system_ns: ns(used.ru_stime),
        context_switches: (used.ru_nvcsw + used.ru_nivcsw) as u64,
        major_faults: used.ru_majflt as u64,
        minor_faults: used.ru_minflt as u64,
    }
}

/// Returns the highest CPU number of this host, whether or not this process may use that CPU.
#[must_use]
pub fn last_processor() -> u32 {
    // SAFETY: the call takes a number and touches no memory.
    let count = u32::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) }).unwrap_or(u32::MAX);
    count.max(1) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_use_is_counted_per_thread() {
        const SPUN: Nanos = Nanos::from_millis(20);
        let is_not_of_caller = |_| {
            let before = cpu_use_of_thread();
            let spun = std::thread::spawn(|| {
                let before = cpu_use_of_thread();
                while cpu_use_of_thread().since(before).user_ns < SPUN.get() {
                    std::hint::black_box((0..10_000).sum::<u64>());
                }
            });
            spun.join().unwrap();
            cpu_use_of_thread().since(before).user_ns < SPUN.get()
        };
        // A hypervisor may stop the caller for as long, and some kernels count that as its own use.
        assert!((0..5).any(is_not_of_caller));
    }
}
