//! A job for a trace: how far it is from the trace, and the latency of both on models.

mod measure;
mod recorder;
mod volumes;

pub use measure::{LoadLatency, SynthesisRunError, load_latency, plan_on, run_plan};
pub use volumes::{ComparedTrace, VolumeComparison, comparison_volumes};

use runner::RunControl;
use sim::Virtual;
use sim::model::ModelRunner;
use trace::{LoadDifference, SynthesizedJob, TraceProfile, load_distance};

/// Latency of a device of which the trace has no times, in nanoseconds.
const UNKNOWN_LATENCY_NS: f64 = 200_000.0;

/// Runs a job on a nominal volume, which is as fast as the device of the trace is on average, and compares what it does
/// with the trace.
///
/// # Errors
///
/// Returns why the job could not run.
pub fn distance(
    trace: &TraceProfile,
    job: &SynthesizedJob,
    job_file: &str,
    runner: &ModelRunner<Virtual>,
    control: &dyn RunControl,
) -> Result<Vec<LoadDifference>, SynthesisRunError> {
    let volume = nominal_volume(trace, job.bytes);
    let plan = plan_on(job_file, &volume).map_err(SynthesisRunError::Problems)?;
    let profile = measure::characterize_plan(&plan, runner, control)?;
    Ok(load_distance(trace, &profile))
}

/// Returns the words of a volume with the mean latencies of a trace.
fn nominal_volume(trace: &TraceProfile, bytes: u64) -> String {
    let us = |mean: Option<f64>| (mean.unwrap_or(UNKNOWN_LATENCY_NS) / 1000.0).clamp(1.0, 1e8);
    let read = us(trace.service_ns.read.map(|times| times.mean));
    let write = us(trace.service_ns.write.map(|times| times.mean));
    format!("custom,size={}GiB,read_latency={read:.3}us,write_latency={write:.3}us", gib(bytes))
}

/// Returns the size of a volume for some bytes.
fn gib(bytes: u64) -> u64 {
    (bytes >> 30) + 1
}
