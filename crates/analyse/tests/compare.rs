//! Comparisons: false alarms, detected changes and refusals.

#![allow(clippy::disallowed_macros, reason = "calibrations print what they found")]

use analyse::Code;
use analyse::compare::{
    Aspect, Basis, Caution, Comparison, ComparisonSettings, FigureComparison, Judgement, MismatchValue, More, Side,
    compare, differing,
};
use record::{BurstCredits, DiskUse, IntervalRecord, ModelRecord, Run, ServiceStage};
use units::random::Random;

use crate::loads::{SECOND_NS, Wander, latency, queue_full};

/// Properties of a run's seconds.
#[derive(Clone, Copy)]
struct Seconds {
    count: usize,
    /// Autocorrelation of neighbouring seconds.
    phi: f64,
    /// Relative standard deviation of a second.
    noise: f64,
    iops: f64,
}

/// A run of reads with 32 in flight all the time.
fn run(seconds: Seconds, random: &mut Random) -> Run {
    let Seconds { count, phi, noise, iops } = seconds;
    let mut wander = Wander::new(phi, random);
    let mut second = || {
        let ios = (iops * (1.0 + noise * wander.next(random))).max(1.0) as u64;
        IntervalRecord {
            ios: [ios, 0, 0],
            bytes: [ios * 4096, 0, 0],
            service_ns: 32 * SECOND_NS,
            ..IntervalRecord::default()
        }
    };
    // One more, because the last interval is assumed to be incomplete.
    let intervals: Vec<IntervalRecord> = (0..=count).map(|_| second()).collect();
    let mut run = queue_full(32, 1_000_000);
    let result = &mut run.jobs[0].result;
    result.runtime_ns = intervals.len() as u64 * SECOND_NS;
    result.read.ios = intervals.iter().map(|one| one.ios[0]).sum();
    result.read.bytes = 4096 * result.read.ios;
    result.read.runtime_ns = result.runtime_ns;
    let mean_ns = 32 * result.runtime_ns / result.read.ios;
    result.read.latency = latency(result.read.ios, mean_ns, mean_ns / 2);
    result.read.service = result.read.latency.clone();
    result.series.intervals = intervals;
    run
}

fn compared(baseline: &Run, candidate: &Run) -> Comparison {
    compare(&[baseline], &[candidate], &ComparisonSettings::default())
}

fn row(comparison: &Comparison, name: &str) -> FigureComparison {
    let mut rows = comparison.jobs.iter().flat_map(|job| &job.figures);
    *rows.find(|row| row.figure.to_string() == name).unwrap_or_else(|| panic!("no {name}: {comparison:?}"))
}

fn judged(row: &FigureComparison) -> &'static str {
    match row.judgement {
        Judgement::Better => "better",
        Judgement::Worse => "worse",
        Judgement::Same => "same",
        Judgement::Undecided { .. } => "undecided",
    }
}

/// Fractions of 1,000 pairs: intervals of the change without zero, verdicts of better or worse, of same, and undecided.
fn fractions(a: Seconds, b: Seconds, seed: u64) -> [f64; 4] {
    let mut random = Random::new(seed, 1);
    let mut counts = [0; 4];
    for _ in 0..1000 {
        let (a, b) = (run(a, &mut random), run(b, &mut random));
        let found = row(&compared(&a, &b), "read.iops");
        counts[0] += u32::from(found.change.is_some_and(|change| change.is_real()));
        let verdict = match judged(&found) {
            "same" => 2,
            "undecided" => 3,
            _ => 1,
        };
        counts[verdict] += 1;
    }
    counts.map(|count| f64::from(count) / 1000.0)
}

const EVEN: Seconds = Seconds { count: 300, phi: 0.0, noise: 0.03, iops: 10_000.0 };

#[test]
fn false_alarms_stay_below_the_stated_rate() {
    let seed = 71;
    for count in [60, 300] {
        for phi in [0.0, 0.5, 0.8] {
            for noise in [0.03, 0.1] {
                let seconds = Seconds { count, phi, noise, ..EVEN };
                let [real, alarms, same, undecided] = fractions(seconds, seconds, seed);
                println!(
                    "seed {seed}, n {count}, phi {phi}, noise {noise}: interval without zero {real}, better or worse \
                     {alarms}, same {same}, undecided {undecided}"
                );
                // A minute of correlated seconds barely suffices to estimate their correlation.
                let most = if count == 300 { 0.07 } else { 0.09 };
                assert!(real <= most && alarms <= real, "seed {seed}, n {count}, phi {phi}: {real}, {alarms}");
            }
        }
    }
}

