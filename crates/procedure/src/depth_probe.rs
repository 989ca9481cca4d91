//! `--probe`: short runs of the same jobs, at twice the depth to show whether depth or device was the limit, and at the
//! original depth to detect disturbances.

use std::collections::BTreeMap;

use analyse::{Code, Remedy, Verdict};
use job::Plan;
use record::{JobResult, ProbeRecord, Run};
use runner::WorkerPlan;
use units::{Bytes, Nanos};

/// Duration of a probe.
const RUNTIME: Nanos = Nanos::from_secs(1);

/// Returns the plan with the depths that decide between depth and device; `None` if no verdict needs it.
///
/// Jobs that verify are not probed: they would overwrite verified data.
#[must_use]
pub fn plan(plan: &Plan, workers: &[WorkerPlan], run: &Run, verdicts: &[Verdict]) -> Option<Plan> {
    if plan.jobs.iter().any(|job| job.verify.method.is_some()) {
        return None;
    }
    let mut depths = BTreeMap::new();
    for (job, iodepth) in verdicts.iter().filter_map(|verdict| Some((run.jobs.get(verdict.job)?, deeper(verdict)?))) {
        let own = workers.iter().skip(job.number as usize).take(job.workers as usize);
        depths.extend(own.map(|worker| (worker.job, iodepth)));
    }
    if depths.is_empty() {
        return None;
    }
    let mut deeper = plan.clone();
    for (index, job) in deeper.jobs.iter_mut().enumerate() {
        if let Some(&iodepth) = depths.get(&index) {
            job.pace.iodepth = iodepth;
        }
        let extent = &mut job.extent;
        (extent.runtime, extent.time_based) = (RUNTIME, true);
        (extent.ramp_time, extent.ramp_size) = (Nanos::ZERO, Bytes::ZERO);
        (extent.loops, extent.number_ios, extent.io_size) = (1, None, None);
        extent.startdelay = (Nanos::ZERO, Nanos::ZERO);
    }
    Some(deeper)
}

/// Returns the probe at the depths of the run.
#[must_use]
pub fn again(probe: &Plan, run: &Plan) -> Plan {
    let mut again = probe.clone();
    again.jobs.iter_mut().zip(&run.jobs).for_each(|(job, own)| job.pace.iodepth = own.pace.iodepth);
    again
}

/// Returns the depth at which a run would decide the verdict.
fn deeper(verdict: &Verdict) -> Option<u32> {
    let headline = &verdict.headline;
    match headline.remedy {
        Some(Remedy::CompareDepth { iodepth }) if matches!(headline.code, Code::QueueFull | Code::DeviceFlat) => {
            u32::try_from(iodepth).ok()
        }
        _ => None,
    }
}

/// Adds the results of both probes to the jobs whose verdict needs them.
pub fn add(run: &mut Run, verdicts: &[Verdict], probed: &Run, again: &Run) {
    let of = |probes: &Run, number| probes.jobs.iter().find(|other| other.number == number).and_then(measured);
    for verdict in verdicts.iter().filter(|verdict| deeper(verdict).is_some()) {
        let Some(job) = run.jobs.get_mut(verdict.job) else { continue };
        let again_iops = of(again, job.number).map(|again| again.iops);
        job.probe = of(probed, job.number).map(|probe| ProbeRecord { again_iops, ..probe });
    }
}

/// Returns the result of a probe; `None` if it failed or measured nothing.
fn measured(job: &JobResult) -> Option<ProbeRecord> {
    let result = &job.result;
    let service_mean_ns = result.service_mean_ns()?;
    let is_good = job.error == 0 && result.errors == 0 && result.ios() > 0;
    is_good.then(|| ProbeRecord {
        iodepth: job.declared.iodepth,
        runtime_ns: result.runtime_ns,
        iops: result.iops(),
        service_mean_ns,
        again_iops: None,
    })
}
