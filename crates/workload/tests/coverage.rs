//! Tests that every pass covers every block once, for all sizes, and that a seed repeats all decisions.

use job::{BlockSizes, Distribution, FileOrder, FileService, Generator};
use units::random::Random;
use units::{Nanos, OpKind, PerKind};
use workload::{Issuer, WorkerIndex};

use crate::common::*;

#[test]
fn fixed_blocks_are_covered_once_per_pass() {
    let mut job = rw("randread");
    job.extent.loops = 3;
    for blocks in [1, 2, 3, 100, 255, 256, 257, 5000] {
        let ops = run(&job, &one_file(blocks * 4096 + 100), 3);
        assert_eq!(ops.len() as u64, blocks * 3);
        let passes: Vec<_> = ops.chunks(blocks as usize).collect();
        for pass in &passes {
            assert_eq!(disjoint(pass, 0, blocks * 4096), blocks * 4096);
        }
        if blocks >= 100 {
            let order = |pass: &[workload::Decision]| pass.iter().map(|op| op.offset).collect::<Vec<_>>();
            assert_ne!(order(passes[0]), order(passes[1]));
        }
    }
}

#[test]
fn a_loop_that_begins_within_a_pass_continues_with_the_next() {
    for direction in ["write", "randwrite"] {
        let mut job = rw(direction);
        (job.extent.loops, job.extent.number_ios) = (3, Some(7));
        let ops = run(&job, &one_file(16 * 4096), 3);
        assert_eq!(ops.len(), 21, "rw={direction}");
        assert_eq!(disjoint(&ops[..16], 0, 16 * 4096), 16 * 4096);
        job.extent.number_ios = Some(1000);
        assert_eq!(run(&job, &one_file(16 * 4096), 3).len(), 48, "rw={direction}");
    }
}

fn random_sizes(random: &mut Random) -> BlockSizes {
    let unit = 512 << random.below(4);
    match random.below(3) {
        0 => BlockSizes::Range(unit, unit * (2 + random.below(31) as u32)),
        1 => BlockSizes::Split(vec![(unit, 30), (unit * 2, 30), (unit * 16, 40)]),
        _ => BlockSizes::Split(vec![(unit * 4, 50), (unit, 10), (unit * 3, 40)]),
    }
}

#[test]
fn mixed_sizes_cover_every_byte_once_and_add_up_to_the_size() {
    for seed in 0..200 {
        let mut random = Random::new(seed, 0);
        let mut job = rw(["randread", "randwrite", "randrw", "read", "write"][random.below(5) as usize]);
        let shape = random_sizes(&mut random);
        sizes(&mut job, &shape);
        if random.below(2) == 0 && job.pattern.direction == job::Direction::ReadWrite {
            job.pattern.block_sizes.write = BlockSizes::Fixed(shape.min() * 8);
        }
        let unit = u64::from(shape.min());
        let length = unit * (32 + random.below(5000)) + random.below(unit);
        let ops = run(&job, &one_file(length), seed);
        assert_eq!(bytes(&ops), length / unit * unit, "seed {seed}: {shape:?} over {length}");
        assert_eq!(disjoint(&ops, 0, length), length / unit * unit, "seed {seed}");
    }
}

#[test]
fn unaligned_sizes_never_overlap() {
    for seed in 0..20 {
        let mut job = rw(if seed % 2 == 0 { "randread" } else { "read" });
        sizes(&mut job, &BlockSizes::Range(1000, 9000));
        job.pattern.bs_unaligned = true;
        let ops = run(&job, &one_file(MIB), seed);
        let touched = disjoint(&ops, 0, MIB);
        assert!(touched > MIB * 9 / 10 && ops.iter().all(|op| (1000..=9000).contains(&op.length)), "seed {seed}");
    }
}

#[test]
fn lfsr_repeats_no_offset() {
    let shapes = [BlockSizes::Fixed(4096), BlockSizes::Range(4096, 16384)];
    for (shape, norandommap) in shapes.into_iter().flat_map(|shape| [(shape.clone(), false), (shape, true)]) {
        let mut job = rw("randread");
        job.pattern.norandommap = norandommap;
        job.pattern.generator = Generator::Lfsr;
        sizes(&mut job, &shape);
        let ops = run(&job, &one_file(MIB), 2);
        let mut offsets: Vec<_> = ops.iter().map(|op| op.offset).collect();
        offsets.sort_unstable();
        offsets.dedup();
        assert_eq!(offsets.len(), ops.len());
        assert!(bytes(&ops) >= MIB);
    }
}

