//! Plans over the whole catalogue: ranking, speed, and impossible needs.

use std::time::Duration;

use plan::{
    Candidate, JitterComparison, LatencyCache, MachineNeed, Need, Requirement, TrialOutcome, candidates, machines,
    rank, simulate_jitter,
};
use units::Nanos;
use volume::catalogue::{PriceTerm, machine_types};

use crate::host::{timed, within};

fn ranked(need: &Need) -> (Vec<Candidate>, plan::Ranking) {
    let found = candidates(need, &mut LatencyCache::default());
    let ranking = rank(&found, need);
    (found, ranking)
}

#[test]
fn the_best_is_the_cheapest_undominated_candidate() {
    let need = Need { iops: Some(15_000.0), capacity: Some(1 << 40), read_share: 0.7, ..Need::default() };
    let (found, ranking) = ranked(&need);
    let best = &found[ranking.best.unwrap()];
    let price = |candidate: &Candidate| candidate.known_price().map(|money| money.price.per_month);
    assert!(
        ranking.meeting.iter().all(|index| price(&found[*index]).is_none_or(|other| other >= price(best).unwrap()))
    );
    assert!(ranking.front.contains(&ranking.best.unwrap()) && ranking.impossible.is_empty());
    // Every volume either has the smallest sufficient size or states its unmet requirements.
    for candidate in &found {
        assert!(candidate.meets() != candidate.failures.iter().any(|failure| !failure.limit.is_empty()));
    }
    // Unknown prices stay unknown, and partial prices are not compared.
    let named = |name: &str| found.iter().find(|candidate| candidate.listed == name).unwrap();
    assert!(named("gcp/hyperdisk-ml").price.is_none());
    let partial = named("gcp/hyperdisk-balanced-high-availability");
    assert!(partial.price.is_some() && partial.known_price().is_none());
    assert!(named("gcp/local-ssd-nvme").failures[0].requirement == Requirement::Durability);
}

#[test]
fn prices_have_components_and_one_region() {
    let need = |region: &str| Need {
        iops: Some(15_000.0),
        capacity: Some(1 << 40),
        volumes: vec!["gcp/hyperdisk-balanced".to_owned()],
        regions: (!region.is_empty()).then(|| region.to_owned()).into_iter().collect(),
        ..Need::default()
    };
    let (found, _) = ranked(&need(""));
    let money = found[0].known_price().unwrap();
    assert!((money.price.parts.capacity - 81.92).abs() < 1e-6 && (money.price.parts.iops - 60.0).abs() < 1e-6);
    assert_eq!((money.price.region.as_deref(), money.price.source.date.as_str()), (Some("us-central1"), "2026-09-24"));
    assert!(ranked(&need("us-central1")).0[0].price.is_some());
    let dearer = ranked(&need("europe-west4")).0.remove(0).price.unwrap();
    assert!(dearer.usd_per_month > money.usd_per_month && ranked(&need("mars")).0[0].price.is_none());
    let west = Need { volumes: vec!["gcp/pd-ssd".to_owned()], ..need("europe-west4") };
    let money = ranked(&west).0.remove(0).price.unwrap();
    assert_eq!((money.price.region.as_deref(), money.price.per_month), (Some("europe-west4"), 0.187 * 1_024.0));
}

#[test]
fn impossible_needs_name_the_requirement_and_the_nearest_candidate() {
    let need = Need {
        iops: Some(10_000.0),
        mean: Some(Nanos::from_micros(10)),
        volumes: vec!["gcp".to_owned(), "aws".to_owned()],
        ..Need::default()
    };
    let planned = |need: &Need| plan::plan(need, &mut LatencyCache::default(), &mut |_| None);
    let (_, ranking) = planned(&need);
    assert!(ranking.meeting.is_empty());
    let nearest = &ranking.impossible[0];
    assert_eq!(nearest.failure.requirement, Requirement::Mean);
    assert!(nearest.volume.contains("ssd"), "{}", nearest.volume);
    // Each requirement can be met alone, but not both.
    let together = Need { mean: Some(Nanos::from_micros(500)), budget: Some(5.0), ..need };
    let (found, ranking) = planned(&together);
    assert!(ranking.meeting.is_empty() && ranking.nearest.is_some(), "{found:?}");
    assert_eq!(ranking.impossible, []);
}

