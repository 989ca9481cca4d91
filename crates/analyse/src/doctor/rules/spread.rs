//! Rules for the distribution of work over CPUs and NUMA nodes.

use std::collections::BTreeSet;

use record::host::{UnreadCause, UnreadFact};

use super::super::check::Check;
use super::super::facts::{DiskFacts, HostFacts};
use super::super::finding::{CheckState, DoctorCase, DoctorFinding, DoctorValue, SettingChange, Want, word};
use super::judge;
use super::queue::set;

pub(super) fn all(disk: &DiskFacts, host: &HostFacts) -> Vec<DoctorFinding> {
    let mut findings = vec![hardware_queues(disk, host), rq_affinity(disk, host)];
    findings.extend(queue_spread(disk, host));
    findings.extend(interrupt_spread(disk, host));
    findings.extend(numa_node(disk, host));
    findings
}

fn cpus(host: &HostFacts) -> u64 {
    host.online_cpus.as_ref().map_or(1, |cpus| cpus.len().max(1) as u64)
}

/// Number of CPUs from which a single hardware queue is a bottleneck.
const MANY_CPUS: u64 = 8;
/// Number of CPUs that may share a hardware queue.
const CPUS_PER_QUEUE: u64 = 4;

fn hardware_queues(disk: &DiskFacts, host: &HostFacts) -> DoctorFinding {
    let legacy =
        disk.queue.scheduler.as_ref().is_ok_and(|(_, all)| all.iter().any(|name| name == "noop" || name == "cfq"));
    if disk.queue.hardware_queues.is_err() && legacy {
        let finding = DoctorFinding::new(Check::HardwareQueues, &disk.name)
            .case(DoctorCase::Legacy)
            .and("queue", DoctorValue::Count(1));
        let finding = finding.iops(CheckState::Problem, Want::AtLeast(DoctorValue::Count(cpus(host))));
        return finding.change(SettingChange::KernelParameter { parameter: "scsi_mod.use_blk_mq=Y".to_owned() });
    }
    judge(Check::HardwareQueues, &disk.name, &disk.queue.hardware_queues, |queues, finding| {
        let (queues, cpus) = (queues.len() as u64, cpus(host));
        let finding = finding
            .and(if queues == 1 { "queue" } else { "queues" }, DoctorValue::Count(queues))
            .and("CPUs", DoctorValue::Count(cpus));
        let state = match queues {
            _ if disk.is_mechanical() || queues >= cpus => return finding,
            1 if cpus >= MANY_CPUS => CheckState::Problem,
            queues if queues > 1 && queues * CPUS_PER_QUEUE >= cpus => return finding,
            _ => CheckState::CouldBeBetter,
        };
        let case = if disk.is_virtual() { DoctorCase::Virtual } else { DoctorCase::Hardware };
        finding.case(case).iops(state, Want::AtLeast(DoctorValue::Count(cpus)))
    })
}

fn queue_spread(disk: &DiskFacts, host: &HostFacts) -> Option<DoctorFinding> {
    let queues = disk.queue.hardware_queues.as_ref().ok().filter(|queues| queues.len() > 1)?;
    let online = host.online_cpus.as_ref().ok()?;
    let served: BTreeSet<u32> = queues.iter().flatten().copied().collect();
    let unserved = online.iter().filter(|cpu| !served.contains(cpu)).count() as u64;
    // Queues may list CPUs that do not exist.
    let online_cpus = |queue: &Vec<u32>| queue.iter().filter(|cpu| online.contains(cpu)).count() as u64;
    let most = queues.iter().map(online_cpus).max().unwrap_or(0);
    let fair = (online.len() as u64).div_ceil(queues.len() as u64);
    let finding = DoctorFinding::new(Check::QueueSpread, &disk.name)
        .and(if most == 1 { "CPU to a queue" } else { "CPUs to a queue" }, DoctorValue::Count(most));
    let finding = if unserved > 0 { finding.and("CPUs have none", DoctorValue::Count(unserved)) } else { finding };
    Some(if unserved > 0 || most > 2 * fair {
        finding.iops(CheckState::CouldBeBetter, Want::AtMost(DoctorValue::Count(fair)))
    } else {
        finding
    })
}

