//! Characteristics of constructed traces, against their known values and against exact computations.

use trace::{Characterizer, HurstEstimate, TraceFinding, TraceOperation, TraceProfile, TraceRequest, trace_findings};
use units::random::Random;

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
const GIB: u64 = 1 << 30;

fn profile(requests: impl IntoIterator<Item = TraceRequest>) -> TraceProfile {
    let mut characterizer = Characterizer::new();
    requests.into_iter().for_each(|request| characterizer.add(&request));
    characterizer.finish()
}

fn read(issued_ns: u64, offset: u64, length: u32) -> TraceRequest {
    TraceRequest { issued_ns, offset, length, ..TraceRequest::default() }
}

fn write(issued_ns: u64, offset: u64, length: u32) -> TraceRequest {
    TraceRequest { operation: TraceOperation::Write, ..read(issued_ns, offset, length) }
}

fn served(service_ns: u64, request: TraceRequest) -> TraceRequest {
    TraceRequest { service_ns: Some(service_ns), ..request }
}

fn exponential(random: &mut Random, mean: f64) -> f64 {
    -(1.0 - random.unit()).ln() * mean
}

/// Returns instants of Poisson arrivals at a rate per second.
fn poisson(seed: u64, rate_per_s: f64, count: usize) -> Vec<u64> {
    let (mut random, mut at) = (Random::new(seed, 0), 0.0);
    let mut next = || {
        at += exponential(&mut random, 1e9 / rate_per_s);
        at as u64
    };
    (0..count).map(|_| next()).collect()
}

/// Draws blocks of a zipf distribution from its cumulative table; ranks are scattered over the blocks.
struct ZipfBlocks {
    cumulative: Vec<f64>,
    random: Random,
}

impl ZipfBlocks {
    fn new(theta: f64, blocks: usize, seed: u64) -> Self {
        let mut sum = 0.0;
        let parts = (1..=blocks).map(|rank| {
            sum += (rank as f64).powf(-theta);
            sum
        });
        Self { cumulative: parts.collect(), random: Random::new(seed, 1) }
    }

    fn draw(&mut self) -> u64 {
        let point = self.random.unit() * self.cumulative[self.cumulative.len() - 1];
        let rank = self.cumulative.partition_point(|sum| *sum <= point) as u64;
        rank * 7_368_787 % self.cumulative.len() as u64
    }
}

#[test]
fn rate_mix_sizes_and_flags_are_exact() {
    let requests = (0..10_000u64).map(|n| {
        let at = 5 * S + n * 250_000;
        let mut request = match n % 10 {
            0..=5 => read(at, n << 20, 8192),
            6..=8 => write(at, n << 20, 16_384),
            _ => TraceRequest { operation: TraceOperation::Flush, ..read(at, 0, 0) },
        };
        request.is_sync = n % 10 == 6;
        request.is_meta = n % 10 == 7;
        request.is_fua = n % 20 == 8;
        request.is_readahead = n % 10 == 0;
        request.has_failed = n == 77;
        request.process = (n % 2) as u16;
        request
    });
    let profile = profile(requests);
    let totals = &profile.totals;
    assert_eq!((totals.requests.read, totals.requests.write, totals.requests.flush), (6000, 3000, 1000));
    assert_eq!((totals.bytes.read, totals.bytes.write), (6000 * 8192, 3000 * 16_384));
    assert_eq!((totals.sync_requests, totals.sync_bytes, totals.sync_writes), (1000, 1000 * 16_384, 1000));
    assert_eq!((totals.meta_requests, totals.fua_requests, totals.fua_bytes), (1000, 500, 500 * 16_384));
    assert_eq!((totals.readahead_requests, totals.failed_requests), (1000, 1));
    assert_eq!((totals.first_issue_ns, totals.issue_duration_ns), (5 * S, 9_999 * 250_000));
    assert_eq!(profile.arrivals.rate_per_s, Some(4000.0));
    assert_eq!(profile.sizes.read.frequent.len(), 1);
    assert_eq!((profile.sizes.write.frequent[0].bytes, profile.sizes.write.frequent[0].requests), (16_384, 3000));
    let processes: Vec<_> = profile.processes.iter().map(|one| (one.process, one.requests.total())).collect();
    assert_eq!(processes, [(0, 5000), (1, 5000)]);
    assert_eq!(profile.devices[0].end_offset, (9998 << 20) + 16_384);
    let in_series: u64 = profile.series.intervals.iter().map(|interval| interval.requests.total()).sum();
    assert_eq!(in_series, 10_000);
    let full = &profile.series.intervals[1];
    assert_eq!(full.requests.total() * 250_000, profile.series.width_ns);
    assert_eq!((profile.depth, profile.loops), (None, None));
}

