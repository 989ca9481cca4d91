//! Tests that rates are exact in virtual time and lateness is never hidden.

use job::{Arrivals, BlockSizes, ThinktimeBlocks};
use units::{Nanos, OpKind, PerKind, Rate};
use workload::{Decision, JobLayout, Next};

use crate::common::*;

fn rated(iops: u64, process: Arrivals) -> job::Job {
    let mut job = rw("randread");
    job.extent.time_based = true;
    job.pace.rate_iops = PerKind { read: Some(Rate::per_sec(iops)), write: Some(Rate::per_sec(iops)), trim: None };
    job.pace.process = process;
    job
}

/// Returns the decisions with an intended start before `end`.
fn until(job: &job::Job, seed: u64, end: Nanos) -> Vec<Decision> {
    let (mut issuer, mut ops, mut now) = (issuer(job, &one_file(64 * MIB), seed), Vec::new(), Nanos::ZERO);
    loop {
        match issuer.next(now) {
            Next::Issue(op) if op.intended >= end => return ops,
            Next::Issue(op) | Next::IssueAnew(op) => {
                issuer.complete(&op, now);
                ops.push(op);
            }
            Next::Until(instant) => now = instant,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn linear_rates_are_exact() {
    for iops in [1_000, 3_333, 65_537, 1_000_000] {
        let ops = until(&rated(iops, Arrivals::Linear), 1, Nanos::from_secs(1));
        assert_eq!(ops.len() as u64, iops);
        for (n, op) in ops.iter().enumerate() {
            assert_eq!(op.intended, Rate::per_sec(iops).due(n as u64), "operation {n} at {iops}/s");
        }
    }
}

/// The number of arrivals varies randomly, by the right amount. With arrivals in slices of equal probability the counts
/// of whole runs were equal for all seeds.
#[test]
fn poisson_counts_vary_between_runs() {
    const SEEDS: u64 = 400;
    for (iops, secs) in [(1_000, 10), (30_000, 1)] {
        let counts: Vec<f64> = (0..SEEDS)
            .map(|seed| until(&rated(iops, Arrivals::Poisson), seed, Nanos::from_secs(secs)).len() as f64)
            .collect();
        let expected = (iops * secs) as f64;
        let mean = counts.iter().sum::<f64>() / SEEDS as f64;
        // Four standard errors of the mean.
        assert!((mean - expected).abs() < 4.0 * (expected / SEEDS as f64).sqrt(), "{mean} for {expected}");
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (SEEDS - 1) as f64;
        let spread = variance / expected;
        // Four standard errors of the variance, each the square root of two over the number of counts.
        assert!(
            (spread - 1.0).abs() < 4.0 * (2.0 / SEEDS as f64).sqrt(),
            "{spread} of a Poisson process's at {iops}/s"
        );
        assert!(counts.iter().all(|count| (count - expected).abs() < 4.5 * expected.sqrt()), "{counts:?}");
    }
}

#[test]
fn poisson_gaps_are_exponential_and_counts_vary_accordingly() {
    let ops = until(&rated(100_000, Arrivals::Poisson), 5, Nanos::from_secs(1));
    let mut gaps: Vec<f64> = ops.windows(2).map(|pair| (pair[1].intended - pair[0].intended).get() as f64).collect();
    let n = gaps.len() as f64;
    gaps.sort_by(f64::total_cmp);
    for (rank, gap) in gaps.iter().enumerate() {
        let theory = 1.0 - (-gap / 10_000.0).exp();
        assert!((theory - rank as f64 / n).abs() < 0.01, "gap {gap} ns at rank {rank}");
    }
    // The variance of counts in windows of 20 expected arrivals is that of a Poisson process.
    let mut counts = vec![0.0; 5000];
    for op in &ops {
        counts[(op.intended.get() / 200_000) as usize] += 1.0;
    }
    let mean = counts.iter().sum::<f64>() / 5000.0;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 5000.0;
    assert!((0.9..1.1).contains(&(variance / mean)), "{}", variance / mean);
}

#[test]
fn byte_rates_count_bytes() {
    let mut job = rw("read");
    job.extent.time_based = true;
    job.pace.rate.read = Some(Rate::per_sec(MIB));
    let ops = until(&job, 1, Nanos::from_secs(3));
    assert_eq!(bytes(&ops), 3 * MIB);
}

#[test]
fn each_kind_of_a_mix_has_its_own_rate() {
    let mut job = rated(1000, Arrivals::Linear);
    job.pattern.direction = job::Direction::ReadWrite;
    job.pattern.set_read_percent(70);
    job.pace.rate_iops.write = Some(Rate::per_sec(500));
    let ops = until(&job, 1, Nanos::from_secs(2));
    assert_eq!((count(&ops, OpKind::Read), count(&ops, OpKind::Write)), (2000, 1000));
    assert!(ops.windows(2).all(|pair| pair[0].intended <= pair[1].intended));
}

#[test]
fn a_kind_without_a_rate_is_issued_in_between() {
    let mut job = rated(1000, Arrivals::Linear);
    job.pattern.direction = job::Direction::ReadWrite;
    job.pace.rate_iops.read = None;
    let mut issuer = issuer(&job, &one_file(64 * MIB), 1);
    let mut writes = 0;
    for step in 0..100_000u64 {
        let now = Nanos::from_micros(step * 10);
        match issuer.next(now) {
            Next::Issue(op) | Next::IssueAnew(op) => {
                writes += u64::from(op.kind == OpKind::Write);
                assert!(op.kind == OpKind::Write || op.intended == now);
                issuer.complete(&op, now);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(writes, 1000);
}

#[test]
fn late_operations_keep_their_instants() {
    let mut issuer = issuer(&rated(1000, Arrivals::Linear), &one_file(64 * MIB), 1);
    assert!(matches!(issuer.next(Nanos::from_secs(5)), Next::Issue(op) if op.intended == Nanos::from_secs(5)));
    // The device hangs for 100 ms: the overdue operations are issued back to back.
    let now = Nanos::from_millis(5100);
    for n in 1..=100 {
        let Next::Issue(op) = issuer.next(now) else { panic!("operation {n} is overdue") };
        assert_eq!(op.intended, Nanos::from_millis(5000 + n));
    }
    assert_eq!(issuer.next(now), Next::Until(Nanos::from_millis(5101)));
}

#[test]
fn thinktime_follows_completed_blocks() {
    let mut job = rw("read");
    job.pace.thinktime = Nanos::from_millis(1);
    job.pace.thinktime_blocks = 2;
    let mut issuer = issuer(&job, &one_file(MIB), 1);
    let Next::Issue(first) = issuer.next(Nanos::ZERO) else { panic!("first") };
    let Next::Issue(second) = issuer.next(Nanos::ZERO) else { panic!("second") };
    assert_eq!(issuer.next(Nanos::ZERO), Next::Blocked);
    issuer.complete(&first, Nanos::from_micros(10));
    assert_eq!(issuer.next(Nanos::from_micros(10)), Next::Blocked);
    issuer.complete(&second, Nanos::from_micros(30));
    let resume = Nanos::from_micros(1030);
    assert_eq!(issuer.next(Nanos::from_micros(40)), Next::Until(resume));
    assert!(matches!(issuer.next(resume), Next::Issue(op) if op.intended == resume));
}

#[test]
fn thinktime_can_count_at_issue() {
    let mut job = rw("read");
    job.pace.thinktime = Nanos::from_millis(1);
    job.pace.thinktime_blocks_type = ThinktimeBlocks::Issue;
    let mut issuer = issuer(&job, &one_file(MIB), 1);
    assert!(matches!(issuer.next(Nanos::ZERO), Next::Issue(_)));
    assert_eq!(issuer.next(Nanos::new(5)), Next::Until(Nanos::new(1_000_005)));
}

#[test]
fn thinktime_can_follow_an_interval() {
    let mut job = rw("read");
    job.pace.thinktime = Nanos::from_secs(1);
    job.pace.thinktime_iotime = Nanos::from_secs(9);
    job.extent.time_based = true;
    let mut issuer = issuer(&job, &one_file(MIB), 1);
    let (mut now, mut per_second) = (Nanos::ZERO, vec![0; 20]);
    while now < Nanos::from_secs(20) {
        match issuer.next(now) {
            Next::Issue(op) | Next::IssueAnew(op) => {
                per_second[(now.get() / 1_000_000_000) as usize] += 1;
                now += Nanos::from_millis(100);
                issuer.complete(&op, now);
            }
            Next::Until(instant) => now = instant,
            other => panic!("{other:?}"),
        }
    }
    let expected: Vec<_> = (0..20).map(|second| if second % 10 == 9 { 0 } else { 10 }).collect();
    assert_eq!(per_second, expected);
}

#[test]
fn rate_iops_counts_the_smallest_block_where_sizes_vary() {
    let range = BlockSizes::Range(4096, 16384);
    let split = BlockSizes::Split(vec![(4096, 0), (16384, 50), (32768, 50)]);
    for varied in [range, split] {
        let mut job = rated(1_000, Arrivals::Linear);
        sizes(&mut job, &varied);
        let moved = bytes(&until(&job, 1, Nanos::from_secs(4)));
        assert!(moved.abs_diff(4 * 1_000 * 4096) <= 32768, "{varied:?}: {moved} bytes");
        // A Poisson process counts arrivals of any size.
        job.pace.process = Arrivals::Poisson;
        let count = until(&job, 1, Nanos::from_secs(4)).len();
        assert!(count.abs_diff(4_000) <= 40, "{varied:?}: {count} operations");
    }
}

#[test]
fn thinkcycles_precede_idle_time() {
    let mut job = rw("read");
    job.pace.thinkcycles = 7;
    for pause in [Nanos::ZERO, Nanos::from_millis(1)] {
        job.pace.thinktime = pause;
        let mut issuer = issuer(&job, &one_file(MIB), 1);
        let Next::Issue(first) = issuer.next(Nanos::ZERO) else { panic!("first") };
        issuer.complete(&first, Nanos::from_micros(10));
        assert_eq!(issuer.next(Nanos::from_micros(20)), Next::Spin(7));
        // The cycles took 30 us.
        let (now, resume) = (Nanos::from_micros(50), Nanos::from_micros(50) + pause);
        if pause > Nanos::ZERO {
            assert_eq!(issuer.next(now), Next::Until(resume));
        }
        assert!(matches!(issuer.next(resume), Next::Issue(_)));
    }
}

/// The files of each loop are new, once nothing is in flight on those of the last one.
#[test]
fn files_are_renewed_between_loops() {
    let mut job = rw("write");
    job.files.unlink_each_loop = true;
    job.extent.loops = 2;
    let mut issuer = issuer(&job, &one_file(8 * KIB), 1);
    let mut loops = 0;
    for _ in 0..2 {
        let (Next::Issue(first) | Next::IssueAnew(first)) = issuer.next(Nanos::ZERO) else { panic!("first") };
        let Next::Issue(second) = issuer.next(Nanos::ZERO) else { panic!("second") };
        loops += 1;
        let after = if loops == 1 { Next::Blocked } else { Next::Done };
        assert_eq!(issuer.next(Nanos::ZERO), after, "two operations are in flight");
        issuer.complete(&first, Nanos::ZERO);
        issuer.complete(&second, Nanos::ZERO);
        if loops == 1 {
            assert_eq!(issuer.next(Nanos::ZERO), Next::Renew(0));
        }
    }
}

/// As in fio 3.33: a queue begins at the start of the region again, calls go on through the file.
#[test]
fn more_than_the_region_depends_on_the_engine() {
    let offsets = |engine, amount: u64, loops| {
        let mut job = rw("read");
        (job.engine.kind, job.extent.loops) = (engine, loops);
        let io_size = (amount > 0).then_some(amount);
        let layout = JobLayout { size: Some(16 * KIB), io_size, ..one_file(64 * KIB) };
        let mut issuer = issuer(&job, &layout, 1);
        let mut found = Vec::new();
        while let Next::Issue(op) | Next::IssueAnew(op) = issuer.next(Nanos::ZERO) {
            issuer.complete(&op, Nanos::ZERO);
            found.push(op.offset / (4 * KIB));
        }
        found
    };
    let (queue, calls) = (job::EngineKind::Libaio, job::EngineKind::Psync);
    let parts = |counts: &[u64]| counts.iter().flat_map(|&count| 0..count).collect::<Vec<_>>();
    assert_eq!(offsets(queue, 40 * KIB, 1), parts(&[4, 4, 2]));
    assert_eq!(offsets(calls, 40 * KIB, 1), parts(&[10]));
    assert_eq!(offsets(queue, 80 * KIB, 1), parts(&[4, 4, 4, 4, 4]));
    assert_eq!(offsets(calls, 80 * KIB, 1), parts(&[16, 4]));
    assert_eq!(offsets(queue, 0, 2), parts(&[4, 4]));
    assert_eq!(offsets(calls, 0, 2), parts(&[8]));
    assert_eq!(offsets(queue, 40 * KIB, 2), parts(&[4, 4, 4]));
    assert_eq!(offsets(calls, 40 * KIB, 2), parts(&[16, 4]));
    assert_eq!(offsets(queue, 8 * KIB, 2), parts(&[4]), "a part of the region goes on too");
    // Less than a block is left.
    assert_eq!(offsets(queue, 34 * KIB, 1), parts(&[4, 4]));
}
