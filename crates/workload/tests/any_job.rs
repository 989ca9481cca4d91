//! Random jobs: decisions stay inside the files and every job ends, whatever its options.

use job::*;
use units::random::Random;
use units::{Bytes, Nanos, OpKind, PerKind, Rate};
use workload::{Decision, FileExtent, Issuer, JobLayout, Next, Operations, WorkerIndex};

use crate::cases::cases;
use crate::common::*;

fn pick<T: Clone>(random: &mut Random, values: &[T]) -> T {
    values[random.below(values.len() as u64) as usize].clone()
}

fn any_sizes(random: &mut Random) -> BlockSizes {
    let unit = pick(random, &[512, 1000, 4096]);
    match random.below(4) {
        0 => BlockSizes::Range(unit, unit * (1 + random.below(20) as u32) + random.below(100) as u32),
        1 => BlockSizes::Split(vec![(unit * 3, 20), (unit, 80)]),
        _ => BlockSizes::Fixed(unit * (1 + random.below(8) as u32)),
    }
}

fn any_distribution(random: &mut Random) -> Distribution {
    let center = pick(random, &[None, Some(0.0), Some(0.3), Some(1.0)]);
    match random.below(8) {
        0 => Distribution::Zipf { theta: 1.2, center },
        1 => Distribution::Pareto { h: 0.3, center },
        2 => Distribution::Normal { deviation: 20.0, center },
        3 => Distribution::Zoned(vec![(50, 5), (50, 95)]),
        4 => Distribution::ZonedAbs(vec![(50, Bytes::new(10_000)), (50, Bytes::new(1 << 30))]),
        _ => Distribution::Uniform,
    }
}

fn any_rate(random: &mut Random) -> PerKind<Option<Rate>> {
    let mut rate = || (random.below(4) == 0).then(|| Rate::per_sec(1 + random.below(1 << 20)));
    PerKind { read: rate(), write: rate(), trim: rate() }
}

fn any_job(random: &mut Random) -> Job {
    let words = ["read", "write", "trim", "rw", "trimwrite", "randread", "randwrite", "randrw", "randtrimwrite"];
    let mut job = rw(pick(random, &words));
    let pattern = &mut job.pattern;
    pattern.modifier = pick(random, &[0, 0, 0, 1, 5, 4096, -4096, -8192, 100_000]);
    pattern.set_read_percent(random.below(101) as u32);
    let one = any_sizes(random);
    pattern.block_sizes = PerKind { read: one.clone(), write: one.clone(), trim: one };
    if random.below(3) == 0 {
        pattern.block_sizes.write = any_sizes(random);
    }
    pattern.bs_unaligned = random.below(5) == 0;
    pattern.blockalign = (random.below(6) == 0).then_some(PerKind { read: 512, write: 4096, trim: 8192 });
    pattern.norandommap = random.below(4) == 0;
    pattern.generator = pick(random, &[Generator::Tausworthe, Generator::Lfsr]);
    pattern.distribution.read = any_distribution(random);
    pattern.distribution.write = any_distribution(random);
    pattern.percentage_random.read = pick(random, &[100, 100, 50, 0]);
    job.extent.number_ios = pick(random, &[None, None, Some(0), Some(17)]);
    job.extent.loops = random.below(4) as u32;
    job.extent.time_based = random.below(4) == 0;
    let order = pick(random, &[FileOrder::RoundRobin, FileOrder::Sequential, FileOrder::Random, FileOrder::Zipf(1.1)]);
    job.files.service = FileService { order, switch_every: random.below(4) as u32 };
    job.files.unlink_each_loop = random.below(4) == 0;
    job.pace.rate = any_rate(random);
    job.pace.rate_iops = any_rate(random);
    job.pace.process = pick(random, &[Arrivals::Linear, Arrivals::Poisson]);
    job.pace.thinktime = Nanos::from_micros(pick(random, &[0, 0, 0, 50]));
    job.pace.thinkcycles = pick(random, &[0, 0, 0, 7]);
    job.pace.thinktime_blocks = random.below(5);
    job.pace.thinktime_blocks_type = pick(random, &[ThinktimeBlocks::Complete, ThinktimeBlocks::Issue]);
    job.pace.thinktime_iotime = Nanos::from_micros(pick(random, &[0, 0, 200]));
    job.sync.fsync = pick(random, &[0, 0, 1, 4]);
    job.sync.fdatasync = pick(random, &[0, 0, 3]);
    job.sync.range.writes = pick(random, &[0, 0, 5]);
    job.sync.end_fsync = random.below(3) == 0;
    job.sync.fsync_on_close = random.below(5) == 0;
    job.verify.method = pick(random, &[None, None, Some(VerifyMethod::Crc32c)]);
    job.verify.only = random.below(4) == 0;
    job
}