/// "No volume has it" was said of IOPS and of a price that other settings of the same volumes have, and the nearest was a
/// volume of 12 TiB where 2 TiB give as much, or one whose queue has no end.
#[test]
fn no_volume_was_said_to_have_what_other_settings_have() {
    let planned = |need: &Need| {
        let (mut found, ranking) = plan::plan(need, &mut LatencyCache::default(), &mut |_| None);
        let impossible: Vec<Requirement> =
            ranking.impossible.iter().map(|nearest| nearest.failure.requirement).collect();
        (found.swap_remove(ranking.nearest.expect("none meets it")), impossible)
    };
    let need = |volumes: &[&str]| Need {
        iops: Some(180_000.0),
        mean: Some(Nanos::from_micros(833)),
        capacity: Some(2 << 40),
        volumes: volumes.iter().map(ToString::to_string).collect(),
        stripe_max: 1,
        ..Need::default()
    };
    let (nearest, impossible) = planned(&need(&["oci"]));
    assert_eq!(impossible, [Requirement::Mean]);
    assert!(nearest.spec.name.contains("vpus=80"), "{}", nearest.spec.name);
    let ha = Need { budget: Some(2_000.0), ..need(&["gcp/hyperdisk-balanced-high-availability"]) };
    let (nearest, impossible) = planned(&ha);
    assert_eq!((impossible, nearest.spec.size.get()), (vec![Requirement::Iops, Requirement::Mean], 2 << 40));
    // The nearest is one with an end, and its values are no greater than they help.
    let waits = Need {
        iops: Some(4_600.0),
        mean: None,
        percentile: Some((0.99, Nanos::from_micros(1_600))),
        ..need(&["aws/gp3,iops=3000", "hetzner/volume"])
    };
    let (nearest, impossible) = planned(&waits);
    assert_eq!((impossible, nearest.listed.as_str()), (Vec::new(), "hetzner/volume"));
    let short = planned(&need(&["aws/gp3"])).0;
    assert!(short.spec.name.contains("iops=80000") && short.spec.name.contains("throughput=313MiB/s"), "{short:?}");
}

#[test]
fn insufficient_volumes_are_reported_at_their_smallest_equivalent_size() {
    let need = Need {
        iops: Some(160_000.0),
        mean: Some(Nanos::from_millis(2)),
        volumes: vec!["gcp/hyperdisk-balanced".to_owned()],
        ..Need::default()
    };
    let found = ranked(&need).0.remove(0);
    assert!(!found.meets());
    assert_eq!(found.spec.size.get(), 320 << 30);
}

/// Any size was called the nearest that falls short of the rate by no more than of another requirement, and a volume was
/// refused for its capacity where only its price is too high.
#[test]
fn a_shortfall_hid_smaller_ones_of_other_requirements() {
    let of = |need: Need| ranked(&need).0.remove(0);
    let need = Need { iops: Some(90_000.0), mean: Some(Nanos::from_micros(500)), ..Need::default() };
    for (volume, iops) in [("aws/gp3", 80_000.0), ("aws/gp2", 16_000.0), ("gcp/pd-ssd", 90_000.0)] {
        let found = of(Need { volumes: vec![volume.to_owned()], ..need.clone() });
        let short = found.failures.iter().find(|failure| failure.requirement == Requirement::Iops);
        let reached = short.map_or(90_000.0, |short| short.reached);
        assert!(reached == iops && !found.meets(), "{volume}: {:?}", found.failures);
    }
    let found = of(Need {
        iops: Some(1_000.0),
        capacity: Some(500 << 30),
        scratch: true,
        budget: Some(20.0),
        volumes: vec!["gcp/local-ssd-nvme".to_owned()],
        ..Need::default()
    });
    let failures: Vec<(Requirement, f64)> = found.failures.iter().map(|one| (one.requirement, one.reached)).collect();
    assert_eq!(failures, [(Requirement::Budget, 60.0)], "{}", found.spec.name);
}

