//! Queue depth, pace, end, verification and meter options of a worker.

use std::collections::BTreeMap;
use std::sync::Arc;

use job::{BlockSizes, Dialect, EngineKind, ExitScope, Job, Plan, RateFloors, ReplayOptions, VerifyMethod};
use meter::IntervalWidths;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

use crate::WorkerPlan;
use crate::logs::{self, MeasuredLatencies};

/// Returns the policy by which a worker keeps its queue filled.
#[must_use]
pub fn policy(worker: &WorkerPlan, job: &Job, seed: u64) -> drive::Policy {
    let (extent, pace) = (&job.extent, &job.pace);
    // No batch is larger than the queue.
    let (most, complete_min) = (pace.iodepth, pace.batch_complete_min.min(pace.iodepth));
    drive::Policy {
        depth: job.depth(),
        queues: job.is_queued() || job.engine.offloads,
        batch: pace.batch.map(|batch| batch.min(most)),
        complete_min,
        complete_max: pace.batch_complete_max.map(|complete_max| complete_max.max(complete_min)),
        low: pace.iodepth_low.map(|low| low.min(most)),
        scheduled: job.is_scheduled(),
        delay: delay(worker, job, seed),
        ramp: ramp(job),
        ramp_bytes: None,
        runtime: if extent.runtime == Nanos::ZERO { Nanos::MAX } else { extent.runtime },
        on_error: drive::OnError {
            continue_on_read: job.on_error.continue_on_read,
            continue_on_write: job.on_error.continue_on_write,
            continue_on_verify: job.on_error.continue_on_verify,
            ignored: job.on_error.ignored.clone(),
        },
        priorities: raw_priorities(job),
        compares: job.engine.nvme.compares,
        fails_when_blocked: job.engine.nowait,
        // As in fio; the strict dialect sets both.
        verify_after_runtime: false,
        settle_before_verify: false,
        verify_fatal: job.verify.fatal,
        keep_damaged: job.verify.dump,
        keep_progress: saves_state(job),
        job: worker.job,
        after: worker.after,
        group: worker.group,
        ends_others: ends_others(job),
        ends_when_full: job.fills_device(),
        rules: rules(job),
    }
}

fn ends_others(job: &Job) -> drive::EndOthers {
    drive::EndOthers {
        at_end: job.grouping.exitall,
        at_error: job.grouping.exitall_on_error,
        scope: match job.grouping.exit_what {
            ExitScope::Group => drive::EndScope::Group,
            ExitScope::Stonewall | ExitScope::All => drive::EndScope::All,
        },
    }
}

/// Jobs that end with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum EndedJobs {
    /// Those of a reporting group.
    Group(u32),
    /// Those of a stage.
    Stage(usize),
    /// All of the run.
    All,
}

/// Returns the jobs that end with a worker's, if any do.
#[must_use]
pub fn ended_jobs(worker: &WorkerPlan, job: &Job, has_failed: bool) -> Option<EndedJobs> {
    ends_others(job).scope_of(has_failed)?;
    Some(match job.grouping.exit_what {
        ExitScope::Group => EndedJobs::Group(worker.group),
        ExitScope::Stonewall => EndedJobs::Stage(worker.stage),
        ExitScope::All => EndedJobs::All,
    })
}

/// Returns the rules of a job except its flow, which workers share.
fn rules(job: &Job) -> drive::WorkerRules {
    let pace = &job.pace;
    let has_floor = pace.floor != RateFloors { cycle: pace.floor.cycle, ..RateFloors::default() };
    let (target, window) = (pace.target, pace.target.window);
    drive::WorkerRules {
        floor: has_floor.then_some(drive::RateFloor {
            bytes: pace.floor.bytes,
            operations: pace.floor.operations,
            cycle: pace.floor.cycle,
        }),
        latency_max: pace.max_latency,
        latency_target: (target.latency > Nanos::ZERO && window > Nanos::ZERO).then(|| drive::LatencyTarget {
            latency: target.latency,
            window,
            fraction: target.percentile / 100.0,
            continues: target.continues,
        }),
        serializes: pace.serialize_overlap,
        locks: None,
        flow: None,
    }
}

/// Shortest pause of a worker that is ahead of its flow. Without one, fio waits actively.
const FLOW_PAUSE_MIN: Nanos = Nanos::from_micros(20);

/// The flows of a run, by number.
#[derive(Debug, Default)]
pub struct Flows(BTreeMap<u32, Arc<drive::Flow>>);

impl Flows {
    /// Returns the flows of a plan's jobs.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let ids = plan.jobs.iter().filter(|job| job.pace.flow.weight > 0).map(|job| job.pace.flow.id);
        Self(ids.map(|id| (id, Arc::default())).collect())
    }

    /// Returns a job's place in its flow, if it has one.
    #[must_use]
    pub fn member(&self, job: &Job) -> Option<drive::FlowMember> {
        let options = &job.pace.flow;
        let flow = Arc::clone(self.0.get(&options.id).filter(|_| options.weight > 0)?);
        let pause = options.pause.max(FLOW_PAUSE_MIN);
        Some(drive::FlowMember { flow, weight: options.weight.into(), pause })
    }
}

/// Returns the I/O priorities of a job's operations, as the kernel encodes them.
fn raw_priorities(job: &Job) -> Vec<u16> {
    job.priorities().into_iter().map(job::IoPriority::as_raw).collect()
}

