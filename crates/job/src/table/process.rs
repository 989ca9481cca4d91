//! Options of names, clones, groups and CPUs.

use super::spec::OptionKind::{Int, Text, Word};
use units::{Bytes, Nanos, ProblemCode};

use super::spec::{ANY, OptionSpec, Status, accepted, flag, int, long, special, switch, text, word};
use crate::draft::JobDraft;
use crate::model::{ExitScope, NumaMemory, NumaNodes};
use crate::read::{Findings, lists};

pub(super) static OPTIONS: &[OptionSpec] = &[
    text("name", "Name of the job; on the command line, it starts a new job.", |d, name| {
        d.name = Some(name.to_owned());
    }),
    text("description", "Description of the job, included in the results.", |d, words| {
        d.job.description = Some(words.to_owned());
    }),
    int("numjobs", (0, ANY), "Number of workers that each run this job.", |d, n| {
        d.job.grouping.numjobs = n as u32;
    })
    .default("1"),
    int("loops", (0, ANY), "Number of times to run the job.", |d, n| d.job.extent.loops = n as u32).default("1"),
    flag("thread", "Use threads instead of processes; Fathom always does.", |d, on| {
        d.job.grouping.thread = on;
    }),
    flag("stonewall", "Start after all preceding jobs have finished.", |d, on| d.job.grouping.stonewall = on)
        .alias(&["wait_for_previous"]),
    flag("new_group", "Start a new reporting group without waiting.", |d, on| d.job.grouping.new_group = on),
    flag("group_reporting", "Merge the results of adjacent jobs of one group.", |d, on| {
        d.job.grouping.group_reporting = on;
    }),
    flag("exitall", "Stop all other jobs when this job ends.", |d, on| d.job.grouping.exitall = on),
    word(
        "exit_what",
        &["group", "stonewall", "all"],
        "Jobs that `exitall` stops: the reporting group, all running jobs, or all jobs of the run.",
        |d, w, _, _| {
            d.job.grouping.exit_what = match w {
                "stonewall" => ExitScope::Stonewall,
                "all" => ExitScope::All,
                _ => ExitScope::Group,
            };
        },
    )
    .default("group"),
    flag("exitall_on_error", "Stop other jobs if this job fails; `exit_what` selects them.", |d, on| {
        d.job.grouping.exitall_on_error = on;
    }),
    text("wait_for", "Start after all workers of the preceding job with this name have finished.", |d, name| {
        d.job.grouping.wait_for = (!name.is_empty()).then(|| name.to_owned());
    }),
    special("cpus_allowed", Text, cpus_allowed, "CPUs that the workers may run on, such as `0-3,5`."),
    word(
        "cpus_allowed_policy",
        &["shared", "split"],
        "Share the CPUs among all workers, or assign one to each worker.",
        |d, w, _, _| d.job.grouping.cpus_split = w == "split",
    ),
    special("ranks", Text, ranks, "Ranks (or simulated hosts) that run the job, such as `0-3,5`.")
        .status(Status::OfFathom),
    text("rank_hosts", "Hosts, real or simulated, that run the job, such as `db*,web1`.", |d, text| {
        d.job.ranks.hosts =
            text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    })
    .status(Status::OfFathom),
    special("cpumask", Int(0, ANY), cpumask, "CPUs that the workers may run on, as a bit mask."),
    special("numa_cpu_nodes", Text, numa_cpu_nodes, "NUMA nodes to run the workers on, such as `0-1` or `all`."),
    special(
        "numa_mem_policy",
        Text,
        numa_mem_policy,
        "Memory policy of the workers: `default`, `local`, `prefer:NODE`, `bind:NODES` or `interleave:NODES`.",
    ),
    int("nice", (-20, 19), "Increment of the workers' CPU priority (nice value).", |d, n| {
        d.job.host.nice = Some(n as i32);
    })
    .default("0"),
    int("prio", (0, 7), "I/O priority within its class, 0 the highest.", |d, n| {
        d.job.host.io_priority.get_or_insert_default().level = n as u8;
    }),
    int("prioclass", (0, 3), "I/O priority class: 1 real time, 2 best effort, 3 idle.", |d, n| {
        d.job.host.io_priority.get_or_insert_default().class = n as u8;
    }),
    int("priohint", (0, 1023), "I/O priority hint.", |d, n| {
        d.job.host.io_priority.get_or_insert_default().hint = n as u16;
    }),
    text("ioscheduler", "Switch the devices to this I/O scheduler before the job.", |d, name| {
        d.job.host.io_scheduler = (!name.is_empty()).then(|| name.to_owned());
    }),
    text(
        "cgroup",
        "Put the workers into this control group of the `blkio` controller, creating it if missing.",
        |d, name| {
            name.clone_into(&mut d.job.host.control_group.name);
        },
    ),
    int("cgroup_weight", (100, 1000), "Block I/O weight of that control group.", |d, n| {
        d.job.host.control_group.weight = Some(n as u32);
    }),
    switch("cgroup_nodelete", "0", "Keep the control group after the job.", |d, on| {
        d.job.host.control_group.is_kept = on;
    }),
    int("uid", (0, ANY), "Run the workers as this user.", |d, n| d.job.host.uid = Some(n as u32)),
    int("gid", (0, ANY), "Run the workers as this group.", |d, n| d.job.host.gid = Some(n as u32)),
    text(
        "exec_prerun",
        "Shell command to run before each worker; its output goes to NAME.prerun.txt.",
        |d, command| {
            d.job.host.before = (!command.is_empty()).then(|| command.to_owned());
        },
    ),
    text(
        "exec_postrun",
        "Shell command to run after each worker; its output goes to NAME.postrun.txt.",
        |d, command| {
            d.job.host.after = (!command.is_empty()).then(|| command.to_owned());
        },
    ),
    accepted("comm", Text, "Process name of the worker.", "Fathom's workers are threads of one process"),
    long("lockmem", 0, "Memory that each worker locks while it runs, to shrink the page cache.", |d, n| {
        d.job.host.lockmem = Bytes::new(n);
    })
    .default("0"),
    accepted(
        "profile",
        Word(&["tiobench", "act"]),
        "Run the jobs of a profile; command line only.",
        "fio ignores it in a job, too; write `fathom fio --profile=NAME`",
    ),
    int("flow_id", (0, ANY), "Flow that the job belongs to.", |d, n| d.job.pace.flow.id = n as u32).default("0"),
    int("flow", (0, 1000), "Weight of the job within its flow; 0 for none.", |d, n| {
        d.job.pace.flow.weight = n as u32;
    })
    .default("0"),
    int("flow_sleep", (0, ANY), "Time to sleep when ahead of the flow, in microseconds.", |d, n| {
        d.job.pace.flow.pause = Nanos::from_micros(n);
    })
    .default("0"),
];

