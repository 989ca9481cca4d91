//! Jobs, workers and a target in memory, where time is exact.

#![allow(dead_code, reason = "each test uses some of them")]

use drive::{DriveWorker, Policy};
use job::{Dialect, EmptySource, Job, parse_file_text};
use meter::{Meter, MeterOptions};
use target::testing::{MemoryModel, MemoryTarget};
use units::Nanos;
use workload::{FileExtent, Issuer, JobLayout};

pub(crate) const FILE_BYTES: u64 = 1 << 20;
pub(crate) const LATENCY: Nanos = Nanos::from_micros(100);

pub(crate) fn job(options: &str) -> Job {
    let text = format!("[test]\nioengine=libaio\nbs=4k\nsize=1m\n{}\n", options.replace(' ', "\n"));
    let plan = parse_file_text("test.fio", text.as_bytes(), Dialect::Fio, &EmptySource);
    assert!(!plan.has_errors(), "{:?}", plan.diagnostics);
    plan.value.jobs.into_iter().next().expect("one job")
}

pub(crate) fn scheduled(job: &Job) -> bool {
    let rates = [job.pace.rate.read, job.pace.rate.write, job.pace.rate_iops.read, job.pace.rate_iops.write];
    rates.iter().any(Option::is_some)
}

pub(crate) fn worker_of(job: &Job, index: u32, adjust: impl FnOnce(&mut Policy)) -> DriveWorker {
    let files = vec![FileExtent { start: 0, length: FILE_BYTES }];
    let layout = JobLayout { files, size: Some(FILE_BYTES), ..JobLayout::default() };
    let issuer =
        Issuer::new(job, workload::WorkerIndex { index, clone: index }, &layout, 1).expect("a job that can run");
    let runtime = if job.extent.runtime == Nanos::ZERO { Nanos::MAX } else { job.extent.runtime };
    let mut policy = Policy {
        depth: job.pace.iodepth,
        ramp: job.extent.ramp_time,
        runtime,
        scheduled: scheduled(job),
        ..Policy::default()
    };
    adjust(&mut policy);
    DriveWorker::new(issuer, Meter::new(MeterOptions { open_loop: scheduled(job), ..MeterOptions::default() }), policy)
}

pub(crate) fn memory(depth: u32) -> MemoryTarget {
    MemoryTarget::new(&MemoryModel {
        files: vec![FILE_BYTES],
        depth,
        buffer_bytes: 64 << 10,
        latency: LATENCY,
        ..MemoryModel::default()
    })
}
