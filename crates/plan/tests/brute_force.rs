//! Compares plans with all other ways to buy from the catalogue: random needs, a grid of sizes and provisioned values,
//! and simulations on the model itself.

use plan::{Candidate, LatencyCache, MachineNeed, Need, PlanTrial, TrialOutcome};
use units::Nanos;
use units::random::Random;
use volume::catalogue::{
    About, Bounds, KeyFacts, LatencyBasis, ResolvedVolume, list, machine_types, no_files, resolve_all,
};
use volume::closed::{Load, caps};
use volume::{Attachment, Request, RequestKind, System};

use crate::cases::cases;

const SEED: u64 = 20_261_123;
/// Volumes per need, so that the test takes seconds.
const AMONG: usize = 7;
/// Growth factor of grid sizes, which are rounded up to sizes on sale.
const SIZES: f64 = 1.25;
/// Relative price difference that the grid and whole units explain.
const PRICE_TOLERANCE: f64 = 1.002;
/// With a bound on latency, the plan uses computed waits, which away from a limit do not exceed simulated ones.
const TIMED_PRICE_TOLERANCE: f64 = 1.03;
/// Planned waits are half again as long as simulated ones, with formulas accurate to a tenth.
const CAUTION: f64 = 1.5;
const FORMULA_TOLERANCE: f64 = 0.9;
/// Accuracy of rates in a simulation of some thousand operations.
const RATE_TOLERANCE: f64 = 0.985;

/// One way to buy a volume.
struct Point {
    listed: String,
    found: ResolvedVolume,
    price: f64,
}

fn resolve(name: &str) -> Option<ResolvedVolume> {
    Some(resolve_all(&[name], &no_files).ok()?.remove(0))
}

fn key<'a>(found: &'a ResolvedVolume, name: &str) -> Option<&'a KeyFacts> {
    found.about.keys.iter().find(|key| key.name == name)
}

/// Returns a geometric grid between two bounds, including both.
fn between(least: f64, most: f64, factor: f64) -> Vec<f64> {
    let mut values = vec![least.ceil()];
    while let Some(next) = values.last().map(|last| (last * factor).ceil().max(last + 1.0)).filter(|next| *next < most)
    {
        values.push(next);
    }
    values.push((most * (1.0 + 1e-9)).floor());
    values.dedup();
    values
}

fn sizes(bounds: &Bounds) -> Vec<f64> {
    let most = bounds.largest_sold().unwrap_or(1.0);
    let mut sizes: Vec<f64> = between(1.0, most, SIZES).into_iter().filter_map(|size| bounds.sold_from(size)).collect();
    sizes.extend(bounds.sold.iter().chain(&bounds.tiers).copied().filter(|size| *size <= most));
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    sizes
}

/// Returns names with every choice of a key that has few, or every value of its grid.
fn with(names: &[String], of: &str, values: impl Fn(&KeyFacts) -> Vec<String>) -> Vec<String> {
    let grown = |name: &String| {
        let found = resolve(name);
        match found.as_ref().and_then(|found| key(found, of)).filter(|key| !key.bounds.fixed) {
            Some(key) => values(key).iter().map(|value| format!("{name},{of}={value}")).collect(),
            None => vec![name.clone()],
        }
    };
    names.iter().flat_map(grown).collect()
}

fn grid(listed: &str) -> Vec<Point> {
    let unit = |key: &KeyFacts, values: Vec<f64>| {
        values.into_iter().map(|value| format!("{value}{}", key.bounds.unit)).collect::<Vec<_>>()
    };
    let mut names = vec![listed.to_owned()];
    names = with(&names, "droplet", |key| key.bounds.choices.clone());
    names = with(&names, "vpus", |key| unit(key, key.bounds.one_of.clone()));
    names = with(&names, "disks", |key| unit(key, key.bounds.one_of.clone()));
    names = with(&names, "size", |key| unit(key, sizes(&key.bounds)));
    for (of, factor) in [("iops", 1.7), ("throughput", 2.0)] {
        names = with(&names, of, |key| match (key.bounds.least, key.bounds.most) {
            (Some(least), Some(most)) => unit(key, between(least, most, factor)),
            _ => Vec::new(),
        });
    }
    let point = |name: String| {
        let found = resolve(&name)?;
        let price = found.spec.price.as_ref().filter(|price| price.lacks.is_none())?;
        let price = price.per_month * if price.currency == "EUR" { plan::Exchange::default().usd_per_eur } else { 1.0 };
        Some(Point { listed: listed.to_owned(), found, price })
    };
    names.into_iter().filter_map(point).collect()
}