#[test]
fn a_depth_of_constructed_requests_is_exact() {
    // Every millisecond a request of 2.5 ms: depth 3 for half of the time, 2 for the other half.
    let profile = profile((0..1000u64).map(|n| served(2_500_000, read(n * MS, n << 20, 4096))));
    let depth = profile.depth.unwrap();
    let over_time = depth.depth.unwrap();
    assert_eq!((over_time.max, depth.busy_time_fraction), (3, 1.0));
    // 1000 requests of 2.5 ms in 1001.5 ms.
    assert!((over_time.mean - 2500.0 / 1001.5).abs() < 1e-9, "{}", over_time.mean);
    assert_eq!((depth.depth_at_issue.p50, depth.depth_at_issue.max), (3, 3));
    assert_eq!(profile.totals.duration_ns, 1_001_500_000);
    let service = profile.service_ns.read.unwrap();
    assert_eq!((service.weight, service.min, service.mean, service.max), (1000, 2_500_000, 2_500_000.0, 2_500_000));
    assert!((service.p99 as f64 / 2.5e6 - 1.0).abs() < 0.01);
    let in_flight: u64 = profile.series.intervals.iter().map(|interval| interval.in_flight_ns).sum();
    assert_eq!(in_flight, 1000 * 2_500_000);
}

#[test]
fn depth_one_is_found_and_a_completion_at_an_issue_is_before_it() {
    let profile = profile((0..1000u64).map(|n| served(100_000, read(n * 100_000, n << 20, 4096))));
    assert_eq!(profile.depth.as_ref().unwrap().depth_at_issue.max, 1);
    let found = trace_findings(&profile, GIB);
    assert!(
        found.iter().any(|finding| matches!(finding, TraceFinding::DepthOne { service_ns_mean, .. }
        if *service_ns_mean == 100_000.0)),
        "{found:?}"
    );
}

#[test]
fn runs_have_their_lengths() {
    // Runs of 32 writes from two interleaved streams, random reads between them.
    let mut requests = Vec::new();
    for n in 0..32_000u64 {
        let stream = n % 2;
        let (run, step) = (n / 64, n / 2 % 32);
        requests.push(write(n * 1000, (stream << 50) + (run << 30) + step * 4096, 4096));
        requests.push(read(n * 1000, n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20 << 12, 4096));
    }
    let profile = profile(requests);
    let writes = profile.sequential.writes;
    assert_eq!(writes.run_requests.map(|runs| (runs.weight, runs.p10, runs.p50, runs.max)), Some((1000, 32, 32, 32)));
    assert_eq!(writes.continuing_requests, 31_000);
    assert_eq!(writes.interleaved_streams.map(|streams| streams.p50), Some(2));
    assert_eq!(profile.sequential.reads.continuing_requests, 0);
}

#[test]
fn even_arrivals_have_no_dispersion_and_no_peak() {
    let profile = profile((0..300_000u64).map(|n| read(n * 100_000, n << 12, 4096)));
    let gap = profile.arrivals.gap_ns.unwrap();
    assert_eq!((gap.coefficient_of_variation, gap.min, gap.max, gap.p50), (0.0, 100_000, 100_000, 100_000));
    assert_eq!(profile.arrivals.windows.len(), 5);
    for window in &profile.arrivals.windows {
        assert_eq!(window.index_of_dispersion, Some(0.0), "{window:?}");
        assert!((window.peak_to_mean - 1.0).abs() < 1e-6, "{window:?}");
    }
    // Counts of windows that do not divide the gap differ by one, and one that is high is followed by one that is low.
    assert!(profile.arrivals.hurst.is_none_or(|hurst| hurst.exponent < 0.4), "{:?}", profile.arrivals.hurst);
    assert_eq!(profile.arrivals.bursts, None);
}

