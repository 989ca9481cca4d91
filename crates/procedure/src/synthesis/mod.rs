//! A job for a trace: how far it is from the trace, and the latency of both on models.

mod measure;
mod recorder;
mod volumes;

pub use measure::SynthesisRunError;

use report::trace::{JobComparison, TraceReport, job_comment};
use runner::RunControl;
use sim::Virtual;
use sim::model::ModelRunner;
use trace::{SynthesizedJob, TraceProfile, load_distance};

use measure::plan_on;
use volumes::{ComparedTrace, comparison_volumes};

/// Latency of a device of which the trace has no times, in nanoseconds.
const UNKNOWN_LATENCY_NS: f64 = 200_000.0;

/// File that jobs use until users name a device.
const DATA_FILE: &str = "fathom-load.tmp";

/// A job for a trace, with its file.
#[derive(Clone, Copy, Debug)]
pub struct JobFile<'a> {
    /// The job.
    pub job: &'a SynthesizedJob,
    /// Name of the job file.
    pub name: &'a str,
}

impl JobFile<'_> {
    /// Returns the text of the job file, and adds the job to the report of its trace, before it is compared.
    #[must_use]
    pub fn write(&self, report: &mut TraceReport) -> String {
        let job = self.job;
        report.job = Some(Box::new(JobComparison {
            file: self.name.to_owned(),
            sections: job.sections.len(),
            job_loop: job.job_loop,
            bytes: job.bytes,
            omissions: job.omissions.clone(),
            differences: Vec::new(),
            volumes: Vec::new(),
            not_simulated: None,
        }));
        job.job_file(&job_comment(report), DATA_FILE)
    }

    /// Adds the differences of the job to the report: on a nominal volume, which is as fast as the device of the trace is
    /// on average, its load is characterized as that of the trace was; on other volumes the trace is replayed and the job
    /// simulated. `path` is that of the trace for replays, or the reason why there is none.
    ///
    /// # Errors
    ///
    /// Returns why the job could not run.
    pub fn compare(
        &self,
        text: &str,
        path: Result<&str, String>,
        report: &mut TraceReport,
        runner: &ModelRunner<Virtual>,
        control: &dyn RunControl,
    ) -> Result<(), SynthesisRunError> {
        let plan = plan_on(text, &nominal_volume(&report.profile, self.job.bytes));
        let profile = measure::characterize_plan(&plan.map_err(SynthesisRunError::Problems)?, runner, control)?;
        let differences = load_distance(&report.profile, &profile);
        let volumes = match &path {
            Ok(path) => {
                let compared = ComparedTrace { path, window: report.window, job: self.job, job_file: text };
                compared.on_volumes(&comparison_volumes(&report.profile, self.job), runner, control)?
            }
            Err(_) => Vec::new(),
        };
        if let Some(comparison) = &mut report.job {
            comparison.differences = differences;
            comparison.volumes = volumes;
            comparison.not_simulated = path.err();
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
