//! Counters that workers publish for observers. Observers never block workers.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use meter::{Meter, MeterSnapshot, Summary};
use units::Nanos;
use volume::ServiceStage;

#[derive(Debug, Default)]
pub struct WorkerCounters {
    ios: [AtomicU64; 3],
    bytes: [AtomicU64; 3],
    /// Sum of the completion latencies in nanoseconds.
    service_ns: AtomicU64,
    /// Time of these counts on the target's clock, in nanoseconds.
    counted_ns: AtomicU64,
    running: AtomicBool,
    /// Thread ID; zero before the worker begins.
    thread: AtomicU32,
    started_unix_ms: AtomicU64,
    published: AtomicU64,
    summary: Mutex<Option<Summary>>,
    glance: Mutex<MeterSnapshot>,
}

/// Counters of all workers of a run.
#[derive(Debug, Default)]
pub struct RunCounters {
    workers: Vec<WorkerCounters>,
    /// Number of requests for summaries of all workers.
    requested: AtomicU64,
    /// Whether an observer reads glances.
    watched: AtomicBool,
    /// Activity of the limits of modelled volumes, and the time of its last update.
    stages: Mutex<(Nanos, Vec<ServiceStage>)>,
}

/// Totals over all workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Operations completed: reads, writes, trims.
    pub ios: [u64; 3],
    /// Bytes transferred: reads, writes, trims.
    pub bytes: [u64; 3],
    /// Number of running workers.
    pub running: usize,
}

/// What a worker has done up to an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CountedWork {
    /// Time of these counts on the target's clock.
    pub(crate) at: Nanos,
    /// Operations completed.
    pub(crate) operations: u64,
    /// Bytes transferred.
    pub(crate) bytes: u64,
    /// Sum of their completion latencies in nanoseconds, modulo 2^64.
    pub(crate) service_ns: u64,
}

impl RunCounters {
    /// Creates counters for this number of workers.
    #[must_use]
    pub fn new(workers: usize) -> Self {
        Self { workers: (0..workers).map(|_| WorkerCounters::default()).collect(), ..Self::default() }
    }

    /// Makes workers publish glances from now on.
    pub fn watch(&self) {
        self.watched.store(true, Ordering::Relaxed);
    }

    /// Returns whether an observer reads glances.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.watched.load(Ordering::Relaxed)
    }

    /// Returns the interval between glances of one worker. A glance costs some microseconds, so those of a thousand
    /// workers take less than 1 % of a CPU.
    fn glance_every(&self) -> Nanos {
        Nanos::from_millis((self.workers.len() as u64).max(190))
    }

    /// Returns the interval between summaries that a worker publishes unasked, in case its thread hangs before a
    /// request. A summary costs up to 0.1 ms, so all of them take at most 1 % of a CPU.
    #[must_use]
    pub fn summary_every(&self) -> Nanos {
        Nanos::from_millis((10 * self.workers.len() as u64).max(1000))
    }

    /// Publishes the activity of the limits of modelled volumes up to `now`.
    pub fn publish_stages(&self, now: Nanos, stages: Vec<ServiceStage>) {
        *locked(&self.stages) = (now, stages);
    }

    /// Returns the activity of the limits of modelled volumes, and the time of its last update.
    #[must_use]
    pub fn stages(&self) -> (Nanos, Vec<ServiceStage>) {
        locked(&self.stages).clone()
    }

    #[must_use]
    pub fn worker_count(&self) -> usize {
        self.workers.len()
    }

    /// Returns the counters of worker `number`.
    #[must_use]
    pub fn worker(&self, number: usize) -> &WorkerCounters {
        &self.workers[number]
    }

    /// Returns the totals so far.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for worker in &self.workers {
            totals.running += usize::from(worker.running.load(Ordering::Relaxed));
            for kind in 0..3 {
                totals.ios[kind] += worker.ios[kind].load(Ordering::Relaxed);
                totals.bytes[kind] += worker.bytes[kind].load(Ordering::Relaxed);
            }
        }
        totals
    }

    /// Requests a summary from all workers. [`RunCounters::has_summaries`] is true once all running ones have published
    /// one.
    pub fn request_summaries(&self) {
        self.requested.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns whether every running worker has answered the last request.
    #[must_use]
    pub fn has_summaries(&self) -> bool {
        let requested = self.requested.load(Ordering::Relaxed);
        let waiting = |worker: &WorkerCounters| {
            worker.running.load(Ordering::Relaxed) && worker.published.load(Ordering::Acquire) < requested
        };
        !self.workers.iter().any(waiting)
    }

    /// Publishes totals, and a glance if an observer reads glances.
    pub fn publish(&self, worker: &WorkerCounters, meter: &mut Meter, now: Nanos) {
        worker.count(meter, now);
        if self.is_watched() {
            worker.publish_glance(meter, now, self.glance_every());
        }
    }

    /// Publishes the final totals of a worker.
    pub fn publish_last(&self, worker: &WorkerCounters, meter: &mut Meter, now: Nanos) {
        worker.count(meter, now);
        if self.is_watched() {
            meter.glance(now, &mut locked(&worker.glance));
        }
    }

    /// Returns how many times summaries were requested.
    #[must_use]
    pub fn requested(&self) -> u64 {
        self.requested.load(Ordering::Relaxed)
    }

    /// Returns the latest summary of worker `number`, if it has published one.
    #[must_use]
    pub fn summary(&self, number: usize) -> Option<Summary> {
        locked(&self.workers[number].summary).clone()
    }
}