/// Reports whether the latency that is counted by priority is measured at all.
fn counts_priorities(job: &Job) -> bool {
    let stats = &job.stats;
    if stats.lat_percentiles { !stats.disable_lat } else { !stats.disable_clat }
}

/// Returns whether a job saves the state of its writes.
#[must_use]
pub fn saves_state(job: &Job) -> bool {
    let verify = &job.verify;
    verify.state_save && verify.method.is_some() && !verify.only && job.pattern.direction.writes()
}

/// Returns the longest time that a worker runs, from its start; `None` if only its data end it.
#[must_use]
pub fn longest(job: &Job) -> Option<Nanos> {
    // The time of a ramp by size depends on the device.
    longest_wait(job).filter(|_| job.extent.ramp_size == Bytes::ZERO)
}

/// Returns the longest time that a worker waits for its peer; `None` if it has no runtime.
#[must_use]
pub fn longest_wait(job: &Job) -> Option<Nanos> {
    let extent = &job.extent;
    (extent.runtime > Nanos::ZERO).then(|| extent.startdelay.1 + ramp(job) + extent.runtime)
}

/// Returns the time until results count: the ramp, or the time before the first request of a trace.
fn ramp(job: &Job) -> Nanos {
    job.replay.as_ref().map_or(Nanos::ZERO, ReplayOptions::lead).max(job.extent.ramp_time)
}

fn delay(worker: &WorkerPlan, job: &Job, seed: u64) -> Nanos {
    let (least, most) = job.extent.startdelay;
    let spread = most.since(least).get();
    let mut random = units::random::Random::new(seed, 0xde1a_0000 + worker.number as u64);
    least + Nanos::new(if spread == 0 { 0 } else { random.below(spread + 1) })
}

/// Returns the largest number of bytes of which all offsets and lengths of a job are multiples.
#[must_use]
pub fn block_unit(job: &Job) -> u32 {
    if let Some(facts) = job.replay.as_ref().and_then(|replay| replay.facts.as_ref()) {
        return facts.unit;
    }
    let unit = job.pattern.used_sizes().fold(0, |unit, sizes| match sizes {
        BlockSizes::Range(..) if job.pattern.bs_unaligned => 1,
        BlockSizes::Fixed(size) | BlockSizes::Range(size, _) => gcd(unit, *size),
        BlockSizes::Split(parts) => parts.iter().fold(unit, |unit, (size, _)| gcd(unit, *size)),
    });
    unit.max(1)
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The storage of a verifying job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Targets store data. Written blocks carry the nonce of the run, or none if it is zero, as under `fathom fio`.
    Device {
        /// Dialect whose rules apply.
        dialect: Dialect,
        /// Nonce of jobs without `verify_nonce`.
        nonce: u32,
    },
    /// Models store no data, so nothing can be verified.
    Model,
}

/// Adapts a job's verification to the storage: sets the nonce, and applies fio's rules in its dialect.
#[must_use]
pub fn verified_job(job: &Job, storage: Storage) -> Job {
    let mut job = job.clone();
    let Storage::Device { dialect, nonce } = storage else {
        job.verify.method = None;
        return job;
    };
    // The null engine returns no data, so every block counts as good, as in fio.
    if job.engine.kind == EngineKind::Null {
        job.verify.method = job.verify.method.map(|_| VerifyMethod::Null);
    }
    if job.pattern.direction.writes() && !job.verify.only {
        job.verify.nonce.get_or_insert(nonce);
    }
    if dialect == Dialect::Fio && job.verify.backlog.is_none() && never_verified_by_fio(&job) {
        job.verify.do_verify = false;
    }
    job
}

/// Returns whether fio 3.33 writes until the runtime ends and then reads nothing back: if one operation is in flight at
/// a time, whatever the depth.
fn never_verified_by_fio(job: &Job) -> bool {
    job.extent.time_based && job.pattern.direction.writes() && !job.is_queued()
}

/// Maximum memory of the blocks of all workers, in bytes.
const BLOCK_BYTES: usize = 32 << 20;

/// Returns the meter options of a job in a run of this many `workers`.
#[must_use]
pub fn meter_options(job: &Job, intervals: IntervalWidths, workers: usize) -> meter::MeterOptions {
    let stats = &job.stats;
    let MeasuredLatencies { submission, service, latency } = logs::measured_latencies(job);
    let (bandwidth_window, iops_window) = logs::sample_windows(job);
    meter::MeterOptions {
        submission,
        service,
        latency,
        submission_percentiles: stats.slat_percentiles,
        // Not only for percentiles: fio's percentages of latency classes come from the histogram too.
        service_percentiles: true,
        latency_percentiles: stats.lat_percentiles,
        open_loop: job.is_scheduled(),
        // As in fio, without the latency that they would count, there is none.
        priorities: if job.stats.stats && !job.stats.gtod_reduce && counts_priorities(job) {
            raw_priorities(job)
        } else {
            Vec::new()
        },
        priorities_in_total: stats.lat_percentiles,
        bandwidth: stats.stats && !stats.disable_bw,
        bandwidth_window,
        iops_window,
        logs: logs::log_options(job),
        intervals,
        block_bytes: (BLOCK_BYTES / workers.max(1)).min(meter::BLOCK_BYTES_MAX),
    }
}
