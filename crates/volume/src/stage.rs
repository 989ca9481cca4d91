//! Results of the limits and queues that requests pass.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A limit or queue that requests pass, and its effect on them while the jobs behind it were measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceStage {
    /// Name, such as `volume IOPS` or `vCPUs`.
    pub name: String,
    /// Name of the volume or machine that it belongs to.
    pub owner: String,
    /// Indices of the attachments whose route includes it.
    #[serde(skip)]
    pub routes: Vec<usize>,
    /// Volumes behind the stage, as indices into those of the record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<usize>,
    /// Hosts behind the stage in a simulation of many hosts; `None` in other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<StageHosts>,
    /// Numbers of the workers whose requests pass it; empty for those of its volumes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<u32>,
    pub kind: StageKind,
    /// Rule that the stage follows.
    pub rule: String,
    /// Requests that passed the stage.
    pub requests: u64,
    /// Requests that the stage delayed.
    pub delayed: u64,
    /// Requests whose start the stage determined, because no other stage delayed them longer.
    pub decided: u64,
    /// Total delay beyond that of previous stages, in nanoseconds.
    pub delay_ns: u64,
    /// Time in which at least one request waited for admission by this limit, in nanoseconds; zero for stations.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub throttled_ns: u64,
    /// Used fraction of its capacity, from 0 to 1; more than 1 while burst credits are spent.
    pub utilisation: f64,
    /// Burst credits, if any.
    pub credits: Option<BurstCredits>,
    /// Effect of its jitter on operations; `None` without jitter, and where operations waited for each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early: Option<Early>,
    /// Merging of sequential operations; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merging: Option<MergedCounts>,
    /// Remaining credits over time: nanoseconds from the start, and credits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<(u64, f64)>,
}

/// Hosts behind a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StageHosts {
    /// Number of hosts whose requests pass it.
    pub hosts: u32,
    /// Number of equal stages in this record: more than one if each host, or each volume, has its own. Counts are then
    /// sums over all of them; utilisation, credits and levels are means, and waits and times those of the worst.
    pub stages: u32,
    /// Number of hosts of the run, if some of them have no part in the stage; zero otherwise.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hosts_of_run: u32,
}

fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

impl ServiceStage {
    /// Returns its name, with the hosts that share it or have one each.
    #[must_use]
    pub fn label(&self) -> String {
        match self.hosts {
            Some(StageHosts { hosts, stages: 1, .. }) if hosts > 1 => {
                format!("{} shared by {hosts} hosts", self.name)
            }
            Some(StageHosts { hosts, stages, hosts_of_run: 0 }) if hosts == stages && hosts > 1 => {
                format!("{} per host", self.name)
            }
            Some(StageHosts { hosts, stages, .. }) if hosts == stages && hosts > 1 => {
                format!("{} on each of {hosts} hosts", self.name)
            }
            Some(StageHosts { stages: 1, hosts_of_run: 1.., .. }) => format!("{} of {}", self.name, self.owner),
            Some(StageHosts { stages, .. }) if stages > 1 => format!("{} ({stages} instances)", self.name),
            _ => self.name.clone(),
        }
    }
}

/// Sequential operations at a limit that merges them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergedCounts {
    /// Operations that were merged with the previous ones.
    pub merged: u64,
    /// Operations that were counted separately because they were too small.
    pub unmerged: u64,
}

/// The effect of a limit's jitter on operations. Waits are at this limit alone; those without jitter are for the same
/// arrivals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Early {
    /// Time by which the limit admits operations ahead of an even schedule, in nanoseconds.
    pub jitter_ns: u64,
    /// Basis of that figure: `assumed`, `given` or `stated`.
    pub basis: String,
    /// Operations admitted ahead of the schedule.
    pub requests: u64,
    /// 99th percentile of the wait over all operations, in nanoseconds.
    pub p99_wait_ns: u64,
    /// 99th percentile of the wait without jitter, in nanoseconds.
    pub p99_wait_without_ns: u64,
}

/// Burst credits of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BurstCredits {
    /// Whether credits count bytes instead of operations.
    pub bytes: bool,
    /// Capacity of the bucket.
    pub most: f64,
    /// Remaining credits at the end; negative after an operation larger than that.
    pub left: f64,
    /// Mean credits spent per second beyond those earned.
    pub spent_per_sec: f64,
    /// Time from the start when the bucket was first too empty for an operation, in nanoseconds; `None` if it never
    /// was.
    pub empty_at_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StageKind {
    /// A rate limit.
    #[default]
    Limit,
    /// Servers with a queue.
    Station,
}
