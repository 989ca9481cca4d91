//! The clock of real targets: nanoseconds since an instant shared by all workers.
//!
//! If the kernel trusts the CPU's time stamp counter to be steady and equal on all CPUs, the counter is
//! read directly. That takes 10 ns instead of the 22 ns of a system clock that reads the same counter.

use std::mem::MaybeUninit;

use units::Nanos;

/// Distance to a deadline below which a thread polls instead of sleeping.
///
/// Waking a sleeping thread takes tens of microseconds, too long for a million arrivals per second.
pub(crate) const SPIN: Nanos = Nanos::from_micros(60);

/// A running clock. Copies agree with each other on all threads.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    source: ClockSource,
}

#[derive(Clone, Copy, Debug)]
enum ClockSource {
    /// The time stamp counter: its value at the start, and nanoseconds per tick times 2^32.
    #[cfg(target_arch = "x86_64")]
    Counter { start: u64, scale: u64 },
    /// `CLOCK_MONOTONIC`: its value at the start, in nanoseconds.
    System { start: u64 },
}

impl MonotonicClock {
    /// Records the time at the start of a program, so that [`Self::start`] need not wait to compare the two clocks.
    pub fn prepare() {
        counter::prepare();
    }

    /// Starts a clock at zero. If the counter must be compared with the system's clock, this takes a millisecond less
    /// the time since [`Self::prepare`]. The rate is then within 20 ppm of the system's.
    #[must_use]
    pub fn start() -> Self {
        let source = counter::source().unwrap_or_else(|| ClockSource::System { start: monotonic() });
        Self { source }
    }

    /// Returns the time since the start.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Nanos {
        Nanos::new(match self.source {
            #[cfg(target_arch = "x86_64")]
            ClockSource::Counter { start, scale } => counter::elapsed(start, scale),
            ClockSource::System { start } => monotonic() - start,
        })
    }

    /// Waits until `instant`: sleeps while that is safe, then polls, so that it returns within a microsecond on an idle
    /// CPU. Returns at once for [`Nanos::MAX`], and early if a signal arrives.
    pub fn sleep_until(&self, instant: Nanos) {
        if instant == Nanos::MAX {
            return;
        }
        loop {
            let left = instant - self.now();
            if left == Nanos::ZERO {
                return;
            }
            match sleep_before(left) {
                Some(length) if sleep(length) => return,
                Some(_) => {}
                None => std::hint::spin_loop(),
            }
        }
    }
}

/// Returns the length of the sleep before a deadline that is `left` away, or `None` if only polling can meet it.
///
/// A long sleep is shortened by 1/4096, because the system's clock and the counter may differ by some ppm.
pub(crate) fn sleep_before(left: Nanos) -> Option<Nanos> {
    (left > SPIN).then(|| left - SPIN - Nanos::new(left.get() / 4096))
}

/// Sleeps and returns whether a signal interrupted the sleep.
fn sleep(length: Nanos) -> bool {
    let time = timespec(length);
    // SAFETY: `time` outlives the call, and a null pointer for the remainder is allowed.
    unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &raw const time, std::ptr::null_mut()) == libc::EINTR }
}

/// Keeps the CPU busy for this many cycles: of its time stamp counter, which runs at a constant rate, or where there
/// is none, of a loop with one hint each.
#[cold]
pub(crate) fn spin(cycles: u32) {
    #[cfg(target_arch = "x86_64")]
    counter::spin(cycles);
    #[cfg(not(target_arch = "x86_64"))]
    for _ in 0..cycles {
        std::hint::spin_loop();
    }
}

/// Converts a duration for system calls.
pub(crate) fn timespec(length: Nanos) -> libc::timespec {
    let (secs, nanos) = (length.get() / 1_000_000_000, length.get() % 1_000_000_000);
    libc::timespec { tv_sec: secs as _, tv_nsec: nanos as _ }
}

