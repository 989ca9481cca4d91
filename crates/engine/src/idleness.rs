//! How idle the CPUs are: a thread of idle priority on each counts the time that nothing else needs.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use units::Nanos;

use crate::error::{Error, ErrorKind};
use crate::thread;
use crate::usage::cpu_use_of_thread;

/// Bytes that a unit of work touches: a page.
const PAGE_BYTES: usize = 4096;

/// Units of work that are timed before a run.
const TIMED_UNITS: u32 = 200;

/// Units between two readings of a clock of a thread.
const UNITS_AT_ONCE: u32 = 8;

/// Time to touch each byte of a page once, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkUnit {
    /// Mean over some hundred pages.
    pub mean_us: f64,
    /// Standard deviation.
    pub stddev_us: f64,
}

impl WorkUnit {
    /// Measures units of work on the calling thread.
    #[must_use]
    pub fn measured() -> Self {
        let mut page = [0_u8; PAGE_BYTES];
        touch(&mut page);
        let times: Vec<f64> = (0..TIMED_UNITS)
            .map(|_| {
                let started = Instant::now();
                touch(&mut page);
                started.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        let mean = times.iter().sum::<f64>() / f64::from(TIMED_UNITS);
        let squares: f64 = times.iter().map(|time| (time - mean) * (time - mean)).sum();
        Self { mean_us: mean, stddev_us: (squares / f64::from(TIMED_UNITS - 1)).sqrt() }
    }
}

/// Touches each byte of a page once.
fn touch(page: &mut [u8; PAGE_BYTES]) {
    for byte in page.iter_mut() {
        *byte = black_box(byte.wrapping_add(1));
    }
}

/// What the threads found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Idleness {
    /// The unit of work, measured before the threads began.
    pub unit: WorkUnit,
    /// Processors that this process may use, each with the percentage of time for which it was idle.
    pub processors: Vec<(u32, f64)>,
}

/// Threads of idle priority, one on each CPU that this process may use.
#[derive(Debug)]
pub struct IdleProfiler {
    unit: WorkUnit,
    started: Instant,
    threads: Vec<(u32, Arc<IdleThread>)>,
}

#[derive(Debug, Default)]
struct IdleThread {
    /// Processor time that the thread has used, in nanoseconds.
    used_ns: AtomicU64,
    is_ended: AtomicBool,
}

impl IdleProfiler {
    /// Measures the unit of work and starts the threads.
    ///
    /// # Errors
    /// Fails if the host starts no more threads, or refuses their priority or CPU.
    pub fn start() -> Result<Self, Error> {
        let unit = WorkUnit::measured();
        let mut threads = Vec::new();
        for processor in permitted_processors()? {
            let shared = Arc::new(IdleThread::default());
            let (theirs, (sender, receiver)) = (Arc::clone(&shared), std::sync::mpsc::channel());
            let spawned = std::thread::Builder::new().name(format!("idle-{processor}")).spawn(move || {
                let begun = thread::pin(&[processor]).and_then(|()| idle_priority());
                let is_ready = begun.is_ok();
                // The receiver waits for this.
                let _ = sender.send(begun);
                if is_ready {
                    theirs.count();
                }
            });
            spawned.map_err(|error| Error::system(ErrorKind::Host, "start", "an idle-priority thread", &error))?;
            threads.push((processor, shared));
            // On a processor that is never idle, the thread may not even get to its first step.
            if let Ok(begun) = receiver.recv_timeout(BEGIN_WITHIN) {
                begun?;
            }
        }
        Ok(Self { unit, started: Instant::now(), threads })
    }

    /// Ends the threads and returns what they counted. It does not wait for them: a thread that gets no CPU has
    /// counted all that it got.
    #[must_use]
    pub fn finish(self) -> Idleness {
        let elapsed = self.started.elapsed().as_secs_f64().max(1e-9);
        let percent = |thread: &IdleThread| {
            thread.is_ended.store(true, Ordering::Relaxed);
            let used = thread.used_ns.load(Ordering::Relaxed) as f64 / 1e9;
            (100.0 * used / elapsed).min(100.0)
        };
        let processors = self.threads.iter().map(|(processor, thread)| (*processor, percent(thread))).collect();
        Idleness { unit: self.unit, processors }
    }
}

/// Time that a thread has for its first step.
const BEGIN_WITHIN: Duration = Duration::from_millis(200);

impl IdleThread {
    fn count(&self) {
        let (mut page, before) = ([0_u8; PAGE_BYTES], used_by_thread());
        while !self.is_ended.load(Ordering::Relaxed) {
            (0..UNITS_AT_ONCE).for_each(|_| touch(&mut page));
            self.used_ns.store(used_by_thread().since(before).get(), Ordering::Relaxed);
        }
    }
}

/// Returns the CPU time of the calling thread.
fn used_by_thread() -> Nanos {
    let used = cpu_use_of_thread();
    Nanos::new(used.busy_ns())
}

/// Gives the calling thread the policy `SCHED_IDLE`: it runs only where no other thread wants to.
fn idle_priority() -> Result<(), Error> {
    let priority = libc::sched_param { sched_priority: 0 };
    // SAFETY: `priority` outlives the call; 0 is the calling thread.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const priority) } < 0 {
        let error = std::io::Error::last_os_error();
        return Err(Error::system(ErrorKind::Host, "set idle priority for", "a thread", &error));
    }
    Ok(())
}

/// Returns the CPUs that the calling thread may use.
fn permitted_processors() -> Result<Vec<u32>, Error> {
    // SAFETY: all zeroes is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` outlives the call and has the size given; 0 is the calling thread.
    if unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) } < 0 {
        let error = std::io::Error::last_os_error();
        return Err(Error::system(ErrorKind::Host, "read the CPU affinity of", "a thread", &error));
    }
    // SAFETY: each number is less than the size of the set.
    let is_set = |cpu: &u32| unsafe { libc::CPU_ISSET(*cpu as usize, &set) };
    Ok((0..libc::CPU_SETSIZE as u32).filter(is_set).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_of_work_has_a_duration() {
        let started = Instant::now();
        let unit = WorkUnit::measured();
        let all_us = started.elapsed().as_secs_f64() * 1e6;
        let sum_us = unit.mean_us * f64::from(TIMED_UNITS);
        assert!(unit.mean_us > 0.01 && sum_us <= all_us && unit.stddev_us >= 0.0, "{unit:?} in {all_us} us");
    }

    /// A CPU on which a thread of normal priority never waits is not idle.
    #[test]
    fn a_busy_processor_is_hardly_idle() {
        let processor = permitted_processors().unwrap()[0];
        let ended = Arc::new(AtomicBool::new(false));
        let (theirs, (sender, receiver)) = (Arc::clone(&ended), std::sync::mpsc::channel());
        let busy = std::thread::spawn(move || {
            thread::pin(&[processor]).unwrap();
            sender.send(()).unwrap();
            while !theirs.load(Ordering::Relaxed) {
                black_box(0);
            }
        });
        receiver.recv().unwrap();
        let profiler = IdleProfiler::start().unwrap();
        std::thread::sleep(Duration::from_millis(800));
        let found = profiler.finish();
        ended.store(true, Ordering::Relaxed);
        busy.join().unwrap();
        let (number, percent) = found.processors[0];
        assert_eq!(number, processor);
        assert!(percent < 30.0, "{found:?}");
        assert!(found.processors.iter().all(|(_, percent)| (0.0..=100.0).contains(percent)), "{found:?}");
    }
}