#[test]
fn poisson_arrivals_have_dispersion_one_and_hurst_one_half() {
    for (seed, rate, count) in
        [(1, 5000.0, 1_000_000), (2, 300.0, 300_000), (3, 200_000.0, 2_000_000), (4, 20.0, 100_000)]
    {
        let profile = profile(poisson(seed, rate, count).into_iter().map(|at| read(at, 0, 4096)));
        let arrivals = &profile.arrivals;
        let gap = arrivals.gap_ns.unwrap();
        assert!((gap.coefficient_of_variation - 1.0).abs() < 0.01, "seed {seed}: {gap:?}");
        assert!((arrivals.rate_per_s.unwrap() / rate - 1.0).abs() < 0.01, "seed {seed}");
        for window in &arrivals.windows {
            let windows = profile.totals.issue_duration_ns as f64 / window.width_ns as f64;
            // The index of n windows of Poisson counts has a variance of 2 / (n - 1), and more for small means.
            let mean = rate * window.width_ns as f64 / 1e9;
            let deviation = ((2.0 + 1.0 / mean) / (windows - 1.0).max(1.0)).sqrt();
            let index = window.index_of_dispersion.unwrap_or(1.0);
            assert!((index - 1.0).abs() < 4.0 * deviation + 0.001, "seed {seed}: {window:?}, deviation {deviation}");
        }
        let hurst = arrivals.hurst.unwrap();
        assert!((hurst.exponent - 0.5).abs() < 0.05, "seed {seed}: {hurst:?}");
        assert!((hurst.exponent - 0.5).abs() < 4.0 * hurst.standard_error, "seed {seed}: {hurst:?}");
        assert_eq!(arrivals.bursts, None, "seed {seed}");
    }
}

/// Returns the Hurst estimate of many sources with on and off times of Pareto's distribution, whose sum has the exponent
/// (3 - alpha) / 2: Willinger, Taqqu, Sherman and Wilson, IEEE/ACM Transactions on Networking 5(1), 1997.
fn on_off(seed: u64, alpha: f64) -> HurstEstimate {
    const SOURCES: u64 = 64;
    const DURATION_S: f64 = 4000.0;
    let mut instants = Vec::new();
    for source in 0..SOURCES {
        let mut random = Random::new(seed, source);
        let mut pareto = || 0.05 * (1.0 - random.unit()).powf(-1.0 / alpha);
        let mut at = 0.0;
        while at < DURATION_S {
            let end = at + pareto();
            while at < end {
                instants.push((at * 1e9) as u64);
                at += 0.02;
            }
            at = end + pareto();
        }
    }
    instants.retain(|at| *at < (DURATION_S * 1e9) as u64);
    instants.sort_unstable();
    profile(instants.into_iter().map(|at| read(at, 0, 4096))).arrivals.hurst.unwrap()
}

#[test]
fn on_off_sources_have_the_exponent_of_their_tails() {
    for (seed, alpha) in [(11, 1.2), (12, 1.4)] {
        let (found, expected) = (on_off(seed, alpha), (3.0 - alpha) / 2.0);
        // The exponent is that of infinitely wide windows; in 4000 s it is only approached.
        assert!((found.exponent - expected).abs() < 0.1, "seed {seed}: expected {expected}, found {found:?}");
    }
}

