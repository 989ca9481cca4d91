//! The hosts of a run on many hosts.

use std::collections::BTreeMap;

use record::{FleetRecord, RankRecord, Run};

/// Fraction of its CPUs from which a host counts as busy.
const BUSY: f64 = 0.9;

pub(crate) struct HostRanks<'a> {
    pub(crate) name: &'a str,
    pub(crate) members: Vec<&'a RankRecord>,
}

impl HostRanks<'_> {
    /// Returns its CPUs; zero if they are unknown.
    pub(crate) fn cpus(&self) -> u32 {
        self.members.iter().map(|member| member.cpus).max().unwrap_or(0)
    }

    /// Returns the fraction of its CPUs that its ranks used; `None` if it is unknown.
    fn cpu_share(&self, at_once: f64) -> Option<f64> {
        let used: f64 = self.members.iter().map(|member| member.cpu_share * f64::from(member.workers)).sum();
        let share = used * at_once / f64::from(self.cpus());
        (self.cpus() > 0 && share.is_finite()).then_some(share)
    }

    /// Returns the bytes per second in the direction in which it transferred more, because links carry both at once.
    pub(crate) fn bytes_per_second(&self) -> f64 {
        let of = |kind: usize| -> f64 {
            let part = |member: &&RankRecord| {
                let all: f64 = member.bytes.iter().map(|&bytes| bytes as f64).sum();
                if all > 0.0 { member.bytes_per_second * (member.bytes[kind] as f64 / all) } else { 0.0 }
            };
            self.members.iter().map(part).sum()
        };
        of(0).max(of(1))
    }

    /// Returns the fraction of the speed of its network link that it used; `None` if the speed is unknown.
    pub(crate) fn link_share(&self) -> Option<f64> {
        let link = self.members.iter().filter_map(|member| member.link_bytes_per_second).max()?;
        let share = self.bytes_per_second() / link as f64;
        (link > 0 && share.is_finite()).then_some(share)
    }
}

/// Returns the hosts with their ranks, by name.
pub(crate) fn all(fleet: &FleetRecord) -> Vec<HostRanks<'_>> {
    let mut hosts: BTreeMap<&str, Vec<&RankRecord>> = BTreeMap::new();
    fleet.members.iter().for_each(|member| hosts.entry(&member.hostname).or_default().push(member));
    hosts.into_iter().map(|(name, members)| HostRanks { name, members }).collect()
}

/// Returns the hosts whose ranks together use nearly all CPUs, each with the fraction.
pub(crate) fn busy<'h, 'a>(run: &Run, hosts: &'h [HostRanks<'a>]) -> Vec<(&'h HostRanks<'a>, f64)> {
    // Polling keeps processors busy whatever the load.
    if run.jobs.iter().any(|job| job.declared.polled) {
        return Vec::new();
    }
    let at_once = at_once(run);
    let known = hosts.iter().filter_map(|host| Some((host, host.cpu_share(at_once)?)));
    known.filter(|(_, share)| *share >= BUSY).collect()
}

/// Returns the fraction of all workers that ran at the same time at most: groups of jobs follow each other.
fn at_once(run: &Run) -> f64 {
    let workers = |group: u32| run.in_group(group).map(|job| f64::from(job.workers)).sum::<f64>();
    let groups: Vec<f64> = run.groups().into_iter().map(workers).collect();
    let all: f64 = groups.iter().sum();
    if all > 0.0 { groups.into_iter().fold(0.0, f64::max) / all } else { 1.0 }
}

/// Reports whether the CPUs of all hosts were in use all the time.
pub(crate) fn all_busy(run: &Run, fleet: &FleetRecord) -> bool {
    let hosts = all(fleet);
    !hosts.is_empty() && busy(run, &hosts).len() == hosts.len()
}

/// Returns the number of CPUs of all hosts; zero if it is unknown.
pub(crate) fn cpus(fleet: &FleetRecord) -> u32 {
    all(fleet).iter().map(HostRanks::cpus).fold(0, u32::saturating_add)
}

/// Reports whether each host has CPUs for `workers` workers of each of its ranks.
pub(crate) fn has_cpus_for(fleet: &FleetRecord, workers: u64) -> bool {
    let fits = |host: &HostRanks<'_>| workers.saturating_mul(host.members.len() as u64) <= host.cpus().into();
    let hosts = all(fleet);
    !hosts.is_empty() && hosts.iter().all(fits)
}
