//! Jobs built by hand, and a target that completes everything at once.
#![allow(dead_code, reason = "each test file uses a part of it")]

use job::*;
use units::{Bytes, Nanos};
use workload::{Decision, FileExtent, Issuer, Layout, Next, OpKind, Worker};

pub(crate) const KIB: u64 = 1024;
pub(crate) const MIB: u64 = 1 << 20;

/// A sequential read of 4 KiB blocks with fio's defaults.
pub(crate) fn job() -> Job {
    let all =
        |size| PerKind { read: BlockSizes::Fixed(size), write: BlockSizes::Fixed(size), trim: BlockSizes::Fixed(size) };
    Job {
        name: "job".to_owned(),
        description: None,
        echo: Vec::new(),
        grouping: Grouping { numjobs: 1, ..Grouping::default() },
        engine: EngineOptions {
            engine: Engine::Null,
            direct: false,
            hipri: false,
            fixedbufs: false,
            registerfiles: false,
            sqthread_poll: false,
            sqthread_poll_cpu: None,
            mem: Memory::Malloc,
            iomem_align: 0,
        },
        files: FileOptions {
            filenames: Vec::new(),
            directories: Vec::new(),
            filename_format: "$jobname.$jobnum.$filenum".to_owned(),
            nrfiles: 1,
            openfiles: None,
            service: FileService { order: FileOrder::RoundRobin, switch_every: 1 },
            filesize: None,
            create_on_open: false,
            fallocate: Fallocate::Native,
            overwrite: false,
            invalidate: true,
            open_sync: OpenSync::None,
            allow_mounted_write: false,
            allow_file_create: true,
        },
        extent: Extent {
            size: None,
            io_size: None,
            offset: Size::Bytes(Bytes::ZERO),
            offset_increment: Size::Bytes(Bytes::ZERO),
            number_ios: None,
            loops: 1,
            runtime: Nanos::ZERO,
            time_based: false,
            ramp_time: Nanos::ZERO,
            startdelay: (Nanos::ZERO, Nanos::ZERO),
        },
        pattern: Pattern {
            direction: Direction::Read,
            random: false,
            modifier: 0,
            rwmixread: 50,
            block_sizes: all(4096),
            bs_unaligned: false,
            blockalign: None,
            norandommap: false,
            generator: Generator::Tausworthe,
            distribution: PerKind::default(),
            percentage_random: PerKind { read: 100, write: 100, trim: 100 },
            randrepeat: true,
            randseed: None,
        },
        pace: Pace {
            iodepth: 1,
            batch: Some(1),
            batch_complete_min: 1,
            batch_complete_max: None,
            iodepth_low: None,
            rate: PerKind::default(),
            rate_iops: PerKind::default(),
            process: Arrivals::Linear,
            thinktime: Nanos::ZERO,
            thinktime_spin: Nanos::ZERO,
            thinktime_blocks: 1,
            thinktime_blocks_type: ThinktimeBlocks::Complete,
            thinktime_iotime: Nanos::ZERO,
        },
        sync: SyncOptions::default(),
        payload: Payload { scramble_buffers: true, ..Payload::default() },
        verify: VerifyOptions {
            method: None,
            do_verify: true,
            fatal: false,
            dump: false,
            only: false,
            pattern: VerifyPattern::default(),
            interval: None,
        },
        stats: StatOptions {
            gtod_reduce: false,
            disable_lat: false,
            disable_clat: false,
            disable_slat: false,
            disable_bw: false,
            clat_percentiles: true,
            lat_percentiles: false,
            slat_percentiles: false,
            percentile_list: Vec::new(),
            write_lat_log: None,
            write_iops_log: None,
            write_bw_log: None,
            log_avg: Nanos::ZERO,
            log_offset: false,
            per_job_logs: true,
            disk_util: true,
            kb_base: 1024,
            unit_base: 0,
            stats: true,
        },
        on_error: ErrorOptions::default(),
        origin: Origin::default(),
    }
}

/// The job with the values of `rw`, without a modifier.
pub(crate) fn rw(word: &str) -> Job {
    let mut job = job();
    let (random, kind) = match word.strip_prefix("rand") {
        Some(kind) => (true, kind),
        None => (false, word),
    };
    job.pattern.random = random;
    job.pattern.direction = match kind {
        "read" => Direction::Read,
        "write" => Direction::Write,
        "trim" => Direction::Trim,
        "rw" => Direction::ReadWrite,
        "trimwrite" => Direction::TrimWrite,
        other => panic!("no such rw: {other}"),
    };
    job
}

pub(crate) fn sizes(job: &mut Job, sizes: &BlockSizes) {
    job.pattern.block_sizes = PerKind { read: sizes.clone(), write: sizes.clone(), trim: sizes.clone() };
}

/// One file of `length` bytes, with `size` given.
pub(crate) fn one_file(length: u64) -> Layout {
    files(&[length])
}

/// Files of these lengths.
pub(crate) fn files(lengths: &[u64]) -> Layout {
    let files = lengths.iter().map(|&length| FileExtent { start: 0, length }).collect();
    Layout { files, size: None, io_size: None }
}

pub(crate) fn issuer(job: &Job, layout: &Layout, seed: u64) -> Issuer {
    Issuer::new(job, Worker::default(), layout, seed).expect("the job is sound")
}

/// Everything a job does when each operation completes at once.
pub(crate) fn run(job: &Job, layout: &Layout, seed: u64) -> Vec<Decision> {
    drain(&mut issuer(job, layout, seed), usize::MAX)
}

/// Up to `most` decisions, each completed at once; waits are passed over.
pub(crate) fn drain(issuer: &mut Issuer, most: usize) -> Vec<Decision> {
    let (mut ops, mut now) = (Vec::new(), Nanos::ZERO);
    while ops.len() < most {
        match issuer.next(now) {
            Next::Issue(op) | Next::IssueAnew(op) => {
                issuer.complete(&op, now);
                ops.push(op);
            }
            Next::Until(instant) => {
                assert!(instant > now, "Until({instant}) is not later than now ({now})");
                now = instant;
            }
            Next::Blocked => panic!("blocked with nothing in flight"),
            Next::Close(_) => {}
            Next::Done => break,
        }
    }
    ops
}

pub(crate) fn count(ops: &[Decision], kind: OpKind) -> usize {
    ops.iter().filter(|op| op.kind == kind).count()
}

pub(crate) fn bytes(ops: &[Decision]) -> u64 {
    ops.iter().map(|op| u64::from(op.length)).sum()
}

/// Asserts that the operations touch no byte of `0..length` twice; returns how many they touch.
pub(crate) fn disjoint(ops: &[Decision], file: u32, length: u64) -> u64 {
    let mut spans: Vec<_> =
        ops.iter().filter(|op| op.file == file).map(|op| (op.offset, op.offset + u64::from(op.length))).collect();
    spans.sort_unstable();
    for pair in spans.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "{pair:?} overlap");
    }
    assert!(spans.last().is_none_or(|span| span.1 <= length), "beyond the end: {:?}", spans.last());
    spans.iter().map(|(start, end)| end - start).sum()
}