fn need(random: &mut Random, priced: &[String]) -> Need {
    let between = |random: &mut Random, low: f64, high: f64| low * (high / low).powf(random.unit());
    let by_rate = random.unit() < 0.7;
    let mut volumes: Vec<String> = Vec::new();
    while volumes.len() < AMONG {
        let name = &priced[random.below(priced.len() as u64) as usize];
        if !volumes.contains(name) {
            volumes.push(name.clone());
        }
    }
    Need {
        iops: by_rate.then(|| between(random, 100.0, 200_000.0).round()),
        bytes_per_sec: (!by_rate).then(|| between(random, 1e6, 3e9).round()),
        block: Some(4_096_u32 << random.below(7)),
        read_share: [1.0, 0.0, 0.7][random.below(3) as usize],
        sequential: random.unit() < 0.3,
        capacity: Some(between(random, 1e9, 2e13) as u64),
        mean: (random.unit() < 0.4).then(|| Nanos::from_secs_f64(between(random, 8e-4, 3e-2))),
        scratch: random.unit() < 0.3,
        headroom: if random.unit() < 0.7 { 0.2 } else { 0.0 },
        volumes,
        ..Need::default()
    }
}

/// Simulates a trial: a closed loop at its depth, or random arrivals at its rate.
fn simulate(trial: &PlanTrial, seed: u64) -> Option<TrialOutcome> {
    let drained = format!("{},credits=0%", trial.volume);
    let spec = resolve(&drained).or_else(|| resolve(&trial.volume))?.spec;
    let size = spec.size.get();
    let mut system = System::new(&[Attachment { spec, volume: "tried".into() }], seed);
    let mut random = Random::new(seed, 3);
    let (mut latencies, mut begun): (Vec<f64>, Vec<Nanos>) = (Vec::new(), Vec::new());
    let mut idle: Vec<u32> = Vec::new();
    // Reads and writes each continue where the last of their kind ended.
    let mut offsets = [0, size / 2];
    let block = u64::from(trial.block);
    let mut start = |system: &mut System, now: Nanos, id: u32, random: &mut Random| {
        let blocks = (size / block).max(1);
        let kind = if random.unit() < trial.read_share { RequestKind::Read } else { RequestKind::Write };
        let next = &mut offsets[kind.index()];
        *next = if trial.sequential { *next / block + 1 } else { random.below(blocks) } % blocks * block;
        let offset = *next;
        system.arrive(now, 0, Request { id, kind, offset, length: trial.block });
    };
    let open = trial.timed.is_some();
    let depth = trial.in_flight.ceil().max(1.0) as u32;
    let warm_up = 1_000 + 4 * depth as usize;
    let wanted = warm_up + 6_000;
    let mut due = Nanos::ZERO;
    if !open {
        begun = vec![Nanos::ZERO; depth as usize];
        (0..depth).for_each(|id| start(&mut system, Nanos::ZERO, id, &mut random));
    }
    let mut ends: Vec<Nanos> = Vec::with_capacity(wanted);
    while ends.len() < wanted {
        let until = if open { due } else { Nanos::new(u64::MAX / 4) };
        if let Some((now, id)) = system.next_done(until) {
            latencies.push(now.secs_f64() - begun[id as usize].secs_f64());
            ends.push(now);
            if open {
                idle.push(id);
            } else {
                begun[id as usize] = now;
                start(&mut system, now, id, &mut random);
            }
        } else {
            let id = idle.pop().unwrap_or_else(|| {
                begun.push(due);
                begun.len() as u32 - 1
            });
            begun[id as usize] = due;
            start(&mut system, due, id, &mut random);
            let gap = -(1.0 - random.unit()).ln() / trial.rate;
            due = Nanos::from_secs_f64(due.secs_f64() + gap);
        }
        // Skip demands with infinite waits.
        if begun.len() > 100_000 {
            return Some(TrialOutcome { iops: 0.0, mean_secs: f64::INFINITY, percentile_secs: f64::INFINITY });
        }
    }
    let (first, last) = (ends[warm_up - 1], ends[wanted - 1]);
    let mut measured = latencies.split_off(warm_up);
    measured.sort_by(f64::total_cmp);
    let share = trial.timed.unwrap_or(0.99);
    Some(TrialOutcome {
        iops: (wanted - warm_up) as f64 / (last.secs_f64() - first.secs_f64()),
        mean_secs: measured.iter().sum::<f64>() / measured.len() as f64,
        percentile_secs: measured[((measured.len() as f64 * share) as usize).min(measured.len() - 1)],
    })
}

