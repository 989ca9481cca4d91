//! Classes of requests.

use crate::characterize::{Characterizer, TraceProfile, TraceTotals};
use crate::{TraceOperation, TraceRequest};

use super::bursts::{BatchRule, BatchSeries, Batches, IN_A_ROW, SUBMITTED_TOGETHER};
use super::phases::PhaseSeries;
use super::sizes::{SIZE_MAX, SizePercentages};

/// Number of requests of a stream that are not counted as sequential: several requests in a row are no stream.
const STREAM_MIN: u64 = 8;
/// Number of ends of requests that the next requests of a class may continue: with more, chance would make runs of hot
/// blocks.
const ENDS: usize = 16;
/// Number of writes after a flush that belong to the next one. Checkpoints write thousands before they flush.
const UNFLUSHED_MAX: u32 = 8;
/// Size in bytes above which a request is large.
const LARGE_BYTES: u32 = 64 << 10;
/// Classes with a lower fraction of the requests and of the bytes are joined to another one.
const FRACTION_MIN: f64 = 0.005;

/// What the requests of a class have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClassKey {
    /// 0 for reads, 1 for writes, 2 for discards.
    kind: u8,
    pub(super) is_sequential: bool,
    /// Whether a process waits for it and flushes follow such writes closely: a commit.
    pub(super) is_sync: bool,
    pub(super) is_large: bool,
}

impl ClassKey {
    /// Number of classes.
    pub(super) const COUNT: usize = 24;

    /// Returns the class of a request that follows `before` others in its stream, and `unflushed` writes since a flush.
    #[inline]
    pub(super) fn of(request: &TraceRequest, before: u64, unflushed: u32) -> Self {
        let kind = match request.operation {
            TraceOperation::Read => 0,
            TraceOperation::Discard => 2,
            _ => 1,
        };
        Self {
            kind,
            is_sequential: before >= STREAM_MIN,
            is_sync: request.is_sync && kind == 1 && unflushed < UNFLUSHED_MAX,
            is_large: request.length > LARGE_BYTES && kind < 2,
        }
    }

    #[inline]
    pub(super) const fn index(self) -> usize {
        self.kind as usize * 8 + self.is_sequential as usize * 4 + self.is_sync as usize * 2 + self.is_large as usize
    }

    pub(super) const fn of_index(index: usize) -> Self {
        Self { kind: (index / 8) as u8, is_sequential: index & 4 > 0, is_sync: index & 2 > 0, is_large: index & 1 > 0 }
    }

    pub(super) const fn is_read(self) -> bool {
        self.kind == 0
    }

    #[inline]
    pub(super) const fn is_write(self) -> bool {
        self.kind == 1
    }

    pub(super) const fn is_trim(self) -> bool {
        self.kind == 2
    }
}

/// Requests of one class.
#[derive(Clone, Debug)]
pub(super) struct ClassCounts {
    characterizer: Characterizer,
    series: PhaseSeries,
    batches: [BatchSeries; 2],
    gaps: Gaps,
    pub(super) flushes: u64,
    divided: u64,
    /// Ends of the last requests, and the number of requests that continue one.
    ends: [u64; ENDS],
    next_end: usize,
    continued: u64,
    /// Positions that are used, in bytes; of all devices.
    begin: u64,
    end: u64,
}

impl ClassCounts {
    pub(super) fn new() -> Self {
        Self {
            characterizer: Characterizer::new(),
            series: PhaseSeries::new(),
            batches: [BatchSeries::new(SUBMITTED_TOGETHER), BatchSeries::new(IN_A_ROW)],
            gaps: Gaps::default(),
            flushes: 0,
            divided: 0,
            ends: [u64::MAX; ENDS],
            next_end: 0,
            continued: 0,
            begin: u64::MAX,
            end: 0,
        }
    }

    /// Adds a request that is issued at `at`, in nanoseconds since the first one of the trace.
    #[inline]
    pub(super) fn add(&mut self, at: u64, request: &TraceRequest) {
        self.characterizer.add(request);
        self.series.add(at);
        self.batches.iter_mut().for_each(|batches| batches.add(at, u64::from(request.length)));
        self.gaps.add(at);
        self.divided += u64::from(request.length > SIZE_MAX);
        let end = request.offset.saturating_add(u64::from(request.length));
        self.begin = self.begin.min(request.offset);
        self.end = self.end.max(end);
        match self.ends.iter_mut().find(|end| **end == request.offset) {
            Some(continued) => {
                *continued = end;
                self.continued += 1;
            }
            None => {
                self.ends[self.next_end] = end;
                self.next_end = (self.next_end + 1) % ENDS;
            }
        }
    }
}

