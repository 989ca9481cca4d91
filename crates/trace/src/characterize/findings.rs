//! Findings of a profile, as codes and numbers.

use super::profile::{ReuseProfile, RunProfile, TraceProfile};

/// Something about a load that matters for the choice of a volume or for the application.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TraceFinding {
    /// Most requests in bursts are writes, and bursts repeat: checkpoints, write-back or flushes of memory tables.
    BurstyWrites {
        bursts: u64,
        /// Median duration in nanoseconds.
        duration_ns_p50: u64,
        /// Median time from one burst to the next, in nanoseconds.
        interval_ns_p50: u64,
        /// Rate in bursts over the mean rate.
        rate_to_mean: f64,
        /// Fraction of all requests that are in bursts.
        requests_fraction: f64,
    },
    /// The rate has a high peak over a time that volumes do not absorb with their queues.
    RatePeak {
        /// Width of the window in nanoseconds.
        width_ns: u64,
        /// The peak over the mean.
        peak_to_mean: f64,
        /// Requests per second in the peak.
        rate_per_s_max: f64,
    },
    /// Counts are dependent over long times: averages over minutes do not tell how much is needed.
    LongRangeDependence {
        /// Hurst exponent.
        hurst: f64,
        standard_error: f64,
    },
    /// Writes for which a process waits continue one or two streams: a log.
    LogWrites {
        /// Fraction of the writes that continue a stream.
        continuing_fraction: f64,
        /// Median number of interleaved streams.
        streams_p50: u64,
        /// Fraction of the writes for which a process waits.
        sync_fraction: f64,
        /// Flushes and writes with FUA or a flush before them, per write.
        flushes_per_write: f64,
    },
    /// Many flushes: the latency of stable writes limits the load.
    FrequentFlushes {
        /// Flushes and writes with FUA or a flush before them, per second.
        flushes_per_s: f64,
        /// The same per write.
        flushes_per_write: f64,
    },
    /// Reads are small and random, and most of them would hit a cache that fits in memory.
    ReadsFitInMemory {
        /// Size of the cache in bytes.
        cache_bytes: u64,
        /// Fraction of the accesses by reads that would hit it.
        read_hit_ratio: f64,
        /// Bytes that are read in total.
        read_footprint_bytes: f64,
        /// Fraction of the reads that continue a stream.
        continuing_fraction: f64,
    },
    /// Reads have no reuse that a cache of half the footprint would profit from.
    ReadsDoNotRepeat {
        /// Fraction of the accesses by reads that miss a cache as large as the footprint.
        read_miss_ratio: f64,
    },
    /// There is never more than one request in flight: latency alone decides the throughput.
    DepthOne {
        /// Fraction of the time with a request in flight.
        busy_time_fraction: f64,
        /// Mean service time of reads and writes in nanoseconds.
        service_ns_mean: f64,
    },
    /// Issues wait for completions: a faster volume gets more requests.
    ClosedLoop {
        /// 0 for an open loop, 1 for a closed one.
        score: f64,
        /// Median think time in nanoseconds.
        think_ns_p50: u64,
    },
    /// Issues do not depend on completions: a slower volume gets a longer queue.
    OpenLoop {
        /// 0 for an open loop, 1 for a closed one.
        score: f64,
    },
    /// Few large requests transfer most of the bytes.
    FewLargeRequests {
        /// Least size of these requests in bytes.
        bytes_min: u64,
        /// Fraction of the reads and writes.
        requests_fraction: f64,
        /// Fraction of their bytes.
        bytes_fraction: f64,
    },
    /// A small part of the blocks gets most of the accesses.
    HotSpot {
        /// Percentage of the blocks in use.
        blocks_percent: f64,
        accesses_fraction: f64,
        /// Zipf exponent, if a zipf distribution fits.
        zipf_theta: Option<f64>,
    },
    /// Requests wait longer in the queue of the scheduler than at the device.
    QueuedLonger {
        /// Mean time in the queue in nanoseconds.
        queued_ns_mean: f64,
        /// Mean service time in nanoseconds.
        service_ns_mean: f64,
    },
    /// Requests failed.
    Failures { requests: u64 },
    /// The order of the trace is not that of the issues, so that times are shifted.
    LateRequests {
        requests: u64,
        /// By how much at most, in nanoseconds.
        late_ns_max: u64,
    },
}

