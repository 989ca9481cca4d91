//! Searches over replays, with replays whose results follow from the limits of the volume.

use plan::replay::{ReplayBounds, ReplayLimit, ReplayResult, ReplaySearch, ReplayTrial, ReplayedCandidate};
use plan::{LatencyCache, Need, Requirement, named};
use units::Nanos;
use volume::catalogue;
use volume::closed::{Load, caps};

const BOUND: Nanos = Nanos::from_millis(2);

fn bounds() -> ReplayBounds {
    ReplayBounds { mean: None, percentiles: vec![(0.99, BOUND)] }
}

/// Returns the result of a load of reads of `block` bytes that needs `iops` at a speed of 1.
fn scripted(trial: &ReplayTrial, iops: f64, block: u32) -> Option<ReplayResult> {
    let spec = catalogue::resolve_all(&[&trial.volume], &catalogue::no_files).ok()?.remove(0).spec;
    let cap = caps(&spec, &Load::mixed(1.0, block, f64::INFINITY)).into_iter().next();
    let (name, given) = cap.map_or_else(|| (String::new(), f64::INFINITY), |cap| (cap.name, cap.iops));
    let enough = given >= iops * trial.speed * (1.0 - 1e-9);
    let p99 = if enough { 0.001 } else { 0.5 };
    Some(ReplayResult {
        requests: 1_000,
        planned: 1_000,
        was_stopped: !enough && trial.until_missed.is_some(),
        intended_secs: 10.0,
        elapsed_secs: 10.0,
        mean_secs: 0.0007,
        percentiles: vec![(0.5, 0.0006), (0.99, p99), (0.999, p99)],
        limits: vec![ReplayLimit { name, delay_secs: 1.0, ..ReplayLimit::default() }],
        ..ReplayResult::default()
    })
}

fn search(need: &Need, near: f64, resolution: f64, iops: f64, block: u32) -> ReplayedCandidate {
    let start = Need { iops: Some(near), block: Some(block), ..need.clone() };
    let search = ReplaySearch { need, start: &start, bounds: &bounds(), speed: 1.0, resolution };
    let origin = named(need).unwrap().remove(0);
    let mut replay = |trial: &ReplayTrial| scripted(trial, iops, block);
    search.find(&origin, &mut LatencyCache::default(), &mut replay).unwrap()
}

fn need(volume: &str) -> Need {
    Need { volumes: vec![volume.to_owned()], capacity: Some(200 << 30), ..Need::default() }
}

#[test]
fn the_least_provisioned_values_are_found_exactly() {
    for near in [200.0, 9_000.0, 12_000.0, 12_345.0, 15_000.0, 70_000.0] {
        let found = search(&need("aws/gp3"), near, 0.0, 12_345.0, 4096);
        assert_eq!(found.candidate.spec.name, "aws/gp3,size=200GiB,iops=12345,throughput=125MiB/s", "from {near}");
        assert!(found.candidate.meets() && found.candidate.known_price().is_some());
        assert!(found.replays < 50, "{} replays from {near}", found.replays);
    }
    // 1,000 operations of 1 MiB per second: the throughput binds, and IOPS follow from it.
    let large = search(&need("aws/gp3"), 900.0, 0.0, 1_000.0, 1 << 20);
    assert!(large.candidate.spec.name.contains("throughput=1000MiB/s"), "{}", large.candidate.spec.name);
}

#[test]
fn a_coarse_search_takes_few_replays() {
    let found = search(&need("aws/gp3"), 12_000.0, 0.01, 12_345.0, 4096);
    let iops: u64 =
        found.candidate.spec.name.split("iops=").nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
    assert!((12_345..=12_470).contains(&iops), "{iops}");
    assert!(found.replays <= 16, "{}", found.replays);
}

#[test]
fn volumes_without_provisioned_performance_grow() {
    // 3 IOPS for each GiB.
    let found = search(&need("aws/gp2"), 2_000.0, 0.0, 3_000.0, 4096);
    assert_eq!(found.candidate.spec.name, "aws/gp2,size=1000GiB");
}

#[test]
fn headroom_is_a_faster_replay_and_the_margin_is_what_remains() {
    let with = Need { headroom: 0.2, ..need("aws/gp3") };
    let found = search(&with, 10_000.0, 0.0, 10_000.0, 4096);
    assert!(found.candidate.spec.name.contains("iops=12000"), "{}", found.candidate.spec.name);
    let margin = found.margin.unwrap();
    assert!((1.14..=1.2001).contains(&margin.factor) && !margin.is_open, "{margin:?}");
    let fixed = search(&need("aws/gp3,iops=16000"), 10_000.0, 0.0, 10_000.0, 4096);
    let margin = fixed.margin.unwrap();
    assert!((1.52..=1.6001).contains(&margin.factor), "{margin:?}");
    let open = search(&need("aws/gp3,iops=16000"), 10.0, 0.0, 10.0, 4096);
    assert!(open.margin.unwrap().is_open);
}

#[test]
fn a_type_that_is_never_enough_says_by_what() {
    let found = search(&need("aws/gp2"), 20_000.0, 0.0, 20_000.0, 4096);
    let failure = &found.candidate.failures[0];
    assert_eq!((failure.requirement, failure.limit.as_str()), (Requirement::Percentile, "volume IOPS"));
    assert!((failure.wanted, failure.reached) == (0.002, 0.5) && found.margin.is_none());
    assert!(found.replays < 8, "{}", found.replays);
}

#[test]
fn what_no_replay_can_change_is_refused_without_one() {
    let local = search(&need("gcp/local-ssd-nvme"), 100.0, 0.0, 100.0, 4096);
    assert!(local.outcome.is_none() && local.replays == 0);
    assert_eq!(local.candidate.failures[0].requirement, Requirement::Durability);
    let poor = Need { budget: Some(1.0), ..need("aws/gp3") };
    assert_eq!(search(&poor, 100.0, 0.0, 100.0, 4096).candidate.failures[0].requirement, Requirement::Budget);
}

#[test]
fn an_interrupted_search_claims_nothing() {
    let (need, start) = (need("aws/gp3"), Need { iops: Some(10.0), ..need("aws/gp3") });
    let search = ReplaySearch { need: &need, start: &start, bounds: &bounds(), speed: 1.0, resolution: 0.0 };
    let origin = named(&need).unwrap().remove(0);
    let found = search.find(&origin, &mut LatencyCache::default(), &mut |_: &ReplayTrial| None).unwrap();
    assert!(!found.candidate.meets() && found.outcome.is_none() && found.margin.is_none());
}

/// A variant that the trial needed in a larger size than estimated was taken although another one was cheaper.
#[test]
fn the_cheapest_variant_is_found_from_any_estimate() {
    let need = Need { capacity: Some(300 << 30), ..need("oci/block-volume") };
    let price = |near: f64| {
        let found = search(&need, near, 0.0, 1_140.0, 4096);
        assert!(found.candidate.meets());
        found.candidate.known_price().unwrap().usd_per_month
    };
    let (from_below, near) = (price(500.0), price(1_140.0));
    assert!((from_below - near).abs() < 0.01, "{from_below} instead of {near}");
}
