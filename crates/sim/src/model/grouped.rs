//! Stages that each of many hosts has, as one: a record of a thousand hosts is as short as one of two. Hosts that run
//! different jobs have stages of their own, because a mean over all of them would hide the busiest.

use std::collections::{BTreeMap, BTreeSet};

use volume::{BurstCredits, Early, MergedCounts, ServiceStage, StageHosts, StageKind};

use super::placement::Placement;

/// A stage, or equal ones of many hosts.
pub(super) struct StageGroup {
    /// Counts are sums over the equal stages, utilisation and credits means, and waits those of the worst.
    pub(super) stage: ServiceStage,
    /// Its buckets of credits, numbered as in [`volume::System::credit_levels`].
    pub(super) buckets: Vec<usize>,
    /// Owner of the first of its stages.
    owner: String,
}

/// What equal stages of different hosts have in common: the kind of host, the position of their first volume among those
/// of the host, their kind, name and rule.
type StageIdentity = (usize, usize, bool, String, String);

/// Returns the stages, those of simulated hosts grouped. `hosts` is the number of these.
pub(super) fn grouped(described: Vec<ServiceStage>, placement: &Placement, hosts: Option<u32>) -> Vec<StageGroup> {
    let positions = positions(placement);
    let mut groups: Vec<StageGroup> = Vec::new();
    let mut known: BTreeMap<StageIdentity, usize> = BTreeMap::new();
    let mut buckets = 0;
    for stage in described {
        let bucket = stage.credits.map(|_| {
            buckets += 1;
            buckets - 1
        });
        let first = stage.routes.first();
        let kind = first.map_or(0, |&route| placement.origins[route].kind);
        let position = first.map_or(0, |&route| positions[route]);
        let identity = (kind, position, stage.kind == StageKind::Limit, stage.name.clone(), stage.rule.clone());
        let index = if hosts.is_some() { *known.entry(identity).or_insert(groups.len()) } else { groups.len() };
        match groups.get_mut(index) {
            None => {
                groups.push(StageGroup { owner: stage.owner.clone(), stage, buckets: bucket.into_iter().collect() });
            }
            Some(group) => {
                group.buckets.extend(bucket);
                group.stage.hosts.get_or_insert(StageHosts { stages: 1, ..StageHosts::default() }).stages += 1;
                add(&mut group.stage, stage);
            }
        }
    }
    if let Some(hosts) = hosts {
        groups.iter_mut().for_each(|group| group.conclude(placement, hosts));
        add_workers(&mut groups, placement);
    }
    groups
}

/// Sets the workers of groups in which some hosts have no part.
fn add_workers(groups: &mut [StageGroup], placement: &Placement) {
    let mut of_routes: Vec<Vec<usize>> = vec![Vec::new(); placement.attachments.len()];
    for (index, group) in groups.iter().enumerate() {
        if group.stage.hosts.is_some_and(|hosts| hosts.hosts_of_run > 0) {
            group.stage.routes.iter().for_each(|&route| of_routes[route].push(index));
        }
    }
    for (number, places) in (0..).zip(&placement.places) {
        for &index in places.iter().flat_map(|place| &of_routes[place.route]) {
            let workers = &mut groups[index].stage.workers;
            if workers.last() != Some(&number) {
                workers.push(number);
            }
        }
    }
}

/// Returns the position of each route among those of its host.
fn positions(placement: &Placement) -> Vec<usize> {
    let mut next: BTreeMap<u32, usize> = BTreeMap::new();
    let position = |host| {
        let next: &mut usize = next.entry(host).or_default();
        *next += 1;
        *next - 1
    };
    placement.origins.iter().map(|origin| origin.host).map(position).collect()
}

fn add(stage: &mut ServiceStage, other: ServiceStage) {
    stage.requests += other.requests;
    stage.delayed += other.delayed;
    stage.decided += other.decided;
    stage.delay_ns += other.delay_ns;
    // As with other times of equal stages, that of the worst.
    stage.throttled_ns = stage.throttled_ns.max(other.throttled_ns);
    stage.utilisation += other.utilisation;
    stage.routes.extend(other.routes);
    if let Some(theirs) = other.merging {
        let MergedCounts { merged, unmerged } = stage.merging.get_or_insert_default();
        (*merged, *unmerged) = (*merged + theirs.merged, *unmerged + theirs.unmerged);
    }
    stage.owner = other.owner;
    if let (Some(ours), Some(theirs)) = (&mut stage.credits, other.credits) {
        *ours = BurstCredits {
            left: ours.left + theirs.left,
            most: ours.most + theirs.most,
            spent_per_sec: ours.spent_per_sec + theirs.spent_per_sec,
            empty_at_ns: ours.empty_at_ns.into_iter().chain(theirs.empty_at_ns).min(),
            ..*ours
        };
    }
    if let (Some(ours), Some(theirs)) = (&mut stage.early, other.early) {
        *ours = Early {
            requests: ours.requests + theirs.requests,
            p99_wait_ns: ours.p99_wait_ns.max(theirs.p99_wait_ns),
            p99_wait_without_ns: ours.p99_wait_without_ns.max(theirs.p99_wait_without_ns),
            ..theirs
        };
    }
}

impl StageGroup {
    /// Counts the hosts, names the owners, and turns sums into means.
    fn conclude(&mut self, placement: &Placement, hosts_of_run: u32) {
        let hosts: BTreeSet<u32> = self.stage.routes.iter().map(|&route| placement.origins[route].host).collect();
        let stages = self.stage.hosts.map_or(1, |hosts| hosts.stages);
        let count = hosts.len() as u32;
        let hosts_of_run = if count < hosts_of_run { hosts_of_run } else { 0 };
        self.stage.hosts = Some(StageHosts { hosts: count, stages, hosts_of_run });
        if stages > 1 {
            let is_range = hosts.first().zip(hosts.last()).is_some_and(|(first, last)| last - first + 1 == count);
            self.stage.owner = match stages {
                _ if is_range => format!("{} to {}", self.owner, self.stage.owner),
                2 => format!("{} and {}", self.owner, self.stage.owner),
                _ => format!("{} and {} more", self.owner, stages - 1),
            };
        }
        let of_each = f64::from(stages);
        self.stage.utilisation /= of_each;
        if let Some(credits) = &mut self.stage.credits {
            credits.left /= of_each;
            credits.most /= of_each;
            credits.spent_per_sec /= of_each;
        }
    }
}