impl TraceFinding {
    /// Returns a word that identifies the kind of finding in documents.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BurstyWrites { .. } => "bursty-writes",
            Self::RatePeak { .. } => "rate-peak",
            Self::LongRangeDependence { .. } => "long-range-dependence",
            Self::LogWrites { .. } => "log-writes",
            Self::FrequentFlushes { .. } => "frequent-flushes",
            Self::ReadsFitInMemory { .. } => "reads-fit-in-memory",
            Self::ReadsDoNotRepeat { .. } => "reads-do-not-repeat",
            Self::DepthOne { .. } => "depth-one",
            Self::ClosedLoop { .. } => "closed-loop",
            Self::OpenLoop { .. } => "open-loop",
            Self::FewLargeRequests { .. } => "few-large-requests",
            Self::HotSpot { .. } => "hot-spot",
            Self::QueuedLonger { .. } => "queued-longer",
            Self::Failures { .. } => "failures",
            Self::LateRequests { .. } => "late-requests",
        }
    }
}

/// Least number of requests of a kind about which something is said.
const REQUESTS_MIN: u64 = 100;
/// Fraction that is most of something.
const MOST: f64 = 0.5;

/// Returns what a profile shows, for a host with some bytes of memory.
#[must_use]
pub fn trace_findings(profile: &TraceProfile, memory_bytes: u64) -> Vec<TraceFinding> {
    let mut found = Vec::new();
    found.extend(quality(profile));
    if profile.totals.requests.total() < REQUESTS_MIN {
        return found;
    }
    found.extend(bursts(profile));
    found.extend(peak(profile));
    found.extend(dependence(profile));
    found.extend(log_writes(profile));
    found.extend(flushes(profile));
    found.extend(depth_one(profile));
    found.extend(loops(profile));
    found.extend(large_requests(profile));
    found.extend(queue(profile));
    if let Some(reuse) = &profile.reuse {
        found.extend(reads(profile, reuse, memory_bytes));
        found.extend(hot_spot(reuse));
    }
    found
}

fn quality(profile: &TraceProfile) -> impl Iterator<Item = TraceFinding> {
    let totals = &profile.totals;
    let failed = totals.failed_requests;
    let late = (totals.late_requests, totals.late_ns_max);
    let failures = (failed > 0).then_some(TraceFinding::Failures { requests: failed });
    // A microsecond is what different clocks of processors may differ by.
    let late = (late.1 > 1_000).then_some(TraceFinding::LateRequests { requests: late.0, late_ns_max: late.1 });
    failures.into_iter().chain(late)
}

fn bursts(profile: &TraceProfile) -> Option<TraceFinding> {
    let bursts = profile.arrivals.bursts.as_ref()?;
    let interval = bursts.interval_ns?;
    (bursts.bursts >= 3 && bursts.writes_fraction >= MOST && bursts.requests_fraction >= 0.1).then_some(
        TraceFinding::BurstyWrites {
            bursts: bursts.bursts,
            duration_ns_p50: bursts.duration_ns.p50,
            interval_ns_p50: interval.p50,
            rate_to_mean: bursts.rate_to_mean,
            requests_fraction: bursts.requests_fraction,
        },
    )
}

/// Returns the peak over the widest window that is far above the mean.
fn peak(profile: &TraceProfile) -> Option<TraceFinding> {
    /// Narrower windows are absorbed by queues, and in them chance makes peaks.
    const WIDTH_NS_MIN: u64 = 100_000_000;
    const RATIO_MIN: f64 = 3.0;
    let windows = profile.arrivals.windows.iter().rev();
    let high = windows
        .filter(|window| window.width_ns >= WIDTH_NS_MIN)
        .find(|window| window.peak_to_mean >= RATIO_MIN && window.requests_max >= REQUESTS_MIN)?;
    Some(TraceFinding::RatePeak {
        width_ns: high.width_ns,
        peak_to_mean: high.peak_to_mean,
        rate_per_s_max: high.requests_max as f64 / (high.width_ns as f64 / 1e9),
    })
}

