//! Outputs of fio made from what each worker did: what is read must be that, or be said not to be known.

#![allow(clippy::disallowed_macros, reason = "a test prints how many results are undecided")]

use record::{DataKind, Figure, Input, Run, read_input};
use units::random::Random;

use crate::cases::at_night;
use crate::fio_truths::{Truth, output};

fn is_near(value: f64, expected: f64) -> bool {
    (value - expected).abs() <= 0.005 * expected.abs() + 1e-9
}

#[test]
fn what_workers_did_is_read_from_any_grouping() {
    const SEED: u64 = 37;
    let (mut entries, mut unknown) = (0, 0);
    let count = if at_night() { 10_000 } else { 400 };
    for seed in SEED..SEED + count {
        let made = output(&mut Random::new(seed, 0));
        let (text, truths, version) = (&made.text, &made.truths, made.version);
        let run: Run = match read_input("fio", text.as_bytes(), None) {
            Ok(Input::Run(run)) => *run,
            other => panic!("seed {seed}: {other:?}\n{text}"),
        };
        assert_eq!(run.jobs.len(), truths.len(), "seed {seed}");
        for (job, truth) in run.jobs.iter().zip(truths) {
            let of = format!("seed {seed}, {version:?}, {}: {truth:?}", job.name);
            for (index, kind) in [DataKind::Read, DataKind::Write].into_iter().enumerate() {
                if truth.ios[index] > 0 {
                    let expected = truth.ios[index] as f64 * 1000.0 / truth.runtime_ms[index] as f64;
                    assert!(is_near(job.result.kind(kind).iops(), expected), "{of}");
                }
            }
            let iops = (truth.ios[0] + truth.ios[1]) as f64 * 1000.0 / truth.longest_ms as f64;
            assert!(is_near(job.result.iops(), iops), "{} for {iops}: {of}", job.result.iops());
            let in_flight = truth.busy_ns / (truth.longest_ms as f64 * 1e6);
            assert!(is_near(job.result.in_flight().unwrap(), in_flight), "{:?}: {of}", job.result.in_flight());
            let product = job.result.iops() * job.result.service_mean_ns().unwrap() / 1e9;
            assert!(is_near(product, in_flight), "{product}: {of}");
            if made.is_json && job.result.sync.count == 0 {
                assert!(truth.syncs == 0 || !text.contains("\"sync\""), "{of}");
            } else {
                assert_eq!(job.result.sync.count, truth.syncs, "{of}");
                assert!(is_near(job.result.sync.sum_ns(), truth.sync_ns), "{}: {of}", job.result.sync.sum_ns());
            }
            entries += 1;
            match job.declared.in_flight_possible {
                // Nothing in such a document shows that an entry is of several workers.
                Some(possible) if truth.is_hidden => assert!(possible as f64 * 1.03 >= in_flight, "{of}\n{text}"),
                Some(possible) => assert_eq!(possible, truth.depth, "{of}\n{text}"),
                None => unknown += 1,
            }
        }
        let phases = run.phases();
        if made.is_json && version.prints_starts {
            assert_eq!(phases, overlapping(truths), "seed {seed}\n{text}");
        }
        for phase in phases.iter().filter(|_| !(made.is_json && version.prints_starts)) {
            assert!(phase.iter().all(|job| truths[*job].group == truths[phase[0]].group), "seed {seed}: {phases:?}");
            let together = run.together(phase);
            let longest_ms = phase.iter().map(|job| truths[*job].longest_ms).max().unwrap();
            let ios: u64 = phase.iter().map(|job| truths[*job].ios[0] + truths[*job].ios[1]).sum();
            let iops = ios as f64 * 1000.0 / longest_ms as f64;
            assert!(is_near(together.result.iops(), iops), "seed {seed}: {} for {iops}", together.result.iops());
        }
        let all = Figure::named("all.iops").unwrap().of(&run);
        assert_eq!(all.is_ok(), phases.len() == 1, "seed {seed}");
    }
    println!("{entries} entries, of which {unknown} have no known depth");
    assert!(unknown < entries / 2, "{unknown} of {entries} have no known depth");
}

/// Returns the results that overlapped in time by more than a tenth of the shorter one, as sets.
fn overlapping(truths: &[Truth]) -> Vec<Vec<usize>> {
    let shares = |a: &Truth, b: &Truth| {
        let end = |one: &Truth| one.start_ms + one.longest_ms;
        let shared = end(a).min(end(b)).saturating_sub(a.start_ms.max(b.start_ms));
        shared as f64 >= 0.1 * a.longest_ms.min(b.longest_ms) as f64
    };
    let mut sets: Vec<Vec<usize>> = Vec::new();
    for (index, truth) in truths.iter().enumerate() {
        let (mut joined, others): (Vec<_>, Vec<_>) =
            sets.into_iter().partition(|set: &Vec<usize>| set.iter().any(|&of| shares(&truths[of], truth)));
        joined.push(vec![index]);
        let mut set: Vec<usize> = joined.into_iter().flatten().collect();
        set.sort_unstable();
        sets = others;
        sets.push(set);
    }
    sets.sort();
    sets
}
