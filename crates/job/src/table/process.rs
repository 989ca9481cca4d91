//! Options of names, clones, groups and processors.

use super::spec::OptionKind::{Bool, Flag, Int, Long, Text, Word};
use super::spec::{ANY, OptionSpec, accepted, flag, int, later, special, text, word};
use crate::draft::JobDraft;
use crate::read::{Findings, lists};

pub(super) static OPTIONS: &[OptionSpec] = &[
    text("name", "Name of the job; on the command line it begins a new job.", |d, name| d.name = Some(name.to_owned())),
    text("description", "A remark that is repeated in the results.", |d, words| {
        d.job.description = Some(words.to_owned());
    }),
    int("numjobs", (0, ANY), "How many workers run this job, each on its own.", |d, n| {
        d.job.grouping.numjobs = n as u32;
    })
    .default("1"),
    int("loops", (0, ANY), "How often the job is repeated.", |d, n| d.job.extent.loops = n as u32).default("1"),
    flag("thread", "Workers are threads instead of processes; in Fathom they always are.", |d, on| {
        d.job.grouping.thread = on;
    }),
    flag("stonewall", "Wait until all jobs written before this one have ended.", |d, on| d.job.grouping.stonewall = on)
        .alias(&["wait_for_previous"]),
    flag("new_group", "Begin a new group of results without waiting.", |d, on| d.job.grouping.new_group = on),
    flag("group_reporting", "Merge the results of neighbouring jobs of one group.", |d, on| {
        d.job.grouping.group_reporting = on;
    }),
    flag("exitall", "The end of this job ends the others.", |d, on| d.job.grouping.exitall = on),
    later("exit_what", Word(&["group", "stonewall", "all"]), "Which jobs `exitall` ends.").default("group"),
    later("exitall_on_error", Flag, "An error in this job ends all jobs."),
    later("wait_for", Text, "Start when the job of this name has ended."),
    special("cpus_allowed", Text, cpus_allowed, "Processors that the workers may run on, such as `0-3,5`."),
    word(
        "cpus_allowed_policy",
        &["shared", "split"],
        "All processors for all workers, or one for each.",
        |d, w, _, _| d.job.grouping.cpus_split = w == "split",
    ),
    later("cpumask", Int(0, ANY), "Processors that the workers may run on, as a bit mask."),
    later("numa_cpu_nodes", Text, "Memory nodes on whose processors the workers run."),
    later("numa_mem_policy", Text, "Memory nodes from which the workers get memory."),
    later("nice", Int(-20, 19), "The workers' priority for the processor.").default("0"),
    later("prio", Int(0, 7), "Priority of the job's operations within their class."),
    later("prioclass", Int(0, 3), "Class of priority of the job's operations."),
    later("priohint", Int(0, 1023), "Hint that goes with the priority of the job's operations."),
    later("ioscheduler", Text, "Switch the device to this scheduler before the job."),
    later("cgroup", Text, "Put the job into this control group."),
    later("cgroup_weight", Int(100, 1000), "Weight of that control group."),
    later("cgroup_nodelete", Bool, "Leave the control group behind.").default("0"),
    later("uid", Int(0, ANY), "Run the job as this user."),
    later("gid", Int(0, ANY), "Run the job as this group."),
    later("exec_prerun", Text, "Run this command before the job."),
    later("exec_postrun", Text, "Run this command after the job."),
    accepted(
        "comm",
        Text,
        "Name of the worker in the system's list of processes.",
        "Fathom's workers are threads of one process",
    ),
    later("lockmem", Long(0), "Keep this much memory locked while the job runs.").default("0"),
    later(
        "profile",
        Word(&["tiobench", "act"]),
        "Run one of the built-in procedures instead of jobs; see `fathom suite`.",
    ),
    later("flow_id", Int(0, ANY), "Which flow the job belongs to.").default("0"),
    later("flow", Int(0, 1000), "Share of operations among the jobs of one flow.").default("0"),
    later("flow_sleep", Int(0, ANY), "How long to sleep when ahead of the flow, in microseconds.").default("0"),
];

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