#[test]
fn sufficient_machines_are_named() {
    let need = Need { iops: Some(60_000.0), volumes: vec!["gcp/pd-ssd".to_owned()], ..Need::default() };
    let (found, _) = ranked(&need);
    let names = machines(&found[0], &need, &mut LatencyCache::default());
    assert!(names.iter().any(|machine| machine.kind.name.starts_with("e2-")), "{names:?}");
}

/// Returns the requirement of a named machine.
fn on(machine: &str) -> MachineNeed {
    MachineNeed { name: Some(machine.to_owned()), ..MachineNeed::default() }
}

#[test]
fn the_cheapest_machine_that_suffices_is_chosen() {
    let of = |volume: &str, iops: f64, machine: MachineNeed| {
        let need = Need { iops: Some(iops), machine, volumes: vec![volume.to_owned()], ..Need::default() };
        ranked(&need).0.remove(0)
    };
    let least = |vcpus: u32| MachineNeed { vcpus: Some(vcpus), ..MachineNeed::default() };
    for (volume, provider) in [("aws/gp3", "aws"), ("gcp/pd-ssd", "gcp")] {
        let found = of(volume, 10_000.0, least(8));
        let machine = found.machine.as_ref().expect("a machine");
        let price = machine.price.as_ref().expect("its price").usd_per_month;
        assert!(found.meets() && machine.is_chosen && machine.kind.vcpus >= 8, "{machine:?}");
        let money = found.known_price().expect("a total");
        assert!((money.usd_per_month - money.price.per_month - price).abs() < 1e-6, "{money:?}");
        // No cheaper machine of this size sustains it.
        for other in machine_types(provider).iter().filter(|other| other.vcpus >= 8) {
            let cheaper = other.price(PriceTerm::OnDemand, machine.price.as_ref().map(|price| &*price.region));
            if cheaper.is_some_and(|cheaper| cheaper.usd_per_month < price)
                && other.family.as_deref() != Some("burstable")
            {
                let named = of(volume, 10_000.0, on(&other.name));
                assert!(!named.meets() || !named.spec.unknown_limits.is_empty(), "{} meets", other.name);
            }
        }
    }
    // 16 processors do not suffice for this rate.
    let large = of("aws/io2", 200_000.0, least(16));
    assert!(large.meets() && large.machine.is_some_and(|machine| machine.kind.vcpus > 16));
    let arm = MachineNeed { memory_bytes: Some(64 << 30), arch: Some("arm64".to_owned()), ..least(8) };
    let arm = of("aws/gp3", 3_000.0, arm).machine.expect("a machine").kind;
    assert!(arm.arch.as_deref() == Some("arm64") && arm.memory_bytes >= Some(64 << 30), "{arm:?}");
    let credits = MachineNeed { family: Some("burstable".to_owned()), ..MachineNeed::default() };
    assert_eq!(of("aws/gp3", 500.0, credits).machine.unwrap().kind.family.as_deref(), Some("burstable"));
}

#[test]
fn stripes_are_bought_where_they_are_cheaper_or_the_only_way() {
    let planned = |need: &Need| {
        let (found, ranking) = plan::plan(need, &mut LatencyCache::default(), &mut |_| None);
        let price = |one: &Candidate| one.known_price().map_or(f64::NAN, |price| price.usd_per_month);
        let members = |index: usize| (found[index].members(), price(&found[index]));
        ranking.meeting.into_iter().map(members).collect::<Vec<_>>()
    };
    // Each gp3 volume has 3,000 IOPS without charge.
    let cheaper = Need { iops: Some(12_000.0), capacity: Some(1 << 40), ..need_of("aws/gp3") };
    let prices = planned(&cheaper);
    assert_eq!(prices.iter().map(|(members, _)| *members).collect::<Vec<_>>(), [4, 1]);
    assert!(prices[0].1 < 81.93 && prices[1].1 > 126.9, "{prices:?}");
    // Two of 100,000 IOPS sustain what one does not.
    let only_way = Need { iops: Some(180_000.0), ..need_of("gcp/hyperdisk-balanced-high-availability") };
    let sets = planned(&Need { read_share: 0.5, ..only_way.clone() });
    assert!(sets.iter().all(|(members, _)| *members == 2), "{sets:?}");
    assert!(planned(&Need { stripe_max: 1, ..only_way }).is_empty());
    // Capacity alone is no reason if one volume holds it.
    let large = Need { capacity: Some(1 << 40), ..Need::default() };
    assert!(planned(&large).iter().all(|(members, _)| *members == 1));
}

