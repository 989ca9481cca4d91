//! A rate limit: the generic cell rate algorithm (ITU-T I.371, virtual scheduling) in whole nanoseconds.

use units::Nanos;

use crate::lead::LeadHistogram;
use crate::request::{PerRequestKind, RequestKind, Share};
use crate::spec::{Burst, CountedUnit, IoUnit, Limit};
use crate::stage::BurstCredits;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LimiterCounts {
    /// Requests that were counted.
    pub requests: u64,
    /// Requests that this limiter alone would have delayed.
    pub delayed: u64,
    /// Requests whose admission it determined: no other limit delayed them longer.
    pub decided: u64,
    /// Delay in addition to the preceding limits.
    pub delay_ns: u64,
    /// Time in which at least one request waited for this limiter.
    pub throttled_ns: u64,
    /// Total cost of all requests, as time at the limit's rate.
    pub busy_ns: u64,
    /// Requests that cost nothing because they were merged with preceding ones.
    pub merged: u64,
    /// Requests that continued preceding ones but were too small to be merged.
    pub unmerged: u64,
}

impl LimiterCounts {
    /// Adds what was counted between `before` and `now`.
    pub(crate) fn plus_change(self, before: Self, now: Self) -> Self {
        let plus = |of: fn(&Self) -> u64| of(&self).saturating_add(of(&now) - of(&before));
        Self {
            requests: plus(|counts| counts.requests),
            delayed: plus(|counts| counts.delayed),
            decided: plus(|counts| counts.decided),
            delay_ns: plus(|counts| counts.delay_ns),
            throttled_ns: plus(|counts| counts.throttled_ns),
            busy_ns: plus(|counts| counts.busy_ns),
            merged: plus(|counts| counts.merged),
            unmerged: plus(|counts| counts.unmerged),
        }
    }
}

/// State of one limit. `due_ns` is when the next unit would be due if all arrived evenly (the theoretical arrival
/// time). A request is admitted once that is at most `tolerance_ns` ahead. The check comes before the charge, so a
/// request of any size passes and the next one pays.
#[derive(Clone, Debug)]
pub(crate) struct Limiter {
    due_ns: u64,
    tolerance_ns: u64,
    counted: CountedUnit,
    io_unit: Option<IoUnit>,
    larger_than: u32,
    unit_prices: [UnitPrice; 4],
    /// Where the last request of each kind ended, and how much of a unit its sequential run has filled.
    runs: [MergedRun; 4],
    pub counts: LimiterCounts,
    /// Record of requests ahead of schedule; not kept for buckets of credits.
    pub leads: LeadHistogram,
    first_delay_ns: u64,
    /// Last admission of a delayed request so far.
    throttled_until_ns: u64,
    has_credits: bool,
    /// When the next unit of each user would be due at an equal share of the rate.
    shares: Vec<u64>,
}

/// Price of a unit for one kind of request.
#[derive(Clone, Copy, Debug, Default)]
struct UnitPrice {
    /// Units per second.
    rate: u64,
    /// Fraction of a nanosecond carried over, in units of 1/rate.
    fraction: u64,
    /// The last number of units with its price, in whole nanoseconds and the remainder: workloads repeat sizes.
    units: u64,
    price_ns: u64,
    price_rest: u64,
    /// Request length with that price, independent of offset; zero if none is known.
    length: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct MergedRun {
    end: u64,
    filled: u64,
}

impl UnitPrice {
    fn new(rate: u64) -> Self {
        Self { rate: rate.max(1), ..Self::default() }
    }

    /// Returns the price of `units` in whole nanoseconds and carries the fraction over.
    #[inline]
    fn charge(&mut self, units: u64) -> u64 {
        if units != self.units {
            let total = u128::from(units) * 1_000_000_000;
            self.price_ns = u64::try_from(total / u128::from(self.rate)).unwrap_or(u64::MAX);
            self.price_rest = (total % u128::from(self.rate)) as u64;
            self.units = units;
        }
        self.charge_same()
    }

