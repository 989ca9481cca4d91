//! Decisions about volumes that exist.

use plan::current::{CurrentDecision, CurrentQuestion, CurrentStep, WORTH_CHANGING, WORTH_REPLACING, decide, usd};
use plan::{LatencyCache, Need, Requirement};
use units::Nanos;
use units::random::Random;

fn decided(volume: &str, need: Need) -> CurrentDecision {
    let question = CurrentQuestion { volume: volume.to_owned(), need, needs_headroom: false, may_stripe: false };
    decide(&question, &mut LatencyCache::default(), &mut |_| None).unwrap_or_else(|| panic!("{volume} is unknown"))
}

fn iops(iops: f64) -> Need {
    Need { iops: Some(iops), headroom: 0.2, ..Need::default() }
}

fn change(decision: &CurrentDecision) -> &str {
    decision.change.as_ref().map_or("", |change| &change.spec.name)
}

#[test]
fn volumes_are_kept_changed_in_place_or_replaced() {
    // A volume that sustains the need is kept with less than the planned headroom, and its change is offered.
    let kept = decided("aws/gp3,size=2TiB,iops=9000", iops(8_000.0));
    assert_eq!((kept.step, change(&kept)), (CurrentStep::Keep, ""));
    assert!((kept.usd_now().unwrap() - 193.84).abs() < 1e-9 && (kept.current.headroom - 0.125).abs() < 1e-9);
    let offered = kept.with_headroom.unwrap();
    assert_eq!(offered.spec.name, "aws/gp3,size=2048GiB,iops=9600,throughput=125MiB/s");

    let grown = decided("aws/gp3,size=2TiB,iops=9000", iops(20_000.0));
    assert_eq!(grown.step, CurrentStep::Resize);
    assert_eq!(change(&grown), "aws/gp3,size=2048GiB,iops=24000,throughput=125MiB/s");
    assert_eq!(grown.current.failures[0].requirement, Requirement::Iops);
    assert!((grown.usd_more().unwrap() - 75.0).abs() < 1e-9, "{:?}", grown.usd_more());

    let lowered = decided("aws/gp3,size=100GiB,iops=16000", iops(2_000.0));
    assert_eq!(
        (lowered.step, change(&lowered)),
        (CurrentStep::Resize, "aws/gp3,size=100GiB,iops=3000,throughput=125MiB/s")
    );

    let retyped = decided("aws/gp2,size=1000GiB", iops(2_000.0));
    assert_eq!(
        (retyped.step, change(&retyped)),
        (CurrentStep::Retype, "aws/gp3,size=1000GiB,iops=3000,throughput=125MiB/s")
    );

    // Data that fill a part of a volume move to a smaller one, which takes a copy.
    let small = Need { capacity: Some(100 << 30), ..iops(2_000.0) };
    let replaced = decided("aws/gp3,size=2TiB", small);
    assert_eq!(
        (replaced.step, change(&replaced)),
        (CurrentStep::Replace, "aws/gp3,size=100GiB,iops=3000,throughput=125MiB/s")
    );

    let urgent = Need { capacity: Some(100 << 30), ..iops(9_000.0) };
    let replaced = decided("aws/gp3,size=2TiB", urgent);
    assert_eq!(replaced.step, CurrentStep::Replace);
    let (step, in_place) = replaced.in_place.unwrap();
    assert_eq!(
        (step, in_place.spec.name.as_str()),
        (CurrentStep::Resize, "aws/gp3,size=2048GiB,iops=10800,throughput=125MiB/s")
    );

    // The IOPS of this type do not change in place.
    let extreme = decided("gcp/pd-extreme,size=500GiB,iops=100000", iops(80_000.0));
    assert_ne!(extreme.step, CurrentStep::Resize);

    let unmet = decided("aws/gp3,size=2TiB", iops(1e6));
    assert_eq!((unmet.step, unmet.change.is_none()), (CurrentStep::Unmet, true));
    assert!(unmet.nearest.is_some());
}