#[test]
fn a_named_machine_limits() {
    let need = Need { iops: Some(60_000.0), machine: on("n2-standard-8"), ..Need::default() };
    let (found, _) = ranked(&need);
    let ssd = found.iter().find(|candidate| candidate.listed == "gcp/pd-ssd").unwrap();
    assert!(ssd.failures[0].limit.starts_with("machine"), "{:?}", ssd.failures);
    let foreign = found.iter().find(|candidate| candidate.listed == "aws/gp3").unwrap();
    assert_eq!(foreign.failures[0].requirement, Requirement::Machine);
}

#[test]
fn sharing_machines_wait_no_longer_than_one_with_the_whole_load() {
    let need = |machines: u32, iops: f64| Need {
        iops: Some(iops),
        mean: Some(Nanos::from_millis(50)),
        machines,
        shared: true,
        volumes: vec!["gcp/hyperdisk-ml,size=1TiB,throughput=400MiB/s".to_owned()],
        ..Need::default()
    };
    let found = |machines, iops| ranked(&need(machines, iops)).0.remove(0);
    let (one, many) = (found(1, 6_380.0), found(64, 6_380.0 / 64.0));
    let (of_one, of_many) = (one.mean_secs.unwrap(), many.mean_secs.unwrap());
    assert!(one.meets() && (of_many / of_one - 1.0).abs() < 1e-6, "{of_one} s and {of_many} s");
}

#[test]
fn prices_for_each_operation_count_the_operations_of_all_machines() {
    let need = |machines: u32| Need {
        iops: Some(15_000.0),
        machines,
        volumes: vec!["gcp/hyperdisk-balanced".to_owned()],
        ..Need::default()
    };
    let found = |machines| ranked(&need(machines)).0.remove(0);
    let (one, four) = (found(1), found(4));
    assert!((price_of(&four) / price_of(&one) - 4.0).abs() < 1e-9 && four.volumes == 4);
    assert!((four.price_per_iops().unwrap() / one.price_per_iops().unwrap() - 1.0).abs() < 1e-9);
    assert!((four.iops_per_gb().unwrap() / one.iops_per_gb().unwrap() - 1.0).abs() < 1e-9);
}

#[test]
fn the_best_is_confirmed_by_simulation_or_enlarged() {
    let volumes = ["gcp/hyperdisk-balanced", "aws/gp3"].map(str::to_owned).to_vec();
    let need = Need { iops: Some(15_000.0), capacity: Some(1 << 40), volumes, stripe_max: 1, ..Need::default() };
    let outcome = |iops| Some(plan::TrialOutcome { iops, mean_secs: 0.0, percentile_secs: 0.0 });
    let mut tried = 0;
    let generous = &mut |trial: &plan::PlanTrial| {
        tried += 1;
        outcome(trial.rate)
    };
    let first = plan::best(&need, &mut LatencyCache::default(), generous).unwrap();
    assert_eq!((first.survived, first.margin, tried), (Some(true), 1.0, 1));
    // Each sustains a tenth less than its limit.
    let strict = &mut |trial: &plan::PlanTrial| {
        let asked: f64 = trial.volume.split("iops=").nth(1)?.split(',').next()?.parse().ok()?;
        outcome(asked / 1.1)
    };
    let second = plan::best(&need, &mut LatencyCache::default(), strict).unwrap();
    assert_eq!((second.survived, second.margin), (Some(true), 1.15));
    assert!(price_of(&second) > price_of(&first), "{} after {}", second.spec.name, first.spec.name);
}