#[test]
fn three_percent_change_is_found_in_five_minutes() {
    let seed = 72;
    for (iops, verdict) in [(10_300.0, "better"), (9_700.0, "worse")] {
        let [real, found, same, undecided] = fractions(EVEN, Seconds { iops, ..EVEN }, seed);
        println!("seed {seed}, {verdict}: real {real}, found {found}, same {same}, undecided {undecided}");
        assert!(found >= 0.8, "seed {seed}: {verdict} in {found}");
    }
}

#[test]
fn same_requires_the_whole_interval_within_the_threshold() {
    let mut random = Random::new(73, 0);
    let mut count = 0;
    for turn in 0..400 {
        let noise = 0.01 + 0.001 * f64::from(turn % 80);
        let (a, b) =
            (Seconds { noise, count: 80, ..EVEN }, Seconds { iops: 10_000.0 + f64::from(turn), noise, ..EVEN });
        let comparison = compared(&run(a, &mut random), &run(b, &mut random));
        for found in &comparison.jobs[0].figures {
            let Some(change) = found.change else { continue };
            let within = change.low_percent >= -2.0 && change.high_percent <= 2.0;
            assert_eq!(found.judgement == Judgement::Same, within, "seed 73, turn {turn}: {found:?}");
            count += u32::from(within);
        }
    }
    assert!((100..1100).contains(&count), "{count}");
}

#[test]
fn lower_latency_is_better_with_the_interval_of_throughput() {
    let mut random = Random::new(74, 0);
    let (a, b) = (run(EVEN, &mut random), run(Seconds { iops: 11_000.0, ..EVEN }, &mut random));
    let comparison = compared(&a, &b);
    let (iops, mean) = (row(&comparison, "read.iops"), row(&comparison, "read.latency_mean"));
    assert_eq!((judged(&iops), judged(&mean)), ("better", "better"));
    let (iops, mean) = (iops.change.unwrap(), mean.change.unwrap());
    // With the same number in flight, latency is inversely proportional to throughput.
    assert!((mean.percent - 100.0 * (1.0 / (1.0 + iops.percent / 100.0) - 1.0)).abs() < 0.05, "{iops:?} {mean:?}");
    assert!(!comparison.is_worse() && compared(&b, &a).is_worse());
}

#[test]
fn percentiles_without_blocks_need_repeats() {
    let mut random = Random::new(75, 0);
    let (a, b) = (run(EVEN, &mut random), run(EVEN, &mut random));
    let alone = row(&compared(&a, &b), "read.latency_p99");
    assert_eq!((alone.change, alone.judgement), (None, Judgement::Undecided { more: Some(More::Repeats(4)) }));
    let repeats =
        |iops, random: &mut Random| -> Vec<Run> { (0..5).map(|_| run(Seconds { iops, ..EVEN }, random)).collect() };
    let (a, b) = (repeats(10_000.0, &mut random), repeats(8_000.0, &mut random));
    let comparison =
        compare(&a.iter().collect::<Vec<_>>(), &b.iter().collect::<Vec<_>>(), &ComparisonSettings::default());
    let p99 = row(&comparison, "read.latency_p99");
    assert_eq!((judged(&p99), p99.basis), ("worse", Some(Basis::Repeats { runs: 5 })));
    assert_eq!(judged(&row(&comparison, "read.iops")), "worse");
    assert!(comparison.jobs[0].cautions.is_empty(), "{:?}", comparison.jobs[0].cautions);
}

#[test]
fn variation_between_repeats_hides_a_change_between_single_runs() {
    let mut random = Random::new(76, 0);
    let mut repeats = |levels: [f64; 3]| levels.map(|iops| run(Seconds { iops, ..EVEN }, &mut random));
    let (a, b) = (repeats([9_000.0, 10_000.0, 11_000.0]), repeats([9_400.0, 10_400.0, 11_400.0]));
    assert_eq!(judged(&row(&compared(&a[0], &b[0]), "read.iops")), "better");
    let comparison = compare(&[&a[0], &a[1], &a[2]], &[&b[0], &b[1], &b[2]], &ComparisonSettings::default());
    let iops = row(&comparison, "read.iops");
    assert!(matches!(iops.judgement, Judgement::Undecided { more: Some(More::Repeats(1..)) }), "{iops:?}");
    let few = Caution::FewRepeats { side: Side::Candidate, runs: 3 };
    assert!(comparison.jobs[0].cautions.contains(&few), "{:?}", comparison.jobs[0].cautions);
}

