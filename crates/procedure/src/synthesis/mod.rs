//! A job for a trace: how far it is from the trace, and the latency of both on models.

mod measure;
mod volumes;

use runner::RunControl;
use sim::model::ModelRunner;
use trace::{JobComparison, JobLoop, SynthesizedJob, TraceProfile, TraceStudy, load_distance, wait_distance};

use measure::plan_on;
use units::Problem;
use volumes::{ComparedTrace, comparison_volumes};

/// Latency of a device of which the trace has no times, in nanoseconds.
const UNKNOWN_LATENCY_NS: f64 = 200_000.0;

/// File that jobs use until users name a device.
const DATA_FILE: &str = "fathom-load.tmp";

/// A job for a trace, with its file.
#[derive(Clone, Copy, Debug)]
pub struct JobFile<'a> {
    pub job: &'a SynthesizedJob,
    /// Name of the job file.
    pub name: &'a str,
}

impl JobFile<'_> {
    /// Returns the text of the job file, and adds the job to the study of its trace, before it is compared. `comment`
    /// returns the lines at the head of the file.
    #[must_use]
    pub fn write(&self, study: &mut TraceStudy, comment: fn(&TraceStudy) -> Vec<String>) -> String {
        let job = self.job;
        study.job = Some(Box::new(JobComparison {
            file: self.name.to_owned(),
            sections: job.sections.len(),
            job_loop: job.job_loop,
            bytes: job.bytes,
            omissions: job.omissions.clone(),
            differences: Vec::new(),
            volumes: Vec::new(),
            not_simulated: None,
        }));
        job.job_file(&comment(study), DATA_FILE)
    }

    /// Adds the differences of the job to the study: on a nominal volume, which is as fast as the device of the trace is
    /// on average, its load is characterized as that of the trace was; on other volumes the trace is replayed and the job
    /// simulated. `path` is that of the trace for replays, or the reason why there is none.
    ///
    /// # Errors
    ///
    /// Returns why the job could not run.
    pub fn compare(
        &self,
        text: &str,
        path: Result<&str, Problem>,
        study: &mut TraceStudy,
        runner: &ModelRunner,
        control: &dyn RunControl,
    ) -> Result<(), Vec<Problem>> {
        let plan = plan_on(text, &nominal_volume(&study.profile, self.job.bytes));
        let (profile, waits) = measure::characterize_plan(&plan?, runner, control)?;
        let mut differences = load_distance(&study.profile, &profile);
        if self.job.job_loop == JobLoop::Open {
            differences.extend(wait_distance(&study.profile, &self.job.waits, &waits));
        }
        let on_volumes = |path: &str| {
            let compared = ComparedTrace { path, window: study.window, job: self.job, job_file: text };
            let volumes = comparison_volumes(&study.profile, self.job);
            compared.on_volumes(&volumes, runner, control)
        };
        let volumes = path.map_err(Vec::from).and_then(on_volumes);
        if let Some(comparison) = &mut study.job {
            comparison.differences = differences;
            match volumes {
                Ok(volumes) => comparison.volumes = volumes,
                Err(problems) => comparison.not_simulated = problems.into_iter().next().map(|problem| problem.what),
            }
        }
        Ok(())
    }
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
