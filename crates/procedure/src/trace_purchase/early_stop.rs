//! Ends a replay as soon as it has surely missed a bound.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use job::Plan;
use plan::replay::ReplayBounds;
use runner::{Observer, RunControl, RunCounters, WorkerPlan};

/// Signal of a replay that missed a bound; no process has it.
const MISSED: i32 = 0;

/// Control of a replay that ends when it has missed a bound, or when the whole search ends.
pub(super) struct EarlyStop<'a> {
    control: &'a dyn RunControl,
    bounds: Option<&'a ReplayBounds>,
    /// Requests of the replay.
    planned: u64,
    counters: Arc<Mutex<Option<Arc<RunCounters>>>>,
    has_missed: AtomicBool,
}

/// Observer that gives the counters of a run to its control.
pub(super) struct CountersObserver(Arc<Mutex<Option<Arc<RunCounters>>>>);

impl Observer for CountersObserver {
    fn begin(&mut self, _: &Plan, _: &[WorkerPlan], counters: &Arc<RunCounters>) {
        counters.watch();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(counters));
    }
}

impl<'a> EarlyStop<'a> {
    /// Creates the control of a replay of `planned` requests; without bounds it ends only with the search.
    pub(super) fn new(control: &'a dyn RunControl, bounds: Option<&'a ReplayBounds>, planned: u64) -> Self {
        Self { control, bounds, planned, counters: Arc::default(), has_missed: AtomicBool::new(false) }
    }

    /// Returns the observer of the replay; `None` if its counters are not needed.
    pub(super) fn observer(&self) -> Option<CountersObserver> {
        self.bounds.map(|_| CountersObserver(Arc::clone(&self.counters)))
    }

    /// Reports whether it ended the replay.
    pub(super) fn has_missed(&self) -> bool {
        self.has_missed.load(Ordering::Relaxed)
    }

    /// Looks at the latencies so far.
    fn check(&self) -> bool {
        if self.has_missed() {
            return true;
        }
        let Some(bounds) = self.bounds else { return false };
        let counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(counters) = counters.as_ref() else { return false };
        let missed = is_missed(bounds, self.planned, counters);
        self.has_missed.store(missed, Ordering::Relaxed);
        missed
    }
}

/// Reports whether the requests so far miss a bound, however fast all others are.
fn is_missed(bounds: &ReplayBounds, planned: u64, counters: &RunCounters) -> bool {
    let mut late = vec![0_u64; bounds.percentiles.len()];
    let mut sum_ns = 0.0;
    for number in 0..counters.worker_count() {
        let glance = counters.worker(number).glance();
        // Without instants, as in a closed loop, latencies count from the issue.
        let has_instants = glance.response.iter().any(|latency| latency.moments.count() > 0);
        for latency in if has_instants { &glance.response } else { &glance.service } {
            sum_ns += latency.moments.mean_ns() * latency.moments.count() as f64;
            for (bucket, count) in latency.histogram.buckets() {
                let (low, _) = meter::range_of(bucket);
                for (late, (_, bound)) in late.iter_mut().zip(&bounds.percentiles) {
                    // A bucket of which a part is within the bound counts as within it.
                    *late += if low > bound.get() { count } else { 0 };
                }
            }
        }
    }
    let is_over =
        |(late, (share, _)): (&u64, &(f64, units::Nanos))| *late as f64 > (1.0 - share) * planned as f64 + 1.0;
    let is_slow = bounds.mean.is_some_and(|mean| sum_ns > mean.get() as f64 * planned as f64);
    is_slow || late.iter().zip(&bounds.percentiles).any(is_over)
}

impl RunControl for EarlyStop<'_> {
    fn end(&self) -> Option<i32> {
        self.control.end().or_else(|| self.check().then_some(MISSED))
    }

    fn gives_up(&self) -> bool {
        self.control.gives_up() || self.has_missed()
    }

    fn is_urgent(&self) -> bool {
        self.control.is_urgent()
    }

    fn grace(&self) -> Duration {
        self.control.grace()
    }

    fn elapsed(&self) -> Duration {
        self.control.elapsed()
    }
}
