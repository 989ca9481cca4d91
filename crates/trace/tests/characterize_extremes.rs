//! Odd and hostile requests: nothing panics, and no number is undefined.

use trace::{Characterizer, PerOperation, TraceOperation, TraceProfile, TraceRequest, trace_findings};
use units::random::Random;

const OPERATIONS: [TraceOperation; 6] = [
    TraceOperation::Read,
    TraceOperation::Write,
    TraceOperation::Flush,
    TraceOperation::Discard,
    TraceOperation::WriteZeroes,
    TraceOperation::Other,
];

fn check(requests: &[TraceRequest], context: &str) -> TraceProfile {
    let mut characterizer = Characterizer::new();
    requests.iter().for_each(|request| characterizer.add(request));
    let profile = characterizer.finish();
    let text = format!("{profile:?} {:?}", trace_findings(&profile, 1 << 30));
    assert!(!text.contains("NaN") && !text.contains("inf"), "{context}: {text}");
    assert_eq!(profile.totals.requests.total(), requests.len() as u64, "{context}");
    assert!(profile.series.intervals.len() <= 2048, "{context}");
    if let Some(reuse) = &profile.reuse {
        let mut last = 1.0;
        for point in &reuse.miss_ratios {
            assert!((0.0..=last).contains(&point.miss_ratio), "{context}: {point:?}");
            last = point.miss_ratio;
        }
        assert!(reuse.hot.shares.iter().all(|share| (0.0..=1.0).contains(&share.accesses_fraction)), "{context}");
    }
    profile
}

/// Draws a number that is near an extreme or of any magnitude.
fn odd(random: &mut Random) -> u64 {
    match random.below(6) {
        0 => random.below(3),
        1 => u64::MAX - random.below(3),
        2 => (1 << random.below(64)) - 1,
        3 => 4096 * random.below(1000),
        _ => random.bits() >> random.below(64),
    }
}

fn odd_request(random: &mut Random) -> TraceRequest {
    let length = odd(random) as u32;
    // The time that blocks of huge requests take is tested apart.
    let length = if random.below(50) == 0 { length } else { length % (1 << 17) };
    TraceRequest {
        issued_ns: odd(random),
        queued_ns: (random.below(2) == 0).then(|| odd(random)),
        service_ns: (random.below(4) > 0).then(|| odd(random)),
        offset: odd(random),
        length,
        operation: OPERATIONS[random.below(6) as usize],
        is_sync: random.below(2) == 0,
        is_meta: random.below(2) == 0,
        is_fua: random.below(2) == 0,
        is_preflush: random.below(2) == 0,
        is_readahead: random.below(2) == 0,
        has_failed: random.below(9) == 0,
        process: if random.below(20) == 0 { odd(random) as u16 } else { random.below(4) as u16 },
        waiting: None,
        device: if random.below(20) == 0 { odd(random) as u16 } else { random.below(3) as u16 },
    }
}

#[test]
fn nothing_and_one_request() {
    let empty = check(&[], "empty");
    assert_eq!((empty.arrivals.rate_per_s, empty.reuse.is_none(), empty.processes.len()), (None, true, 0));
    let one = TraceRequest { length: 4096, service_ns: Some(7), ..TraceRequest::default() };
    let profile = check(&[one], "one");
    assert_eq!((profile.totals.duration_ns, profile.totals.issue_duration_ns), (7, 0));
    assert_eq!(profile.depth.map(|depth| depth.busy_time_fraction), Some(1.0));
    check(&[TraceRequest::default()], "one without length");
    check(&[one; 1000], "equal requests");
}

#[test]
fn the_extremes_of_all_fields() {
    let extreme = TraceRequest {
        issued_ns: u64::MAX,
        queued_ns: Some(u64::MAX),
        service_ns: Some(u64::MAX),
        offset: u64::MAX,
        length: u32::MAX,
        process: u16::MAX,
        device: u16::MAX,
        ..TraceRequest::default()
    };
    check(&[extreme; 5], "greatest");
    check(&[TraceRequest::default(), extreme, TraceRequest::default(), extreme], "from zero to the greatest and back");
    let back: Vec<TraceRequest> = (0..5000u64)
        .map(|n| TraceRequest { issued_ns: u64::MAX - n * 1000, length: 512, service_ns: Some(n), ..extreme })
        .collect();
    let profile = check(&back, "backwards");
    assert_eq!(profile.totals.late_requests, 4999);
    // An offset and length that would wrap around end at the end of the address space.
    let wrapping = TraceRequest { offset: 0, length: u32::MAX, service_ns: None, ..extreme };
    let profile = check(&[wrapping], "four gibibytes");
    assert!(profile.reuse.is_some_and(|reuse| reuse.skipped_blocks == (1 << 20) - 4096));
}

#[test]
fn any_requests() {
    let seeds: Vec<u64> = match option_env!("FATHOM_TEST_SEED") {
        Some(seed) => vec![seed.parse().expect("a number")],
        None => (0..60).collect(),
    };
    for seed in seeds {
        let mut random = Random::new(seed, 99);
        let count = random.below(3000);
        let mut requests: Vec<TraceRequest> = (0..count).map(|_| odd_request(&mut random)).collect();
        if seed % 2 == 0 {
            requests.sort_by_key(|request| request.issued_ns);
        }
        check(&requests, &format!("seed {seed}"));
    }
}