fn dependence(profile: &TraceProfile) -> Option<TraceFinding> {
    const RESIDUAL_MAX: f64 = 1.5;
    let hurst = profile.arrivals.hurst?;
    let certain = hurst.exponent - 3.0 * hurst.standard_error > 0.6 && hurst.residual <= RESIDUAL_MAX;
    certain.then_some(TraceFinding::LongRangeDependence { hurst: hurst.exponent, standard_error: hurst.standard_error })
}

/// Returns the number of operations that make data stable. A flush before a write is part of the write.
fn stable_operations(profile: &TraceProfile) -> u64 {
    let totals = &profile.totals;
    totals.requests.flush + totals.fua_requests.max(totals.preflush_requests.saturating_sub(totals.requests.flush))
}

fn log_writes(profile: &TraceProfile) -> Option<TraceFinding> {
    const STREAMS_MAX: u64 = 2;
    let totals = &profile.totals;
    let writes: &RunProfile = &profile.sequential.writes;
    let streams = writes.interleaved_streams?;
    let sync_fraction = totals.sync_writes as f64 / totals.requests.write.max(1) as f64;
    let flushes_per_write = stable_operations(profile) as f64 / totals.requests.write.max(1) as f64;
    let is_log = writes.requests >= REQUESTS_MIN
        && writes.continuing_fraction() >= MOST
        && streams.p50 <= STREAMS_MAX
        && (sync_fraction >= MOST || flushes_per_write >= 0.2);
    is_log.then(|| TraceFinding::LogWrites {
        continuing_fraction: writes.continuing_fraction(),
        streams_p50: streams.p50,
        sync_fraction,
        flushes_per_write,
    })
}

fn flushes(profile: &TraceProfile) -> Option<TraceFinding> {
    const PER_S_MIN: f64 = 10.0;
    const PER_WRITE_MIN: f64 = 0.05;
    let stable = stable_operations(profile) as f64;
    let flushes_per_s = stable / (profile.totals.issue_duration_ns.max(1) as f64 / 1e9);
    let flushes_per_write = stable / profile.totals.requests.write.max(1) as f64;
    (stable >= REQUESTS_MIN as f64 && flushes_per_s >= PER_S_MIN && flushes_per_write >= PER_WRITE_MIN)
        .then_some(TraceFinding::FrequentFlushes { flushes_per_s, flushes_per_write })
}

/// Returns the mean service time of reads and writes in nanoseconds.
fn service_ns_mean(profile: &TraceProfile) -> f64 {
    let known = [profile.service_ns.read, profile.service_ns.write];
    let (mut sum, mut count) = (0.0, 0.0);
    for service in known.iter().flatten() {
        sum += service.mean * service.weight as f64;
        count += service.weight as f64;
    }
    if count > 0.0 { sum / count } else { 0.0 }
}

fn depth_one(profile: &TraceProfile) -> Option<TraceFinding> {
    /// An overlap now and then is no depth.
    const ABOVE_ONE_MAX: f64 = 0.001;
    /// A device that is nearly idle has no depth because it has no load.
    const BUSY_MIN: f64 = 0.05;
    let depth = profile.depth.as_ref()?;
    let is_one = depth.above_one_time_fraction <= ABOVE_ONE_MAX * depth.busy_time_fraction;
    (is_one && depth.busy_time_fraction >= BUSY_MIN).then(|| TraceFinding::DepthOne {
        busy_time_fraction: depth.busy_time_fraction,
        service_ns_mean: service_ns_mean(profile),
    })
}

fn loops(profile: &TraceProfile) -> Option<TraceFinding> {
    let loops = profile.loops.as_ref().filter(|loops| loops.scored_fraction >= MOST)?;
    let score = loops.closed_loop_score;
    match loops.think_ns {
        Some(think) if score >= 0.7 => Some(TraceFinding::ClosedLoop { score, think_ns_p50: think.p50 }),
        _ => (score <= 0.2).then_some(TraceFinding::OpenLoop { score }),
    }
}