#[test]
fn without_a_bound_on_latency_no_change_is_slower() {
    let kept = decided("aws/io2,size=1000GiB,iops=10000", iops(8_000.0));
    assert_eq!(kept.step, CurrentStep::Keep);
    assert!(kept.slower.unwrap().spec.name.starts_with("aws/gp3,"));
    let bounded = Need { mean: Some(Nanos::from_millis(3)), ..iops(8_000.0) };
    let retyped = decided("aws/io2,size=1000GiB,iops=10000", bounded);
    assert_eq!(retyped.step, CurrentStep::Retype);
    assert!(change(&retyped).starts_with("aws/gp3,"));
}

#[test]
fn without_a_load_the_limits_of_the_volume_are_the_need() {
    let kept = decided("aws/gp3,size=2TiB,iops=9000", Need { headroom: 0.2, ..Need::default() });
    assert!(kept.is_implied && kept.step == CurrentStep::Keep);
    assert_eq!((kept.need.iops, kept.need.bytes_per_sec), (Some(9_000.0), Some(f64::from(125 << 20))));
    // IOPS beyond those of the machine are not needed.
    let machine = plan::MachineNeed { name: Some("m5.large".to_owned()), ..plan::MachineNeed::default() };
    let wasted = decided("aws/gp3,size=2TiB,iops=40000", Need { machine, ..Need::default() });
    assert_eq!(wasted.step, CurrentStep::Resize);
    assert!(wasted.usd_more().unwrap() < -100.0);
}

#[test]
fn editions_and_types_that_are_no_longer_sold_are_judged() {
    for volume in [
        "aws/gp3@2023,size=100GiB,iops=3000",
        "aws/standard,size=100GiB",
        "gcp/pd-ssd@2019,size=500GB",
        "custom,iops=5000",
    ] {
        let decision = decided(volume, iops(50.0));
        assert!(decision.current.meets(), "{volume}: {:?}", decision.current.failures);
    }
}

const TYPES: [&str; 8] = [
    "aws/gp3",
    "aws/gp2",
    "aws/io1",
    "gcp/pd-ssd",
    "gcp/pd-balanced",
    "gcp/hyperdisk-balanced",
    "azure/premium-ssd",
    "azure/premium-ssd-v2",
];

/// Volumes do not shrink in place, changes save enough, and more load is never cheaper.
#[test]
fn random_volumes_keep_the_rules() {
    for seed in 0..32 {
        let random = &mut Random::new(seed, 3);
        let mut between = |low: f64, high: f64| (low * (high / low).powf(random.unit())).round();
        let (size, rate, factor) = (between(20.0, 8_000.0), between(50.0, 60_000.0), between(1.0, 8.0));
        let volume = format!("{},size={size}GiB", TYPES[(seed % TYPES.len() as u64) as usize]);
        let decision = decided(&volume, iops(rate));
        let said = format!("seed {seed}: {volume} for {rate} IOPS: {:?} {}", decision.step, change(&decision));
        if let Some(change) = &decision.change {
            assert!(change.meets(), "{said}");
            let in_place = matches!(decision.step, CurrentStep::Resize | CurrentStep::Retype);
            assert!(!in_place || change.spec.size >= decision.current.spec.size, "{said}");
            assert_eq!(decision.step == CurrentStep::Resize, change.listed == decision.current.listed, "{said}");
            let saving = if in_place { WORTH_CHANGING } else { WORTH_REPLACING };
            let (now, then) = (decision.usd_now().unwrap(), usd(change).unwrap());
            assert!(!decision.current.meets() || then <= now * (1.0 - saving) + 1e-9, "{said}: {now} {then}");
        } else {
            assert_eq!(decision.step == CurrentStep::Keep, decision.current.meets(), "{said}");
        }
        // A volume may be kept for a smaller load, but a change for a greater load is never cheaper than for a smaller.
        let more = decided(&volume, iops(rate * factor));
        if let (Some(less), Some(more)) = (&decision.change, &more.change) {
            let (less, more) = (usd(less).unwrap(), usd(more).unwrap());
            assert!(more >= less * (1.0 - WORTH_REPLACING), "{said}: {less}, and {more} for {factor} times as much");
        }
    }
}