#[test]
fn recommended_seconds_decide() {
    let seed = 77;
    let mut random = Random::new(seed, 0);
    let short = Seconds { count: 60, noise: 0.1, ..EVEN };
    let (mut undecided, mut decided) = (0, 0);
    for _ in 0..100 {
        let (a, b) = (run(short, &mut random), run(short, &mut random));
        let found = row(&compared(&a, &b), "read.iops").judgement;
        let Judgement::Undecided { more: Some(More::Seconds(more)) } = found else { continue };
        let long = Seconds { count: 60 + more as usize, ..short };
        let again = row(&compared(&run(long, &mut random), &run(long, &mut random)), "read.iops");
        undecided += 1;
        decided += u32::from(judged(&again) != "undecided");
    }
    println!("seed {seed}: undecided {undecided}, decided {decided}");
    assert!(undecided > 50 && decided * 5 > undecided * 3, "seed {seed}: {decided} of {undecided}");
}

#[test]
fn equal_runs_without_noise_are_the_same() {
    let mut random = Random::new(78, 0);
    let even = run(Seconds { noise: 0.0, count: 10, ..EVEN }, &mut random);
    let comparison = compared(&even, &even);
    assert_eq!(judged(&row(&comparison, "read.iops")), "same");
    assert!(comparison.is_comparable() && comparison.mismatches.is_empty());
}

#[test]
fn unknown_conditions_are_no_difference() {
    let mut random = Random::new(79, 0);
    let baseline = run(EVEN, &mut random);
    let mut other = baseline.clone();
    let declared = &mut other.jobs[0].declared;
    (declared.rw, declared.engine) = (String::new(), String::new());
    (declared.iodepth, declared.in_flight_possible, declared.header_only) = (1, None, true);
    other.jobs[0].untimed = true;
    other.jobs[0].result.runtime_ns = 0;
    assert_eq!(compared(&baseline, &other).mismatches, []);
}

#[test]
fn different_conditions_are_reported_with_both_values() {
    let mut random = Random::new(79, 0);
    let baseline = run(EVEN, &mut random);
    let mut other = baseline.clone();
    other.tool.version = "2".to_owned();
    other.host.kernel = "6.1".to_owned();
    assert!(compared(&baseline, &other).is_comparable(), "a version is a note, and an unknown kernel is ignored");
    assert_eq!(compared(&baseline, &other).mismatches.len(), 1);
    let job = &mut other.jobs[0];
    job.declared.rw = "randwrite".to_owned();
    job.declared.iodepth = 64;
    job.declared.direct = false;
    job.declared.size = Some(1 << 30);
    job.result.runtime_ns /= 3;
    job.result.read.runtime_ns /= 3;
    let same_work = compared(&baseline, &other);
    assert!(same_work.mismatches.iter().all(|one| one.aspect != Aspect::Runtime), "the time of one work is the result");
    other.jobs[0].result.read.bytes /= 3;
    other.model = Some(ModelRecord::default());
    let comparison = compared(&baseline, &other);
    assert!(!comparison.is_comparable());
    let blocking: Vec<Aspect> = comparison.mismatches.iter().filter(|one| one.blocking).map(|one| one.aspect).collect();
    let expected = [Aspect::Simulated, Aspect::Rw, Aspect::Depth, Aspect::Direct, Aspect::Size, Aspect::Runtime];
    assert_eq!(blocking, expected);
    let size = &comparison.mismatches[4];
    assert_eq!((&size.baseline, &size.candidate), (&MismatchValue::Nothing, &MismatchValue::Bytes(1 << 30)));
}