fn price_of(candidate: &Candidate) -> f64 {
    candidate.known_price().unwrap().price.per_month
}

#[test]
#[allow(clippy::disallowed_methods, reason = "how long it takes is what is tested")]
fn the_whole_catalogue_is_ranked_in_less_than_a_second() {
    let need = Need {
        iops: Some(40_000.0),
        bytes_per_sec: Some(5e8),
        capacity: Some(1 << 41),
        mean: Some(Nanos::from_micros(1_500)),
        read_share: 0.6,
        ..Need::default()
    };
    // Unoptimized builds are several times slower; the bound holds for release builds.
    let most = if cfg!(debug_assertions) { Duration::from_secs(5) } else { Duration::from_secs(1) };
    timed("catalogue::the_whole_catalogue_is_ranked_in_less_than_a_second", || {
        let begun = std::time::Instant::now();
        let (found, _) = ranked(&need);
        let taken = begun.elapsed();
        assert!(found.len() >= 35);
        within(taken, most)
    });
}

#[test]
fn sizes_that_are_not_on_sale_are_rounded_up() {
    let need = |volume: &str| Need {
        iops: Some(1_000.0),
        capacity: Some(466 << 30),
        volumes: vec![volume.to_owned()],
        ..Need::default()
    };
    let found = ranked(&Need { capacity: Some((465 << 30) + (1 << 29)), ..need("azure/ultra") }).0.remove(0);
    assert_eq!(found.spec.size.get(), 466 << 30);
    assert!((price_of(&found) - (0.11972 * 466.0 + 0.04964 * 1_000.0 + 0.34967 * 5.0)).abs() < 1e-6);
    let tier = ranked(&need("azure/premium-ssd")).0.remove(0);
    assert_eq!(tier.spec.size.get(), 512 << 30);
    let given = ranked(&need("azure/ultra,size=500.5GiB")).0.remove(0);
    assert_eq!(given.failures[0].requirement, Requirement::Size, "{:?}", given.failures);
    let largest = Need { capacity: Some(65 << 40), ..need("azure/ultra") };
    assert!(ranked(&largest).0[0].failures[0].limit.contains("largest available size"));
}

/// Most tiers of Azure had no price, and the plan took a larger one that had.
#[test]
fn the_smallest_sufficient_tier_had_no_price() {
    let need = Need {
        iops: Some(100.0),
        capacity: Some(20 << 30),
        volumes: vec!["azure/premium-ssd".to_owned()],
        ..Need::default()
    };
    let found = ranked(&need).0.remove(0);
    assert_eq!((found.spec.size.get(), price_of(&found)), (32 << 30, 5.28));
}

/// A machine with an empty cell was listed among those that sustain the need.
#[test]
fn machines_with_unknown_limits_are_not_recommended() {
    let need =
        Need { bytes_per_sec: Some(100e6), volumes: vec!["gcp/hyperdisk-balanced".to_owned()], ..Need::default() };
    let names = machines(&ranked(&need).0[0], &need, &mut LatencyCache::default());
    assert!(
        !names.is_empty() && !names.iter().any(|name| name.kind.name.starts_with("a3-megagpu")),
        "its IOPS are not published: {names:?}"
    );
}

/// Returns a need for 24,500 IOPS near a limit, with this bound on p99 in milliseconds.
fn near(volume: &str, p99_ms: u64) -> Need {
    Need {
        iops: Some(24_500.0),
        percentile: Some((0.99, Nanos::from_millis(p99_ms))),
        volumes: vec![volume.to_owned()],
        ..Need::default()
    }
}