/// Finds the least power of two such that few requests of this size or more transfer most of the bytes.
fn large_requests(profile: &TraceProfile) -> Option<TraceFinding> {
    const REQUESTS_FRACTION_MAX: f64 = 0.2;
    let mut sizes: Vec<(u64, f64, f64)> = Vec::new();
    for of_kind in [&profile.sizes.read, &profile.sizes.write] {
        for size in &of_kind.frequent {
            sizes.push((u64::from(size.bytes), size.requests as f64, size.requests as f64 * f64::from(size.bytes)));
        }
        for range in &of_kind.others {
            let middle = f64::midpoint(range.bytes_min as f64, range.bytes_end as f64);
            sizes.push((range.bytes_min, range.requests as f64, range.requests as f64 * middle));
        }
    }
    let requests: f64 = sizes.iter().map(|size| size.1).sum();
    let bytes: f64 = sizes.iter().map(|size| size.2).sum();
    if requests < REQUESTS_MIN as f64 || bytes <= 0.0 {
        return None;
    }
    (13..32).map(|power| 1u64 << power).find_map(|bytes_min| {
        let large = sizes.iter().filter(|size| size.0 >= bytes_min);
        let (count, sum) = large.fold((0.0, 0.0), |(count, sum), size| (count + size.1, sum + size.2));
        let (requests_fraction, bytes_fraction) = (count / requests, sum / bytes);
        (requests_fraction <= REQUESTS_FRACTION_MAX && bytes_fraction >= MOST)
            .then_some(TraceFinding::FewLargeRequests { bytes_min, requests_fraction, bytes_fraction })
    })
}

fn queue(profile: &TraceProfile) -> Option<TraceFinding> {
    let queued = [profile.queued_ns.read, profile.queued_ns.write];
    let (mut sum, mut count) = (0.0, 0.0);
    for queued in queued.iter().flatten() {
        sum += queued.mean * queued.weight as f64;
        count += queued.weight as f64;
    }
    let (queued_ns_mean, service_ns_mean) = (if count > 0.0 { sum / count } else { 0.0 }, service_ns_mean(profile));
    (service_ns_mean > 0.0 && queued_ns_mean > service_ns_mean)
        .then_some(TraceFinding::QueuedLonger { queued_ns_mean, service_ns_mean })
}

fn reads(profile: &TraceProfile, reuse: &ReuseProfile, memory_bytes: u64) -> Option<TraceFinding> {
    const SMALL_BYTES: f64 = 65_536.0;
    const HIT_RATIO_MIN: f64 = 0.5;
    const MISS_RATIO_ALL: f64 = 0.9;
    let runs = &profile.sequential.reads;
    let is_small = runs.bytes as f64 <= SMALL_BYTES * runs.requests as f64;
    if runs.requests < REQUESTS_MIN || !is_small || runs.continuing_fraction() >= MOST {
        return None;
    }
    let largest = reuse.miss_ratios.last()?;
    if largest.read_miss_ratio >= MISS_RATIO_ALL {
        return Some(TraceFinding::ReadsDoNotRepeat { read_miss_ratio: largest.read_miss_ratio });
    }
    // The smallest cache that has nearly all the hits of the largest one that fits in memory.
    let fitting = reuse.miss_ratios.iter().filter(|point| point.cache_bytes <= memory_bytes);
    let best = fitting.clone().map(|point| 1.0 - point.read_miss_ratio).fold(0.0, f64::max);
    let point = fitting.clone().find(|point| 1.0 - point.read_miss_ratio >= 0.95 * best)?;
    (best >= HIT_RATIO_MIN).then_some(TraceFinding::ReadsFitInMemory {
        cache_bytes: point.cache_bytes,
        read_hit_ratio: 1.0 - point.read_miss_ratio,
        read_footprint_bytes: reuse.read_footprint_bytes,
        continuing_fraction: runs.continuing_fraction(),
    })
}

fn hot_spot(reuse: &ReuseProfile) -> Option<TraceFinding> {
    const DIFFERENCE_MAX: f64 = 0.1;
    let share =
        reuse.hot.shares.iter().find(|share| share.blocks_percent <= 10.0 && share.accesses_fraction >= MOST)?;
    let zipf = reuse.hot.zipf.filter(|zipf| zipf.difference_max <= DIFFERENCE_MAX);
    Some(TraceFinding::HotSpot {
        blocks_percent: share.blocks_percent,
        accesses_fraction: share.accesses_fraction,
        zipf_theta: zipf.map(|zipf| zipf.theta),
    })
}