/// Volumes under one load are what comparisons are for; a region without `size` is as large as its device.
#[test]
fn what_stores_the_data_may_differ() {
    let mut random = Random::new(82, 0);
    let baseline = run(EVEN, &mut random);
    let mut other = baseline.clone();
    let on = |run: &mut Run, name: &str, size: u64| {
        run.disks = vec![DiskUse { name: name.to_owned(), ..DiskUse::default() }];
        run.jobs[0].evidence.targets.iter_mut().for_each(|target| target.size = size);
    };
    let mut first = baseline.clone();
    on(&mut first, "nvme1n1", 1 << 36);
    on(&mut other, "nvme2n1", 1 << 40);
    let comparison = compared(&first, &other);
    let aspects: Vec<Aspect> = comparison.mismatches.iter().map(|one| one.aspect).collect();
    assert_eq!((aspects, comparison.is_comparable(), comparison.is_of_one_load()), (vec![Aspect::Device], false, true));
    assert_eq!(differing(&[&first, &other])[0].0, Aspect::Device);
    other.jobs[0].declared.size = Some(1 << 30);
    assert!(!compared(&first, &other).is_of_one_load(), "a declared size is part of the load");
    other.jobs[0].declared.size = None;
    other.jobs[0].declared.iodepth = 64;
    assert!(!compared(&first, &other).is_of_one_load());
}

#[test]
fn jobs_are_paired_by_name_and_then_by_order() {
    let mut random = Random::new(80, 0);
    let mut baseline = run(EVEN, &mut random);
    baseline.jobs.push(run(Seconds { iops: 5_000.0, ..EVEN }, &mut random).jobs.remove(0));
    baseline.jobs[1].name = "slow".to_owned();
    let mut swapped = baseline.clone();
    swapped.jobs.swap(0, 1);
    let comparison = compared(&baseline, &swapped);
    assert!(comparison.jobs.iter().all(|job| judged(&job.figures[0]) == "same"), "{comparison:?}");
    let mut renamed = baseline.clone();
    renamed.jobs[0].name = "a".to_owned();
    renamed.jobs[1].name = "b".to_owned();
    assert_eq!(compared(&baseline, &renamed).jobs.len(), 2);
    renamed.jobs.remove(1);
    renamed.jobs[0].name = "slow".to_owned();
    let comparison = compared(&baseline, &renamed);
    let unpaired: Vec<_> = comparison.mismatches.iter().map(|one| (one.aspect, one.candidate.clone())).collect();
    assert_eq!(unpaired, [(Aspect::Job, MismatchValue::Nothing)]);
    assert_eq!(comparison.jobs[0].job, "slow");
}

#[test]
fn exhausted_credits_and_unsteady_runs_raise_cautions() {
    let mut random = Random::new(81, 0);
    let baseline = run(Seconds { count: 40, ..EVEN }, &mut random);
    let mut spent = baseline.clone();
    let credits = BurstCredits { empty_at_ns: Some(SECOND_NS), ..BurstCredits::default() };
    let stage = ServiceStage { credits: Some(credits), ..ServiceStage::default() };
    spent.model = Some(ModelRecord { stages: vec![stage], ..ModelRecord::default() });
    let cautions = compared(&baseline, &spent).jobs.remove(0).cautions;
    assert!(cautions.contains(&Caution::CreditsRanOut { side: Side::Candidate }), "{cautions:?}");
    assert!(compared(&spent, &spent).jobs[0].cautions.is_empty());
    let mut falling = baseline.clone();
    for interval in &mut falling.jobs[0].result.series.intervals[20..] {
        interval.ios[0] /= 2;
    }
    let cautions = compared(&falling, &baseline).jobs.remove(0).cautions;
    let codes = [Code::BurstUsedUp, Code::NotSteady, Code::BurstOrDrift];
    let found =
        |caution: &Caution| matches!(caution, Caution::Found { side: Side::Baseline, code } if codes.contains(code));
    assert!(cautions.iter().any(found), "{cautions:?}");
}

#[test]
fn correlated_intervals_raise_a_caution() {
    let mut random = Random::new(82, 0);
    let wandering = run(Seconds { phi: 0.98, noise: 0.1, ..EVEN }, &mut random);
    let cautions = compared(&wandering, &wandering).jobs.remove(0).cautions;
    assert!(cautions.iter().any(|one| matches!(one, Caution::Correlated { .. })), "{cautions:?}");
}

/// Intervals sum the time of all kinds.
#[test]
fn latency_of_one_kind_of_a_mix_needs_repeats() {
    let mut random = Random::new(83, 0);
    let mut mixed = run(EVEN, &mut random);
    let result = &mut mixed.jobs[0].result;
    result.write = result.read.clone();
    for interval in &mut result.series.intervals {
        interval.ios[1] = interval.ios[0];
        interval.bytes[1] = interval.bytes[0];
    }
    let comparison = compared(&mixed, &mixed);
    assert_eq!(row(&comparison, "write.latency_mean").change, None);
    assert_eq!(judged(&row(&comparison, "all.latency_mean")), "same");
    assert_eq!(judged(&row(&comparison, "write.bytes_per_second")), "same");
}

