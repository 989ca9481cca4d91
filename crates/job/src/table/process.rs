//! Options of names, clones, groups and processors.

use super::spec::OptionKind::{Bool, Flag, Int, Long, Text, Word};
use super::spec::{ANY, OptionSpec, Status, accepted, flag, int, later, special, text, word};
use crate::draft::JobDraft;
use crate::read::{Findings, lists};

pub(super) static OPTIONS: &[OptionSpec] = &[
    text("name", "Name of the job; on the command line, it starts a new job.", |d, name| {
        d.name = Some(name.to_owned());
    }),
    text("description", "Description of the job, repeated in the results.", |d, words| {
        d.job.description = Some(words.to_owned());
    }),
    int("numjobs", (0, ANY), "Number of workers that run this job independently.", |d, n| {
        d.job.grouping.numjobs = n as u32;
    })
    .default("1"),
    int("loops", (0, ANY), "Number of repetitions of the job.", |d, n| d.job.extent.loops = n as u32).default("1"),
    flag("thread", "Use threads instead of processes; Fathom always does.", |d, on| {
        d.job.grouping.thread = on;
    }),
    flag("stonewall", "Start after all preceding jobs have finished.", |d, on| d.job.grouping.stonewall = on)
        .alias(&["wait_for_previous"]),
    flag("new_group", "Start a new reporting group without waiting.", |d, on| d.job.grouping.new_group = on),
    flag("group_reporting", "Merge the results of adjacent jobs of one group.", |d, on| {
        d.job.grouping.group_reporting = on;
    }),
    flag("exitall", "End all other jobs when this job ends.", |d, on| d.job.grouping.exitall = on),
    later("exit_what", Word(&["group", "stonewall", "all"]), "Jobs that `exitall` ends.").default("group"),
    later("exitall_on_error", Flag, "End all jobs on an error in this job."),
    later("wait_for", Text, "Start after the job of this name has finished."),
    special("cpus_allowed", Text, cpus_allowed, "CPUs that the workers may run on, such as `0-3,5`."),
    word(
        "cpus_allowed_policy",
        &["shared", "split"],
        "Share the CPUs among all workers, or give each worker one.",
        |d, w, _, _| d.job.grouping.cpus_split = w == "split",
    ),
    special(
        "ranks",
        Text,
        ranks,
        "Ranks of a run on many hosts, or simulated hosts, that run the job, such as `0-3,5`.",
    )
    .status(Status::OfFathom),
    text(
        "rank_hosts",
        "Hosts, real or simulated, whose ranks run the job, in a run on many hosts, such as `db*,web1`.",
        |d, text| {
            d.job.ranks.hosts =
                text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
        },
    )
    .status(Status::OfFathom),
    later("cpumask", Int(0, ANY), "CPUs that the workers may run on, as a bit mask."),
    later("numa_cpu_nodes", Text, "NUMA nodes whose CPUs run the workers."),
    later("numa_mem_policy", Text, "NUMA nodes and policy for the workers' memory."),
    later("nice", Int(-20, 19), "CPU priority (nice value) of the workers.").default("0"),
    later("prio", Int(0, 7), "I/O priority within its class."),
    later("prioclass", Int(0, 3), "I/O priority class."),
    later("priohint", Int(0, 1023), "I/O priority hint."),
    later("ioscheduler", Text, "Switch the device to this I/O scheduler before the job."),
    later("cgroup", Text, "Put the job into this control group."),
    later("cgroup_weight", Int(100, 1000), "Weight of that control group."),
    later("cgroup_nodelete", Bool, "Keep the control group after the job.").default("0"),
    later("uid", Int(0, ANY), "Run the job as this user."),
    later("gid", Int(0, ANY), "Run the job as this group."),
    later("exec_prerun", Text, "Run this command before the job."),
    later("exec_postrun", Text, "Run this command after the job."),
    accepted("comm", Text, "Process name of the worker.", "Fathom's workers are threads of one process"),
    later("lockmem", Long(0), "Lock this many bytes of memory during the job.").default("0"),
    later("profile", Word(&["tiobench", "act"]), "Run a built-in procedure instead of jobs; see `fathom suite`."),
    later("flow_id", Int(0, ANY), "Flow that the job belongs to.").default("0"),
    later("flow", Int(0, 1000), "Weight of the job within its flow.").default("0"),
    later("flow_sleep", Int(0, ANY), "Time to sleep when ahead of the flow, in microseconds.").default("0"),
];

fn ranks(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    match crate::model::RankRanges::parse(text) {
        Ok(ranges) => draft.job.ranks.ranks = ranges,
        Err(problem) => {
            findings.fault(0..text.len(), "rank-list", problem).remedy("write for example `ranks=0-3,5`");
        }
    }
}

fn cpus_allowed(draft: &mut JobDraft, text: &str, findings: &mut Findings) {
    if let Some(cpus) = lists::processors(text, findings) {
        if cpus.is_empty() && findings.items.is_empty() {
            findings
                .quirk(0..text.len(), "cpu-list", "no processor is named")
                .note("fio fails when the job starts")
                .remedy("write for example `cpus_allowed=0-3,5`");
        }
        draft.job.grouping.cpus_allowed = Some(cpus);
    }
}