fn interrupt_spread(disk: &DiskFacts, host: &HostFacts) -> Option<DoctorFinding> {
    // Virtual and stacked devices have no interrupts.
    let missing = matches!(&disk.interrupts, Err(UnreadFact { why: UnreadCause::Missing | UnreadCause::Empty, .. }));
    if missing {
        return None;
    }
    Some(judge(Check::InterruptSpread, &disk.name, &disk.interrupts, |interrupts, finding| {
        let handling: BTreeSet<u32> = interrupts.iter().flat_map(|interrupt| &interrupt.cpus).copied().collect();
        let (irqs, handling, cpus) = (interrupts.len() as u64, handling.len() as u64, cpus(host));
        let finding = finding
            .and(if irqs == 1 { "interrupt" } else { "interrupts" }, DoctorValue::Count(irqs))
            .and(if handling == 1 { "CPU" } else { "CPUs" }, DoctorValue::Count(handling));
        let possible = irqs.min(cpus);
        let (iops, throughput) = match handling {
            _ if possible <= 1 || handling * 2 > possible => return finding,
            1 => (CheckState::Problem, CheckState::CouldBeBetter),
            _ => (CheckState::CouldBeBetter, CheckState::Good),
        };
        let want = || Want::AtLeast(DoctorValue::Count(possible));
        let finding = finding.iops(iops, want()).throughput(throughput, want());
        if disk.is_nvme() {
            return finding.case(DoctorCase::Managed);
        }
        let online = host.online_cpus.clone().unwrap_or_default();
        let pairs = interrupts.iter().zip(online.iter().cycle()).map(|(irq, cpu)| (irq.number, *cpu)).collect();
        finding.change(SettingChange::Interrupts { pairs })
    }))
}

fn rq_affinity(disk: &DiskFacts, host: &HostFacts) -> DoctorFinding {
    judge(Check::RqAffinity, &disk.name, &disk.queue.rq_affinity, |&affinity, finding| {
        let finding = finding.found(DoctorValue::Count(affinity));
        let cpus = cpus(host);
        let queues = disk.queue.hardware_queues.as_ref().map_or(cpus, |queues| queues.len() as u64);
        if cpus == 1 || disk.is_mechanical() {
            return finding;
        }
        // With one interrupt for many CPUs, only 2 moves completions to the CPUs that submitted the requests.
        if affinity < 2 && queues < cpus && cpus >= CPUS_PER_QUEUE {
            let finding = finding.iops(CheckState::CouldBeBetter, Want::Is(DoctorValue::Count(2)));
            return finding.change(set(disk, "rq_affinity", "2"));
        }
        if affinity == 0 {
            let finding =
                finding.case(DoctorCase::Low).iops(CheckState::CouldBeBetter, Want::AtLeast(DoctorValue::Count(1)));
            return finding.change(set(disk, "rq_affinity", "1"));
        }
        finding
    })
}

fn numa_node(disk: &DiskFacts, host: &HostFacts) -> Option<DoctorFinding> {
    let nodes = host.nodes.as_ref().ok().filter(|nodes| nodes.len() > 1)?;
    Some(judge(Check::NumaNode, &disk.name, &disk.node, |node, finding| {
        let Some(node) = *node else {
            let path = format!("/sys/class/block/{}/device/numa_node", disk.name);
            let reason = UnreadFact { path, why: UnreadCause::Foreign("-1".to_owned()) };
            return DoctorFinding::unknown(Check::NumaNode, &disk.name, &reason);
        };
        let finding = finding.found(word(&format!("node {node}")));
        let local =
            nodes.iter().find(|(number, _)| *number == node).map(|(_, cpus)| cpus.as_slice()).unwrap_or_default();
        let allowed = host.allowed_cpus.as_ref().map_or(&[][..], Vec::as_slice);
        if allowed.is_empty() || local.is_empty() || allowed.iter().any(|cpu| local.contains(cpu)) {
            return finding;
        }
        let finding = finding.iops(CheckState::CouldBeBetter, Want::Is(word(&format!("node {node}"))));
        finding.change(SettingChange::BindToNode { node })
    }))
}
