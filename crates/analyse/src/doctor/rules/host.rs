//! Rules for the host: kernel, CPUs, memory and permissions.

use record::host::{DirtyMemory, UnreadCause, UnreadFact};

use super::super::check::Check;
use super::super::facts::{DoctorSubject, HostFacts};
use super::super::finding::{CheckState, DoctorCase, DoctorFinding, DoctorValue, SettingChange, Want, word};
use super::filesystem::disks;
use super::{grade, judge};

pub(in super::super) fn all(host: &HostFacts, subjects: &[DoctorSubject]) -> Vec<DoctorFinding> {
    vec![
        kernel(host),
        free_cpus(host, subjects),
        governor(host),
        native_aio(host),
        io_uring(host),
        dirty_pages(host),
        swap(host),
    ]
}

/// Parses the first two numbers of a release: `6.18.0-rc1` gives (6, 18).
fn release(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// io_uring exists since 5.1 and has what Fathom and others need of it since 5.11.
const RINGS_SINCE: (u32, u32) = (5, 1);
const GOOD_RINGS_SINCE: (u32, u32) = (5, 11);

fn kernel(host: &HostFacts) -> DoctorFinding {
    judge(Check::Kernel, "", &host.kernel, |text, finding| {
        let Some(release) = release(text) else {
            let start = text.chars().filter(|c| !c.is_control()).take(24).collect();
            let path = "/proc/sys/kernel/osrelease".to_owned();
            let reason = UnreadFact { path, why: UnreadCause::Foreign(start) };
            return DoctorFinding::unknown(Check::Kernel, "", &reason);
        };
        let finding = finding.found(word(text));
        match release {
            release if release < RINGS_SINCE => finding.iops(CheckState::Problem, Want::AtLeast(word("5.11"))),
            release if release < GOOD_RINGS_SINCE => {
                finding.iops(CheckState::CouldBeBetter, Want::AtLeast(word("5.11")))
            }
            _ => finding,
        }
    })
}

/// The provider's rule: one CPU for every 2,000 random reads or 2,500 random writes per second.
const READS_PER_CPU: f64 = 2000.0;
const WRITES_PER_CPU: f64 = 2500.0;

/// Fractions of CPUs that are idle.
const BUSY: f64 = 0.1;
const ENOUGH: f64 = 0.5;
/// Fraction of time in which tasks waited for a CPU.
const WAITING: f64 = 0.2;

fn free_cpus(host: &HostFacts, subjects: &[DoctorSubject]) -> DoctorFinding {
    judge(Check::FreeCpus, "", &host.load, |&load, finding| {
        let cpus = host.allowed_cpus.as_ref().or(host.online_cpus.as_ref());
        let cpus = match cpus {
            Ok(cpus) => cpus.len().max(1) as f64,
            Err(reason) => return DoctorFinding::unknown(Check::FreeCpus, "", reason),
        };
        let free = (cpus - load).max(0.0);
        let finding = finding.found(DoctorValue::Number(free)).and("free of", DoctorValue::Count(cpus as u64));
        // The load average includes tasks that wait for disks, so only CPU pressure shows that CPUs are short.
        let waits = host.cpu_pressure.as_ref().is_ok_and(|fraction| *fraction >= WAITING);
        let state = grade(free / cpus < BUSY && waits, free / cpus < ENOUGH);
        let finding = finding.iops(state, Want::AtLeast(DoctorValue::Number(cpus * ENOUGH)));
        // The rule applies to disks behind the provider's network.
        let persistent = subjects.iter().flat_map(disks).any(|disk| {
            let model = disk.model.to_lowercase();
            model.contains("persistent") || model.contains("nvme_card-pd")
        });
        if !persistent {
            return finding;
        }
        let finding = finding.and("random reads", DoctorValue::PerSecond((free * READS_PER_CPU) as u64));
        finding
            .and("random writes", DoctorValue::PerSecond((free * WRITES_PER_CPU) as u64))
            .case(DoctorCase::RuleOfThumb)
    })
}

/// Drivers whose `powersave` governor scales the frequency with load.
const SCALING_DRIVERS: [&str; 3] = ["intel_pstate", "amd-pstate-epp", "amd_pstate_epp"];

fn governor(host: &HostFacts) -> DoctorFinding {
    judge(Check::Governor, "", &host.governors, |(governors, driver), finding| {
        let finding = finding.found(word(&governors.join(", ")));
        if governors.iter().all(|governor| governor == "performance") {
            return finding;
        }
        let stuck =
            governors.iter().any(|governor| governor == "powersave") && !SCALING_DRIVERS.contains(&driver.as_str());
        let want = || Want::Is(word("performance"));
        let finding = finding.iops(if stuck { CheckState::Problem } else { CheckState::CouldBeBetter }, want());
        let finding = finding.throughput(if stuck { CheckState::CouldBeBetter } else { CheckState::Good }, want());
        finding.case(if stuck { DoctorCase::Low } else { DoctorCase::Usual }).change(SettingChange::Governor)
    })
}

/// A queue of 320 for each of a few jobs fits several times.
const OPERATIONS_LEAST: u64 = 1024;
const OPERATIONS_WANTED: u64 = 16_384;
const OPERATIONS_GENEROUS: u64 = 1 << 20;

fn native_aio(host: &HostFacts) -> DoctorFinding {
    judge(Check::NativeAio, "", &host.native_operations, |&(used, most), finding| {
        let free = most.saturating_sub(used);
        let finding = finding.found(DoctorValue::Count(free)).and("free of", DoctorValue::Count(most));
        let state = grade(free < OPERATIONS_LEAST, free < OPERATIONS_WANTED);
        let value = most.saturating_mul(2).max(OPERATIONS_GENEROUS);
        let finding = finding.iops(state, Want::AtLeast(DoctorValue::Count(OPERATIONS_WANTED)));
        finding.change(SettingChange::Sysctl { key: "fs.aio-max-nr", value })
    })
}

fn io_uring(host: &HostFacts) -> DoctorFinding {
    let since =
        |first| host.kernel.as_ref().ok().and_then(|text| release(text)).is_some_and(|release| release >= first);
    let missing = matches!(&host.rings, Err(UnreadFact { why: UnreadCause::Missing, .. }));
    let permitted = |finding: DoctorFinding| if host.filtered { finding.case(DoctorCase::Filtered) } else { finding };
    if missing && since(RINGS_SINCE) {
        // The sysctl exists since 6.6; before, all users may use io_uring if the kernel was built with it.
        let finding = DoctorFinding::new(Check::IoUring, "").found(word("all users"));
        return permitted(finding.case(DoctorCase::Unrestricted));
    }
    judge(Check::IoUring, "", &host.rings, |rings, finding| {
        let may = rings.disabled == 0 || (rings.disabled == 1 && rings.member);
        let users = match rings.disabled {
            0 => "all users",
            1 => "privileged processes and one group",
            _ => "no user",
        };
        let finding = finding.found(word(users));
        if may {
            return permitted(finding);
        }
        let finding = finding.iops(CheckState::Problem, Want::Is(word("all users")));
        finding.change(SettingChange::Sysctl { key: "kernel.io_uring_disabled", value: 0 })
    })
}

/// Writing back this much takes seconds, during which other requests wait.
const DIRTY_MOST: u64 = 4 << 30;
/// With less than this, writers are throttled almost immediately.
const DIRTY_LEAST: u64 = 64 << 20;

fn dirty_pages(host: &HostFacts) -> DoctorFinding {
    judge(
        Check::DirtyPages,
        "",
        &host.dirty,
        |&DirtyMemory { background_bytes: background, limit_bytes: limit }, finding| {
            let finding = finding.found(DoctorValue::Bytes(background)).and("limit", DoctorValue::Bytes(limit));
            let finding = finding
                .iops(grade(false, background > DIRTY_MOST), Want::AtMost(DoctorValue::Bytes(DIRTY_MOST)))
                .throughput(grade(false, limit < DIRTY_LEAST), Want::AtLeast(DoctorValue::Bytes(DIRTY_LEAST)));
            let set = |key, value| SettingChange::Sysctl { key, value };
            let finding = finding
                .change_for_iops(set("vm.dirty_background_bytes", 256 << 20))
                .change_for_iops(set("vm.dirty_bytes", 1 << 30));
            finding.change_for_throughput(set("vm.dirty_bytes", 1 << 30))
        },
    )
}

fn swap(host: &HostFacts) -> DoctorFinding {
    judge(Check::Swap, "", &host.swaps, |swaps, finding| {
        let used: u64 = swaps.iter().fold(0, |sum, swap| sum.saturating_add(swap.used_bytes));
        let all: u64 = swaps.iter().fold(0, |sum, swap| sum.saturating_add(swap.bytes));
        if used == 0 {
            return finding.found(word(if swaps.is_empty() { "none" } else { "unused" }));
        }
        let finding = finding.found(DoctorValue::Bytes(used)).and("used of", DoctorValue::Bytes(all));
        let finding = finding.both(CheckState::CouldBeBetter, Want::Is(DoctorValue::Bytes(0)));
        let in_use = swaps.iter().filter(|swap| swap.used_bytes > 0);
        in_use.fold(finding, |finding, swap| finding.change(SettingChange::SwapOff { path: swap.path.clone() }))
    })
}