    /// Returns the price of the same number of units again.
    #[inline]
    fn charge_same(&mut self) -> u64 {
        self.fraction += self.price_rest;
        let carry = u64::from(self.fraction >= self.rate);
        self.fraction -= self.rate * carry;
        self.price_ns + carry
    }
}

impl Limiter {
    pub(crate) fn new(limit: &Limit) -> Self {
        let fastest = limit.rate.each().into_iter().flatten().copied().max().unwrap_or(1);
        let span = |units: u64| span_ns(units, fastest);
        let (tolerance_ns, due_ns) = match &limit.burst {
            Burst::Jitter(jitter) => (jitter.time.get(), 0),
            Burst::Credits { most, at_start } => (span(*most), span(most - at_start.min(most))),
        };
        Self {
            due_ns,
            tolerance_ns,
            counted: limit.counted,
            io_unit: limit.io_unit,
            larger_than: limit.larger_than,
            unit_prices: limit.rate.map(|rate| UnitPrice::new(rate.unwrap_or(1))).each().map(|unit_price| *unit_price),
            runs: [MergedRun::default(); 4],
            counts: LimiterCounts::default(),
            leads: LeadHistogram::default(),
            first_delay_ns: 0,
            throttled_until_ns: 0,
            has_credits: matches!(limit.burst, Burst::Credits { .. }),
            shares: Vec::new(),
        }
    }

    /// Switches to another limit. Admitted requests stay admitted and charged at the old rate; the next request pays
    /// the new one. Remaining credits are kept as far as the new bucket holds them.
    pub(crate) fn reconfigure(&mut self, now: Nanos, limit: &Limit) {
        let new = Self::new(limit);
        let ahead_ns = self.due_ns.saturating_sub(now.get());
        let backlog_ns = ahead_ns.saturating_sub(self.tolerance_ns);
        let used_ns = match (self.has_credits, new.has_credits) {
            (true, true) => {
                let left = self.credits(now).max(0.0) as u64;
                new.tolerance_ns.saturating_sub(span_ns(left, new.fastest()))
            }
            // A new bucket is as full as at the start.
            (false, true) => new.due_ns,
            (_, false) if backlog_ns > 0 => new.tolerance_ns,
            (true, false) => 0,
            (false, false) => ahead_ns.min(new.tolerance_ns),
        };
        *self = Self {
            due_ns: now.get().saturating_add(used_ns).saturating_add(backlog_ns),
            runs: self.runs,
            counts: self.counts,
            first_delay_ns: self.first_delay_ns,
            throttled_until_ns: self.throttled_until_ns,
            shares: std::mem::take(&mut self.shares),
            ..new
        };
    }

    /// Returns the rate of the request kind with the highest rate, in units per second.
    fn fastest(&self) -> u64 {
        self.unit_prices.iter().map(|unit_price| unit_price.rate).max().unwrap_or(1)
    }

    /// Admits a request of one of several users: in order of arrival, or earlier if that gives its user no more than an
    /// equal share. It is charged at once, so that all users together get no more than the rate: users that are
    /// overtaken wait longer with their next requests. Every admission is still known at arrival.
    pub(crate) fn admit_share(
        &mut self,
        now: Nanos,
        share: Share,
        kind: RequestKind,
        offset: u64,
        length: u32,
    ) -> Nanos {
        let charged = self.counts.busy_ns;
        let in_order = self.admit(now, kind, offset, length);
        let price = self.counts.busy_ns - charged;
        let user = share.user as usize;
        if user >= self.shares.len() {
            self.shares.resize(user + 1, 0);
        }
        let fair = self.shares[user].max(now.get());
        self.shares[user] = fair.saturating_add(price.saturating_mul(u64::from(share.among)));
        in_order.min(Nanos::new(fair))
    }