/// Transforms complex numbers, whose number is a power of two.
fn fourier(values: &mut [(f64, f64)]) {
    let count = values.len();
    if count == 1 {
        return;
    }
    let mut even: Vec<_> = values.iter().step_by(2).copied().collect();
    let mut odd: Vec<_> = values.iter().skip(1).step_by(2).copied().collect();
    fourier(&mut even);
    fourier(&mut odd);
    for at in 0..count / 2 {
        let (sin, cos) = (-std::f64::consts::TAU * at as f64 / count as f64).sin_cos();
        let turned = (odd[at].0 * cos - odd[at].1 * sin, odd[at].0 * sin + odd[at].1 * cos);
        values[at] = (even[at].0 + turned.0, even[at].1 + turned.1);
        values[at + count / 2] = (even[at].0 - turned.0, even[at].1 - turned.1);
    }
}

/// Returns fractional Gaussian noise with an exponent, by the exact method of Davies and Harte (Biometrika 74(1), 1987).
fn fractional_noise(seed: u64, hurst: f64, count: usize) -> Vec<f64> {
    let covariance = |lag: usize| {
        let power = |lag: f64| lag.abs().powf(2.0 * hurst);
        let lag = lag as f64;
        (power(lag + 1.0) - 2.0 * power(lag) + power(lag - 1.0)) / 2.0
    };
    let mut spectrum: Vec<(f64, f64)> = (0..2 * count).map(|at| (covariance(at.min(2 * count - at)), 0.0)).collect();
    fourier(&mut spectrum);
    let mut random = Random::new(seed, 3);
    let mut noise: Vec<(f64, f64)> = spectrum
        .iter()
        .map(|(power, _)| {
            let radius = (2.0 * exponential(&mut random, 1.0)).sqrt();
            let (sin, cos) = (std::f64::consts::TAU * random.unit()).sin_cos();
            let scale = (power.max(0.0) / (2 * count) as f64).sqrt() * radius;
            (scale * cos, scale * sin)
        })
        .collect();
    fourier(&mut noise);
    noise.truncate(count);
    noise.into_iter().map(|(real, _)| real).collect()
}

#[test]
fn fractional_gaussian_counts_have_their_hurst_exponent() {
    // Counts of slots of 1 ms; arrivals are even within a slot.
    const SLOT_NS: u64 = 1 << 20;
    for (seed, hurst) in [(61, 0.5), (62, 0.6), (63, 0.7), (64, 0.8), (65, 0.9)] {
        let mut requests = Vec::new();
        for (slot, noise) in (0..).zip(fractional_noise(seed, hurst, 1 << 15)) {
            let count = (50.0 + 10.0 * noise).round().max(0.0) as u64;
            requests.extend((0..count).map(|n| read(slot * SLOT_NS + n * SLOT_NS / count, 0, 4096)));
        }
        let found = profile(requests).arrivals.hurst.unwrap();
        assert!((found.exponent - hurst).abs() < 0.05, "seed {seed}: expected {hurst}, found {found:?}");
        assert!((found.exponent - hurst).abs() < 3.0 * found.standard_error, "seed {seed}: {found:?}");
        let in_slots = found.scale_ns_min > SLOT_NS as f64;
        assert!(in_slots, "the fit begins above the width of slots: {found:?}");
    }
}

#[test]
fn checkpoints_are_bursts_of_writes() {
    // 1000 reads per second; every 5 s writes for 40 ms at 20,000 per second.
    let mut requests: Vec<TraceRequest> =
        (0..60_000u64).map(|n| read(n * MS, n * 7919 % 100_000 * 4096, 4096)).collect();
    for checkpoint in 1..12u64 {
        requests.extend((0..800u64).map(|n| write(checkpoint * 5 * S + n * 50_000, n << 20, 8192)));
    }
    requests.sort_by_key(|request| request.issued_ns);
    let profile = profile(requests);
    let bursts = profile.arrivals.bursts.as_ref().unwrap();
    assert_eq!((bursts.bursts, bursts.duration_ns.max, bursts.duration_ns.min), (11, 40 * MS, 40 * MS));
    assert!(bursts.interval_ns.unwrap().p50.abs_diff(5 * S) <= 10 * MS);
    // 880 requests in 40 ms, over 68,800 in a minute.
    assert!((bursts.rate_to_mean - (840.0 / 0.04) / (68_800.0 / 60.0)).abs() < 0.5, "{bursts:?}");
    let window = profile.arrivals.windows.iter().find(|window| window.width_ns == 10 * MS).unwrap();
    assert_eq!(window.requests_max, 210);
    let found = trace_findings(&profile, GIB);
    assert!(found.iter().any(|finding| matches!(finding, TraceFinding::BurstyWrites { bursts: 11, .. })), "{found:?}");
}

