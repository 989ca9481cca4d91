//! How work is spread over processors and memory nodes.

use std::collections::BTreeSet;

use super::super::check::Check;
use super::super::facts::{Disk, Host, Unread, Why};
use super::super::finding::{Case, Change, Finding, State, Value, Want, word};
use super::judge;
use super::queue::set;

pub(super) fn all(disk: &Disk, host: &Host) -> Vec<Finding> {
    let mut findings = vec![hardware_queues(disk, host), rq_affinity(disk, host)];
    findings.extend(queue_spread(disk, host));
    findings.extend(interrupt_spread(disk, host));
    findings.extend(numa_node(disk, host));
    findings
}

fn cpus(host: &Host) -> u64 {
    host.online_cpus.as_ref().map_or(1, |cpus| cpus.len().max(1) as u64)
}

/// From so many processors on a single queue is what they all wait for.
const MANY_CPUS: u64 = 8;
/// So many processors may share one of several queues.
const CPUS_PER_QUEUE: u64 = 4;

fn hardware_queues(disk: &Disk, host: &Host) -> Finding {
    let legacy = disk.scheduler.as_ref().is_ok_and(|(_, all)| all.iter().any(|name| name == "noop" || name == "cfq"));
    if disk.hardware_queues.is_err() && legacy {
        let finding = Finding::new(Check::HardwareQueues, &disk.name).case(Case::Legacy).and("queue", Value::Count(1));
        let finding = finding.iops(State::Problem, Want::AtLeast(Value::Count(cpus(host))));
        return finding.change(Change::KernelParameter { parameter: "scsi_mod.use_blk_mq=Y".to_owned() });
    }
    judge(Check::HardwareQueues, &disk.name, &disk.hardware_queues, |queues, finding| {
        let (queues, cpus) = (queues.len() as u64, cpus(host));
        let finding = finding
            .and(if queues == 1 { "queue" } else { "queues" }, Value::Count(queues))
            .and("CPUs", Value::Count(cpus));
        let state = match queues {
            _ if disk.is_mechanical() || queues >= cpus => return finding,
            1 if cpus >= MANY_CPUS => State::Problem,
            queues if queues > 1 && queues * CPUS_PER_QUEUE >= cpus => return finding,
            _ => State::CouldBeBetter,
        };
        let case = if disk.is_virtual() { Case::Virtual } else { Case::Hardware };
        finding.case(case).iops(state, Want::AtLeast(Value::Count(cpus)))
    })
}

fn queue_spread(disk: &Disk, host: &Host) -> Option<Finding> {
    let queues = disk.hardware_queues.as_ref().ok().filter(|queues| queues.len() > 1)?;
    let online = host.online_cpus.as_ref().ok()?;
    let served: BTreeSet<u32> = queues.iter().flatten().copied().collect();
    let unserved = online.iter().filter(|cpu| !served.contains(cpu)).count() as u64;
    // Processors that do not exist do not count.
    let there = |queue: &Vec<u32>| queue.iter().filter(|cpu| online.contains(cpu)).count() as u64;
    let most = queues.iter().map(there).max().unwrap_or(0);
    let fair = (online.len() as u64).div_ceil(queues.len() as u64);
    let finding = Finding::new(Check::QueueSpread, &disk.name)
        .and(if most == 1 { "CPU to a queue" } else { "CPUs to a queue" }, Value::Count(most));
    let finding = if unserved > 0 { finding.and("CPUs have none", Value::Count(unserved)) } else { finding };
    Some(if unserved > 0 || most > 2 * fair {
        finding.iops(State::CouldBeBetter, Want::AtMost(Value::Count(fair)))
    } else {
        finding
    })
}

fn interrupt_spread(disk: &Disk, host: &Host) -> Option<Finding> {
    // Virtual and stacked devices have none of their own.
    let missing = matches!(&disk.interrupts, Err(Unread { why: Why::Missing | Why::Empty, .. }));
    if missing {
        return None;
    }
    Some(judge(Check::InterruptSpread, &disk.name, &disk.interrupts, |interrupts, finding| {
        let handling: BTreeSet<u32> = interrupts.iter().flat_map(|interrupt| &interrupt.cpus).copied().collect();
        let (irqs, handling, cpus) = (interrupts.len() as u64, handling.len() as u64, cpus(host));
        let finding = finding
            .and(if irqs == 1 { "interrupt" } else { "interrupts" }, Value::Count(irqs))
            .and(if handling == 1 { "CPU" } else { "CPUs" }, Value::Count(handling));
        let possible = irqs.min(cpus);
        let (iops, throughput) = match handling {
            _ if possible <= 1 || handling * 2 > possible => return finding,
            1 => (State::Problem, State::CouldBeBetter),
            _ => (State::CouldBeBetter, State::Good),
        };
        let want = || Want::AtLeast(Value::Count(possible));
        let finding = finding.iops(iops, want()).throughput(throughput, want());
        if disk.is_nvme() {
            return finding.case(Case::Managed);
        }
        let online = host.online_cpus.clone().unwrap_or_default();
        let pairs = interrupts.iter().zip(online.iter().cycle()).map(|(irq, cpu)| (irq.number, *cpu)).collect();
        finding.change(Change::Interrupts { pairs })
    }))
}

fn rq_affinity(disk: &Disk, host: &Host) -> Finding {
    judge(Check::RqAffinity, &disk.name, &disk.rq_affinity, |&affinity, finding| {
        let finding = finding.found(Value::Count(affinity));
        let cpus = cpus(host);
        let queues = disk.hardware_queues.as_ref().map_or(cpus, |queues| queues.len() as u64);
        if cpus == 1 || disk.is_mechanical() {
            return finding;
        }
        // One interrupt for many processors: only 2 spreads what it brings over those that asked.
        if affinity < 2 && queues < cpus && cpus >= CPUS_PER_QUEUE {
            let finding = finding.iops(State::CouldBeBetter, Want::Is(Value::Count(2)));
            return finding.change(set(disk, "rq_affinity", "2"));
        }
        if affinity == 0 {
            let finding = finding.case(Case::Low).iops(State::CouldBeBetter, Want::AtLeast(Value::Count(1)));
            return finding.change(set(disk, "rq_affinity", "1"));
        }
        finding
    })
}

fn numa_node(disk: &Disk, host: &Host) -> Option<Finding> {
    let nodes = host.nodes.as_ref().ok().filter(|nodes| nodes.len() > 1)?;
    Some(judge(Check::NumaNode, &disk.name, &disk.node, |node, finding| {
        let Some(node) = *node else {
            let finding = finding.both(State::Unknown, Want::Any);
            return Finding { unknown: Some(untold(disk)), ..finding };
        };
        let finding = finding.found(word(&format!("node {node}")));
        let local =
            nodes.iter().find(|(number, _)| *number == node).map(|(_, cpus)| cpus.as_slice()).unwrap_or_default();
        let allowed = host.allowed_cpus.as_ref().map_or(&[][..], Vec::as_slice);
        if allowed.is_empty() || local.is_empty() || allowed.iter().any(|cpu| local.contains(cpu)) {
            return finding;
        }
        let finding = finding.iops(State::CouldBeBetter, Want::Is(word(&format!("node {node}"))));
        finding.change(Change::BindToNode { node })
    }))
}

/// What a device says that knows of no node.
fn untold(disk: &Disk) -> Unread {
    Unread { path: format!("/sys/class/block/{}/device/numa_node", disk.name), why: Why::Foreign("-1".to_owned()) }
}