    /// Returns when a request that arrives now is admitted, and charges it. Arrivals never go back in time.
    #[inline]
    pub(crate) fn admit(&mut self, now: Nanos, kind: RequestKind, offset: u64, length: u32) -> Nanos {
        let unit_price = &mut self.unit_prices[kind.index()];
        let price = if length == unit_price.length && length > 0 {
            unit_price.charge_same()
        } else {
            match self.price(kind, offset, length) {
                Some(price) => price,
                None => return now,
            }
        };
        let now = now.get();
        let ahead = self.due_ns.saturating_sub(now);
        let admitted = now + ahead.saturating_sub(self.tolerance_ns);
        if ahead > 0 {
            self.leads.record(ahead);
        }
        self.due_ns = self.due_ns.max(now).saturating_add(price);
        self.counts.requests += 1;
        if admitted > now {
            if self.counts.delayed == 0 {
                self.first_delay_ns = now;
            }
            self.counts.delayed += 1;
            // Waits of requests overlap; together they are the time in which any request waited.
            self.counts.throttled_ns += admitted.saturating_sub(self.throttled_until_ns.max(now));
            self.throttled_until_ns = self.throttled_until_ns.max(admitted);
        }
        self.counts.busy_ns = self.counts.busy_ns.saturating_add(price);
        Nanos::new(admitted)
    }

    /// Returns the price of a request; `None` if it is too small to be counted.
    fn price(&mut self, kind: RequestKind, offset: u64, length: u32) -> Option<u64> {
        if length <= self.larger_than && self.larger_than > 0 {
            return None;
        }
        let units = self.units(kind, offset, length);
        let depends_on_offset = self.io_unit.is_some_and(|unit| unit.merged_from.is_some());
        let unit_price = &mut self.unit_prices[kind.index()];
        unit_price.length = if depends_on_offset { 0 } else { length };
        Some(unit_price.charge(units))
    }

    fn units(&mut self, kind: RequestKind, offset: u64, length: u32) -> u64 {
        let Some(IoUnit { bytes, merged_from }) = self.io_unit else {
            return if self.counted == CountedUnit::Bytes { u64::from(length) } else { 1 };
        };
        let bytes = bytes.max(1);
        let single = u64::from(length.div_ceil(bytes)).max(1);
        let each = if self.counted == CountedUnit::Bytes { u64::from(bytes) } else { 1 };
        each * merged_from.map_or(single, |least| self.units_in_run(kind, offset, length, bytes, least, single))
    }

    /// Returns the number of units of a request that may continue a sequential run. One of less than `least` bytes
    /// counts as `single`, and the next one begins a new run.
    fn units_in_run(&mut self, kind: RequestKind, offset: u64, length: u32, unit: u32, least: u32, single: u64) -> u64 {
        let run = &mut self.runs[kind.index()];
        let continues = run.end == offset && run.end > 0;
        let end = offset.saturating_add(u64::from(length));
        if length < least {
            *run = MergedRun { end, filled: 0 };
            self.counts.unmerged += u64::from(continues && length > 0);
            return single;
        }
        let before = if continues { run.filled } else { 0 };
        let unit = u64::from(unit);
        *run = MergedRun { end, filled: before.saturating_add(u64::from(length)) };
        let units = run.filled.div_ceil(unit) - before.div_ceil(unit);
        self.counts.merged += u64::from(units == 0 && length > 0);
        units
    }

    /// Returns the credits in the bucket, in units of the request kind with the highest rate; negative after a request
    /// larger than the remaining credits.
    pub(crate) fn credits(&self, now: Nanos) -> f64 {
        let fastest = self.fastest() as f64;
        let ahead = self.due_ns.saturating_sub(now.get());
        (self.tolerance_ns as f64 - ahead as f64) / 1e9 * fastest
    }