#[test]
fn a_peak_across_the_border_of_windows_is_found() {
    let mut requests: Vec<TraceRequest> = (0..3000u64).map(|n| read(n * MS, 0, 4096)).collect();
    requests.extend((0..500u64).map(|n| read(950 * MS + n * 200_000, 0, 4096)));
    requests.sort_by_key(|request| request.issued_ns);
    let profile = profile(requests);
    let window = profile.arrivals.windows.iter().find(|window| window.width_ns == 100 * MS).unwrap();
    assert_eq!(window.requests_max, 600);
}

/// Issues requests as `depth` threads do that wait for each, with a think time.
fn closed_loop(seed: u64, depth: usize, service_ns: f64, think_ns: u64, count: usize) -> Vec<TraceRequest> {
    let mut random = Random::new(seed, 0);
    let mut next: Vec<u64> = (0..depth as u64).collect();
    let mut requests = Vec::with_capacity(count);
    for _ in 0..count {
        let at = next.iter_mut().min().unwrap();
        let service = exponential(&mut random, service_ns) as u64;
        requests.push(served(service, read(*at, random.below(1 << 20) << 12, 4096)));
        *at += service + think_ns;
    }
    requests
}

#[test]
fn closed_and_open_loops_are_told_apart() {
    for (depth, service, think) in
        [(1, 100_000.0, 5_000), (1, 1_000_000.0, 2_000), (8, 200_000.0, 5_000), (32, 100_000.0, 0)]
    {
        let loops = profile(closed_loop(4, depth, service, think, 50_000)).loops.unwrap();
        assert!(loops.closed_loop_score > 0.9, "depth {depth}, service {service}: {loops:?}");
        if depth == 1 {
            assert!(loops.think_ns.unwrap().p50.abs_diff(think) <= think / 100, "{loops:?}");
        }
    }
    for (rate, service) in [(2000.0, 100_000.0), (20_000.0, 1_000_000.0), (100_000.0, 100_000.0)] {
        let mut random = Random::new(8, 8);
        let requests = poisson(5, rate, 50_000)
            .into_iter()
            .map(|at| served(exponential(&mut random, service) as u64, read(at, random.below(1 << 20) << 12, 4096)));
        let loops = profile(requests).loops.unwrap();
        assert!(loops.closed_loop_score < 0.1, "rate {rate}, service {service}: {loops:?}");
    }
}

/// Returns the exact LRU miss ratio for some cache sizes in blocks.
fn exact_miss_ratios(blocks: &[u64], sizes: &[u64]) -> Vec<f64> {
    // A Fenwick tree over instants with a one at the last access of each block.
    let mut tree = vec![0i64; blocks.len() + 1];
    let add = |tree: &mut Vec<i64>, mut at: usize, value: i64| {
        while at < tree.len() {
            tree[at] += value;
            at += at & at.wrapping_neg();
        }
    };
    let sum = |tree: &[i64], mut at: usize| {
        let mut sum = 0;
        while at > 0 {
            sum += tree[at];
            at -= at & at.wrapping_neg();
        }
        sum
    };
    let greatest = blocks.iter().max().map_or(0, |block| *block as usize);
    let (mut last, mut hits) = (vec![None; greatest + 1], vec![0u64; sizes.len()]);
    for (at, block) in blocks.iter().enumerate() {
        if let Some(before) = last[*block as usize].replace(at) {
            let distance = (sum(&tree, at) - sum(&tree, before + 1)) as u64;
            hits.iter_mut().zip(sizes).filter(|(_, size)| distance < **size).for_each(|(hits, _)| *hits += 1);
            add(&mut tree, before + 1, -1);
        }
        add(&mut tree, at + 1, 1);
    }
    hits.iter().map(|hits| 1.0 - *hits as f64 / blocks.len() as f64).collect()
}