/// Reports whether a point meets a need by its limits and by simulation, beyond the tolerances.
fn meets(point: &Point, need: &Need, laws: &mut LatencyCache) -> bool {
    let block = need.block.expect("it has one");
    let factor = 1.0 + need.headroom;
    let load = Load { sequential: need.sequential, ..Load::mixed(need.read_share, block, f64::INFINITY) };
    let rate = need.iops.unwrap_or(0.0).max(need.bytes_per_sec.unwrap_or(0.0) / f64::from(block));
    let lost = point.found.about.media.contains("not durable") && !need.scratch;
    if lost || point.found.spec.size.get() < need.capacity.unwrap_or(0) {
        return false;
    }
    let caps = caps(&point.found.spec, &load);
    if caps.iter().any(|cap| cap.iops < rate * factor) {
        return false;
    }
    let Some(alone) = laws.alone_secs(&point.found.spec, &load) else { return false };
    let bound = need.mean.map(|mean| mean.secs_f64() / factor);
    // A point whose unscaled formulas exceed the bound needs no simulation.
    let waits: f64 = caps.iter().map(|cap| cap.wait(rate).mean_secs).sum();
    if bound.is_some_and(|bound| alone + waits > bound) {
        return false;
    }
    let mut trial = PlanTrial {
        volume: point.found.spec.name.clone(),
        machines: 1,
        rate: rate * factor,
        block,
        read_share: need.read_share,
        sequential: need.sequential,
        in_flight: (2.0 * rate * factor * alone).max(4.0),
        closed_rate: rate * factor,
        timed: None,
        longer: 1.0,
    };
    if simulate(&trial, SEED).is_none_or(|outcome| outcome.iops < rate * factor * RATE_TOLERANCE) {
        return false;
    }
    let Some(bound) = bound else { return true };
    (trial.rate, trial.timed) = (rate, Some(0.99));
    let waits = simulate(&trial, SEED).map_or(f64::INFINITY, |outcome| outcome.mean_secs - alone);
    alone + CAUTION * waits <= bound * FORMULA_TOLERANCE
}

fn is_sold(candidate: &Candidate) -> bool {
    let size = candidate.about.keys.iter().find(|key| key.name == "size").expect("it has a size");
    size.bounds.fixed || size.bounds.value.is_some_and(|value| size.bounds.is_sold(value))
}

