//! CPU usage of threads and the highest processor number.

use units::{CpuUse, Nanos};

/// Returns the CPU usage of the calling thread since it started.
#[must_use]
pub fn cpu_use_of_thread() -> CpuUse {
    // SAFETY: all zeroes is a valid `rusage`; it is plain data.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `used` outlives the call, which cannot fail for the calling thread.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut used) };
    let nanos = |time: libc::timeval| Nanos::from_secs(time.tv_sec as u64) + Nanos::from_micros(time.tv_usec as u64);
    CpuUse {
        user: nanos(used.ru_utime),
        system: nanos(used.ru_stime),
        context_switches: (used.ru_nvcsw + used.ru_nivcsw) as u64,
        major_faults: used.ru_majflt as u64,
        minor_faults: used.ru_minflt as u64,
    }
}

/// Returns the highest processor number of this host, whether or not this process may use that processor.
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
        let before = cpu_use_of_thread();
        let spun = std::thread::spawn(|| {
            let before = cpu_use_of_thread();
            while cpu_use_of_thread().since(before).user < Nanos::from_millis(20) {
                std::hint::black_box((0..10_000).sum::<u64>());
            }
        });
        spun.join().unwrap();
        assert!(cpu_use_of_thread().since(before).user < Nanos::from_millis(20));
    }
}