/// Returns the time of a clock by its number in `clock_gettime`, in nanoseconds.
///
/// # Errors
/// Fails if the kernel has no such clock.
pub fn clock_ns(id: u32) -> std::io::Result<u64> {
    let id = libc::clockid_t::try_from(id).map_err(|_| std::io::Error::from_raw_os_error(libc::EINVAL))?;
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the call fills `time` unless it fails.
    let time = unsafe {
        if libc::clock_gettime(id, time.as_mut_ptr()) < 0 {
            return Err(std::io::Error::last_os_error());
        }
        time.assume_init()
    };
    Ok(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Returns `CLOCK_MONOTONIC` in nanoseconds.
fn monotonic() -> u64 {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the call fills `time`; it cannot fail for this clock and a valid pointer.
    let time = unsafe {
        libc::clock_gettime(libc::CLOCK_MONOTONIC, time.as_mut_ptr());
        time.assume_init()
    };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(target_arch = "x86_64")]
mod counter {
    use core::arch::x86_64::_rdtsc;
    use std::sync::OnceLock;

    use super::{ClockSource, monotonic};

    /// The kernel's current clock source. It is not the counter if the counter is unsteady or differs between
    /// CPUs.
    const CLOCKSOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    /// Minimum and maximum time between the two comparisons of the clocks, in nanoseconds. After a suspend or migration
    /// of the host only one of the clocks would have advanced.
    const COMPARED_NS: std::ops::Range<u64> = 1_000_000..1_000_000_000;
    /// Values of the counter and of the system's clock at program start.
    static PREPARED: OnceLock<(u64, u64)> = OnceLock::new();

    /// Waits until the counter has advanced by this much, without giving up the CPU.
    pub(super) fn spin(cycles: u32) {
        // SAFETY: reading the counter has no preconditions.
        let read = || unsafe { _rdtsc() };
        let start = read();
        while read().wrapping_sub(start) < u64::from(cycles) {
            std::hint::spin_loop();
        }
    }

    pub(super) fn prepare() {
        PREPARED.get_or_init(read_both);
    }

    pub(super) fn source() -> Option<ClockSource> {
        if std::fs::read_to_string(CLOCKSOURCE).ok()?.trim() != "tsc" {
            return None;
        }
        let prepared = PREPARED.get().copied().filter(|(_, at)| monotonic() - at < COMPARED_NS.end);
        let (first_ticks, first) = prepared.unwrap_or_else(read_both);
        while monotonic() - first < COMPARED_NS.start {
            std::hint::spin_loop();
        }
        let (start, now) = read_both();
        let scale = (u128::from(now - first) << 32) / u128::from(start.checked_sub(first_ticks)?.max(1));
        Some(ClockSource::Counter { start, scale: u64::try_from(scale).ok()? })
    }

    #[inline]
    pub(super) fn elapsed(start: u64, scale: u64) -> u64 {
        let ticks = ticks().saturating_sub(start);
        ((u128::from(ticks) * u128::from(scale)) >> 32) as u64
    }

    /// Returns both clocks at one instant: the closest of several attempts, because an interrupt may separate the two
    /// readings.
    fn read_both() -> (u64, u64) {
        let attempt = || {
            let before = ticks();
            let system = monotonic();
            let width = ticks().saturating_sub(before);
            (width, before + width / 2, system)
        };
        let (_, counter, system) = (0..16).map(|_| attempt()).min().unwrap_or_else(attempt);
        (counter, system)
    }

    #[inline]
    fn ticks() -> u64 {
        // SAFETY: every x86-64 processor has the instruction, and Linux permits it to programs.
        unsafe { _rdtsc() }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod counter {
    use super::ClockSource;

    pub(super) fn prepare() {}

    pub(super) fn source() -> Option<ClockSource> {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn agrees_with_the_system_clock() {
        let clock = MonotonicClock::start();
        // Both clocks at one instant: on a busy host the thread may be descheduled between the readings.
        let both = || loop {
            let (before, now) = (Instant::now(), clock.now());
            if before.elapsed() < Duration::from_micros(50) {
                return (before, now);
            }
        };
        let (system, from) = both();
        std::thread::sleep(Duration::from_millis(50));
        let (end, now) = both();
        let (expected, measured) = ((end - system).as_nanos() as f64, (now - from).get() as f64);
        assert!((measured / expected - 1.0).abs() < 0.01, "{measured} for {expected}");
    }

    #[test]
    fn never_runs_backwards() {
        let clock = MonotonicClock::start();
        let mut last = clock.now();
        for _ in 0..100_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
    }

    #[test]
    fn copies_agree_across_threads() {
        let clock = MonotonicClock::start();
        let before = clock.now();
        let inside = std::thread::spawn(move || clock.now()).join().unwrap();
        let after = clock.now();
        assert!(before <= inside && inside <= after, "{before:?} {inside:?} {after:?}");
    }

    #[test]
    fn sleeps_until_the_instant_and_not_less() {
        let clock = MonotonicClock::start();
        for micros in [0, 5, 50, 500, 5_000] {
            let until = clock.now() + Nanos::from_micros(micros);
            clock.sleep_until(until);
            assert!(clock.now() >= until);
        }
        clock.sleep_until(Nanos::MAX);
    }

    #[test]
    fn naps_end_before_the_deadline() {
        assert_eq!(sleep_before(Nanos::from_micros(60)), None);
        assert_eq!(sleep_before(Nanos::from_micros(61)), Some(Nanos::new(1_000 - 14)));
        let long = sleep_before(Nanos::from_secs(10)).unwrap();
        assert!(long < Nanos::from_secs(10) - Nanos::from_millis(2));
    }
}
