//! Sections of a closed loop: workers that think between requests.

use std::collections::BTreeMap;

use super::class::LoadClass;
use super::layout::Region;
use super::open::{base, kind};
use super::section::{JobSection, SectionPace, SectionPattern};
use crate::characterize::{ProcessProfile, TraceProfile};

/// Least fraction of the requests of a process for a class to count as one of its own.
const CLASS_MIN: f64 = 0.1;
/// Groups of processes with a lower fraction of the requests are joined to the largest one.
const GROUP_MIN: f64 = 0.02;
/// Maximum number of workers of a section.
const WORKERS_MAX: f64 = 512.0;

/// Processes that issue the same classes.
#[derive(Clone, Debug, Default)]
struct Group {
    /// Requests of each class.
    requests: Vec<u64>,
    /// Time that its processes spend from one issue to the next, in nanoseconds.
    busy_ns: f64,
}

/// Returns the sections. Each group of processes that issue the same classes has workers of its own.
pub(super) fn sections(
    classes: &[LoadClass],
    regions: &[Region],
    profile: &TraceProfile,
    runtime_ns: u64,
) -> Vec<JobSection> {
    let groups = groups(classes, profile);
    let mut sections = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        let duration_ns = runtime_ns.max(1) as f64;
        let chains = (group.busy_ns / duration_ns).round().clamp(1.0, WORKERS_MAX);
        for mut section in of_group(group, classes, regions, chains, (profile, runtime_ns)) {
            if groups.len() > 1 {
                section.name = format!("{}-{}", section.name, number + 1);
            }
            sections.push(section);
        }
    }
    sections
}

fn groups(classes: &[LoadClass], profile: &TraceProfile) -> Vec<Group> {
    let of_class = |class: &LoadClass| -> BTreeMap<u16, u64> {
        class.profile.processes.iter().map(|process| (process.process, process.requests.total())).collect()
    };
    let counts: Vec<BTreeMap<u16, u64>> = classes.iter().map(of_class).collect();
    let mut groups: BTreeMap<u32, Group> = BTreeMap::new();
    for process in &profile.processes {
        let own: Vec<u64> = counts.iter().map(|count| count.get(&process.process).copied().unwrap_or(0)).collect();
        let all: u64 = own.iter().sum();
        let is_own = |count: u64| all > 0 && count as f64 >= CLASS_MIN * all as f64;
        let mask = own.iter().enumerate().filter(|(_, count)| is_own(**count)).fold(0, |mask, (at, _)| mask | 1 << at);
        let group = groups.entry(mask).or_default();
        group.add(&Group { busy_ns: busy_ns(process, &own, classes), requests: own });
    }
    let mut all: Vec<Group> = groups.into_values().filter(|group| group.total() > 0).collect();
    all.sort_by_key(|group| std::cmp::Reverse(group.total()));
    let requests: u64 = all.iter().map(Group::total).sum();
    let mut kept: Vec<Group> = Vec::new();
    for group in all {
        match kept.first_mut().filter(|_| (group.total() as f64) < GROUP_MIN * requests as f64) {
            Some(first) => first.add(&group),
            None => kept.push(group),
        }
    }
    kept
}

/// Returns the sum of the service and think times of a process: over the duration, its mean number of chains.
fn busy_ns(process: &ProcessProfile, requests: &[u64], classes: &[LoadClass]) -> f64 {
    let think = process.think_ns_mean.unwrap_or(0.0);
    let of_class = |(class, count): (&LoadClass, &u64)| *count as f64 * (class.service_ns().unwrap_or(0.0) + think);
    classes.iter().zip(requests).map(of_class).sum()
}

impl Group {
    fn add(&mut self, other: &Self) {
        self.requests.resize(self.requests.len().max(other.requests.len()), 0);
        self.requests.iter_mut().zip(&other.requests).for_each(|(sum, count)| *sum += count);
        self.busy_ns += other.busy_ns;
    }

    fn total(&self) -> u64 {
        self.requests.iter().sum()
    }
}

/// Returns the sections of a group: one for random requests of both directions, and one for each other class.
fn of_group(
    group: &Group,
    classes: &[LoadClass],
    regions: &[Region],
    chains: f64,
    trace: (&TraceProfile, u64),
) -> Vec<JobSection> {
    let used = |at: &usize| group.requests[*at] > 0 && group.requests[*at] as f64 >= 0.01 * group.total() as f64;
    let used: Vec<usize> = (0..classes.len()).filter(used).collect();
    let random = |wanted: usize| {
        let of_kind =
            used.iter().copied().filter(|at| !classes[*at].key.is_sequential && kind(&classes[*at]) == wanted);
        of_kind.max_by_key(|at| group.requests[*at])
    };
    let mixed = random(0).zip(random(1)).filter(|(_, writes)| classes[*writes].flushes == 0);
    let mut sections = Vec::new();
    if let Some((reads, writes)) = mixed {
        sections.push(thinking(&[reads, writes], group, classes, regions, chains, trace));
    }
    let is_mixed = |at: usize| mixed.is_some_and(|(reads, writes)| at == reads || at == writes);
    let single = used.iter().filter(|at| !is_mixed(**at));
    sections.extend(single.map(|at| thinking(&[*at], group, classes, regions, chains, trace)));
    sections
}

/// Returns the section of one class, or of reads and writes, whose workers think as long as gives its rate.
fn thinking(
    members: &[usize],
    group: &Group,
    classes: &[LoadClass],
    regions: &[Region],
    chains: f64,
    trace: (&TraceProfile, u64),
) -> JobSection {
    let requests: u64 = members.iter().map(|at| group.requests[*at]).sum();
    let mut section = base(&classes[members[0]], &regions[members[0]]);
    if let [reads, writes] = members {
        let other = base(&classes[*writes], &regions[*writes]);
        let percent = 100.0 * group.requests[*reads] as f64 / requests.max(1) as f64;
        section.pattern = SectionPattern::RandomReadWrite(percent.round().clamp(1.0, 99.0) as u32);
        section.name = "random-reads-and-writes".to_owned();
        section.sizes[1].clone_from(&other.sizes[1]);
        section.random_percent[1] = other.random_percent[1];
        section.is_permuted &= other.is_permuted;
        section.bytes = section.bytes.max(other.bytes);
    }
    let service = |at: &usize| classes[*at].service_ns().unwrap_or(0.0) * group.requests[*at] as f64;
    let (profile, duration_ns) = trace;
    let flush_ns = profile.service_ns.flush.map_or(0.0, |times| times.mean);
    let flushes = |at: &usize| {
        let class = &classes[*at];
        let flushed = (class.flushes as f64 / class.requests.max(1) as f64).min(1.0);
        flushed * flush_ns * group.requests[*at] as f64
    };
    let busy_ns = members.iter().map(|at| service(at) + flushes(at)).sum::<f64>();
    let service_ns = busy_ns / requests.max(1) as f64;
    let cycle_ns = chains * duration_ns as f64 / requests.max(1) as f64;
    section.workers = chains as u32;
    // Workers that start together would stay together.
    section.start_spread_ns = if chains > 1.0 { cycle_ns as u64 } else { 0 };
    section.runtime_ns = duration_ns;
    section.pace = SectionPace::Think { think_ns: (cycle_ns - service_ns).max(0.0) as u64 };
    section
}
