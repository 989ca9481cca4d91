//! Rules for I/O schedulers and queue depths.

use super::super::check::Check;
use super::super::facts::DiskFacts;
use super::super::finding::{CheckState, DoctorCase, DoctorFinding, DoctorValue, SettingChange, Want, word};
use super::{grade, judge};

pub(super) fn all(disk: &DiskFacts) -> Vec<DoctorFinding> {
    let mut findings =
        vec![scheduler(disk), nr_requests(disk), rotational(disk), write_cache(disk), merges(disk), iostats(disk)];
    findings.extend(device_depth(disk));
    findings.push(polling(disk));
    findings
}

pub(super) fn set(disk: &DiskFacts, attribute: &'static str, value: impl Into<String>) -> SettingChange {
    SettingChange::Queue { disk: disk.name.clone(), attribute, value: value.into() }
}

/// Schedulers that sort requests for moving heads.
const ORDERING: [&str; 4] = ["mq-deadline", "bfq", "deadline", "cfq"];
/// Schedulers that pass requests on unchanged.
const PASSING: [&str; 2] = ["none", "noop"];
/// Schedulers whose cost per request exceeds the latency of an SSD.
const WEIGHING: [&str; 2] = ["bfq", "cfq"];

fn scheduler(disk: &DiskFacts) -> DoctorFinding {
    judge(Check::Scheduler, &disk.name, &disk.queue.scheduler, |(chosen, all), finding| {
        let finding = finding.found(word(chosen));
        let offered = |names: &[&'static str]| names.iter().copied().find(|name| all.iter().any(|known| known == name));
        if disk.is_mechanical() {
            let finding = finding.case(DoctorCase::Mechanical);
            if !PASSING.contains(&chosen.as_str()) {
                return finding;
            }
            let change = offered(&ORDERING).map(|name| set(disk, "scheduler", name));
            return finding.both(CheckState::CouldBeBetter, Want::OneOf(vec!["mq-deadline", "bfq"])).change(change);
        }
        let weighs = WEIGHING.contains(&chosen.as_str());
        let finding = match chosen.as_str() {
            name if PASSING.contains(&name) => return finding,
            _ if weighs => finding.iops(CheckState::Problem, Want::OneOf(vec!["none"])),
            _ => finding.iops(CheckState::CouldBeBetter, Want::OneOf(vec!["none"])),
        };
        let wanted = Want::OneOf(vec!["none", "mq-deadline", "kyber"]);
        let finding = finding.throughput(if weighs { CheckState::CouldBeBetter } else { CheckState::Good }, wanted);
        finding.change(offered(&PASSING).map(|name| set(disk, "scheduler", name)))
    })
}

/// Requests over all queues, by the seed documents' table: 32 for 16,000 IOPS, 128 for 64,000.
const REQUESTS_LEAST: u64 = 32;
const REQUESTS_WANTED: u64 = 128;

fn nr_requests(disk: &DiskFacts) -> DoctorFinding {
    judge(Check::NrRequests, &disk.name, &disk.queue.nr_requests, |&each, finding| {
        let queues = disk.queue.hardware_queues.as_ref().map_or(1, |queues| queues.len().max(1) as u64);
        let total = each.saturating_mul(queues);
        let finding = finding.found(DoctorValue::Count(each));
        let finding = if queues > 1 { finding.and("queues", DoctorValue::Count(queues)) } else { finding };
        let state = |wanted| grade(total < REQUESTS_LEAST, total < wanted);
        let want = |wanted: u64| Want::AtLeast(DoctorValue::Count(wanted.div_ceil(queues)));
        let finding = finding.iops(state(REQUESTS_WANTED), want(REQUESTS_WANTED));
        let finding = finding.throughput(state(REQUESTS_LEAST), want(REQUESTS_LEAST));
        // Without a scheduler, requests are the device's own tags, whose number is fixed.
        let own_tags = disk.queue.scheduler.as_ref().is_ok_and(|(chosen, _)| chosen == "none");
        if own_tags {
            return finding.case(DoctorCase::Hardware);
        }
        finding.change(set(disk, "nr_requests", (2 * REQUESTS_WANTED).div_ceil(queues).to_string()))
    })
}

/// SATA has 32 tags, one or two of which may be reserved.
const DEPTH_WANTED: u64 = 30;

fn device_depth(disk: &DiskFacts) -> Option<DoctorFinding> {
    // NVMe and paravirtual disks have no such attribute.
    let &depth = disk.queue.device_depth.as_ref().ok()?;
    let finding = DoctorFinding::new(Check::DeviceDepth, &disk.name).found(DoctorValue::Count(depth));
    if depth >= DEPTH_WANTED {
        return Some(finding);
    }
    let (iops, throughput) = if depth <= 1 {
        (CheckState::Problem, CheckState::CouldBeBetter)
    } else {
        (CheckState::CouldBeBetter, CheckState::Good)
    };
    let want = || Want::AtLeast(DoctorValue::Count(DEPTH_WANTED));
    let finding = finding.iops(iops, want()).throughput(throughput, want());
    Some(finding.change(SettingChange::DeviceDepth { disk: disk.name.clone(), value: 32 }))
}

fn rotational(disk: &DiskFacts) -> DoctorFinding {
    judge(Check::Rotational, &disk.name, &disk.queue.rotational, |&rotational, finding| {
        let finding = finding.found(DoctorValue::Switch(rotational));
        if disk.is_mechanical() {
            return finding
                .case(DoctorCase::Mechanical)
                .iops(CheckState::Problem, Want::Is(DoctorValue::Switch(false)));
        }
        if !rotational {
            return finding;
        }
        // Providers' virtual disks report moving parts that they do not have.
        let finding = finding.and("it says", DoctorValue::Switch(true));
        let finding =
            finding.case(DoctorCase::Virtual).iops(CheckState::CouldBeBetter, Want::Is(DoctorValue::Switch(false)));
        finding.change(set(disk, "rotational", "0"))
    })
}

fn write_cache(disk: &DiskFacts) -> DoctorFinding {
    judge(Check::WriteCache, &disk.name, &disk.queue.write_cache, |mode, finding| {
        let mut finding = finding.found(word(mode));
        if let (Ok(fua), "write back") = (&disk.queue.fua, mode.as_str()) {
            finding = finding.and("FUA", DoctorValue::Switch(*fua));
        }
        // Only SATA and SAS drives have a cache that can be disabled. `write through` of others means that there is
        // none.
        let turned_off = mode == "write through" && disk.driver == "sd" && !disk.is_virtual();
        if turned_off {
            let finding = finding.both(CheckState::CouldBeBetter, Want::Is(word("write back")));
            return finding.change(SettingChange::WriteCache { disk: disk.name.clone() });
        }
        if mode == "write through" { finding.case(DoctorCase::Hardware) } else { finding }
    })
}

fn merges(disk: &DiskFacts) -> DoctorFinding {
    judge(Check::NoMerges, &disk.name, &disk.queue.nomerges, |&nomerges, finding| {
        let finding = finding.found(word(match nomerges {
            0 => "on",
            1 => "simple ones",
            _ => "off",
        }));
        if nomerges == 0 {
            return finding;
        }
        finding.throughput(CheckState::CouldBeBetter, Want::Is(word("on"))).change(set(disk, "nomerges", "0"))
    })
}

fn iostats(disk: &DiskFacts) -> DoctorFinding {
    judge(Check::IoStats, &disk.name, &disk.queue.iostats, |&counts, finding| {
        let finding = finding.found(DoctorValue::Switch(counts));
        if counts {
            return finding;
        }
        finding.both(CheckState::CouldBeBetter, Want::Is(DoctorValue::Switch(true))).change(set(disk, "iostats", "1"))
    })
}

fn polling(disk: &DiskFacts) -> DoctorFinding {
    // Good either way: only programs that request it (`hipri`) poll, and only NVMe supports it.
    judge(Check::Polling, &disk.name, &disk.queue.polls, |&polls, finding| {
        let finding = finding.found(DoctorValue::Switch(polls));
        if disk.is_nvme() { finding } else { finding.case(DoctorCase::Hardware) }
    })
}