#[test]
fn bounded_latency_near_a_limit_depends_on_jitter() {
    let need = near("gcp/hyperdisk-balanced", 3);
    let mut found = ranked(&need).0.remove(0);
    let effect = found.jitter.clone().expect("it is near its limit");
    let percentile = effect.percentile_secs.expect("it is bounded");
    assert!((effect.limit.as_str(), effect.is_simulated, effect.mean_secs) == ("volume IOPS", false, None));
    assert_eq!(effect.jitter, volume::Jitter::default());
    assert!(percentile.with <= 3e-3 && percentile.without > 5e-3, "{percentile:?}");
    // Simulations replace the formulas, which remain if a simulation is impossible.
    let outcome = |percentile_secs: f64| TrialOutcome { iops: 24_500.0, mean_secs: 1e-3, percentile_secs };
    simulate_jitter(&need, &mut found, &mut |_| None);
    assert_eq!(found.jitter, Some(effect));
    let mut asked = Vec::new();
    simulate_jitter(&need, &mut found, &mut |trial| {
        asked.push(trial.volume.clone());
        Some(outcome(if trial.volume.ends_with(",jitter=0ms") { 5.5e-3 } else { 2e-3 }))
    });
    assert!(asked.len() == 2 && asked[1] == format!("{},jitter=0ms", asked[0]), "{asked:?}");
    let effect = found.jitter.clone().expect("5.5 ms are more than 2 ms");
    assert_eq!(effect.percentile_secs, Some(JitterComparison { with: 2e-3, without: 5.5e-3 }));
    // Two figures of one percentile were printed side by side.
    assert!(effect.is_simulated && found.percentile_secs == Some(2e-3), "{:?}", found.percentile_secs);
    // If the simulations agree, jitter does not matter.
    simulate_jitter(&need, &mut found, &mut |_| Some(outcome(2e-3)));
    assert_eq!(found.jitter, None);
}

#[test]
fn jitter_has_no_effect_far_from_a_limit_or_without_a_bound() {
    let effect = |need: &Need| ranked(need).0.remove(0).jitter;
    let near_it = near("gcp/hyperdisk-balanced", 3);
    assert!(effect(&near_it).is_some());
    assert_eq!(effect(&Need { percentile: None, ..near_it.clone() }), None);
    assert_eq!(effect(&Need { headroom: 3.0, ..near("gcp/hyperdisk-balanced", 30) }), None);
    assert_eq!(effect(&near("gcp/hyperdisk-balanced,jitter=0ms", 30)), None);
    // A slightly longer latency matters only above the bound.
    let that_matter = |without: f64, bound: f64| JitterComparison::that_matter(1.0, without, bound).is_some();
    assert!(!that_matter(1.1, 2.0) && that_matter(1.1, 1.05) && that_matter(1.3, 2.0));
    assert!(!that_matter(1.04, 0.5) && !that_matter(f64::INFINITY, 2.0) && !that_matter(f64::NAN, 2.0));
    assert!(JitterComparison::that_matter(0.0, 1e-3, 1.0).is_some());
}

#[test]
fn limits_met_only_by_merging_are_reported() {
    let need = |block: u32, sequential: bool| Need {
        iops: Some(8_000.0),
        block: Some(block),
        sequential,
        volumes: vec!["aws/gp3,iops=3000,size=100GiB".to_owned()],
        ..Need::default()
    };
    let found = |need: &Need| ranked(need).0.remove(0);
    let merged = found(&need(64 << 10, true));
    let effect = merged.merging.as_ref().expect("3,000 IOPS are less than 8,000");
    assert!(merged.meets() && effect.limit == "volume IOPS" && (effect.iops - 3_000.0).abs() < 1e-6, "{effect:?}");
    assert!(effect.merging.assumed.contains("gp2 and io1"), "{effect:?}");
    let small = found(&need(16 << 10, true));
    assert!(!small.meets() && small.merging.is_none(), "operations below 32 KiB are not merged");
    assert!(!found(&need(64 << 10, false)).meets());
    let few = Need { iops: Some(2_000.0), ..need(64 << 10, true) };
    assert_eq!(found(&few).merging, None, "it is enough without");
}

