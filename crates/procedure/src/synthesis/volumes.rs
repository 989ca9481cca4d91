//! Rate and latency of a trace and of its job on modelled volumes.

use job::{EmptySource, JobArguments, Plan, ReplayFacts};
use record::Run;
use runner::{NullObserver, RunControl, RunOptions, Runner, Seeds};
use trace::{JobLoop, LoadLatency, SynthesizedJob, TraceProfile, TraceWindow, VolumeComparison};
use units::Problem;

use super::measure::{load_latency, plan_on, run_plan};

/// Largest volume in bytes; replays scale traces that need more.
const BYTES_MAX: u64 = 64 << 40;
/// Returns a network volume with an even limit, one with a low limit, and a local drive, for some bytes.
pub(super) fn comparison_volumes(trace: &TraceProfile, job: &SynthesizedJob) -> Vec<String> {
    const GIB: u64 = 1 << 30;
    const DISKS: [u64; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 16, 24];
    let used = trace.devices.iter().fold(0u64, |sum, device| sum.saturating_add(device.end_offset));
    let bytes = used.min(BYTES_MAX / 2).max(job.bytes.min(BYTES_MAX));
    let gib = bytes.div_ceil(GIB) + 1;
    let disks = DISKS.into_iter().find(|disks| disks * 375 >= gib).unwrap_or(24);
    vec![
        format!("gcp/pd-ssd,size={}GiB", gib.max(500)),
        format!("aws/gp3,size={}GiB", gib.max(100)),
        format!("gcp/local-ssd-nvme,disks={disks}"),
    ]
}

/// A trace to be compared with its job.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComparedTrace<'a> {
    /// Path from which runners open it.
    pub(super) path: &'a str,
    /// Part of it that the job is for.
    pub(super) window: TraceWindow,
    pub(super) job: &'a SynthesizedJob,
    /// The text of the job.
    pub(super) job_file: &'a str,
}

impl ComparedTrace<'_> {
    /// Replays the trace on each volume, and simulates the job there. Ends early if `control` ends.
    ///
    /// # Errors
    ///
    /// Returns why the trace or the job could not run.
    pub(super) fn on_volumes(
        &self,
        volumes: &[String],
        runner: &dyn Runner,
        control: &dyn RunControl,
    ) -> Result<Vec<VolumeComparison>, Vec<Problem>> {
        let mut facts = None;
        let mut all = Vec::new();
        for volume in volumes {
            if control.end().is_some() {
                break;
            }
            let trace = self.replay(volume, &mut facts, runner, control)?;
            let plan = plan_on(self.job_file, volume)?;
            let job = load_latency(&run_plan(&plan, runner, control)?);
            all.push(VolumeComparison { volume: volume.clone(), trace, job });
        }
        Ok(all)
    }

    /// Replays the trace. It is read for its facts once only.
    fn replay(
        &self,
        volume: &str,
        facts: &mut Option<ReplayFacts>,
        runner: &dyn Runner,
        control: &dyn RunControl,
    ) -> Result<LoadLatency, Vec<Problem>> {
        let mut plan = self.replay_plan(volume)?;
        for replay in plan.jobs.iter_mut().filter_map(|job| job.replay.as_mut()) {
            replay.facts.clone_from(facts);
        }
        let prepared = runner.prepare(&plan, Seeds::fixed(Seeds::REPEATED))?;
        *facts = prepared.plan().jobs.iter().find_map(|job| job.replay.as_ref()?.facts.clone());
        let completed = prepared.run(&RunOptions::default(), control, &mut NullObserver);
        let run: Run = completed?.run;
        Ok(load_latency(&run))
    }

    fn replay_plan(&self, volume: &str) -> Result<Plan, Vec<Problem>> {
        let job_loop = match self.job.job_loop {
            JobLoop::Open => "open",
            JobLoop::Closed => "closed",
        };
        let mut words =
            vec!["--name=replay".to_owned(), format!("--replay={}", self.path), format!("--replay_loop={job_loop}")];
        let TraceWindow { from_ns, end_ns } = self.window;
        if from_ns > 0 {
            words.push(format!("--replay_start={}us", from_ns / 1000));
        }
        if end_ns < u64::MAX {
            words.push(format!("--replay_for={}us", end_ns.saturating_sub(from_ns).div_ceil(1000)));
        }
        let around = crate::jobs::around(Some(volume));
        let arguments = JobArguments { words: &words, sections: &[], around: &around, source: &EmptySource };
        job::parse_on_hosts(arguments, None, None).into_result().map(|(plan, _)| plan)
    }
}