/// Returns the greatest and the mean difference between the miss ratios of a profile and the exact ones.
fn miss_ratio_errors(blocks: &[u64]) -> (f64, f64) {
    let profile = profile(blocks.iter().zip(0..).map(|(block, at)| read(at, block * 4096, 4096)));
    let points = profile.reuse.unwrap().miss_ratios;
    let sizes: Vec<u64> = points.iter().map(|point| point.cache_bytes / 4096).collect();
    let exact = exact_miss_ratios(blocks, &sizes);
    let errors: Vec<f64> = points.iter().zip(&exact).map(|(point, exact)| (point.miss_ratio - exact).abs()).collect();
    assert!(points.iter().all(|point| (point.read_miss_ratio - point.miss_ratio).abs() < 1e-9));
    (errors.iter().copied().fold(0.0, f64::max), errors.iter().sum::<f64>() / errors.len() as f64)
}

#[test]
fn miss_ratios_of_few_blocks_are_those_of_an_lru_cache() {
    let mut random = Random::new(21, 0);
    let blocks: Vec<u64> = (0..100_000).map(|_| random.below(3000)).collect();
    let (most, _) = miss_ratio_errors(&blocks);
    // Distances are in buckets of 1/64 of a power of two.
    assert!(most < 0.01, "{most}");
}

#[test]
fn miss_ratios_of_a_zipf_trace_are_near_those_of_an_lru_cache() {
    for (theta, seed) in [(0.6, 31), (0.8, 32), (0.99, 33), (1.2, 34)] {
        let mut zipf = ZipfBlocks::new(theta, 400_000, seed);
        let blocks: Vec<u64> = (0..1_000_000).map(|_| zipf.draw()).collect();
        let (most, mean) = miss_ratio_errors(&blocks);
        assert!(most < 0.01 && mean < 0.003, "theta {theta}, seed {seed}: greatest error {most}, mean {mean}");
    }
}

#[test]
fn a_cyclic_trace_misses_until_the_cache_holds_the_cycle() {
    for cycle in [1000u64, 100_000] {
        let blocks: Vec<u64> = (0..cycle * 5).map(|n| n % cycle).collect();
        let profile = profile(blocks.iter().zip(0..).map(|(block, at)| read(at, block * 4096, 4096)));
        let reuse = profile.reuse.unwrap();
        for point in &reuse.miss_ratios {
            let size = point.cache_bytes as f64 / 4096.0 / cycle as f64;
            let expected = if size > 1.0 { 0.2 } else { 1.0 };
            // Sampling moves the step by the error of the footprint.
            if (size - 1.0).abs() > 0.03 {
                assert!((point.miss_ratio - expected).abs() < 0.015, "cycle {cycle}: {point:?}");
            }
        }
        let footprint = reuse.footprint_bytes / 4096.0 / cycle as f64;
        assert!((footprint - 1.0).abs() <= 4.0 * reuse.footprint_relative_error, "{footprint}");
    }
}

#[test]
fn footprints_and_working_sets_are_estimated() {
    // 1,000,000 blocks are written once, 200,000 of them are read; ten new blocks per ms.
    let writes = (0..1_000_000u64).map(|n| write(n * 100_000, n * 4096, 4096));
    let profile = profile(writes.chain((0..200_000u64).map(|n| read(100 * S + n * 1000, n * 4096, 4096))));
    let reuse = profile.reuse.unwrap();
    let near = |bytes: f64, blocks: f64| (bytes / 4096.0 / blocks - 1.0).abs() < 0.04;
    assert!(near(reuse.footprint_bytes, 1e6), "{}", reuse.footprint_bytes);
    assert!(near(reuse.written_footprint_bytes, 1e6) && near(reuse.read_footprint_bytes, 2e5), "{reuse:?}");
    let second = reuse.windows.iter().find(|window| window.width_ns == S).unwrap();
    assert!((second.written_bytes_mean / 4096.0 / 1e4 - 1.0).abs() < 0.05, "{second:?}");
    let new: f64 = profile.series.intervals.iter().map(|interval| interval.new_blocks).sum();
    assert!((new / 1e6 - 1.0).abs() < 0.04, "{new}");
    assert_eq!(reuse.accesses, 1_200_000);
}