#[test]
fn io_size_larger_than_the_region_takes_several_passes() {
    let mut layout = one_file(64 * KIB);
    layout.io_size = Some(200 * KIB);
    for word in ["read", "randread"] {
        let ops = run(&rw(word), &layout, 1);
        assert_eq!(ops.len(), 50, "{word}");
        for pass in ops.chunks(16) {
            disjoint(pass, 0, 64 * KIB);
        }
        assert_eq!(ops[49].pass, 3);
    }
}

#[test]
fn time_based_jobs_run_until_finished() {
    for word in ["read", "write", "randrw", "randtrimwrite"] {
        let mut job = rw(word);
        job.extent.time_based = true;
        job.sync.end_fsync = true;
        let mut issuer = issuer(&job, &files(&[64 * KIB, 16 * KIB]), 1);
        assert_eq!(drain(&mut issuer, 10_000).len(), 10_000, "{word}");
        issuer.finish();
        let rest = drain(&mut issuer, 10);
        let syncs = if word == "read" { 0 } else { 2 };
        assert_eq!(count(&rest, OpKind::Sync), syncs, "{word}");
        assert_eq!(drain(&mut issuer, 10), []);
    }
}

#[test]
fn all_files_are_covered_in_every_order() {
    let orders = [
        FileOrder::RoundRobin,
        FileOrder::Sequential,
        FileOrder::Random,
        FileOrder::Zipf(1.2),
        FileOrder::Pareto(0.3),
        FileOrder::Normal(20.0),
    ];
    let lengths = [64 * KIB, 20 * KIB, 100 * KIB + 5];
    for order in orders {
        for switch_every in [1, 3] {
            let mut job = rw("randread");
            job.files.service = FileService { order, switch_every };
            let ops = run(&job, &files(&lengths), 9);
            for (file, length) in lengths.into_iter().enumerate() {
                assert_eq!(disjoint(&ops, file as u32, length), length / 4096 * 4096, "{order:?}");
            }
        }
    }
}

#[test]
fn files_are_used_in_the_requested_order() {
    let order = |order, switch_every| {
        let mut job = rw("read");
        job.files.service = FileService { order, switch_every };
        run(&job, &files(&[16 * KIB, 8 * KIB]), 1).iter().map(|op| op.file).collect::<Vec<_>>()
    };
    assert_eq!(order(FileOrder::RoundRobin, 1), [0, 1, 0, 1, 0, 0]);
    assert_eq!(order(FileOrder::RoundRobin, 2), [0, 0, 1, 1, 0, 0]);
    assert_eq!(order(FileOrder::Sequential, 1), [0, 0, 0, 0, 1, 1]);
}

#[test]
fn the_same_seed_repeats_and_workers_differ() {
    for word in ["randread", "randrw", "rw", "randtrimwrite"] {
        let mut job = rw(word);
        sizes(&mut job, &BlockSizes::Range(4096, 32768));
        assert_eq!(run(&job, &one_file(MIB), 7), run(&job, &one_file(MIB), 7));
        assert_ne!(run(&job, &one_file(MIB), 7), run(&job, &one_file(MIB), 8));
        let mut other = Issuer::new(&job, WorkerIndex { index: 1, clone: 1 }, &one_file(MIB), 7).expect("sound");
        assert_ne!(drain(&mut other, usize::MAX), run(&job, &one_file(MIB), 7));
        job.pattern.randseed = Some(99);
        assert_eq!(run(&job, &one_file(MIB), 7), run(&job, &one_file(MIB), 8));
    }
}

#[test]
fn skewed_draws_stay_inside_and_reach_the_size() {
    let shapes = [
        Distribution::Zipf { theta: 1.2, center: None },
        Distribution::Pareto { h: 0.2, center: Some(0.5) },
        Distribution::Normal { deviation: 10.0, center: None },
        Distribution::Zoned(vec![(60, 10), (40, 90)]),
    ];
    for shape in shapes {
        for bs in [BlockSizes::Fixed(4096), BlockSizes::Range(4096, 65536)] {
            let mut job = rw("randread");
            sizes(&mut job, &bs);
            job.pattern.distribution = PerKind { read: shape.clone(), write: shape.clone(), trim: shape.clone() };
            let ops = run(&job, &one_file(MIB), 1);
            assert!(bytes(&ops) >= MIB && ops.iter().all(|op| op.offset + u64::from(op.length) <= MIB));
            assert!(bs != BlockSizes::Fixed(4096) || ops.len() == 256);
        }
    }
}

