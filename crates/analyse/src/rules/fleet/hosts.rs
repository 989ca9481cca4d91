//! Rules for hosts that are at a limit of their own, which is not that of the storage.

use std::collections::BTreeMap;

use record::{FleetRecord, RankRecord, Run};

use crate::{Code, EvidenceSource, Finding, Quantity, Remedy, Severity};

/// Fraction of its processors from which a host counts as busy.
const BUSY: f64 = 0.9;

/// Fractions of a link's speed at which it is the limit. Headers take 6 % of it at the usual frame size, and those of
/// the storage protocol more. A host that gets more than its fastest link carries has several.
const LINK: std::ops::RangeInclusive<f64> = 0.85..=1.05;

/// The ranks of one host.
pub(super) struct HostRanks<'a> {
    name: &'a str,
    pub(super) members: Vec<&'a RankRecord>,
}

impl HostRanks<'_> {
    /// Returns its processors; zero if they are unknown.
    pub(super) fn cpus(&self) -> u32 {
        self.members.iter().map(|member| member.cpus).max().unwrap_or(0)
    }

    /// Returns the fraction of its processors that its ranks used; `None` if it is unknown.
    fn cpu_share(&self, at_once: f64) -> Option<f64> {
        let used: f64 = self.members.iter().map(|member| member.cpu_share * f64::from(member.workers)).sum();
        let share = used * at_once / f64::from(self.cpus());
        (self.cpus() > 0 && share.is_finite()).then_some(share)
    }

    /// Returns the bytes per second in the direction in which it transferred more, because links carry both at once.
    fn bytes_per_second(&self) -> f64 {
        let of = |kind: usize| -> f64 {
            let part = |member: &&RankRecord| {
                let all: f64 = member.bytes.iter().map(|&bytes| bytes as f64).sum();
                if all > 0.0 { member.bytes_per_second * (member.bytes[kind] as f64 / all) } else { 0.0 }
            };
            self.members.iter().map(part).sum()
        };
        of(0).max(of(1))
    }

    fn link_share(&self) -> Option<f64> {
        let link = self.members.iter().filter_map(|member| member.link_bytes_per_second).max()?;
        let share = self.bytes_per_second() / link as f64;
        (link > 0 && share.is_finite()).then_some(share)
    }
}

/// Returns the hosts with their ranks, by name.
pub(super) fn all(fleet: &FleetRecord) -> Vec<HostRanks<'_>> {
    let mut hosts: BTreeMap<&str, Vec<&RankRecord>> = BTreeMap::new();
    fleet.members.iter().for_each(|member| hosts.entry(&member.hostname).or_default().push(member));
    hosts.into_iter().map(|(name, members)| HostRanks { name, members }).collect()
}

/// Checks for hosts whose ranks together use nearly all processors.
pub(super) fn cpu(run: &Run, fleet: &FleetRecord) -> Option<Finding> {
    // Polling keeps processors busy whatever the load.
    if run.jobs.iter().any(|job| job.declared.polled) {
        return None;
    }
    let (hosts, at_once) = (all(fleet), at_once(run));
    let known = hosts.iter().filter_map(|host| Some((host, host.cpu_share(at_once)?)));
    let busy: Vec<_> = known.filter(|(_, share)| *share >= BUSY).collect();
    let (host, share) = busy.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let finding = Finding::new(Code::HostCpuBound, Severity::Warning)
        .about(host.name)
        .with(Quantity::HostCpuShare, share.min(1.0), EvidenceSource::ProcessorTime)
        .with(Quantity::Cpus, f64::from(host.cpus()), EvidenceSource::Host)
        .with(Quantity::Ranks, host.members.len() as f64, EvidenceSource::Counters)
        .remedy(Remedy::MoreHosts);
    Some(counted(finding, busy.len(), hosts.len()))
}

/// Returns the fraction of all workers that ran at the same time at most: groups of jobs follow each other.
fn at_once(run: &Run) -> f64 {
    let workers = |group: u32| run.in_group(group).map(|job| f64::from(job.workers)).sum::<f64>();
    let groups: Vec<f64> = run.groups().into_iter().map(workers).collect();
    let all: f64 = groups.iter().sum();
    if all > 0.0 { groups.into_iter().fold(0.0, f64::max) / all } else { 1.0 }
}

/// Checks for hosts whose ranks together use the whole speed of their network link.
pub(super) fn link(fleet: &FleetRecord) -> Option<Finding> {
    let hosts = all(fleet);
    let known = hosts.iter().filter_map(|host| Some((host, host.link_share()?)));
    let full: Vec<_> = known.filter(|(_, share)| LINK.contains(share)).collect();
    let (host, share) = full.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let bytes = host.bytes_per_second();
    let finding = Finding::new(Code::HostLinkBound, Severity::Warning)
        .about(host.name)
        .with(Quantity::HostBytesPerSecond, bytes, EvidenceSource::Counters)
        .with(Quantity::LinkBytesPerSecond, bytes / share, EvidenceSource::Host)
        .with(Quantity::LinkShare, *share, EvidenceSource::Counters)
        .with(Quantity::Ranks, host.members.len() as f64, EvidenceSource::Counters)
        .remedy(Remedy::MoreHosts);
    Some(counted(finding, full.len(), hosts.len()))
}

fn counted(finding: Finding, at_limit: usize, hosts: usize) -> Finding {
    finding.with(Quantity::HostsAtLimit, at_limit as f64, EvidenceSource::Counters).with(
        Quantity::Hosts,
        hosts as f64,
        EvidenceSource::Counters,
    )
}
