//! Purchase plans of random needs, and their simulations.

use std::sync::atomic::{AtomicU64, Ordering};

use plan::{Candidate, LatencyCache, Need, PlanTrial};
use procedure::purchase::{need_of, simulate};
use runner::Uninterrupted;
use units::random::Random;

use crate::cases::cases;
use crate::model::model;

/// Maximum machines per simulation; beyond that, one represents several.
const MACHINES_SIMULATED: u32 = 256;

/// Returns the operations per second of each of several machines on one volume.
fn each(volume: &str, machines: u32, rate: f64, block: u32) -> f64 {
    let volume = volume.to_owned();
    let trial = PlanTrial {
        volume,
        machines,
        rate,
        block,
        read_share: 1.0,
        sequential: false,
        in_flight: rate * 2e-3,
        closed_rate: rate,
        timed: None,
        longer: 1.0,
    };
    simulate(&model(), &trial, 1, &Uninterrupted).unwrap().iops
}

#[test]
fn machines_share_a_volume_and_have_their_own_limits() {
    // 6,400 IOPS of the volume: a quarter for each of four machines.
    let volume = "gcp/hyperdisk-ml,size=1TiB,throughput=400MiB/s";
    let shared = each(volume, 4, 3_000.0, 4096);
    assert!((shared / 1_600.0 - 1.0).abs() < 0.01, "{shared}");
    // Twelve times as many machines as are simulated, so each represents twelve.
    let many = each(volume, 12 * MACHINES_SIMULATED, 6_400.0 / 3_072.0, 4096);
    assert!((many / (6_400.0 / 3_072.0) - 1.0).abs() < 0.02, "{many}");
    // A large volume leaves each machine at its own limit, however many there are.
    let volume = "gcp/hyperdisk-ml,size=1TiB,throughput=100000MiB/s,machine=a3-megagpu-8g";
    let (alone, beside) = (each(volume, 1, 10_000.0, 1 << 20), each(volume, 3, 10_000.0, 1 << 20));
    assert!((beside / alone - 1.0).abs() < 0.01 && alone < 5_000.0, "{alone} alone, {beside} beside others");
}

/// Returns some volumes of the catalogue, and occasionally all.
fn volumes(random: &mut Random, all: bool) -> Vec<String> {
    if all {
        return Vec::new();
    }
    let listed = plan::named(&Need::default()).unwrap();
    (0..3).map(|_| listed[random.below(listed.len() as u64) as usize].0.name.clone()).collect()
}

fn any(seed: u64) -> Need {
    let random = &mut Random::new(seed, 7);
    let chance = |random: &mut Random, share: f64| random.unit() < share;
    let between = |random: &mut Random, low: f64, high: f64| low * (high / low).powf(random.unit());
    let by_rate = chance(random, 0.7);
    let iops = by_rate.then(|| between(random, 50.0, 400_000.0).round());
    let bytes_per_sec = (!by_rate || chance(random, 0.2)).then(|| between(random, 1e6, 4e9).round());
    let block = chance(random, 0.6).then(|| 512_u32 << random.below(12));
    let mean = chance(random, 0.3).then(|| units::Nanos::from_secs_f64(between(random, 3e-4, 3e-2)));
    let percentile = chance(random, 0.2).then(|| (0.99, units::Nanos::from_secs_f64(between(random, 1e-3, 5e-2))));
    let shared = chance(random, 0.1);
    let machines = if chance(random, 0.2) { 1 + random.below(8) as u32 } else { 1 };
    Need {
        iops,
        bytes_per_sec,
        block,
        read_share: if shared { 1.0 } else { [1.0, 0.0, 0.7, 0.5][random.below(4) as usize] },
        sequential: chance(random, 0.3),
        capacity: chance(random, 0.7).then(|| between(random, 1e9, 3e13) as u64),
        mean,
        percentile,
        machines,
        shared,
        scratch: chance(random, 0.3),
        budget: chance(random, 0.2).then(|| between(random, 10.0, 10_000.0)),
        growth: if chance(random, 0.2) { random.unit() } else { 0.0 },
        headroom: if chance(random, 0.5) { 0.2 } else { 0.0 },
        volumes: volumes(random, seed.is_multiple_of(100)),
        ..Need::default()
    }
}