#[test]
#[allow(clippy::disallowed_macros, reason = "the seed and the counts are printed")]
fn random_needs_are_planned_as_well_as_by_brute_force() {
    let needs = cases(20);
    println!("seed {SEED}, {needs} needs");
    let sold = |name: &String| !name.contains('@') && !name.starts_with("custom") && !name.starts_with("hdd");
    let names: Vec<String> = list().into_iter().map(|listed| listed.name).filter(sold).collect();
    let points: Vec<Point> = names.iter().flat_map(|name| grid(name)).collect();
    let priced: Vec<String> =
        names.into_iter().filter(|name| points.iter().any(|point| point.listed == *name)).collect();
    assert!(priced.len() > 20 && points.len() > 3_000, "{} volumes, {} points", priced.len(), points.len());
    let laws = &mut LatencyCache::default();
    let mut random = Random::new(SEED, 1);
    let (mut misses, mut unsold, mut planned) = (Vec::new(), Vec::new(), 0);
    for number in 0..needs {
        let need = need(&mut random, &priced);
        let best = plan::best(&need, laws, &mut |trial: &PlanTrial| simulate(trial, SEED + number));
        planned += u64::from(best.is_some());
        for candidate in plan::candidates(&need, laws).iter().chain(&best) {
            if !is_sold(candidate) {
                unsold.push(format!("{number}: {}", candidate.spec.name));
            }
        }
        let price = best.as_ref().and_then(Candidate::known_price).map_or(f64::INFINITY, |money| money.usd_per_month);
        let tolerance = if need.mean.is_some() { TIMED_PRICE_TOLERANCE } else { PRICE_TOLERANCE };
        // A bound on latency is answered by what is measured or published, if any volume keeps it so.
        let is_known = |about: &About| {
            let below = about.latency_below_secs.zip(need.mean).is_some_and(|(below, mean)| below <= mean.secs_f64());
            need.mean.is_none() || below || about.latency_basis < LatencyBasis::Assumed
        };
        let is_answer =
            |point: &Point| is_known(&point.found.about) || best.as_ref().is_none_or(|best| !is_known(&best.about));
        let mut cheaper = |point: &&Point| {
            need.volumes.contains(&point.listed)
                && is_answer(point)
                && point.price * tolerance < price
                && meets(point, &need, laws)
        };
        if let Some(point) = points.iter().find(&mut cheaper) {
            let instead = best.as_ref().map_or("nothing", |best| best.spec.name.as_str());
            misses.push(format!(
                "{number}: {} at {:.2} meets {need:?}, planned is {instead} at {price:.2}",
                point.found.spec.name, point.price
            ));
        }
        if let Some(best) = &best {
            let again = &mut |trial: &PlanTrial| simulate(trial, SEED + 1_000 + number);
            // Another simulation agrees within a tenth.
            let wider = need.mean.map(|mean| Nanos::from_secs_f64(1.1 * mean.secs_f64()));
            let confirmed = plan::confirm(&Need { mean: wider, ..need.clone() }, best, again);
            if confirmed != Some(true) {
                misses.push(format!("{number}: {} does not meet {need:?}", best.spec.name));
            }
        }
    }
    println!("{planned} of {needs} planned, {} misses, {} sizes that are not sold", misses.len(), unsold.len());
    assert!(2 * planned > needs, "{planned} planned");
    assert!(misses.is_empty(), "seed {SEED}: {} misses\n{}", misses.len(), misses.join("\n"));
    assert!(unsold.is_empty(), "seed {SEED}: {} sizes that cannot be bought\n{}", unsold.len(), unsold.join("\n"));
}

/// A stripe costs at least this fraction less than fewer volumes, and than one.
const WORTH_STRIPING: f64 = 0.99 * 0.99;

/// Returns a need for a machine of a small family, a few volumes and regions.
fn need_with_machine(random: &mut Random) -> Need {
    let families = [("aws", "storage", "arm64"), ("aws", "burstable", "arm64"), ("aws", "hpc", "x86_64")];
    let families =
        [families[0], families[1], families[2], ("gcp", "accelerated", "x86_64"), ("gcp", "general", "arm64")];
    let (provider, family, arch) = families[random.below(families.len() as u64) as usize];
    let (volumes, regions): (&[&str], &[&str]) = match provider {
        "aws" => (&["aws/gp3", "aws/gp2", "aws/io2"], &["us-east-1", "eu-central-1", "ap-southeast-1"]),
        _ => (&["gcp/pd-ssd", "gcp/pd-balanced"], &["us-central1", "europe-west3", "asia-northeast1"]),
    };
    let some = |random: &mut Random, all: &[&str], most: u64| -> Vec<String> {
        let first = random.below(all.len() as u64) as usize;
        let count = 1 + random.below(most) as usize;
        all.iter().cycle().skip(first).take(count.min(all.len())).map(|one| (*one).to_owned()).collect()
    };
    let iops = 500.0 * (60.0_f64).powf(random.unit());
    Need {
        iops: Some(iops.round()),
        block: Some(4_096_u32 << random.below(4)),
        read_share: [1.0, 0.0, 0.7][random.below(3) as usize],
        capacity: Some((1e10 * (200.0_f64).powf(random.unit())) as u64),
        machine: MachineNeed {
            vcpus: (random.unit() < 0.6).then(|| 2 << random.below(2)),
            memory_bytes: (random.unit() < 0.5).then(|| (4 << random.below(3)) << 30),
            arch: Some(arch.to_owned()),
            family: Some(family.to_owned()),
            ..MachineNeed::default()
        },
        mean: (random.unit() < 0.3).then(|| Nanos::from_secs_f64(9e-4 * (3.0_f64).powf(random.unit()))),
        volumes: some(random, volumes, 2),
        regions: some(random, regions, 2),
        stripe_max: 1 + random.below(6) as u32,
        headroom: 0.2,
        ..Need::default()
    }
}

