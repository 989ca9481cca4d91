//! The files that the jobs of a plan write besides their data, each entered into the write gate's register of outputs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use engine::gate::{claim_output, owner_of_output};
use job::{EngineKind, Plan, TraceMerge};
use meter::LogKind;
use runner::{LogPlan, PlannedLog, WorkerPlan};
use units::{Problem, ProblemCode};

use crate::attributes::{self, CommandTime};
use crate::{iolog, safety, verify_files};

/// Enters the outputs of a plan into the register, and returns a refusal for each that another output writes, or
/// that the process reads or measures. Workers write the states of verification to `states`.
#[must_use]
pub fn refusals(plan: &Plan, workers: &[WorkerPlan], states: &Path) -> Vec<Problem> {
    let mut outputs = PlannedOutputs::of(plan);
    for worker in workers {
        outputs.add_worker(worker, states);
    }
    let refusal = |(path, owner): (String, String)| {
        claim_output(Path::new(&path), &owner).err().map(|denied| denied.of_output(owner))
    };
    outputs.outputs.into_iter().filter_map(refusal).collect()
}

/// Returns a refusal for each file of a job that is an output. The gate refuses existing files of jobs that write.
pub(crate) fn files_refused(plan: &Plan, workers: &[WorkerPlan]) -> Vec<Problem> {
    let mut files = BTreeSet::new();
    for worker in workers {
        let changes = safety::changes_targets(&plan.jobs[worker.job]);
        let checked = worker.files.files.iter().filter(|file| !changes || file.existing.is_none());
        files.extend(checked.map(|file| &*file.path));
    }
    let refusal = |path: &str| {
        let owner = owner_of_output(Path::new(path))?;
        Some(
            Problem::error(ProblemCode::Output, format!("{path}: file of a job, but {owner} writes to it"))
                .help("use another file for one of them"),
        )
    };
    files.into_iter().filter_map(refusal).collect()
}

/// Outputs of a plan: paths with the options that name them.
struct PlannedOutputs<'a> {
    plan: &'a Plan,
    /// Number of jobs of each name.
    names: BTreeMap<&'a str, usize>,
    outputs: Vec<(String, String)>,
}

impl<'a> PlannedOutputs<'a> {
    fn of(plan: &'a Plan) -> Self {
        let mut names = BTreeMap::new();
        plan.jobs.iter().for_each(|job| *names.entry(&*job.name).or_default() += 1);
        let merges = plan.jobs.iter().filter_map(|job| job.replay.as_ref()?.merge.as_ref());
        Self { plan, names, outputs: merges.map(|merge| (merge.file.clone(), merge_owner(merge))).collect() }
    }

    /// Returns the name of a worker's job, with its number if others have the same name.
    fn name(&self, worker: &WorkerPlan) -> String {
        let name = &self.plan.jobs[worker.job].name;
        match self.names[&**name] {
            1 => format!("job `{name}`"),
            _ => format!("job {} `{name}`", worker.job + 1),
        }
    }

    fn add_worker(&mut self, worker: &WorkerPlan, states: &Path) {
        let job = &self.plan.jobs[worker.job];
        let mut added = Vec::new();
        if let Some(logs) = LogPlan::of(job, worker.number, None) {
            added.extend(logs.files.iter().map(|file| (file.path.clone(), self.log_owner(worker, &logs, file))));
        }
        let mut own = |path: Option<String>, option: &str| {
            added.extend(path.map(|path| (path, format!("{option} of {}", self.name(worker)))));
        };
        own(iolog::path(worker, job), "write_iolog");
        own(verify_files::state_path(states, worker, job), "verify_state_save");
        // As in fio, jobs of one name share these files.
        for (time, option) in [(CommandTime::Before, "exec_prerun"), (CommandTime::After, "exec_postrun")] {
            added.extend(attributes::output_path(worker, job, time).map(|path| (path, option.to_owned())));
        }
        if job.engine.kind == EngineKind::Exec && job.engine.program.redirects {
            let streams = ["stdout", "stderr"].map(|stream| attributes::stream_path(worker, job, stream));
            added.extend(streams.map(|path| (path, "std_redirect".to_owned())));
        }
        self.outputs.extend(added);
    }

    /// Returns the owner of a log. Workers that share one write it together.
    fn log_owner(&self, worker: &WorkerPlan, logs: &LogPlan, file: &PlannedLog) -> String {
        let option = match file.kind {
            LogKind::Submission | LogKind::Service | LogKind::Latency => "write_lat_log",
            LogKind::Bandwidth => "write_bw_log",
            LogKind::Iops => "write_iops_log",
            LogKind::Histogram => "write_hist_log",
        };
        if logs.shared { format!("{option} with per_job_logs=0") } else { format!("{option} of {}", self.name(worker)) }
    }
}

/// Returns the owner of a merged trace: jobs that merge the same traces write the same file.
fn merge_owner(merge: &TraceMerge) -> String {
    let inputs: Vec<&str> = merge.inputs.iter().map(|input| &*input.trace).collect();
    format!("merge_blktrace_file of {}", inputs.join(":"))
}