fn is_beaten(one: &Candidate, by: &Candidate) -> bool {
    let (Some(mine), Some(other)) = (one.known_price(), by.known_price()) else { return false };
    let secs = |candidate: &Candidate| candidate.mean_secs.unwrap_or(f64::INFINITY);
    let no_worse = other.usd_per_month <= mine.usd_per_month && secs(by) <= secs(one);
    let better = other.usd_per_month < mine.usd_per_month || secs(by) < secs(one);
    let is_as_well_known = by.about.latency_basis <= one.about.latency_basis;
    is_as_well_known && no_worse && better
}

fn hold(seed: u64, laws: &mut LatencyCache) {
    let (need, runner) = (any(seed), model());
    let said = || format!("seed {seed}: {need:?}");
    let (found, ranking) =
        plan::plan(&need, laws, &mut |trial: &PlanTrial| simulate(&runner, trial, seed, &Uninterrupted));
    for index in ranking.front.iter().chain(&ranking.best).chain(&ranking.fastest) {
        let beaten = ranking.meeting.iter().find(|other| is_beaten(&found[*index], &found[**other]));
        assert!(beaten.is_none(), "{}: {} is beaten", said(), found[*index].spec.name);
    }
    for index in ranking.meeting.iter().chain(&ranking.may_meet) {
        let candidate = &found[*index];
        assert!(
            candidate.failures.is_empty() && candidate.survived == Some(true),
            "{}: {}",
            said(),
            candidate.spec.name
        );
        // It was confirmed by one simulation; another one agrees within a tenth.
        if seed.is_multiple_of(5) {
            let wider = |bound: units::Nanos| units::Nanos::from_secs_f64(1.1 * bound.secs_f64());
            let percentile = need.percentile.map(|(share, bound)| (share, wider(bound)));
            let headroom = 0.9 * need.headroom;
            let need = Need { mean: need.mean.map(wider), percentile, headroom, ..need.clone() };
            let again = &mut |trial: &PlanTrial| simulate(&runner, trial, seed + 1_000, &Uninterrupted);
            assert_eq!(plan::confirm(&need, candidate, again), Some(true), "{}: {}", said(), candidate.spec.name);
        }
    }
    for index in &ranking.missing {
        let candidate = &found[*index];
        let named = candidate.failures.iter().all(|failure| !failure.limit.is_empty());
        assert!(named && !candidate.failures.is_empty(), "{}: {}", said(), candidate.spec.name);
    }
    assert!(ranking.chosen().is_some() || ranking.nearest.is_some(), "{}", said());
}

#[test]
fn the_best_of_random_needs_is_undominated_and_confirmed() {
    let (seeds, next) = (cases(20), AtomicU64::new(0));
    let work = || {
        let laws = &mut LatencyCache::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                return;
            }
            hold(seed, laws);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
}

/// A need was that of the first of four clones, of half of two sections, or of discards.
#[test]
fn a_need_is_of_all_results_that_ran_together() {
    let need = |text: &str| need_of("input", text.as_bytes(), (None, None), &job::EmptySource).unwrap();
    let iops = |text: &str| need(text).need.iops.unwrap().round();
    assert_eq!(iops(include_str!("../../record/tests/data/four_clones.json")), 16_000.0);
    assert_eq!(iops(include_str!("../../record/tests/data/two_sections.json")), 40_000.0);
    let phases = need(include_str!("../../record/tests/data/phases.json"));
    assert_eq!(phases.need.iops.unwrap().round(), 1_000.0);
    assert!(phases.lines.iter().any(|line| line.starts_with("not added")), "{:?}", phases.lines);
    let discards = need(include_str!("../../record/tests/data/discards.txt"));
    let Need { iops, block, read_share, .. } = discards.need;
    assert_eq!((iops, block, (read_share * 3.0).round()), (Some(30.0), Some(4096), 1.0));
    assert!(discards.lines.iter().any(|line| line.contains("discards/s")), "{:?}", discards.lines);
}