    /// Returns the state of the bucket, which held `at_start` at time zero.
    pub(crate) fn credit_state(&self, now: Nanos, at_start: u64) -> BurstCredits {
        let (left, fastest) = (self.credits(now), self.fastest() as f64);
        BurstCredits {
            bytes: self.counted == CountedUnit::Bytes,
            most: self.tolerance_ns as f64 / 1e9 * fastest,
            left,
            spent_per_sec: (at_start as f64 - left) / now.secs_f64().max(1e-9),
            empty_at_ns: (self.counts.delayed > 0).then_some(self.first_delay_ns),
        }
    }
}

fn span_ns(units: u64, rate: u64) -> u64 {
    u64::try_from(u128::from(units) * 1_000_000_000 / u128::from(rate.max(1))).unwrap_or(u64::MAX)
}

pub(crate) fn limiters_by_kind(limits: &[(usize, &Limit)]) -> PerRequestKind<Vec<usize>> {
    PerRequestKind::from_fn(|kind| {
        limits.iter().filter(|(_, limit)| limit.rate.get(kind).is_some()).map(|(index, _)| *index).collect()
    })
}

/// Counters of a limiter or station over the time in which at least one job that passes it was measured, without ramps
/// and pauses between jobs.
///
/// Limiters and stations count all requests; this takes differences between the start and the end of each measured
/// interval, at no cost per request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StageTally {
    /// Measurements in progress.
    open: u32,
    /// Start of the current interval, and the counters then.
    since: Nanos,
    before: LimiterCounts,
    /// Counters and duration of completed intervals.
    counts: LimiterCounts,
    time_ns: u64,
}

impl StageTally {
    pub(crate) fn begin(&mut self, now: Nanos, counts: LimiterCounts) {
        if self.open == 0 {
            (self.since, self.before) = (now, counts);
        }
        self.open += 1;
    }

    pub(crate) fn end(&mut self, now: Nanos, counts: LimiterCounts) {
        if self.open == 1 {
            (self.counts, self.time_ns) = self.total(now, counts);
        }
        self.open = self.open.saturating_sub(1);
    }