/// A class with its characteristics.
#[derive(Clone, Debug)]
pub(super) struct LoadClass {
    pub(super) key: ClassKey,
    pub(super) profile: TraceProfile,
    pub(super) series: PhaseSeries,
    batches: [BatchSeries; 2],
    pub(super) gaps: Gaps,
    pub(super) sizes: SizePercentages,
    /// Requests of the class in the trace, with those of joined classes.
    pub(super) requests: u64,
    pub(super) bytes: u64,
    /// Flushes that follow its writes.
    pub(super) flushes: u64,
    /// Requests that are divided.
    pub(super) divided: u64,
    /// Fraction of its own requests that continue one of the last ones.
    pub(super) continuing_fraction: f64,
    /// Position of its first byte, and of the end of its last one.
    pub(super) span: (u64, u64),
}

impl LoadClass {
    /// Returns the number of requests of the job: those of the trace, after division.
    pub(super) fn job_requests(&self) -> f64 {
        if self.divided > 0 { self.bytes as f64 / self.sizes.mean_bytes() } else { self.requests as f64 }
    }

    /// Returns the batches of the class by a rule; `None` if it has few.
    pub(super) fn batches(&self, rule: BatchRule, runtime_ns: u64) -> Option<Batches> {
        let series = self.batches.iter().find(|series| series.rule() == rule)?;
        series.finished(self.profile.totals.requests.total(), runtime_ns)
    }

    /// Returns the mean service time in nanoseconds; `None` if it is unknown.
    pub(super) fn service_ns(&self) -> Option<f64> {
        let service = &self.profile.service_ns;
        let known = [service.read, service.write, service.discard, service.write_zeroes];
        let (sum, count) = known.iter().flatten().fold((0.0, 0.0), |(sum, count), times| {
            (sum + times.mean * times.weight as f64, count + times.weight as f64)
        });
        (count > 0.0).then_some(sum / count)
    }
}

/// Finishes the classes. Joins those with few requests to others of the same operation.
pub(super) fn finished(classes: [Option<Box<ClassCounts>>; ClassKey::COUNT], totals: &TraceTotals) -> Vec<LoadClass> {
    let of_class = |(index, counts): (usize, Option<Box<ClassCounts>>)| {
        let counts = *counts?;
        let profile = counts.characterizer.finish();
        Some(LoadClass {
            key: ClassKey::of_index(index),
            sizes: SizePercentages::new(&profile.sizes),
            requests: profile.totals.requests.total(),
            bytes: profile.totals.bytes.total(),
            series: counts.series,
            batches: counts.batches,
            gaps: counts.gaps,
            flushes: counts.flushes,
            divided: counts.divided,
            continuing_fraction: counts.continued as f64 / profile.totals.requests.total().max(1) as f64,
            span: (counts.begin, counts.end),
            profile,
        })
    };
    let mut all: Vec<LoadClass> = classes.into_iter().enumerate().filter_map(of_class).collect();
    all.sort_by(|a, b| b.requests.cmp(&a.requests).then(a.key.cmp(&b.key)));
    let (requests, bytes) = (totals.requests.total() as f64, totals.bytes.total() as f64);
    let is_small = |class: &LoadClass| {
        (class.requests as f64) < FRACTION_MIN * requests && (class.bytes as f64) < FRACTION_MIN * bytes
    };
    let mut kept: Vec<LoadClass> = Vec::new();
    for class in all {
        let same = |other: &&mut LoadClass| other.key.kind == class.key.kind;
        // Prefers a class that differs in nothing but one property.
        let other = kept.iter_mut().filter(same).min_by_key(|other| distance(other.key, class.key));
        match other.filter(|_| is_small(&class)) {
            Some(other) => other.join(&class),
            None => kept.push(class),
        }
    }
    kept.sort_by_key(|class| class.key);
    kept
}

