//! How requests wait and in which order they go.

use super::super::check::Check;
use super::super::facts::{Disk, Known};
use super::super::finding::{Case, Change, Finding, State, Value, Want, word};
use super::judge;

pub(super) fn all(disk: &Disk) -> Vec<Finding> {
    let mut findings =
        vec![scheduler(disk), nr_requests(disk), rotational(disk), write_cache(disk), merges(disk), iostats(disk)];
    findings.extend(device_depth(disk));
    findings.push(polling(disk));
    findings
}

pub(super) fn set(disk: &Disk, attribute: &'static str, value: impl Into<String>) -> Change {
    Change::Queue { disk: disk.name.clone(), attribute, value: value.into() }
}

/// Schedulers that order requests for heads that move.
const ORDERING: [&str; 4] = ["mq-deadline", "bfq", "deadline", "cfq"];
/// Schedulers that pass requests on.
const PASSING: [&str; 2] = ["none", "noop"];
/// Schedulers that weigh each request, which costs more than an SSD takes to answer it.
const WEIGHING: [&str; 2] = ["bfq", "cfq"];

fn scheduler(disk: &Disk) -> Finding {
    judge(Check::Scheduler, &disk.name, &disk.scheduler, |(chosen, all), finding| {
        let finding = finding.found(word(chosen));
        let offered = |names: &[&'static str]| names.iter().copied().find(|name| all.iter().any(|known| known == name));
        if disk.is_mechanical() {
            let finding = finding.case(Case::Mechanical);
            if !PASSING.contains(&chosen.as_str()) {
                return finding;
            }
            let change = offered(&ORDERING).map(|name| set(disk, "scheduler", name));
            return finding.both(State::CouldBeBetter, Want::OneOf(vec!["mq-deadline", "bfq"])).change(change);
        }
        let weighs = WEIGHING.contains(&chosen.as_str());
        let finding = match chosen.as_str() {
            name if PASSING.contains(&name) => return finding,
            _ if weighs => finding.iops(State::Problem, Want::OneOf(vec!["none"])),
            _ => finding.iops(State::CouldBeBetter, Want::OneOf(vec!["none"])),
        };
        let wanted = Want::OneOf(vec!["none", "mq-deadline", "kyber"]);
        let finding = finding.throughput(if weighs { State::CouldBeBetter } else { State::Good }, wanted);
        finding.change(offered(&PASSING).map(|name| set(disk, "scheduler", name)))
    })
}

/// Requests of all queues together that the seeds' table asks for: 32 for 16,000 IOPS, 128 for 64,000.
const REQUESTS_LEAST: u64 = 32;
const REQUESTS_WANTED: u64 = 128;

fn nr_requests(disk: &Disk) -> Finding {
    judge(Check::NrRequests, &disk.name, &disk.nr_requests, |&each, finding| {
        let queues = disk.hardware_queues.as_ref().map_or(1, |queues| queues.len().max(1) as u64);
        let total = each.saturating_mul(queues);
        let finding = finding.found(Value::Count(each));
        let finding = if queues > 1 { finding.and("queues", Value::Count(queues)) } else { finding };
        let state = |wanted| match total {
            total if total < REQUESTS_LEAST => State::Problem,
            total if total < wanted => State::CouldBeBetter,
            _ => State::Good,
        };
        let want = |wanted: u64| Want::AtLeast(Value::Count(wanted.div_ceil(queues)));
        let finding = finding.iops(state(REQUESTS_WANTED), want(REQUESTS_WANTED));
        let finding = finding.throughput(state(REQUESTS_LEAST), want(REQUESTS_LEAST));
        // Without a scheduler requests are the device's own tags, of which there are no more.
        let own_tags = disk.scheduler.as_ref().is_ok_and(|(chosen, _)| chosen == "none");
        if own_tags {
            return finding.case(Case::Hardware);
        }
        finding.change(set(disk, "nr_requests", (2 * REQUESTS_WANTED).div_ceil(queues).to_string()))
    })
}

/// SATA has 32 tags, of which one or two may be kept back.
const DEPTH_WANTED: u64 = 30;

fn device_depth(disk: &Disk) -> Option<Finding> {
    // NVMe and paravirtual disks have no such file.
    let &depth = disk.device_depth.as_ref().ok()?;
    let finding = Finding::new(Check::DeviceDepth, &disk.name).found(Value::Count(depth));
    if depth >= DEPTH_WANTED {
        return Some(finding);
    }
    let (iops, throughput) =
        if depth <= 1 { (State::Problem, State::CouldBeBetter) } else { (State::CouldBeBetter, State::Good) };
    let want = || Want::AtLeast(Value::Count(DEPTH_WANTED));
    let finding = finding.iops(iops, want()).throughput(throughput, want());
    Some(finding.change(Change::DeviceDepth { disk: disk.name.clone(), value: 32 }))
}

fn rotational(disk: &Disk) -> Finding {
    judge(Check::Rotational, &disk.name, &disk.rotational, |&rotational, finding| {
        let finding = finding.found(Value::Switch(rotational));
        if disk.is_mechanical() {
            return finding.case(Case::Mechanical).iops(State::Problem, Want::Is(Value::Switch(false)));
        }
        if !rotational {
            return finding;
        }
        // Providers' disks say so of themselves without a plate that turns.
        let finding = finding.and("it says", Value::Switch(true));
        let finding = finding.case(Case::Virtual).iops(State::CouldBeBetter, Want::Is(Value::Switch(false)));
        finding.change(set(disk, "rotational", "0"))
    })
}

fn write_cache(disk: &Disk) -> Finding {
    judge(Check::WriteCache, &disk.name, &disk.write_cache, |mode, finding| {
        let mut finding = finding.found(word(mode));
        if let (Ok(fua), "write back") = (&disk.fua, mode.as_str()) {
            finding = finding.and("FUA", Value::Switch(*fua));
        }
        // SATA and SAS drives have a cache that can be off. With others `write through` says that there is none to lose.
        let turned_off = mode == "write through" && disk.driver == "sd" && !disk.is_virtual();
        if turned_off {
            let finding = finding.both(State::CouldBeBetter, Want::Is(word("write back")));
            return finding.change(Change::WriteCache { disk: disk.name.clone() });
        }
        if mode == "write through" { finding.case(Case::Hardware) } else { finding }
    })
}

fn merges(disk: &Disk) -> Finding {
    judge(Check::NoMerges, &disk.name, &disk.nomerges, |&nomerges, finding| {
        let finding = finding.found(word(match nomerges {
            0 => "on",
            1 => "simple ones",
            _ => "off",
        }));
        if nomerges == 0 {
            return finding;
        }
        finding.throughput(State::CouldBeBetter, Want::Is(word("on"))).change(set(disk, "nomerges", "0"))
    })
}

fn iostats(disk: &Disk) -> Finding {
    judge(Check::IoStats, &disk.name, &disk.iostats, |&counts, finding| {
        let finding = finding.found(Value::Switch(counts));
        if counts {
            return finding;
        }
        finding.both(State::CouldBeBetter, Want::Is(Value::Switch(true))).change(set(disk, "iostats", "1"))
    })
}

fn polling(disk: &Disk) -> Finding {
    let polls: &Known<bool> = &disk.polls;
    // Good either way: only programs that ask for it (`hipri`) poll, and only NVMe can.
    judge(Check::Polling, &disk.name, polls, |&polls, finding| {
        let finding = finding.found(Value::Switch(polls));
        if disk.is_nvme() { finding } else { finding.case(Case::Hardware) }
    })
}
