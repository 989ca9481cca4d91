//! Attributes of the threads of workers, and what happens around them: commands, I/O schedulers.

use std::path::Path;
use std::process::{Command, Stdio};

use engine::attributes::LockedMemory;
use engine::gate::{Existing, create_output};
use job::{Job, NumaMemory, NumaNodes};
use runner::{WorkerError, WorkerPlan};
use units::{Bytes, Problem, ProblemCode};

use crate::control_groups;
use crate::shared_run::worker_error;

/// Checks that the CPUs and NUMA nodes of a job exist: it was perhaps written for another host. fio does too.
pub(crate) fn check(job: &Job) -> Result<(), Problem> {
    let last = engine::last_processor();
    if let Some(cpu) = job.grouping.cpus_allowed.iter().flatten().find(|&&cpu| cpu > last) {
        return Err(job
            .unfit("cpus_allowed", format_args!("this host has no CPU {cpu}"))
            .help(format!("use CPUs 0 to {last}")));
    }
    control_groups::check(&job.host.control_group).map_err(|problem| job.unfit_because("cgroup", problem))?;
    let memory_nodes = match &job.host.numa_memory {
        Some(NumaMemory::Prefer(node)) => Some(&NumaNodes::Only(vec![*node])),
        Some(NumaMemory::Bind(nodes) | NumaMemory::Interleave(nodes)) => Some(nodes),
        Some(NumaMemory::Default | NumaMemory::Local) | None => None,
    };
    let named = [("numa_cpu_nodes", job.host.numa_cpu_nodes.as_ref()), ("numa_mem_policy", memory_nodes)];
    for (option, nodes) in named.into_iter().filter_map(|(option, nodes)| Some((option, nodes?))) {
        nodes_of(nodes).map_err(|problem| job.unfit_because(option, problem))?;
    }
    Ok(())
}

/// Returns NUMA nodes with their CPUs.
fn nodes_of(nodes: &NumaNodes) -> Result<Vec<(u32, Vec<u32>)>, Problem> {
    let all = probe::nodes(Path::new("/")).map_err(|unread| {
        let what = format!("cannot read the NUMA nodes of this host from {}", unread.path);
        Problem::error(ProblemCode::Host, what)
    })?;
    let NumaNodes::Only(asked) = nodes else { return Ok(all) };
    if let Some(node) = asked.iter().find(|node| !all.iter().any(|(number, _)| number == *node)) {
        let known: Vec<_> = all.iter().map(|(number, _)| number.to_string()).collect();
        return Err(Problem::error(ProblemCode::Host, format!("this host has no NUMA node {node}"))
            .help(format!("use one of {}", known.join(","))));
    }
    Ok(all.into_iter().filter(|(number, _)| asked.contains(number)).collect())
}

/// Sets the attributes of the calling thread, which is that of the worker, except its user. Returns the locked memory,
/// to be kept until the worker ends.
pub(crate) fn set(worker_plan: &WorkerPlan, job: &Job) -> Result<Option<LockedMemory>, WorkerError> {
    let host = &job.host;
    pin(worker_plan, job)?;
    if let Some(policy) = &host.numa_memory {
        set_memory_policy(policy)?;
    }
    if let Some(nice) = host.nice {
        engine::attributes::add_nice(nice).map_err(|error| worker_error(&error))?;
    }
    if let Some(priority) = host.raw_io_priority() {
        engine::attributes::set_io_priority(priority).map_err(|error| worker_error(&error))?;
    }
    let locked = (host.lockmem > Bytes::ZERO).then(|| LockedMemory::new(host.lockmem.get()));
    locked.transpose().map_err(|error| worker_error(&error))
}

/// Makes the calling thread run as the user and group of the job.
pub(crate) fn set_user(job: &Job) -> Result<(), WorkerError> {
    engine::attributes::set_user(job.host.uid, job.host.gid).map_err(|error| worker_error(&error))
}

/// Pins a worker to the CPUs that it may use: all of them, or one of them (`cpus_allowed_policy=split`).
fn pin(worker_plan: &WorkerPlan, job: &Job) -> Result<(), WorkerError> {
    let mut allowed = job.grouping.cpus_allowed.clone();
    if allowed.as_ref().is_some_and(Vec::is_empty) {
        return Err(Problem::error(ProblemCode::Host, "cpus_allowed is empty")
            .help("list CPUs, for example cpus_allowed=0-3,5")
            .into());
    }
    if let Some(nodes) = &job.host.numa_cpu_nodes {
        let nodes = nodes_of(nodes)?;
        let on_nodes = |cpu: &u32| nodes.iter().any(|(_, cpus)| cpus.contains(cpu));
        let cpus: Vec<u32> = match allowed {
            Some(allowed) => allowed.into_iter().filter(on_nodes).collect(),
            None => nodes.iter().flat_map(|(_, cpus)| cpus.iter().copied()).collect(),
        };
        if cpus.is_empty() {
            let text = "none of the allowed CPUs is on the nodes in numa_cpu_nodes";
            return Err(Problem::error(ProblemCode::Host, text).help("omit cpus_allowed, or use other nodes").into());
        }
        allowed = Some(cpus);
    }
    let Some(allowed) = &allowed else { return Ok(()) };
    let one = worker_plan.clone as usize % allowed.len();
    let cpus = if job.grouping.cpus_split { &allowed[one..=one] } else { allowed };
    engine::thread::pin(cpus).map_err(|error| worker_error(&error))
}