/// A plan for a named machine took volumes that the machine cannot take, and called a machine none of its provider
/// where nothing is known of a volume on it.
#[test]
fn volumes_were_planned_on_machines_that_cannot_take_them() {
    let refusal = |machine: &str, volume: &str| {
        let need = Need {
            iops: Some(1_000.0),
            scratch: true,
            machine: on(machine),
            volumes: vec![volume.to_owned()],
            ..Need::default()
        };
        let failures = ranked(&need).0.remove(0).failures;
        failures.into_iter().map(|failure| failure.limit).collect::<Vec<_>>()
    };
    for (machine, volume, reason) in [
        ("c4-standard-192", "gcp/pd-ssd", "cannot be attached to c4-standard-192"),
        ("n2-standard-8", "gcp/hyperdisk-ml", "cannot be attached to n2-standard-8"),
        ("n2-standard-32", "gcp/titanium-ssd-z3", "cannot be attached to n2-standard-32"),
        ("n2-standard-32", "gcp/local-ssd-nvme", "its limits on n2-standard-32 are unknown"),
        ("n2-standard-32", "aws/gp3", "n2-standard-32 is not a machine type of this provider"),
        ("cx22", "hetzner/volume", "the catalogue has no machines of this provider"),
    ] {
        assert_eq!(refusal(machine, volume), [reason], "{volume} on {machine}");
    }
    assert_eq!(refusal("c4-standard-192", "gcp/hyperdisk-balanced"), Vec::<String>::new());
}

/// A volume without a limit of its throughput was said to give 100 GB/s, before all others.
#[test]
fn volumes_without_a_known_limit_met_every_throughput() {
    let failures = |need: Need| {
        let need = Need { volumes: vec!["nutanix".to_owned()], ..need };
        let failures = ranked(&need).0.remove(0).failures;
        failures.into_iter().map(|failure| failure.limit).collect::<Vec<_>>()
    };
    let unknown = ["its throughput limits are unknown"];
    assert_eq!(failures(Need { bytes_per_sec: Some(100e9), ..Need::default() }), unknown);
    assert_eq!(failures(Need { bytes_per_sec: Some(1e6), iops: Some(1_000.0), ..Need::default() }), unknown);
    assert_eq!(failures(Need { iops: Some(1_000.0), block: Some(1 << 20), ..Need::default() }), unknown);
    assert!(failures(Need { iops: Some(1_000_000.0), ..Need::default() }).is_empty());
    // What is given of one's own is all that holds it back.
    let own = Need { bytes_per_sec: Some(1e9), volumes: vec!["custom,iops=5000".to_owned()], ..Need::default() };
    assert!(ranked(&own).0[0].failures.is_empty());
    let need = Need { bytes_per_sec: Some(100e9), ..Need::default() };
    let (found, ranking) = ranked(&need);
    assert!(ranking.meeting.iter().all(|index| found[*index].listed != "nutanix/ahv-4node"));
}

/// Random arrivals were said to wait at a limit with a bucket that they never empty, and larger volumes were planned.
#[test]
fn bounded_latencies_below_a_limit_with_credits_need_no_larger_volume() {
    let millis = |ms: f64| Some((0.99, Nanos::from_secs_f64(ms / 1e3)));
    let need = |volume: &str, iops: f64, ms: f64| Need {
        iops: Some(iops),
        capacity: Some(200 << 30),
        percentile: millis(ms),
        ..need_of(volume)
    };
    let found = |need: &Need| ranked(need).0.remove(0);
    assert_eq!(found(&need("azure/premium-ssd", 800.0, 4.5)).spec.size.get(), 256 << 30);
    let burst = found(&Need { headroom: 0.2, ..need("aws/gp2", 1_500.0, 3.0) });
    assert!(burst.meets() && burst.spec.size.get() == 600 << 30, "{}", burst.spec.name);
    let machine = on("m6i.large");
    let on_machine = found(&Need { machine, block: Some(8 << 10), ..need("aws/gp3", 3_000.0, 3.0) });
    assert!(on_machine.meets(), "{:?}", on_machine.failures);
}

fn need_of(volume: &str) -> Need {
    Need { volumes: vec![volume.to_owned()], ..Need::default() }
}