/// Locks even if a thread panicked while it locked the lock.
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl WorkerCounters {
    /// Returns the bytes transferred so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.iter().map(|bytes| bytes.load(Ordering::Relaxed)).sum()
    }

    /// Returns the operations completed so far.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.ios.iter().map(|ios| ios.load(Ordering::Relaxed)).sum()
    }

    /// Returns the counts so far.
    pub(crate) fn counted(&self) -> CountedWork {
        CountedWork {
            at: Nanos::new(self.counted_ns.load(Ordering::Relaxed)),
            operations: self.operations(),
            bytes: self.bytes(),
            service_ns: self.service_ns.load(Ordering::Relaxed),
        }
    }

    /// Returns the thread ID; zero before the worker begins.
    #[must_use]
    pub fn thread(&self) -> u32 {
        self.thread.load(Ordering::Relaxed)
    }

    /// Sets the thread ID.
    pub fn set_thread(&self, thread: u32) {
        self.thread.store(thread, Ordering::Relaxed);
    }

    /// Returns the start time in milliseconds since 1970; zero before the worker begins.
    #[must_use]
    pub fn started_unix_ms(&self) -> u64 {
        self.started_unix_ms.load(Ordering::Relaxed)
    }

    /// Sets the start time.
    pub fn set_started_unix_ms(&self, started: u64) {
        self.started_unix_ms.store(started, Ordering::Relaxed);
    }

    /// Returns whether the worker is running.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.running.load(Ordering::Relaxed)
    }

    /// Sets whether the worker is running.
    pub fn set_running(&self, running: bool) {
        self.running.store(running, Ordering::Relaxed);
    }

    /// Publishes totals.
    fn count(&self, meter: &Meter, now: Nanos) {
        self.counted_ns.store(now.get(), Ordering::Relaxed);
        for (counter, value) in self.ios.iter().zip(meter.ios()).chain(self.bytes.iter().zip(meter.bytes())) {
            counter.store(value, Ordering::Relaxed);
        }
        self.service_ns.store(meter.service_ns(), Ordering::Relaxed);
    }

    /// Returns the latest glance.
    pub fn glance(&self) -> MutexGuard<'_, MeterSnapshot> {
        locked(&self.glance)
    }

    /// Publishes a glance unless the latest one is recent or an observer is reading it.
    fn publish_glance(&self, meter: &mut Meter, now: Nanos, every: Nanos) {
        if let Ok(mut glance) = self.glance.try_lock()
            && now.since(glance.at) >= every
        {
            meter.glance(now, &mut glance);
        }
    }

    /// Returns whether the worker has answered this number of requests for summaries.
    #[must_use]
    pub fn has_answered(&self, requested: u64) -> bool {
        self.published.load(Ordering::Relaxed) >= requested
    }

    /// Publishes a summary that answers this number of requests.
    pub fn publish_summary(&self, summary: Summary, answer_to: u64) {
        *locked(&self.summary) = Some(summary);
        self.published.store(answer_to, Ordering::Release);
    }

    /// Publishes the results of a worker that has ended but still has open files.
    pub fn publish_final(&self, summary: Summary) {
        self.publish_summary(summary, u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glances_are_published_for_observers_and_never_wait_for_them() {
        let counters = RunCounters::new(1);
        let worker = counters.worker(0);
        let mut meter = Meter::new(meter::MeterOptions::default());
        let mut publish = |ms| counters.publish(worker, &mut meter, Nanos::from_millis(ms));
        publish(200);
        assert_eq!(worker.glance().at, Nanos::ZERO, "no observer");
        counters.watch();
        publish(400);
        publish(500);
        assert_eq!(worker.glance().at, Nanos::from_millis(400), "the last one is recent");
        let reader = worker.glance();
        publish(800);
        drop(reader);
        assert_eq!(worker.glance().at, Nanos::from_millis(400), "an observer was reading");
        counters.publish_last(worker, &mut meter, Nanos::from_millis(801));
        assert_eq!(worker.glance().at, Nanos::from_millis(801));
    }

    #[test]
    fn a_request_is_answered_once_by_each_running_worker() {
        let counters = RunCounters::new(2);
        assert!(counters.has_summaries());
        counters.worker(0).set_running(true);
        counters.request_summaries();
        assert!(!counters.has_summaries() && !counters.worker(0).has_answered(counters.requested()));
        counters.worker(0).publish_summary(Summary::default(), counters.requested());
        assert!(counters.has_summaries() && counters.worker(0).has_answered(counters.requested()));
        assert!(counters.summary(0).is_some() && counters.summary(1).is_none());
    }
}
