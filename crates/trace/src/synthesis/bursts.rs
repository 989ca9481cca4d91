//! Requests that come in bursts, and those that come alone.

use super::phases::PhaseSeries;

/// Which requests are a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BatchRule {
    /// Maximum gap within a batch, in nanoseconds.
    gap_ns: u64,
    /// Least number of requests.
    requests_min: usize,
}

/// Requests that the kernel submits together, and those of a transaction, which wait for each other.
pub(super) const SUBMITTED_TOGETHER: BatchRule = BatchRule { gap_ns: 100_000, requests_min: 8 };
pub(super) const IN_A_ROW: BatchRule = BatchRule { gap_ns: 1_000_000, requests_min: 3 };
/// Maximum number of batches that are kept. Beyond it, those with the smallest gaps are joined.
const BATCHES_MAX: usize = 131_072;
/// Least fraction of the requests of a class in batches, and greatest fraction of the time, for bursts to be separated.
const BURSTS_MIN: f64 = 0.1;
const TIME_MAX: f64 = 0.25;

/// Requests that follow each other closely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    pub(super) requests: u64,
    pub(super) bytes: u64,
    /// Number of batches that are joined.
    pub(super) parts: u64,
}

/// Batches of a class, and its other requests. Memory: 5 MiB.
#[derive(Clone, Debug)]
pub(super) struct BatchSeries {
    rule: BatchRule,
    /// Instants of a group of requests that is not a batch yet.
    pending: Vec<u64>,
    pending_bytes: u64,
    current: Option<Batch>,
    last: u64,
    batches: Vec<Batch>,
    /// Gap up to which batches are joined, in nanoseconds.
    joined_gap_ns: u64,
    lone: PhaseSeries,
    lone_bytes: u64,
    lone_requests: u64,
}

/// All batches of a class, and its other requests.
#[derive(Clone, Debug)]
pub(super) struct Batches {
    batches: Vec<Batch>,
    pub(super) lone: PhaseSeries,
    /// Mean size of the other requests in bytes; `None` if there are none.
    pub(super) lone_size: Option<f64>,
    /// Mean time from one request of the class to the next in nanoseconds.
    gap_ns: f64,
}

impl BatchSeries {
    pub(super) fn new(rule: BatchRule) -> Self {
        Self {
            rule,
            pending: Vec::with_capacity(rule.requests_min),
            pending_bytes: 0,
            current: None,
            last: 0,
            batches: Vec::new(),
            joined_gap_ns: rule.gap_ns,
            lone: PhaseSeries::new(),
            lone_bytes: 0,
            lone_requests: 0,
        }
    }

    pub(super) const fn rule(&self) -> BatchRule {
        self.rule
    }

    /// Adds a request of some bytes that is issued at `at`, in nanoseconds, not before the last one.
    #[inline]
    pub(super) fn add(&mut self, at: u64, bytes: u64) {
        if at - self.last > self.rule.gap_ns {
            self.end_group();
        }
        self.last = at;
        match &mut self.current {
            Some(batch) => {
                batch.end_ns = at;
                batch.requests += 1;
                batch.bytes += bytes;
            }
            None => {
                self.pending.push(at);
                self.pending_bytes += bytes;
                if self.pending.len() == self.rule.requests_min {
                    let (begin_ns, requests) = (self.pending[0], self.pending.len() as u64);
                    let bytes = std::mem::take(&mut self.pending_bytes);
                    self.current = Some(Batch { begin_ns, end_ns: at, requests, bytes, parts: 1 });
                    self.pending.clear();
                }
            }
        }
    }

    fn end_group(&mut self) {
        self.lone_requests += self.pending.len() as u64;
        self.lone_bytes += std::mem::take(&mut self.pending_bytes);
        self.pending.drain(..).for_each(|at| self.lone.add(at));
        let Some(batch) = self.current.take() else { return };
        self.batches.push(batch);
        while self.batches.len() >= BATCHES_MAX {
            self.joined_gap_ns = self.joined_gap_ns.saturating_mul(2);
            let gap_ns = self.joined_gap_ns;
            self.batches.dedup_by(|batch, before| {
                let joins = batch.begin_ns - before.end_ns <= gap_ns;
                if joins {
                    before.join(batch);
                }
                joins
            });
        }
    }

    /// Returns the batches of a class of which this many requests are issued in `runtime_ns`; `None` if it has few, or if
    /// most of it is one.
    pub(super) fn finished(&self, requests: u64, runtime_ns: u64) -> Option<Batches> {
        let mut all = self.clone();
        all.end_group();
        let in_batches = requests_of(&all.batches);
        let time: u64 = all.batches.iter().map(|batch| batch.end_ns - batch.begin_ns).sum();
        let has_bursts =
            in_batches as f64 >= BURSTS_MIN * requests as f64 && time as f64 <= TIME_MAX * runtime_ns as f64;
        let gap_ns = runtime_ns as f64 / requests.max(1) as f64;
        let lone_size = (all.lone_requests > 0).then(|| all.lone_bytes as f64 / all.lone_requests as f64);
        (in_batches > 0 && has_bursts).then_some(Batches { batches: all.batches, lone: all.lone, lone_size, gap_ns })
    }
}

impl Batches {
    /// Returns the number of requests in batches.
    pub(super) fn requests(&self) -> u64 {
        requests_of(&self.batches)
    }

    /// Returns the bursts, the largest first. Batches that arrive while others before would not have left at `multiple`
    /// times the mean rate belong to their burst.
    pub(super) fn bursts(&self, multiple: f64) -> Vec<&[Batch]> {
        let (mut begins, mut drained_ns) = (Vec::new(), -1.0);
        for (at, batch) in self.batches.iter().enumerate() {
            let begin_ns = batch.begin_ns as f64;
            if begin_ns > drained_ns {
                begins.push(at);
            }
            drained_ns = begin_ns.max(drained_ns) + batch.requests as f64 * self.gap_ns / multiple;
        }
        let ends = begins.iter().skip(1).copied().chain([self.batches.len()]);
        let mut bursts: Vec<&[Batch]> =
            begins.iter().zip(ends).map(|(begin, end)| &self.batches[*begin..end]).collect();
        bursts.sort_by_key(|burst| std::cmp::Reverse(requests_of(burst)));
        bursts
    }
}

impl Batch {
    fn join(&mut self, next: &Self) {
        self.end_ns = next.end_ns;
        self.requests += next.requests;
        self.bytes += next.bytes;
        self.parts += next.parts;
    }
}

pub(super) fn requests_of(burst: &[Batch]) -> u64 {
    burst.iter().map(|batch| batch.requests).sum()
}

/// Returns the mean size of the requests of bursts in bytes.
pub(super) fn mean_size<'a>(bursts: impl IntoIterator<Item = &'a Batch>) -> f64 {
    let sum = |(bytes, requests): (u64, u64), batch: &Batch| (bytes + batch.bytes, requests + batch.requests);
    let (bytes, requests) = bursts.into_iter().fold((0, 0), sum);
    bytes as f64 / requests.max(1) as f64
}
