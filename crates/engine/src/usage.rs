//! CPU and memory usage of threads, and the highest processor number.

use units::Nanos;

/// Processor time, context switches and page faults since a thread began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time in the program.
    pub user: Nanos,
    /// Time in the kernel.
    pub system: Nanos,
    /// Context switches, both those that it asked for and those that it did not.
    pub context_switches: u64,
    /// Page faults that needed the disk.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
}

impl Usage {
    /// Of the calling thread.
    #[must_use]
    pub fn of_thread() -> Self {
        // SAFETY: all zeroes is a valid `rusage`; it is plain data.
        let mut used: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `used` outlives the call, which cannot fail for the calling thread.
        unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut used) };
        let nanos =
            |time: libc::timeval| Nanos::from_secs(time.tv_sec as u64) + Nanos::from_micros(time.tv_usec as u64);
        Self {
            user: nanos(used.ru_utime),
            system: nanos(used.ru_stime),
            context_switches: (used.ru_nvcsw + used.ru_nivcsw) as u64,
            major_faults: used.ru_majflt as u64,
            minor_faults: used.ru_minflt as u64,
        }
    }

    /// What was used between `earlier` and this.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user: self.user - earlier.user,
            system: self.system - earlier.system,
            context_switches: self.context_switches.saturating_sub(earlier.context_switches),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
        }
    }
}

/// The highest number that a processor of this host can have, whether or not this process may use it.
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
    fn work_is_counted_for_the_thread_that_does_it() {
        let before = Usage::of_thread();
        let spun = std::thread::spawn(|| {
            let before = Usage::of_thread();
            while Usage::of_thread().since(before).user < Nanos::from_millis(20) {
                std::hint::black_box((0..10_000).sum::<u64>());
            }
        });
        spun.join().unwrap();
        assert!(Usage::of_thread().since(before).user < Nanos::from_millis(20));
    }
}