fn set_memory_policy(policy: &NumaMemory) -> Result<(), WorkerError> {
    let numbers = |nodes: &NumaNodes| -> Result<Vec<u32>, Problem> {
        let nodes = nodes_of(nodes)?;
        Ok(nodes.into_iter().map(|(number, _)| number).collect())
    };
    let nodes = match policy {
        NumaMemory::Default | NumaMemory::Local => Vec::new(),
        NumaMemory::Prefer(node) => vec![*node],
        NumaMemory::Bind(nodes) | NumaMemory::Interleave(nodes) => numbers(nodes)?,
    };
    engine::attributes::set_memory_policy(policy, &nodes).map_err(|error| worker_error(&error))
}

/// Switches the disks below the files of a worker to the scheduler of its job. Files on no disk are left out, as in
/// fio.
pub(crate) fn set_io_scheduler(worker_plan: &WorkerPlan, job: &Job) -> Result<(), WorkerError> {
    let Some(scheduler) = &job.host.io_scheduler else { return Ok(()) };
    let root = Path::new("/");
    for file in &worker_plan.files.files {
        let Some(disk) = probe::disk_under(root, Path::new(&file.path)) else { continue };
        let setting = format!("/sys/block/{}/queue/scheduler", disk.name.replace('/', "!"));
        // Disks without a request queue have no scheduler.
        let Ok(before) = std::fs::read_to_string(&setting) else { continue };
        let is_set = |text: &str| text.trim() == scheduler || text.contains(&format!("[{scheduler}]"));
        if is_set(&before) {
            continue;
        }
        std::fs::write(&setting, scheduler).map_err(|error| {
            let offered = before.trim().replace(['[', ']'], "");
            let problem = Problem::error(ProblemCode::Host, format!("{setting}: cannot set {scheduler}: {error}"))
                .help(format!("available schedulers: {offered}"));
            WorkerError::new(problem, error.raw_os_error())
        })?;
    }
    Ok(())
}

/// When a command of the job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandTime {
    /// Before the worker begins.
    Before,
    /// After the worker has ended.
    After,
}

impl CommandTime {
    /// Returns the job's command of this time, and a word for it.
    fn command(self, job: &Job) -> (Option<&String>, &'static str) {
        match self {
            Self::Before => (job.host.before.as_ref(), "prerun"),
            Self::After => (job.host.after.as_ref(), "postrun"),
        }
    }
}

/// Returns the path of the file for the output of a job's command, as fio names it; `None` without a command.
pub(crate) fn output_path(worker_plan: &WorkerPlan, job: &Job, time: CommandTime) -> Option<String> {
    let (Some(_), word) = time.command(job) else { return None };
    Some(stream_path(worker_plan, job, &format!("{word}.txt")))
}

/// Runs the job's command of this time, if there is one, with its output in a file. The exit code
/// of the command does not matter, as in fio.
pub(crate) fn run_command(worker_plan: &WorkerPlan, job: &Job, time: CommandTime) -> Result<(), WorkerError> {
    let (command, word) = time.command(job);
    let (Some(command), Some(path)) = (command, output_path(worker_plan, job, time)) else { return Ok(()) };
    let output = create_output(Path::new(&path), Existing::Replace)
        .map_err(|denied| Problem::from(denied).of(format_args!("exec_{word}")))?;
    let failed = |error: std::io::Error| {
        let problem = Problem::error(ProblemCode::Host, format!("exec_{word}: cannot run /bin/sh: {error}"))
            .help("check the process limit (ulimit -u)");
        WorkerError::new(problem, error.raw_os_error())
    };
    let errors = output.try_clone().map_err(failed)?;
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(output).stderr(errors);
    shell.status().map_err(failed)?;
    Ok(())
}

/// Returns the path of the file for an output of a worker's program or command, as fio names it; clones have files of their
/// own.
pub(crate) fn stream_path(worker_plan: &WorkerPlan, job: &Job, stream: &str) -> String {
    let name = job.name.replace('/', "_");
    match worker_plan.clone {
        0 => format!("{name}.{stream}"),
        clone => format!("{name}.{clone}.{stream}"),
    }
}