#[test]
fn empty_comparison_has_no_jobs() {
    let empty = Run::default();
    assert_eq!(compare(&[], &[], &ComparisonSettings::default()), Comparison::default());
    assert!(compared(&empty, &empty).jobs.is_empty());
}

/// Syncs that took ten times as long were not compared.
#[test]
fn slower_syncs_are_worse() {
    let read = |text: &str| match record::read_input("input", text.as_bytes(), None) {
        Ok(record::Input::Run(run)) => *run,
        other => panic!("{other:?}"),
    };
    let fast = read(include_str!("../../record/tests/data/sync_fast.txt"));
    let slow = read(include_str!("../../record/tests/data/sync_slow.txt"));
    let compared = compare(&[&fast], &[&slow], &ComparisonSettings::default());
    let rows = &compared.jobs[0].figures;
    let of = |name: &str| rows.iter().find(|row| row.figure.to_string() == name).unwrap_or_else(|| panic!("{name}"));
    assert_eq!(of("sync.latency_mean").judgement, Judgement::Worse);
    let p99 = of("sync.latency_p99");
    assert_eq!((p99.baseline, p99.candidate), (2.8e6, 28e6));
    assert!(!rows.iter().any(|row| row.figure.of != record::FigureOf::Sync && row.judgement == Judgement::Worse));
    let back = compare(&[&slow], &[&fast], &ComparisonSettings::default());
    assert!(back.jobs[0].figures.iter().any(|row| row.judgement == Judgement::Better) && !back.is_worse());
}

/// Runs whose levels vary from run to run by a relative standard deviation.
fn nights(count: usize, iops: f64, spread: f64, random: &mut Random) -> Vec<Run> {
    let mut level = Wander::new(0.0, random);
    let each = Seconds { count: 30, noise: 0.005, ..EVEN };
    (0..count).map(|_| run(Seconds { iops: iops * (1.0 + spread * level.next(random)), ..each }, random)).collect()
}

fn compared_all(baseline: &[Run], candidate: &[Run]) -> Comparison {
    let (a, b): (Vec<&Run>, Vec<&Run>) = (baseline.iter().collect(), candidate.iter().collect());
    compare(&a, &b, &ComparisonSettings::default())
}

/// Seven nights against one run: the courses were compared as if they were one, and 40 equal trials gave 23 verdicts.
#[test]
fn repeats_on_one_side_tell_how_much_the_other_varies() {
    let seed = 80;
    for spread in [0.01, 0.02, 0.05] {
        let mut random = Random::new(seed, 0);
        let mut verdicts = 0;
        for trial in 0..200 {
            let (many, one) = (nights(7, 10_000.0, spread, &mut random), nights(1, 10_000.0, spread, &mut random));
            let found = if trial % 2 == 0 { compared_all(&many, &one) } else { compared_all(&one, &many) };
            let of = |row: &FigureComparison| matches!(judged(row), "better" | "worse");
            verdicts += u32::from(found.jobs[0].figures.iter().any(of));
            let iops = row(&found, "read.iops");
            let shown = 100.0 * (iops.candidate / iops.baseline - 1.0);
            assert!((iops.change.unwrap().percent - shown).abs() < 1e-9, "{iops:?}");
            assert_eq!(iops.basis, Some(Basis::Repeats { runs: 1 }));
        }
        println!("seed {seed}, spread {spread}: {verdicts} verdicts on 200 equal trials");
        assert!(verdicts <= 16, "seed {seed}, spread {spread}: {verdicts}");
    }
}

#[test]
fn five_percent_is_found_by_seven_runs_each() {
    let seed = 81;
    let mut random = Random::new(seed, 0);
    let mut found = 0;
    for _ in 0..100 {
        let (a, b) = (nights(7, 10_000.0, 0.02, &mut random), nights(7, 9_500.0, 0.02, &mut random));
        found += u32::from(judged(&row(&compared_all(&a, &b), "read.iops")) == "worse");
    }
    println!("seed {seed}: {found} of 100 found");
    assert!(found >= 80, "seed {seed}: {found}");
}