#[test]
fn a_zipf_exponent_is_found_again_and_hot_parts_are_near_the_exact_ones() {
    for (theta, blocks, seed) in [(0.0, 100_000, 41), (0.5, 100_000, 42), (0.9, 200_000, 43), (1.1, 200_000, 44)] {
        let mut zipf = ZipfBlocks::new(theta, blocks, seed);
        let draws: Vec<u64> = (0..1_500_000).map(|_| zipf.draw()).collect();
        let profile = profile(draws.iter().zip(0..).map(|(block, at)| read(at, block * 4096, 4096)));
        let hot = profile.reuse.unwrap().hot;
        let mut counts = vec![0u64; blocks];
        draws.iter().for_each(|block| counts[*block as usize] += 1);
        counts.retain(|count| *count > 0);
        counts.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
        for share in &hot.shares {
            let hottest = (counts.len() as f64 * share.blocks_percent / 100.0) as usize;
            let exact = counts[..hottest].iter().sum::<u64>() as f64 / draws.len() as f64;
            assert!((share.accesses_fraction - exact).abs() < 0.02, "theta {theta}: {share:?}, exact {exact}");
        }
        let fit = hot.zipf.unwrap();
        // A uniform distribution has the greatest slope of the exponent over the moment.
        let error = if theta == 0.0 { 0.1 } else { 0.04 };
        assert!((fit.theta - theta).abs() < error, "theta {theta}, seed {seed}: {fit:?}");
        assert!(fit.difference_max < 0.05, "{fit:?}");
    }
}

#[test]
fn a_log_and_a_cached_database_are_recognized() {
    let mut random = Random::new(51, 0);
    let mut requests = Vec::new();
    for n in 0..50_000u64 {
        let at = n * 200_000;
        requests.push(served(80_000, read(at, random.below(20_000) * 8192, 8192)));
        if n % 4 == 0 {
            let log = TraceRequest { is_sync: true, is_fua: true, process: 1, ..write(at, GIB + n / 4 * 4096, 4096) };
            requests.push(served(50_000, log));
        }
        if n % 50 == 0 {
            requests
                .push(served(500_000, TraceRequest { process: 2, ..write(at, (1 << 40) + n * (8 << 20), 1 << 20) }));
        }
    }
    let profile = profile(requests);
    let found = trace_findings(&profile, GIB);
    let has = |code: &str| found.iter().any(|finding| finding.code() == code);
    assert!(has("reads-fit-in-memory") && has("few-large-requests") && has("frequent-flushes"), "{found:?}");
    assert!(has("log-writes"), "{found:?} {:?}", profile.sequential.writes);
    assert!(!has("depth-one") && !has("reads-do-not-repeat") && !has("hot-spot"), "{found:?}");
    let small = trace_findings(&profile, 1 << 20);
    assert!(!small.iter().any(|finding| finding.code() == "reads-fit-in-memory"), "{small:?}");
}

#[test]
fn late_requests_are_counted() {
    let profile =
        profile([read(10 * MS, 0, 4096), read(12 * MS, 0, 4096), read(9 * MS, 0, 4096), read(12 * MS, 0, 4096)]);
    assert_eq!((profile.totals.late_requests, profile.totals.late_ns_max), (1, 3 * MS));
    assert_eq!(profile.totals.issue_duration_ns, 2 * MS);
    assert_eq!(trace_findings(&profile, GIB).iter().map(TraceFinding::code).collect::<Vec<_>>(), ["late-requests"]);
}