#[test]
fn percentage_random_mixes_sequential_and_random_offsets() {
    let mut job = rw("randread");
    job.pattern.percentage_random.read = 30;
    let ops = run(&job, &one_file(64 * MIB), 1);
    let follows = ops.windows(2).filter(|pair| pair[1].offset == pair[0].offset + 4096).count();
    let share = follows as f64 / ops.len() as f64;
    assert_eq!(ops.len(), 16384);
    assert!((share - 0.7).abs() < 0.02, "{share}");
}

#[test]
fn blockalign_aligns_offsets_within_the_region() {
    let mut job = rw("randread");
    sizes(&mut job, &BlockSizes::Fixed(16384));
    job.pattern.blockalign = Some(PerKind { read: 4096, write: 4096, trim: 4096 });
    let mut layout = one_file(MIB);
    layout.files[0].start = 12_288;
    let ops = run(&job, &layout, 1);
    assert_eq!(ops.len(), 64);
    assert!(ops.iter().all(|op| (12_288..=MIB + 12_288 - 16_384).contains(&op.offset) && op.offset % 4096 == 0));
    assert!(ops.iter().any(|op| op.offset % 16_384 != 12_288));
}

#[test]
fn the_write_of_a_pair_follows_its_completed_trim() {
    let mut issuer = issuer(&rw("randtrimwrite"), &one_file(64 * KIB), 1);
    let mut in_flight = Vec::new();
    for _ in 0..4 {
        let workload::Next::Issue(trim) = issuer.next(Nanos::ZERO) else { panic!("a trim") };
        assert_eq!(trim.kind, OpKind::Trim);
        in_flight.push(trim);
    }
    issuer.complete(&in_flight[1], Nanos::ZERO);
    let workload::Next::Issue(fifth) = issuer.next(Nanos::ZERO) else { panic!("a fifth trim") };
    assert_eq!(fifth.kind, OpKind::Trim);
    issuer.complete(&in_flight[0], Nanos::ZERO);
    for trim in &in_flight[..2] {
        let workload::Next::Issue(write) = issuer.next(Nanos::ZERO) else { panic!("a write") };
        assert_eq!((write.kind, write.offset, write.length), (OpKind::Write, trim.offset, trim.length));
    }
}

#[test]
fn stopping_within_a_fast_path_run_loses_nothing() {
    for word in ["read", "randwrite"] {
        let mut job = rw(word);
        job.sync.end_fsync = true;
        let mut issuer = issuer(&job, &one_file(MIB), 1);
        assert_eq!(drain(&mut issuer, 100).len(), 100);
        issuer.finish();
        let rest = drain(&mut issuer, usize::MAX);
        assert!(rest.iter().all(|op| op.kind == OpKind::Sync && op.closing && op.sequence == 100), "{word}");
        assert_eq!(rest.len(), usize::from(word == "randwrite"));
    }
}

#[test]
fn absurd_sizes_and_skips_are_refused_or_end() {
    let mut job = rw("randread");
    sizes(&mut job, &BlockSizes::Range(512, 4096));
    let error = Issuer::new(&job, WorkerIndex::default(), &one_file(u64::MAX), 1).expect_err("no map is that large");
    assert_eq!(option_of(&error), "size");
    assert_eq!(run(&job, &one_file(511), 1), [], "no block fits");
    assert!(Issuer::new(&job, WorkerIndex::default(), &files(&[]), 1).is_err());
    for skip in [i64::MIN, i64::MAX, -1 << 40, 1 << 40] {
        let mut job = rw("read");
        job.pattern.modifier = skip;
        assert!(run(&job, &one_file(MIB), 1).len() <= 256);
    }
    // Neither the second block of a pass nor a write fits: nothing may loop forever.
    let mut unfit = rw("rw");
    unfit.pattern.block_sizes.write = BlockSizes::Fixed(6144);
    (unfit.pattern.modifier, unfit.extent.time_based) = (1024, true);
    assert!(drain(&mut issuer(&unfit, &one_file(7168), 1), 1000).len() < 1000);
    let mut endless = rw("randread");
    endless.extent.time_based = true;
    let mut issuer = issuer(&endless, &one_file(u64::MAX), 1);
    assert_eq!(drain(&mut issuer, 100).len(), 100);
}