/// Returns the least total of all machines, stripes and regions, each tried on its own.
fn least_total(need: &Need, laws: &mut LatencyCache) -> f64 {
    let mut least = f64::INFINITY;
    for volume in &need.volumes {
        let machines = machine_types(volume.split('/').next().expect("a provider"));
        let asked = &need.machine;
        let suits = machines.iter().filter(|machine| {
            asked.vcpus.is_none_or(|vcpus| machine.vcpus >= vcpus)
                && asked.memory_bytes.is_none_or(|bytes| machine.memory_bytes >= Some(bytes))
                && machine.arch == asked.arch
                && machine.family == asked.family
        });
        for (machine, region) in suits.flat_map(|machine| need.regions.iter().map(move |region| (machine, region))) {
            let price = machine.price(asked.term, Some(region)).map_or(f64::INFINITY, |price| price.usd_per_month);
            for members in (1..=need.stripe_max).filter(|members| {
                let boot = u32::from(volume.starts_with("aws"));
                machine.max_volumes.is_none_or(|most| members + boot <= most)
            }) {
                if price >= least {
                    continue;
                }
                let stripe = if members > 1 { format!(",stripe={members}") } else { String::new() };
                let alone = Need {
                    volumes: vec![format!("{volume},machine={}{stripe}", machine.name)],
                    regions: vec![region.clone()],
                    machine: MachineNeed::default(),
                    stripe_max: 1,
                    ..need.clone()
                };
                for found in plan::candidates(&alone, laws) {
                    let volumes = found.known_price().map_or(f64::INFINITY, |money| {
                        // The named machine is in the total already.
                        money.usd_per_month - money.machines_usd.unwrap_or(0.0)
                    });
                    if found.meets() && found.spec.unknown_limits.is_empty() {
                        least = least.min(price + volumes);
                    }
                }
            }
        }
    }
    least
}

#[test]
#[allow(clippy::disallowed_macros, reason = "the seed and the counts are printed")]
fn machines_stripes_and_regions_are_planned_as_well_as_by_brute_force() {
    let needs = cases(100);
    println!("seed {SEED}, {needs} needs");
    let laws = &mut LatencyCache::default();
    let mut random = Random::new(SEED, 2);
    let (mut planned, mut striped, mut misses) = (0, 0, Vec::new());
    for number in 0..needs {
        let need = need_with_machine(&mut random);
        let (found, ranking) = plan::plan(&need, laws, &mut |_| None);
        // Whether the latency is known does not matter here.
        let answers = ranking.meeting.iter().chain(&ranking.may_meet).map(|index| &found[*index]);
        let price = |one: &Candidate| one.known_price().map_or(f64::INFINITY, |money| money.usd_per_month);
        let best = answers.min_by(|a, b| price(a).total_cmp(&price(b)));
        let total = best.and_then(Candidate::known_price).map_or(f64::INFINITY, |money| money.usd_per_month);
        let least = least_total(&need, laws);
        let agrees = total == least || total >= least * (1.0 - 1e-9) && total * WORTH_STRIPING <= least;
        if !agrees {
            let name = best.map_or("nothing", |best| best.spec.name.as_str());
            misses.push(format!("{number}: {name} at {total:.2}, the least is {least:.2}: {need:?}"));
        }
        let Some(best) = best else { continue };
        planned += 1;
        striped += u64::from(best.members() > 1);
        let again = &mut |trial: &PlanTrial| simulate(trial, SEED + number);
        if plan::confirm(&need, best, again) != Some(true) {
            misses.push(format!("{number}: {} does not sustain 1.2 times {need:?}", best.spec.name));
        }
    }
    println!("{planned} of {needs} planned, {striped} of them in RAID 0, {} misses", misses.len());
    assert!(3 * planned > needs && striped > 0, "{planned} planned, {striped} in RAID 0");
    assert!(misses.is_empty(), "seed {SEED}: {} misses\n{}", misses.len(), misses.join("\n"));
}