fn ranks(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    match crate::model::RankRanges::parse(text) {
        Ok(ranges) => draft.job.ranks.ranks = ranges,
        Err(problem) => {
            findings.fault(0..text.len(), ProblemCode::Ranks, problem.what).help("write for example `ranks=0-3,5`");
        }
    }
}

fn cpus_allowed(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    if let Some(cpus) = lists::processors(text, findings) {
        if cpus.is_empty() && findings.items.is_empty() {
            findings
                .quirk(0..text.len(), ProblemCode::ListElement, "no CPU is named")
                .note("fio fails when the job starts")
                .help("write for example `cpus_allowed=0-3,5`");
        }
        draft.job.grouping.cpus_allowed = Some(cpus);
    }
}

/// Sets the CPUs from a mask of 32 bits.
fn cpumask(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    let digits = text.trim();
    let mask = match digits.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let Ok(mask) = mask else {
        findings
            .fault(0..text.len(), ProblemCode::ListElement, format!("`{text}` is not a 32-bit mask"))
            .help("write for example `cpumask=0x5` for CPUs 0 and 2, or `cpus_allowed=0,2`");
        return;
    };
    draft.job.grouping.cpus_allowed = Some((0..32).filter(|cpu| mask >> cpu & 1 == 1).collect());
}

fn numa_cpu_nodes(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    draft.job.host.numa_cpu_nodes = lists::numa_nodes(text, findings);
}

fn numa_mem_policy(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    let (mode, nodes) = text.split_once(':').unwrap_or((text, ""));
    let start = text.len() - nodes.len();
    let mut list = || findings.within(start, |findings| lists::numa_nodes(nodes, findings));
    let policy = match mode {
        "default" => Some(NumaMemory::Default),
        "local" => Some(NumaMemory::Local),
        "bind" => list().map(NumaMemory::Bind),
        "interleave" => list().map(NumaMemory::Interleave),
        "prefer" => match list() {
            Some(NumaNodes::Only(nodes)) if nodes.len() == 1 => Some(NumaMemory::Prefer(nodes[0])),
            None => None,
            Some(_) => {
                findings
                    .fault(0..text.len(), ProblemCode::UnknownValue, "`prefer` takes one node")
                    .help("write for example `prefer:0`, or `interleave:0-1`");
                None
            }
        },
        _ => {
            findings
                .fault(0..mode.len(), ProblemCode::UnknownValue, format!("`{mode}` is not a memory policy"))
                .help("write `default`, `local`, `prefer:NODE`, `bind:NODES` or `interleave:NODES`");
            None
        }
    };
    draft.job.host.numa_memory = policy;
}