fn any_layout(random: &mut Random) -> JobLayout {
    let mut extent = || FileExtent { start: random.below(3) * 4096, length: 1 + random.below(300_000) };
    let files = match extent().length % 4 {
        0 => vec![extent(), extent(), extent()],
        _ => vec![extent()],
    };
    let size = (random.below(3) == 0).then(|| 1 + random.below(400_000));
    let io_size = (random.below(4) == 0).then(|| 1 + random.below(900_000));
    JobLayout { files, size, io_size, ..JobLayout::default() }
}

fn assert_sound(op: &Decision, layout: &JobLayout, seed: u64) {
    let extent = layout.files[op.file as usize];
    if op.kind.moves_data() || op.kind == OpKind::SyncRange {
        // The first range begins at the start of the file.
        let start = if op.kind == OpKind::SyncRange { 0 } else { extent.start };
        let inside = op.offset >= start && op.offset + u64::from(op.length) <= extent.start + extent.length;
        assert!(op.length > 0 && inside, "seed {seed}: {op:?} in {extent:?}");
    } else {
        assert_eq!(op.length, 0, "seed {seed}");
    }
}

/// Runs the job with up to 8 operations in flight that complete in random order, and stops it after 3000.
fn play(issuer: &mut Issuer, operations: Operations, layout: &JobLayout, random: &mut Random, seed: u64) {
    let (mut now, mut in_flight, mut issued) = (Nanos::ZERO, Vec::new(), 0);
    loop {
        if in_flight.len() == 8 || (!in_flight.is_empty() && random.below(3) == 0) {
            let op = in_flight.swap_remove(random.below(in_flight.len() as u64) as usize);
            issuer.complete(&op, now);
        }
        match issuer.next(now) {
            Next::Issue(op) | Next::IssueAnew(op) => {
                assert_sound(&op, layout, seed);
                assert!(operations.includes(op.kind), "seed {seed}: {:?} is not among {operations:?}", op.kind);
                in_flight.push(op);
                issued += 1;
                assert!(issued < 4000, "seed {seed}: the job does not end when told to");
            }
            Next::Until(instant) => {
                assert!(instant > now && instant < Nanos::MAX, "seed {seed}: {instant} at {now}");
                now = instant;
            }
            Next::Blocked => {
                let op = in_flight.pop().unwrap_or_else(|| panic!("seed {seed}: blocked with nothing in flight"));
                issuer.complete(&op, now);
            }
            Next::Close(_) | Next::Renew(_) | Next::Spin(_) | Next::Command(_) => {}
            Next::Done => return,
        }
        if issued == 3000 {
            issuer.finish();
        }
        now += Nanos::new(random.below(2000));
    }
}

#[test]
fn random_jobs_stay_inside_their_files_and_end() {
    let (all, mut played) = (cases(300), 0);
    for seed in 0..all {
        let mut random = Random::new(seed, 0);
        let (job, layout) = (any_job(&mut random), any_layout(&mut random));
        let Ok(mut issuer) = Issuer::new(&job, WorkerIndex::default(), &layout, seed) else { continue };
        play(&mut issuer, Operations::of(&job), &layout, &mut random, seed);
        played += 1;
        if let Some(mut pass) = issuer.verify_pass() {
            let reads = drain(&mut pass, usize::MAX);
            assert!(reads.iter().all(|op| op.kind == OpKind::Read && op.checked), "seed {seed}");
        }
    }
    assert!(2 * played > all, "most jobs should be sound: {played} of {all}");
}