#[test]
fn more_requests_in_flight_than_are_tracked() {
    let requests: Vec<TraceRequest> = (0..70_000u64)
        .map(|n| TraceRequest {
            issued_ns: n,
            service_ns: Some(1 << 50),
            length: 512,
            offset: n * 512,
            ..TraceRequest::default()
        })
        .collect();
    let depth = check(&requests, "in flight").depth.unwrap();
    assert_eq!((depth.depth_at_issue.max, depth.dropped), (65_536, 70_000 - 65_536));
}

/// Returns requests as applications make them, in the order of issue.
fn usual_requests(random: &mut Random) -> Vec<TraceRequest> {
    let (count, blocks, gap_ns) = (1 + random.below(5000), 1 + random.below(1 << 22), 1 + random.below(1 << 24));
    let mut at = 0;
    let mut next = || {
        at += random.below(gap_ns);
        TraceRequest {
            issued_ns: at,
            service_ns: Some(random.below(8 * gap_ns)),
            queued_ns: Some(random.below(gap_ns)),
            offset: random.below(blocks) * 4096,
            length: 512 * random.below(400) as u32,
            operation: OPERATIONS[random.below(6) as usize],
            process: random.below(5) as u16,
            device: random.below(2) as u16,
            ..TraceRequest::default()
        }
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn parts_add_up_to_totals() {
    for seed in 1000..1040 {
        let requests = usual_requests(&mut Random::new(seed, 7));
        let profile = check(&requests, &format!("seed {seed}"));
        let totals = &profile.totals;
        let add =
            |sums: Vec<PerOperation<u64>>| OPERATIONS.map(|one| sums.iter().map(|sum| *sum.get(one)).sum::<u64>());
        let wanted = (add(vec![totals.requests]), add(vec![totals.bytes]));
        let intervals = &profile.series.intervals;
        let series =
            (add(intervals.iter().map(|i| i.requests).collect()), add(intervals.iter().map(|i| i.bytes).collect()));
        assert_eq!(series, wanted, "seed {seed}: intervals");
        let processes = &profile.processes;
        let by_process =
            (add(processes.iter().map(|p| p.requests).collect()), add(processes.iter().map(|p| p.bytes).collect()));
        assert_eq!(by_process, wanted, "seed {seed}: processes");
        for one in OPERATIONS {
            let sizes = profile.sizes.get(one);
            let sized = sizes.frequent.iter().map(|size| size.requests).sum::<u64>()
                + sizes.others.iter().map(|range| range.requests).sum::<u64>();
            assert_eq!(sized, *totals.requests.get(one), "seed {seed}: sizes of {one:?}");
        }
        let by_device = profile.devices.iter().fold((0, 0), |sum, one| (sum.0 + one.requests, sum.1 + one.bytes));
        assert_eq!(by_device, (totals.requests.total(), totals.bytes.total()), "seed {seed}: devices");
        let service: u64 = requests.iter().filter_map(|request| request.service_ns).sum();
        let in_flight: u64 = intervals.iter().map(|interval| interval.in_flight_ns).sum();
        assert_eq!(in_flight, service, "seed {seed}: time in flight");
        let runs = [profile.sequential.reads, profile.sequential.writes];
        for direction in runs {
            let ends = direction.run_requests.map_or(0, |runs| runs.weight);
            assert_eq!(ends + direction.continuing_requests, direction.requests, "seed {seed}: runs");
        }
    }
}

#[test]
fn only_differences_of_instants_count() {
    for seed in 2000..2020 {
        let requests = usual_requests(&mut Random::new(seed, 7));
        let shift = Random::new(seed, 8).bits() >> 2;
        let later: Vec<TraceRequest> =
            requests.iter().map(|one| TraceRequest { issued_ns: one.issued_ns + shift, ..*one }).collect();
        let (profile, mut shifted) = (check(&requests, "first"), check(&later, "shifted"));
        shifted.totals.first_issue_ns -= shift;
        assert_eq!(profile, shifted, "seed {seed}");
    }
}

/// Requests of traces in whole seconds seemed to come in bursts of 10 ms, with a Hurst exponent from 262 us on.
#[test]
fn rounded_times_make_no_bursts() {
    let profile = |resolution_ns: u64| {
        let mut characterizer = Characterizer::new();
        for index in 0..20_000_u64 {
            let issued_ns = index * 10_000_019 / resolution_ns * resolution_ns;
            characterizer.add(&TraceRequest {
                issued_ns,
                length: 4096,
                offset: index * 4096,
                ..TraceRequest::default()
            });
        }
        characterizer.finish()
    };
    for resolution_ns in [1_000_000_000, 1_000_000, 1_000] {
        let arrivals = profile(resolution_ns).arrivals;
        assert_eq!(arrivals.bursts, None, "{resolution_ns}");
        assert!(arrivals.windows.iter().all(|window| window.width_ns >= resolution_ns), "{resolution_ns}");
        assert!(arrivals.hurst.is_none_or(|hurst| hurst.scale_ns_min >= resolution_ns as f64), "{resolution_ns}");
    }
    assert_eq!(profile(1).arrivals.windows[0].width_ns, 1_000_000);
}