/// Moves flushes of classes that have more of them than writes to other classes of writes, first to those for which
/// processes wait: jobs flush at most once for each write. Returns how many are left.
pub(super) fn spread_flushes(classes: &mut [LoadClass]) -> u64 {
    let mut left = 0;
    for class in classes.iter_mut() {
        left += class.flushes.saturating_sub(class.requests);
        class.flushes = class.flushes.min(class.requests);
    }
    let mut others: Vec<&mut LoadClass> = classes.iter_mut().filter(|class| class.key.is_write()).collect();
    others.sort_by_key(|class| (!class.key.is_sync, std::cmp::Reverse(class.requests - class.flushes)));
    for class in others {
        let moved = left.min(class.requests - class.flushes);
        class.flushes += moved;
        left -= moved;
    }
    left
}

fn distance(a: ClassKey, b: ClassKey) -> u32 {
    2 * u32::from(a.is_sequential != b.is_sequential)
        + 2 * u32::from(a.is_large != b.is_large)
        + u32::from(a.is_sync != b.is_sync)
}

impl LoadClass {
    fn join(&mut self, other: &Self) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.flushes += other.flushes;
        self.divided += other.divided;
    }
}

/// Maximum gap within a batch, in nanoseconds.
const BATCH_GAP_NS: u64 = 100_000;

/// Gaps between the requests of a class.
///
/// The local variation compares each gap with the one before (Shinomoto, Shima and Tanji, "Differences in spiking
/// patterns among cortical neurons", Neural Computation 15(12), 2003): 0 for even arrivals, 1 for Poisson arrivals and up
/// to 3 for batches. Slow changes of the rate have no effect on it, unlike on the variance of gaps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gaps {
    last: Option<u64>,
    gap: Option<u64>,
    sum: f64,
    pairs: u64,
    batches: u64,
    requests: u64,
}

impl Gaps {
    /// Adds a request that is issued at `at`, in nanoseconds.
    #[inline]
    pub(super) fn add(&mut self, at: u64) {
        self.requests += 1;
        let Some(last) = self.last.replace(at) else {
            self.batches = 1;
            return;
        };
        let gap = at - last;
        self.batches += u64::from(gap > BATCH_GAP_NS);
        if let Some(before) = self.gap.replace(gap) {
            let (a, b) = (before as f64, gap as f64);
            let sum = a + b;
            // Equal instants tell nothing: they count as Poisson arrivals do on average.
            self.sum += if sum > 0.0 { (a - b) * (a - b) / (sum * sum) } else { 1.0 / 3.0 };
            self.pairs += 1;
        }
    }

    /// Returns the local variation; `None` for fewer than three requests.
    pub(super) fn local_variation(&self) -> Option<f64> {
        (self.pairs > 0).then(|| 3.0 * self.sum / self.pairs as f64)
    }

    /// Returns the mean number of requests in a row without a gap of over 100 µs.
    pub(super) fn batch_requests(&self) -> f64 {
        self.requests as f64 / self.batches.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use units::random::Random;

    use super::*;

    fn gaps(seed: u64, mut gap: impl FnMut(&mut Random) -> u64) -> Gaps {
        let (mut random, mut at, mut gaps) = (Random::new(seed, 0), 0, Gaps::default());
        for _ in 0..20_000 {
            at += gap(&mut random);
            gaps.add(at);
        }
        gaps
    }

    #[test]
    fn local_variation_tells_even_random_and_batched_arrivals_apart() {
        let even = gaps(1, |_| 1_000_000).local_variation().unwrap();
        assert!(even < 1e-9, "{even}");
        let poisson = |random: &mut Random| (-(1.0 - random.unit()).ln() * 1e6) as u64;
        let random = gaps(2, poisson).local_variation().unwrap();
        assert!((random - 1.0).abs() < 0.05, "{random}");
        let mut number = 0;
        let batched = gaps(3, |_| {
            number += 1;
            if number % 20 == 0 { 10_000_000 } else { 1_000 }
        });
        assert!((batched.batch_requests() - 20.0).abs() < 0.1, "{}", batched.batch_requests());
        assert_eq!(Gaps::default().local_variation(), None);
    }

    #[test]
    fn a_slow_change_of_the_rate_does_not_count() {
        let mut number = 0u64;
        let slow = gaps(4, |_| {
            number += 1;
            100_000 + number * 100
        });
        assert!(slow.local_variation().unwrap() < 0.01);
    }
}
