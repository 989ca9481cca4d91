//! Random volumes under random jobs: simulation and closed form agree, and no operation is lost.

use units::random::Random;
use units::{Bytes, Nanos};
use volume::closed::{Load, predict};
use volume::spec::{
    Behaviour, Burst, CountedUnit, IoUnit, Jitter, LatencySpec, Limit, LimitSource, Scope, Spec, Station,
};
use volume::{Law, PerRequestKind};

use crate::cases::cases;
use crate::common;

/// Seed of the volumes.
const SEED: u64 = 20_261_121;
/// Maximum relative difference of the two.
const TOLERANCE: f64 = 0.01;

/// Reports whether latency and the lowest limit allow nearly the same rate. Random variation then adds waits, the more
/// the fewer operations are in flight, so the closed form is only an upper bound.
fn at_the_knee(depth: u32, knee: Option<f64>) -> bool {
    let width = 1.15 + 3.0 / f64::from(depth).sqrt();
    knee.is_some_and(|knee| (1.0 / width..width).contains(&(f64::from(depth) / knee)))
}

/// Draws a value between two bounds, log-uniformly.
fn spread(random: &mut Random, least: f64, most: f64) -> f64 {
    least * (most / least).powf(random.unit())
}

fn law(random: &mut Random) -> Law {
    let nanos = |random: &mut Random| Nanos::new(spread(random, 20e3, 5e6) as u64);
    match random.below(4) {
        0 => Law::Constant(nanos(random)),
        1 => {
            let least = nanos(random);
            Law::Uniform { least, most: least + nanos(random) }
        }
        2 => Law::Exponential { mean: nanos(random) },
        _ => {
            let shift = nanos(random);
            let scale = Nanos::new(shift.get() / 2);
            Law::LogLogistic {
                shift,
                scale,
                shape: 3.0 + 4.0 * random.unit(),
                most: shift + Nanos::new(scale.get() * 12),
            }
        }
    }
}

fn limit(random: &mut Random, number: u64) -> Limit {
    let operations = random.below(2) == 0;
    let rate = |random: &mut Random| {
        Some(if operations { spread(random, 2e3, 400e3) } else { spread(random, 50e6, 4e9) } as u64)
    };
    let rate = match random.below(3) {
        0 => PerRequestKind { read: rate(random), ..PerRequestKind::default() },
        1 => PerRequestKind { write: rate(random), ..PerRequestKind::default() },
        _ => PerRequestKind { read: rate(random), write: rate(random), ..PerRequestKind::default() },
    };
    let unit = (random.below(2) == 0).then_some(16 << 10);
    Limit {
        name: format!("limit {number}"),
        scope: Scope::Volume,
        counted: if operations { CountedUnit::Operations } else { CountedUnit::Bytes },
        io_unit: unit.map(|bytes| IoUnit { bytes, merged_from: None }),
        rate,
        larger_than: 0,
        burst: Burst::Jitter(Jitter::assumed(Nanos::from_millis(5))),
        tolerance: None,
        merging: None,
        rule: String::new(),
        source: LimitSource::default(),
    }
}

fn spec(random: &mut Random) -> Spec {
    let station = |random: &mut Random| Station {
        name: "station".to_owned(),
        scope: Scope::Machine,
        servers: 1 + random.below(16) as u32,
        service_fixed: Station::service_ns(spread(random, 1e3, 50e3)),
        bytes_per_sec: None,
        rule: String::new(),
        source: LimitSource::default(),
    };
    let stations = if random.below(3) == 0 { vec![station(random)] } else { Vec::new() };
    let count = random.below(4);
    Spec {
        striping: None,
        name: "swarm".to_owned(),
        title: "one of a swarm".to_owned(),
        size: Bytes::new(1 << 40),
        host: "host".to_owned(),
        limits: (0..count).map(|number| limit(random, number)).collect(),
        stations,
        behaviour: Behaviour::Latency(LatencySpec {
            law: PerRequestKind { read: law(random), write: law(random), trim: law(random), flush: law(random) },
            unwritten: None,
            written_share: 1.0,
            bytes_per_sec: None,
            spells: None,
            source: LimitSource::default(),
        }),
        buffering: volume::Buffering::default(),
        price: None,
        unknown_limits: Vec::new(),
        notes: Vec::new(),
    }
}

#[test]
fn simulation_and_closed_form_agree_on_random_volumes_and_jobs() {
    let (swarm, mut judged) = (cases(6), 0);
    for number in 0..swarm {
        let mut random = Random::new(SEED, number);
        let spec = spec(&mut random);
        let depth = spread(&mut random, 1.0, 512.0) as u32;
        let bytes = 4096_u32 << random.below(6);
        let (rw, share) = match random.below(3) {
            0 => ("randread", 1.0),
            1 => ("randwrite", 0.0),
            _ => ("randrw", 0.7),
        };
        let load = Load { in_flight: depth.into(), ..Load::mixed(share, bytes, 1.0) };
        let expected = predict(&spec, &load).expect("a volume with a law has a closed form");
        // Long enough to average out start, end and randomness: many operations per slot, and many in total. Half a second
        // suffices for millions per second.
        let least = (5e6 / expected.iops).clamp(0.5, 3.0);
        let seconds = (f64::max(100_000.0, 400.0 * f64::from(depth)) / expected.iops).clamp(least, 600.0);
        let seconds = (seconds * 10.0).ceil() / 10.0;
        let text = format!(
            "[a]\nfilename=/dev/x\nrw={rw}\nrwmixread=70\nbs={bytes}\niodepth={depth}\nioengine=libaio\ndirect=1\nnorandommap\ntime_based\nruntime={:.0}ms\n",
            seconds * 1e3
        );
        let outcome = common::run(&spec, &text, SEED ^ number);
        // Use the mixture that was actually drawn.
        let reads: u64 = outcome.summaries.iter().map(|summary| summary.directions[0].ios).sum();
        let share = reads as f64 / outcome.ios() as f64;
        let load = Load { in_flight: depth.into(), ..Load::mixed(share, bytes, 1.0) };
        let expected = predict(&spec, &load).expect("a volume with a law has a closed form");
        let error = outcome.ios() as f64 / seconds / expected.iops - 1.0;
        let told = format!(
            "seed {SEED}, volume {number}: {:.0} IOPS simulated, {:.0} expected, {:+.2} %, {rw} {bytes} depth {depth}: {:?}",
            outcome.iops(),
            expected.iops,
            error * 100.0,
            expected.caps,
        );
        assert!(error < TOLERANCE, "above the upper bound: {told}");
        if at_the_knee(depth, expected.knee()) {
            continue;
        }
        judged += 1;
        assert!(error > -TOLERANCE, "{told}");
        // No operation is lost or counted twice: the counters of stages and workers agree.
        for stage in &outcome.stages {
            assert!(stage.requests <= outcome.ios() && stage.decided <= stage.requests, "{told}: {stage:?}");
        }
    }
    assert!(2 * judged > swarm, "only {judged} of {swarm} were away from the knee");
}