    /// Returns the counters over all measured intervals, and their duration in nanoseconds.
    pub(crate) fn total(&self, now: Nanos, counts: LimiterCounts) -> (LimiterCounts, u64) {
        if self.open == 0 {
            return (self.counts, self.time_ns);
        }
        (self.counts.plus_change(self.before, counts), self.time_ns + now.since(self.since).get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Jitter;
    use crate::spec::LimitSource;
    use crate::spec::Scope;

    fn limit(rate: PerRequestKind<Option<u64>>, counted: CountedUnit, burst: Burst) -> Limit {
        Limit {
            name: "test".to_owned(),
            scope: Scope::Volume,
            counted,
            io_unit: None,
            rate,
            larger_than: 0,
            burst,
            tolerance: None,
            merging: None,
            rule: String::new(),
            source: LimitSource::default(),
        }
    }

    fn reads(rate: u64) -> PerRequestKind<Option<u64>> {
        PerRequestKind { read: Some(rate), ..PerRequestKind::default() }
    }

    const OPERATIONS: CountedUnit = CountedUnit::Operations;
    const PLAIN: Burst = Burst::Jitter(Jitter::given(Nanos::ZERO));

    /// Returns the admissions per second of an endless queue of equal requests, from the start.
    fn saturated(limiter: &mut Limiter, length: u32, seconds: u64) -> Vec<u64> {
        let mut counts = vec![0; seconds as usize];
        let (mut now, mut offset) = (Nanos::ZERO, 0);
        loop {
            now = limiter.admit(now, RequestKind::Read, offset, length);
            offset += u64::from(length);
            match counts.get_mut((now.get() / 1_000_000_000) as usize) {
                Some(count) => *count += 1,
                None => return counts,
            }
        }
    }

    #[test]
    fn the_rate_is_exact_when_it_does_not_divide_a_second() {
        for rate in [3, 7, 24_097, 160_000, 350_001, 19_200_000] {
            let mut limiter = Limiter::new(&limit(reads(rate), OPERATIONS, PLAIN));
            assert_eq!(saturated(&mut limiter, 4096, 2), [rate, rate], "{rate}");
        }
    }

    #[test]
    fn throttled_time_is_the_union_of_overlapping_waits() {
        let mut limiter = Limiter::new(&limit(reads(10), OPERATIONS, PLAIN));
        for ms in [0, 0, 0, 1_000, 1_000] {
            limiter.admit(Nanos::from_millis(ms), RequestKind::Read, 0, 4096);
        }
        // Two wait for 100 and 200 ms from the start, one for 100 ms a second later.
        assert_eq!(limiter.counts.throttled_ns, 300_000_000);
        assert_eq!(limiter.counts.delay_ns, 0, "added by the system");
    }

    #[test]
    fn reads_and_writes_share_a_linear_budget() {
        let rate = PerRequestKind { read: Some(60_000), write: Some(30_000), ..PerRequestKind::default() };
        let mut limiter = Limiter::new(&limit(rate, OPERATIONS, PLAIN));
        let (mut now, mut counts) = (Nanos::ZERO, [0_u64; 2]);
        // Two reads for each write: r/60k + w/30k = 1 gives 30,000 and 15,000.
        for number in 0.. {
            let kind = if number % 3 == 2 { RequestKind::Write } else { RequestKind::Read };
            now = limiter.admit(now, kind, 0, 8192);
            if now >= Nanos::from_secs(1) {
                break;
            }
            counts[kind.index()] += 1;
        }
        assert_eq!(counts, [30_000, 15_000]);
    }

    #[test]
    fn large_requests_count_several_times_and_sequential_runs_once() {
        let of = |counted, rate, merged_from| {
            let io_unit = Some(IoUnit { bytes: 256 << 10, merged_from });
            Limiter::new(&Limit { io_unit, ..limit(reads(rate), counted, PLAIN) })
        };
        assert_eq!(saturated(&mut of(OPERATIONS, 1000, None), 1 << 20, 1), [250]);
        // The first of a run pays for the three after it: the last run is incomplete.
        assert!(saturated(&mut of(OPERATIONS, 1000, Some(0)), 64 << 10, 1)[0].abs_diff(4000) < 4);
        // Bytes are counted in whole units: a small operation costs as much as one of 256 KiB.
        let rate = 1000 * (256 << 10);
        assert_eq!(saturated(&mut of(CountedUnit::Bytes, rate, None), 4096, 1), [1000]);
        assert!(saturated(&mut of(CountedUnit::Bytes, rate, Some(0)), 64 << 10, 1)[0].abs_diff(4000) < 4);
    }

    #[test]
    fn a_limit_on_large_requests_admits_small_ones() {
        let mut limit = limit(reads(1000), OPERATIONS, PLAIN);
        limit.larger_than = 8192;
        let mut limiter = Limiter::new(&limit);
        assert!((0..10).all(|_| limiter.admit(Nanos::ZERO, RequestKind::Read, 0, 8192) == Nanos::ZERO));
        assert_eq!(saturated(&mut limiter, 16384, 1), [1000]);
    }

    #[test]
    fn credits_are_spent_and_refilled() {
        let burst = Burst::Credits { most: 5_400_000, at_start: 5_400_000 };
        let mut bucket = Limiter::new(&limit(reads(300), OPERATIONS, burst));
        let mut peak = Limiter::new(&limit(reads(3000), OPERATIONS, PLAIN));
        let (mut now, mut count) = (Nanos::ZERO, 0_u64);
        while bucket.credits(now) >= 1.0 {
            now = peak.admit(now, RequestKind::Read, 0, 4096).max(bucket.admit(now, RequestKind::Read, 0, 4096));
            count += 1;
        }
        // 5.4 M credits at 3000 spent and 300 earned a second: 2000 s, 6 M operations.
        assert_eq!((now.get() + 500_000_000) / 1_000_000_000, 2000);
        assert!(count.abs_diff(6_000_000) < 10, "{count}");
        assert!((bucket.credits(now + Nanos::from_secs(100)) - 30_000.0).abs() < 2.0);
    }

    #[test]
    fn a_changed_rate_applies_from_the_next_request() {
        let mut limiter = Limiter::new(&limit(reads(1000), OPERATIONS, PLAIN));
        let queued: Vec<u64> = (0..8).map(|_| limiter.admit(Nanos::ZERO, RequestKind::Read, 0, 4096).get()).collect();
        assert_eq!(queued[7], 7_000_000);
        limiter.reconfigure(Nanos::from_millis(3), &limit(reads(10_000), OPERATIONS, PLAIN));
        let after = [(); 3].map(|()| limiter.admit(Nanos::from_millis(3), RequestKind::Read, 0, 4096).get());
        assert_eq!(after, [8_000_000, 8_100_000, 8_200_000], "after earlier admissions, at the new rate");
        limiter.reconfigure(Nanos::from_secs(1), &limit(reads(10), OPERATIONS, PLAIN));
        let idle = [(); 2].map(|()| limiter.admit(Nanos::from_secs(1), RequestKind::Read, 0, 4096).get());
        assert_eq!(idle, [1_000_000_000, 1_100_000_000]);
        assert_eq!(limiter.counts.requests, 13);
    }

    #[test]
    fn credits_survive_a_rate_change() {
        let burst = |most| Burst::Credits { most, at_start: most };
        let mut bucket = Limiter::new(&limit(reads(100), OPERATIONS, burst(1000)));
        (0..400).for_each(|_| assert_eq!(bucket.admit(Nanos::ZERO, RequestKind::Read, 0, 4096), Nanos::ZERO));
        bucket.reconfigure(Nanos::ZERO, &limit(reads(50), OPERATIONS, burst(1000)));
        assert!((bucket.credits(Nanos::ZERO) - 600.0).abs() < 1.0, "{}", bucket.credits(Nanos::ZERO));
        bucket.reconfigure(Nanos::ZERO, &limit(reads(50), OPERATIONS, burst(200)));
        assert!((bucket.credits(Nanos::ZERO) - 200.0).abs() < 1.0, "{}", bucket.credits(Nanos::ZERO));
        bucket.reconfigure(Nanos::ZERO, &limit(reads(50), OPERATIONS, PLAIN));
        bucket.reconfigure(Nanos::ZERO, &limit(reads(50), OPERATIONS, burst(70)));
        assert!((bucket.credits(Nanos::ZERO) - 70.0).abs() < 1.0, "a new bucket is full");
    }

    #[test]
    fn a_request_of_any_size_is_admitted_and_the_next_one_waits() {
        let mut limiter = Limiter::new(&limit(reads(1 << 20), CountedUnit::Bytes, PLAIN));
        assert_eq!(limiter.admit(Nanos::ZERO, RequestKind::Read, 0, 4 << 20), Nanos::ZERO);
        assert_eq!(limiter.admit(Nanos::ZERO, RequestKind::Read, 0, 4096), Nanos::from_secs(4));
    }

    fn counts(requests: u64) -> LimiterCounts {
        LimiterCounts { requests, busy_ns: 10 * requests, ..LimiterCounts::default() }
    }

    #[test]
    fn overlapping_measurements_merge_and_gaps_do_not_count() {
        let mut tally = StageTally::default();
        let at = Nanos::new;
        assert_eq!(tally.total(at(5), counts(7)), (counts(0), 0));
        tally.begin(at(10), counts(10));
        tally.begin(at(20), counts(15));
        tally.end(at(30), counts(18));
        assert_eq!(tally.total(at(40), counts(20)), (counts(10), 30));
        tally.end(at(50), counts(30));
        assert_eq!(tally.total(at(99), counts(90)), (counts(20), 40));
        tally.begin(at(100), counts(90));
        tally.end(at(110), counts(91));
        assert_eq!(tally.total(at(120), counts(99)), (counts(21), 50));
    }
}