/// A plan printed a simulated mean beside a percentile of the formulas, an impossible pair; and where the formulas with
/// their margin refused a volume, no simulation was asked.
#[test]
fn simulations_decide_on_bounded_latencies_with_both_figures() {
    let need = |ms: f64| Need {
        iops: Some(4_500.0),
        mean: Some(Nanos::from_secs_f64(ms / 1e3)),
        ..need_of("hetzner/volume,jitter=0ms")
    };
    let planned = |ms: f64, mean_secs: f64| {
        let outcome = TrialOutcome { iops: 4_500.0, mean_secs, percentile_secs: 2.0 * mean_secs };
        plan::plan(&need(ms), &mut LatencyCache::default(), &mut |_| Some(outcome)).0.remove(0)
    };
    let waits = ranked(&need(2.0)).0.remove(0);
    assert!(!waits.meets() && waits.failures[0].requirement == Requirement::Mean, "{:?}", waits.failures);
    let meets = planned(2.0, 1.9e-3);
    assert_eq!((meets.meets(), meets.mean_secs, meets.percentile_secs), (true, Some(1.9e-3), Some(3.8e-3)));
    assert_eq!(meets.in_flight, Some(4_500.0 * 1.9e-3));
    let short = planned(2.0, 2.1e-3);
    assert!(!short.meets() && short.failures[0].reached == 2.1e-3, "{:?}", short.failures);
    // Less than the latency without queueing is not tried, for it cannot be had.
    assert!(!planned(0.5, 0.4e-3).meets());
    // At a limit itself a trial from an empty queue is too short.
    let tight = Need { iops: Some(4_990.0), ..need(2.0) };
    let outcome = TrialOutcome { iops: 4_990.0, mean_secs: 1e-3, percentile_secs: 1e-3 };
    assert!(!plan::plan(&tight, &mut LatencyCache::default(), &mut |_| Some(outcome)).0[0].meets());
}

/// A volume "met" what no machine takes from it, and the line with machines was silently missing.
#[test]
fn volumes_met_what_no_machine_sustains() {
    let need = |gib: f64| Need {
        bytes_per_sec: Some(gib * f64::from(1 << 30)),
        capacity: Some(1 << 40),
        ..need_of("gcp/hyperdisk-ml")
    };
    let found = ranked(&need(11.0)).0.remove(0);
    let short = &found.failures[0];
    assert_eq!((short.requirement, short.reached), (Requirement::Throughput, 10_000.0 * f64::from(1 << 20)));
    assert!(short.limit.starts_with("machine Hyperdisk ML throughput of c"), "{short:?}");
    let enough = need(9.0);
    let found = ranked(&enough).0.remove(0);
    assert!(found.meets() && !machines(&found, &enough, &mut LatencyCache::default()).is_empty());
    let named = Need { machine: on("c4-standard-192"), ..need(11.0) };
    assert_eq!(ranked(&named).0[0].failures[0].reached, short.reached);
}

/// A disk drive was planned with two in flight for a rate that takes fifteen, at the latency of one.
#[test]
fn depth_and_latency_of_a_drive_are_those_of_its_queue() {
    let at = |iops: f64| {
        let found = ranked(&Need { iops: Some(iops), ..need_of("hdd/7200rpm") }).0.remove(0);
        assert!(found.meets(), "{:?}", found.failures);
        (found.jobs().unwrap(), found.mean_secs.unwrap())
    };
    let near = |secs: f64, wanted: f64| assert!((secs / wanted - 1.0).abs() < 0.03, "{secs} for {wanted}");
    let ((_, depth), secs) = at(137.0);
    assert_eq!(depth, 10);
    near(secs, 10.0 / 137.6);
    let ((_, depth), secs) = at(150.0);
    assert_eq!(depth, 15);
    near(secs, 15.0 / 151.3);
    near(at(50.0).1, 1.0 / 80.26);
    let bounded = Need { iops: Some(150.0), mean: Some(Nanos::from_millis(20)), ..need_of("hdd/7200rpm") };
    let failure = ranked(&bounded).0.remove(0).failures.remove(0);
    assert_eq!(failure.limit, "queueing before head seeks");
}
